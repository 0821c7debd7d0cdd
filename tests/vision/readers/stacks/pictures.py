"""The ray-traced pictures of stacks in tests/data with their truth, and what is needed to read them."""

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
from vision.readers.protocols import EnrolmentPicture, SurfaceView
from vision.readers.stacks.appearance import PyramidAppearance, look_name
from vision.readers.stacks.enrolment import enrol, stack_of

FOLDER = Path(__file__).parents[3] / "data" / "photoreal-stacks"
EXPECTED: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
LAYOUT: TableLayout = default_layout("blockade")


@functools.cache
def camera(name: str) -> CameraModel:
    return load_calibration(photoreal.FOLDER / f"{EXPECTED[name]['camera']}.json")


@functools.cache
def picture(name: str) -> Image:
    return load_image(FOLDER / name)


@functools.cache
def pose(name: str) -> Pose:
    return locate(picture(name), camera(name), LAYOUT).pose


def view(name: str) -> SurfaceView:
    return SurfaceView(picture(name), camera(name), pose(name), LAYOUT.board, markers=LAYOUT.markers)


def enrolment(name: str) -> EnrolmentPicture:
    position = {place: stack_of(stack) for place, stack in EXPECTED[name]["stacks"].items()}
    return EnrolmentPicture(picture(name), camera(name), pose(name), position, name, LAYOUT.markers)


@functools.cache
def looks() -> PyramidAppearance:
    return enrol([enrolment("enrol.jpg")], LAYOUT.board)


def expected(name: str) -> dict[str, str]:
    tops = {place: stack_of(stack)[-1] for place, stack in EXPECTED[name]["stacks"].items()}
    return {place: look_name(colour, size) for place, (size, colour) in tops.items()}
