"""Fitting one block's top face, and comparing its colour with the known ones.

A face is a square of one colour with a symbol of another. Each symbol's mask is correlated with the picture of the
plane of the tops. Where it fits, the picture's brightness is a linear function of the mask, whose two ends are the
colours of face and ink. The correlation shows whether there is a face at all.

The numbers were set by hand on the virtual table's and the ray-traced pictures; ``benchmarks/stress.py`` shows the
effect of a change.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import FloatArray, FloatImage
from vision.readers.blocks.appearance import RATIO_FLOOR, BlockAppearance, log_ratio
from vision.readers.blocks.symbols import FACE_RIM_MM, Mask, distinct_quarter_turns, transformed_mask
from vision.sampling import PlaneWindow, sample

TURNS_DEG = tuple(float(degrees) for degrees in range(-45, 45, 3))
"""Rotations of a block at which a square's edges are measured, counter-clockwise."""
LARGEST_TURN_DEG = 33.0
"""Largest of them, either way, at which symbols are compared. Larger: blocks turned further can be read."""
BLUR_MM = 0.5
"""Standard deviation of the masks' blur. Larger: for pictures out of focus."""
SEARCH_MM = 3.0
"""Distance, across and down, up to which a face's centre is searched for. Larger: slower."""
FAINTEST_EDGE = 1e-3
"""Gradient added to that of edges before they are compared, about a hundredth of a grey level per pixel: less is
rounding. Higher: edges in the dark count less. Set by hand on saturated blocks.
"""
EDGE_WEIGHT = 0.06
"""Score gained, in units of correlation, each time a rotation's edges are stronger by a factor of e. Higher: the edges
count more, and the symbol less.
"""
UPRIGHT_WEIGHT = 0.0006
"""Score lost, in units of correlation, for each degree of rotation. Higher: blocks are read as upright more often."""
GLOSS = np.array([-0.03, -0.015, 0.0, 0.015, 0.03, 0.05, 0.08, 0.12, 0.17, 0.23, 0.3])
"""Light of a reflection that is added to a known colour's face and ink for comparison, relative to the brighter of
them. It is below 0 for a colour learned under gloss. Wider: stronger reflections can match.
"""
GLOSS_SPREAD = 0.12
"""Standard deviation of that light. Larger: glossy faces match better, but colours are distinguished less reliably."""

CONTRASTS = np.array([1.0, 1.2, 1.45, 1.75, 2.1])
"""Factors of a known colour's log ratio for comparison, since cameras that sharpen or brighten the colours also stretch
the contrast between face and ink. Wider: such pictures can match.
"""
CONTRAST_SPREAD = 0.3
"""Standard deviation of such a factor's logarithm. Larger: pictures of such cameras match better, but colours are
distinguished less reliably. Set by hand on ray-traced pictures under all effects of ``benchmarks/photoreal.py``.
"""


@dataclass(frozen=True)
class FaceFit:
    """A fit of a top face.

    ``x_mm`` and ``y_mm`` are the face's centre in the world, ``turned_deg`` the block's rotation counter-clockwise (-45
    to 45), ``quarter`` the number of further quarter turns of the symbol. ``correlation`` is that of picture and mask
    (-1 to 1, positive when the ink is brighter), ``face`` and ``ink`` are linear light (blue, green, red), ``scores``
    the best correlation of each symbol, ``edges`` the strength of the square's four edges relative to other rotations
    (1: none).
    """

    symbol: str
    quarter: int
    x_mm: float
    y_mm: float
    turned_deg: float
    correlation: float
    face: FloatArray
    ink: FloatArray
    scores: Mapping[str, float]
    edges: float

    @property
    def ratio(self) -> FloatArray:
        """Log of face over ink, shape (3,), blue-green-red."""
        return log_ratio(self.face, self.ink)


@dataclass(frozen=True, eq=False)
class FaceTemplate:
    """A mask prepared for correlation: its symbol, quarter turn, and the mask without its rim."""

    symbol: str
    quarter: int
    mask: Mask


class FaceFinder:
    """Finds faces of one piece set at one scale (pixels per millimetre)."""

    def __init__(self, looks: BlockAppearance, side_mm: float, px_per_mm: float) -> None:
        self.looks = looks
        self.side_mm = side_mm
        self.px_per_mm = px_per_mm
        self._side_px = round(side_mm * px_per_mm)
        self._rim_px = round(FACE_RIM_MM * px_per_mm)
        self._upright = [
            (symbol, quarter, np.ascontiguousarray(np.rot90(small, quarter), dtype=np.float32))
            for symbol, mask in looks.masks.items()
            for small in [cv2.resize(mask, (self._side_px, self._side_px), interpolation=cv2.INTER_AREA)]
            for quarter in distinct_quarter_turns(mask)
        ]

    def templates(self, degrees: float) -> list[FaceTemplate]:
        """Return the masks of all symbols and distinct quarter turns, rotated and blurred."""
        templates = []
        for symbol, quarter, mask in self._upright:
            turned = transformed_mask(mask, degrees) if degrees else mask
            blurred = np.asarray(cv2.GaussianBlur(turned, (0, 0), BLUR_MM * self.px_per_mm), dtype=np.float32)
            rim = self._rim_px
            templates.append(FaceTemplate(symbol, quarter, np.ascontiguousarray(blurred[rim:-rim, rim:-rim])))
        return templates


def view_weights(looks: BlockAppearance) -> npt.NDArray[np.float32]:
    """Return weights of blue, green and red for one-channel views in which ink contrasts with each face colour, (views,
    3).

    Without known colours they are the three channels, their mean, and the negatives of these for dark ink.
    """
    if not looks.colours:
        bright = np.vstack([np.eye(3), np.full((1, 3), 1 / 3)])
        return np.vstack([bright, -bright]).astype(np.float32)
    weights = [1 - np.exp(ratio) for ratio in looks.colours.values()]
    scaled = [weight / max(float(np.abs(weight).sum()), 1e-6) for weight in weights]
    return np.asarray(scaled, dtype=np.float32)


def contrast_views(window: FloatImage, looks: BlockAppearance) -> list[FloatImage]:
    """Return the one-channel views of a linear-light window, by ``view_weights``."""
    return [np.asarray(window @ weight, dtype=np.float32) for weight in view_weights(looks)]


def face_and_ink(patch: FloatImage, mask: Mask) -> tuple[FloatArray, FloatArray]:
    """Return the least-squares fit of picture = face + mask x (ink - face), per channel: face and ink, shapes (3,)."""
    amount = mask.reshape(-1)
    values = patch.reshape(-1, 3)
    # NumPy's means take many times as long
    mean = cv2.mean(amount)[0]
    centred = amount - np.float32(mean)
    slope = (centred @ values).astype(np.float64) / max(float(centred @ centred), 1e-9)
    face = np.array(cv2.mean(values[:, None])[:3]) - slope * mean
    return np.maximum(face, 0.0), np.maximum(face + slope, 0.0)


def relative_clarity(clarity: FloatArray) -> FloatArray:
    """Return edges' strengths (n, turns) relative to the median rotation's; 1 where there is no edge at all."""
    return np.asarray((clarity + FAINTEST_EDGE) / (np.median(clarity, axis=1, keepdims=True) + FAINTEST_EDGE))


def edge_clarity(
    gradient_x: FloatImage,
    gradient_y: FloatImage,
    middles_px: FloatArray,
    side_px: float,
) -> FloatArray:
    """Return the gradient across the four edges of squares with centres (n, 2) in a picture, for each of
    ``TURNS_DEG``; (n, turns).
    """
    points, normals = _turned_edges(side_px)
    # added in rows of many numbers, which is several times faster than in pairs
    at = points.reshape(len(points), -1) + np.tile(middles_px.astype(np.float32), points.shape[1])[:, None]
    flat = at.reshape(-1, *points.shape[1:])
    right, down = (sample(one, flat).reshape(len(middles_px), len(points), 4, -1) for one in (gradient_x, gradient_y))
    edges = np.abs(right * normals[..., 0] + down * normals[..., 1])
    middle = edges.shape[3] // 2
    strengths = np.partition(edges, middle, axis=3)[..., middle]
    # the two edges towards the camera are often faint (same colour below), so the best three of four count
    return np.asarray(np.sort(strengths, axis=2)[..., 1:].mean(axis=2), dtype=np.float64)


@functools.lru_cache(maxsize=4)
def _turned_edges(side_px: float) -> tuple[FloatImage, FloatImage]:
    """Return points on the four edges of a square around the origin at each rotation, (turns, points, 2), edge by
    edge, and the directions across the edges, (turns, 4, 1, 2).
    """
    along = np.linspace(-0.4, 0.4, 25) * side_px
    half = side_px / 2
    points = np.concatenate(
        [np.column_stack([along, np.full_like(along, edge)]) for edge in (-half, half)]
        + [np.column_stack([np.full_like(along, edge), along]) for edge in (-half, half)]
    )
    normals = np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    angles = -np.deg2rad(TURNS_DEG)
    turns = np.stack([[np.cos(angles), np.sin(angles)], [-np.sin(angles), np.cos(angles)]]).transpose(2, 0, 1)
    return (points @ turns).astype(np.float32), (normals @ turns).astype(np.float32)[:, :, None]


def rough_centre(
    finder: FaceFinder, picture: FloatImage, middle_px: tuple[float, float], reach_px: float
) -> tuple[float, float]:
    """Return the centre (column, row) of the face near a place that correlates best with an upright mask.

    ``picture`` is linear light at the finder's scale; ``reach_px`` is the maximum distance of the face's centre, across
    and down, from ``middle_px``.
    """
    templates = finder.templates(0.0)
    half = (len(templates[0].mask) - 1) / 2
    views = contrast_views(picture, finder.looks)
    fits = [cv2.matchTemplate(view, template.mask, cv2.TM_CCOEFF_NORMED) for template in templates for view in views]
    left, top = (max(0, round(at - half - reach_px)) for at in middle_px)
    right, bottom = (round(at - half + reach_px) + 1 for at in middle_px)
    near = np.max(fits, axis=0)[top:bottom, left:right]
    row, column = np.unravel_index(int(near.argmax()), near.shape)
    return left + int(column) + half, top + int(row) + half


def fit_face(finder: FaceFinder, picture: FloatImage, window: PlaneWindow, middle_mm: tuple[float, float]) -> FaceFit:
    """Fit the face whose centre is within a few millimetres of ``middle_mm``.

    ``picture`` is linear light sampled through ``window`` at the finder's scale; beyond it its border repeats. The
    square's edges give the block's rotation; each symbol is then judged at that rotation, so that a cross is
    distinguished from an x.
    """
    scale = finder.px_per_mm
    reach = finder.side_mm * 0.72 + SEARCH_MM
    column, row = window.to_pixels(*middle_mm)
    left, top = round(column - reach * scale), round(row - reach * scale)
    size = round(2 * reach * scale)
    rows, columns = (
        np.clip(np.arange(first, first + size), 0, length - 1)
        for first, length in zip((top, left), picture.shape[:2], strict=True)
    )
    patch = np.ascontiguousarray(picture[np.ix_(rows, columns)])
    side_px = finder.side_mm * scale

    # brightness as seen, not linear light: edges in the shade count as much as edges in the sun
    seen = np.sqrt(np.clip(patch, 0.0, 1.0))
    smooth = cv2.GaussianBlur(seen, (0, 0), 0.6 * scale)
    gradient_x = np.asarray(np.abs(cv2.Sobel(smooth, cv2.CV_32F, 1, 0)).sum(axis=2), dtype=np.float32)
    gradient_y = np.asarray(np.abs(cv2.Sobel(smooth, cv2.CV_32F, 0, 1)).sum(axis=2), dtype=np.float32)
    middle = (column - left, row - top)
    relative = relative_clarity(edge_clarity(gradient_x, gradient_y, np.array([middle]), side_px))[0]
    by_turn = dict(zip(TURNS_DEG, relative, strict=True))
    allowed = [degrees for degrees in TURNS_DEG if abs(degrees) <= LARGEST_TURN_DEG]
    ranked = sorted(allowed, key=lambda degrees: -by_turn[degrees])
    turns = sorted({0.0, *ranked[:3]})

    views = contrast_views(patch, finder.looks)
    margin = round(SEARCH_MM * scale)
    fits: list[tuple[float, float, float, FaceTemplate, int, int]] = []
    scores: dict[str, float] = {}
    for degrees in turns:
        bonus = EDGE_WEIGHT * float(np.log(by_turn[degrees])) - UPRIGHT_WEIGHT * abs(degrees)
        for template in finder.templates(degrees):
            half = (len(template.mask) - 1) / 2
            first_column, first_row = (round(at - half) - margin for at in middle)
            span = len(template.mask) + 2 * margin
            for view in views:
                near = view[first_row : first_row + span, first_column : first_column + span]
                _, fit, _, (dx, dy) = cv2.minMaxLoc(cv2.matchTemplate(near, template.mask, cv2.TM_CCOEFF_NORMED))
                scores[template.symbol] = max(scores.get(template.symbol, -1.0), fit + bonus)
                fits.append((fit + bonus, fit, degrees, template, first_column + dx, first_row + dy))
    _, fit, degrees, template, found_left, found_top = max(fits, key=lambda one: one[0])
    length = len(template.mask)
    face, ink = face_and_ink(patch[found_top : found_top + length, found_left : found_left + length], template.mask)
    x_mm, y_mm = window.to_mm(left + found_left + (length - 1) / 2, top + found_top + (length - 1) / 2)
    return FaceFit(template.symbol, template.quarter, x_mm, y_mm, degrees, fit, face, ink, scores, by_turn[degrees])


class ColourMetric:
    """Distance of a face's colour from each known one, in standard deviations of ``spread`` (log units).

    Gloss adds the lamp's own light to all channels, most visibly on dark faces (the dichromatic reflection model,
    Shafer 1985). Some cameras stretch the contrast. Each colour is also compared with some gloss added or removed, and
    with more contrast, at a cost.
    """

    def __init__(self, colours: Mapping[str, FloatArray], spread: float) -> None:
        self._spread = spread
        self._names = tuple(colours)
        variants = [[_glossy(factor * known) for factor in CONTRASTS] for known in colours.values()]
        self._variants = np.array(variants).reshape(-1, len(CONTRASTS) * len(GLOSS), 3)
        contrast_price = (np.log(CONTRASTS) / CONTRAST_SPREAD) ** 2
        self._price = (contrast_price[:, None] + (GLOSS / GLOSS_SPREAD) ** 2).ravel()

    def distances(self, face: FloatArray, ink: FloatArray) -> dict[str, float]:
        """Return the distance of linear-light ``face`` and ``ink``, each (3,), from each colour."""
        off = (log_ratio(face, ink) - self._variants) / self._spread
        least = np.sqrt(((off * off).mean(axis=2) + self._price).min(axis=1))
        return dict(zip(self._names, least.tolist(), strict=True))


def _glossy(known: FloatArray) -> FloatArray:
    """Return log ratios of a colour with each amount of gloss, shape (amounts, 3)."""
    # the brighter of face and ink is 1 in each channel; undo log_ratio's floor for the darker
    darker = np.clip((1 + RATIO_FLOOR) * np.exp(-np.abs(known)) - RATIO_FLOOR, 0.0, 1.0)
    face, ink = np.where(known > 0, 1.0, darker), np.where(known > 0, darker, 1.0)
    return log_ratio(np.maximum(face + GLOSS[:, None], 0.0), np.maximum(ink + GLOSS[:, None], 0.0))
