"""What the mover did wrong where only the outcome is seen: the smallest violation that would explain it.

Each rule is relaxed in turn, and the actions are looked for that lead to what is seen without it. Those actions are
then judged one by one, so that the breach names the very step that was wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from engine.api import Breach
from engine.games.diaballik.play.board import EVERY, GOAL, GRID, NEAR, PLACES, RAYS
from engine.games.diaballik.state import Action, Side
from engine.games.diaballik.turns import MOST_ACTIONS, MOST_MOVES, TurnInProgress, receivers
from engine.games.diaballik.violations import TAKE_BACK, breach_of, pass_line_breach
from engine.support.grid import DIAGONAL, ORTHOGONAL, members, set_of

_DIAGONALS = GRID.neighbours(DIAGONAL)


class _Relaxation(NamedTuple):
    """What may be done beyond the rules: one of these at a time."""

    moves: int = MOST_MOVES
    passes: int = 1
    carrier: bool = False
    diagonal: bool = False
    jump: bool = False
    any_line: bool = False
    anywhere: bool = False
    after_goal: bool = False


_RELAXATIONS = (
    _Relaxation(any_line=True),
    _Relaxation(after_goal=True),
    _Relaxation(carrier=True),
    _Relaxation(diagonal=True),
    _Relaxation(jump=True),
    _Relaxation(anywhere=True),
    _Relaxation(moves=3),
    _Relaxation(passes=2),
)
"""From the nearest violation to the farthest, among those that take as many actions."""


class _RelaxedTurn(NamedTuple):
    """A turn under way with some rule let go of: where it stands, and the moves and passes left."""

    turn: TurnInProgress
    moves: int
    passes: int


def breaches_of_result(turn: TurnInProgress, result: Side) -> tuple[Breach, ...]:
    """What is wrong with a turn that left the mover's pieces and ball so, no legal turn having that result."""
    for length in range(1, MOST_ACTIONS + 2):
        for laxity in _RELAXATIONS:
            found = _search(_RelaxedTurn(turn, laxity.moves, laxity.passes), result, length, laxity)
            if found is not None:
                return _judged(turn, found)
    return _unexplained(turn, result)


def _judged(turn: TurnInProgress, done: tuple[Action, ...]) -> tuple[Breach, ...]:
    now = turn
    for action in done:
        breach = breach_of(now, action)
        if breach is not None:
            return (breach,)
        now = now.after(action)
    raise AssertionError(f"{done} breaks no rule, so its result is legal")


def _search(now: _RelaxedTurn, result: Side, length: int, laxity: _Relaxation) -> tuple[Action, ...] | None:
    turn = now.turn
    apart = (turn.pieces ^ result.pieces).bit_count()
    if not length:
        return () if turn.side == result else None
    if apart > 2 * min(length, now.moves) or (turn.ended and not laxity.after_goal):
        return None
    for action in _relaxed_actions(now, result, laxity):
        after = turn.after(action)
        if not action.passes and action.start == turn.ball:
            after = after._replace(ball=action.end)
        left = _RelaxedTurn(after, now.moves - (not action.passes), now.passes - action.passes)
        rest = _search(left, result, length - 1, laxity)
        if rest is not None:
            return (action, *rest)
    return None


def _relaxed_actions(now: _RelaxedTurn, result: Side, laxity: _Relaxation) -> Iterator[Action]:
    turn = now.turn
    if now.moves > 1 or (now.moves and turn.pieces != result.pieces):
        empty = EVERY & ~(turn.pieces | turn.foes)
        movers = turn.pieces if laxity.carrier else turn.pieces & ~(1 << turn.ball)
        for start in members(movers):
            reach = NEAR[start]
            if laxity.diagonal:
                reach |= _DIAGONALS[start]
            if laxity.jump:
                reach |= _jumps(start, turn.pieces | turn.foes)
            for end in members(reach & empty):
                yield Action(start, end, passes=False)
    if now.passes and turn.ball != result.ball:
        own = turn.pieces & ~(1 << turn.ball)
        to = receivers(turn)
        if laxity.any_line:
            to = set_of(*(square for ray in RAYS[turn.ball] for square in ray)) & own
        if laxity.anywhere:
            to = own
        for end in members(to):
            if now.passes > 1 or end == result.ball or laxity.carrier:
                yield Action(turn.ball, end, passes=True)


def _jumps(start: int, taken: int) -> int:
    found = 0
    for offset in ORTHOGONAL:
        ray = GRID.ray(start, offset)
        if len(ray) > 1 and taken >> ray[0] & 1:
            found |= 1 << ray[1]
    return found


def _unexplained(turn: TurnInProgress, result: Side) -> tuple[Breach, ...]:
    """The breaches where no single rule explains what was done: too much of it."""
    found = []
    gone, came = turn.pieces & ~result.pieces, result.pieces & ~turn.pieces
    places = GRID.names_of(gone | came)
    carried = gone >> turn.ball & 1 and came >> result.ball & 1
    if carried:
        found.append(
            Breach(
                "carrier-moved",
                f"The piece with the ball went from {PLACES[turn.ball]} to {PLACES[result.ball]}.",
                f"Put it back on {PLACES[turn.ball]}; it may move once the ball is passed.",
                (PLACES[turn.ball], PLACES[result.ball]),
            )
        )
    if GOAL[turn.player] >> result.ball & 1 or not carried:
        line = None if turn.ball == result.ball else pass_line_breach(turn, turn.ball, result.ball)
        if line is not None:
            found.append(line)
    if places and not (carried and len(places) == 2):
        moved = gone.bit_count()
        found.append(
            Breach(
                "too-many-moves",
                f"{moved} {'piece' if moved == 1 else 'pieces'} went further than two moves allow: "
                f"{', '.join(places)}.",
                TAKE_BACK,
                places,
            )
        )
    return tuple(found)
