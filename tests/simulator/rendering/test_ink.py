"""Sheets as the virtual camera sees them."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from simulator.rendering.ink import INKS
from simulator.rendering.renderer import Renderer
from simulator.scene.pieces import InkPose, PenPose, PiecePose
from simulator.scene.scene import Scene, Sensor, Setting, lens
from simulator.scene.sheets import place_mm
from simulator.table import standard_setting
from vision.geometry import project
from vision.layout.table import default_layout
from vision.opencv import aruco_dictionary, detect_markers

SIZE = (960, 540)


@pytest.fixture(scope="module")
def setting() -> Setting:
    plain = standard_setting(lens(SIZE), layout=default_layout("number-drop").with_sheets(2))
    return replace(plain, sensor=Sensor(noise=0.0, jpeg_quality=None))


def rendered(setting: Setting, *pieces: PiecePose) -> npt.NDArray[np.uint8]:
    return Renderer(1).render(Scene(setting, pieces))


def ink_on(setting: Setting, place: str, colour: str = "black") -> InkPose:
    x, y = place_mm(setting.layout, place)
    return InkPose(x, y, place, "digit 1", colour, (((-3.0, -3.0), (3.0, 3.0)), ((-3.0, 3.0), (3.0, -3.0))), 1.5)


def patch(setting: Setting, image: npt.NDArray[np.uint8], place: str) -> npt.NDArray[np.uint8]:
    """The centre of a cell."""
    x, y = project(setting.camera, setting.pose, np.array([[*place_mm(setting.layout, place), 0.0]]))[0]
    return image[round(y) - 2 : round(y) + 3, round(x) - 2 : round(x) + 3]


def test_every_sheet_has_its_markers(setting: Setting) -> None:
    found = detect_markers(cv2.aruco.ArucoDetector(aruco_dictionary("DICT_4X4_50")), rendered(setting))
    assert sorted(dict(found)) == list(range(8))


def test_ink_darkens_its_own_cell_only(setting: Setting) -> None:
    bare = rendered(setting)
    for place, beside in (("p1.c5", "p1.d5"), ("p2.g14", "p2.f14")):
        written = rendered(setting, ink_on(setting, place))
        assert patch(setting, written, place).min() < patch(setting, bare, place).min() - 60
        assert (patch(setting, written, beside) == patch(setting, bare, beside)).all()


@pytest.mark.parametrize(("colour", "channel"), [("red", 2), ("blue", 0)])
def test_a_pens_colour_shows(setting: Setting, colour: str, channel: int) -> None:
    written = patch(setting, rendered(setting, ink_on(setting, "p1.d7", colour)), "p1.d7").reshape(-1, 3)
    darkest = written[written.sum(axis=1).argmin()]
    assert int(darkest[channel]) == max(darkest)
    assert colour in INKS


def test_a_pen_lies_over_what_is_written(setting: Setting) -> None:
    x, y = place_mm(setting.layout, "p1.d7")
    pen = PenPose(x, y - 60.0, "black", turned_deg=90.0)
    plain = rendered(setting, pen)
    assert (
        patch(setting, plain, "p1.d7") == patch(setting, rendered(setting, pen, ink_on(setting, "p1.d7")), "p1.d7")
    ).all()
