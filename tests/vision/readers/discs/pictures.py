"""The ray-traced pictures of discs in tests/data with their truth, and what is needed to read them."""

import functools
import json
from pathlib import Path
from typing import Any

from tests.vision import photoreal
from vision.calibration import load_calibration
from vision.frame import Image
from vision.geometry import CameraModel, Pose
from vision.images import load_image
from vision.layout.table import TableLayout, default_layout
from vision.locating.location import locate
from vision.readers.discs.enrolment import learn_colours
from vision.readers.discs.lighting import DiscAppearance
from vision.readers.protocols import SurfaceView

FOLDER = Path(__file__).parents[3] / "data" / "photoreal-discs"
EXPECTED: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
LAYOUT: TableLayout = default_layout("diaballik")
PLAYED = tuple(name for name in EXPECTED if name != "enrol.jpg")


@functools.cache
def camera(name: str) -> CameraModel:
    return load_calibration(photoreal.FOLDER / f"{EXPECTED[name]['camera']}.json")


START = {
    f"{column}{row}": f"{colour} piece{' with ball' if column == 'd' else ''}"
    for row, colour in ((1, "black"), (7, "white"))
    for column in "abcdefg"
}


@functools.cache
def picture(name: str) -> Image:
    return load_image(FOLDER / name)


@functools.cache
def pose(name: str) -> Pose:
    return locate(picture(name), camera(name), LAYOUT).pose


def view(name: str, image: Image | None = None) -> SurfaceView:
    shown = picture(name) if image is None else image
    return SurfaceView(shown, camera(name), pose(name), LAYOUT.board, markers=LAYOUT.markers)


@functools.cache
def looks() -> DiscAppearance:
    return learn_colours(view("enrol.jpg"), DiscAppearance({}), START)


def expected(name: str) -> dict[str, str]:
    pieces: dict[str, str] = EXPECTED[name]["pieces"]
    return dict.fromkeys(LAYOUT.places, "empty") | pieces
