"""Which pieces were touched, and how many pieces each stack has, judged by comparing with earlier pictures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from engine.api import Game, StateT, TurnT
from engine.values import LookName, Place
from referee.judge.pooled_reading import PooledPlace, PooledReading
from vision.reading import PlacePicture

_STACKING_SPREAD_MM, _TAIL = 1.0, 8.0
"""Standard deviation, in x and in y, of where a piece comes to rest on the one below, and the degrees of freedom of
Student's distribution, for pieces that were pushed aside. Larger, smaller: positions tell less. Of a few values tried
on ``benchmarks/touched/stacks.py --seed 940000``, they left the fewest questions with no turn judged wrongly."""
_STILL_MM, _FEWEST_STILL = 0.05, 4
"""How far, in mm, the top of an untouched stack seems to move at least, measured there; and the number of tops from
which more than that is told. Larger: small moves tell less."""
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
    usual = _Usual(noise, *_usual_move(seen, known))
    judged = {
        place: _compare_with_earlier_stack(seen.places[place], known[place], usual)
        for place, value in differences.items()
        if math.isfinite(value)
    }
    return replace(seen, places={**seen.places, **judged}) if judged else seen


@dataclass(frozen=True)
class _Usual:
    """How an untouched stack differs from an earlier look: its picture, in usual differences; how far all tops seem to
    have moved, x and y in mm, since a pose is found a little differently each time; and how far each by itself.
    """

    difference: float
    all_mm: tuple[float, float]
    each_mm: float | None

    def touch_log_odds(self, one: PooledPlace, before: KnownPiece) -> float:
        """Return the log-odds by its picture that a stack was touched."""
        if one.picture is None:
            return 0.0
        return _touch_log_odds(before.picture.difference(one.picture) / self.difference)

    def squares_mm2(self, one: PooledPlace, before: KnownPiece) -> Mapping[int, float]:
        """Return for each number of pieces how far, squared, the top would then have moved; empty if unknown."""
        then_mm = before.top_mm
        if then_mm is None or not (one.heights or {before.pieces: 0.0}).keys() <= one.tops_mm.keys():
            return {}
        x, y = (then + both for then, both in zip(then_mm, self.all_mm, strict=True))
        return {count: (now_x - x) ** 2 + (now_y - y) ** 2 for count, (now_x, now_y) in one.tops_mm.items()}

    def still(self, square_mm2: float) -> float:
        """Return the log density of a move of an untouched top."""
        return _log_density(square_mm2, _STACKING_SPREAD_MM**2 if self.each_mm is None else self.each_mm**2)


def _log_density(square_mm2: float, variance_mm2: float) -> float:
    """Return the log density, up to a constant, of a move of this squared length in two directions."""
    return -math.log(variance_mm2) - (_TAIL / 2 + 1) * math.log1p(square_mm2 / (_TAIL * variance_mm2))


def _usual_move(seen: PooledReading, known: Mapping[Place, KnownPiece]) -> tuple[tuple[float, float], float | None]:
    """Return how far all tops seem to have moved, x and y in mm, and each by itself, ``None`` if there are too few."""
    moves = np.array(
        [
            np.subtract(now.tops_mm[one.pieces], one.top_mm)
            for place, one in known.items()
            if (now := seen.places.get(place)) is not None
            and now.best == one.look
            and one.top_mm is not None
            and one.pieces in now.tops_mm
        ]
    )
    if len(moves) < _FEWEST_STILL:
        return (0.0, 0.0), None
    x, y = np.median(moves, axis=0).tolist()
    return (x, y), max(_STILL_MM, float(np.quantile(np.hypot(*(moves - (x, y)).T), 0.25)))


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
    return _bounded(_EVIDENCE_WEIGHT * (touched - untouched))


def _bounded(log_odds: float) -> float:
    return max(-_MOST_EVIDENCE, min(_MOST_EVIDENCE, log_odds))


def _compare_with_earlier_stack(one: PooledPlace, before: KnownPiece, usual: _Usual) -> PooledPlace:
    """Return a place judged by its earlier stack."""
    logs, squares_mm2 = one.heights or {before.pieces: 0.0}, usual.squares_mm2(one, before)
    touched, still = usual.touch_log_odds(one, before), logs.get(before.pieces)
    if squares_mm2:
        # A stack as high as before was taken apart and built again.
        spreads = {count: max(abs(count - before.pieces), 1) * _STACKING_SPREAD_MM**2 for count in logs}
        still = None if still is None else still + usual.still(squares_mm2[before.pieces])
        logs = {count: log + _log_density(squares_mm2[count], spreads[count]) for count, log in logs.items()}
    if still is not None and one.best == before.look:
        touched += _bounded(max(logs.values()) - still)
    one = replace(one, touched=(touched := max(-_MOST_EVIDENCE, touched)))
    if one.best != before.look and touched <= 0:
        return _favour_look(one, before.look, -touched)
    if not one.heights:
        return one
    if squares_mm2:
        any_height = math.log(_ANY_HEIGHT_SHARE / len(logs))
        logs = {
            count: float(np.logaddexp(math.log1p(-_ANY_HEIGHT_SHARE) + log, any_height))
            for count, log in _normalised(logs).items()
        }
    for earlier in before.below:
        # Looking different tells nothing, since the pieces below may have been brushed against.
        if earlier.look == one.best and earlier.pieces in logs:
            as_then = usual.touch_log_odds(one, earlier)
            if (square_mm2 := usual.squares_mm2(one, earlier).get(earlier.pieces)) is not None:
                as_then = max(as_then, _log_density(square_mm2, _STACKING_SPREAD_MM**2) - usual.still(square_mm2))
            logs = {**logs, earlier.pieces: logs[earlier.pieces] + max(0.0, -as_then)}
    return replace(one, heights=_normalised(logs))


def _normalised(logs: Mapping[int, float]) -> Mapping[int, float]:
    total = float(np.logaddexp.reduce(list(logs.values())))
    return {count: log - total for count, log in logs.items()}


def _favour_look(one: PooledPlace, look: LookName, log_odds: float) -> PooledPlace:
    """Return a place at which ``look`` is likelier than it was read, by these log-odds."""
    logs = {**one.log_probabilities, look: one.log_probabilities[look] + log_odds}
    total = float(np.logaddexp.reduce(list(logs.values())))
    judged = replace(one, log_probabilities={name: value - total for name, value in logs.items()})
    # The heights are those of the look that was read.
    return judged if judged.best == one.best else replace(judged, heights={})
