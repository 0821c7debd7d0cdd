"""Other cameras, other light and what lies in the way, laid over pictures."""

import json
from importlib.resources import files
from pathlib import Path

import cv2
import numpy as np
import pytest

from benchmarks.parts.picture_changes import EFFECTS, LabelledPicture, View
from benchmarks.parts.picture_changes import with_effect as changed_by
from benchmarks.parts.picture_sets import PictureFolder
from simulator.rendering.renderer import Renderer
from simulator.scene.scene import Scene, lens
from simulator.table import standard_setting
from tests.effort import some
from vision.frame import Image
from vision.geometry import CameraModel, Pose

SETTING = standard_setting(lens((640, 480)))


def seen_by_nobody() -> tuple[CameraModel, Pose]:
    raise AssertionError("this change needs no geometry")


def with_effect(name: str, image: Image, view: View = seen_by_nobody) -> Image:
    return changed_by(name, LabelledPicture(image, view, SETTING.layout))


@pytest.fixture(scope="module")
def squares() -> Image:
    """A grey picture with a darker square that has sharp edges."""
    image = np.full((60, 80, 3), 170, dtype=np.uint8)
    image[20:40, 30:50] = 80
    return image


@pytest.fixture(scope="module")
def table() -> Image:
    return Renderer(1).render(Scene(SETTING), 1)


@pytest.mark.parametrize("name", some(EFFECTS, 20))
def test_an_effect_changes_a_picture_the_same_way_each_time(name: str, table: Image) -> None:
    first, again = (with_effect(name, table, lambda: (SETTING.camera, SETTING.pose)) for _ in range(2))
    assert first.shape == table.shape
    assert first.dtype == np.uint8
    assert np.abs(first.astype(float) - table).mean() > 0.05
    assert np.array_equal(first, again)


@pytest.mark.parametrize(("name", "is_taught"), [("shadow", False), ("night", False), ("warm", True)])
def test_enrolment_pictures_have_a_cameras_effects_but_not_other_light(
    name: str, is_taught: bool, squares: Image, tmp_path: Path
) -> None:
    layout = files("vision.layout") / "games" / "diaballik.json"
    (tmp_path / "layout.json").write_text(layout.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "index.json").write_text("{}", encoding="utf-8")
    calibration = tmp_path / "calibration"
    calibration.mkdir()
    board = {"squares": [5, 7], "square_mm": 30, "marker_mm": 20, "dictionary": "DICT_4X4_50"}
    (calibration / "layout.json").write_text(json.dumps(board), encoding="utf-8")
    for file in ("000.png", "enrol.png"):
        cv2.imwrite(str(tmp_path / file), squares)
    folder = PictureFolder(tmp_path, calibration, name)
    assert not np.array_equal(folder.image(tmp_path / "000.png"), squares)
    assert np.array_equal(folder.image(tmp_path / "enrol.png"), squares) is not is_taught
