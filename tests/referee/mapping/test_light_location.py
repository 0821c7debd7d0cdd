"""A light located by the camera in rendered pictures with a glow, noise, flicker and hands."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from referee.mapping.dialogue import locate_light
from simulator.scene.scene import Setting
from tests.effort import some
from tests.referee.mapping.glowing import empty_boards, glow, small_setting
from vision.frame import Image

PAIRS = 3


@pytest.fixture(scope="module")
def setting() -> Setting:
    return small_setting()


@pytest.fixture(scope="module")
def empty_table(setting: Setting) -> list[Image]:
    """Seven pictures of the empty board, each with its own noise."""
    return empty_boards(setting, 2 * PAIRS + 1)


def flickering(image: Image, gain: float) -> Image:
    return np.clip(image.astype(float) * gain, 0, 255).astype(np.uint8)


Shine = Callable[[Image], Image]


def pictures(empty_table: list[Image], shine: Shine) -> tuple[list[Image], list[Image]]:
    return empty_table[::2], [shine(image) for image in empty_table[1::2]]


@pytest.mark.parametrize("place", some(["a1", "d4", "g7", "b6"]))
@pytest.mark.parametrize("levels", [12.0, 120.0])
def test_a_light_is_found_in_its_square(setting: Setting, empty_table: list[Image], place: str, levels: float) -> None:
    x_mm, y_mm = setting.layout.centre_mm(place)
    off, on = pictures(empty_table, lambda image: glow(image, setting, x_mm + 3, y_mm - 4, levels))
    spot = locate_light(off, on, setting.camera, setting.pose, setting.layout)
    assert (spot.place, spot.doubt) == (place, "")


def test_a_lamp_that_flickers_is_no_light(setting: Setting, empty_table: list[Image]) -> None:
    gains = iter([1.0, 0.9, 1.04, 1.08, 0.97, 1.0, 0.93])
    flicker = [flickering(image, next(gains)) for image in empty_table]
    off, on = flicker[::2], flicker[1::2]
    assert "no light" in locate_light(off, on, setting.camera, setting.pose, setting.layout).doubt
    x_mm, y_mm = setting.layout.centre_mm("c5")
    lit = [glow(image, setting, x_mm, y_mm, 30) for image in on]
    spot = locate_light(off, lit, setting.camera, setting.pose, setting.layout)
    assert (spot.place, spot.doubt) == ("c5", "")


def test_a_missing_light_is_reported(setting: Setting, empty_table: list[Image]) -> None:
    off, on = pictures(empty_table, lambda image: image)
    spot = locate_light(off, on, setting.camera, setting.pose, setting.layout)
    assert spot.place is None
    assert "no light" in spot.doubt


def test_a_single_change_is_no_light(setting: Setting, empty_table: list[Image]) -> None:
    off, on = list(empty_table[::2]), list(empty_table[1::2])
    on[1] = glow(on[1], setting, 0, 0, 150)
    assert "no light" in locate_light(off, on, setting.camera, setting.pose, setting.layout).doubt


def test_a_doubtful_light_is_reported_with_the_reason(setting: Setting, empty_table: list[Image]) -> None:
    half = setting.layout.board.cell_mm / 2

    def doubt_of(shine: Shine) -> str:
        off, on = pictures(empty_table, shine)
        return locate_light(off, on, setting.camera, setting.pose, setting.layout).doubt

    assert "between two squares" in doubt_of(lambda image: glow(image, setting, half, 0, 80))
    assert "beside the board" in doubt_of(lambda image: glow(image, setting, 0, -8.6 * half, 80))
    assert "two places" in doubt_of(lambda image: glow(glow(image, setting, 0, 0, 80), setting, 4 * half, 2 * half, 70))


def test_there_must_be_one_more_picture_without_the_light(setting: Setting, empty_table: list[Image]) -> None:
    with pytest.raises(ValueError, match="one more of off"):
        locate_light(empty_table[:2], empty_table[:2], setting.camera, setting.pose, setting.layout)
