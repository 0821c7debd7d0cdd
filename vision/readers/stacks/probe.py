"""How well a picture supports the hypothesis that a pyramid stands somewhere.

A pyramid shows a flat tip, faces, and an edge at its base. Points on all of these are sampled for very many hypotheses
at once. Only the two sides of an edge are compared with each other, so lamps hardly matter. All numbers were set by
hand on ray-traced pictures, like those of ``search.SearchSettings``; ``benchmarks/stress.py --of blockade`` shows
the effect.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vision.frame import FloatArray, FloatImage
from vision.layout.pieces import TIP_SHARE, PyramidSize
from vision.readers.stacks.picture import CHANNELS, USUAL_LEVEL, StackCamera, add_offsets, sample_levels
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
_LEAST_FACING = 0.3
"""How much a side must face the camera for its face and foot to count: 1 from straight above, 0 from edge on. Higher:
fewer sides count.
"""
_AT_ONCE = 12
"""Tips evaluated at once: few enough for the processor's cache."""

_RADII_MM = np.arange(0.0, 3.6, 0.15)
"""Distances from the tip's centre, in mm, at which its width is measured. Finer steps: more exact, slower."""
_LATERAL_MM = np.array([-0.6, -0.3, 0.0, 0.3, 0.6])
"""Offsets, in mm, of the parallel lines along which it is measured."""
_CENTRE_MM, _BEYOND_MM = 0.5, 2.7
"""Distance from the centre, in mm, within which the colour is the tip's, and beyond which it is a face's. The edge of
every tip must lie between them: 1.1 mm from the centre for small ones, 2 mm for large ones.
"""


@dataclass(frozen=True, eq=False)
class Hypotheses:
    """Hypotheses of pyramids of one size: the centre of each tip, in mm, and the angle, in radians counter-clockwise.

    All are arrays of shape (n,).
    """

    x_mm: FloatArray
    y_mm: FloatArray
    tip_mm: FloatArray
    angles_rad: FloatArray

    @property
    def tips_mm(self) -> FloatArray:
        """The centres of the tips, (n, 3)."""
        return np.column_stack([self.x_mm, self.y_mm, self.tip_mm])


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


class Probe:
    """Evaluates hypotheses of pyramids of one size."""

    def __init__(self, size: PyramidSize) -> None:
        half = size.base_mm / 2
        tip = half * TIP_SHARE
        self._slope = size.height_mm / (half - tip)
        shares = [tip + (half - tip) * share for share in _FACE_SHARES]
        tips = _on_all_sides([(0.3 * tip, 0.0, 0.3 * tip), (tip - _INSIDE_MM, 0.0, tip - _INSIDE_MM)], _ACROSS)
        sides = _on_all_sides([(tip + by, -by * self._slope, 0.8 * tip) for by in _BESIDE_MM], _ACROSS)
        faces = _on_all_sides([(out, -(out - tip) * self._slope, 0.8 * out) for out in shares], _ACROSS)
        over = _on_all_sides([(half - _FOOT_MM, -size.height_mm + _FOOT_MM * self._slope, half)], _ALONG_FOOT)
        under = _on_all_sides([(half + _FOOT_MM, -size.height_mm - _FOOT_MM * self._slope, half)], _ALONG_FOOT)
        self._points = np.concatenate([tips, sides, faces, over, under])

    def tips(
        self,
        camera: StackCamera,
        picture: FloatImage,
        middle: FloatArray,
        tips_mm: FloatArray,
        tried: FloatArray,
        *,
        coarse: bool = False,
    ) -> FloatArray:
        """Return the contrast of the tip alone, (n, m), for each of several positions near a centre.

        ``middle`` (n, 3) is x and y in mm and the angle, ``tips_mm`` (n,) the height, ``tried`` (n, m, 2) x and y. So
        close to the centre, projection is linear.
        """
        count = _TIP_POINTS + _SIDE_POINTS
        hypotheses = Hypotheses(middle[:, 0], middle[:, 1], tips_mm, middle[:, 2])
        slopes = camera.slopes(hypotheses.tips_mm)
        offsets = (tried - middle[:, None, :2]).astype(np.float32) @ slopes[:, :, :2].transpose(0, 2, 1)
        middles = self._pixels(camera, hypotheses, self._facing(camera, hypotheses), count)[:, None]
        if coarse:
            count //= len(_ACROSS)
            middles = np.ascontiguousarray(middles[:, :, len(_ACROSS) // 2 :: len(_ACROSS)])
        weights = _COARSE_TIP if coarse else _TIP
        offsets = np.ascontiguousarray(offsets)[:, :, None]
        found = np.empty(tried.shape[:2])
        for begin in range(0, len(found), _AT_ONCE):
            chosen = slice(begin, begin + _AT_ONCE)
            levels = sample_levels(picture, add_offsets(middles[chosen], offsets[chosen]))
            found[chosen] = _tip_contrast(levels.reshape(-1, count, CHANNELS), weights).reshape(found[chosen].shape)
        return found

    def evaluate(self, camera: StackCamera, picture: FloatImage, hypotheses: Hypotheses) -> Support:
        """Evaluate tips, faces and bases."""
        facing = self._facing(camera, hypotheses)
        levels = sample_levels(picture, self._pixels(camera, hypotheses, facing, len(self._points)))
        flat = levels.reshape(len(levels), -1) - np.float32(USUAL_LEVEL)
        means = np.ascontiguousarray((flat @ _PART_MEANS).T).reshape(4, 4, 3, -1)
        beside, _, over, under = means
        squares = ((flat * flat) @ _PART_SQUARES).T.reshape(3, 4, -1)
        spread = np.maximum(squares - (means[1:] ** 2).sum(axis=2), 0.0)
        weights = (facing.T > _LEAST_FACING).astype(np.float64)
        weights /= np.maximum(weights.sum(axis=0), 1.0)
        contrast = np.minimum(_lengths(over - under), _MOST_FOOT_CONTRAST)
        noise = np.sqrt(spread[1] + spread[2])
        return Support(
            _tip_contrast(levels, _TIP),
            (np.sqrt(spread[0]) * weights).sum(axis=0),
            ((contrast - 0.5 * noise) * weights).sum(axis=0),
            (beside * weights[:, None]).sum(axis=0).T + USUAL_LEVEL,
        )

    def _facing(self, camera: StackCamera, hypotheses: Hypotheses) -> FloatArray:
        """Return how much each side faces the camera, (n, 4): 1 from straight above, invisible below 0."""
        cosine, sine = np.cos(hypotheses.angles_rad), np.sin(hypotheses.angles_rad)
        across, away, above = (camera.position_mm - hypotheses.tips_mm).T
        towards, beside = sine * across - cosine * away, cosine * across + sine * away
        steep = (self._slope / above)[:, None]
        return np.asarray(np.stack([towards, beside, -towards, -beside], axis=1) * steep + 1, dtype=np.float64)

    def _pixels(self, camera: StackCamera, hypotheses: Hypotheses, facing: FloatArray, count: int) -> PixelMap:
        """Return where the first points appear, (n, count, 2)."""
        points, sides = self._points[:count], slice(_TIP_POINTS, _TIP_POINTS + _SIDE_POINTS)
        pixels = camera.pixels_of(points, hypotheses.tips_mm, hypotheses.angles_rad)
        # beyond the tip on an invisible side lies whatever is behind the pyramid
        level = camera.pixels_of(points[sides] * (1, 1, 0), hypotheses.tips_mm, hypotheses.angles_rad)
        unseen = np.repeat(facing <= 0, _SIDE_POINTS // 4, axis=1)
        pixels[:, sides][unseen] = level[unseen]
        return pixels


def tip_widths_mm(camera: StackCamera, picture: FloatImage, hypotheses: Hypotheses) -> FloatArray:
    """Return the apparent width of the flat tip at each position, (n,), whatever the assumed size.

    Along a line from the centre outwards, the share of the tip's colour falls from 1 to 0. Its integral is the tip's
    extent, however blurred its edge is. The sum of two opposite directions does not depend on an error of the centre.
    """
    side = np.array([[(lateral, -radius, 0.0) for radius in _RADII_MM] for lateral in _LATERAL_MM]).reshape(-1, 3)
    points = turned_to_all_sides(side)
    levels = sample_levels(picture, camera.pixels_of(points, hypotheses.tips_mm, hypotheses.angles_rad))
    levels = levels.reshape(len(levels), 4, len(_LATERAL_MM), -1)
    # NumPy's mean over a short axis takes many times as long
    lines = np.asarray(sum(levels[:, :, line] for line in range(len(_LATERAL_MM)))) / len(_LATERAL_MM)
    lines = lines.reshape(len(levels), 4, len(_RADII_MM), CHANNELS)[..., :3]
    inside = lines[:, :, _RADII_MM < _CENTRE_MM].mean(axis=(1, 2))
    beyond = lines[:, :, _RADII_MM > _BEYOND_MM].mean(axis=2)
    difference = inside[:, None] - beyond
    squares = np.maximum((difference**2).sum(axis=2), 1e-6)
    profile = lines[:, :, _RADII_MM <= _BEYOND_MM]
    share = ((profile - beyond[:, :, None]) * difference[:, :, None]).sum(axis=3) / squares[:, :, None]
    step = float(_RADII_MM[1])
    reach = np.clip(share, -0.3, 1.3).sum(axis=2) * step - step / 2
    widths = reach[:, :2] + reach[:, 2:]
    weights = np.sqrt(np.minimum(squares[:, :2], squares[:, 2:]))
    return np.asarray((widths * weights).sum(axis=1) / weights.sum(axis=1), dtype=np.float64)


def _tip_contrast(levels: FloatImage, weights: tuple[FloatImage, FloatImage]) -> FloatArray:
    """Return the difference of tips from their surroundings minus the unevenness of both, in grey levels.

    ``weights`` are those of the first points' means and squares.
    """
    # products with few rows of weights are many times faster than means over short axes, and so is a long last axis
    of_means, of_squares = weights
    flat = levels.reshape(len(levels), -1)[:, : len(of_means)] - np.float32(USUAL_LEVEL)
    means = np.ascontiguousarray((flat @ of_means).T).reshape(-1, 3, len(levels))
    tip, sides, rims, beside = means[:1], means[1:5], means[5:9], means[9:]
    spread = np.sqrt(np.maximum(((flat * flat) @ of_squares).T - (means[:5] ** 2).sum(axis=1), 0.0))
    apart = np.minimum(_lengths(tip - sides), _MOST_CONTRAST)
    edge = np.minimum(_lengths(rims - beside), _MOST_CONTRAST)
    uneven = spread[0] + 0.3 * spread[1:].mean(axis=0)
    found = 0.5 * apart.mean(axis=0) + 0.5 * apart.min(axis=0) + 0.7 * edge.mean(axis=0) - uneven
    return np.asarray(found, dtype=np.float64)


def _lengths(differences: npt.NDArray[np.floating]) -> FloatImage:
    """Return norms of differences of levels, (..., 3, n): (..., n)."""
    first, second, third = differences[..., 0, :], differences[..., 1, :], differences[..., 2, :]
    return np.asarray(np.sqrt(first * first + second * second + third * third), dtype=np.float32)


def _tip_weights(across: int) -> tuple[FloatImage, FloatImage]:
    """Return weights that give the means of tip, sides, rims and what is beside them, and the mean squares of the first
    five, from rows of so many points.

    They multiply levels flattened from points by channels.
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
    shares = np.array([group / group.sum() for group in chosen]).T
    return _per_channel(shares, shares[:, : 1 + sides])


def _part_weights() -> tuple[FloatImage, FloatImage]:
    """Return weights that give, for each side, the means next to the tip, on the face, above and below the base's edge,
    and the mean squares of all but the first.

    They multiply levels flattened from points by channels.
    """
    parts = (_SIDE_POINTS, _FACE_POINTS, _FOOT_POINTS, _FOOT_POINTS)
    columns = [np.repeat(np.eye(4) * 4 / points, points // 4, axis=0) for points in parts]
    shares = np.zeros((_TIP_POINTS + sum(parts), 4 * len(parts)))
    row = _TIP_POINTS
    for number, column in enumerate(columns):
        shares[row : row + len(column), 4 * number : 4 * number + 4] = column
        row += len(column)
    return _per_channel(shares, shares[:, 4:])


def _per_channel(means: FloatArray, squares: FloatArray) -> tuple[FloatImage, FloatImage]:
    """Return weights of flattened levels from those of points, (points, n): three columns for each mean, one for a
    square.
    """
    colours = np.eye(CHANNELS, 3)
    given = np.kron(means, colours), np.kron(squares, colours.sum(axis=1, keepdims=True))
    return given[0].astype(np.float32), given[1].astype(np.float32)


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


_TIP, _COARSE_TIP = _tip_weights(len(_ACROSS)), _tip_weights(1)
_PART_MEANS, _PART_SQUARES = _part_weights()
