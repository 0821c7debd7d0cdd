"""Discs, balls and pyramids are drawn where geometry puts them, in their colours, with shadows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simulator.rendering.renderer import Renderer
from simulator.scene.pieces import Ball, BallPose, DiscPose, PiecePose, Pyramid, StackPose
from simulator.scene.scene import Lamp, Lighting, Scene, Setting, looking_at
from vision.frame import Image
from vision.geometry import project
from vision.layout.pieces import PyramidPieces
from vision.layout.table import default_layout


@pytest.fixture(scope="module")
def discs_setting(clean_setting: Setting) -> Setting:
    return replace(clean_setting, layout=default_layout("diaballik"), lighting=Lighting(gloss=0.0))


@pytest.fixture(scope="module")
def stacks_setting(clean_setting: Setting) -> Setting:
    return replace(clean_setting, layout=default_layout("blockade"), lighting=Lighting(gloss=0.0))


def rendered(setting: Setting, *pieces: PiecePose) -> Image:
    return Renderer().render(Scene(setting, pieces))


def at(setting: Setting, image: Image, x_mm: float, y_mm: float, z_mm: float) -> np.ndarray:
    column, row = np.rint(project(setting.camera, setting.pose, [[x_mm, y_mm, z_mm]])[0]).astype(int)
    return np.asarray(image[row, column], dtype=int)


def test_a_disc_covers_what_its_circle_covers(discs_setting: Setting) -> None:
    setting = replace(discs_setting, pose=looking_at(tilt_deg=0.0))
    bare, image = rendered(setting), rendered(setting, DiscPose(0.0, 0.0, "black"))
    for angle in np.linspace(0, 2 * np.pi, 8):
        x, y = np.cos(angle), np.sin(angle)
        assert at(setting, image, 11.0 * x, 11.0 * y, 20.0).max() < 80
        assert at(setting, image, 16.5 * x, 16.5 * y, 10.0).min() > 80
    far = at(setting, image, 60.0, 60.0, 10.0)
    assert np.array_equal(far, at(setting, bare, 60.0, 60.0, 10.0))


def test_a_ball_lies_on_its_disc(discs_setting: Setting) -> None:
    setting = replace(discs_setting, pose=looking_at(620.0, 40.0))
    carrier = rendered(setting, DiscPose(0.0, 0.0, "white", Ball("black")))
    assert at(setting, carrier, 0.0, 0.0, 10.0 + 10.0 + 12.0).max() < 90
    assert at(setting, carrier, -10.0, 0.0, 20.0).min() > 120
    alone = rendered(setting, BallPose(0.0, 0.0, "black"))
    assert at(setting, alone, 0.0, 0.0, 10.0 + 12.0).max() < 90


def test_a_ball_casts_its_shadow_on_its_disc(discs_setting: Setting) -> None:
    lamp = Lamp((-700.0, 0.0, 700.0), radius_mm=10.0)
    setting = replace(discs_setting, lighting=Lighting((lamp,), ambient=0.2, gloss=0.0), pose=looking_at(tilt_deg=0.0))
    image = rendered(setting, DiscPose(0.0, 0.0, "white", Ball("white", (-3.0, 0.0))))
    assert at(setting, image, 8.5, 0.0, 20.0).mean() < 0.85 * at(setting, image, 0.0, 10.0, 20.0).mean()


def test_an_unknown_colour_is_refused(discs_setting: Setting, stacks_setting: Setting) -> None:
    with pytest.raises(ValueError, match="no piece colour 'red'; this table has black, white"):
        rendered(discs_setting, DiscPose(0.0, 0.0, "red"))
    with pytest.raises(ValueError, match="no pyramid colour 'pink'"):
        rendered(stacks_setting, StackPose(0.0, 0.0, (Pyramid("L", "pink"),)))


@pytest.mark.parametrize(("colour", "channel"), [("red", 2), ("green", 1), ("blue", 0)])
def test_a_stack_shows_its_top_piece_at_its_height(stacks_setting: Setting, colour: str, channel: int) -> None:
    setting = replace(stacks_setting, pose=looking_at(620.0, 30.0))
    sizes = ("L", "M", "M", "S")
    stack = StackPose(0.0, 0.0, (*(Pyramid(size, "clear") for size in sizes[:-1]), Pyramid("S", colour)))
    image = rendered(setting, stack)
    pyramids = PyramidPieces.on(setting.layout.board)
    base = 6.0 + pyramids.elevations_mm(sizes)[-1]
    seen = at(setting, image, 0.0, -4.0, base + 9.0)
    assert seen.argmax() == channel
    assert seen.max() > 1.5 * np.sort(seen)[1]


def test_a_clear_pyramid_hides_less_than_a_black_one(stacks_setting: Setting) -> None:
    bare = rendered(stacks_setting)
    change = {}
    for colour in ("clear", "black"):
        image = rendered(stacks_setting, StackPose(0.0, 0.0, (Pyramid("L", colour),)))
        change[colour] = np.abs(image.astype(int) - bare).sum()
    assert 0 < change["clear"] < 0.6 * change["black"]


def test_a_leaning_pyramid_displaces_its_tip(stacks_setting: Setting) -> None:
    setting = replace(stacks_setting, pose=looking_at(tilt_deg=0.0))
    image = rendered(setting, StackPose(0.0, 0.0, (Pyramid("L", "black", lean_deg=(20.0, 0.0)),)))
    tip_mm = 44.5 * np.sin(np.radians(20.0))
    assert at(setting, image, tip_mm - 1.0, 0.0, 6.0 + 44.5 * np.cos(np.radians(20.0)) - 1.0).max() < 90


def test_a_moving_piece_is_blurred(discs_setting: Setting) -> None:
    held = DiscPose(0.0, 0.0, "black", base_mm=30.0)
    still, moving = (rendered(discs_setting, replace(held, streak_mm=streak)) for streak in ((0.0, 0.0), (20.0, 0.0)))
    beside = [at(discs_setting, image, 15.0, 0.0, 35.0).mean() for image in (still, moving)]
    assert beside[1] < beside[0] - 20
