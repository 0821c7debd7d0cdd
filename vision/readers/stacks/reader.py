"""The reader of stacks of pyramids: the top of each.

The tip of each is chosen among the spots that the finder proposes, by the sides below each. The hues of a set of
pyramids are estimated in each picture: each lamp tints them, and each camera shows them stronger or weaker.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import cv2
import numpy as np
import numpy.typing as npt

from vision.drawing import write_text
from vision.frame import FloatArray, Image
from vision.geometry import PyramidSolid, project, unit_circle
from vision.layout.pieces import PYRAMID_SIZES, TIP_SHARE, PyramidPieces, Surface
from vision.opencv import as_colour, as_grey
from vision.readers.protocols import NOTHING, SurfaceView
from vision.readers.stacks.appearance import (
    BLACK,
    CLEAR,
    MOST_PIECES,
    NEUTRALS,
    PyramidAppearance,
    hues_of,
    look_name,
    possible_tops,
)
from vision.readers.stacks.network import (
    ACROSS,
    DOWN_MM,
    KINDS,
    NO_TIP,
    SIDES,
    Found,
    StackCrops,
    StackNetwork,
    flatten_sides,
    kind_of,
    levels_beside_tips,
    shipped,
    shipped_finder,
    tip_heights_mm,
    tip_log_odds,
)
from vision.reading import PlacePicture
from vision.sampling import linear_light_table

SPOT_WEIGHT = 1.0
"""Weight of the finder's log-probability of a spot in the choice of the tip. Higher: the sides count less. Set by hand
on rendered pictures not used for training, like the next.
"""
SIDES_WEIGHT = 1.3
"""Weight of the stack's flattened sides, in the choice of the tip and of the look. Higher: more certain, but wrong more
often.
"""
FIRST_SPOTS, SURE_TIP = 1, 3.0
"""Number of a place's spots that are evaluated first; the others are skipped if one of these is a tip with such
log-odds.
"""
SURE_SIZE = 0.9
"""Probability of a size by the likeliest spot, below which, or without a sure tip, the points around it are evaluated
too: averaged over them, sizes are more often right. Higher: slower.
"""
AROUND, AROUND_PX, AROUND_COST = 8, 4.0, 0.5
"""Number of these points, their distance from the spot in a crop, 1.7 mm, and what it costs as log-likelihood that the
finder did not propose them.
"""
_NEVER = -30.0
"""Log-probability of a kind of top, and log-odds of a tip, at a spot that is skipped."""


@dataclass(frozen=True, eq=False)
class Tips:
    """The likeliest tips of n stacks: their pixels (n, 2), their flattened sides (n, SIDES, rows, columns, 3), the
    log-odds of the surest spot being a tip (n,), and the log-probabilities of the kinds of tops by the sides below all
    spots, (n, KINDS + 1).
    """

    tips_px: FloatArray
    sides: Image
    log_odds: FloatArray
    kinds: FloatArray


@dataclass(frozen=True, eq=False)
class _Spots:
    """Spots (n, m): pixels, log-probabilities by the finder, sides, and what these say: the log-probabilities of kinds,
    and the log-odds of being a tip.
    """

    tips_px: FloatArray
    logs: FloatArray
    sides: Image
    kinds: FloatArray
    log_odds: FloatArray

    def with_more(self, other: _Spots) -> _Spots:
        """Return these and other spots of the same stacks."""
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return _Spots(*(np.concatenate(pair, axis=1) for pair in pairs))

    def shares(self) -> FloatArray:
        """Return the log-probability of each spot being the tip if one of them is, (n, m)."""
        shares = SPOT_WEIGHT * self.logs + SIDES_WEIGHT * self.log_odds
        return np.asarray(shares - np.logaddexp.reduce(shares, axis=1, keepdims=True), dtype=np.float64)


class TipChooser:
    """Chooses the tips of stacks in pictures from one pose; ``usual_tip_mm`` is assumed where a height hardly shows."""

    def __init__(self, crops: StackCrops, network: StackNetwork, usual_tip_mm: float) -> None:
        self._crops = crops
        self._network = network
        self._usual_tip_mm = usual_tip_mm

    def choose(self, pictures: Image, places: Sequence[str], found: Found) -> Tips:
        """Choose the tips of places, given their crops (n, rows, columns, 3) and what the finder found in these."""
        each = np.arange(len(places))
        first, others = found.tips_px[:, :FIRST_SPOTS], found.tips_px[:, FIRST_SPOTS:]
        spots = self._evaluate(pictures, places, found, each, first, found.logs[:, :FIRST_SPOTS])
        unsure = np.flatnonzero(spots.log_odds.max(axis=1) < SURE_TIP)
        if len(unsure):
            spots = spots.with_more(
                self._evaluate(pictures, places, found, unsure, others, found.logs[:, FIRST_SPOTS:])
            )
        best = spots.shares().argmax(axis=1)
        unsure = np.flatnonzero(
            (spots.log_odds.max(axis=1) < SURE_TIP) | (_surest_size(spots.kinds[each, best]) < SURE_SIZE)
        )
        if len(unsure):
            logs = np.repeat(spots.logs[each, best][:, None] - AROUND_COST, AROUND, axis=1)
            around = spots.tips_px[each, best][:, None] + AROUND_PX * unit_circle(AROUND)
            spots = spots.with_more(self._evaluate(pictures, places, found, unsure, around, logs))
        shares = spots.shares()
        best = shares.argmax(axis=1)
        sides, views = spots.sides[each, best], self._crops.views(places)
        averaged = self._network.with_mirror_images(spots.kinds[each, best], sides, views, found.angles_rad)
        spots.kinds[each, best], spots.log_odds[each, best] = averaged, tip_log_odds(averaged)
        kinds = np.logaddexp.reduce(shares[:, :, None] + spots.kinds, axis=1)
        return Tips(spots.tips_px[each, best], sides, spots.log_odds.max(axis=1), kinds)

    def _evaluate(
        self,
        pictures: Image,
        places: Sequence[str],
        found: Found,
        chosen: npt.NDArray[np.int64],
        tips_px: FloatArray,
        logs: FloatArray,
    ) -> _Spots:
        """Evaluate spots (n, m, 2) of the chosen places; those of the others are no tips."""
        count, spots = tips_px.shape[:2]
        sides: Image = np.zeros((count, spots, SIDES, len(DOWN_MM), len(ACROSS), 3), dtype=np.uint8)
        kinds = np.full((count, spots, KINDS + 1), _NEVER)
        kinds[..., NO_TIP] = 0.0
        log_odds = np.full((count, spots), _NEVER)
        place, spot = np.repeat(chosen, spots), np.tile(np.arange(spots), len(chosen))
        names, angles_rad = [places[number] for number in place.tolist()], found.angles_rad[place]
        tips_mm = self._crops.near_axes(places, tips_px, found.feet_mm, self._usual_tip_mm)[place, spot]
        own = flatten_sides(self._crops, pictures[place], names, tips_mm, angles_rad)
        seen = self._network.log_probabilities(own, self._crops.views(names), angles_rad)
        kinds[place, spot], log_odds[place, spot], sides[place, spot] = seen, tip_log_odds(seen), own
        return _Spots(tips_px, logs, sides, kinds, log_odds)


def _surest_size(kinds: FloatArray) -> FloatArray:
    """Return the probability of each tip's likeliest size, (n,), from the log-probabilities of kinds (n, KINDS + 1)."""
    sizes = np.logaddexp.reduce(kinds[:, :KINDS].reshape(len(kinds), len(PYRAMID_SIZES), -1), axis=2)
    return np.asarray(np.exp(sizes.max(axis=1) - np.logaddexp.reduce(sizes, axis=1)))


_ROUNDS = 4
"""Number of times that hues are assigned to the nearest colours and the tint is computed from these."""


@dataclass(frozen=True)
class HueSettings:
    """How far hues may be from those learned. Set by hand on ray-traced pictures and the same under other lights."""

    spread: float = 0.35
    """Standard deviation of a hue, in log units. Larger: distinguishes colours less reliably."""
    usual_cost: float = 10.0
    """Cost of a hue, as negative log-likelihood, from which it grows ever more slowly. Higher: outvotes more shapes."""
    tint_spread: float = 0.3
    """Standard deviation of a picture's tint, in log units. Larger: other colours pass for tinted ones more easily."""
    strengths: tuple[float, ...] = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.12, 1.25, 1.4, 1.6, 1.8)
    """Strengths of colours that are tried. More: slower, more exact."""
    strength_spread: float = 0.3
    """Standard deviation of the strength, in log units. Larger: other colours pass for strong ones more easily."""


_TINT_SETTINGS = HueSettings()


def hue_costs(hues: FloatArray, known: FloatArray) -> FloatArray:
    """Return the cost of each hue (..., n, 2) being each known one (k, 2), as negative log-likelihood, (..., n, k).

    It is Gaussian near a known hue; farther off it has a heavy tail, so that odd hues count little.
    """
    squares = ((hues[..., None, :] - known) ** 2).sum(axis=-1) / (2 * _TINT_SETTINGS.spread**2)
    return np.asarray(_TINT_SETTINGS.usual_cost * np.log1p(squares / _TINT_SETTINGS.usual_cost), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Tint:
    """How a picture changes hues: it multiplies them by ``strength`` and adds ``shift`` (2,)."""

    strength: float
    shift: FloatArray

    def without(self, hues: FloatArray) -> FloatArray:
        """Return hues (n, 2) as they were learned."""
        return np.asarray((hues - self.shift) / self.strength, dtype=np.float64)


def tint_of(hues: FloatArray, known: FloatArray) -> Tint:
    """Return the tint with which all hues of a picture (n, 2) are most like known ones (k, 2)."""
    strengths = np.array(_TINT_SETTINGS.strengths)[:, None, None]
    shifts = np.zeros((len(strengths), 1, 2))
    for _ in range(_ROUNDS):
        costs = hue_costs((hues - shifts) / strengths, known)
        nearest = known[costs.argmin(axis=-1)]
        weights = np.exp(-costs.min(axis=-1, keepdims=True) / _TINT_SETTINGS.usual_cost)
        prior = (strengths * _TINT_SETTINGS.spread / _TINT_SETTINGS.tint_spread) ** 2
        shifts = (weights * (hues - strengths * nearest)).sum(axis=1, keepdims=True)
        shifts /= weights.sum(axis=1, keepdims=True) + prior
    total = hue_costs((hues - shifts) / strengths, known).min(axis=-1).sum(axis=1)
    total += (np.log(strengths[:, 0, 0]) / _TINT_SETTINGS.strength_spread) ** 2 / 2
    total += (shifts[:, 0] ** 2).sum(axis=1) / (2 * _TINT_SETTINGS.tint_spread**2)
    best = int(total.argmin())
    return Tint(_TINT_SETTINGS.strengths[best], shifts[best, 0])


CAPPED_FROM = 3
"""Minimum number of pieces on the large one, a black top included: it caps a tower of large, medium and small."""

USUAL_PIECES = 2
"""Number of pieces on a large one that is assumed for a tip where the view hardly tells its height."""
USUAL_LEVEL = 110.0
"""Mean grey level of all places' crops to which colours are scaled, so that hues in dim light are comparable."""
BLACK_COLUMN = NEUTRALS.index(BLACK) - len(NEUTRALS)
"""Where black is among a set's colours and NEUTRALS."""
_COUNTS = range(2, MOST_PIECES + 2)
"""Numbers of pieces of a stack with a smaller top, the large one included."""


@dataclass(frozen=True)
class StackSettings:
    """How a stack's presence and look are decided. Set by hand on ray-traced pictures unless another way is given."""

    strange_colour: float = -4.0
    """Log-likelihood of a colour that the rules forbid on that large pyramid. Lower: such tops are read less often."""
    strange_black: float = -2.0
    """Log-likelihood added for a black top where there is no tower to cap. Lower: such tops are read less often."""
    black_large: float = -1.0
    """Log-likelihood of a large black pyramid on a high stack. Lower: caps are read less often."""
    black_other: float = -3.0
    """Log-likelihood of a smaller black one: large ones are played first. Lower: small caps are read less often."""
    dark_level: float = 72.0
    """Level of a top's brightest channel, where the mean of the stacks' pictures is USUAL_LEVEL, at which black and
    other colours are equally likely. Set by hand between those of black and other tops on ray-traced pictures under all
    effects of ``benchmarks/photoreal.py``, which counts the tops read rightly. Higher: more is black.
    """
    dark_slope: float = 6.0
    """Log-odds by which black gains each time that level falls by a factor of e. Higher: brightness counts more."""
    dark_most: float = 5.0
    """The most that it may gain or lose. Higher: brightness alone may decide."""
    odd_one_out: float = 0.002
    """Share of tops that are misread, whatever the fit. Higher: less certain."""
    odd_size: float = 0.006
    """Share of tops whose colour alone is right: nearly all errors are in the size. Higher: less certain of the size.
    """
    clear_contrast: float = 1.3
    """Log of the ratio of the bright end to the dark end of a stack's crop, in linear light, below which its look is
    less certain by the share that is missing. Of stacks with less, on ray-traced pictures under hardships, 54 to 88 %
    were right when 73 to 92 % should have been; above it both agree. Higher: less certain.
    """
    least_clear: float = 0.05
    """The least that this share counts as: what the rules forbid stays impossible. Higher: blank crops have a look."""
    dark_floor: float = 0.004
    """Linear light, 0 to 1, added before that: less is noise."""
    ends: tuple[float, float] = (0.05, 0.95)
    """The quantiles of the levels that are a crop's ends."""
    most_log_odds: float = 8.0
    """Maximum log-odds either way. Higher: a single picture can be surer."""
    foot_spread_mm: float = 0.8
    """Standard deviation, in mm, of a tip's position relative to the base, due to the base. Larger: the position tells
    heights less reliably. Of a few values tried, this and the next two made the true numbers of pieces likeliest, of
    1,441 touched stacks of virtual games and of 290 ray-traced stacks. ``benchmarks/touched/stacks.py`` shows how often
    a number is right.
    """
    piece_spread_mm: float = 0.7
    """Further standard deviation due to each further piece. Larger: the position tells the heights of high stacks less
    reliably.
    """
    steps_weight: float = 0.65
    """Weight of the steps on the sides in the number of pieces, compared with that position. Higher: the steps count
    more.
    """
    odd_height: float = 0.05
    """Share of stacks with a misread height: 2 of 290 ray-traced ones, set higher by hand. Higher: more stacks are
    needed to decide between turns.
    """


_SETTINGS = StackSettings()


@dataclass(frozen=True, eq=False)
class Top:
    """The top of a stack: its size, the number of pieces on the large one, itself included, its tip in mm, and the
    levels of the faces next to that, blue-green-red, (3,).
    """

    size: str
    pieces: int
    x_mm: float
    y_mm: float
    tip_mm: float
    levels: FloatArray


@dataclass(frozen=True, eq=False)
class StackSighting:
    """A stack detected on a place: its most likely top, its solid, and the probability of each look."""

    top: Top
    solid: PyramidSolid
    looks: Mapping[str, float]
    log_odds: float
    heights: Mapping[int, float] = field(default_factory=dict)
    """The probability of each number of pieces including the large one, given the most likely look; empty for a large
    top.
    """
    tops_mm: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    """Where the top would stand on the surface, x and y, for each number of pieces."""
    picture: PlacePicture | None = None
    """What it looks like, for comparing it with later."""
    crop_level: float = 0.0
    """Mean grey level of its place's crop."""

    sides: ClassVar[Mapping[str, Mapping[str, float]]] = NOTHING

    @property
    def is_clear(self) -> bool:
        """Whether it is certainly there, with one certain look."""
        return self.log_odds > 0 and max(self.looks.values()) > 0.9

    def look_probabilities(self) -> Mapping[str, float]:
        """Return the probability of each look, given that a stack is there."""
        return self.looks


class StackReader:
    """Reads the stacks of one set of pyramids on one surface."""

    def __init__(self, surface: Surface, appearance: PyramidAppearance) -> None:
        self._surface = surface
        self._pieces = PyramidPieces.on(surface)
        self._appearance = appearance
        self._usual_tip_mm = surface.height_mm + self._pieces.tip_mm("M", USUAL_PIECES)
        self._tip_range_mm = tip_heights_mm(surface)
        self._tips_mm = surface.height_mm + np.array(
            [[self._pieces.tip_mm(size, count) for count in range(MOST_PIECES + 1)] for size in PYRAMID_SIZES]
        )
        self._finder = shipped_finder()
        self._network = shipped()
        self._hues = np.array([*appearance.colours.values(), *(np.zeros(2) for _ in NEUTRALS)])
        colours = [*appearance.colours, *NEUTRALS]
        looks = {look_name(colour, size): (colour, size) for colour in colours for size in PYRAMID_SIZES}
        self._look_colours = np.array([colours.index(looks[look][0]) for look in appearance.looks])
        self._look_sizes = np.array([PYRAMID_SIZES.index(looks[look][1]) for look in appearance.looks])
        # bound methods would keep the reader alive until the garbage collector runs
        self._crops_for = functools.lru_cache(maxsize=1)(functools.partial(StackCrops, surface=surface))
        self._scores_on = functools.cache(functools.partial(_scores_on, tuple(colours)))

    @property
    def looks(self) -> tuple[str, ...]:
        """Each colour in each size, the clear large one, and black in each size."""
        return self._appearance.looks

    def draw(self, picture: Image, view: SurfaceView, sightings: Mapping[str, StackSighting]) -> Image:
        """Return a copy of the picture with each stack's outline, tip and look."""
        return draw_stacks(picture, view, sightings)

    def read(
        self, view: SurfaceView, places: Collection[str], previous: Mapping[str, StackSighting]
    ) -> dict[str, StackSighting]:
        """Detect the stacks, by place; see ``PieceReader.read``."""
        order = [place for place in self._surface.places if place in places]
        if not order:
            return dict(previous)
        crops = self._crops_for(view.camera, view.pose)
        pictures = crops.of(view.image, order)
        found = self._finder.find(crops, pictures, order, self._tip_range_mm)
        tips = TipChooser(crops, self._network, self._usual_tip_mm).choose(pictures, order, found)
        levels = levels_beside_tips(tips.sides, crops.views(order), found.angles_rad)
        kept = {place: one for place, one in previous.items() if place not in places}
        crop_levels = pictures.mean(axis=(1, 2, 3)).tolist()
        level = float(np.mean([*crop_levels, *(one.crop_level for one in kept.values())]))
        levels *= USUAL_LEVEL / max(level, 1.0)
        set_up = self._appearance.set_up
        lowest = [set_up[place][0][1] if set_up.get(place) else None for place in order]
        tops = [*levels[tips.log_odds > 0], *(one.top.levels for one in kept.values() if one.log_odds > 0)]
        hues = tint_of(hues_of(np.array(tops).reshape(-1, 3)), self._hues).without(hues_of(levels))
        scores = SIDES_WEIGHT * tips.kinds[:, :KINDS, None] + self._colour_scores(hues, lowest)
        scores[..., BLACK_COLUMN] += _darkness(levels)[:, None]
        most = _SETTINGS.most_log_odds
        log_odds = np.clip(tips.log_odds, -most, most).tolist()
        looks = self._look_probabilities(_clearness(pictures)[:, None, None] * scores).tolist()
        sizes, pieces = np.divmod(scores.max(axis=2).argmax(axis=1), MOST_PIECES + 1)
        tips_mm = crops.at_heights(order, tips.tips_px, self._tips_mm[sizes])
        heights = _heights(tips_mm[:, 1:, :2] - found.feet_mm[:, None], sizes, tips.kinds)
        seen: dict[str, StackSighting] = {}
        for number, place in enumerate(order):
            x_mm, y_mm, tip_mm = tips_mm[number, pieces[number]].tolist()
            top = Top(PYRAMID_SIZES[sizes[number]], int(pieces[number]), x_mm, y_mm, tip_mm, levels[number])
            sighting = StackSighting(
                top,
                self._solid(top, found.feet_mm[number], float(found.angles_rad[number]) + crops.bearing(place)),
                dict(zip(self.looks, looks[number], strict=True)),
                log_odds[number],
                picture=PlacePicture.of(pictures[number], tips.tips_px[number]),
                tops_mm={count: (x, y) for count, (x, y, _) in enumerate(tips_mm[number].tolist(), start=1)},
                crop_level=crop_levels[number],
            )
            # the height of a large top says too little
            if top.size != "L":
                sighting = replace(sighting, heights=dict(zip(_COUNTS, heights[number].tolist(), strict=True)))
            seen[place] = sighting
        read = seen | kept
        return {place: read[place] for place in self._surface.places if place in read}

    def _look_probabilities(self, scores: FloatArray) -> FloatArray:
        """Return the probability of each look, (n, looks), from all scores (n, KINDS, colours)."""
        # a look's other heights use the same pixels, so they are no further evidence for it
        best = scores.reshape(len(scores), len(PYRAMID_SIZES), MOST_PIECES + 1, -1).max(axis=2)
        weights = np.exp(best[:, self._look_sizes, self._look_colours] - scores.max(axis=(1, 2))[:, None])
        weights /= weights.sum(axis=1, keepdims=True)
        same_colour = self._look_colours[:, None] == self._look_colours
        of_colour = weights @ same_colour / same_colour.sum(axis=0)
        odd, odd_size = _SETTINGS.odd_one_out, _SETTINGS.odd_size
        weights *= 1 - odd - odd_size
        return np.asarray(weights + odd_size * of_colour + odd / weights.shape[1])

    def _solid(self, top: Top, foot_mm: FloatArray, angle_rad: float) -> PyramidSolid:
        """Return the stack's body, given the x and y of its foot and its angle on the board."""
        base_mm = self._surface.height_mm
        return PyramidSolid(
            float(foot_mm[0]),
            float(foot_mm[1]),
            base_mm,
            top.tip_mm - base_mm,
            self._pieces.sizes["L"].base_mm,
            self._pieces.sizes[top.size].base_mm * TIP_SHARE,
            math.degrees(angle_rad),
        )

    def _colour_scores(self, hues: FloatArray, lowest: Sequence[str | None]) -> FloatArray:
        """Return log-likelihoods of each kind and colour of tops from the hues of their faces (n, 2) and the colours of
        the lowest pyramids, (n, KINDS, colours): the set's colours, then clear and black; minus infinity for an
        impossible one.
        """
        by_hue = -hue_costs(hues, self._hues)
        # a hue that is unlike any colour says nothing about the size
        by_hue -= by_hue.max(axis=1, keepdims=True)
        return np.stack([hue + self._scores_on(colour) for hue, colour in zip(by_hue, lowest, strict=True)])


def _scores_on(colours: Sequence[str], lowest: str | None) -> FloatArray:
    """Return the log-likelihood by the rules of each kind and colour of tops, (KINDS, colours), given the colour of the
    lowest pyramid, ``None`` if unknown; minus infinity for an impossible one.
    """
    scores = np.full((KINDS, len(colours)), -np.inf)
    for size, counts in possible_tops(lowest).items():
        for pieces in counts:
            bare = size == "L" and pieces == 0
            kind = scores[kind_of(size, pieces)]
            for number, colour in enumerate(colours):
                if colour == BLACK:
                    if not bare:
                        kind[number] = _SETTINGS.black_large if size == "L" else _SETTINGS.black_other
                        if pieces < CAPPED_FROM or lowest == CLEAR:
                            kind[number] += _SETTINGS.strange_black
                elif bare or (size != "L" and colour != CLEAR):
                    strange = lowest not in (None, colour) and (lowest != CLEAR or bare)
                    kind[number] = _SETTINGS.strange_colour if strange else 0.0
    return scores


def _heights(off_mm: FloatArray, sizes: npt.NDArray[np.int64], kinds: FloatArray) -> FloatArray:
    """Return the probability of each number of pieces on the large one, (n, MOST_PIECES).

    It follows from each tip's position relative to the base if there were so many, (n, MOST_PIECES, 2), and from the
    steps on the sides: the log-probabilities of the kinds of tops, (n, KINDS + 1). ``sizes`` (n,) are the tops'.
    """
    counts = np.arange(1, MOST_PIECES + 1)
    variances = _SETTINGS.foot_spread_mm**2 + counts * _SETTINGS.piece_spread_mm**2
    steps = kinds[:, :KINDS].reshape(len(kinds), len(PYRAMID_SIZES), -1)[np.arange(len(kinds)), sizes, 1:]
    scores = _SETTINGS.steps_weight * steps - (off_mm**2).sum(axis=2) / (2 * variances) - np.log(variances)
    shares = np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
    return np.asarray((1 - _SETTINGS.odd_height) * shares + _SETTINGS.odd_height / MOST_PIECES)


def _clearness(pictures: Image) -> FloatArray:
    """Return how clear crops (n, rows, columns, 3) are, (n,): 1 if their contrast is as usual, less in haze or a lamp's
    reflection.
    """
    # every third pixel tells as much as all
    some = np.ascontiguousarray(pictures[:, ::3, ::3])
    grey = as_grey(some.reshape(-1, some.shape[2], 3)).reshape(len(some), -1)
    levels = np.quantile(grey, _SETTINGS.ends, axis=1)
    dark, bright = np.log(linear_light_table()[np.round(levels).astype(np.intp)] + _SETTINGS.dark_floor)
    return np.asarray(np.clip((bright - dark) / _SETTINGS.clear_contrast, _SETTINGS.least_clear, 1.0), dtype=np.float64)


def _darkness(levels: FloatArray) -> FloatArray:
    """Return the log-odds of black over other colours by the brightest channel of tops' levels (n, 3), (n,)."""
    brightest = np.maximum(levels.max(axis=1), 1.0)
    odds = _SETTINGS.dark_slope * np.log(_SETTINGS.dark_level / brightest)
    return np.asarray(np.clip(odds, -_SETTINGS.dark_most, _SETTINGS.dark_most))


_SURE, _UNSURE = (80, 220, 80), (60, 60, 255)
"""Colours of certain and of other tops, blue-green-red."""
_SURE_FROM = 0.9
"""Probability above which a top is drawn as certain."""


def draw_stacks(image: Image, view: SurfaceView, stacks: Mapping[str, StackSighting]) -> Image:
    """Return a copy of the picture with every stack's base and edges, labelled with its top.

    ``yellow M5`` is a yellow medium pyramid on five others. Certain tops are green, others red with the probability.
    """
    picture = as_colour(image).copy()
    for stack in stacks.values():
        look, share = max(stack.looks.items(), key=lambda one: one[1])
        sure = stack.log_odds > 0 and share > _SURE_FROM
        colour = _SURE if sure else _UNSURE
        corners = np.round(project(view.camera, view.pose, stack.solid.corners_mm())).astype(np.int32)
        below = corners[:4]
        cv2.polylines(picture, [below.reshape(-1, 1, 2)], True, colour, 1, cv2.LINE_AA)
        tip = project(view.camera, view.pose, [[stack.top.x_mm, stack.top.y_mm, stack.top.tip_mm]])[0]
        for corner in below:
            end = (int(tip[0]), int(tip[1]))
            cv2.line(picture, (int(corner[0]), int(corner[1])), end, colour, 1, cv2.LINE_AA)
        named, size = look.split()
        doubt = "" if sure else f" {share:.2f}"
        write_text(picture, f"{named} {size[0].upper()}{stack.top.pieces}{doubt}", tip - (20, 4), colour)
    return picture
