"""Detecting a ball on a disc by its shading, outline and colour.

A disc's top is uniform. A ball on it is lit from one side, has an outline, and extends beyond the disc when seen at an
angle.

The numbers were set by hand on the ray-traced pictures; ``benchmarks/stress.py --of diaballik`` shows the effect of a
change.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vision.frame import BoolImage, FloatArray
from vision.geometry import unit_circle
from vision.readers.discs.finder import Circles, DiscFit, DiscShape, TopPlane, beyond_mm
from vision.sampling import median, median_where

INSIDE_TOP_MM = 2.6
"""Rim of the top that is left out. Larger: an inexact centre matters less, and fewer points are left."""
CLEAR_MM = 0.8
"""Distance outside a ball's outline from which a point shows the bare top. From half this distance inside, it shows the
ball. Larger: fewer points count as either.
"""
DIRECTIONS = 24
"""Number of points of a ball's outline. Higher: slower."""
EDGE_MM = 1.4
"""Distance inside and outside a ball's outline at which colours are compared. Larger: more is left out close to the
disc's outline.
"""
OFF_OUTLINE_MM = 1.2
"""Distance from the disc's outline within which colours are not compared. Larger: more is left out."""
NOISE_FLOOR = 0.02
"""Added to the noise of brightness, in log units, before shading is divided by it. Higher: shading counts less."""
EDGE_FLOORS = np.array([0.06, 0.06, 0.05])
"""Added to the noise of a colour's three terms, in log units, before contrast is divided by it. Higher: the outline
counts less.
"""
MIDDLE_SHARE = 0.6
"""Radius of the disc's middle in which shading is measured, as a share of the ball's. Larger: less noise, but a coin's
rim counts as shading sooner.
"""
FEWEST_POINTS = 12
"""Minimum number of visible points on the ball, and on the bare top. Higher: more discs without evidence of a ball."""
FEWEST_DIRECTIONS = 6
"""Minimum number of points of the outline that count. Higher: more discs without evidence of a ball."""

_WAYS = unit_circle(DIRECTIONS)


@dataclass(frozen=True, eq=False)
class BallEvidence:
    """Evidence of a ball on a disc.

    ``shaded`` is the standard deviation of brightness explained by a sphere's smooth shading, over that of noise.
    ``edge`` is the median contrast of its outline, ``colour`` the median colour inside it. ``top`` are the colours of
    the whole disc's top and of what lies on it, (n, 3). ``rounded`` is the standard deviation of brightness, in log
    units, that smooth shading explains in the disc's middle: nearly 0 on anything flat, infinite where that is hidden.
    If too little of the ball or of the bare top is seen, ``shaded`` and ``edge`` are 0, ``colour`` is the disc's, and
    ``top`` is empty.
    """

    shaded: float
    edge: float
    colour: FloatArray
    top: FloatArray
    rounded: float = math.inf

    @property
    def is_seen(self) -> bool:
        """Whether enough of the ball and of the bare top is seen to tell one from the other."""
        return len(self.top) > 0

    @property
    def unevenness(self) -> float:
        """Combined evidence of a ball: the product of shading and edge, at least 0.001."""
        return max(self.shaded * self.edge, 1e-3)


def ball_evidence(
    plane: TopPlane, shape: DiscShape, fits: Sequence[DiscFit], nearer: BoolImage | None
) -> list[BallEvidence]:
    """Measure the evidence of a ball on each disc; ``nearer`` marks pixels of the plane hidden by nearer pieces."""
    if not fits:
        return []
    centres = np.array([fit.centre_mm for fit in fits])
    within = _points_on_top(shape)
    points = centres[:, None] + within
    seen = np.ones(points.shape[:2], dtype=np.bool_) if nearer is None else ~plane.mask_at(nearer, points)
    beyond = beyond_mm(points, _broadcast_circles(shape.ball_circles(centres)))
    on_top, bare = seen & (beyond < -CLEAR_MM / 2), seen & (beyond > CLEAR_MM)
    tops, bares = on_top.sum(axis=1), bare.sum(axis=1)
    is_seen = (tops >= FEWEST_POINTS) & (bares >= FEWEST_POINTS)
    colours = plane.at(points).astype(np.float64)
    terms = _terms(within / shape.radius_mm)
    whole = _residuals(colours[..., 2:], seen, terms[:, :3])[:, 0]
    apart = _residuals(colours, bare, terms[:, :3])
    of_ball = _residuals(colours[..., 2:], on_top, terms)[:, 0]
    smooth = (apart[:, 2] * bares + of_ball * tops) / np.maximum(tops + bares, 1)
    noise = np.sqrt(apart)
    shaded = np.sqrt(np.maximum(0.0, whole - smooth)) / (NOISE_FLOOR + noise[:, 2])
    edges = _edges(plane, shape, centres, noise, nearer)
    middle = seen & ((within**2).sum(axis=-1) < (MIDDLE_SHARE * shape.pieces.ball_mm / 2) ** 2)
    flat, curved = (_residuals(colours[..., 2:], middle, terms[:, :count])[:, 0] for count in (1, 6))
    rounded = np.where(middle.sum(axis=1) < FEWEST_POINTS, np.inf, np.sqrt(np.maximum(0.0, flat - curved)))
    return [
        BallEvidence(
            float(shaded[index]),
            float(edges[index]),
            median(colours[index, on_top[index]]),
            colours[index, seen[index]],
            float(rounded[index]),
        )
        if is_seen[index]
        else BallEvidence(0.0, 0.0, fit.colour, np.empty((0, 3)))
        for index, fit in enumerate(fits)
    ]


def _points_on_top(shape: DiscShape) -> FloatArray:
    """Return the points, 1 mm apart, at which a top is sampled, relative to its centre, (n, 2)."""
    half = math.ceil(shape.radius_mm)
    along = np.arange(-half, half + 1, dtype=np.float64)
    grid = np.stack(np.meshgrid(along, along), axis=-1).reshape(-1, 2)
    return np.asarray(grid[(grid**2).sum(axis=-1) < (shape.radius_mm - INSIDE_TOP_MM) ** 2])


def _broadcast_circles(circles: Circles) -> Circles:
    """Return circles of each disc, shaped to broadcast with several points of each."""
    middles, radii = circles
    return middles[:, None], radii


def _terms(places: FloatArray) -> FloatArray:
    """Return terms up to second order, linear ones first, (n, 6), at places (n, 2)."""
    x, y = places.T
    return np.column_stack([np.ones_like(x), x, y, x * x, y * y, x * y])


def _residuals(values: FloatArray, chosen: BoolImage, terms: FloatArray) -> FloatArray:
    """Return the mean squared residual of a polynomial fitted to the chosen values of each disc, (discs, columns).

    ``values`` is (discs, n, columns), of which ``chosen`` (discs, n) count; ``terms`` (n, k) are those of the
    polynomial.
    """
    weights = chosen[:, None].astype(np.float64)
    # removing the mean first loses little to rounding
    values = values - values.mean(axis=1, keepdims=True)
    count = terms.shape[1]
    # a small ridge term keeps the normal equations solvable when few points are left
    normal = (weights * terms.T) @ terms
    right = (weights * terms.T) @ values
    solution = np.linalg.solve(normal + 1e-6 * np.eye(count), right)
    squares = (weights @ (values * values))[:, 0]
    left = squares + (solution * (normal @ solution - 2 * right)).sum(axis=1)
    return np.asarray(np.maximum(left, 0.0) / np.maximum(chosen.sum(axis=1), 1)[:, None])


def _edges(
    plane: TopPlane, shape: DiscShape, centres: FloatArray, noise: FloatArray, nearer: BoolImage | None
) -> FloatArray:
    """Return the median contrast across each ball's outline, where it is clear of the disc's own, (discs,)."""
    outline = shape.ball_outline(centres, _WAYS)
    inner, outer = outline - EDGE_MM * _WAYS, outline + EDGE_MM * _WAYS
    over_top = ((outer - centres[:, None]) ** 2).sum(axis=-1) < (shape.radius_mm - OFF_OUTLINE_MM) ** 2
    kept = over_top | (beyond_mm(inner, _broadcast_circles(shape.disc_circles(centres))) > OFF_OUTLINE_MM)
    if nearer is not None:
        kept &= ~plane.mask_at(nearer, outer)
    apart = (plane.at(inner) - plane.at(outer)) / (EDGE_FLOORS + noise)[:, None]
    contrast = median_where(np.sqrt((apart**2).sum(axis=-1)), kept)
    return np.where(kept.sum(axis=1) >= FEWEST_DIRECTIONS, contrast, 0.0)
