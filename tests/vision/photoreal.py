"""The ray-traced pictures in tests/data with their truth, cameras, poses and taught appearance."""

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
from vision.readers.blocks.appearance import BlockAppearance
from vision.readers.blocks.enrolment import enrol
from vision.readers.protocols import EnrolmentPicture

FOLDER = Path(__file__).parent.parent / "data" / "photoreal"
EXPECTED: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
LAYOUT: TableLayout = default_layout("deblockle")
BOARDS = tuple(name for name in EXPECTED if not name.startswith("enrol"))


@functools.cache
def camera(name: str) -> CameraModel:
    return load_calibration(FOLDER / f"{EXPECTED[name]['camera']}.json")


@functools.cache
def picture(name: str) -> Image:
    return load_image(FOLDER / name)


@functools.cache
def pose(name: str) -> Pose:
    return locate(picture(name), camera(name), LAYOUT).pose


def frame(name: str, number: int = 0) -> Frame:
    return Frame(picture(name), float(number), number, name)


def enrolment(name: str) -> EnrolmentPicture:
    position = {}
    for place, look in EXPECTED[name]["blocks"].items():
        colour, _, rest = look.partition(" block, ")
        position[place] = (colour, rest.removesuffix(" up"))
    return EnrolmentPicture(picture(name), camera(name), pose(name), position, name)


@functools.cache
def looks() -> BlockAppearance:
    return enrol([enrolment("enrol-gold.jpg"), enrolment("enrol-teal.jpg")], LAYOUT.board)


def expected_look(name: str, place: str) -> str:
    return str(EXPECTED[name]["blocks"].get(place, "empty"))
