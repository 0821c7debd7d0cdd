"""Which pieces were touched, and how many pieces each stack has, judged by comparing with earlier pictures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from engine.api import Game, StateT, TurnT
from engine.values import LookName, Place
from referee.judge.pooled_reading import PooledPlace, PooledReading
from vision.reading import PlacePicture

_STACKING_SPREAD_MM = 1.0
"""Standard deviation, in x and in y, of where a piece comes to rest on the one below. Larger: positions tell less. Of a
few values tried, it made the true turns of virtual games likeliest among those that look alike from above."""
_PUSHED_SHARE, _PUSHED_SPREAD_MM = 0.1, 5.0
"""The share of tops that were pushed aside, and the standard deviation of how far. Set by hand."""
_MOST_NOISE = 5.0
"""The strongest noise, in units of the usual difference of untouched stacks, at which pictures are still compared.
Higher: a touch is overlooked more often. Set by hand."""
_UNTOUCHED, _TOUCHED = (-0.3, 0.8), (4.2, 1.2)
"""Mean and standard deviation of the logarithm of the difference, in units of the usual one, of untouched and touched
stacks of the same look: ``benchmarks/touched/stacks.py`` measures them."""
_EVIDENCE_WEIGHT, _MOST_EVIDENCE = 0.6, 4.0
"""The weight of a picture's log-odds, and the most that one picture may contribute. Higher: a single stack decides
between turns more often, rightly or wrongly. Set by hand so that few decide wrongly;
``benchmarks/touched/stacks.py`` counts them."""
UNTOUCHED_DISC, _UNTOUCHED_SLOPE, _MOST_UNTOUCHED = 0.0, 3.0, 2.5
"""Logarithm of the difference, in units of the usual one, below which a flat piece counts as untouched, the log-odds by
which its look gains for each unit below that, and the most it may gain. Higher: fewer questions about balls in dim
light, and more passes overlooked. Set by hand: ``benchmarks/touched/discs.py`` finds nearly all untouched discs below
it, and those with a ball put on or taken off far above."""
_MOST_DISC_NOISE = 1.5
"""The strongest noise at which pictures of flat pieces are compared."""
_ANY_HEIGHT_SHARE = 0.1
"""The share of touched stacks that may have any number of pieces, however certain it seems. Higher: heights count less.
Set by hand."""


@dataclass(frozen=True)
class KnownPiece:
    """A stack, or a single flat piece, that is known: its look, the number of its pieces, and how it was seen.

    ``top_mm`` is where (x, y) on its place the top stood, ``None`` if the reader gave no position for that height.
    ``below`` is the same stack when it was lower, as last seen: it looks so again once the pieces above are gone.
    """

    look: LookName
    pieces: int
    picture: PlacePicture = field(repr=False)
    top_mm: tuple[float, float] | None = None
    below: tuple[KnownPiece, ...] = field(default=(), repr=False)

    def lower_than(self, pieces: int) -> tuple[KnownPiece, ...]:
        """Return how this stack looked with fewer pieces than given."""
        return tuple(one for one in (*self.below, replace(self, below=())) if one.pieces < pieces)


def pieces_as_believed(
    game: Game[StateT, TurnT],
    state: StateT,
    seen: Mapping[Place, PooledPlace],
    earlier: Mapping[Place, KnownPiece],
) -> dict[Place, KnownPiece]:
    """Return the stacks and flat pieces that look as the state has them, given the ``earlier`` ones."""
    looks, heights = game.table.appearance(state), _heights(game, state)
    return {
        place: KnownPiece(
            looks[place],
            heights.get(place, 1),
            one.picture,
            one.tops_mm.get(heights.get(place, 1)),
            earlier[place].lower_than(heights.get(place, 1)) if place in earlier else (),
        )
        for place, one in seen.items()
        if one.best == looks[place] and one.picture is not None
    }


def pieces_as_told(
    game: Game[StateT, TurnT], state: StateT, seen: Mapping[Place, PooledPlace], places: Iterable[Place]
) -> dict[Place, KnownPiece]:
    """Return the stacks on these places as the state has them, whatever they look like; ``seen`` has their pictures."""
    looks, heights = game.table.appearance(state), _heights(game, state)
    return {
        place: KnownPiece(looks[place], heights.get(place, 1), picture)
        for place in places
        if (picture := seen[place].picture) is not None
    }


def unchanged_pieces(
    game: Game[StateT, TurnT], state: StateT, pieces: Mapping[Place, KnownPiece]
) -> dict[Place, KnownPiece]:
    """Return the known pieces that have the same look in a state, and stacks also as many pieces."""
    if not pieces:
        return {}
    looks, heights = game.table.appearance(state), _heights(game, state)
    return {
        place: one for place, one in pieces.items() if (one.look, one.pieces) == (looks[place], heights.get(place, 1))
    }


def _heights(game: Game[StateT, TurnT], state: StateT) -> Mapping[Place, int]:
    """Return the number of pieces of each stack; none in a game without stacks."""
    return {} if game.heights is None else game.heights(state)


def compare_with_earlier_pictures(
    game: Game[StateT, TurnT], seen: PooledReading, known: Mapping[Place, KnownPiece]
) -> PooledReading:
    """Return a copy in which each stack or flat piece is judged by comparison with its earlier pictures.

    A flat piece that looks just as before is likelier to be the same. An untouched stack looks as before; on one that
    was touched, the top is somewhere else. Pieces that were uncovered look as they did before they were covered.
    Nothing is judged where nearly all pictures differ, as after the camera was moved.
    """
    differences, noise = _differences({place: one.picture for place, one in known.items()}, seen)
    if game.heights is None:
        return _favour_untouched(seen, known, differences) if noise < _MOST_DISC_NOISE else seen
    if noise > _MOST_NOISE:
        return seen
    judged = {
        place: _compare_with_earlier_stack(seen.places[place], known[place], _touch_log_odds(value / noise), noise)
        for place, value in differences.items()
        if math.isfinite(value)
    }
    return replace(seen, places={**seen.places, **judged}) if judged else seen


def _favour_untouched(
    seen: PooledReading, known: Mapping[Place, KnownPiece], differences: Mapping[Place, float]
) -> PooledReading:
    """Return a copy in which flat pieces that look just as they did are likelier to be the same."""
    favoured = {}
    for place, difference in differences.items():
        log_odds = _UNTOUCHED_SLOPE * (UNTOUCHED_DISC - math.log(max(difference, 1e-9)))
        if log_odds > 0:
            favoured[place] = _favour_look(seen.places[place], known[place].look, min(log_odds, _MOST_UNTOUCHED))
    return replace(seen, places={**seen.places, **favoured}) if favoured else seen


def untouched_since(seen: PooledReading, earlier: Mapping[Place, PooledPlace]) -> frozenset[Place]:
    """Return the places whose stack looks as it did at an earlier look; none where nearly all stacks differ."""
    pictures = {place: one.picture for place, one in earlier.items() if one.picture is not None}
    differences, noise = _differences(pictures, seen)
    if noise > _MOST_NOISE:
        return frozenset()
    return frozenset(place for place, value in differences.items() if _touch_log_odds(value / noise) < 0)


def _differences(pictures: Mapping[Place, PlacePicture], seen: PooledReading) -> tuple[dict[Place, float], float]:
    """Return how much each stack differs from an earlier picture, and the noise, both in usual differences."""
    now = {
        place: picture
        for place in pictures
        if place in seen.places and (picture := seen.places[place].picture) is not None
    }
    differences = {place: pictures[place].difference(picture) for place, picture in now.items()}
    # Places that did not change since the earlier look were not read anew, and show none of the noise.
    reread = [value for place, value in differences.items() if now[place] is not pictures[place]]
    if 2 * len(reread) <= len(differences):
        return differences, 1.0
    # Between infinities NumPy finds no quantile, so they count as the largest number.
    noise = max(1.0, float(np.quantile(np.nan_to_num(reread), 0.25)))
    return differences, noise


def _touch_log_odds(difference: float) -> float:
    """Return the log-odds of a touch, given a difference in units of the usual one."""
    # Far below the usual difference the two likelihoods would cross again.
    logarithm = max(math.log(max(difference, 1e-9)), _UNTOUCHED[0])
    touched, untouched = (
        -(((logarithm - mean) / spread) ** 2) / 2 - math.log(spread) for mean, spread in (_TOUCHED, _UNTOUCHED)
    )
    return max(-_MOST_EVIDENCE, min(_MOST_EVIDENCE, _EVIDENCE_WEIGHT * (touched - untouched)))


def _compare_with_earlier_stack(one: PooledPlace, before: KnownPiece, touched: float, noise: float) -> PooledPlace:
    """Return a place judged by its earlier stack, given the log-odds that this one was touched."""
    one = replace(one, touched=touched)
    if one.best != before.look and touched <= 0:
        return _favour_look(one, before.look, -touched)
    if one.heights and before.top_mm is not None and one.heights.keys() <= one.tops_mm.keys():
        one = replace(one, heights=_heights_after_touch(one, before.pieces, before.top_mm))
    return replace(one, heights=_favour_uncovered(one, before.below, noise))


def _favour_look(one: PooledPlace, look: LookName, log_odds: float) -> PooledPlace:
    """Return a place at which ``look`` is likelier than it was read, by these log-odds."""
    logs = {**one.log_probabilities, look: one.log_probabilities[look] + log_odds}
    total = float(np.logaddexp.reduce(list(logs.values())))
    judged = replace(one, log_probabilities={name: value - total for name, value in logs.items()})
    # The heights are those of the look that was read.
    return judged if judged.best == one.best else replace(judged, heights={})


def _favour_uncovered(one: PooledPlace, below: Sequence[KnownPiece], noise: float) -> Mapping[int, float]:
    """Return the log-probabilities of the numbers of pieces, raised for a number with which the stack looked like this.

    Looking different tells nothing, since the pieces below may have been brushed against.
    """
    logs = dict(one.heights)
    for earlier in below:
        if earlier.look == one.best and earlier.pieces in logs and one.picture is not None:
            logs[earlier.pieces] += max(0.0, -_touch_log_odds(earlier.picture.difference(one.picture) / noise))
    total = float(np.logaddexp.reduce(list(logs.values())))
    return {pieces: value - total for pieces, value in logs.items()}


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
    logs = np.array(list(one.heights.values())) + np.logaddexp(rested, pushed)
    logs -= np.logaddexp.reduce(logs)
    logs = np.logaddexp(math.log1p(-_ANY_HEIGHT_SHARE) + logs, math.log(_ANY_HEIGHT_SHARE / len(counts)))
    return dict(zip(counts, logs.tolist(), strict=True))
