"""Dark quads in a picture: their outlines, and their corners with subpixel accuracy.

Each side is measured as the line where dark changes to light; the corners are the intersections of those lines. This is
unbiased, works under blur, and a half-covered side still gives its line. All sides of all quads are measured together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import BoolArray, FloatArray, FloatImage, Image
from vision.sampling import TONE_CURVE, median, median_where, reduced_to, remapped

SMALLEST_SIDE_PX = 14.0
"""Minimum side, in pixels, of a marker that is searched for where it was, or by its outline. Larger: fewer small ones.
Set by hand on virtual pictures.
"""


@dataclass(frozen=True)
class OutlineSettings:
    """How outlines of dark quads are found. Set by hand on four virtual pictures, shaken or out of focus."""

    windows_px: tuple[int, ...] = (15, 25, 41)
    """Window sides, in pixels of the halved picture, for the local mean that dark pixels are below. More: more
    outlines.
    """
    darker: tuple[int, ...] = (0, 6)
    """Grey levels by which a pixel must be below that mean."""
    most: int = 300
    """Number of outlines, at each threshold, that are looked at: the longest. Higher: slower on foliage and noise."""
    most_pixels: int = 250_000
    """Pixels of the halved picture; a larger one is reduced. Higher: smaller quads in larger pictures, slower."""
    tolerances: tuple[float, ...] = (0.05, 0.1)
    """Approximation tolerances, as shares of the outline's length; the first that leaves four corners is used."""


_OUTLINE_SETTINGS = OutlineSettings()


def dark_quads(grey: Image) -> list[FloatArray]:
    """Return convex quads (4, 2), clockwise in the picture, darker than their surroundings.

    Each is returned as found at half scale and, where its edges are seen, once more with refined corners.
    """
    rough = _rough_quads(grey)
    pairs = zip(rough, refine_quads(grey, rough), strict=True)
    return [quad for pair in pairs for quad in pair if quad is not None]


def _rough_quads(grey: Image) -> list[FloatArray]:
    half = np.asarray(cv2.resize(grey, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    half = reduced_to(half, _OUTLINE_SETTINGS.most_pixels)
    scale = np.array([grey.shape[1] / half.shape[1], grey.shape[0] / half.shape[0]])
    smallest = SMALLEST_SIDE_PX**2 / scale.prod()
    quads = np.empty((0, 4, 2))
    for window_px in _OUTLINE_SETTINGS.windows_px:
        for darker in _OUTLINE_SETTINGS.darker:
            outlines = sorted(dark_outlines(half, window_px, darker), key=len, reverse=True)
            for contour in outlines[: _OUTLINE_SETTINGS.most]:
                hull = cv2.convexHull(contour)
                if cv2.contourArea(hull) < smallest:
                    continue
                for tolerance in _OUTLINE_SETTINGS.tolerances:
                    corners = cv2.approxPolyDP(hull, tolerance * cv2.arcLength(hull, True), True)
                    if len(corners) == 4:
                        quad = (corners.reshape(4, 2).astype(np.float64) + 0.5) * scale - 0.5
                        if not (np.abs(quads - quad) < 1.0).all(axis=(1, 2)).any():
                            fresh = quad if cv2.contourArea(corners, oriented=True) > 0 else quad[::-1]
                            quads = np.concatenate([quads, fresh[None]])
                        break
    return list(quads)


def dark_outlines(grey: Image, window_px: int, darker: float) -> Sequence[npt.NDArray[Any]]:
    """Return the outlines, point by point, of what is ``darker`` than the mean of a window around it."""
    dark = cv2.adaptiveThreshold(grey, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, window_px, darker)
    return cv2.findContours(dark, cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)[0]


def perimeter_of_largest(
    outlines: Sequence[npt.NDArray[Any]], most: int, tolerance: float, shortest_px: float
) -> float:
    """Return the perimeter, in pixels, from which on at most ``most`` outlines are quads; at least ``shortest_px``.

    Quads have four corners within a ``tolerance`` as a share of their length.
    """
    long = [outline for outline in outlines if len(outline) >= shortest_px]
    if len(long) <= most:
        return shortest_px
    quads_px = sorted((len(outline) for outline in long if _is_quad(outline, tolerance)), reverse=True)
    return shortest_px if len(quads_px) <= most else float(quads_px[most] + 1)


def _is_quad(outline: npt.NDArray[Any], tolerance: float) -> bool:
    corners = cv2.approxPolyDP(outline, tolerance * len(outline), True)
    return len(corners) == 4 and cv2.isContourConvex(corners)


@dataclass(frozen=True)
class QuadSettings:
    """How finely the sides of quads are measured. Set by hand on virtual and ray-traced pictures."""

    samples_per_side: int = 24
    """Positions along each side at which the edge is measured. More: less noise, slower."""
    steps_across: int = 25
    """Samples across the edge at each position. More: finer, slower."""
    smallest_side_px: float = 7.0
    """Minimum side, in pixels, of a quad that is refined."""
    reach_px: tuple[float, float] = (1.5, 5.0)
    """Minimum and maximum search distance on both sides of an edge, in pixels. More: handles stronger blur."""
    faintest_edge: float = 1.0
    """Minimum step across an edge, in units of light up to 255. Higher: dim edges are ignored."""
    fewest_points: int = 5
    """Minimum number of positions for fitting a line."""


_SETTINGS = QuadSettings()


def quad_area(corners: FloatArray) -> float:
    """Return the area of a simple quad of shape (4, 2), in square units of its coordinates: half the cross product of
    its diagonals.
    """
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = corners.tolist()
    return float(abs((x2 - x0) * (y3 - y1) - (x3 - x1) * (y2 - y0)) / 2)


def smallest_sides(quads: FloatArray) -> FloatArray:
    """Return the length of the smallest side of each quad (n, 4, 2), shape (n,)."""
    along = quads[:, [1, 2, 3, 0]] - quads
    return np.asarray(np.hypot(along[..., 0], along[..., 1]).min(axis=1), dtype=np.float64)


def grow_quad(corners: FloatArray, by_px: float) -> FloatArray:
    """Move every side of convex quads (..., 4, 2) outwards by that many pixels (inwards when negative)."""
    ahead = corners[..., [1, 2, 3, 0], :] - corners
    ahead = ahead / np.hypot(ahead[..., 0], ahead[..., 1])[..., None]
    behind = ahead[..., [3, 0, 1, 2], :]
    # two neighbouring sides moved by d meet at corner + d * (behind - ahead) / sin(angle between them)
    sine = behind[..., 0] * ahead[..., 1] - behind[..., 1] * ahead[..., 0]
    return np.asarray(corners + by_px * (behind - ahead) / np.abs(sine)[..., None], dtype=np.float64)


def undo_tone_curve(values: npt.NDArray[Any]) -> FloatArray:
    """Undo a camera's usual tone curve: grey values 0 to 255 to linear light 0 to 255, same shape."""
    return np.asarray(255 * (values / 255) ** TONE_CURVE, dtype=np.float64)


def refine_quad(grey: Image, corners_px: FloatArray) -> FloatArray | None:
    """Refine a dark quad's corners from its sides' edges; (4, 2), or ``None`` when a side has no clear edge."""
    return refine_quads(grey, [corners_px])[0]


def refine_quads(grey: Image, quads_px: Sequence[FloatArray]) -> list[FloatArray | None]:
    """Refine several dark quads' corners, each (4, 2); ``None`` for one with a side without a clear edge."""
    refined: list[FloatArray | None] = [None] * len(quads_px)
    quads = np.array(quads_px, dtype=np.float64).reshape(-1, 4, 2)
    large = np.flatnonzero(smallest_sides(quads) >= _SETTINGS.smallest_side_px)
    if not len(large):
        return refined
    quads = quads[large]
    lines, clear = _edge_lines(grey, quads.reshape(-1, 2), quads[:, [1, 2, 3, 0]].reshape(-1, 2), quads)
    lines, clear = lines.reshape(-1, 4, 3), clear.reshape(-1, 4)
    before = lines[:, [3, 0, 1, 2]]
    # two lines a x + b y + c = 0 cross at the cross product of their coefficients
    crossings = np.cross(before, lines)
    apart = crossings[..., 2]
    with np.errstate(divide="ignore", invalid="ignore"):
        corners = crossings[..., :2] / apart[..., None]
    for row, index in enumerate(large):
        quad = quads[row]
        if not clear[row].all() or np.abs(apart[row]).min() < 0.05:
            continue
        if np.abs(corners[row] - quad).max() <= max(2.0, 0.15 * float(np.sqrt(quad_area(quad)))):
            refined[index] = np.asarray(corners[row], dtype=np.float64)
    return refined


def _edge_lines(grey: Image, starts: FloatArray, ends: FloatArray, quads: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Return unit lines (sides, 3), (a, b, c), on dark-to-light edges between corners, and whether each is clear."""
    along = ends - starts
    lengths = np.hypot(along[:, 0], along[:, 1])
    along = along / lengths[:, None]
    outward = np.stack([along[:, 1], -along[:, 0]], axis=1)
    inside = np.repeat(quads.mean(axis=1), 4, axis=0)
    inwards = np.einsum("ni,ni->n", outward, (starts + ends) / 2 - inside) < 0
    outward[inwards] *= -1
    # a marker's module is a sixth of its side; a longer search would reach the code or the border's outer edge
    reach = np.clip(lengths / 9, *_SETTINGS.reach_px)
    steps = reach[:, None] * np.linspace(-1, 1, _SETTINGS.steps_across)
    # the ends are left out because the neighbouring side bends the edge there
    fractions = np.linspace(0.12, 0.88, _SETTINGS.samples_per_side)
    feet = starts[:, None] + fractions[None, :, None] * (ends - starts)[:, None]
    columns, rows = (
        (feet[:, :, None, axis] + steps[:, None] * outward[:, None, None, axis]).reshape(len(starts), -1)
        for axis in range(2)
    )
    seen = remapped(grey, columns.astype(np.float32), rows.astype(np.float32))
    profile = np.asarray(cv2.LUT(seen, _linear_levels()), dtype=np.float32).reshape(
        len(starts), _SETTINGS.samples_per_side, _SETTINGS.steps_across
    )
    slope = np.maximum(profile[..., 1:] - profile[..., :-1], 0)
    middle = (steps[:, :-1] + steps[:, 1:]) / 2
    strength = slope.sum(axis=2)
    clear = strength > np.maximum(_SETTINGS.faintest_edge, 0.4 * median(strength, axis=1)[:, None])
    peak = np.take_along_axis(middle, slope.argmax(axis=2), axis=1)[..., None]
    weight = slope * (np.abs(middle[:, None] - peak) <= np.maximum(1.0, reach / 3)[:, None, None])
    offset = np.einsum("nsk,nk->ns", weight, middle) / np.maximum(weight.sum(axis=2), 1e-9)
    lines, straight = _robust_lines(feet + offset[..., None] * outward[:, None], clear)
    return lines, straight & (clear.sum(axis=1) >= _SETTINGS.samples_per_side // 3)


@cache
def _linear_levels() -> FloatImage:
    """Return the light of the 256 grey levels.

    Blur acts on light, before the camera's tone curve; undoing the curve keeps white from spreading into black.
    """
    return undo_tone_curve(np.arange(256)).astype(np.float32)


def _robust_lines(points: FloatArray, clear: BoolArray) -> tuple[FloatArray, BoolArray]:
    """Fit lines (n, 3) to rows of points (n, m, 2), ignoring outliers; also returns whether each was fitted."""
    kept = clear
    lines, fitted = np.zeros((len(points), 3)), np.ones(len(points), dtype=np.bool_)
    for _ in range(4):
        count = kept.sum(axis=1)
        fitted &= count >= _SETTINGS.fewest_points
        weight = kept / np.maximum(count, 1)[:, None]
        x, y = ((weight * at).sum(axis=1) for at in (points[..., 0], points[..., 1]))
        across, down = points[..., 0] - x[:, None], points[..., 1] - y[:, None]
        both = (weight * across * down).sum(axis=1)
        angle = 0.5 * np.arctan2(2 * both, (weight * (across**2 - down**2)).sum(axis=1))
        sine, cosine = np.sin(angle), np.cos(angle)
        lines = np.column_stack([-sine, cosine, sine * x - cosine * y])
        distance = np.abs(down * cosine[:, None] - across * sine[:, None])
        before, kept = kept, clear & (distance <= np.maximum(0.25, 2.5 * median_where(distance, clear))[:, None])
        if (kept == before).all():
            break
    return lines, fitted
