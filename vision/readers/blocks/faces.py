"""Searching a picture for blocks' top faces, fitting them, and comparing their colours with the known ones.

A face is a square of one colour with a symbol of another. Each symbol's mask is correlated with the picture of the
plane of the tops. Where it fits, the picture's brightness is a linear function of the mask, whose two ends are the
colours of face and ink. The correlation shows whether there is a face at all.

The coarse search works on patches around each place, sampled at a pixel per millimetre and then halved. The fine fit
samples them again, rotated upright, so that one bank of upright masks serves all rotations. The square's edges give the
rotation of a block; each symbol is judged at those rotations. ``fit_face`` does the same for a single face.

The numbers were set by hand on the virtual table's and the ray-traced pictures; ``benchmarks/stress.py`` shows the
effect of a change. Correlations range from -1 to 1.
"""

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import FloatArray, FloatImage, Image, IndexArray
from vision.layout.pieces import Surface
from vision.readers.blocks.appearance import (
    FACE_RIM_MM,
    RATIO_FLOOR,
    BlockAppearance,
    Mask,
    TemplateBank,
    correlations,
    distinct_quarter_turns,
    log_ratio,
    peak_between,
    transformed_mask,
    windows_of,
)
from vision.sampling import PlaneGrid, PlaneWindow, linear_light, sample

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


COARSE_PX_PER_MM, FINE_PX_PER_MM = 0.75, 1.5
"""Scales of the fine fit's two passes, in pixels per millimetre. Higher: more exact centres, but slower."""
COARSE_REACH_PX, FINE_REACH_PX = 2, 1
"""Largest shift tried in each pass, across and down, in pixels of its scale. Larger: slower."""
COARSE_BLURS_PX, FINE_BLURS_PX = (0.6,), (0.75, 2.0)
"""Standard deviations of the masks' blur in each pass, in pixels of its scale. Larger: for pictures out of focus. More:
slower.
"""
TURNS_TRIED, TURNS_KEPT = 4, 2
"""Maximum number of a block's rotations in the first pass, upright included, and in the second. Higher: slower."""
CLEARLY_WORSE = 0.08
"""How far below the best rotation's score, in units of correlation, a rotation may be to get the second pass. Higher:
slower.
"""
LEAST_COARSE_FIT = 0.64
"""Minimum correlation in the first pass. Higher: faster, but dim blocks are missed."""
EDGES_REACH = 0.65
"""Distance from a face's centre, in sides, of the farthest point at which its edges are measured."""
EDGES_RIM_MM = 4
"""Width of the rim around these points that their blur and gradients need."""
HALVED_PX_PER_MM = 0.5
"""Scale of the coarse search, in pixels per millimetre: half that of the patches."""
REACH_PX = 4
"""Distance from its place's centre, across and down, up to which a face is searched for, in pixels of that scale.
Larger: slower.
"""
BLUR_PX = 0.5
"""Standard deviation of the masks' blur, in pixels of that scale. Larger: for pictures out of focus."""


@dataclass(frozen=True, eq=False)
class Patches:
    """Square patches of linear light, (patches, side, side, 3), one pixel per millimetre, +x to the right and +y up.

    ``middles_mm`` are their centres, (patches, 2).
    """

    middles_mm: FloatArray
    light: FloatImage


@dataclass(frozen=True, eq=False)
class RoughFace:
    """A coarse detection of a face near a place: its centre in the world, its correlation (-1 to 1), and the linear
    light of face and ink, blue-green-red.
    """

    place: str
    x_mm: float
    y_mm: float
    fit: float
    face: FloatArray
    ink: FloatArray


def patches_around(image: Image, grid: PlaneGrid, wanted_mm: FloatArray, half_mm: int) -> Patches:
    """Sample the plane of a grid in a picture around some points, (n, 2), to the nearest millimetre; at least one."""
    # patches lie on the grid's own points, so nothing is interpolated twice
    corners = np.round((wanted_mm - [grid.left_mm, grid.far_mm]) * [1, -1] + 0.5).astype(int)
    maps = [grid.around(row, column, half_mm) for column, row in corners.tolist()]
    middles = (corners - 0.5) * [1, -1] + [grid.left_mm, grid.far_mm]
    light = linear_light(sample(image, np.concatenate(maps)))
    return Patches(middles, light.reshape(len(maps), 2 * half_mm, 2 * half_mm, -1))


class RoughFinder:
    """Finds coarse detections of one piece set's faces."""

    def __init__(self, looks: BlockAppearance, face_mm: float) -> None:
        self._bank = TemplateBank.of(looks.masks, face_mm, HALVED_PX_PER_MM, (BLUR_PX,))
        self._weights = view_weights(looks)

    def find(
        self, image: Image, grid: PlaneGrid, surface: Surface, places: Sequence[str], least_fit: float
    ) -> list[RoughFace]:
        """Return the best face at most 8 mm away from each place across and down, if its correlation suffices.

        ``grid`` is the plane of the tops in the picture.
        """
        count, inner = len(places), self._bank.side_px
        if count == 0:
            return []
        # the face's centre may be REACH_PX away from the patch's
        side = inner + 2 * REACH_PX
        half_mm = side + side % 2
        patches = patches_around(image, grid, np.array([surface.centre_mm(place) for place in places]), half_mm)
        halved: FloatImage = np.asarray(
            cv2.resize(stack_vertically(patches.light), (half_mm, count * half_mm), interpolation=cv2.INTER_AREA),
            dtype=np.float32,
        )
        light = halved.reshape(count, half_mm, half_mm, 3)
        views = len(self._weights)
        shown = cv2.transform(halved, self._weights).reshape(count, half_mm, half_mm, views)[:, :side, :side]
        rows = np.ascontiguousarray(shown.transpose(0, 3, 1, 2), dtype=np.float32).reshape(-1, side, side)
        scores = correlations(windows_of(rows, inner), self._bank.rows)
        scores = scores.reshape(count, views, *scores.shape[1:])
        best = scores.reshape(count, -1).argmax(axis=1)
        fits = scores.reshape(count, -1)[np.arange(count), best]
        wheres = np.stack(np.unravel_index(best, scores.shape[1:]), axis=1).tolist()
        found = []
        first_mm = inner / 2 / HALVED_PX_PER_MM - half_mm
        for index, (fit, (view, down, across, template)) in enumerate(zip(fits.tolist(), wheres, strict=True)):
            if fit < least_fit:
                continue
            window = light[index, down : down + inner, across : across + inner]
            face, ink = face_and_ink(window, self._bank.masks[template])
            off_down, off_across = peak_between(scores[index, view, :, :, template], down, across)
            x_mm = float(patches.middles_mm[index, 0] + first_mm + (across + off_across) / HALVED_PX_PER_MM)
            y_mm = float(patches.middles_mm[index, 1] - first_mm - (down + off_down) / HALVED_PX_PER_MM)
            found.append(RoughFace(places[index], x_mm, y_mm, fit, face, ink))
        return found


@dataclass(frozen=True, eq=False)
class _Upright:
    """Detections sampled upright: by row its detection, rotation and view; ``light`` is (rows, side, side, 3)."""

    sight: IndexArray
    degrees: FloatArray
    middles_mm: FloatArray
    light: FloatImage


class CloseFitter:
    """Fits the faces of one piece set at fine scale."""

    def __init__(self, looks: BlockAppearance, face_mm: float) -> None:
        self._looks = looks
        self._face_mm = face_mm
        self._coarse = TemplateBank.of(looks.masks, face_mm, COARSE_PX_PER_MM, COARSE_BLURS_PX)
        self._fine = TemplateBank.of(looks.masks, face_mm, FINE_PX_PER_MM, FINE_BLURS_PX)
        self._columns = {
            blur: {symbol: self._fine.columns_of(symbol, blur) for symbol in looks.masks} for blur in FINE_BLURS_PX
        }
        self._weights = view_weights(looks)
        self._colours = {name: index for index, name in enumerate(looks.colours)}

    def fit(
        self,
        image: Image,
        grid: PlaneGrid,
        sights: Sequence[RoughFace],
        colours: Sequence[str | None],
    ) -> list[FaceFit | None]:
        """Refine each coarse detection; ``None`` where the fine fit finds no face.

        ``grid`` is the plane of the tops in the picture. ``colours`` gives for each detection the known colour in whose
        view ink is searched for.
        """
        if not sights:
            return []
        every = range(len(self._weights))
        views = [every if colour is None else (self._colours[colour],) for colour in colours]
        clarity = self._clarity(image, grid, sights)
        turns = self._rotations_to_try(clarity)
        tried = self._sample_upright(
            image,
            grid,
            [
                (index, degrees, (sight.x_mm, sight.y_mm))
                for index, (sight, allowed) in enumerate(zip(sights, turns, strict=True))
                for degrees in allowed
            ],
            self._coarse,
            COARSE_REACH_PX,
        )
        coarse = self._best_correlations(tried, views, self._coarse).max(axis=-1)
        kept = self._best_rotations(tried, coarse, self._rotation_bonuses(tried, clarity))
        fits: list[FaceFit | None] = [None] * len(sights)
        if kept:
            close = self._sample_upright(image, grid, kept, self._fine, FINE_REACH_PX)
            fine = self._best_correlations(close, views, self._fine)
            bonus = self._rotation_bonuses(close, clarity)
            for index in dict.fromkeys(index for index, _, _ in kept):
                fits[index] = self._best_fit(index, close, fine, bonus, clarity[index])
        return fits

    def _clarity(self, image: Image, grid: PlaneGrid, sights: Sequence[RoughFace]) -> FloatArray:
        """Return the strength of a square's edges at each rotation, relative to the median; shape (sights, turns)."""
        wanted = np.array([(sight.x_mm, sight.y_mm) for sight in sights])
        half_mm = math.ceil(self._face_mm * EDGES_REACH) + EDGES_RIM_MM
        patches = patches_around(image, grid, wanted, half_mm)
        # brightness as seen, not linear light: edges in the shade count as much as edges in the sun
        seen = cv2.sqrt(stack_vertically(patches.light))
        smooth = cv2.GaussianBlur(seen, (0, 0), 0.6)
        all_channels = np.ones((1, 3), dtype=np.float32)
        across = np.asarray(cv2.transform(np.abs(cv2.Sobel(smooth, cv2.CV_32F, 1, 0)), all_channels), dtype=np.float32)
        down = np.asarray(cv2.transform(np.abs(cv2.Sobel(smooth, cv2.CV_32F, 0, 1)), all_channels), dtype=np.float32)
        middles = (wanted - patches.middles_mm) * [1, -1] + half_mm - 0.5
        middles[:, 1] += 2 * half_mm * np.arange(len(sights))
        clarity = edge_clarity(across, down, middles, self._face_mm)
        return relative_clarity(clarity)

    @staticmethod
    def _rotations_to_try(clarity: FloatArray) -> list[list[float]]:
        """Return the rotations of each detection to try: upright, and those with the strongest edges."""
        allowed = np.where(np.abs(TURNS_DEG) <= LARGEST_TURN_DEG, clarity, -np.inf)
        strongest = np.argsort(-allowed, axis=1, kind="stable")[:, : TURNS_TRIED - 1]
        return [sorted({0.0, *(TURNS_DEG[index] for index in row)}) for row in strongest.tolist()]

    @staticmethod
    def _rotation_bonuses(turned: _Upright, clarity: FloatArray) -> FloatArray:
        """Return the score added to each row for the edges at its rotation, less a penalty for not being upright."""
        columns = [TURNS_DEG.index(degrees) for degrees in turned.degrees]
        seen = np.log(clarity[turned.sight, columns])
        return np.asarray(EDGE_WEIGHT * seen - UPRIGHT_WEIGHT * np.abs(turned.degrees), dtype=np.float64)

    def _sample_upright(
        self,
        image: Image,
        grid: PlaneGrid,
        wanted: Sequence[tuple[int, float, tuple[float, float]]],
        bank: TemplateBank,
        reach_px: int,
    ) -> _Upright:
        """Sample patches of (detection, rotation, centre) so that a face with that rotation is upright."""
        sight = np.array([index for index, _, _ in wanted], dtype=np.intp)
        degrees = np.array([turn for _, turn, _ in wanted], dtype=np.float64)
        middles = np.array([middle for _, _, middle in wanted], dtype=np.float64).reshape(-1, 2)
        side = bank.side_px + 2 * reach_px
        steps = (np.arange(side, dtype=np.float32) - np.float32((side - 1) / 2)) / np.float32(bank.px_per_mm)
        cosine, sine = (
            np.asarray(part(np.deg2rad(degrees)), dtype=np.float32)[:, None, None] for part in (np.cos, np.sin)
        )
        right, up = steps[None, None, :], -steps[None, :, None]
        x = middles[:, 0].astype(np.float32)[:, None, None] + right * cosine - up * sine
        y = middles[:, 1].astype(np.float32)[:, None, None] + right * sine + up * cosine
        seen = sample(image, grid.pixel_map(x.reshape(-1, side), y.reshape(-1, side)))
        light = linear_light(seen)
        return _Upright(sight, degrees, middles, light.reshape(len(wanted), side, side, 3))

    def _best_correlations(self, turned: _Upright, views: Sequence[Sequence[int]], bank: TemplateBank) -> FloatImage:
        """Return the best correlation over each detection's views: shape (rows, down, across, templates)."""
        rows, side = turned.light.shape[:2]
        shown = cv2.transform(stack_vertically(turned.light), self._weights).reshape(
            rows, side, side, len(self._weights)
        )
        found: list[FloatImage] = []
        for number in range(max(len(views[index]) for index in turned.sight)):
            chosen = [views[index][min(number, len(views[index]) - 1)] for index in turned.sight]
            seen = np.asarray(shown[np.arange(rows), :, :, chosen], dtype=np.float32)
            found.append(correlations(windows_of(seen, bank.side_px), bank.rows))
        return functools.reduce(np.maximum, found)

    @staticmethod
    def _best_rotations(
        tried: _Upright, coarse: FloatImage, bonus: FloatArray
    ) -> list[tuple[int, float, tuple[float, float]]]:
        """Return the best rotations of each detection, each with its best centre."""
        rows, _, columns = coarse.shape
        flat = coarse.reshape(rows, -1)
        best = flat.argmax(axis=1)
        judged = flat[np.arange(rows), best] + bonus
        kept = []
        for index in range(int(tried.sight.max()) + 1):
            own = np.nonzero(tried.sight == index)[0]
            if flat[own, best[own]].max() < LEAST_COARSE_FIT:
                continue
            ranked = own[np.argsort(-judged[own])]
            for row in ranked[:TURNS_KEPT]:
                if judged[row] < judged[ranked[0]] - CLEARLY_WORSE:
                    break
                down, across = divmod(int(best[row]), columns)
                kept.append(
                    (
                        index,
                        float(tried.degrees[row]),
                        _window_centre_mm(tried, int(row), down, across, COARSE_REACH_PX, COARSE_PX_PER_MM),
                    )
                )
        return kept

    def _best_fit(
        self, index: int, close: _Upright, fine: FloatImage, bonus: FloatArray, clarity: FloatArray
    ) -> FaceFit:
        own = np.nonzero(close.sight == index)[0]
        judged = fine[own] + bonus[own, None, None, None].astype(np.float32)
        at, down, across, template = np.unravel_index(int(judged.argmax()), judged.shape)
        # all symbols in one picture are equally out of focus
        by_template = judged.reshape(-1, judged.shape[-1]).max(axis=0).tolist()
        columns_of = self._columns[self._fine.blurs_px[template]]
        scores = {symbol: max(by_template[column] for column in columns) for symbol, columns in columns_of.items()}
        row = int(own[at])
        side = self._fine.side_px
        window = close.light[row, down : down + side, across : across + side]
        face, ink = face_and_ink(window, self._fine.masks[template])
        x_mm, y_mm = _window_centre_mm(close, row, int(down), int(across), FINE_REACH_PX, FINE_PX_PER_MM)
        degrees = float(close.degrees[row])
        return FaceFit(
            self._fine.symbols[template],
            self._fine.quarters[template],
            x_mm,
            y_mm,
            degrees,
            float(fine[row, down, across, template]),
            face,
            ink,
            scores,
            float(clarity[TURNS_DEG.index(degrees)]),
        )


def _window_centre_mm(
    turned: _Upright, row: int, down: int, across: int, reach_px: int, px_per_mm: float
) -> tuple[float, float]:
    """Return the world position of the centre of a window at an offset in pixels from its patch's centre."""
    right, up = (across - reach_px) / px_per_mm, (reach_px - down) / px_per_mm
    angle = math.radians(turned.degrees[row])
    cosine, sine = math.cos(angle), math.sin(angle)
    x, y = turned.middles_mm[row].tolist()
    return x + right * cosine - up * sine, y + right * sine + up * cosine


def stack_vertically(patches: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Stack patches (n, rows, columns, ...) vertically into one picture."""
    return patches.reshape(patches.shape[0] * patches.shape[1], *patches.shape[2:])
