"""Detecting fiducial markers: their ids, and their corners with subpixel accuracy.

The detector is OpenCV's ArUco. Its corners follow a thresholded outline; ``refine_quads`` refines them on the grey
values. A marker seen before is only searched for where it was, which takes a tenth of the time.

To refine a dark quad's corners, each side is measured as the line where dark changes to light; the corners are the
intersections of those lines. This is unbiased, works under blur, and a half-covered side still gives its line. All
sides of all quads are measured together.

Markers too blurred to be decoded are dark quads that show something similar to the known codes.

Where outlines fail in blur, shake and dim light, the picture around a marker's expected position is rectified and
compared with the marker's pattern at several amounts of blur (``MarkerPatterns``). The comparison is independent of
brightness and contrast.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, cached_property
from typing import Any, TypeAlias

import cv2
import numpy as np
import numpy.typing as npt

from common.phrases import Phrase, either, listed
from vision.errors import LayoutError
from vision.frame import BoolArray, FloatArray, FloatImage, Image
from vision.geometry import CameraModel, Pose, project
from vision.layout.pieces import MarkerLayout
from vision.opencv import align_affine, aruco_dictionary, as_grey, detect_markers
from vision.sampling import TONE_CURVE, PlaneWindow, median, median_where, plane_map, remapped, sample, shrink

SMALLEST_SIDE_PX = 14.0
"""Minimum side, in pixels, of a marker that is searched for where it was, or by its outline. Larger: fewer small ones.
Set by hand on virtual pictures.
"""
_UNIT_SQUARE = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], dtype=np.float32)
_POINTS_PER_MODULE = 2
"""Points along a module's side at which codes are compared. More: finer, slower."""


@dataclass(frozen=True)
class OutlineSettings:
    """How markers too blurred to be decoded are found by their outlines and compared with the known codes.

    Set by hand on four virtual pictures, shaken or out of focus: correct quads had a similarity of 0.74 to 0.94 and a
    lead of 0.24 or more; of nearly a thousand others the best had 0.70 and 0.21.
    """

    windows_px: tuple[int, ...] = (15, 25, 41)
    """Window sides, in pixels of the halved picture, for the local mean that dark pixels are below. More: more
    outlines.
    """
    darker: tuple[int, ...] = (0, 6)
    """Grey levels by which a pixel must be below that mean."""
    tolerances: tuple[float, ...] = (0.05, 0.1)
    """Approximation tolerances, as shares of the outline's length; the first that leaves four corners is used."""
    smear_modules: float = 0.5
    """Standard deviation, in modules, of the blur applied to codes before comparing. Higher: for stronger blur."""
    least_likeness: float = 0.7
    """Minimum correlation with the most similar code. Higher: fewer markers, and fewer false ones."""
    least_lead: float = 0.2
    """Minimum lead over every other code and rotation. Higher: the same."""


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
    quads = np.empty((0, 4, 2))
    for window_px in _OUTLINE_SETTINGS.windows_px:
        for darker in _OUTLINE_SETTINGS.darker:
            dark = cv2.adaptiveThreshold(
                half, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, window_px, darker
            )
            for contour in cv2.findContours(dark, cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)[0]:
                hull = cv2.convexHull(contour)
                if 4 * cv2.contourArea(hull) < SMALLEST_SIDE_PX**2:
                    continue
                for tolerance in _OUTLINE_SETTINGS.tolerances:
                    corners = cv2.approxPolyDP(hull, tolerance * cv2.arcLength(hull, True), True)
                    if len(corners) == 4:
                        quad = (corners.reshape(4, 2).astype(np.float64) + 0.5) * 2 - 0.5
                        if not (np.abs(quads - quad) < 1.0).all(axis=(1, 2)).any():
                            fresh = quad if cv2.contourArea(corners, oriented=True) > 0 else quad[::-1]
                            quads = np.concatenate([quads, fresh[None]])
                        break
    return list(quads)


@dataclass(frozen=True, eq=False)
class Codes:
    """Blurred codes of markers in each of four rotations: ``shown`` is (codes, points), each of length 1.

    ``mirrored`` are the same of their mirror images.
    """

    names: tuple[tuple[int, int], ...]
    shown: FloatArray
    mirrored: FloatArray
    points: int

    @classmethod
    def of(cls, patterns: Mapping[int, Image]) -> Codes:
        """Blur the codes of some ids, given as patterns of one pixel a module."""
        names, shown, mirrored = [], [], []
        for marker_id, pattern in patterns.items():
            soft = cv2.GaussianBlur(pattern, (0, 0), _OUTLINE_SETTINGS.smear_modules)
            for turns in range(4):
                names.append((marker_id, turns))
                shown.append(_normalise(_enlarge(np.rot90(soft, turns))))
                mirrored.append(_normalise(_enlarge(np.rot90(soft, turns))[:, ::-1]))
        return cls(
            tuple(names),
            np.stack(shown),
            np.stack(mirrored),
            _POINTS_PER_MODULE * next(iter(patterns.values())).shape[0],
        )

    def identify(self, grey: Image, corners_px: FloatArray) -> tuple[int | None, int, float]:
        """Return the id of the code that a quad shows, the number of corners it is turned by, and the similarity; no id
        if none is similar enough, or a mirror image is more similar.
        """
        contents = _normalise(_rectified_contents(grey, corners_px, self.points))
        likeness = self.shown @ contents
        first, second = np.argsort(-likeness)[:2]
        marker_id, turns = self.names[first]
        is_clear = likeness[first] >= _OUTLINE_SETTINGS.least_likeness
        is_clear &= likeness[first] - likeness[second] >= _OUTLINE_SETTINGS.least_lead
        is_clear &= likeness[first] >= (self.mirrored @ contents).max()
        return marker_id if is_clear else None, turns, float(likeness[first])


def _enlarge(pattern: Image) -> Image:
    return np.repeat(np.repeat(pattern, _POINTS_PER_MODULE, axis=0), _POINTS_PER_MODULE, axis=1)


def _normalise(values: npt.NDArray[Any]) -> FloatArray:
    apart = np.asarray(values, dtype=np.float64).ravel() - float(values.mean())
    return apart / max(math.sqrt(apart @ apart), 1e-9)


def _rectified_contents(grey: Image, corners_px: FloatArray, points: int) -> Image:
    """Return the contents of a quad, rectified to (points, points)."""
    to_picture = cv2.getPerspectiveTransform(_UNIT_SQUARE, corners_px.astype(np.float32))
    at = _points_inside(points) @ to_picture.T
    maps = (at[..., :2] / at[..., 2:]).astype(np.float32)
    return np.asarray(remapped(grey, maps, None), dtype=np.uint8)


@cache
def _points_inside(points: int) -> FloatArray:
    """Return rows of points (x, y, 1) inside the unit square, (points, points, 3)."""
    steps = (np.arange(points, dtype=np.float64) + 0.5) / points
    across, down = np.meshgrid(steps, steps)
    return np.stack([across, down, np.ones_like(across)], axis=-1)


def code_similarity(grey: Image, corners_px: FloatArray, pattern: Image) -> float:
    """Return the correlation (-1 to 1) of a marker's modules with the picture between its corners."""
    known = _enlarge(pattern)
    seen = _rectified_contents(grey, corners_px, known.shape[0])
    return float(_normalise(seen) @ _normalise(known))


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


_HALVED_FROM_PX = 900
"""Width of a picture, in pixels, from which it is searched at half size too. Larger: fewer pictures are."""

_LEAST_OF_QUICK = 0.05
"""Minimum perimeter of a marker found by the quick method, in widths of the picture: in a sheet's smaller cells, no
markers are looked for.
"""
_LEAST_OF_PATCH = 0.6
"""Minimum perimeter of a marker that fills a patch, in sides of the patch; its side is usually a third of it."""


class FoundBy(StrEnum):
    """How a marker was found."""

    PLAIN = "plain"
    SHARPENED = "sharpened"
    THOROUGH = "thorough"
    ENLARGED = "enlarged"
    EQUALISED = "equalised"
    OUTLINED = "outlined"
    EXPECTED = "expected there"
    MATCHED = "matched"
    SEEN_AGAIN = "seen again"
    AVERAGED = "averaged"


@dataclass(frozen=True, eq=False)
class Marker:
    """A marker in a picture: id, corners (4, 2) in pixels in ArUco's order, and how it was found."""

    marker_id: int
    corners_px: FloatArray
    found_by: FoundBy = FoundBy.PLAIN

    @property
    def centre_px(self) -> FloatArray:
        """Mean of the corners, shape (2,)."""
        return np.asarray(self.corners_px.mean(axis=0), dtype=np.float64)

    @property
    def side_px(self) -> float:
        """Square root of the area."""
        return float(np.sqrt(quad_area(self.corners_px)))

    @property
    def is_decoded(self) -> bool:
        """Whether its code was read, and it does not only look like the marker."""
        return self.found_by not in {FoundBy.OUTLINED, FoundBy.MATCHED}


def ids_text(ids: Sequence[int]) -> str:
    """Name markers: ``markers 0 and 2``."""
    return either(len(ids) > 1, "markers {ids}", "marker {ids}", listed(ids))


def picture_is_mirrored() -> Phrase:
    """Say what to do about a mirrored picture."""
    return Phrase(
        "the picture is mirrored; switch off mirroring in the camera's program, or set camera.mirrored to true "
        "(to false if it is true)"
    )


def _sharpen(grey: Image, spread_px: float, amount: float) -> Image:
    """Apply an unsharp mask in linear light, because blur acts on light."""
    light = undo_tone_curve(grey).astype(np.float32)
    sharp = (1 + amount) * light - amount * cv2.GaussianBlur(light, (0, 0), spread_px)
    return np.asarray(255 * (np.clip(sharp, 0, 255) / 255) ** (1 / TONE_CURVE), dtype=np.uint8)


class MarkerDetector:
    """Detects one dictionary's markers, with methods from fast to thorough.

    Raises LayoutError for a dictionary that OpenCV does not have.
    """

    def __init__(self, dictionary: str) -> None:
        self.dictionary = dictionary
        try:
            self._dictionary = aruco_dictionary(dictionary)
        except ValueError as wrong:
            raise LayoutError(str(wrong)) from wrong
        self._plain = cv2.aruco.ArucoDetector(self._dictionary, self._parameters(windows=(5, 29, 12)))
        quick = self._parameters(windows=(29, 29, 4))
        quick.minMarkerPerimeterRate = _LEAST_OF_QUICK
        self._quick = cv2.aruco.ArucoDetector(self._dictionary, quick)
        # at half size one window finds what three find; otherwise the whole picture is searched anyway
        self._halved = cv2.aruco.ArucoDetector(self._dictionary, self._parameters(windows=(15, 15, 4)))
        self._thorough = cv2.aruco.ArucoDetector(self._dictionary, self._parameters(windows=(3, 63, 6), thorough=True))
        as_large = self._parameters(windows=(3, 63, 6), thorough=True)
        as_large.minMarkerPerimeterRate = _LEAST_OF_PATCH
        self._filling = cv2.aruco.ArucoDetector(self._dictionary, as_large)

    def pattern(self, marker_id: int) -> Image:
        """Return the marker's modules, black border included, one pixel a module: 0 or 255."""
        modules = self._dictionary.markerSize + 2
        return np.asarray(cv2.aruco.generateImageMarker(self._dictionary, marker_id, modules), dtype=np.uint8)

    @staticmethod
    def _parameters(windows: tuple[int, int, int], *, thorough: bool = False) -> cv2.aruco.DetectorParameters:
        parameters = cv2.aruco.DetectorParameters()
        parameters.adaptiveThreshWinSizeMin, parameters.adaptiveThreshWinSizeMax = windows[0], windows[1]
        parameters.adaptiveThreshWinSizeStep = windows[2]
        parameters.minMarkerPerimeterRate = 0.02
        parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_NONE
        if thorough:
            parameters.adaptiveThreshConstant = 4
            parameters.polygonalApproxAccuracyRate = 0.06
            parameters.perspectiveRemovePixelPerCell = 8
            parameters.perspectiveRemoveIgnoredMarginPerCell = 0.2
            parameters.minOtsuStdDev = 2.5
            parameters.maxErroneousBitsInBorderRate = 0.4
        return parameters

    def plain(self, image: Image) -> tuple[Marker, ...]:
        """Detect markers in the picture as it is."""
        return self._find(self._plain, as_grey(image), FoundBy.PLAIN)

    def quick(self, image: Image) -> tuple[Marker, ...]:
        """Detect with one threshold window instead of three: most markers, in a third of the time of ``plain``."""
        return self._find(self._quick, as_grey(image), FoundBy.PLAIN)

    def halved(self, image: Image) -> tuple[Marker, ...]:
        """Detect markers at half size, refined at full size: large ones only, in a third of the time.

        Empty for a picture so small that nothing would be gained.
        """
        grey = as_grey(image)
        if grey.shape[1] < _HALVED_FROM_PX:
            return ()
        half = np.asarray(cv2.resize(grey, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA), dtype=np.uint8)
        return self._find(self._halved, half, FoundBy.PLAIN, measured_on=grey, scale=0.5)

    def thorough(self, image: Image) -> tuple[Marker, ...]:
        """Detect with more threshold windows and a looser outline: dim light, glare, strong perspective."""
        return self._find(self._thorough, as_grey(image), FoundBy.THOROUGH)

    def filling(self, patch: Image) -> tuple[Marker, ...]:
        """Detect a marker that fills a patch, like ``thorough`` but ignoring small specks."""
        return self._find(self._filling, as_grey(patch), FoundBy.EXPECTED)

    def equalised(self, image: Image) -> tuple[Marker, ...]:
        """Detect after local contrast equalisation: very dim or washed-out pictures."""
        grey = as_grey(image)
        clear = np.asarray(cv2.createCLAHE(4.0, (8, 8)).apply(grey), dtype=np.uint8)
        return self._find(self._thorough, clear, FoundBy.EQUALISED, measured_on=grey)

    def sharpened(self, image: Image) -> tuple[Marker, ...]:
        """Detect after strong sharpening: out of focus or shaken pictures."""
        grey = as_grey(image)
        return self._find(self._thorough, _sharpen(grey, 3.0, 6.0), FoundBy.SHARPENED, measured_on=grey)

    def enlarged(self, image: Image) -> tuple[Marker, ...]:
        """Detect at twice the size, sharpened: small markers."""
        grey = as_grey(image)
        twice = np.asarray(cv2.resize(grey, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC), dtype=np.uint8)
        return self._find(self._thorough, _sharpen(twice, 4.0, 3.0), FoundBy.ENLARGED, measured_on=grey, scale=2.0)

    def outlined(
        self, image: Image, ids: Collection[int], quads: Sequence[FloatArray] | None = None
    ) -> tuple[Marker, ...]:
        """Identify dark quads whose code is too blurred to be decoded by their similarity to the codes of ``ids``.

        Camera shake smears the modules of a code into each other long before it blurs the outline. Of several quads
        similar to one marker, the most similar is returned. ``quads`` are the picture's ``dark_quads``, if known.
        """
        grey = as_grey(image)
        codes = Codes.of({marker_id: self.pattern(marker_id) for marker_id in ids})
        found: dict[int, tuple[float, Marker]] = {}
        for quad in dark_quads(grey) if quads is None else quads:
            marker_id, turns, likeness = codes.identify(grey, quad)
            if marker_id is not None and (marker_id not in found or likeness > found[marker_id][0]):
                found[marker_id] = (likeness, Marker(marker_id, np.roll(quad, turns, axis=0), FoundBy.OUTLINED))
        return tuple(marker for _, marker in found.values())

    def _find(
        self,
        detector: cv2.aruco.ArucoDetector,
        grey: Image,
        found_by: FoundBy,
        *,
        measured_on: Image | None = None,
        scale: float = 1.0,
    ) -> tuple[Marker, ...]:
        found = detect_markers(detector, grey)
        original = grey if measured_on is None else measured_on
        # pixel centres are at whole numbers, so scaling is about (-0.5, -0.5)
        quads = [(corners + 0.5) / scale - 0.5 for _, corners in found]
        refined = refine_quads(original, quads)
        return tuple(
            Marker(marker_id, quad if better is None else better, found_by)
            for (marker_id, _), quad, better in zip(found, quads, refined, strict=True)
        )


Method: TypeAlias = Callable[[MarkerDetector, Image], tuple[Marker, ...]]
"""A method of MarkerDetector that takes only a picture."""


class SharedPicture:
    """One picture, and what is made of it at most once, for all parts of a table. Each method searches it once."""

    def __init__(self, image: Image) -> None:
        self.image = image
        self._found: dict[tuple[Method, str], tuple[Marker, ...]] = {}

    @cached_property
    def grey(self) -> Image:
        """The picture without colours."""
        return as_grey(self.image)

    @cached_property
    def mirror_image(self) -> SharedPicture:
        """The mirror image of the picture without colours."""
        return SharedPicture(np.ascontiguousarray(self.grey[:, ::-1]))

    @cached_property
    def small(self) -> Image:
        """The picture at the size at which it is compared with others."""
        return shrink(self.image)

    def find(self, finder: MarkerDetector, method: Method) -> tuple[Marker, ...]:
        """Return what a method of the finder, such as ``MarkerDetector.quick``, finds."""
        key = (method, finder.dictionary)
        if key not in self._found:
            self._found[key] = method(finder, self.grey)
        return self._found[key]

    def outlined(self, finder: MarkerDetector, ids: Collection[int]) -> tuple[Marker, ...]:
        """Return what ``finder.outlined`` finds; quads are only searched for once."""
        return finder.outlined(self.grey, ids, self._dark_quads)

    @cached_property
    def _dark_quads(self) -> list[FloatArray]:
        return dark_quads(self.grey)


_MOVED_AT_MOST_PX = 2.0
"""Maximum distance, in pixels, of a corner from where it was. Larger: a marker may move further and still be found.
Set by hand on virtual pictures, as is the next.
"""
_LEAST_LIKENESS = 0.8
"""Minimum correlation of a marker's code with the picture, where it was. Higher: fewer partly covered ones."""


def redetect_markers(grey: Image, expected_px: Mapping[int, FloatArray], finder: MarkerDetector) -> dict[int, Marker]:
    """Find the markers that are still within two pixels of their expected position.

    ``expected_px`` maps ids to corners (4, 2) in ArUco's order. All four sides must show an edge there, and the area
    between them the marker's code.
    """
    height, width = grey.shape
    quads = np.array(list(expected_px.values())).reshape(-1, 4, 2)
    inside = (quads >= 0).all(axis=(1, 2)) & (quads < (width, height)).all(axis=(1, 2))
    searched = inside & (smallest_sides(quads) >= SMALLEST_SIDE_PX)
    ids = [marker_id for marker_id, chosen in zip(expected_px, searched, strict=True) if chosen]
    likely = list(quads[searched])
    found: dict[int, Marker] = {}
    for marker_id, quad, corners in zip(ids, likely, refine_quads(grey, likely), strict=True):
        if corners is None or np.abs(corners - quad).max() > _MOVED_AT_MOST_PX:
            continue
        if code_similarity(grey, corners, finder.pattern(marker_id)) >= _LEAST_LIKENESS:
            found[marker_id] = Marker(marker_id, corners, FoundBy.SEEN_AGAIN)
    return found


@dataclass(frozen=True)
class PatternSettings:
    """How markers are matched by their pattern. Set by hand on virtual and ray-traced pictures."""

    border_modules: float = 0.5
    """Width of the marker's white border that is matched as well, in modules, up to 1."""
    patch_module_px: int = 14
    """Size of a marker's module, in pixels, on the patch that is searched. More: smaller markers are found, slower."""
    search_sides: float = 0.6
    """Search distance around the expected position, in sides. More: tolerates worse poses, slower."""
    refine_sides: float = 0.15
    """The same when refining a marker that was found."""
    patch_side_px: tuple[float, float] = (16.0, 72.0)
    """Minimum and maximum side of the marker on the patch, in pixels. More: finer, slower."""
    least_stretch: float = 0.6
    """Minimum ratio between its area and the expected one."""
    blurs_modules: tuple[float, ...] = (0.15, 0.3, 0.5, 0.8)
    """Blurs that are tried, as standard deviations in modules."""
    least_likeness: float = 0.8
    """Minimum correlation for a match. Higher: fewer markers, and fewer false ones."""
    least_lead: float = 0.12
    """Minimum lead over the layout's other markers. Higher: the same."""


_PATTERN_SETTINGS = PatternSettings()


@dataclass(frozen=True, eq=False)
class RectifiedPatch:
    """A square of the markers' plane around ``centre_mm``, seen from straight above, +y up.

    ``image`` is uint8, with ``px_per_mm`` pixels per millimetre.
    """

    image: Image
    centre_mm: FloatArray
    z_mm: float
    px_per_mm: float
    camera: CameraModel
    pose: Pose

    def to_pixels(self, patch_px: FloatArray) -> FloatArray:
        """Map points on the patch, shape (n, 2), to distorted pixels of the picture."""
        middle = (self.image.shape[0] - 1) / 2
        x = self.centre_mm[0] + (patch_px[:, 0] - middle) / self.px_per_mm
        y = self.centre_mm[1] - (patch_px[:, 1] - middle) / self.px_per_mm
        return project(self.camera, self.pose, np.column_stack([x, y, np.full(len(x), self.z_mm)]))


@dataclass(frozen=True, eq=False)
class MarkerPatterns:
    """Looks for a layout's markers in one grey picture, each where a pose puts it.

    ``finder`` is that of the layout's dictionary. ``are_mirrored``: looks for the markers' mirror images.
    """

    grey: Image
    camera: CameraModel
    layout: MarkerLayout
    finder: MarkerDetector
    are_mirrored: bool = False

    def mirrored(self) -> MarkerPatterns:
        """Return what looks for the layout's mirror image instead."""
        centres_mm = {marker_id: (-x_mm, y_mm) for marker_id, (x_mm, y_mm) in self.layout.centres_mm.items()}
        layout = replace(self.layout, centres_mm=centres_mm)
        return replace(self, layout=layout, are_mirrored=not self.are_mirrored)

    def find(self, pose: Pose, marker_id: int) -> Marker | None:
        """Search for one marker at its expected position, on a patch rectified to a view from above and enlarged.

        This finds markers that detection in the whole picture misses: small, oblique, dim or distorted ones. ``None``
        when that id is not there.
        """
        side_mm = self.layout.side_mm
        patch = self.rectified(pose, marker_id, 1.5 * side_mm, _PATTERN_SETTINGS.patch_module_px * 6 / side_mm)
        if patch is None:
            return None
        for sighting in self.finder.filling(_stretch_contrast(patch.image)):
            if sighting.marker_id == marker_id:
                corners = patch.to_pixels(sighting.corners_px)
                refined = refine_quad(self.grey, corners)
                return Marker(marker_id, corners if refined is None else refined, FoundBy.EXPECTED)
        return self.match(pose, marker_id)

    def match(self, pose: Pose, marker_id: int) -> Marker | None:
        """Find one marker by its pattern near its expected position; ``None`` when nothing there matches.

        It must be similar to this marker, and clearly less similar to the layout's others.
        """
        view = self._view(pose, marker_id, _PATTERN_SETTINGS.search_sides)
        if view is None:
            return None
        patch, light, side_px = view
        likeness, place, template = self._best_match(light, marker_id, side_px)
        if likeness < _PATTERN_SETTINGS.least_likeness:
            return None
        for other in self.layout.centres_mm:
            if other != marker_id:
                rival, _, _ = self._best_match(light, other, side_px, (0.3,))
                if likeness < rival + _PATTERN_SETTINGS.least_lead:
                    return None
        return _align(patch, light, side_px, place, template, marker_id)

    def similarity(self, pose: Pose, marker_id: int) -> float:
        """Return the correlation (-1 to 1) between a marker and its expected position in the picture, at the best blur.

        A half-covered marker scores as its better half. 0 for a position outside the picture.
        """
        view = self._view(pose, marker_id, _PATTERN_SETTINGS.refine_sides)
        if view is None:
            return 0.0
        _, light, side_px = view
        likeness, place, template = self._best_match(light, marker_id, side_px)
        column, row = place.astype(int)
        size = template.shape[0]
        seen = light[row : row + size, column : column + size]
        half = size // 2
        halves = np.s_[:half, :], np.s_[half:, :], np.s_[:, :half], np.s_[:, half:]
        return max(
            likeness,
            *(float(cv2.matchTemplate(seen[part], template[part], cv2.TM_CCOEFF_NORMED)[0, 0]) for part in halves),
        )

    def refined(self, pose: Pose, marker: Marker) -> Marker:
        """Measure a marker that was found and agrees with the pose again, by its whole pattern.

        All edges of the code count, not only the outline, so blur and noise matter less. The marker is returned
        unchanged when its pattern does not fit, for example when a finger lies across it.
        """
        view = self._view(pose, marker.marker_id, _PATTERN_SETTINGS.refine_sides)
        if view is None:
            return marker
        patch, light, side_px = view
        likeness, place, template = self._best_match(light, marker.marker_id, side_px)
        if likeness < _PATTERN_SETTINGS.least_likeness:
            return marker
        aligned = _align(patch, light, side_px, place, template, marker.marker_id)
        most_px = _PATTERN_SETTINGS.refine_sides * marker.side_px
        if aligned is None or np.linalg.norm(aligned.centre_px - marker.centre_px) > most_px:
            return marker
        return replace(marker, corners_px=aligned.corners_px)

    def rectified(self, pose: Pose, marker_id: int, half_mm: float, px_per_mm: float) -> RectifiedPatch | None:
        """Rectify the surroundings of one marker to a view from above; ``None`` when its centre is outside the picture.

        ``half_mm`` is half the side of the patch.
        """
        layout = self.layout
        x_mm, y_mm = layout.centres_mm[marker_id]
        middle = project(self.camera, pose, np.array([[x_mm, y_mm, layout.z_mm]]))[0]
        height, width = self.grey.shape
        if not (0 <= middle[0] < width and 0 <= middle[1] < height):
            return None
        side_mm = (2 * int(half_mm * px_per_mm) + 1) / px_per_mm
        window = PlaneWindow(x_mm - side_mm / 2, y_mm + side_mm / 2, side_mm, side_mm, layout.z_mm, px_per_mm)
        image = sample(self.grey, plane_map(self.camera, pose, window))
        return RectifiedPatch(image, np.array([x_mm, y_mm]), layout.z_mm, px_per_mm, self.camera, pose)

    def _view(self, pose: Pose, marker_id: int, search_sides: float) -> tuple[RectifiedPatch, FloatImage, float] | None:
        """Return the patch around a marker, its linear light, and the marker's side on it in pixels, near the picture's
        scale.
        """
        expected = project(self.camera, pose, self.layout.corners_mm(marker_id))
        sides = np.linalg.norm(expected - np.roll(expected, -1, axis=0), axis=1)
        side_px = float(np.clip(1.25 * sides.max(), *_PATTERN_SETTINGS.patch_side_px))
        half_mm = self.layout.side_mm * (0.5 + _PATTERN_SETTINGS.border_modules / 6 + search_sides)
        patch = self.rectified(pose, marker_id, half_mm, side_px / self.layout.side_mm)
        if patch is None:
            return None
        return patch, np.asarray(undo_tone_curve(patch.image), dtype=np.float32), side_px

    def _best_match(
        self,
        light: FloatImage,
        marker_id: int,
        side_px: float,
        blurs_modules: Sequence[float] = _PATTERN_SETTINGS.blurs_modules,
    ) -> tuple[float, FloatArray, FloatImage]:
        """Return the best template's correlation (-1 to 1), its corner's position on the patch, and the template."""
        pattern = self.finder.pattern(marker_id)
        pattern = pattern[:, ::-1] if self.are_mirrored else pattern
        best: tuple[float, FloatArray, FloatImage] = (-1.0, np.zeros(2), np.zeros((1, 1), dtype=np.float32))
        sharp = _template(pattern, side_px)
        for blur in blurs_modules:
            spread_px = max(blur * side_px / pattern.shape[0], 0.3)
            template = np.asarray(cv2.GaussianBlur(sharp, (0, 0), spread_px), dtype=np.float32)
            scores = cv2.matchTemplate(light, template, cv2.TM_CCOEFF_NORMED)
            _, likeness, _, place = cv2.minMaxLoc(scores)
            if likeness > best[0]:
                best = (float(likeness), np.asarray(place, dtype=np.float64), template)
        return best


def _stretch_contrast(patch: Image) -> Image:
    low, high = np.percentile(patch, (2, 98))
    levels = np.clip((np.arange(256) - low) * (255 / max(high - low, 8.0)), 0, 255)
    return np.asarray(cv2.LUT(patch, levels.astype(np.uint8)), dtype=np.uint8)


def _align(
    patch: RectifiedPatch, light: FloatImage, side_px: float, place: FloatArray, template: FloatImage, marker_id: int
) -> Marker | None:
    found = align_affine(template, light, place)
    if found is None or found[1] < _PATTERN_SETTINGS.least_likeness:
        return None
    warp = found[0]
    if (
        not _PATTERN_SETTINGS.least_stretch
        < abs(float(np.linalg.det(warp[:, :2])))
        < 1 / _PATTERN_SETTINGS.least_stretch
    ):
        return None
    near = (template.shape[0] - side_px) / 2 - 0.5
    far = near + side_px
    corners = np.array([[near, near], [far, near], [far, far], [near, far]])
    return Marker(marker_id, patch.to_pixels(corners @ warp[:, :2].T + warp[:, 2]), FoundBy.MATCHED)


def _template(pattern: Image, side_px: float) -> FloatImage:
    """Draw a marker with part of its white border, ``side_px`` wide without the border; float32, 0 to 255."""
    modules = pattern.shape[0]
    oversampling = 4
    module_px = side_px / modules
    size = int(side_px + 2 * _PATTERN_SETTINGS.border_modules * module_px)
    fine = (np.arange(size * oversampling) + 0.5) / oversampling
    # rounding the size must not move the marker's centre off the template's centre
    index = np.floor((fine - (size - side_px) / 2) / module_px).astype(int)
    framed = np.pad(pattern, 1, constant_values=255)
    drawn = framed[np.ix_(index + 1, index + 1)].astype(np.float32)
    return np.asarray(cv2.resize(drawn, (size, size), interpolation=cv2.INTER_AREA), dtype=np.float32)
