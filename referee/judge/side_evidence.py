"""What an appearance does not show and still tells turns apart: side faces, and the heights of stacks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.api import Game, StacksPieces, StateT, TurnT
from engine.values import LookName, Place
from referee.judge.pooled_reading import PooledPlace, PooledReading
from vision.frame import FloatArray

_SEEN_AGAIN_MM = 0.2
"""Standard deviation of where the top of a stack is seen once more, each way ..."""
_EACH_PIECE_MM = 0.6
"""... and of how far off a piece comes to rest on the one below."""
_ALIKE_MM, _LEAST_STACKS = 0.5, 6
"""Stacks have moved alike where most, and so many at least, moved as the middle one did, within so much."""
_PUSHED, _PUSHED_MM = 0.1, 5.0
"""The share of stacks whose top was pushed aside, and the standard deviation of how far."""
_ODD_HEIGHT = 0.3
"""The share of stacks whose height is any, so that no stack tells turns apart alone."""


def best_by_sides(
    game: Game[StateT, TurnT],
    state: StateT,
    turns: Sequence[TurnT],
    seen: PooledReading,
    side_lead: float,
) -> tuple[TurnT, ...]:
    """Of turns that leave the same appearance, keep those that side faces and heights don't contradict.

    Each turn scores the best of the facings it leaves possible; turns that fall behind the best one by
    ``side_lead`` are dropped.
    """
    if len(turns) < 2:
        return tuple(turns)
    scores = [
        -against_sides(game, state, (turn,), seen) - against_heights(game, state, (turn,), seen) for turn in turns
    ]
    best = max(scores)
    return tuple(turn for turn, score in zip(turns, scores, strict=True) if score > best - side_lead)


def against_sides(game: Game[StateT, TurnT], state: StateT, turns: Sequence[TurnT], seen: PooledReading) -> float:
    """Log-odds of the side faces seen on the places of turns in a row against these turns; 0 where none were seen.

    Raises IllegalTurnError when the state doesn't allow them.
    """
    for turn in turns:
        state = game.rules.apply(state, turn)
    facings = {} if game.side_faces is None else game.side_faces.facings(state)
    cost = 0.0
    for place in dict.fromkeys(place for turn in turns for place in turn.places):
        if place in seen.places:
            cost += against_facings(facings.get(place, ()), seen.places[place].sides)
    return cost


def against_heights(game: Game[StateT, TurnT], state: StateT, turns: Sequence[TurnT], seen: PooledReading) -> float:
    """Minus the log-probability of the heights of all stacks after turns in a row; 0 where the game has no stacks.

    It compares turns that leave the same appearance: heights tell nothing where the best look is another.
    Raises IllegalTurnError when the state doesn't allow the turns.
    """
    if not isinstance(game.table, StacksPieces):
        return 0.0
    for turn in turns:
        state = game.rules.apply(state, turn)
    looks, heights = game.table.appearance(state), game.table.heights(state)
    told = [
        one.heights.get(heights[place], min(one.heights.values()))
        for place, one in seen.places.items()
        if one.heights and one.best == looks[place]
    ]
    return -math.fsum(told)


@dataclass(frozen=True)
class StandingStack:
    """A stack that is known: its look, the number of its pieces, and how it was seen.

    ``top_mm`` is where (x, y) on its place the top stood; ``heights`` are the log-probabilities of the numbers of
    pieces.
    """

    look: LookName
    pieces: int
    top_mm: tuple[float, float]
    heights: Mapping[int, float]


def standing_stacks(game: Game[StateT, TurnT], state: StateT, seen: PooledReading) -> dict[Place, StandingStack]:
    """Give the stacks of a state that are seen as they are; none in a game without stacks."""
    if not isinstance(game.table, StacksPieces):
        return {}
    looks, heights = game.table.appearance(state), game.table.heights(state)
    return {
        place: StandingStack(looks[place], heights[place], one.tops_mm[heights[place]], one.heights_alone)
        for place, one in seen.places.items()
        if one.best == looks[place] and heights[place] in one.tops_mm
    }


def still_standing(
    game: Game[StateT, TurnT], state: StateT, stacks: Mapping[Place, StandingStack]
) -> dict[Place, StandingStack]:
    """Keep the stacks that are in a state as they were."""
    if not stacks or not isinstance(game.table, StacksPieces):
        return {}
    looks, heights = game.table.appearance(state), game.table.heights(state)
    return {place: one for place, one in stacks.items() if (one.look, one.pieces) == (looks[place], heights[place])}


def beside_stacks(seen: PooledReading, stacks: Mapping[Place, StandingStack]) -> PooledReading:
    """A copy in which heights are judged by where the tops stood earlier, which tells more than one picture does.

    A stack that nobody touched is seen where it was; each piece more or less moves the top in the picture.
    """
    again = {
        place: (seen.places[place], before)
        for place, before in stacks.items()
        if place in seen.places and seen.places[place].heights_alone and before.pieces in seen.places[place].tops_mm
    }
    if not again:
        return seen
    moved_mm = _moved_alike(
        np.array([np.subtract(one.tops_mm[before.pieces], before.top_mm) for one, before in again.values()])
    )
    judged = {
        place: replace(one, heights=_heights_beside(one, before, moved_mm)) for place, (one, before) in again.items()
    }
    return replace(seen, places={**seen.places, **judged})


def _moved_alike(moves_mm: FloatArray) -> FloatArray:
    """How far most stacks seem to have moved, as after a nudge of the camera; nothing if they don't agree."""
    middle: FloatArray = np.median(moves_mm, axis=0)
    agree = np.linalg.norm(moves_mm - middle, axis=1) <= _ALIKE_MM
    return middle if 2 * agree.sum() > len(moves_mm) >= _LEAST_STACKS else np.zeros(2)


def _heights_beside(one: PooledPlace, before: StandingStack, moved_mm: FloatArray) -> dict[int, float]:
    """Log-probabilities of the numbers of pieces, by how far the top then moved beside what all others did."""
    counts = [count for count in one.heights_alone if count in one.tops_mm]
    moves = np.array([one.tops_mm[count] for count in counts]) - before.top_mm - moved_mm
    squares = (moves**2).sum(axis=1)
    pieces = np.abs(np.array(counts) - before.pieces)
    pieces[(pieces == 0) & (one.best != before.look)] = 2
    spread = _SEEN_AGAIN_MM**2 + pieces * _EACH_PIECE_MM**2
    rested = math.log1p(-_PUSHED) - math.log(len(counts)) - np.log(spread) - squares / (2 * spread)
    alone = np.array([one.heights_alone[count] for count in counts])
    # What misled about a stack before misleads again while it is the same.
    misled = np.array([before.heights.get(count, 0.0) for count in counts]) if one.best == before.look else 0.0
    rested += alone - misled
    pushed = math.log(_PUSHED) - 2 * math.log(_PUSHED_MM) - squares / (2 * _PUSHED_MM**2) + alone
    logs = np.logaddexp(rested, pushed)
    logs -= np.logaddexp.reduce(logs)
    logs = np.logaddexp(math.log1p(-_ODD_HEIGHT) + logs, math.log(_ODD_HEIGHT / len(counts)))
    return dict(zip(counts, logs.tolist(), strict=True))


def against_facings(facings: Sequence[Mapping[str, str]], sides: Mapping[str, Mapping[str, float]]) -> float:
    """Log-odds of the side faces seen against the possible facing that suits them best; 0 where none is known."""
    return min(
        (
            sum(
                max(symbols.values()) - symbols.get(facing[side], min(symbols.values()))
                for side, symbols in sides.items()
                if side in facing and symbols
            )
            for facing in facings
        ),
        default=0.0,
    )


def sure_sides(seen: PooledReading, places: Sequence[Place], side_lead: float) -> dict[Place, dict[str, str]]:
    """The side faces read with certainty: those whose best symbol leads the next by ``side_lead``."""
    found: dict[Place, dict[str, str]] = {}
    for place in places:
        one = seen.places.get(place)
        if one is None:
            continue
        facing = {}
        for side, symbols in one.sides.items():
            ranked = sorted(symbols, key=lambda name: -symbols[name])
            if len(ranked) > 1 and symbols[ranked[0]] - symbols[ranked[1]] >= side_lead:
                facing[side] = ranked[0]
        if facing:
            found[place] = facing
    return found
