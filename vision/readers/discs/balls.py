"""Whether a disc carries a ball: what a sphere's shading, outline and colour would change of what is seen of the disc.

A disc's top is even. A ball on it is lit from one side, has an outline, and reaches beyond the disc where it is seen
from the side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vision.frame import BoolImage, FloatArray
from vision.readers.discs.finder import DiscFit, TopPlane
from vision.readers.discs.shape import DiscShape, beyond_mm

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

_GRID = np.stack(np.meshgrid(*(np.arange(-HALF_SIDE_MM, HALF_SIDE_MM + 1, dtype=np.float64),) * 2), axis=-1).reshape(
    -1, 2
)
_TURNS = np.arange(DIRECTIONS) * 2 * np.pi / DIRECTIONS
_WAYS = np.column_stack([np.cos(_TURNS), np.sin(_TURNS)])


@dataclass(frozen=True, eq=False)
class BallEvidence:
    """What is seen where a ball would be.

    ``shaded`` is the standard deviation of brightness that a sphere's smooth shading explains, over that of noise;
    ``edge`` the median contrast of its outline; ``colour`` the median colour inside of it. All 0 where it is hidden.
    ``top`` are the colours of the whole disc's top and of what lies on it, (n, 3).
    """

    shaded: float
    edge: float
    colour: FloatArray
    top: FloatArray

    @property
    def unevenness(self) -> float:
        """How much both together speak of a ball: their product, at least 0.001."""
        return max(self.shaded * self.edge, 1e-3)


def ball_evidence(plane: TopPlane, shape: DiscShape, fit: DiscFit, nearer: BoolImage | None) -> BallEvidence:
    """Look at a disc for what a ball on it would change; ``nearer`` marks what of the plane nearer pieces hide."""
    centre = fit.centre_mm
    points = _GRID[(_GRID**2).sum(axis=-1) < (shape.radius_mm - INSIDE_TOP_MM) ** 2] + centre
    if nearer is not None:
        points = points[~plane.marked(nearer, points)]
    beyond = beyond_mm(points, shape.ball_circles(centre))
    on_top, bare = beyond < -CLEAR_MM / 2, beyond > CLEAR_MM
    if on_top.sum() < FEWEST_POINTS or bare.sum() < FEWEST_POINTS:
        return BallEvidence(0.0, 0.0, fit.colour, np.empty((0, 3)))
    colours = plane.at(points).astype(np.float64)
    places = (points - centre) / shape.radius_mm
    brightness = colours[:, 2:]
    whole = _residual(brightness, places, 3)[0]
    apart = _residual(colours[bare], places[bare], 3)
    of_ball = _residual(brightness[on_top], places[on_top], 6)[0]
    count = int(bare.sum()), int(on_top.sum())
    smooth = (apart[2] * count[0] + of_ball * count[1]) / sum(count)
    noise = np.sqrt(apart)
    return BallEvidence(
        float(np.sqrt(max(0.0, whole - smooth)) / (NOISE_FLOOR + noise[2])),
        _edge(plane, shape, centre, noise, nearer),
        np.median(colours[on_top], axis=0),
        colours,
    )


def _residual(values: FloatArray, places: FloatArray, terms: int) -> FloatArray:
    """The mean square, for each column, of what a polynomial of 3 (a plane) or 6 terms leaves of values."""
    x, y = places.T
    inputs = np.column_stack([np.ones_like(x), x, y, x * x, y * y, x * y][:terms])
    # a touch of ridge keeps the normal equations solvable where few points are left
    solution = np.linalg.solve(inputs.T @ inputs + 1e-6 * np.eye(terms), inputs.T @ values)
    return np.asarray(((values - inputs @ solution) ** 2).mean(axis=0), dtype=np.float64)


def _edge(plane: TopPlane, shape: DiscShape, centre: FloatArray, noise: FloatArray, nearer: BoolImage | None) -> float:
    """The median contrast across a ball's outline, where it is clear of the disc's own."""
    outline = shape.ball_outline(centre, _WAYS)
    inner, outer = outline - EDGE_MM * _WAYS, outline + EDGE_MM * _WAYS
    over_top = ((outer - centre) ** 2).sum(axis=-1) < (shape.radius_mm - OFF_OUTLINE_MM) ** 2
    kept = over_top | (beyond_mm(inner, shape.disc_circles(centre)) > OFF_OUTLINE_MM)
    if nearer is not None:
        kept &= ~plane.marked(nearer, outer)
    if kept.sum() < FEWEST_DIRECTIONS:
        return 0.0
    apart = (plane.at(inner[kept]) - plane.at(outer[kept])) / (EDGE_FLOORS + noise)
    return float(np.median(np.sqrt((apart**2).sum(axis=-1))))
