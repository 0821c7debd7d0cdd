"""What the commands that look at pictures share: calibrations, picture files, readings as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cv2

from vision.calibration import load_calibration
from vision.cameras import image_paths
from vision.errors import CalibrationError, FrameError
from vision.reading import PlaceReading, Reading

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


_DIGITS = 4
_LEAST_SHOWN = 0.001


def reading_to_json(reading: Reading, source: str) -> dict[str, Any]:
    """Give a reading as JSON values: the likeliest look of each place, and all that have a chance, to four digits."""
    return {
        "source": source,
        "places": {place: _place_to_json(seen) for place, seen in reading.places.items()},
        "hindrances": [
            {"kind": hindrance.kind, "message": hindrance.message, "places": list(hindrance.places)}
            for hindrance in reading.hindrances
        ],
        "notices": list(reading.notices),
    }


def _place_to_json(seen: PlaceReading) -> dict[str, Any]:
    if seen.hidden_by is not None:
        return {"look": None, "hidden_by": seen.hidden_by}
    look, probability = seen.best
    place: dict[str, Any] = {
        "look": look,
        "probability": round(probability, _DIGITS),
        "probabilities": {
            name: round(value, _DIGITS) for name, value in seen.probabilities.items() if value >= _LEAST_SHOWN
        },
    }
    if seen.sides:
        place["sides"] = {
            side: {symbol: round(value, _DIGITS) for symbol, value in symbols.items()}
            for side, symbols in seen.sides.items()
        }
    if seen.offset_mm is not None:
        place["offset_mm"] = [round(length, 2) for length in seen.offset_mm]
    if seen.turned_deg is not None:
        place["turned_deg"] = round(seen.turned_deg, 1)
    return place
