"""The ray-traced sheets in tests/data with their truth, and drawn grids."""

import functools
import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from benchmarks.scene.written_sheets import written_sheet
from simulator.scene.handwriting import Writer
from vision.calibration import load_calibration
from vision.frame import Frame, Image
from vision.geometry import CameraModel, Pose
from vision.images import load_image
from vision.layout.table import TableLayout, default_layout
from vision.locating.location import locate
from vision.readers.ink.network import SIGNS
from vision.readers.tiles import TileGrid
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


def handwritten_grid(seed: int) -> tuple[Image, TileGrid, list[list[str]]]:
    """A tidy writer's grid, photographed askew, and the signs in its cells."""
    rng = np.random.default_rng(seed)
    cell_px, corners = 40, ((150.0, 60.0), (560.0, 110.0), (520.0, 440.0), (80.0, 380.0))
    sheet = written_sheet(rng, SIGNS, cell_px, own=Writer(rng, 0.3))
    rows, columns = sheet.signs.shape
    inner = np.array([(0.5, 0.5), (columns + 0.5, 0.5), (columns + 0.5, rows + 0.5), (0.5, rows + 0.5)]) * cell_px
    to_photo = cv2.getPerspectiveTransform(inner.astype(np.float32), np.array(corners, dtype=np.float32))
    photo = cv2.warpPerspective(sheet.flat, to_photo, (640, 480), borderValue=(120, 120, 120))
    signs = [[SIGNS[number] for number in row] for row in sheet.signs]
    return np.asarray(photo, dtype=np.uint8), TileGrid(rows, columns, corners), signs
