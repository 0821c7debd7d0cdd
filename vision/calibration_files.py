"""Calibrations on disk: a small JSON file for each camera, and the picture that shows whether one is right."""

from __future__ import annotations

import json
import math
from datetime import date
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from vision.calibration import Calibration
from vision.durable import write_durably
from vision.errors import CalibrationError
from vision.frame import Image
from vision.geometry import CameraModel

_FORMAT = "tabletop-referee camera"
_VERSION = 1
_DISTORTION_LENGTHS = (4, 5, 8, 12, 14)
_PREVIEW_LINES = 8


def save_calibration(path: Path, calibration: Calibration, *, made_on: date) -> None:
    """Write a calibration as JSON; raises CalibrationError when the file cannot be written."""
    camera = calibration.camera
    data = {
        "format": _FORMAT,
        "version": _VERSION,
        "name": camera.name,
        "date": made_on.isoformat(),
        "board": calibration.board,
        "verdict": calibration.verdict,
        "size": list(camera.size),
        "error_px": camera.reprojection_error_px,
        "matrix": camera.matrix.tolist(),
        "distortion": camera.distortion.tolist(),
    }
    try:
        write_durably(path, json.dumps(data, indent=2) + "\n")
    except OSError as error:
        raise CalibrationError(f"cannot write the calibration {path}: {error.strerror}") from error


def load_calibration(path: Path) -> CameraModel:
    """Read a camera from its calibration file; raises CalibrationError that says what is wrong with the file."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CalibrationError(
            f"cannot read the calibration {path}: {error.strerror}; make one with: referee calibrate"
        ) from error
    except ValueError as error:
        raise CalibrationError(f"the calibration {path} is not JSON: {error}") from error
    return camera_from_json(data, str(path))


def camera_from_json(data: Any, source: str) -> CameraModel:
    """Make a camera of parsed JSON; raises CalibrationError naming the key that is missing or makes no sense."""
    if not isinstance(data, dict) or data.get("format") != _FORMAT:
        raise CalibrationError(f"{source} is no calibration; make one with: referee calibrate")
    if data.get("version") != _VERSION:
        raise CalibrationError(
            f"{source} has version {data.get('version')!r}, this program reads {_VERSION}; calibrate again"
        )
    try:
        matrix = np.asarray(data["matrix"], dtype=np.float64)
        distortion = np.asarray(data["distortion"], dtype=np.float64)
        width, height = (int(length) for length in data["size"])
        error_px = float(data["error_px"])
        name = str(data["name"])
    except KeyError as missing:
        raise CalibrationError(f"{source} has no key {missing}; calibrate again") from None
    except (TypeError, ValueError) as wrong:
        raise CalibrationError(f"{source} does not make sense: {wrong}; calibrate again") from None
    if matrix.shape != (3, 3) or not np.isfinite(matrix).all() or min(matrix[0, 0], matrix[1, 1]) <= 0:
        raise CalibrationError(f"{source}: matrix is no camera matrix of 3 x 3 with focal lengths above zero")
    if distortion.ndim != 1 or len(distortion) not in _DISTORTION_LENGTHS or not np.isfinite(distortion).all():
        raise CalibrationError(f"{source}: distortion holds no {', '.join(map(str, _DISTORTION_LENGTHS))} numbers")
    if width < 1 or height < 1 or not math.isfinite(error_px):
        raise CalibrationError(f"{source}: size {width} x {height} and error {error_px} are no calibration's")
    return CameraModel(matrix, distortion, (width, height), error_px, name)


def undistorted_preview(image: Image, camera: CameraModel) -> Image:
    """Give the picture (uint8, same size) as a perfect lens would take it, with straight lines drawn to judge it by."""
    straight = np.asarray(cv2.undistort(image, camera.matrix, camera.distortion), dtype=np.uint8)
    if straight.ndim == 2:
        straight = np.asarray(cv2.cvtColor(straight, cv2.COLOR_GRAY2BGR), dtype=np.uint8)
    height, width = straight.shape[:2]
    for step in range(1, _PREVIEW_LINES):
        x, y = step * width // _PREVIEW_LINES, step * height // _PREVIEW_LINES
        cv2.line(straight, (x, 0), (x, height - 1), (255, 160, 0), 1, cv2.LINE_AA)
        cv2.line(straight, (0, y), (width - 1, y), (255, 160, 0), 1, cv2.LINE_AA)
    return straight
