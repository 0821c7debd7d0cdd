"""Finding fiducial markers: which ids are in a picture, and where their corners are to a fraction of a pixel.

The detector is OpenCV's ArUco. Its corners follow a thresholded outline; here each side is measured again on the
grey values, as the line where dark turns to light, and the corners are where those lines cross. That is unbiased,
holds under blur, and a side that is half covered still gives its line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from vision.errors import LayoutError
from vision.frame import FloatArray, Image
from vision.opencv import aruco_dictionary, as_grey, detect_markers

_SAMPLES_PER_SIDE = 24
_SMALLEST_SIDE_PX = 7.0
_TONE_CURVE = 2.2
_FAINTEST_EDGE = 1.0


@dataclass(frozen=True, eq=False)
class Marker:
    """One marker in a picture: its id, its corners (4, 2) in pixels in ArUco's order, and how it was found."""

    marker_id: int
    corners_px: FloatArray
    found_by: str = "plain"

    @property
    def centre_px(self) -> FloatArray:
        """Mean of the corners, shape (2,)."""
        return np.asarray(self.corners_px.mean(axis=0), dtype=np.float64)

    @property
    def side_px(self) -> float:
        """Square root of the area."""
        return float(np.sqrt(quad_area(self.corners_px)))


def quad_area(corners: FloatArray) -> float:
    """Area of a simple polygon of shape (n, 2), in square units of its coordinates."""
    x, y = corners[:, 0], corners[:, 1]
    return float(abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2)


def grow_quad(corners: FloatArray, by_px: float) -> FloatArray:
    """Move every side of a convex quad (4, 2) outwards by some pixels (inwards when negative)."""
    ahead = np.roll(corners, -1, axis=0) - corners
    ahead = ahead / np.linalg.norm(ahead, axis=1, keepdims=True)
    behind = np.roll(ahead, 1, axis=0)
    # Two neighbouring sides moved by d meet at corner + d * (behind - ahead) / sin(angle between them).
    sine = behind[:, 0] * ahead[:, 1] - behind[:, 1] * ahead[:, 0]
    return np.asarray(corners + by_px * (behind - ahead) / np.abs(sine)[:, None], dtype=np.float64)


def sample_bilinear(grey: Image, points_px: FloatArray) -> FloatArray:
    """Grey values between the pixels at points of shape (..., 2); points outside give the nearest pixel's value."""
    shape = points_px.shape[:-1]
    flat = points_px.reshape(-1, 2)
    height, width = grey.shape
    x = np.clip(flat[:, 0], 0, width - 1.001)
    y = np.clip(flat[:, 1], 0, height - 1.001)
    column, row = x.astype(np.intp), y.astype(np.intp)
    across, down = x - column, y - row
    values = (
        grey[row, column] * (1 - across) * (1 - down)
        + grey[row, column + 1] * across * (1 - down)
        + grey[row + 1, column] * (1 - across) * down
        + grey[row + 1, column + 1] * across * down
    )
    return np.asarray(values, dtype=np.float64).reshape(shape)


def linear_light(values: npt.NDArray[Any]) -> FloatArray:
    """Undo a camera's usual tone curve: grey values 0 to 255 become amounts of light, 0 to 255, same shape."""
    return np.asarray(255 * (values / 255) ** _TONE_CURVE, dtype=np.float64)


def refine_quad(grey: Image, corners_px: FloatArray) -> FloatArray | None:
    """Measure a dark quad's corners again from its sides' edges; (4, 2), or ``None`` when a side has no clear edge."""
    lines = []
    for index in range(4):
        start, end = corners_px[index], corners_px[(index + 1) % 4]
        line = _edge_line(grey, start, end, corners_px.mean(axis=0))
        if line is None:
            return None
        lines.append(line)
    refined = np.empty((4, 2), dtype=np.float64)
    for index in range(4):
        before, after = lines[index - 1], lines[index]
        matrix = np.array([before[:2], after[:2]])
        if abs(np.linalg.det(matrix)) < 0.05:
            return None
        refined[index] = np.linalg.solve(matrix, -np.array([before[2], after[2]]))
    side = float(np.sqrt(quad_area(corners_px)))
    if np.abs(refined - corners_px).max() > max(2.0, 0.15 * side):
        return None
    return refined


def _edge_line(grey: Image, start: FloatArray, end: FloatArray, inside: FloatArray) -> FloatArray | None:
    """Fit a line (a, b, c) with unit (a, b) to the dark-to-light edge between two corners."""
    along = end - start
    length = float(np.hypot(*along))
    if length < _SMALLEST_SIDE_PX:
        return None
    along = along / length
    outward = np.array([along[1], -along[0]])
    if np.dot(outward, (start + end) / 2 - inside) < 0:
        outward = -outward
    # A marker's module is a sixth of its side; looking further would meet the code or the border's outer edge.
    reach = float(np.clip(length / 9, 1.5, 5.0))
    steps = np.arange(-reach, reach + 1e-9, 0.25)
    # The ends are left out: there the neighbouring side bends the edge.
    fractions = np.linspace(0.12, 0.88, _SAMPLES_PER_SIDE)
    feet = start + fractions[:, None] * (end - start)
    # Blur happens in light, before the camera's tone curve; undoing the curve keeps white from creeping into black.
    samples = sample_bilinear(grey, feet[:, None, :] + steps[None, :, None] * outward)
    profile = linear_light(samples)
    slope = np.clip(np.diff(profile, axis=1), 0, None)
    middle = (steps[:-1] + steps[1:]) / 2
    strength = slope.sum(axis=1)
    clear = strength > max(_FAINTEST_EDGE, 0.4 * float(np.median(strength)))
    if clear.sum() < _SAMPLES_PER_SIDE // 3:
        return None
    peak = middle[np.argmax(slope, axis=1)]
    near = np.abs(middle[None, :] - peak[:, None]) <= max(1.0, reach / 3)
    weight = slope * near
    offset = (weight * middle).sum(axis=1) / np.maximum(weight.sum(axis=1), 1e-9)
    return _robust_line((feet + offset[:, None] * outward)[clear], along)


def _robust_line(points: FloatArray, along: FloatArray) -> FloatArray | None:
    """Total least squares of a nearly straight row of points, without those far off it."""
    kept = points
    normal = np.array([-along[1], along[0]])
    for _ in range(3):
        if len(kept) < 5:
            return None
        centre = kept.mean(axis=0)
        _, _, directions = np.linalg.svd(kept - centre)
        normal = directions[1]
        distance = np.abs((points - centre) @ normal)
        limit = max(0.25, 2.5 * float(np.median(distance)))
        kept = points[distance <= limit]
    centre = kept.mean(axis=0)
    return np.array([normal[0], normal[1], -float(normal @ centre)])


def _sharpened(grey: Image, spread_px: float, amount: float) -> Image:
    """Unsharp masking in linear light, where blur happened."""
    light = linear_light(grey).astype(np.float32)
    sharp = (1 + amount) * light - amount * cv2.GaussianBlur(light, (0, 0), spread_px)
    return np.asarray(255 * (np.clip(sharp, 0, 255) / 255) ** (1 / _TONE_CURVE), dtype=np.uint8)


class MarkerFinder:
    """Finds one dictionary's markers; each method is one rung of a ladder from cheap to thorough.

    Raises LayoutError for a dictionary OpenCV does not know.
    """

    def __init__(self, dictionary: str) -> None:
        try:
            self._dictionary = aruco_dictionary(dictionary)
        except ValueError as wrong:
            raise LayoutError(str(wrong)) from wrong
        self._plain = cv2.aruco.ArucoDetector(self._dictionary, self._parameters(windows=(5, 29, 12)))
        self._thorough = cv2.aruco.ArucoDetector(self._dictionary, self._parameters(windows=(3, 63, 6), thorough=True))

    def pattern(self, marker_id: int) -> Image:
        """The marker's modules, black border included, one pixel a module: 0 or 255."""
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
        """Markers as ArUco finds them in the picture as it is."""
        return self._find(self._plain, as_grey(image), "plain")

    def thorough(self, image: Image) -> tuple[Marker, ...]:
        """Markers with more threshold windows and a laxer outline: dim light, glare, strong perspective."""
        return self._find(self._thorough, as_grey(image), "thorough")

    def equalised(self, image: Image) -> tuple[Marker, ...]:
        """Markers after local contrast equalisation: very dim or washed-out pictures."""
        grey = as_grey(image)
        clear = np.asarray(cv2.createCLAHE(4.0, (8, 8)).apply(grey), dtype=np.uint8)
        return self._find(self._thorough, clear, "equalised", measured_on=grey)

    def sharpened(self, image: Image) -> tuple[Marker, ...]:
        """Markers in the picture strongly sharpened: out of focus or shaken."""
        grey = as_grey(image)
        return self._find(self._thorough, _sharpened(grey, 3.0, 6.0), "sharpened", measured_on=grey)

    def enlarged(self, image: Image) -> tuple[Marker, ...]:
        """Markers in the picture at twice its size, sharpened: small ones."""
        grey = as_grey(image)
        twice = np.asarray(cv2.resize(grey, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC), dtype=np.uint8)
        return self._find(self._thorough, _sharpened(twice, 4.0, 3.0), "enlarged", measured_on=grey, scale=2.0)

    def _find(
        self,
        detector: cv2.aruco.ArucoDetector,
        grey: Image,
        found_by: str,
        *,
        measured_on: Image | None = None,
        scale: float = 1.0,
    ) -> tuple[Marker, ...]:
        found, _ = detect_markers(detector, grey)
        original = grey if measured_on is None else measured_on
        markers = []
        for marker_id, corners in found:
            # Pixel centres are at whole numbers, so scaling turns about (-0.5, -0.5).
            quad = (corners + 0.5) / scale - 0.5
            refined = refine_quad(original, quad)
            markers.append(Marker(marker_id, quad if refined is None else refined, found_by))
        return tuple(markers)
