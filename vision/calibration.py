"""Calibrating a camera from pictures of a ChArUco board, and calibration files.

Every camera is measured from the table it sees (``vision/self_calibration.py``). A calibration is for a lens that stays
where it is, such as a club's wide one.
"""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from common.durable import write_durably
from common.json_files import read_json
from common.phrases import Phrase
from vision.errors import CalibrationError
from vision.frame import FloatArray, Image
from vision.geometry import CameraModel
from vision.opencv import RADIAL_TERMS, aruco_dictionary, as_grey, fit_camera, points_2d

SQUARES = (7, 5)
"""Columns and rows of the calibration board, which fits on A4 and US Letter."""
SQUARE_MM, MARKER_MM = 30.0, 22.0
"""Sides of its squares and of the markers in them."""
DICTIONARY = "DICT_5X5_100"
"""OpenCV's name of its markers."""
_LONGEST_PX = 65_535
"""Longest side of a picture of a calibration: a JPEG's."""
_FEWEST_CORNERS = 8
"""Minimum number of corners seen in a picture that is used, a third of the board's. Higher: uses fewer pictures."""
_FEWEST_VIEWS = 5
"""Minimum number of pictures used. Lower: the focal length is told by too few tilts."""
_LARGEST_ERROR_PX = 0.5
"""Maximum reprojection error, in pixels; sharp pictures have about 0.06. Higher: accepts blurred ones."""
_LEAST_GAINS = (0.95, 0.85)
"""Share of the error that a third radial term, and then the rational model, may leave. Higher: they are used more."""


def calibration_board() -> cv2.aruco.CharucoBoard:
    """Return the printed board as OpenCV knows it."""
    return cv2.aruco.CharucoBoard(SQUARES, SQUARE_MM, MARKER_MM, aruco_dictionary(DICTIONARY))


def calibrate(images: Sequence[Image], *, name: str = "") -> CameraModel:
    """Calibrate a camera from pictures of the printed board, all of one size, (height, width[, 3]) uint8.

    Raises CalibrationError when the pictures differ in size, too few of them show the board, or no camera fits them
    within half a pixel.
    """
    sizes = sorted({(image.shape[1], image.shape[0]) for image in images})
    if len(sizes) > 1:
        listed = ", ".join(f"{width} x {height}" for width, height in sizes)
        raise CalibrationError("the pictures differ in size ({sizes}); take all with one camera at one setting", listed)
    views = [view for image in images if len((view := _corners(as_grey(image)))[0]) >= _FEWEST_CORNERS]
    if len(views) < _FEWEST_VIEWS:
        raise CalibrationError(
            "the calibration board is seen well in {usable} of {images} pictures; {fewest_views} are needed, sharp "
            "and not mirrored",
            len(views),
            len(images),
            _FEWEST_VIEWS,
        )
    camera = _fitted(views, sizes[0], name)
    if camera.reprojection_error_px > _LARGEST_ERROR_PX:
        raise CalibrationError(
            "the corners are {error_px} pixels off on average; at most {largest_error_px} is accepted; hold the "
            "board still and flat, keep the focus fixed, and leave blurred pictures out",
            f"{camera.reprojection_error_px:.2f}",
            _LARGEST_ERROR_PX,
        )
    return camera


def _corners(grey: Image) -> tuple[FloatArray, FloatArray]:
    """Return the board's inner corners that are seen: on the board in mm, (n, 3), and in the picture, (n, 2)."""
    board = calibration_board()
    found: Any = cv2.aruco.CharucoDetector(board).detectBoard(grey)
    corners, ids, *_ = found
    if ids is None:
        return np.zeros((0, 3)), np.zeros((0, 2))
    on_board = np.asarray(board.getChessboardCorners(), dtype=np.float64)[np.asarray(ids).ravel()]
    return on_board, points_2d(corners)


def _fitted(views: Sequence[tuple[FloatArray, FloatArray]], size: tuple[int, int], name: str) -> CameraModel:
    points, pixels = zip(*views, strict=True)
    try:
        fit, *others = (fit_camera(points, pixels, size, radial_terms=terms) for terms in RADIAL_TERMS)
    except ValueError as wrong:
        raise CalibrationError("no camera fits these pictures: {wrong}", wrong) from wrong
    # further terms distort the picture's corners badly where no corner was seen, so they must reduce the error
    for other, needed in zip(others, _LEAST_GAINS, strict=True):
        fit = other if other.error_px < needed * fit.error_px else fit
    return CameraModel(fit.matrix, fit.distortion, size, fit.error_px, name)


_FORMAT = "tabletop-referee camera"
_VERSION = 1
"""Version of the format of calibration files; other versions are rejected."""
_DISTORTION_LENGTHS = (4, 5, 8, 12, 14)
"""Possible numbers of coefficients in OpenCV's model of lens distortion."""


def save_calibration(path: Path, camera: CameraModel) -> None:
    """Write a calibration as JSON; raises CalibrationError when the file cannot be written."""
    try:
        write_durably(path, json.dumps(camera_to_json(camera), indent=2) + "\n")
    except OSError as error:
        raise CalibrationError("cannot write the calibration {path}: {strerror}", path, error.strerror) from error


def camera_to_json(camera: CameraModel) -> dict[str, Any]:
    """Return what ``camera_from_json`` reads."""
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "name": camera.name,
        "size": list(camera.size),
        "error_px": camera.reprojection_error_px,
        "matrix": camera.matrix.tolist(),
        "distortion": camera.distortion.tolist(),
    }


def load_calibration(path: Path) -> CameraModel:
    """Read a camera model from its calibration file; raises CalibrationError."""

    def fault(message: str) -> CalibrationError:
        return CalibrationError(
            "{message}; make one with: ./run hardware calibrate, or set none: the lens is measured from the table",
            message,
        )

    return camera_from_json(read_json(path, Phrase("the calibration"), fault), str(path))


def camera_from_json(data: Any, source: str) -> CameraModel:
    """Make a camera model from parsed JSON; raises CalibrationError naming the key that is missing or invalid."""
    if not isinstance(data, dict) or data.get("format") != _FORMAT:
        raise CalibrationError("{source} is not a calibration; make one with: ./run hardware calibrate", source)
    if data.get("version") != _VERSION:
        raise CalibrationError(
            "{source} has version {got!r}, this program reads {version}; calibrate again",
            source,
            data.get("version"),
            _VERSION,
        )
    try:
        matrix = np.asarray(data["matrix"], dtype=np.float64)
        distortion = np.asarray(data["distortion"], dtype=np.float64)
        width, height = (int(length) for length in data["size"])
        error_px = float(data["error_px"])
        name = str(data["name"])
    except KeyError as missing:
        raise CalibrationError("{source} has no key {missing}; calibrate again", source, missing) from None
    except (TypeError, ValueError, OverflowError) as wrong:
        raise CalibrationError("{source} is invalid: {wrong}; calibrate again", source, wrong) from None
    if matrix.shape != (3, 3) or not np.isfinite(matrix).all() or min(matrix[0, 0], matrix[1, 1]) <= 0:
        raise CalibrationError("{source}: matrix is not a camera matrix of 3 x 3 with focal lengths above zero", source)
    if distortion.ndim != 1 or len(distortion) not in _DISTORTION_LENGTHS or not np.isfinite(distortion).all():
        raise CalibrationError(
            "{source}: distortion has {size} numbers; expected 4, 5, 8, 12 or 14 finite ones", source, distortion.size
        )
    if not (1 <= width <= _LONGEST_PX and 1 <= height <= _LONGEST_PX and math.isfinite(error_px)):
        raise CalibrationError(
            "{source}: size {width} x {height} and error {error_px} do not fit a calibration",
            source,
            width,
            height,
            error_px,
        )
    return CameraModel(matrix, distortion, (width, height), error_px, name)
