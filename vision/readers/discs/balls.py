"""Whether a disc carries a ball: what a sphere's shading, outline and colour would change of what is seen of the disc.

A disc's top is even. A ball on it is lit from one side, has an outline, and reaches beyond the disc where it is seen
from the side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vision.frame import BoolImage, FloatArray
from vision.readers.discs.finder import DiscFit, TopPlane
from vision.readers.discs.shape import DiscShape

HALF_SIDE_MM = 22
INSIDE_TOP_MM = 2.6
CLEAR_MM = 0.8
DIRECTIONS = 24
EDGE_MM = 1.4
OFF_OUTLINE_MM = 1.2
NOISE_FLOOR = 0.02
EDGE_FLOORS = np.array([0.06, 0.06, 0.05])
FEWEST_POINTS = 12
FEWEST_DIRECTIONS = 6

_GRID = np.stack(np.meshgrid(*(np.arange(-HALF_SIDE_MM, HALF_SIDE_MM + 1, dtype=np.float64),) * 2), axis=-1)
_TURNS = np.arange(DIRECTIONS) * 2 * np.pi / DIRECTIONS
_WAYS = np.column_stack([np.cos(_TURNS), np.sin(_TURNS)])


@dataclass(frozen=True, eq=False)
class BallEvidence:
    """What is seen where a ball would be.

    ``shaded`` is the standard deviation of brightness that a sphere's smooth shading explains, over that of noise;
    ``edge`` the median contrast of its outline; ``colour`` the median colour inside of it. All 0 where it is hidden.
    """

    shaded: float
    edge: float
    colour: FloatArray

    @property
    def unevenness(self) -> float:
        """How much both together speak of a ball: their product, at least 0.001."""
        return max(self.shaded * self.edge, 1e-3)


def ball_evidence(plane: TopPlane, shape: DiscShape, fit: DiscFit, nearer: BoolImage | None) -> BallEvidence:
    """Look at a disc for what a ball on it would change; ``nearer`` marks what of the plane nearer pieces hide."""
    centre = np.array([fit.x_mm, fit.y_mm])
    points = _GRID + centre
    in_sight = np.ones(points.shape[:-1], dtype=np.bool_) if nearer is None else ~plane.marked(nearer, points)
    top = shape.in_top(points, centre, -INSIDE_TOP_MM) & in_sight
    ball = shape.in_ball(points, centre, -CLEAR_MM / 2) & in_sight
    bare = top & ~shape.in_ball(points, centre, CLEAR_MM)
    on_top = ball & top
    if on_top.sum() < FEWEST_POINTS or bare.sum() < FEWEST_POINTS:
        return BallEvidence(0.0, 0.0, fit.colour)
    colours = plane.at(points).astype(np.float64)
    brightness = colours[..., 2]
    whole = _residual(brightness, points - centre, top, 3)
    apart = _residual(brightness, points - centre, bare, 3), _residual(brightness, points - centre, on_top, 6)
    channels = np.sqrt([_residual(colours[..., channel], points - centre, bare, 3) for channel in range(3)])
    count = int(bare.sum()), int(on_top.sum())
    smooth = (apart[0] * count[0] + apart[1] * count[1]) / sum(count)
    noise = NOISE_FLOOR + np.sqrt(apart[0])
    return BallEvidence(
        float(np.sqrt(max(0.0, whole - smooth)) / noise),
        _edge(plane, shape, centre, channels, nearer),
        np.median(colours[ball], axis=0),
    )


def _residual(values: FloatArray, points: FloatArray, mask: BoolImage, terms: int) -> float:
    """The mean square of what a polynomial of 3 (a plane) or 6 terms leaves of values inside a mask."""
    x, y = points[mask].T / HALF_SIDE_MM
    inputs = np.column_stack([np.ones_like(x), x, y, x * x, y * y, x * y][:terms])
    solution, *_ = np.linalg.lstsq(inputs, values[mask], rcond=None)
    return float(((values[mask] - inputs @ solution) ** 2).mean())


def _edge(plane: TopPlane, shape: DiscShape, centre: FloatArray, noise: FloatArray, nearer: BoolImage | None) -> float:
    """The median contrast across a ball's outline, where it is clear of the disc's own."""
    outline = shape.ball_outline(centre, _WAYS)
    inner, outer = outline - EDGE_MM * _WAYS, outline + EDGE_MM * _WAYS
    over_top = shape.in_top(outer, centre, -OFF_OUTLINE_MM)
    beyond = ~shape.in_disc(inner, centre, OFF_OUTLINE_MM)
    kept = over_top | beyond
    if nearer is not None:
        kept &= ~plane.marked(nearer, outer)
    if kept.sum() < FEWEST_DIRECTIONS:
        return 0.0
    apart = (plane.at(inner[kept]) - plane.at(outer[kept])) / (EDGE_FLOORS + noise)
    return float(np.median(np.sqrt((apart**2).sum(axis=-1))))
