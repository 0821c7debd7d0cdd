"""How well a picture supports the hypothesis that a pyramid stands somewhere.

A pyramid shows a flat tip, faces, and an edge at its base. Points on all of these are sampled for very many hypotheses
at once. Only the two sides of an edge are compared with each other, so lamps hardly matter. All numbers were set by
hand on ray-traced pictures, like those of ``search.SearchSettings``; ``benchmarks/stress.py --of blockade`` shows
the effect.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vision.frame import FloatArray, FloatImage
from vision.layout.pieces import TIP_SHARE, PyramidSize
from vision.readers.stacks.picture import USUAL_LEVEL, StackCamera, sampled

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
class Supposed:
    """Hypotheses of pyramids of one size: the centre of each tip, in mm, and the angle, in radians counter-clockwise.

    All are arrays of shape (n,).
    """

    x_mm: FloatArray
    y_mm: FloatArray
    tip_mm: FloatArray
    turned: FloatArray

    def chosen(self, index: FloatArray) -> Supposed:
        """The hypotheses at some indices."""
        return Supposed(self.x_mm[index], self.y_mm[index], self.tip_mm[index], self.turned[index])


@dataclass(frozen=True, eq=False)
class Borne:
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
        tips = _around([(0.3 * tip, 0.0, 0.3 * tip), (tip - _INSIDE_MM, 0.0, tip - _INSIDE_MM)], _ACROSS)
        sides = _around([(tip + by, -by * self._slope, 0.8 * tip) for by in _BESIDE_MM], _ACROSS)
        faces = _around([(out, -(out - tip) * self._slope, 0.8 * out) for out in shares], _ACROSS)
        over = _around([(half - _FOOT_MM, -size.height_mm + _FOOT_MM * self._slope, half)], _ALONG_FOOT)
        under = _around([(half + _FOOT_MM, -size.height_mm - _FOOT_MM * self._slope, half)], _ALONG_FOOT)
        self._points = np.concatenate([tips, sides, faces, over, under])

    def tips(
        self, camera: StackCamera, picture: FloatImage, middle: FloatArray, tips_mm: FloatArray, tried: FloatArray
    ) -> FloatArray:
        """Contrast of the tip alone, (n, m), for each of several positions near a centre.

        ``middle`` (n, 3) is x and y in mm and the angle, ``tips_mm`` (n,) the height, ``tried`` (n, m, 2) x and y. So
        close to the centre, projection is linear.
        """
        count = _TIP_POINTS + _SIDE_POINTS
        supposed = Supposed(middle[:, 0], middle[:, 1], tips_mm, middle[:, 2])
        points, _ = self._places(camera, supposed, count)
        slopes = camera.slopes(np.column_stack([middle[:, :2], tips_mm]))
        ways = (tried - middle[:, None, :2]).astype(np.float32) @ slopes[:, :, :2].transpose(0, 2, 1)
        middles = camera.pixels(points)[:, None]
        found = np.empty(tried.shape[:2])
        for begin in range(0, len(found), _AT_ONCE):
            chosen = slice(begin, begin + _AT_ONCE)
            levels = sampled(picture, middles[chosen] + ways[chosen, :, None])
            found[chosen] = _tip(levels.reshape(-1, count, 3)).reshape(found[chosen].shape)
        return found

    def look(self, camera: StackCamera, picture: FloatImage, supposed: Supposed) -> Borne:
        """Evaluate tips, faces and bases."""
        points, facing = self._places(camera, supposed, len(self._points))
        levels = camera.levels(picture, points)
        flat = levels.reshape(len(levels), -1) - np.float32(USUAL_LEVEL)
        means = np.asarray(flat @ _PART_MEANS, dtype=np.float32).reshape(len(levels), 4, 4, 3)
        beside, _, over, under = means.transpose(1, 0, 2, 3)
        squares = np.asarray((flat * flat) @ _PART_SQUARES, dtype=np.float32).reshape(len(levels), 3, 4)
        spread = np.maximum(squares - (means[:, 1:] ** 2).sum(axis=3), 0.0)
        weights = (facing > _LEAST_FACING).astype(np.float64)
        weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1.0)
        contrast = np.minimum(_lengths(over - under), _MOST_FOOT_CONTRAST)
        noise = np.sqrt(spread[:, 1] + spread[:, 2])
        return Borne(
            _tip(levels),
            (np.sqrt(spread[:, 0]) * weights).sum(axis=1),
            ((contrast - 0.5 * noise) * weights).sum(axis=1),
            (beside * weights[..., None]).sum(axis=1) + USUAL_LEVEL,
        )

    def _places(self, camera: StackCamera, supposed: Supposed, count: int) -> tuple[FloatImage, FloatArray]:
        """The first points (n, count, 3), and how much each side faces the camera (n, 4): invisible below 0."""
        points = self._points[:count]
        cosine, sine = np.cos(supposed.turned)[:, None], np.sin(supposed.turned)[:, None]
        place = np.empty((len(supposed.x_mm), count, 3), dtype=np.float32)
        place[..., 0] = supposed.x_mm[:, None] + cosine * points[:, 0] - sine * points[:, 1]
        place[..., 1] = supposed.y_mm[:, None] + sine * points[:, 0] + cosine * points[:, 1]
        place[..., 2] = points[:, 2]
        outwards_x = np.concatenate([sine, cosine, -sine, -cosine], axis=1)
        outwards_y = np.concatenate([-cosine, sine, cosine, -sine], axis=1)
        across = camera.position_mm[0] - supposed.x_mm[:, None], camera.position_mm[1] - supposed.y_mm[:, None]
        above = (camera.position_mm[2] - supposed.tip_mm)[:, None]
        facing = ((outwards_x * across[0] + outwards_y * across[1]) * self._slope + above) / above
        # beyond the tip on an invisible side lies whatever is behind the pyramid
        unseen = np.repeat(facing <= 0, _SIDE_POINTS // 4, axis=1)
        place[:, _TIP_POINTS : _TIP_POINTS + _SIDE_POINTS, 2][unseen] = 0.0
        place[..., 2] += supposed.tip_mm[:, None]
        return place, facing


def tip_widths_mm(camera: StackCamera, picture: FloatImage, supposed: Supposed) -> FloatArray:
    """The apparent width of the flat tip at each position, (n,), whatever the assumed size.

    Along a line from the centre outwards, the share of the tip's colour falls from 1 to 0. Its integral is the tip's
    extent, however blurred its edge is. The sum of two opposite directions does not depend on an error of the centre.
    """
    ways = np.array([[(lateral, -radius, 0.0) for radius in _RADII_MM] for lateral in _LATERAL_MM]).reshape(-1, 3)
    points = _turned(ways)
    cosine, sine = np.cos(supposed.turned)[:, None], np.sin(supposed.turned)[:, None]
    place = np.empty((len(supposed.x_mm), len(points), 3), dtype=np.float32)
    place[..., 0] = supposed.x_mm[:, None] + cosine * points[:, 0] - sine * points[:, 1]
    place[..., 1] = supposed.y_mm[:, None] + sine * points[:, 0] + cosine * points[:, 1]
    place[..., 2] = supposed.tip_mm[:, None]
    levels = camera.levels(picture, place).reshape(len(place), 4, len(_LATERAL_MM), len(_RADII_MM), 3)
    inside = levels[..., _RADII_MM < _CENTRE_MM, :].mean(axis=(1, 2, 3))
    beyond = levels[..., _RADII_MM > _BEYOND_MM, :].mean(axis=(2, 3))
    way = inside[:, None] - beyond
    squares = np.maximum((way**2).sum(axis=2), 1e-6)
    profile = levels[..., _RADII_MM <= _BEYOND_MM, :].mean(axis=2)
    share = ((profile - beyond[:, :, None]) * way[:, :, None]).sum(axis=3) / squares[:, :, None]
    step = float(_RADII_MM[1])
    reach = np.clip(share, -0.3, 1.3).sum(axis=2) * step - step / 2
    widths = reach[:, :2] + reach[:, 2:]
    weights = np.sqrt(np.minimum(squares[:, :2], squares[:, 2:]))
    return np.asarray((widths * weights).sum(axis=1) / weights.sum(axis=1), dtype=np.float64)


def _tip(levels: FloatImage) -> FloatArray:
    """Difference of tips from their surroundings minus the unevenness of both, in grey levels."""
    # products with few rows of weights are many times faster than means over short axes
    flat = levels[:, : _TIP_POINTS + _SIDE_POINTS].reshape(len(levels), -1) - np.float32(USUAL_LEVEL)
    means = np.asarray(flat @ _MEANS, dtype=np.float32).reshape(len(levels), -1, 3)
    tip, sides, rims, beside = means[:, :1], means[:, 1:5], means[:, 5:9], means[:, 9:]
    spread = np.sqrt(np.maximum((flat * flat) @ _SQUARES - (means[:, :5] ** 2).sum(axis=2), 0.0))
    apart = np.minimum(_lengths(tip - sides), _MOST_CONTRAST)
    edge = np.minimum(_lengths(rims - beside), _MOST_CONTRAST)
    uneven = spread[:, 0] + 0.3 * spread[:, 1:].mean(axis=1)
    found = 0.5 * apart.mean(axis=1) + 0.5 * apart.min(axis=1) + 0.7 * edge.mean(axis=1) - uneven
    return np.asarray(found, dtype=np.float64)


def _lengths(ways: FloatImage | FloatArray) -> FloatImage:
    """Norms of differences of levels, (..., 3)."""
    first, second, third = ways[..., 0], ways[..., 1], ways[..., 2]
    return np.asarray(np.sqrt(first * first + second * second + third * third), dtype=np.float32)


def _weights() -> tuple[FloatImage, FloatImage]:
    """Weights that give the means of tip, sides, rims and what is beside them, and the mean squares of the first five.

    They multiply levels flattened from points by channels.
    """
    sides, rows = 4, len(_BESIDE_MM)
    points = np.arange(_TIP_POINTS + _SIDE_POINTS)
    on_tip = points < _TIP_POINTS
    side = np.where(on_tip, points // (_TIP_POINTS // sides), (points - _TIP_POINTS) // (_SIDE_POINTS // sides))
    row = np.where(
        on_tip,
        points // len(_ACROSS) % (_TIP_POINTS // sides // len(_ACROSS)),
        (points - _TIP_POINTS) // len(_ACROSS) % rows,
    )
    chosen = [on_tip]
    chosen += [~on_tip & (side == each) for each in range(sides)]
    chosen += [on_tip & (side == each) & (row == 1) for each in range(sides)]
    chosen += [~on_tip & (side == each) & (row == 0) for each in range(sides)]
    shares = np.array([group / group.sum() for group in chosen], dtype=np.float32).T
    means, squares = np.kron(shares, np.eye(3)), np.kron(shares[:, : 1 + sides], np.ones((3, 1)))
    return means.astype(np.float32), squares.astype(np.float32)


def _part_weights() -> tuple[FloatImage, FloatImage]:
    """Weights that give, for each side, the means next to the tip, on the face, above and below the base's edge, and
    the mean squares of all but the first.

    They multiply levels flattened from points by channels.
    """
    parts = (_SIDE_POINTS, _FACE_POINTS, _FOOT_POINTS, _FOOT_POINTS)
    columns = [np.repeat(np.eye(4) * 4 / points, points // 4, axis=0) for points in parts]
    shares = np.zeros((_TIP_POINTS + sum(parts), 4 * len(parts)))
    row = _TIP_POINTS
    for number, column in enumerate(columns):
        shares[row : row + len(column), 4 * number : 4 * number + 4] = column
        row += len(column)
    means, squares = np.kron(shares, np.eye(3)), np.kron(shares[:, 4:], np.ones((3, 1)))
    return means.astype(np.float32), squares.astype(np.float32)


def _around(rows: list[tuple[float, float, float]], across: FloatArray) -> FloatArray:
    """Points on all four sides: ``rows`` are distance outwards, height, and distance to either side, in mm."""
    return _turned(np.array([(share * reach, -out, high) for out, high, reach in rows for share in across]))


def _turned(side: FloatArray) -> FloatArray:
    """Points (n, 3) of the side towards -y, followed by those of the others counter-clockwise: (4 n, 3)."""
    turned = [side]
    for _ in range(3):
        last = turned[-1]
        turned.append(np.column_stack([-last[:, 1], last[:, 0], last[:, 2]]))
    return np.concatenate(turned)


_MEANS, _SQUARES = _weights()
_PART_MEANS, _PART_SQUARES = _part_weights()
