"""Hints: the shared search if every face is known, otherwise a search of several possible positions.

The game is a race. The number of turns that a block needs to its goal on an empty board, computed once for each square
and orientation, is the main term of the evaluation. A block with several shortest ways is slightly better off than one
with a single way, which may be blocked. Each further block on the board counts as one more turn.
"""

import functools
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from random import Random

from common.phrases import Phrase, either
from engine.api import Clock, Hint
from engine.errors import IllegalTurnError
from engine.games.deblockle.state import (
    PLACES,
    PLAYERS,
    SQUARES,
    DeblockleOptions,
    DeblockleState,
    DeblockleTurn,
    other,
)
from engine.games.deblockle.turns import (
    AFTER_MASK,
    BEFORE_SHIFT,
    OFF,
    ORIENTATIONS,
    OVER,
    FastRules,
    Move,
    Position,
    certainty_of,
    codes_of,
    draw_position,
    fast_rules_of,
    known_position,
    legal_turns,
    position_of,
    turn_of,
)
from engine.search.alpha_beta import MOST_GUESS, MOST_PLIES, Found, Rules, StallingPenalties, best_move
from engine.search.budget import Deadline, DeadlineExceededError, TimeCheck
from engine.values import Certainty, Strength

TURN = 100
"""Points for one turn of the race."""
_TO_MOVE = TURN // 2  # points: being to move is half a turn ahead
_FEWER_WAYS = 0.6  # turns lost by a block without a way nearer to its goal; each way more leaves this share of it
_FAR = 20  # turns, more than any block needs


class SearchRules(Rules[Position, Move]):
    """Deblockle with every face known, for the shared search; call `prepare` before the first one."""

    def __init__(self, core: FastRules) -> None:
        self.core = core
        self.to_go: tuple[tuple[int, ...], ...] = ()
        """``to_go[player][code]``: the number of turns a block needs on an empty board; 0 once it has left."""
        self._points: tuple[tuple[int, ...], ...] = ()
        self._ways_on: tuple[list[tuple[int, ...]], ...] = tuple([] for _ in PLAYERS)

    def prepare(self, check_time: TimeCheck) -> None:
        """Compute the tables if they are missing; calls ``check_time`` regularly, which may raise.

        The next call continues from there, so even hints with little time complete the tables after a few calls.
        """
        if not self.to_go:
            for player, ways in enumerate(self._ways_on):
                _extend_following(self.core, player, ways, check_time)
            to_go = tuple(_turns_to_go(ways) for ways in self._ways_on)
            self._points = tuple(_points(ways, turns) for ways, turns in zip(self._ways_on, to_go, strict=True))
            self.to_go = to_go

    def key(self, position: Position) -> Position:
        """Return the position itself, which is small and complete."""
        return position

    def mover(self, position: Position) -> int:
        """Return the player to move, ``OVER`` if neither can."""
        return position[0]

    def ended(self, position: Position) -> int | None:
        """Return 1 if the mover has removed every block, -1 if the opponent has, 0 if neither can move."""
        mover, golds, teals = position
        if golds and teals:
            return 0 if mover == OVER else None
        return 1 if bool(golds) == bool(mover) else -1

    def moves(self, position: Position) -> Sequence[Move]:
        """Return every move, those that gain the most in the race first."""
        points = self._points[position[0]]
        # This is codes_of without the call, which counts at every node of a search.
        return sorted(
            self.core.moves(position), key=lambda move: points[move & AFTER_MASK] - points[move >> BEFORE_SHIFT]
        )

    def play(self, position: Position, move: Move) -> Position:
        """Return the position after a move; a player who can't move is skipped."""
        return self.core.play(position, move)

    def evaluate(self, position: Position) -> int:
        """Return the mover's lead in the race, in hundredths of a turn."""
        mover, golds, teals = position
        of_gold, of_teal = self._points
        ahead = 0
        for code in teals:
            ahead += of_teal[code]
        for code in golds:
            ahead -= of_gold[code]
        return (-ahead if mover else ahead) + _TO_MOVE

    def winning_move(self, position: Position) -> Move | None:
        """Return the move by which the mover's last block leaves the board, or ``None``."""
        mover, golds, teals = position
        codes = teals if mover else golds
        return self.core.leaving(mover, codes[0]) if len(codes) == 1 and mover != OVER else None


def search_rules_of(options: DeblockleOptions) -> SearchRules:
    """Return the search rules for these options, cached with their tables."""
    return _search_rules(fast_rules_of(options))


_search_rules = functools.lru_cache(maxsize=16)(SearchRules)


_Following = Sequence[tuple[int, ...]]
"""The codes that a block may have after a turn on an empty board, by the code before."""


def _extend_following(core: FastRules, player: int, following: list[tuple[int, ...]], check_time: TimeCheck) -> None:
    """Add the codes that follow each code which has none yet."""
    for code in range(len(following), SQUARES * ORIENTATIONS):
        alone: Position = (player, (), (code,)) if player else (player, (code,), ())
        following.append(tuple(codes_of(move)[1] for move in core.moves(alone)))
        if code % ORIENTATIONS == 0:
            check_time()


def _turns_to_go(following: _Following) -> tuple[int, ...]:
    """Return the number of turns each code needs to leave the board, by backward search; `_FAR` if it never can."""
    leading: dict[int, list[int]] = {}
    for code, after in enumerate(following):
        for each in after:
            leading.setdefault(each, []).append(code)
    turns = [_FAR] * ((OFF + 1) * ORIENTATIONS)
    reached = list(range(OFF * ORIENTATIONS, (OFF + 1) * ORIENTATIONS))
    for code in reached:
        turns[code] = 0
    while reached:
        before = {code for after in reached for code in leading.get(after, ()) if turns[code] == _FAR}
        count = turns[reached[0]] + 1
        for code in before:
            turns[code] = count
        reached = sorted(before)
    return tuple(turns)


def _points(following: _Following, turns: tuple[int, ...]) -> tuple[int, ...]:
    """Return the remaining cost of a block with each code, in hundredths of a turn; 0 once it has left."""
    points = []
    for code, after in enumerate(following):
        ways = sum(turns[each] < turns[code] for each in after)
        points.append(round(TURN * (1 + turns[code] + _FEWER_WAYS**ways)))
    return (*points, *[0] * ORIENTATIONS)


_Roll = tuple[str, tuple[str, ...]]
"""A block's start square, and the squares it may roll to."""

_DEPTH = {Strength.GENTLE: 1, Strength.FAIR: 2, Strength.STRONG: MOST_PLIES}
_TURNS_FOR_LIKELY = {Strength.GENTLE: 4.2, Strength.FAIR: 4.2, Strength.STRONG: 3.2}
"""The lead in the race, in turns, that wins in 73 of 100 games between two players of this strength.

Fitted by ``benchmarks/hints.py --chances``: the lead until then, divided by its slope.
"""
_MOST_DRAWN = 12  # positions with the hidden faces drawn at random, searched one after another
_HALF_SURE_DEPTH = 5  # plies at which a search that proves nothing is half sure
_MOST_SURE_IF_HIDDEN = 0.95
"""Maximum confidence, 0 to 1, while faces are hidden: no search of drawn positions reaches the end of the real game."""
_STALLING = StallingPenalties(second_time=20, third_time=200, idle_turns=20, per_turn=10, most=2000)
_LONG_GAME = 3
"""The number of turns since the start that count as one more idle turn."""
_WINS = Phrase("wins: the last block leaves the board")


def hint(
    state: DeblockleState,
    deadline_s: float,
    rng: Random,
    *,
    clock: Clock,
    strength: Strength = Strength.STRONG,
    earlier: Sequence[DeblockleState],
) -> Hint[DeblockleTurn]:
    """Return a turn of the player to move and a reason; raises IllegalTurnError if the game is over."""
    if state.to_move is None:
        raise IllegalTurnError(Phrase("there is no turn to hint at: the game is over"))
    deadline = Deadline.after(deadline_s, clock)
    turns = [turn for turn in legal_turns(state) if turn.player == state.to_move]
    best = _immediate_hint(state, turns)
    if best.sure == 1:
        return best
    is_only = len(turns) == 1
    position = known_position(state)
    search = _HintSearch(state, deadline, rng, strength, earlier)
    try:
        search.ahead.prepare(deadline.check)
        found = search.search_drawn_positions() if position is None else search.search_known(position)
        # The only turn needs no search, but its chance of winning does.
        best = replace(found, reason=best.reason) if found and is_only else found or best
    except DeadlineExceededError:
        pass
    return best


def _immediate_hint(state: DeblockleState, turns: list[DeblockleTurn]) -> Hint[DeblockleTurn]:
    """Return a hint without a search: a certain win, the only turn, or the first turn that may take a block off."""
    leaving = [turn for turn in turns if turn.end is None]
    last = len(state.owned(turns[0].player)) == 1
    for turn in leaving:
        if last and certainty_of(state, turn) is Certainty.CERTAIN:
            return Hint(turn, _WINS, 1.0, "win", 1.0)
    if len(turns) == 1:
        return Hint(turns[0], Phrase("is the only turn there is"), 0.5, "win", 0.0)
    return Hint((leaving or turns)[0], Phrase("is a turn you can play"), 0.5, "win", 0.0)


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

    def search_known(self, position: Position) -> Hint[DeblockleTurn]:
        """Return the best turn if every face is known."""
        return self._hint(position, self._best(position, self._deadline))

    def search_drawn_positions(self) -> Hint[DeblockleTurn] | None:
        """Return the roll that is best in most of the positions drawn, with its most frequent hop.

        ``None`` if the player can't move in any of them.
        """
        votes: Counter[_Roll] = Counter()
        hints: dict[_Roll, list[Hint[DeblockleTurn]]] = {}
        for left in range(_MOST_DRAWN, 0, -1):
            position = draw_position(self._state, self._rng)
            if PLAYERS.index(self._player) != self.ahead.core.settle(position)[0]:
                continue
            part = self._deadline.share(1 / left)
            hint = self._hint(position, self._best(position, part))
            roll = (hint.turn.start, hint.turn.rolled_to)
            votes[roll] += 1
            hints.setdefault(roll, []).append(hint)
            if self._deadline.passed():
                break
        if not votes:
            return None
        return self._merge_hints(hints, max(votes, key=lambda each: (votes[each], _mean_expected(hints[each]))))

    def _best(self, position: Position, deadline: Deadline) -> Found[Move]:
        """Search a position whose faces are known, with penalties for turns without progress."""
        penalties = self._penalties(position)

        found = best_move(self.ahead, position, deadline, self._rng, most_depth=self._most_depth, penalties=penalties)
        is_guess = abs(found.score) <= MOST_GUESS
        return replace(found, score=found.score + penalties[found.move]) if is_guess else found

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
            return Phrase("wins, whatever {opponent} does", other(self._player))
        return Phrase("holds out longest, though {opponent} can win", other(self._player))

    def _reason_for_gain(self, position: Position, move: Move) -> str | None:
        """Return what a turn gains for the player, or how it hinders the opponent; ``None`` if it gains ground."""
        core, me, foe = self.ahead.core, position[0], 1 - position[0]
        before, after = codes_of(move)
        following = core.play(position, move)
        if not core.count((foe, following[1], following[2])):
            return Phrase("leaves {opponent} without a turn", other(self._player))
        to_go = self.ahead.to_go[me]
        if to_go[after] == 0:
            return Phrase("takes a block off the board")
        blocked = self._blocked_by(position, following, foe)
        if blocked is not None:
            return Phrase(
                "stands in the way of {opponent}'s block on {place}",
                other(self._player),
                PLACES[blocked // ORIENTATIONS],
            )
        if core.leaving(me, after) is not None:
            return Phrase("gets the block ready to leave the board")
        if to_go[after] < to_go[before]:
            return None
        others = len(position[1:][me]) - 1
        if not others:
            return Phrase("gives your last block the best chance")
        return either(others == 1, "keeps your other block well placed", "keeps your other blocks well placed")

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
    return (
        Phrase("{reason}, if the hoops come up", reason)
        if top == "hoops"
        else Phrase("{reason}, if the {top} comes up", reason, top)
    )


def _nearer(top: str, turns: int) -> str:
    """Return the reason for gaining ground: the turns left, on condition that the symbol comes up, if there is one."""
    if not top:
        return Phrase("brings the block nearer: its goal is {turns} more turns away, with nothing in the way", turns)
    return either(
        top == "hoops",
        "brings the block nearer: if the hoops come up, its goal is {turns} more turns away, with nothing in the way",
        "brings the block nearer: if the {top} comes up, its goal is {turns} more turns away, with nothing in the way",
        turns=turns,
        top=top,
    )


def _representative_position(state: DeblockleState) -> Position:
    """Return one of the state's possible positions, always the same one."""
    return position_of(state, lambda block: (block.mask & -block.mask).bit_length() - 1)


def _mean_expected(hints: list[Hint[DeblockleTurn]]) -> float:
    return sum(hint.expected for hint in hints) / len(hints)
