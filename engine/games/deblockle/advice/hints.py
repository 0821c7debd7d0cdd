"""Hints: the shared search if every face is known, otherwise a search of several possible positions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from random import Random

from engine.api import Clock, Hint, HintListener
from engine.errors import IllegalTurnError
from engine.games.deblockle.advice.evaluation import TURN, SearchRules, search_rules_of
from engine.games.deblockle.board import PLACES, PLAYERS, other
from engine.games.deblockle.fast_rules import (
    ORIENTATIONS,
    Move,
    Position,
    codes_of,
    draw_position,
    known_position,
    position_of,
    turn_of,
)
from engine.games.deblockle.state import DeblockleState, DeblockleTurn
from engine.games.deblockle.turns import certainty_of, legal_turns
from engine.search.alpha_beta import MOST_PLIES, best_move
from engine.search.budget import Deadline, DeadlineExceededError
from engine.search.stalling import StallingPenalties
from engine.search.two_player import MOST_GUESS, Found
from engine.values import Certainty, Strength

_Roll = tuple[str, tuple[str, ...]]
"""A block's start square, and the squares it may roll to."""

_DEPTH = {Strength.GENTLE: 1, Strength.FAIR: 2, Strength.STRONG: MOST_PLIES}
_TURNS_FOR_LIKELY = {Strength.GENTLE: 4.2, Strength.FAIR: 4.2, Strength.STRONG: 3.2}
"""The lead in the race, in turns, that wins in 73 of 100 games between two players of this strength.

Fitted by ``benchmarks/hints.py --chances``: the lead until then, divided by its slope.
"""
_MOST_DRAWN = 12
_HALF_SURE_DEPTH = 5
_MOST_SURE_IF_HIDDEN = 0.95
"""Maximum confidence, 0 to 1, while faces are hidden: no search of drawn positions reaches the end of the real game."""
_STALLING = StallingPenalties(second_time=20, third_time=200, idle_turns=20, per_turn=10, most=2000)
_LONG_GAME = 3
"""The number of turns since the start that count as one more idle turn."""
_WINS = "wins: the last block leaves the board"


def hint(
    state: DeblockleState,
    deadline_s: float,
    rng: Random,
    *,
    clock: Clock,
    strength: Strength = Strength.STRONG,
    earlier: Sequence[DeblockleState],
    better: HintListener[DeblockleTurn] | None = None,
) -> Hint[DeblockleTurn]:
    """Return a turn of the player to move and a reason; raises IllegalTurnError if the game is over.

    ``better`` is called with a first hint at once, then with each better one; the last one is returned.
    """
    if state.to_move is None:
        raise IllegalTurnError("there is no turn to hint at: the game is over")
    deadline = Deadline.after(deadline_s, clock)
    told: Hint[DeblockleTurn] | None = None

    def tell(found: Hint[DeblockleTurn]) -> None:
        nonlocal told
        if better is not None and found != told:
            better(found)
        told = found

    turns = [turn for turn in legal_turns(state) if turn.player == state.to_move]
    best = _immediate_hint(state, turns)
    tell(best)
    if best.sure == 1:
        return best
    is_only = len(turns) == 1
    listener: HintListener[DeblockleTurn] = (lambda _: None) if is_only else tell
    position = known_position(state)
    search = _HintSearch(state, deadline, rng, strength, earlier)
    try:
        search.ahead.prepare(deadline.check)
        found = search.search_drawn_positions(listener) if position is None else search.search_known(position, listener)
        # The only turn needs no search, but its chance of winning does.
        best = replace(found, reason=best.reason) if found and is_only else found or best
    except DeadlineExceededError:
        pass
    tell(best)
    return best


def _immediate_hint(state: DeblockleState, turns: list[DeblockleTurn]) -> Hint[DeblockleTurn]:
    """Return a hint without a search: a certain win, the only turn, or the first turn that may take a block off."""
    leaving = [turn for turn in turns if turn.end is None]
    last = len(state.owned(turns[0].player)) == 1
    for turn in leaving:
        if last and certainty_of(state, turn) is Certainty.CERTAIN:
            return Hint(turn, _WINS, 1.0, "win", 1.0)
    if len(turns) == 1:
        return Hint(turns[0], "is the only turn there is", 0.5, "win", 0.0)
    return Hint((leaving or turns)[0], "is a turn you can play", 0.5, "win", 0.0)


class _HintSearch:
    """The search for one hint."""

    def __init__(
        self,
        state: DeblockleState,
        deadline: Deadline,
        rng: Random,
        strength: Strength,
        earlier: Sequence[DeblockleState],
    ) -> None:
        self.ahead: SearchRules = search_rules_of(state.options)
        self._state = state
        self._player = str(state.to_move)
        self._deadline = deadline
        self._rng = rng
        self._most_depth = _DEPTH[strength]
        self._turns_for_likely = _TURNS_FOR_LIKELY[strength]
        # A block that has left never returns, so positions with more blocks than now can't recur.
        since = [each for each in earlier if len(each.blocks) == len(state.blocks)]
        self._idle = len(since) + len(earlier) // _LONG_GAME
        self._are_known = known_position(state) is not None
        came_up = [self._repetition_key(_representative_position(each)) for each in (*since, state)]
        self._seen = Counter(came_up)
        me = PLAYERS.index(self._player)
        self._stood = Counter(each[1 + me] for each in came_up if each[0] == me)

    def search_known(self, position: Position, tell: HintListener[DeblockleTurn]) -> Hint[DeblockleTurn]:
        """Return the best turn if every face is known."""

        def pass_on(found: Found[Move]) -> None:
            if found.depth:
                tell(self._hint(position, found))

        return self._hint(position, self._best(position, self._deadline, pass_on))

    def search_drawn_positions(self, tell: HintListener[DeblockleTurn]) -> Hint[DeblockleTurn] | None:
        """Return the roll that is best in most of the positions drawn, with its most frequent hop.

        ``None`` if the player can't move in any of them.
        """
        votes: Counter[_Roll] = Counter()
        hints: dict[_Roll, list[Hint[DeblockleTurn]]] = {}
        leading = None
        for left in range(_MOST_DRAWN, 0, -1):
            position = draw_position(self._state, self._rng)
            if PLAYERS.index(self._player) != self.ahead.core.settle(position)[0]:
                continue
            part = self._deadline.share(1 / left)
            hint = self._hint(position, self._best(position, part))
            roll = (hint.turn.start, hint.turn.rolled_to)
            votes[roll] += 1
            hints.setdefault(roll, []).append(hint)
            best = max(votes, key=lambda each: (votes[each], _mean_expected(hints[each])))
            if best != leading:
                leading = best
                tell(self._merge_hints(hints, best))
            if self._deadline.passed():
                break
        return None if leading is None else self._merge_hints(hints, leading)

    def _best(
        self, position: Position, deadline: Deadline, better: Callable[[Found[Move]], None] | None = None
    ) -> Found[Move]:
        """Search a position whose faces are known, with penalties for turns without progress."""
        penalties = self._penalties(position)

        def without(found: Found[Move]) -> Found[Move]:
            is_guess = abs(found.score) <= MOST_GUESS
            return replace(found, score=found.score + penalties[found.move]) if is_guess else found

        found = best_move(
            self.ahead,
            position,
            deadline,
            self._rng,
            most_depth=self._most_depth,
            penalties=penalties,
            better=None if better is None else lambda found: better(without(found)),
        )
        return without(found)

    def _penalties(self, position: Position) -> dict[Move, int]:
        """Return the penalty of each turn: for repeating a position, and for lack of progress in the race."""
        core, to_go = self.ahead.core, self.ahead.to_go[position[0]]
        idle_penalty = _STALLING.for_idling(self._idle)
        penalties = {}
        for move in core.moves(position):
            before, after = codes_of(move)
            seen = self._repetition_key(core.play(position, move))
            lost = _STALLING.for_repetition(self._seen[seen]) + idle_penalty * (to_go[after] - to_go[before] + 1)
            if idle_penalty:
                # When the opponent makes no progress, moving one's own blocks back and forth is penalised too.
                lost += _STALLING.for_repetition(self._stood[seen[1 + position[0]]])
            penalties[move] = lost
        return penalties

    def _repetition_key(self, position: Position) -> tuple[int, Hashable, Hashable]:
        """Return the key that identifies repetitions: the position, or only the tops if faces are hidden."""
        if self._are_known:
            return position
        top = self._state.options.cube.top
        golds, teals = (
            tuple(
                sorted((square, top(1 << turned)) for square, turned in (divmod(code, ORIENTATIONS) for code in side))
            )
            for side in position[1:]
        )
        return position[0], golds, teals

    def _merge_hints(self, hints: Mapping[_Roll, list[Hint[DeblockleTurn]]], roll: _Roll) -> Hint[DeblockleTurn]:
        """Merge the hints that begin with the same roll: the turn found most often, as sure as the positions agree."""
        chosen = hints[roll]
        every = [hint for found in hints.values() for hint in found]
        turn, _ = Counter(hint.turn for hint in chosen).most_common(1)[0]
        reason = next(hint.reason for hint in chosen if hint.turn == turn)
        return Hint(turn, reason, _mean_expected(every), "win", sum(hint.sure for hint in chosen) / len(every))

    def _hint(self, position: Position, found: Found[Move]) -> Hint[DeblockleTurn]:
        turn = turn_of(self._state.options, self._player, found.move)
        is_decided = found.proven and (found.win_in is not None or found.loss_in is not None)
        sure = 1.0 if found.proven else found.depth / (found.depth + _HALF_SURE_DEPTH)
        if not self._are_known:
            # What the opponent can force depends on the hidden faces, which were only drawn.
            is_decided = is_decided and found.win_in == 1
            sure = min(sure, _MOST_SURE_IF_HIDDEN)
        expected = found.chance(self._turns_for_likely * TURN)
        reason = self._reason_for_outcome(found) if is_decided else None
        reason = reason or self._reason_for_gain(position, found.move)
        is_certain = self._are_known or certainty_of(self._state, turn) is Certainty.CERTAIN
        top = "" if is_certain else turn.top
        if reason:
            return Hint(turn, _given_that(top, reason), expected, "win", sure)
        _, after = codes_of(found.move)
        return Hint(turn, _nearer(top, self.ahead.to_go[position[0]][after]), expected, "win", sure)

    def _reason_for_outcome(self, found: Found[Move]) -> str | None:
        """Return the reason for a proven win or loss."""
        if found.win_in == 1:
            return _WINS
        if found.win_in is not None:
            return f"wins, whatever {other(self._player)} does"
        return f"holds out longest, though {other(self._player)} can win"

    def _reason_for_gain(self, position: Position, move: Move) -> str | None:
        """Return what a turn gains for the player, or how it hinders the opponent; ``None`` if it gains ground."""
        core, me, foe = self.ahead.core, position[0], 1 - position[0]
        before, after = codes_of(move)
        following = core.play(position, move)
        if not core.count((foe, following[1], following[2])):
            return f"leaves {other(self._player)} without a turn"
        to_go = self.ahead.to_go[me]
        if to_go[after] == 0:
            return "takes a block off the board"
        blocked = self._blocked_by(position, following, foe)
        if blocked is not None:
            return f"stands in the way of {other(self._player)}'s block on {PLACES[blocked // ORIENTATIONS]}"
        if core.leaving(me, after) is not None:
            return "gets the block ready to leave the board"
        if to_go[after] < to_go[before]:
            return None
        others = len(position[1:][me]) - 1
        if not others:
            return "gives your last block the best chance"
        return f"keeps your other {'block' if others == 1 else 'blocks'} well placed"

    def _blocked_by(self, position: Position, following: Position, foe: int) -> int | None:
        """Return the code of an opposing block that could reach its goal's side next and now can't, or ``None``."""
        free, hindered = self._next_to_go(position, foe), self._next_to_go(following, foe)
        return next((code for code in free if free[code] == 1 != hindered.get(code)), None)

    def _next_to_go(self, position: Position, player: int) -> dict[int, int]:
        """Return, for each of the player's movable blocks, the number of turns it needs after its best turn now."""
        _, golds, teals = position
        found: dict[int, int] = {}
        for move in self.ahead.core.moves((player, golds, teals)):
            before, after = codes_of(move)
            found[before] = min(found.get(before, self.ahead.to_go[player][after]), self.ahead.to_go[player][after])
        return found


def _given_that(top: str, reason: str) -> str:
    """Return the reason, on condition that the symbol comes up; without a symbol, as it is."""
    if not top:
        return reason
    return f"{reason}, if the hoops come up" if top == "hoops" else f"{reason}, if the {top} comes up"


def _nearer(top: str, turns: int) -> str:
    """Return the reason for gaining ground: the turns left, on condition that the symbol comes up, if there is one."""
    if not top:
        return f"brings the block nearer: its goal is {turns} more turns away, with nothing in the way"
    up = "hoops come up" if top == "hoops" else f"{top} comes up"
    return f"brings the block nearer: if the {up}, its goal is {turns} more turns away, with nothing in the way"


def _representative_position(state: DeblockleState) -> Position:
    """Return one of the state's possible positions, always the same one."""
    return position_of(state, lambda block: (block.mask & -block.mask).bit_length() - 1)


def _mean_expected(hints: list[Hint[DeblockleTurn]]) -> float:
    return sum(hint.expected for hint in hints) / len(hints)
