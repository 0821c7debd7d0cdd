"""The ray-traced sheets in tests/data with their truth."""

import functools
import json
from pathlib import Path
from typing import Any

from vision.calibration import load_calibration
from vision.frame import Frame, Image
from vision.geometry import CameraModel, Pose
from vision.images import load_image
from vision.layout.table import TableLayout, default_layout
from vision.locating.location import locate
from vision.reading import Reading

_DATA = Path(__file__).resolve().parents[3] / "data"
FOLDER = _DATA / "photoreal-sheets"
EXPECTED: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
_LETTERS = {"empty": ".", "cross": "X", "red": "R", "blue": "B", "yellow": "Y", "green": "G"}


@functools.cache
def camera() -> CameraModel:
    return load_calibration(_DATA / "photoreal" / "pi3.json")


@functools.cache
def picture(game: str) -> Image:
    return load_image(FOLDER / f"{game}.jpg")


@functools.cache
def layout(game: str) -> TableLayout:
    return default_layout(game).with_sheets(1)


@functools.cache
def pose(game: str) -> Pose:
    return locate(picture(game), camera(), layout(game)).pose


def frame(image: Image, number: int = 0) -> Frame:
    return Frame(image, float(number), number, "sheet")


def grid_of(reading: Reading, game: str) -> list[str]:
    """A letter or digit for each cell of the first sheet, lines from the top; a question mark where it is hidden."""
    board = layout(game).board
    shown = {}
    for place in board.places:
        one = reading.places[place]
        look = one.best[0]
        shown[place] = "?" if one.hidden_by else _LETTERS.get(look, look.removeprefix("digit ")[:1])
    lines = [board.places[start : start + board.columns] for start in range(0, len(board.places), board.columns)]
    return ["".join(shown[place] for place in line) for line in reversed(lines)]
