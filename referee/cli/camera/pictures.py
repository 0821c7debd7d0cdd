"""What the commands that look at pictures share: known positions, calibrations, picture files, readings as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cv2

from common.json_files import read_json
from vision.calibration import load_calibration
from vision.cameras import image_paths
from vision.errors import CalibrationError, EnrolmentError, FrameError, LayoutError
from vision.layout.table import TableLayout
from vision.reading import PlaceReading, Reading

if TYPE_CHECKING:
    from vision.frame import Image
    from vision.geometry import CameraModel

Position = dict[str, tuple[str, str]]
"""Colour and symbol up by square."""

_EXAMPLE = '"a4=gold star, b4=gold stop"'
_ENTRY = re.compile(r"\s*(\w+)\s*[=:]\s*(\w+)[\s,]+(?:block\s*,?\s*)?(\w+)(?:\s+up)?\s*")


def read_positions(text: str, layout: TableLayout) -> Position:
    """Read ``a4=gold star, b4=gold stop`` (commas, semicolons or lines between), or a JSON file of that name.

    The file holds ``{"blocks": [{"cell": "a4", "colour": "gold", "top": "star"}, …]}`` or ``{"a4": "gold star", …}``.
    Raises EnrolmentError that says which part cannot be read, or names a square the board does not have.
    """
    is_file = text.endswith(".json") or ("=" not in text and Path(text).is_file())
    entries = _of_file(Path(text)) if is_file else _of_text(text)
    position: Position = {}
    for place, colour, symbol in entries:
        _check(place, symbol, layout)
        if place in position:
            raise EnrolmentError(f"the square {place} is given twice in the positions")
        position[place] = (colour, symbol)
    if not position:
        raise EnrolmentError(f"the positions {text!r} name no block; expected such as {_EXAMPLE}")
    return position


def _of_text(text: str) -> Iterable[tuple[str, str, str]]:
    for part in re.split(r"[;\n]|,(?=\s*\w+\s*[=:])", text):
        if not part.strip():
            continue
        match = _ENTRY.fullmatch(part)
        if match is None:
            raise EnrolmentError(f"cannot read the position {part.strip()!r}; expected such as {_EXAMPLE}")
        yield match[1].lower(), match[2].lower(), match[3].lower()


def _of_file(path: Path) -> Iterable[tuple[str, str, str]]:
    data = read_json(path, "the positions", EnrolmentError, plural=True)
    if isinstance(data, Mapping) and "blocks" in data:
        try:
            return [(str(block["cell"]), str(block["colour"]), str(block["top"])) for block in data["blocks"]]
        except (KeyError, TypeError) as error:
            raise EnrolmentError(f"the blocks in {path} each need cell, colour and top ({error})") from error
    if isinstance(data, Mapping):
        return list(_of_text(";".join(f"{place}={what}" for place, what in data.items())))
    raise EnrolmentError(f"the positions {path} hold a {type(data).__name__}; expected an object with blocks")


def _check(place: str, symbol: str, layout: TableLayout) -> None:
    try:
        layout.centre_mm(place)
    except LayoutError as error:
        raise EnrolmentError(f"the positions name {place!r}: {error}") from error
    symbols = sorted(set(layout.net.values()))
    if symbols and symbol not in symbols:
        raise EnrolmentError(f"the positions put {symbol!r} on {place}; a block shows one of {', '.join(symbols)}")


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
