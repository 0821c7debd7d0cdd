"""Adapters that hide the differences between OpenCV 4.10 and 5.x.

OpenCV 4 wraps points as (n, 1, 2) and ids as (n, 1); OpenCV 5 returns (n, 2) and (n,). Some calls return ``None`` for
no result. The functions here return float64 arrays of shape (n, 2), plain ints, and empty arrays instead of ``None``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import FloatArray, FloatImage, Image


def as_grey(image: Image) -> Image:
    """Convert an image of one or three channels (blue-green-red) to one channel, uint8."""
    if image.ndim == 2:
        return image
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), dtype=np.uint8)


def as_colour(image: Image) -> Image:
    """Convert an image of one or three channels (blue-green-red) to three channels, uint8."""
    if image.ndim == 3:
        return image
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_GRAY2BGR), dtype=np.uint8)


def as_lab(image: Image) -> FloatImage:
    """Convert an image of three channels (blue-green-red) to CIE L*a*b*, float32."""
    return np.asarray(cv2.cvtColor(image.astype(np.float32) / 255, cv2.COLOR_BGR2Lab), dtype=np.float32)


def as_lab_of_light(light: FloatArray) -> FloatArray:
    """Convert linear light of one colour, blue-green-red from 0 to 1, shape (3,), to CIE L*a*b* of the same shape."""
    lab = cv2.cvtColor(light.astype(np.float32)[None, None], cv2.COLOR_LBGR2Lab)
    return np.asarray(lab[0, 0], dtype=np.float64)


def aruco_dictionary(name: str) -> cv2.aruco.Dictionary:
    """Return OpenCV's marker dictionary of that name (``DICT_4X4_50``); raises ValueError for an unknown name."""
    number = getattr(cv2.aruco, name, None) if name.startswith("DICT_") else None
    if not isinstance(number, int):
        known = ", ".join(sorted(entry for entry in dir(cv2.aruco) if entry.startswith("DICT_")))
        raise ValueError(f"no marker dictionary {name!r}; expected one of {known}")
    return cv2.aruco.getPredefinedDictionary(number)


def points_2d(points: object) -> FloatArray:
    """Convert points in any of OpenCV's shapes, or ``None``, to float64 of shape (n, 2)."""
    if points is None:
        return np.zeros((0, 2), dtype=np.float64)
    return np.asarray(points, dtype=np.float64).reshape(-1, 2)


def detect_markers(detector: cv2.aruco.ArucoDetector, grey: Image) -> list[tuple[int, FloatArray]]:
    """Detect markers: (id, corners of shape (4, 2)) for each."""
    corners, ids, *_ = detector.detectMarkers(grey)
    numbers = [] if ids is None else [int(number) for number in np.asarray(ids).ravel()]
    return [(number, points_2d(quad)) for number, quad in zip(numbers, corners, strict=True)]


def refine_saddles(grey: Image, corners_px: FloatArray, half_window_px: int) -> FloatArray:
    """Move chessboard corners to the nearest saddle point with subpixel accuracy; (n, 2) in and out.

    OpenCV 4 and 5 return ChArUco corners that differ by half a pixel; after this they agree.
    """
    if len(corners_px) == 0:
        return corners_px
    criteria = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 40, 0.001)
    start = corners_px.astype(np.float32).reshape(-1, 1, 2)
    return points_2d(cv2.cornerSubPix(grey, start, (half_window_px, half_window_px), (-1, -1), criteria))


def undistort_points(pixels: FloatArray, matrix: FloatArray, distortion: FloatArray) -> FloatArray:
    """Undistort pixels of shape (n, 2) to normalised (x/z, y/z) camera coordinates, shape (n, 2).

    OpenCV's usual five rounds are too few for a fish-eye lens.
    """
    if len(pixels) == 0:
        return points_2d(None)
    points, criteria = pixels.reshape(-1, 1, 2), (cv2.TERM_CRITERIA_COUNT + cv2.TERM_CRITERIA_EPS, 100, 1e-6)
    if hasattr(cv2, "undistortPointsIter"):
        return points_2d(cv2.undistortPointsIter(points, matrix, distortion, np.eye(3), np.eye(3), criteria))
    return points_2d(cv2.undistortPoints(points, matrix, distortion, criteria=criteria))


def planar_poses(points_xy_mm: FloatArray, normalised: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
    """Return both poses (rotation vector, translation) of a plane z = 0 from four points or more, better one first.

    The two-fold ambiguity and its solution are Collins and Bartoli, *Infinitesimal plane-based pose estimation*, 2014.
    Empty when the points are degenerate.
    """
    points = np.column_stack([points_xy_mm, np.zeros(len(points_xy_mm))])
    try:
        count, rotations, translations, _ = cv2.solvePnPGeneric(
            points, normalised.reshape(-1, 1, 2), np.eye(3), np.zeros(5), flags=cv2.SOLVEPNP_IPPE
        )
    except cv2.error:
        return []
    poses = [
        (np.asarray(r, dtype=np.float64).reshape(3), np.asarray(t, dtype=np.float64).reshape(3))
        for r, t in zip(rotations[:count], translations[:count], strict=True)
    ]
    return [(r, t) for r, t in poses if np.isfinite(r).all() and np.isfinite(t).all()]


def align_affine(
    template: npt.NDArray[Any], picture: npt.NDArray[Any], start: FloatArray
) -> tuple[FloatArray, float] | None:
    """Align a template with a picture, both float32 of one channel, from a nearby start (x, y) of its corner.

    Returns the 2 x 3 affine map from template to picture pixels and the correlation (-1 to 1), or ``None`` when they
    cannot be aligned (Evangelidis and Psarakis, *Enhanced correlation coefficient*, 2008).
    """
    warp = np.array([[1, 0, start[0]], [0, 1, start[1]]], dtype=np.float32)
    criteria = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_COUNT, 40, 1e-4)
    try:
        correlation, found = cv2.findTransformECC(
            template, picture, warp, cv2.MOTION_AFFINE, criteria, np.full(picture.shape, 255, np.uint8), 1
        )
    except cv2.error:
        return None
    return np.asarray(found, dtype=np.float64), float(correlation)


def project_with_jacobian(
    points_mm: FloatArray,
    rotation_vector: FloatArray,
    translation: FloatArray,
    matrix: FloatArray,
    distortion: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Project (n, 3) points: pixels (n, 2) and their derivatives (n, 2, 10 + coefficients) by rotation vector (3),
    translation (3), focal lengths (2), centre (2) and distortion.
    """
    pixels, jacobian = cv2.projectPoints(points_mm, rotation_vector, translation, matrix, distortion)
    derivatives = np.asarray(jacobian, dtype=np.float64)
    return points_2d(pixels), derivatives.reshape(-1, 2, derivatives.shape[1])


@dataclass(frozen=True, eq=False)
class CameraFit:
    """Result of ``fit_camera``; the error is the root mean square of all corners."""

    matrix: FloatArray
    distortion: FloatArray
    error_px: float


RADIAL_TERMS = {2: (cv2.CALIB_FIX_K3, 5), 3: (0, 5), 6: (cv2.CALIB_RATIONAL_MODEL, 8)}
"""The flags and the number of coefficients of a model of lens distortion, by its radial terms."""


def fit_camera(
    points_mm: Sequence[FloatArray], pixels: Sequence[FloatArray], size: tuple[int, int], *, radial_terms: int
) -> CameraFit:
    """Fit a camera with radial and tangential distortion to views of a flat board (Zhang 2000).

    ``points_mm`` are (n, 3) and ``pixels`` (n, 2) for each view, ``size`` is (width, height). ``radial_terms`` are 2,
    3, or the 6 of the rational model, which also describes a fish-eye lens. Raises ValueError when the views do not
    determine a camera.
    """
    flags, count = RADIAL_TERMS[radial_terms]
    objects: list[Any] = [np.asarray(view, dtype=np.float32).reshape(-1, 1, 3) for view in points_mm]
    images: list[Any] = [np.asarray(view, dtype=np.float32).reshape(-1, 1, 2) for view in pixels]
    try:
        error, matrix, distortion, *_ = cv2.calibrateCamera(
            objects, images, size, np.eye(3), np.zeros(count), flags=flags
        )
    except cv2.error as wrong:
        raise ValueError(f"the views do not determine a camera: {wrong.err}") from wrong
    return CameraFit(
        np.asarray(matrix, dtype=np.float64),
        np.asarray(distortion, dtype=np.float64).ravel()[:count],
        float(error),
    )
