"""Legal turns: single actions, whole turns in any order of actions, their results, and the states that follow.

A *result* is the mover's pieces and ball after a turn; the opponent's never change. This module plays turns action by
action; ``fast_rules`` looks the same results up in tables, for the usual options. The list of legal turns holds
results, and finds a turn's actions only when that turn is accessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from engine.games.diaballik.announcements import ANTI_PLAY, may_claim, outcome_by_announcement, position_key
from engine.games.diaballik.fast_rules import BALL_SHIFT, PIECES_MASK, distinct_results, visible
from engine.games.diaballik.state import (
    CONTACTS_TO_CLAIM,
    EVERY,
    GOAL,
    NEAR,
    PLAYERS,
    Action,
    DiaballikOptions,
    DiaballikState,
    DiaballikTurn,
    Side,
    between_squares,
    is_wall,
    other,
    touching,
)
from engine.support import repetition
from engine.support.grid import members, set_of
from engine.support.lazy import LazySequence
from engine.values import Announcement, Outcome

MOST_MOVES = 2
MOST_ACTIONS = 3


class TurnInProgress(NamedTuple):
    """A turn in progress: the player, the options, the pieces and the ball, and the moves and passes left."""

    player: str
    options: DiaballikOptions
    foes: int
    pieces: int
    ball: int
    moves_left: int = MOST_MOVES
    passes_left: int = 1

    @property
    def side(self) -> Side:
        """The mover's pieces and ball."""
        return Side(self.pieces, self.ball)

    @property
    def ended(self) -> bool:
        """Whether the game is over: the ball is on the far row, or anti-play has ended it automatically."""
        if GOAL[self.player] >> self.ball & 1:
            return True
        return self.options.automatic and may_claim(self.options, self.pieces, self.foes, self.player)

    def after(self, action: Action) -> TurnInProgress:
        """Return the turn after one more action, which must be legal."""
        if action.passes:
            return self._replace(ball=action.end, passes_left=self.passes_left - 1)
        return self._replace(pieces=self.pieces ^ (1 << action.start | 1 << action.end), moves_left=self.moves_left - 1)


def begin_turn(state: DiaballikState, player: str) -> TurnInProgress:
    """Return the player's turn before its first action."""
    side = state.side(player)
    return TurnInProgress(player, state.options, state.side(other(player)).pieces, side.pieces, side.ball)


def receivers(turn: TurnInProgress) -> int:
    """Return the own pieces that the ball can be passed to, whether or not a pass is left."""
    return _receivers(turn.options, turn.pieces & ~(1 << turn.ball), turn.ball, turn.foes)


def _receivers(options: DiaballikOptions, others: int, ball: int, foes: int) -> int:
    seen = visible(ball, foes) & others
    if options.pass_over_own:
        return seen
    return set_of(square for square in members(seen) if not between_squares(ball, square) & others)


def actions(turn: TurnInProgress) -> Iterator[Action]:
    """Yield every legal next action: moves in order of squares, then passes. Empty once the turn has ended."""
    if turn.ended:
        return
    if turn.moves_left:
        empty = EVERY & ~(turn.pieces | turn.foes)
        for start in members(turn.pieces & ~(1 << turn.ball)):
            for end in members(NEAR[start] & empty):
                yield Action(start, end, passes=False)
    if turn.passes_left:
        for end in members(receivers(turn)):
            yield Action(turn.ball, end, passes=True)


def results_by_playing(turn: TurnInProgress) -> set[Side]:
    """Return the results of all whole turns, found by playing every sequence of actions; works under all options."""
    player, options, foes = turn[:3]
    goal = GOAL[player]
    found: set[Side] = set()
    # Plain tuples of what changes: pieces, ball, moves and passes left.
    now = {(turn.pieces, turn.ball, turn.moves_left, turn.passes_left)}
    for _ in range(MOST_ACTIONS):
        after: set[tuple[int, int, int, int]] = set()
        for pieces, ball, moves, passes in now:
            if goal >> ball & 1 or (options.automatic and may_claim(options, pieces, foes, player)):
                continue
            others = pieces & ~(1 << ball)
            if moves:
                empty = EVERY & ~(pieces | foes)
                for start in members(others):
                    for end in members(NEAR[start] & empty):
                        after.add((pieces ^ (1 << start | 1 << end), ball, moves - 1, passes))
            if passes:
                for end in members(_receivers(options, others, ball, foes)):
                    after.add((pieces, end, moves, passes - 1))
        found.update(Side(pieces, ball) for pieces, ball, _, _ in after)
        now = after
    if not options.null_turn:
        found.discard(turn.side)
    return found


def can_act(turn: TurnInProgress) -> bool:
    """Return whether the player has any legal action."""
    return next(actions(turn), None) is not None


def canonical(turn: TurnInProgress, result: Side) -> tuple[Action, ...] | None:
    """Return the canonical actions that lead to a result: the fewest, then moves first, then the lowest squares.

    ``None`` if no turn has that result. The option ``null_turn`` is not checked.
    """
    for length in range(1, MOST_ACTIONS + 1):
        found = _actions_of_length(turn, result, length)
        if found is not None:
            return found
    return None


def _actions_of_length(turn: TurnInProgress, result: Side, length: int) -> tuple[Action, ...] | None:
    if not length:
        return () if turn.side == result else None
    passing = turn.ball != result.ball
    moves = length - passing
    apart = (turn.pieces ^ result.pieces).bit_count()
    if (passing and not turn.passes_left) or moves > turn.moves_left or apart > 2 * moves or turn.ended:
        return None
    if moves:
        empty = EVERY & ~(turn.pieces | turn.foes)
        starts = turn.pieces & ~(1 << turn.ball)
        # With no move to spare, each one must take a piece from a square to vacate to one to fill.
        if apart == 2 * moves:
            starts &= ~result.pieces
            empty &= result.pieces
        for start in members(starts):
            for end in members(NEAR[start] & empty):
                action = Action(start, end, passes=False)
                rest = _actions_of_length(turn.after(action), result, length - 1)
                if rest is not None:
                    return (action, *rest)
    if passing and receivers(turn) >> result.ball & 1:
        action = Action(turn.ball, result.ball, passes=True)
        rest = _actions_of_length(turn.after(action), result, length - 1)
        if rest is not None:
            return (action, *rest)
    return None


def state_after(state: DiaballikState, player: str, result: Side, *, claims: bool) -> DiaballikState:
    """Return the state after a legal turn with this result; ``claims`` if it ends by announcing anti-play."""
    if player == PLAYERS[0]:
        after = replace(state, black=result, to_move=other(player))
    else:
        after = replace(state, white=result, to_move=other(player))
    if claims:
        return replace(after, to_move=None, announced=Announcement(ANTI_PLAY, player))
    return settle(after, counted=True)


def winner_by_ball(state: DiaballikState) -> str | None:
    """Return the player whose ball is on the far row, or ``None``."""
    return next((player for player in PLAYERS if GOAL[player] >> state.side(player).ball & 1), None)


def settle(state: DiaballikState, *, counted: bool) -> DiaballikState:
    """Return the state with the right player to move: a stuck player is skipped; ``None`` if the game is over.

    ``counted`` counts this occurrence of the position (with the option ``repetition_draw``). Both players can't be
    stuck at once: of fourteen pieces, always more than the two carriers are beside empty squares.
    """
    to_move = state.to_move
    if to_move is None:
        return state
    if winner_by_ball(state) is not None:
        return replace(state, to_move=None)
    if state.options.automatic:
        # The player who has just moved comes first, since they could have announced it first.
        for player in (other(to_move), to_move):
            if may_claim(state.options, state.side(player).pieces, state.side(other(player)).pieces, player):
                return replace(state, to_move=None, announced=Announcement(ANTI_PLAY, player))
    if not can_act(begin_turn(state, to_move)):
        to_move = other(to_move)
        state = replace(state, to_move=to_move)
    if state.options.repetition_draw and counted:
        state = replace(state, counts=repetition.counted(state.counts, position_key(state, to_move)))
    return state


def claimants(state: DiaballikState) -> tuple[str, ...]:
    """Return who may announce anti-play now: the player to move, and an opponent who was skipped."""
    if state.to_move is None:
        return ()
    skipped = other(state.to_move)
    return (state.to_move,) if can_act(begin_turn(state, skipped)) else (state.to_move, skipped)


def outcome_of(state: DiaballikState) -> Outcome | None:
    """Return how the game ended, or ``None`` while it goes on."""
    if state.announced is not None:
        return outcome_by_announcement(state.announced)
    winner = winner_by_ball(state)
    return None if winner is None else Outcome(winner, f"{winner}'s ball is on the far row")


def packed_results(turn: TurnInProgress) -> list[int]:
    """Return every distinct result of a whole turn, packed as in ``fast_rules``, by its tables if the options allow."""
    options = turn.options
    goal = GOAL[turn.player]
    if turn.ended:
        return []
    if options.pass_over_own and not (options.automatic and is_wall(turn.foes)):
        return distinct_results(turn.pieces, turn.ball, turn.foes, goal, null_turn=options.null_turn)
    return [side.pieces | side.ball << BALL_SHIFT for side in results_by_playing(turn)]


def claimed_results(turn: TurnInProgress, results: Sequence[int]) -> list[int]:
    """Return the results after which the mover may at once announce anti-play; empty if anti-play is automatic."""
    options = turn.options
    if options.automatic or not is_wall(turn.foes):
        return []
    touch = touching(turn.foes, turn.player, front_only=options.front_only)
    goal = GOAL[turn.player]
    return [
        result
        for result in results
        if (result & touch & PIECES_MASK).bit_count() >= CONTACTS_TO_CLAIM and not goal >> (result >> BALL_SHIFT) & 1
    ]


class LegalTurns(LazySequence[DiaballikTurn]):
    """The turns of the player to move, sorted by result (ball, then pieces); those that announce anti-play come last.

    Its length and single items are cheap.
    """

    def __init__(self, turn: TurnInProgress, *, claims: bool) -> None:
        self._turn = turn
        self._results = packed_results(turn)
        self._claimed = claimed_results(turn, self._results) if claims else []

    def __len__(self) -> int:
        return len(self._results) + len(self._claimed)

    @cached_property
    def results(self) -> tuple[int, ...]:
        """The packed result of each turn, in order."""
        return (*sorted(self._results), *sorted(self._claimed))

    def _item(self, index: int) -> DiaballikTurn:
        return turn_with_result(self._turn, unpack(self.results[index]), claims=index >= len(self._results))


def turn_with_result(start: TurnInProgress, result: Side, *, claims: bool = False) -> DiaballikTurn:
    """Return the turn with canonical actions that has this result; some legal turn must have it."""
    found = canonical(start, result)
    if found is None:
        raise AssertionError(f"no actions lead to the result {result}")
    return DiaballikTurn(start.player, found, claims)


def unpack(result: int) -> Side:
    """Return a packed result as pieces and ball."""
    return Side(result & PIECES_MASK, result >> BALL_SHIFT)
