"""What the commands that look at pictures share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import cv2

from vision.calibration_files import load_calibration
from vision.cameras import image_paths
from vision.errors import CalibrationError, FrameError

if TYPE_CHECKING:
    from vision.frame import Image
    from vision.geometry import CameraModel


def camera_of(calibration: Path | None) -> CameraModel:
    """Load the camera's calibration; raises CalibrationError, also when none was given."""
    if calibration is None:
        raise CalibrationError(
            "no calibration is set; make one with `referee calibrate`, then give --calibration FILE or set "
            "calibration below [camera]"
        )
    return load_calibration(calibration)


def pictures_in(sources: Sequence[Path]) -> Iterator[Path]:
    """Give the image files, those of a folder in name order; raises CameraError for a folder without any."""
    for source in sources:
        if source.is_dir():
            yield from image_paths(source)
        else:
            yield source


def save_image(path: Path, image: Image) -> None:
    """Write a picture in the format of the file's suffix; raises FrameError for a format or place that fails."""
    try:
        written = cv2.imwrite(str(path), image)
    except cv2.error as error:
        raise FrameError(f"cannot write the picture {path}: its name should end in .png or .jpg") from error
    if not written:
        raise FrameError(f"cannot write the picture {path}: check that its folder exists and may be written")
