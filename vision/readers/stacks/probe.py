"""How well a picture supports the hypothesis that a pyramid stands somewhere.

A pyramid shows a flat tip, faces, and an edge at its base. Points on all of these are sampled for very many hypotheses
at once. Only the two sides of an edge are compared with each other, so lamps hardly matter. All numbers were set by
hand on ray-traced pictures, like those of ``search.SearchSettings``; ``benchmarks/stress.py --of blockade`` shows
the effect.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vision.frame import FloatArray, FloatImage
from vision.layout.pieces import TIP_SHARE, PyramidSize
from vision.readers.stacks.picture import CHANNELS, USUAL_LEVEL, StackCamera, add_offsets, homogeneous, sample_levels
from vision.sampling import PixelMap

_ACROSS = np.array([-0.7, 0.0, 0.7])
"""Points of a row on the tip or a face, as shares of the row's half length."""
_ALONG_FOOT = np.array([-0.75, -0.25, 0.25, 0.75])
"""Points of a row along an edge of the base, as shares of half that edge."""
_INSIDE_MM = 0.6
"""Distance, in mm, of the tip's outer points from its edge. Larger: tolerates blur, but leaves less of small tips."""
_BESIDE_MM = (0.6, 1.1, 1.7)
"""Distances, in mm, of the points on the faces from the tip's edge. The first row is compared with the tip's outer one.
Larger: tolerates blur.
"""
_FACE_SHARES = (0.3, 0.55, 0.8)
"""Rows of points on a face, as shares of the way from the tip's edge to the base's."""
_FOOT_MM = 0.9
"""Distance, in mm, of the points on both sides from the base's edge. Larger: tolerates blur and small errors."""
_MOST_CONTRAST, _MOST_FOOT_CONTRAST = 50.0, 40.0
"""Contrast of the tip and of the base's edge, in grey levels, above which more does not count. Higher: edges far
stronger than a pyramid's weigh more.
"""
_TIP_POINTS, _SIDE_POINTS, _FACE_POINTS, _FOOT_POINTS = 24, 36, 36, 16
"""Number of points on the tip, on the faces beside it, on all of the faces, and on each side of the base's edges. They
follow from the rows above, on four sides.
"""
_POINTS = _TIP_POINTS + _SIDE_POINTS + _FACE_POINTS + 2 * _FOOT_POINTS
_ONES = np.ones(CHANNELS, dtype=np.float32)
_LEAST_FACING = 0.3
"""How much a side must face the camera for its face and foot to count: 1 from straight above, 0 from edge on. Higher:
fewer sides count.
"""
_POINTS_AT_ONCE = 60_000
"""Points evaluated at once: few enough for the processor's cache."""

_RADII_MM = np.arange(0.0, 3.6, 0.3)
"""Distances from the tip's centre, in mm, at which its width is measured. Finer steps: more exact, slower."""
_LATERAL_MM = np.array([-0.6, 0.0, 0.6])
"""Offsets, in mm, of the parallel lines along which it is measured."""
_CENTRE_MM, _BEYOND_MM = 0.5, 2.7
"""Distance from the centre, in mm, within which the colour is the tip's, and beyond which it is a face's. The edge of
every tip must lie between them: 1.1 mm from the centre for small ones, 2 mm for large ones.
"""


@dataclass(frozen=True, eq=False)
class Hypotheses:
    """Hypotheses of pyramids: the centre of each tip, in mm, (n, 3), and the angle (n,), in radians counter-clockwise.

    ``sizes`` (n,) are numbers of a ``Probe``'s sizes, in ascending order.
    """

    sizes: npt.NDArray[np.int64]
    tips_mm: FloatArray
    angles_rad: FloatArray

    def part(self, chosen: slice) -> Hypotheses:
        """Return some of them."""
        return Hypotheses(self.sizes[chosen], self.tips_mm[chosen], self.angles_rad[chosen])


@dataclass(frozen=True, eq=False)
class Support:
    """Support of the picture for hypotheses of pyramids, in grey levels, (n,) each.

    ``tip`` is the difference of the tip from its surroundings minus the unevenness of both, ``unevenness`` that of the
    faces, ``foot`` the contrast across the edge of the base minus the unevenness of both sides. ``levels`` are the mean
    levels of the faces next to the tip, (n, 3).
    """

    tip: FloatArray
    unevenness: FloatArray
    foot: FloatArray
    levels: FloatArray


@dataclass(frozen=True, eq=False)
class NearTips:
    """The contrast of tips, without the rest of the pyramid, near n hypotheses.

    ``middles_mm`` (n, 3) are these, ``slopes`` (n, 2, 3) the movement of the pixels per mm, and ``pixels``
    (points, n, 2) those of points on and beside each tip.
    """

    middles_mm: FloatArray
    slopes: FloatImage
    pixels: PixelMap

    def contrast(self, picture: FloatImage, tried: FloatArray, *, coarse: bool = False) -> FloatArray:
        """Return the contrast, (n, m), at positions x and y in mm, (n, m, 2). So close by, projection is linear.

        ``coarse`` takes a third of the points.
        """
        away = (tried - self.middles_mm[:, None, :2]).astype(np.float32)
        offsets = np.ascontiguousarray(away @ self.slopes[:, :, :2].transpose(0, 2, 1))
        pixels, shares = self.pixels, _TIP
        if coarse:
            pixels, shares = np.ascontiguousarray(pixels[len(_ACROSS) // 2 :: len(_ACROSS)]), _COARSE_TIP
        found = np.empty(tried.shape[:2])
        for chosen in _in_parts(len(found), len(pixels) * tried.shape[1]):
            levels = sample_levels(picture, add_offsets(pixels[:, chosen, None], offsets[chosen]))
            found[chosen] = _tip_contrast(levels, shares).reshape(found[chosen].shape)
        return found


class Probe:
    """Evaluates hypotheses of pyramids of several sizes."""

    def __init__(self, sizes: Sequence[PyramidSize]) -> None:
        self._points = [homogeneous(_points_of(size)) for size in sizes]
        self._slopes = np.array([_slope_of(size) for size in sizes])

    def near(self, camera: StackCamera, middles: Hypotheses) -> NearTips:
        """Return what gives the contrast of the tip alone for many positions near each of some hypotheses."""
        pixels = self._pixels(camera, middles, self._facing(camera, middles), _TIP_POINTS + _SIDE_POINTS)
        return NearTips(middles.tips_mm, camera.slopes(middles.tips_mm), pixels)

    def evaluate(self, camera: StackCamera, picture: FloatImage, hypotheses: Hypotheses) -> Support:
        """Evaluate tips, faces and bases."""
        parts = [
            self._evaluate(camera, picture, hypotheses.part(chosen))
            for chosen in _in_parts(len(hypotheses.sizes), _POINTS)
        ]
        return Support(*(np.concatenate(values) for values in zip(*parts, strict=True)))

    def _evaluate(
        self, camera: StackCamera, picture: FloatImage, hypotheses: Hypotheses
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return the values of ``Support``."""
        facing = self._facing(camera, hypotheses)
        levels = sample_levels(picture, self._pixels(camera, hypotheses, facing, _POINTS))
        means, variances = _means_and_variances(levels, _PARTS, slice(4, None))
        weights = (facing > _LEAST_FACING).astype(np.float64)
        weights /= np.maximum(weights.sum(axis=0), 1.0)
        contrast = np.minimum(np.sqrt(_squared_lengths(means[8:12] - means[12:])), _MOST_FOOT_CONTRAST)
        noise = np.sqrt(variances[4:8] + variances[8:])
        return (
            _tip_contrast(levels[: _TIP_POINTS + _SIDE_POINTS], _TIP),
            (np.sqrt(variances[:4]) * weights).sum(axis=0),
            ((contrast - 0.5 * noise) * weights).sum(axis=0),
            (means[:4, :, :3] * weights[:, :, None]).sum(axis=0) + USUAL_LEVEL,
        )

    def _facing(self, camera: StackCamera, hypotheses: Hypotheses) -> FloatArray:
        """Return how much each side faces the camera, (4, n): 1 from straight above, invisible below 0."""
        cosine, sine = np.cos(hypotheses.angles_rad), np.sin(hypotheses.angles_rad)
        across, away, above = (camera.position_mm - hypotheses.tips_mm).T
        towards, beside = sine * across - cosine * away, cosine * across + sine * away
        steep = self._slopes[hypotheses.sizes] / above
        return np.asarray(np.stack([towards, beside, -towards, -beside]) * steep + 1, dtype=np.float64)

    def _pixels(self, camera: StackCamera, hypotheses: Hypotheses, facing: FloatArray, count: int) -> PixelMap:
        """Return where the first points appear, (count, n, 2)."""
        pixels: PixelMap = np.empty((count, len(hypotheses.sizes), 2), dtype=np.float32)
        sides = slice(_TIP_POINTS, _TIP_POINTS + _SIDE_POINTS)
        ends = np.searchsorted(hypotheses.sizes, np.arange(len(self._points) + 1))
        for points, begin, end in zip(self._points, ends[:-1], ends[1:], strict=True):
            if begin == end:
                continue
            own = hypotheses.part(slice(begin, end))
            seen = camera.pixels_of(points[: _SIDE_POINTS + count], own.tips_mm, own.angles_rad)
            unseen = np.repeat(facing[:, begin:end] <= 0, _SIDE_POINTS // 4, axis=0)
            pixels[:, begin:end] = seen[_SIDE_POINTS:]
            pixels[sides, begin:end][unseen] = seen[:_SIDE_POINTS][unseen]
        return pixels


def _slope_of(size: PyramidSize) -> float:
    """Return how far a face goes down per mm outwards."""
    return size.height_mm / (size.base_mm / 2 * (1 - TIP_SHARE))


def _points_of(size: PyramidSize) -> FloatArray:
    """Return the points on a pyramid, relative to its tip's centre, (n, 3).

    The last ``_POINTS`` are those that are compared. The others replace points beside the tip on an invisible side:
    at the tip's height lies whatever is behind the pyramid.
    """
    half, slope = size.base_mm / 2, _slope_of(size)
    tip = half * TIP_SHARE
    shares = [tip + (half - tip) * share for share in _FACE_SHARES]
    tips = _on_all_sides([(0.3 * tip, 0.0, 0.3 * tip), (tip - _INSIDE_MM, 0.0, tip - _INSIDE_MM)], _ACROSS)
    sides = _on_all_sides([(tip + by, -by * slope, 0.8 * tip) for by in _BESIDE_MM], _ACROSS)
    faces = _on_all_sides([(out, -(out - tip) * slope, 0.8 * out) for out in shares], _ACROSS)
    over = _on_all_sides([(half - _FOOT_MM, -size.height_mm + _FOOT_MM * slope, half)], _ALONG_FOOT)
    under = _on_all_sides([(half + _FOOT_MM, -size.height_mm - _FOOT_MM * slope, half)], _ALONG_FOOT)
    return np.concatenate([sides * (1, 1, 0), tips, sides, faces, over, under])


def tip_widths_mm(camera: StackCamera, picture: FloatImage, hypotheses: Hypotheses) -> FloatArray:
    """Return the apparent width of the flat tip at each position, (n,), whatever the assumed size.

    Along a line from the centre outwards, the share of the tip's colour falls from 1 to 0. Its integral is the tip's
    extent, however blurred its edge is. The sum of two opposite directions does not depend on an error of the centre.
    """
    side = np.array([[(lateral, -radius, 0.0) for radius in _RADII_MM] for lateral in _LATERAL_MM]).reshape(-1, 3)
    points = homogeneous(turned_to_all_sides(side))
    levels = sample_levels(picture, camera.pixels_of(points, hypotheses.tips_mm, hypotheses.angles_rad))
    lines = levels.reshape(4, len(_LATERAL_MM), len(_RADII_MM), -1, CHANNELS).mean(axis=1)
    inside = lines[:, _RADII_MM < _CENTRE_MM].mean(axis=(0, 1))
    beyond = lines[:, _RADII_MM > _BEYOND_MM].mean(axis=1)
    difference = inside - beyond
    squares = np.maximum(_squared_lengths(difference), 1e-6)
    profile = lines[:, _RADII_MM <= _BEYOND_MM]
    share = channel_sums((profile - beyond[:, None]) * difference[:, None]) / squares[:, None]
    step = float(_RADII_MM[1])
    reach = np.clip(share, -0.3, 1.3).sum(axis=1) * step - step / 2
    widths = reach[:2] + reach[2:]
    weights = np.sqrt(np.minimum(squares[:2], squares[2:]))
    return np.asarray((widths * weights).sum(axis=0) / weights.sum(axis=0), dtype=np.float64)


def _in_parts(count: int, points_each: int) -> Iterator[slice]:
    """Split so many hypotheses, with so many points each, into parts that are evaluated at once."""
    at_once = max(1, _POINTS_AT_ONCE // points_each)
    return (slice(begin, begin + at_once) for begin in range(0, count, at_once))


def _tip_contrast(levels: FloatImage, shares: FloatImage) -> FloatArray:
    """Return the difference of tips from their surroundings minus the unevenness of both, in grey levels (n,).

    ``levels`` are (points, ..., CHANNELS), ``shares`` from ``_tip_shares``.
    """
    means, variances = _means_and_variances(levels, shares, slice(5))
    spread = np.sqrt(variances)
    apart = np.minimum(np.sqrt(_squared_lengths(means[:1] - means[1:5])), _MOST_CONTRAST)
    edge = np.minimum(np.sqrt(_squared_lengths(means[5:9] - means[9:])), _MOST_CONTRAST)
    uneven = spread[0] + 0.3 * spread[1:].mean(axis=0)
    found = 0.5 * apart.mean(axis=0) + 0.5 * apart.min(axis=0) + 0.7 * edge.mean(axis=0) - uneven
    return np.asarray(found, dtype=np.float64)


def _means_and_variances(levels: FloatImage, shares: FloatImage, chosen: slice) -> tuple[FloatImage, FloatImage]:
    """Return the mean levels of groups of points, (groups, n, CHANNELS), and the variances within chosen groups, summed
    over the channels.

    ``levels`` are those of the points, (points, ..., CHANNELS), and ``shares`` (groups, points) the points' shares in
    each group.
    """
    flat = levels.reshape(len(levels), -1)
    means = (shares @ flat).reshape(len(shares), -1, CHANNELS)
    variances = (shares[chosen] @ (flat * flat)).reshape(-1, *means.shape[1:]) - means[chosen] ** 2
    return means, np.maximum(channel_sums(variances), np.float32(0))


def _squared_lengths(levels: FloatImage) -> FloatImage:
    """Return squared lengths of levels (..., CHANNELS): (...)."""
    return channel_sums(levels * levels)


def channel_sums(levels: FloatImage) -> FloatImage:
    """Return sums over the channels of (..., CHANNELS): (...); NumPy's own take many times as long."""
    return np.asarray((levels.reshape(-1, CHANNELS) @ _ONES).reshape(levels.shape[:-1]), dtype=np.float32)


def _tip_shares(across: int) -> FloatImage:
    """Return the shares of points of the tip, of each side, of each rim, and of what is beside each rim, from rows of
    so many points: (13, points).
    """
    sides, tip_rows, side_rows = 4, 2, len(_BESIDE_MM)
    tips = sides * tip_rows * across
    points = np.arange(tips + sides * side_rows * across)
    on_tip = points < tips
    side = np.where(on_tip, points // (tip_rows * across), (points - tips) // (side_rows * across))
    row = np.where(on_tip, points // across % tip_rows, (points - tips) // across % side_rows)
    chosen = [on_tip]
    chosen += [~on_tip & (side == each) for each in range(sides)]
    chosen += [on_tip & (side == each) & (row == 1) for each in range(sides)]
    chosen += [~on_tip & (side == each) & (row == 0) for each in range(sides)]
    return np.array([group / group.sum() for group in chosen], dtype=np.float32)


def _part_shares() -> FloatImage:
    """Return the shares of points next to the tip, on the face, above and below the base's edge, four sides each:
    (16, points).
    """
    parts = (_SIDE_POINTS, _FACE_POINTS, _FOOT_POINTS, _FOOT_POINTS)
    groups = [np.repeat(np.eye(4) * 4 / points, points // 4, axis=1) for points in parts]
    shares = np.zeros((4 * len(parts), _POINTS), dtype=np.float32)
    column = _TIP_POINTS
    for number, group in enumerate(groups):
        shares[4 * number : 4 * number + 4, column : column + group.shape[1]] = group
        column += group.shape[1]
    return shares


def _on_all_sides(rows: list[tuple[float, float, float]], across: FloatArray) -> FloatArray:
    """Return points on all four sides: ``rows`` are distance outwards, height, and distance to either side, in mm."""
    return turned_to_all_sides(np.array([(share * reach, -out, high) for out, high, reach in rows for share in across]))


def turned_to_all_sides(side: FloatArray) -> FloatArray:
    """Return points (n, 3) of the side towards -y, followed by those of the others counter-clockwise: (4 n, 3)."""
    sides = [side]
    for _ in range(3):
        last = sides[-1]
        sides.append(np.column_stack([-last[:, 1], last[:, 0], last[:, 2]]))
    return np.concatenate(sides)


_TIP, _COARSE_TIP = _tip_shares(len(_ACROSS)), _tip_shares(1)
_PARTS = _part_shares()
