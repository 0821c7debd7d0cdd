"""Detecting fiducial markers: their ids, and their corners with subpixel accuracy.

The detector is OpenCV's ArUco. Its corners follow a thresholded outline; ``refine_quads`` refines them on the grey
values. A marker seen before is only searched for where it was, which takes a tenth of the time.

Markers too blurred to be decoded are dark quads that show something similar to the known codes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property
from typing import Any, TypeAlias

import cv2
import numpy as np
import numpy.typing as npt

from common.phrases import Phrase, either, listed
from vision.errors import LayoutError
from vision.frame import FloatArray, Image
from vision.locating.quads import (
    SMALLEST_SIDE_PX,
    dark_outlines,
    dark_quads,
    perimeter_of_largest,
    quad_area,
    refine_quads,
    smallest_sides,
    undo_tone_curve,
)
from vision.opencv import aruco_dictionary, as_grey, detect_markers
from vision.sampling import TONE_CURVE, reduced_to, remapped, shrink

_UNIT_SQUARE = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], dtype=np.float32)
_POINTS_PER_MODULE = 2
"""Points along a module's side at which codes are compared. More: finer, slower."""


@dataclass(frozen=True)
class CodeSettings:
    """How quads too blurred to be decoded are compared with the known codes.

    Set by hand on four virtual pictures, shaken or out of focus: correct quads had a similarity of 0.74 to 0.94 and a
    lead of 0.24 or more; of nearly a thousand others the best had 0.70 and 0.21.
    """

    smear_modules: float = 0.5
    """Standard deviation, in modules, of the blur applied to codes before comparing. Higher: for stronger blur."""
    least_likeness: float = 0.7
    """Minimum correlation with the most similar code. Higher: fewer markers, and fewer false ones."""
    least_lead: float = 0.2
    """Minimum lead over every other code and rotation. Higher: the same."""


_CODE_SETTINGS = CodeSettings()


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
            soft = cv2.GaussianBlur(pattern, (0, 0), _CODE_SETTINGS.smear_modules)
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
        is_clear = likeness[first] >= _CODE_SETTINGS.least_likeness
        is_clear &= likeness[first] - likeness[second] >= _CODE_SETTINGS.least_lead
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


_HALVED_FROM_PX = 900
"""Width of a picture, in pixels, from which it is searched at half size too. Larger: fewer pictures are."""


@dataclass(frozen=True)
class EffortSettings:
    """How long the search for markers in one picture may take, whatever it shows. Set by hand, so that no search takes
    more than about 0.4 s of a processor of 3 GHz.
    """

    most_quads: int = 3000
    """Number of quads, at all thresholds together, that are compared with each other and decoded; of more, the largest.
    Ray-traced tables have 100 to 2,900 after sharpening; foliage, carpets and noise 2,500 to 16,000. Higher: small
    markers are found beside such things, and the time grows with its square.
    """
    most_outline_px: int = 5_000_000
    """Pixels of outlines, at all thresholds together, that are followed; of more, fewer thresholds are tried. Higher:
    more markers in uneven light are found beside fine textures, slower.
    """
    most_pixels: int = 4_000_000
    """Pixels of a picture, up to which the fast methods search it as it is; larger ones are reduced."""
    most_pixels_thorough: int = 1_000_000
    """The same for the thorough methods. Higher: smaller markers are found in larger pictures, slower."""


_EFFORT_SETTINGS = EffortSettings()


def _reduced(image: Image, most_pixels: int) -> tuple[Image, ...]:
    """Return a picture without colours and, before it, a reduced one if it has more pixels than that."""
    grey = as_grey(image)
    small = reduced_to(grey, most_pixels)
    return (grey,) if small is grey else (small, grey)


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
        pictures = _reduced(image, _EFFORT_SETTINGS.most_pixels)
        return self._find(self._plain, pictures[0], FoundBy.PLAIN, pictures)

    def quick(self, image: Image) -> tuple[Marker, ...]:
        """Detect with one threshold window instead of three: most markers, in a third of the time of ``plain``."""
        pictures = _reduced(image, _EFFORT_SETTINGS.most_pixels)
        return self._find(self._quick, pictures[0], FoundBy.PLAIN, pictures)

    def halved(self, image: Image) -> tuple[Marker, ...]:
        """Detect markers at half size, refined at full size: large ones only, in a third of the time.

        Empty for a picture so small that nothing would be gained.
        """
        grey = as_grey(image)
        if grey.shape[1] < _HALVED_FROM_PX:
            return ()
        half = np.asarray(cv2.resize(grey, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA), dtype=np.uint8)
        return self._find(self._halved, half, FoundBy.PLAIN, (grey,))

    def thorough(self, image: Image) -> tuple[Marker, ...]:
        """Detect with more threshold windows and a looser outline: dim light, glare, strong perspective."""
        pictures = _reduced(image, _EFFORT_SETTINGS.most_pixels_thorough)
        return self._find(self._thorough, pictures[0], FoundBy.THOROUGH, pictures)

    def filling(self, patch: Image) -> tuple[Marker, ...]:
        """Detect a marker that fills a patch, like ``thorough`` but ignoring small specks."""
        pictures = _reduced(patch, _EFFORT_SETTINGS.most_pixels_thorough)
        return self._find(self._filling, pictures[0], FoundBy.EXPECTED, pictures)

    def equalised(self, image: Image) -> tuple[Marker, ...]:
        """Detect after local contrast equalisation: very dim or washed-out pictures."""
        pictures = _reduced(image, _EFFORT_SETTINGS.most_pixels_thorough)
        clear = np.asarray(cv2.createCLAHE(4.0, (8, 8)).apply(pictures[0]), dtype=np.uint8)
        return self._find(self._thorough, clear, FoundBy.EQUALISED, pictures)

    def sharpened(self, image: Image) -> tuple[Marker, ...]:
        """Detect after strong sharpening: out of focus or shaken pictures."""
        pictures = _reduced(image, _EFFORT_SETTINGS.most_pixels_thorough)
        return self._find(self._thorough, _sharpen(pictures[0], 3.0, 6.0), FoundBy.SHARPENED, pictures)

    def enlarged(self, image: Image) -> tuple[Marker, ...]:
        """Detect at twice the size, sharpened: small markers."""
        pictures = _reduced(image, _EFFORT_SETTINGS.most_pixels_thorough)
        twice = np.asarray(cv2.resize(pictures[0], None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC), dtype=np.uint8)
        return self._find(self._thorough, _sharpen(twice, 4.0, 3.0), FoundBy.ENLARGED, pictures)

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
        self, detector: cv2.aruco.ArucoDetector, searched: Image, found_by: FoundBy, measured_on: Sequence[Image]
    ) -> tuple[Marker, ...]:
        """Search a picture, and measure what is found on others of the same, the largest last."""
        found = detect_markers(self._bounded(detector, searched), searched)
        quads, size = [quad for _, quad in found], searched.shape
        for grey in measured_on:
            scale = np.array([grey.shape[1] / size[1], grey.shape[0] / size[0]])
            # pixel centres are at whole numbers, so scaling is about (-0.5, -0.5)
            quads = [(quad + 0.5) * scale - 0.5 for quad in quads]
            better = refine_quads(grey, quads)
            quads = [quad if one is None else one for quad, one in zip(quads, better, strict=True)]
            size = grey.shape
        return tuple(Marker(marker_id, quad, found_by) for (marker_id, _), quad in zip(found, quads, strict=True))

    def _bounded(self, detector: cv2.aruco.ArucoDetector, searched: Image) -> cv2.aruco.ArucoDetector:
        """Return the detector or, if it had to follow or compare too many outlines, one that leaves out some windows
        and the small ones.
        """
        parameters = detector.getDetectorParameters()
        first, last = parameters.adaptiveThreshWinSizeMin, parameters.adaptiveThreshWinSizeMax
        windows_px = range(first, last + 1, parameters.adaptiveThreshWinSizeStep)
        # the smallest windows show edges rather than what they enclose
        window_px = windows_px[min(2, len(windows_px) - 1)]
        darker, tolerance = parameters.adaptiveThreshConstant, parameters.polygonalApproxAccuracyRate
        longer_side, shortest = max(searched.shape), parameters.minMarkerPerimeterRate
        outlines = dark_outlines(searched, window_px, darker)
        apart = math.ceil(sum(map(len, outlines)) * len(windows_px) / _EFFORT_SETTINGS.most_outline_px)
        windows = -(-len(windows_px) // apart) if apart else 1
        least_px = perimeter_of_largest(
            outlines, _EFFORT_SETTINGS.most_quads // windows, tolerance, shortest * longer_side
        )
        if apart <= 1 and least_px <= shortest * longer_side:
            return detector
        parameters.adaptiveThreshWinSizeStep *= max(apart, 1)
        parameters.minMarkerPerimeterRate = least_px / longer_side
        return cv2.aruco.ArucoDetector(self._dictionary, parameters)


Method: TypeAlias = Callable[[MarkerDetector, Image], tuple[Marker, ...]]
"""A method of MarkerDetector that takes only a picture."""


class SharedPicture:
    """One picture, and what is made of it at most once, for all parts of a table. Each method searches it once.

    ``focal_share`` is the focal length that the picture itself tells, as a share of its diagonal. ``pause`` is called
    between the steps of a long search; nothing of the picture may be read meanwhile.
    """

    def __init__(
        self, image: Image, focal_share: float | None = None, pause: Callable[[], object] = lambda: None
    ) -> None:
        self.image, self.focal_share, self.pause = image, focal_share, pause
        self._found: dict[tuple[Method, str], tuple[Marker, ...]] = {}

    @cached_property
    def grey(self) -> Image:
        """The picture without colours."""
        return as_grey(self.image)

    @cached_property
    def mirror_image(self) -> SharedPicture:
        """The mirror image of the picture without colours."""
        return SharedPicture(np.ascontiguousarray(self.grey[:, ::-1]), pause=self.pause)

    @cached_property
    def small(self) -> Image:
        """The picture at the size at which it is compared with others."""
        return shrink(self.image)

    def find(self, finder: MarkerDetector, method: Method) -> tuple[Marker, ...]:
        """Return what a method of the finder, such as ``MarkerDetector.quick``, finds."""
        self.pause()
        key = (method, finder.dictionary)
        if key not in self._found:
            self._found[key] = method(finder, self.grey)
        return self._found[key]

    def outlined(self, finder: MarkerDetector, ids: Collection[int]) -> tuple[Marker, ...]:
        """Return what ``finder.outlined`` finds; quads are only searched for once."""
        self.pause()
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
