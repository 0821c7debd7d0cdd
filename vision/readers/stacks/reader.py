"""The reader of stacks of pyramids: the top of each."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from vision.frame import FloatArray, Image
from vision.geometry import CameraModel, Pose, PyramidSolid
from vision.layout.pieces import TIP_SHARE, PyramidPieces
from vision.layout.surfaces import Surface
from vision.place_picture import PlacePicture
from vision.readers.protocols import SurfaceView
from vision.readers.stacks.appearance import CLEAR, NEUTRALS, PyramidAppearance, Stack, hues_of, look_name
from vision.readers.stacks.crops import StackCrops
from vision.readers.stacks.drawing import draw_stacks
from vision.readers.stacks.faces import flatten_sides
from vision.readers.stacks.network import MOST_PIECES, NO_TIP, SIZES, kind_of, shipped, tip_log_odds
from vision.readers.stacks.picture import StackCamera
from vision.readers.stacks.proposals import Candidate, angles_in_crops, group_by_spot, likeliest_tips, tips_and_angles
from vision.readers.stacks.search import Top, TopSearch, possible_tops

CAPPED_FROM = 3
"""Minimum number of pieces on the large one below a black top: it caps a tower of large, medium and small."""

FIRST_SPOTS, SURE_TIP = 1, 4.5
"""Number of a place's spots that the network evaluates first; the others are skipped if one of these is a tip with such
log-odds.
"""


@dataclass(frozen=True)
class StackSettings:
    """How a stack's presence and look are decided. Set by hand: the weights on rendered pictures not used for training,
    the others on ray-traced ones.
    """

    own_weight: float = 0.3
    """Weight of a possible top's tip, faces and base. Higher: more certain, by what is right less often."""
    sides_weight: float = 1.3
    """Weight of the stack's flattened sides, which are right more often. Higher: more certain."""
    hue_spread: float = 0.45
    """Standard deviation of a hue, in log units. Larger: distinguishes colours less reliably."""
    most_hue_cost: float = 10.0
    """Maximum cost of an unusual hue, as log-likelihood. Higher: the hue can outvote any shape."""
    strange_colour: float = -4.0
    """Log-likelihood of a colour that the rules forbid on that large pyramid. Lower: such tops are read less often."""
    black_large: float = -1.0
    """Log-likelihood of a large black pyramid on a high stack. Lower: caps are read less often."""
    black_other: float = -5.0
    """Log-likelihood of a smaller black one: large ones are played first. Lower: small caps are read less often."""
    as_set_up: float = 1.0
    """Bonus, as log-likelihood, of the top that the set-up has there. Higher: pieces that moved are read as if they had
    not.
    """
    odd_one_out: float = 0.002
    """Share of tops that are misread, whatever the fit. Higher: less certain."""
    odd_size: float = 0.006
    """Share of tops whose colour alone is right: nearly all errors are in the size. Higher: less certain of the size.
    """
    contrast_middle: float = 15.0
    """Contrast, in grey levels, at which the odds of a stack are even. Higher: stacks like the board are missed."""
    contrast_slope: float = 0.125
    """Log-odds gained per level above it, in addition to the network's for the most likely tip. Higher: contrast counts
    more.
    """
    most_log_odds: float = 8.0
    """Maximum log-odds either way. Higher: a single picture can be surer."""
    found_from: float = 0.0
    """Log-odds of the most likely tip below which the network looks for tips itself. Higher: slower, and fewer
    stacks are missed.
    """
    most_missed: int = 3
    """Maximum number of places for which that is done: where more show no tip, a hand covers them. Higher: slower."""
    foot_spread_mm: float = 0.8
    """Standard deviation, in mm, of a tip's position relative to the base, due to the base. Larger: the position tells
    heights less reliably. Of a few values tried, this and the next two made the true numbers of pieces likeliest, of
    1,441 touched stacks of virtual games and of 290 ray-traced stacks. ``benchmarks/stacks.py`` shows how often a
    number is right.
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


@dataclass(frozen=True, eq=False)
class StackSighting:
    """A stack detected on a place: its most likely top, its solid, and the probability of each look."""

    place: str
    top: Top
    solid: PyramidSolid
    looks: Mapping[str, float]
    log_odds: float
    sides: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    heights: Mapping[int, float] = field(default_factory=dict)
    """The probability of each number of pieces including the large one, given the most likely look; empty for a large
    top.
    """
    tops_mm: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    """Where the top would stand on the surface, x and y, for each number of pieces; empty for a large top."""
    picture: PlacePicture | None = None
    """What it looks like, for comparing it with later."""

    @property
    def is_clear(self) -> bool:
        """Whether it is certainly there, with one certain look."""
        return self.log_odds > 0 and max(self.looks.values()) > 0.9

    def look_probabilities(self) -> Mapping[str, float]:
        """Return the probability of each look, given that a stack is there."""
        return self.looks

    def with_log_odds(self, log_odds: float) -> StackSighting:
        """Return the same sighting with other log-odds."""
        return replace(self, log_odds=log_odds)


class StackReader:
    """Reads the stacks of one set of pyramids on one surface."""

    def __init__(
        self, surface: Surface, appearance: PyramidAppearance, settings: StackSettings = StackSettings()
    ) -> None:
        self._settings = settings
        self._surface = surface
        self._pieces = PyramidPieces.on(surface)
        self._appearance = appearance
        self._search = TopSearch(surface)
        self._network = shipped()
        self._hues = np.array([*appearance.colours.values(), *(np.zeros(2) for _ in NEUTRALS)])
        colours = [*appearance.colours, *NEUTRALS]
        looks = {look_name(colour, size): (colour, size) for colour in colours for size in SIZES}
        self._looks = appearance.looks
        self._look_colours = np.array([colours.index(looks[look][0]) for look in self._looks])
        self._look_sizes = np.array([SIZES.index(looks[look][1]) for look in self._looks])
        self._camera: tuple[CameraModel, Pose, StackCamera] | None = None
        self._crops: StackCrops | None = None

    @property
    def looks(self) -> tuple[str, ...]:
        """Each colour in each size, and the clear large one."""
        return self._looks

    def draw(self, picture: Image, view: SurfaceView, sightings: Mapping[str, StackSighting]) -> Image:
        """Return a copy of the picture with each stack's outline, tip and look."""
        return draw_stacks(picture, view, sightings)

    def read(
        self, view: SurfaceView, places: Collection[str], previous: Mapping[str, StackSighting]
    ) -> dict[str, StackSighting]:
        """Detect the stacks, by place.

        Only ``places`` are examined; the others are copied from ``previous``, the result of an earlier frame with the
        same pose.
        """
        order = [place for place in self._surface.places if place in places]
        if not order:
            return dict(previous)
        camera = self._camera_for(view.camera, view.pose)
        picture = camera.picture(view.image, order)
        feet = self._search.feet(camera, picture, order)
        set_up = [self._appearance.set_up.get(place, ()) for place in order]
        found = self._search.tops(camera, picture, feet, [possible_tops(stack) for stack in set_up])
        assert self._crops is not None
        pictures = self._crops.of(view.image, order)
        by_sides = self._weigh_by_sides(pictures, order, found)
        missed = [number for number, (_, is_tip, _) in enumerate(by_sides) if is_tip < self._settings.found_from]
        if 0 < len(missed) <= self._settings.most_missed:
            names, possible = [order[number] for number in missed], [possible_tops(set_up[number]) for number in missed]
            tips_mm = self._likely_tips(pictures[missed], names, feet[missed])
            again = self._search.tops(camera, picture, feet[missed], possible, tips_mm)
            weighed_again = self._weigh_by_sides(pictures[missed], names, again)
            for number, tops, weighed in zip(missed, again, weighed_again, strict=True):
                if weighed[1] > by_sides[number][1]:
                    found[number], by_sides[number] = tops, weighed
        ends = np.cumsum([len(tops) for tops in found])
        colours = np.split(self._colour_scores(found, set_up), ends[:-1])
        seen = {
            place: self._sighting(place, picture, foot, tops, scores, *weighed)
            for place, picture, foot, tops, scores, weighed in zip(
                order, pictures, feet, found, colours, by_sides, strict=True
            )
        }
        kept = {place: one for place, one in previous.items() if place not in places}
        return {place: one for place in self._surface.places if (one := seen.get(place, kept.get(place))) is not None}

    def _camera_for(self, camera: CameraModel, pose: Pose) -> StackCamera:
        if self._camera is None or self._camera[0] is not camera or self._camera[1] is not pose:
            self._camera = (camera, pose, StackCamera(camera, pose, self._surface))
            self._crops = StackCrops(camera, pose, self._surface)
        return self._camera[2]

    def _weigh_by_sides(
        self,
        pictures: Image,
        places: Sequence[str],
        found: list[list[Top]],
    ) -> list[tuple[FloatArray, float, FloatArray]]:
        """Return for each place the log-likelihoods of its tops, weighted by the sides below the likely tips; the
        log-odds of the most likely tip; and the log-probabilities of the kinds of tops according to the sides.

        Tops at spots that the network skipped are weighted by the sides at the others, which show size and height too.
        """
        crops = self._crops
        assert crops is not None
        candidates = [(place, top) for place, tops in zip(places, found, strict=True) for top in tops]
        spots, first = group_by_spot(crops, candidates)
        logs = self._evaluate_spots(pictures, places, [candidates[number] for number in first])[spots]
        known = (spots >= 0) & ~np.isnan(logs[:, 0])
        own, other = self._settings.own_weight, self._settings.sides_weight
        weighed = []
        begin = 0
        for tops in found:
            chosen = np.arange(begin, begin + len(tops))
            begin += len(tops)
            seen = known[chosen]
            sides = logs[chosen[seen]]
            is_tip = tip_log_odds(sides)
            likely = own * np.array([top.log_likelihood for top in tops])
            shares = likely[seen] + other * is_tip
            shares -= np.logaddexp.reduce(shares)
            shown = np.logaddexp.reduce(shares[:, None] + sides, axis=0)
            likely += other * shown[[kind_of(top.size, top.pieces) for top in tops]]
            weighed.append((likely, float(is_tip.max()), shown))
        return weighed

    def _evaluate_spots(self, pictures: Image, places: Sequence[str], spots: Sequence[Candidate]) -> FloatArray:
        """Return log-probabilities of the kinds of tops from the sides below each spot, (n, kinds); NaN for skipped
        spots.

        The most likely spots of each place are evaluated first, the others only if none of those is surely a tip.
        """
        crops = self._crops
        assert crops is not None
        numbers = {place: number for number, place in enumerate(places)}
        place = np.array([numbers[name] for name, _ in spots])
        rank = np.arange(len(spots)) - np.searchsorted(place, place)
        logs = np.full((len(spots), NO_TIP + 1), np.nan)
        surest = np.full(len(places), -np.inf)
        tips, angles_rad = tips_and_angles(crops, spots)
        for chosen in (rank < FIRST_SPOTS, rank >= FIRST_SPOTS):
            now = np.flatnonzero(chosen & (surest[place] < SURE_TIP))
            if len(now):
                names = [places[number] for number in place[now].tolist()]
                logs[now] = self._evaluate_sides(pictures[place[now]], names, tips[now], angles_rad[now])
                np.maximum.at(surest, place[now], tip_log_odds(logs[now]))
        return logs

    def _evaluate_sides(
        self, pictures: Image, places: Sequence[str], tips_mm: FloatArray, angles_rad: FloatArray
    ) -> FloatArray:
        """Return log-probabilities of the kinds of tops from the sides below each tip, (n, kinds), given the crops of
        the tips' places and the angles relative to these.
        """
        crops = self._crops
        assert crops is not None
        sides = flatten_sides(crops, pictures, places, tips_mm, angles_rad)
        return self._network.log_probabilities(sides, crops.views(places), angles_rad)

    def _likely_tips(self, pictures: Image, places: Sequence[str], feet: FloatArray) -> FloatArray:
        """Return for each place the point (3,) in mm that the network considers most likely a tip, wherever it is."""
        own = self._crops
        assert own is not None
        angles_rad = angles_in_crops(own, places, feet[:, 2])

        def log_odds(points_mm: FloatArray) -> FloatArray:
            most = points_mm.shape[1]
            names = [place for place in places for _ in range(most)]
            crops, angles = np.repeat(pictures, most, axis=0), np.repeat(angles_rad, most)
            sides = flatten_sides(own, crops, names, points_mm.reshape(-1, 3), angles)
            return self._network.tip_log_odds(sides, own.views(names), angles).reshape(len(places), most)

        centres_mm = np.column_stack([feet[:, :2], np.full(len(feet), self._surface.height_mm)])
        return likeliest_tips(centres_mm, self._pieces, log_odds)

    def _tip_px(self, place: str, top: Top) -> FloatArray:
        """Return the column and row of a tip in the crop of its place, (2,)."""
        assert self._crops is not None
        return np.asarray(self._crops.pixels(place, np.array([[top.x_mm, top.y_mm, top.tip_mm]]))[0], dtype=np.float64)

    def _tops_mm(self, place: str, size: str, tip_px: FloatArray) -> FloatArray:
        """Return where on the surface a tip is, x and y, for each number of pieces on the large one, shape (n, 2)."""
        crops = self._crops
        assert crops is not None
        tips_mm = [self._surface.height_mm + self._pieces.tip_mm(size, each + 1) for each in range(MOST_PIECES)]
        return crops.at_heights(place, tip_px, np.array(tips_mm))[:, :2]

    def _heights(self, off: FloatArray, top: Top, kinds: FloatArray) -> FloatArray:
        """Return the probability of each number of pieces on the large one, from its tip's position relative to the
        base and from the steps on the sides.
        """
        settings = self._settings
        counts = np.arange(1, MOST_PIECES + 1)
        variances = settings.foot_spread_mm**2 + counts * settings.piece_spread_mm**2
        first = kind_of(top.size, 1)
        scores = settings.steps_weight * kinds[first : first + MOST_PIECES]
        scores = scores - (off**2).sum(axis=1) / (2 * variances) - np.log(variances)
        shares = np.exp(scores - np.logaddexp.reduce(scores))
        return np.asarray((1 - settings.odd_height) * shares + settings.odd_height / len(shares))

    def _sighting(
        self,
        place: str,
        picture: Image,
        foot: FloatArray,
        tops: Sequence[Top],
        of_colours: FloatArray,
        likely: FloatArray,
        tip_log_odds: float,
        kinds: FloatArray,
    ) -> StackSighting:
        settings = self._settings
        scores = of_colours + likely[:, None]
        top = tops[int(scores.max(axis=1).argmax())]
        # a look's other heights use the same pixels, so they are no further evidence for it
        best = np.full((len(SIZES), scores.shape[1]), -np.inf)
        np.maximum.at(best, [SIZES.index(one.size) for one in tops], scores)
        weights = np.exp(best[self._look_sizes, self._look_colours] - scores.max())
        weights /= weights.sum()
        of_colour = np.bincount(self._look_colours, weights) / np.bincount(self._look_colours)
        odd, odd_size = settings.odd_one_out, settings.odd_size
        weights *= 1 - odd - odd_size
        weights += odd_size * of_colour[self._look_colours] + odd / len(weights)
        odds = settings.contrast_slope * (top.contrast - settings.contrast_middle) + tip_log_odds
        large = self._pieces.sizes["L"].base_mm
        base_mm = self._surface.height_mm
        solid = PyramidSolid(
            float(foot[0]),
            float(foot[1]),
            base_mm,
            top.tip_mm - base_mm,
            large,
            self._pieces.sizes[top.size].base_mm * TIP_SHARE,
            math.degrees(float(foot[2])),
        )
        log_odds = float(np.clip(odds, -settings.most_log_odds, settings.most_log_odds))
        looks = dict(zip(self.looks, weights.tolist(), strict=True))
        tip_px = self._tip_px(place, top)
        sighting = StackSighting(place, top, solid, looks, log_odds, picture=PlacePicture.of(picture, tip_px))
        if top.size == "L":
            # its height says too little
            return sighting
        tops_mm = self._tops_mm(place, top.size, tip_px)
        heights = self._heights(tops_mm - foot[:2], top, kinds)
        pieces = range(2, MOST_PIECES + 2)
        return replace(
            sighting,
            heights=dict(zip(pieces, heights.tolist(), strict=True)),
            tops_mm={count: (x, y) for count, (x, y) in zip(pieces, tops_mm.tolist(), strict=True)},
        )

    def _colour_scores(self, found: Sequence[Sequence[Top]], set_up: Sequence[Stack]) -> FloatArray:
        """Return log-likelihood of each colour of the tops of all places from their hues and the set-up,
        (tops, colours): the set's colours, then clear and black; minus infinity for an impossible one.
        """
        settings = self._settings
        tops = [top for own in found for top in own]
        numbers = {name: number for number, name in enumerate((*self._appearance.colours, *NEUTRALS))}
        # the set-up's lowest colour, the size of its top and its pieces for each of these tops, -1 if unknown
        known = [
            (numbers.get(stack[0][1], len(numbers)), SIZES.index(stack[-1][0]), len(stack) - 1)
            if stack
            else (-1, -1, -1)
            for stack in set_up
        ]
        base, size_before, pieces_before = np.repeat(known, [len(own) for own in found], axis=0).T
        on_clear = base == numbers[CLEAR]
        pieces = np.array([top.pieces for top in tops])
        sizes = np.array([SIZES.index(top.size) for top in tops])
        large = sizes == SIZES.index("L")
        bare = large & (pieces == 0)
        hues = hues_of(np.array([top.levels for top in tops]))
        squares = ((hues[:, None] - self._hues) ** 2).sum(axis=2) / (2 * settings.hue_spread**2)
        scores: FloatArray = -np.minimum(squares, settings.most_hue_cost)
        # a hue that is unlike any colour says nothing about the size
        scores -= scores.max(axis=1, keepdims=True)
        own, clear, black = scores[:, :-2], scores[:, -2], scores[:, -1]
        strange = (base >= 0) & (~on_clear | (pieces == 0))
        own += settings.strange_colour * (strange[:, None] & (base[:, None] != np.arange(own.shape[1])))
        own[large & ~bare] = -np.inf
        clear += settings.strange_colour * ((base >= 0) & ~on_clear)
        clear[~bare] = -np.inf
        black += np.where(large, settings.black_large, settings.black_other)
        black[(pieces < CAPPED_FROM) | on_clear] = -np.inf
        scores[(pieces == pieces_before) & (sizes == size_before)] += settings.as_set_up
        return scores
