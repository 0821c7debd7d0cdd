"""The search for each stack's top: pyramids of each size at each possible height, slightly moved and rotated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from vision.frame import FloatArray, FloatImage
from vision.layout.pieces import TIP_SHARE, PyramidPieces
from vision.layout.surfaces import Surface
from vision.readers.stacks.appearance import CLEAR, Stack
from vision.readers.stacks.picture import CHANNELS, StackCamera, add_offsets, homogeneous, sample_levels
from vision.readers.stacks.probe import Hypotheses, Probe, channel_sums, tip_widths_mm, turned_to_all_sides

_ON_CLEAR = MappingProxyType({"L": (0,), "M": tuple(range(1, 7)), "S": tuple(range(1, 9))})
"""Possible numbers of pieces on a clear large one, by the size of the top."""
_ON_COLOUR = MappingProxyType({"L": (0, 3, 4), "M": tuple(range(1, 5)), "S": tuple(range(1, 7))})
"""The same for a coloured large one."""
_ON_ANY = MappingProxyType({"L": (0, 3, 4), "M": tuple(range(1, 7)), "S": tuple(range(1, 9))})
"""The same if it may be either."""

_ALONG_EDGE = 6
"""Points along an edge of a base, on both sides at ..."""
_BESIDE_EDGE_MM = 0.65
"""... this distance, in mm, from the edge."""
_POINTS_AT_ONCE = 50_000
"""Points of edges evaluated at once: few enough for the processor's cache."""


def possible_tops(set_up: Stack) -> Mapping[str, Sequence[int]]:
    """Return the possible numbers of pieces on the large one, by the size of the top; all if the set-up is unknown."""
    if not set_up:
        return _ON_ANY
    return _ON_CLEAR if set_up[0][1] == CLEAR else _ON_COLOUR


@dataclass(frozen=True)
class SearchSettings:
    """How stacks may stand, and the weight of each sign of a pyramid.

    All were set by hand on ray-traced pictures; none is fitted.
    """

    foot_reach_mm: float = 6.0
    """Maximum distance of the large pyramid from its place's centre, in mm."""
    foot_spread_mm: float = 2.0
    """Standard deviation of that distance."""
    foot_turn: float = 0.35
    """Maximum rotation of the large pyramid, in radians ..."""
    turn_spread: float = 0.15
    """... and its standard deviation."""
    foot_cost: float = 2.0
    """Cost, in grey levels of contrast, of one standard deviation of either."""
    top_reach_mm: float = 3.0
    """Maximum distance of the top from the large one's centre, in mm ..."""
    near_mm: float = 1.0
    """... and the distance within which it usually is."""
    top_step_mm: float = 1.0
    """Step of the first search, in mm; the second one's is a third of it."""
    top_spread_mm: float = 1.2
    """Standard deviation, in mm, of a piece's distance from the one below."""
    spread_for_each: float = 0.15
    """Growth of that with each further piece, as a share."""
    twist: float = 0.15
    """Maximum rotation of the top relative to the large one, in radians."""
    twist_spread: float = 0.12
    """Standard deviation of that rotation."""
    off_centre_cost: float = 3.0
    """Cost, in grey levels, of half a squared standard deviation ..."""
    rigid_cost: float = 7.0
    """... and the same for a bare large one, whose tip is exactly above its base."""
    near_starts: int = 3
    """Number of the first search's best positions near the large one's centre that the second search refines ..."""
    far_starts: int = 1
    """... and of the best ones further off."""
    near_looked_at: int = 3
    """Number of the second search's best positions near the centre whose faces and base are evaluated too ..."""
    far_looked_at: int = 2
    """... and of the best ones further off."""
    worth_looking: float = 60.0
    """Contrast of a tip below the best one's, in grey levels, up to which the rest of that top is evaluated."""
    unevenness_cost: float = 0.5
    """Cost of a grey level of the faces' unevenness."""
    foot_gain: float = 0.6
    """Gain for a grey level of contrast across the base's edge."""
    usual_foot: float = 24.0
    """Contrast assumed for the base of a large one on the board: every stack has one, whatever lies on it."""
    levels_a_unit: float = 5.0
    """Grey levels per unit of log-likelihood."""
    piece_cost: float = 0.3
    """Cost, as log-likelihood, of each further piece: high stacks are rare."""
    width_spread_mm: float = 0.46
    """Standard deviation, in mm, of the measured width of a tip with zero width ..."""
    surer_for_each_mm: float = 0.057
    """... and its decrease per mm of width."""
    width_weight: float = 0.8
    """Weight of the width, below 1 because it is not independent of the other signs."""
    most_width_cost: float = 5.0
    """Maximum cost, as log-likelihood, of an unusual width."""
    width_floor_mm: float = 1.5
    """Measured width, in mm, of a tip with zero width, which blur causes ..."""
    width_share: float = 0.62
    """... and the share of the true width that adds to it, at 1.3 to 1.8 pixels per mm."""


@dataclass(frozen=True, eq=False)
class Top:
    """A possible top: its size, the number of pieces between it and the large one, its position and its look.

    ``log_likelihood`` is comparable with others of the same place. ``contrast`` is the combined support of tip, faces
    and base, in grey levels; ``levels`` are those of the faces next to the tip, blue-green-red, (3,).
    """

    size: str
    pieces: int
    x_mm: float
    y_mm: float
    tip_mm: float
    angle_rad: float
    log_likelihood: float
    contrast: float
    width_mm: float
    levels: FloatArray


@dataclass(frozen=True, eq=False)
class _TipPositions:
    """The best positions of tips: a row for each stack, size and number of pieces, in order of the sizes.

    ``sizes``, ``stacks`` and ``counts`` (n,) are the numbers of the size and of the stack, and the pieces on its large
    one, whose position is ``middle`` (n, 3). ``tried`` (n, m, 3) are the best positions at the heights ``tips_mm``
    (n,), ``contrast`` (n, m) their contrast in grey levels.
    """

    sizes: npt.NDArray[np.int64]
    stacks: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    middle: FloatArray
    tips_mm: FloatArray
    tried: FloatArray
    contrast: FloatArray

    def rows(self, chosen: npt.NDArray[np.bool_]) -> _TipPositions:
        """Return the rows that are marked."""
        return _TipPositions(
            self.sizes[chosen],
            self.stacks[chosen],
            self.counts[chosen],
            self.middle[chosen],
            self.tips_mm[chosen],
            self.tried[chosen],
            self.contrast[chosen],
        )

    def hypotheses(self, row: npt.NDArray[np.int64], at: FloatArray) -> Hypotheses:
        """Return hypotheses of some rows' tops at positions (n, 3)."""
        return Hypotheses(self.sizes[row], np.column_stack([at[:, :2], self.tips_mm[row]]), at[:, 2])


class TopSearch:
    """Searches for the tops of stacks of one kind of pyramids on one surface."""

    def __init__(self, surface: Surface, settings: SearchSettings = SearchSettings()) -> None:
        self._settings = settings
        self._surface = surface
        self._pieces = PyramidPieces.on(surface)
        self._sizes = tuple(self._pieces.sizes)
        self._tips_mm = np.array([size.base_mm * TIP_SHARE for size in self._pieces.sizes.values()])
        self._probe = Probe(tuple(self._pieces.sizes.values()))
        none, reach_mm, step_mm = np.zeros(1), settings.top_reach_mm, settings.top_step_mm
        steps, thirds = np.arange(-reach_mm, reach_mm + 0.1, step_mm), step_mm * np.array([-1.0, 0.0, 1.0]) / 3
        self._wide, self._fine = combinations(steps, steps, none), combinations(thirds, thirds, none)

    def feet(self, camera: StackCamera, picture: FloatImage, places: Sequence[str]) -> FloatArray:
        """Return the position of each place's large pyramid: x and y in mm and the angle, (n, 3)."""
        settings = self._settings
        steps = np.arange(-settings.foot_reach_mm, settings.foot_reach_mm + 0.1, 1.5)
        turns = np.arange(-settings.foot_turn, settings.foot_turn + 0.01, 0.14)
        centres = np.array([(*self._surface.centre_mm(place), 0.0) for place in places])
        best = centres
        for number in range(3):
            moves = combinations(steps, steps, np.zeros(1))
            tried = (best[:, None] + combinations(np.zeros(1), np.zeros(1), turns))[:, :, None] + moves
            contrast = self._edges(camera, picture, tried[:, :, len(moves) // 2], moves[:, :2])
            off = tried - centres[:, None, None]
            unlikely = ((off[..., :2] / settings.foot_spread_mm) ** 2).sum(axis=3)
            unlikely += (off[..., 2] / settings.turn_spread) ** 2
            found = (contrast - settings.foot_cost * unlikely).reshape(len(places), -1).argmax(axis=1)
            best = tried.reshape(len(places), -1, 3)[np.arange(len(places)), found]
            finer = np.array([-1.0, 0.0, 1.0]) * 0.5 ** (number + 1)
            steps, turns = 1.5 * finer, 0.14 * finer
        return best

    def _edges(self, camera: StackCamera, picture: FloatImage, feet: FloatArray, offsets: FloatArray) -> FloatArray:
        """Return the mean contrast across the visible edges of large pyramids' bases, (n, turns, m), in grey levels.

        ``feet`` (n, turns, 3) are the same positions at different angles, each moved by ``offsets`` (m, 2).
        """
        half = self._pieces.sizes["L"].base_mm / 2
        along = ((np.arange(_ALONG_EDGE) + 0.5) * 2 / _ALONG_EDGE - 1) * half
        side = [(share, by - half, 0.0) for by in (_BESIDE_EDGE_MM, -_BESIDE_EDGE_MM) for share in along]
        points = homogeneous(turned_to_all_sides(np.array(side)))
        count, turns = feet.shape[:2]
        away = camera.position_mm[:2] - feet[..., :2]
        angles = feet[..., 2:] + np.arange(4) * np.pi / 2
        slope = self._pieces.sizes["L"].height_mm / half
        weights = (np.sin(angles) * away[..., :1] - np.cos(angles) * away[..., 1:]) * slope + camera.position_mm[2] > 0
        middles = np.column_stack([feet[:, 0, :2], np.full(count, self._surface.height_mm)])
        shifts = np.ascontiguousarray(offsets.astype(np.float32) @ camera.slopes(middles)[:, :, :2].transpose(0, 2, 1))
        pixels = camera.pixels_of(points, np.repeat(middles, turns, axis=0), feet[..., 2].ravel())
        pixels = pixels.reshape(len(points), count, turns, 1, 2)
        contrasts = np.empty((4, count, turns, len(offsets)), dtype=np.float32)
        at_once = max(1, _POINTS_AT_ONCE // (turns * len(offsets) * len(points)))
        for begin in range(0, count, at_once):
            chosen = slice(begin, begin + at_once)
            levels = sample_levels(picture, add_offsets(pixels[:, chosen], shifts[chosen, None]))
            levels = levels.reshape(4, 2, _ALONG_EDGE, -1, CHANNELS)
            apart = np.minimum(channel_sums(np.abs(levels[:, 0] - levels[:, 1])), 40.0)
            contrasts[:, chosen] = apart.mean(axis=1).reshape(contrasts[:, chosen].shape)
        total = (contrasts * weights.transpose(2, 0, 1)[..., None]).sum(axis=0)
        return np.asarray(total / np.maximum(weights.sum(axis=2), 1.0)[:, :, None], dtype=np.float64)

    def tops(
        self,
        camera: StackCamera,
        picture: FloatImage,
        feet: FloatArray,
        possible: Sequence[Mapping[str, Sequence[int]]],
        tips_mm: FloatArray | None = None,
    ) -> list[list[Top]]:
        """Return the possible tops of each stack, best first, given the positions of the large ones (n, 3).

        With ``tips_mm`` (n, 3), tips are searched only where the camera sees these points, whatever their heights.

        ``possible`` gives, for each stack and size of the top, the possible numbers of pieces on the large one. Each
        top is listed twice: at the best position of its tip, and at the best near the large one's centre, since a
        stack's edge against a bright board has more contrast than a tip. A bare large one is also listed exactly above
        its base. Tops whose tips have far less contrast than another's on the same stack are left out.
        """
        numbered = [
            (number, stack, count)
            for number, size in enumerate(self._sizes)
            for stack, counts in enumerate(possible)
            for count in counts.get(size, ())
        ]
        positions = self._search_tips(camera, picture, feet, numbered, tips_mm)
        best = np.full(len(feet), -np.inf)
        contrast = positions.contrast.max(axis=1)
        np.maximum.at(best, positions.stacks, contrast)
        positions = positions.rows(contrast > best[positions.stacks] - self._settings.worth_looking)
        found: list[list[Top]] = [[] for _ in feet]
        for stack, tops in zip(positions.stacks.tolist(), self._evaluate(camera, picture, positions), strict=True):
            found[stack] += tops
            if (tops[0].size, tops[0].pieces) == ("L", 0):
                x_mm, y_mm, angle_rad = feet[stack].tolist()
                found[stack].append(replace(tops[-1], x_mm=x_mm, y_mm=y_mm, angle_rad=angle_rad))
        return [sorted(tops, key=lambda top: -top.log_likelihood) for tops in found]

    def _search_tips(
        self,
        camera: StackCamera,
        picture: FloatImage,
        feet: FloatArray,
        numbered: Sequence[tuple[int, int, int]],
        tips_mm: FloatArray | None,
    ) -> _TipPositions:
        """Return the best positions of the tips, for each size, stack and number of pieces on its large one."""
        settings = self._settings
        sizes, stacks, counts = np.array(numbered).T
        middle = feet[stacks]
        tips = self._surface.height_mm + np.array(
            [self._pieces.tip_mm(self._sizes[size], count) for size, _, count in numbered]
        )
        middles = Hypotheses(sizes, np.column_stack([middle[:, :2], tips]), middle[:, 2])
        near_tips = self._probe.near(camera, middles)
        tried, contrast = middle[:, None].copy(), np.zeros((len(middle), 1))
        stages = [
            (self._wide, settings.near_starts, settings.far_starts, True),
            (self._fine, settings.near_looked_at, settings.far_looked_at, False),
        ]
        if tips_mm is not None:
            rays = tips_mm[stacks] - camera.position_mm
            share = (tips - camera.position_mm[2]) / rays[:, 2]
            tried[:, 0, :2] = camera.position_mm[:2] + share[:, None] * rays[:, :2]
            del stages[0]
        for offsets, near, far, coarse in stages:
            tried = (tried[:, :, None] + offsets).reshape(len(tried), -1, 3)
            contrast = near_tips.contrast(picture, tried[..., :2], coarse=coarse)
            contrast -= settings.off_centre_cost * self._half_squared_deviation(tried, middle, counts)
            beside = self._is_near(tried, middle)
            ranks = [
                np.argsort(np.where(chosen, -contrast, np.inf), axis=1)[:, :most]
                for chosen, most in ((beside, near), (~beside, far))
            ]
            chosen = np.concatenate(ranks, axis=1)
            tried = np.take_along_axis(tried, chosen[:, :, None], axis=1)
            contrast = np.take_along_axis(contrast, chosen, axis=1)
        return _TipPositions(sizes, stacks, counts, middle, tips, tried, contrast)

    def _is_near(self, tried: FloatArray, middle: FloatArray) -> npt.NDArray[np.bool_]:
        """Return whether positions (n, m, 3) are near centres (n, 3): (n, m)."""
        most_mm = self._settings.near_mm + self._settings.top_step_mm / 2
        return np.asarray(np.abs(tried[..., :2] - middle[:, None, :2]).max(axis=2) < most_mm)

    def _evaluate(self, camera: StackCamera, picture: FloatImage, positions: _TipPositions) -> list[list[Top]]:
        """Return the best top of each row, and the best near the large one's centre, by all signs.

        Both are chosen as if nothing were twisted, and then twisted.
        """
        settings, (rows, most) = self._settings, positions.tried.shape[:2]
        each, tried = np.arange(rows)[:, None], positions.tried.reshape(-1, 3)
        contrast, levels = self._contrasts(camera, picture, positions, np.repeat(each, most), tried)
        contrast, levels = contrast.reshape(rows, most), levels.reshape(rows, most, 3)
        near = np.where(self._is_near(positions.tried, positions.middle), contrast, -np.inf)
        best = np.stack([contrast.argmax(axis=1), near.argmax(axis=1)], axis=1)
        found, contrast, levels = positions.tried[each, best], contrast[each, best], levels[each, best]
        # mostly the best of all is the best near the centre
        same = best[:, 0] == best[:, 1]
        row, which = np.nonzero(np.stack([np.ones_like(same), ~same], axis=1))
        straight = found[row, which]
        twists = np.array([[0.0, 0.0, -settings.twist], [0.0, 0.0, settings.twist]])
        twisted = (straight[:, None] + twists).reshape(-1, 3)
        of_twisted, their_levels = (
            values.reshape(len(row), 2, -1)
            for values in self._contrasts(camera, picture, positions, np.repeat(row, 2), twisted)
        )
        for number in range(2):
            better = of_twisted[:, number, 0] > contrast[row, which]
            at = row[better], which[better]
            found[at], contrast[at] = (straight + twists[number])[better], of_twisted[better, number, 0]
            levels[at] = their_levels[better, number]
        widths = np.empty(best.shape)
        widths[row, which] = tip_widths_mm(camera, picture, positions.hypotheses(row, found[row, which]))
        for values in (found, contrast, levels, widths):
            values[same, 1] = values[same, 0]
        tip_mm = self._tips_mm[positions.sizes, None]
        spread = settings.width_spread_mm - settings.surer_for_each_mm * tip_mm
        strange = ((widths - settings.width_floor_mm - settings.width_share * tip_mm) / spread) ** 2 / 2
        likely = contrast / settings.levels_a_unit - settings.piece_cost * positions.counts[:, None]
        likely -= np.minimum(settings.width_weight * strange, settings.most_width_cost) + np.log(spread)
        of_rows = zip(positions.sizes.tolist(), positions.counts.tolist(), positions.tips_mm.tolist(), strict=True)
        measured = np.concatenate([found, np.stack([likely, contrast, widths], axis=2)], axis=2).tolist()
        return [
            [
                Top(self._sizes[size], count, x_mm, y_mm, tip, angle_rad, log_likelihood, support, width_mm, colour)
                for (x_mm, y_mm, angle_rad, log_likelihood, support, width_mm), colour in zip(two, colours, strict=True)
            ]
            for (size, count, tip), two, colours in zip(of_rows, measured, levels, strict=True)
        ]

    def _contrasts(
        self,
        camera: StackCamera,
        picture: FloatImage,
        positions: _TipPositions,
        row: npt.NDArray[np.int64],
        tried: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Return the combined support, in grey levels (n,), for tops of some rows at positions (n, 3), and the levels
        of their faces, (n, 3).
        """
        settings = self._settings
        counts, middle = positions.counts[row], positions.middle[row]
        support = self._probe.evaluate(camera, picture, positions.hypotheses(row, tried))
        on_board = (positions.sizes[row] == self._sizes.index("L")) & (counts == 0)
        foot = np.where(on_board, settings.usual_foot, support.foot)
        cost = np.where(on_board, settings.rigid_cost, settings.off_centre_cost)
        contrast = support.tip - settings.unevenness_cost * support.unevenness + settings.foot_gain * foot
        contrast -= cost * self._half_squared_deviation(tried[:, None], middle, counts)[:, 0]
        return contrast, support.levels

    def _half_squared_deviation(
        self, tried: FloatArray, middle: FloatArray, counts: npt.NDArray[np.int64]
    ) -> FloatArray:
        """Return half the squared deviations of tops in position and rotation, in standard deviations: (n, tried)."""
        settings = self._settings
        spread = settings.top_spread_mm * (1 + settings.spread_for_each * counts)
        off = tried - middle[:, None]
        squares = ((off[..., :2] / spread[:, None, None]) ** 2).sum(axis=2)
        squares += (off[..., 2] / settings.twist_spread) ** 2
        return np.asarray(squares / 2, dtype=np.float64)


def combinations(x: FloatArray, y: FloatArray, angles_rad: FloatArray) -> FloatArray:
    """Return all combinations of three values, (n, 3)."""
    return np.stack([axis.ravel() for axis in np.meshgrid(x, y, angles_rad, indexing="ij")], axis=1)
