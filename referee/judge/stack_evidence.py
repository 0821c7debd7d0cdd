"""Which stacks were touched, and how many pieces each has, judged by comparing with earlier pictures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from engine.api import Game, StacksPieces, StateT, TurnT
from engine.values import LookName, Place
from referee.judge.pooled_reading import PooledPlace, PooledReading
from vision.place_picture import PlacePicture

_STACKING_SPREAD_MM = 1.0
"""Standard deviation, in x and in y, of where a piece comes to rest on the one below. Of a few values tried, this and
the next made the true numbers of pieces of 606 touched stacks of virtual games likeliest."""
_PENALTY_PER_PIECE = 1.0
"""By how much, in log-odds, each further piece put on or taken off a touched stack makes a change less likely."""
_PUSHED_SHARE, _PUSHED_SPREAD_MM = 0.1, 5.0
"""The share of tops that were pushed aside, and the standard deviation of how far. Set by hand."""
_MOST_NOISE = 5.0
"""The strongest noise, in units of the usual difference of untouched stacks, at which pictures are still compared.
Higher: a touch is overlooked more often. Set by hand."""
_UNTOUCHED, _TOUCHED = (-0.3, 0.8), (4.2, 1.2)
"""Mean and standard deviation of the logarithm of the difference, in units of the usual one, of untouched and touched
stacks of the same look: ``benchmarks/stacks.py`` measures them."""
_EVIDENCE_WEIGHT, _MOST_EVIDENCE = 0.6, 4.0
"""The weight of a picture's log-odds, and the most that one picture may contribute. Higher: a single stack decides
between turns more often, rightly or wrongly. Set by hand so that few decide wrongly;
``benchmarks/stacks.py`` counts them."""
_ANY_HEIGHT_SHARE = 0.1
"""The share of touched stacks that may have any number of pieces, however certain it seems. Higher: heights count less.
Set by hand."""


def height_contradiction(
    game: Game[StateT, TurnT], state: StateT, turns: Sequence[TurnT], seen: PooledReading
) -> float:
    """Return the log-odds of the stacks seen against a sequence of turns; 0 in a game without stacks.

    It compares turns that leave the same appearance: heights tell nothing where the best look is another.
    Raises IllegalTurnError when the state doesn't allow the turns.
    """
    if not isinstance(game.table, StacksPieces):
        return 0.0
    for turn in turns:
        state = game.rules.apply(state, turn)
    looks, heights = game.table.appearance(state), game.table.heights(state)
    played_on = {place for turn in turns for place in turn.places}
    return math.fsum(
        _stack_contradiction(one, heights[place], touched=place in played_on)
        for place, one in seen.places.items()
        if one.best == looks[place]
    )


def _stack_contradiction(one: PooledPlace, pieces: int, *, touched: bool) -> float:
    """Return the log-odds of a stack as seen against this many pieces, and against it having been touched or not."""
    if one.touched is not None and not touched:
        return max(0.0, one.touched)
    cost = 0.0 if one.touched is None else max(0.0, -one.touched)
    if one.heights:
        # The number of pieces is no more certain than that it was touched.
        cost = max(cost, max(one.heights.values()) - one.heights.get(pieces, min(one.heights.values())))
    return cost


@dataclass(frozen=True)
class KnownStack:
    """A stack that is known: its look, the number of its pieces, and how it was seen.

    ``top_mm`` is where (x, y) on its place the top stood, ``None`` for a large one.
    """

    look: LookName
    pieces: int
    picture: PlacePicture = field(repr=False)
    top_mm: tuple[float, float] | None = None


def stacks_as_believed(
    game: Game[StateT, TurnT], state: StateT, seen: Mapping[Place, PooledPlace]
) -> dict[Place, KnownStack]:
    """Return the stacks that look as the state has them; none in a game without stacks."""
    if not isinstance(game.table, StacksPieces):
        return {}
    looks, heights = game.table.appearance(state), game.table.heights(state)
    return {
        place: KnownStack(looks[place], heights[place], one.picture, one.tops_mm.get(heights[place]))
        for place, one in seen.items()
        if one.best == looks[place] and one.picture is not None
    }


def unchanged_stacks(
    game: Game[StateT, TurnT], state: StateT, stacks: Mapping[Place, KnownStack]
) -> dict[Place, KnownStack]:
    """Return the known stacks that have the same look and number of pieces in a state."""
    if not stacks or not isinstance(game.table, StacksPieces):
        return {}
    looks, heights = game.table.appearance(state), game.table.heights(state)
    return {place: one for place, one in stacks.items() if (one.look, one.pieces) == (looks[place], heights[place])}


def compare_with_earlier_stacks(seen: PooledReading, stacks: Mapping[Place, KnownStack]) -> PooledReading:
    """Return a copy in which each stack is judged by comparison with its earlier picture.

    An untouched stack looks as before; on one that was touched, the top is somewhere else.
    """
    judged = {
        place: _compare_with_earlier_stack(seen.places[place], stacks[place], touched)
        for place, touched in _touch_log_odds_by_place(seen, stacks).items()
    }
    return replace(seen, places={**seen.places, **judged}) if judged else seen


def _touch_log_odds_by_place(seen: PooledReading, stacks: Mapping[Place, KnownStack]) -> dict[Place, float]:
    """Return the log-odds that somebody touched each stack, by how its picture differs from the earlier one.

    Empty where nearly all differ, as after the camera was moved.
    """
    pictures = {place: seen.places[place].picture for place in stacks if place in seen.places}
    differences = {
        place: stacks[place].picture.difference(picture) for place, picture in pictures.items() if picture is not None
    }
    # Places that did not change since the earlier look were not read anew, and show none of the noise.
    reread = [value for place, value in differences.items() if pictures[place] is not stacks[place].picture]
    noise = max(1.0, float(np.quantile(reread, 0.25))) if 2 * len(reread) > len(differences) else 1.0
    if noise > _MOST_NOISE:
        return {}
    return {place: _touch_log_odds(value / noise) for place, value in differences.items() if math.isfinite(value)}


def _touch_log_odds(difference: float) -> float:
    """Return the log-odds of a touch, given a difference in units of the usual one."""
    # Far below the usual difference the two likelihoods would cross again.
    logarithm = max(math.log(max(difference, 1e-9)), _UNTOUCHED[0])
    touched, untouched = (
        -(((logarithm - mean) / spread) ** 2) / 2 - math.log(spread) for mean, spread in (_TOUCHED, _UNTOUCHED)
    )
    return max(-_MOST_EVIDENCE, min(_MOST_EVIDENCE, _EVIDENCE_WEIGHT * (touched - untouched)))


def _compare_with_earlier_stack(one: PooledPlace, before: KnownStack, touched: float) -> PooledPlace:
    """Return a place judged by its earlier stack, given the log-odds that this one was touched."""
    one = replace(one, touched=touched)
    if one.best != before.look:
        return one if touched > 0 else _favour_look(one, before.look, -touched)
    if before.top_mm is not None and one.heights and one.heights.keys() <= one.tops_mm.keys():
        return replace(one, heights=_heights_after_touch(one, before.pieces, before.top_mm))
    return one


def _favour_look(one: PooledPlace, look: LookName, log_odds: float) -> PooledPlace:
    """Return a place at which ``look`` is likelier than it was read, by these log-odds."""
    logs = {**one.log_probabilities, look: one.log_probabilities[look] + log_odds}
    total = float(np.logaddexp.reduce(list(logs.values())))
    judged = replace(one, log_probabilities={name: value - total for name, value in logs.items()})
    # The heights are those of the look that was read.
    return judged if judged.best == one.best else replace(judged, heights={})


def _heights_after_touch(one: PooledPlace, pieces: int, top_mm: tuple[float, float]) -> dict[int, float]:
    """Return the log-probabilities of the numbers of pieces of a touched stack, by how far its top has moved."""
    counts = list(one.heights)
    moves = np.array([one.tops_mm[count] for count in counts]) - top_mm
    squares = (moves**2).sum(axis=1)
    # A stack as high as before was taken apart and built again.
    moved = np.maximum(np.abs(np.array(counts) - pieces), 1)
    spread = moved * _STACKING_SPREAD_MM**2
    rested = math.log1p(-_PUSHED_SHARE) - np.log(spread) - squares / (2 * spread)
    pushed = math.log(_PUSHED_SHARE) - 2 * math.log(_PUSHED_SPREAD_MM) - squares / (2 * _PUSHED_SPREAD_MM**2)
    logs = np.array(list(one.heights.values())) + np.logaddexp(rested, pushed) - _PENALTY_PER_PIECE * moved
    logs -= np.logaddexp.reduce(logs)
    logs = np.logaddexp(math.log1p(-_ANY_HEIGHT_SHARE) + logs, math.log(_ANY_HEIGHT_SHARE / len(counts)))
    return dict(zip(counts, logs.tolist(), strict=True))
