"""Random pictures of dice, their ground truth, and the drawings on their faces."""

import functools
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.scene.dice_variety import DicePicture, dice_picture
from benchmarks.scene.drawn_stacks import drawn_stacks_pictures
from benchmarks.scene.loose_dice import draw_dice
from benchmarks.scene.stack_variety import StacksPicture, stacks_picture
from benchmarks.scene.written_sheets import COLUMNS, ROWS, written_sheet
from simulator.rendering.dice import (
    FACE_PX,
    DieLook,
    DrawnDie,
    die_rotation,
)
from simulator.scene.scene import Lighting, lens, looking_at
from tests.effort import cases
from vision.geometry import project
from vision.layout.pieces import PyramidPieces
from vision.layout.table import default_layout


@functools.cache
def made(number: int) -> DicePicture:
    return dice_picture(np.random.default_rng([5, number]), 96)


def test_a_seed_gives_one_picture() -> None:
    first, second = (dice_picture(np.random.default_rng(3), 96) for _ in range(2))
    assert (first.image == second.image).all()
    assert first.dice == second.dice


def test_the_pictures_vary_and_their_dice_are_in_them() -> None:
    pictures = [made(number) for number in range(12)]
    shown = {die.shows for picture in pictures for die in picture.dice}
    assert len(shown) > 3
    for picture in pictures:
        assert picture.image.shape == (96, 96, 3)
        assert all(0 <= die.x_px < 96 and 0 <= die.y_px < 96 and die.side_px > 5 for die in picture.dice)


@pytest.mark.parametrize("face", range(6))
def test_printed_faces_are_not_mirrored(face: int) -> None:
    faces = [np.zeros((FACE_PX, FACE_PX), dtype=np.float32) for _ in range(6)]
    faces[face][: FACE_PX // 2, : FACE_PX // 2] = 1  # the upper left quarter
    faces[face][: FACE_PX // 2, FACE_PX // 2 :] = 0.5  # the upper right one
    look = DieLook((0.1, 0.1, 0.1), (1.0, 1.0, 1.0), tuple(faces))
    camera = lens((60, 60), 8.0, (0, 0, 0, 0, 0), (0, 0))
    picture = np.zeros((60, 60, 3), dtype=np.float32)
    die = DrawnDie(np.array([0.0, 0.0, 8.0]), 16.0, die_rotation(face, 0.0), look)
    draw_dice(picture, camera, looking_at(200.0, 0.0, target_mm=(0.0, 0.0, 16.0)), Lighting(), [die])
    quarters = np.array([[22, 22], [22, 37], [37, 37], [37, 22]])  # round the face as a clock goes
    light = picture[quarters[:, 0], quarters[:, 1], 0]
    first = int(light.argmax())
    assert light[(first + 1) % 4] > 2 * max(light[(first + 2) % 4], light[(first + 3) % 4])


# Pictures of stacks as the virtual table draws them, and their ground truth.

USUAL = default_layout("blockade")
LAYOUT = replace(USUAL, surfaces=(replace(USUAL.board, columns=3, rows=3),))
"""A small board, which renders fast."""


def test_a_seed_gives_the_same_pictures_with_tips_at_their_true_positions() -> None:
    made = drawn_stacks_pictures(np.random.default_rng([2, 3]), LAYOUT)
    again = drawn_stacks_pictures(np.random.default_rng([2, 3]), LAYOUT)
    assert all((one.image == other.image).all() for one, other in zip(made, again, strict=True))
    pieces = PyramidPieces.on(LAYOUT.board)
    for picture in made:
        assert picture.hidden < set(picture.stacks)
        for place, stack in picture.stacks.items():
            height = LAYOUT.board.height_mm + pieces.tip_mm(stack.size, stack.pieces)
            assert stack.tip_mm[2] == pytest.approx(height, rel=0.05)
            assert np.linalg.norm(stack.foot_mm - LAYOUT.board.centre_mm(place)) < 9
            column, row = project(picture.camera, picture.pose, stack.tip_mm[None])[0]
            assert 0 <= column < picture.image.shape[1]
            assert 0 <= row < picture.image.shape[0]


# Random pictures of stacks, and their ground truth.


@pytest.fixture(scope="module")
def made_stack_variety() -> list[StacksPicture]:
    return [stacks_picture(np.random.default_rng([2, number]), LAYOUT) for number in range(cases(8, 2))]


def test_a_seed_gives_one_picture_stack_variety(made_stack_variety: list[StacksPicture]) -> None:
    again = stacks_picture(np.random.default_rng([2, 0]), LAYOUT)
    assert (again.image == made_stack_variety[0].image).all()
    assert again.hidden == made_stack_variety[0].hidden


def test_tips_are_as_high_as_the_pieces_below_make_them_and_in_the_picture(
    made_stack_variety: list[StacksPicture],
) -> None:
    pieces = PyramidPieces.on(LAYOUT.board)
    for picture in made_stack_variety:
        for place, stack in picture.stacks.items():
            height = LAYOUT.board.height_mm + pieces.tip_mm(stack.size, stack.pieces)
            assert stack.tip_mm[2] == pytest.approx(height, rel=0.12)
            assert np.linalg.norm(stack.foot_mm - LAYOUT.board.centre_mm(place)) < 9
            column, row = project(picture.camera, picture.pose, stack.tip_mm[None])[0]
            assert -1 <= column <= picture.image.shape[1]
            assert row <= picture.image.shape[0]


# Random pictures of written sheets, and their ground truth.

SIGNS = ("empty", "1", "2", "X", "blot")


def test_a_seed_always_gives_the_same_sheet() -> None:
    first, again, other = (written_sheet(np.random.default_rng(seed), SIGNS, 24) for seed in (4, 4, 5))
    assert (first.flat == again.flat).all()
    assert (first.signs == again.signs).all()
    assert (first.loops == again.loops).all()
    assert (first.signs != other.signs).any()
    assert first.flat.shape == ((ROWS + 1) * 24, (COLUMNS + 1) * 24, 3)


def test_cells_with_ink_are_darker_than_empty_ones() -> None:
    sheet = written_sheet(np.random.default_rng(11), SIGNS, 24)
    grey = sheet.flat.mean(axis=2)[12:-12, 12:-12].reshape(ROWS, 24, COLUMNS, 24)
    spread = grey[:, 5:19, :, 5:19].std(axis=(1, 3))
    assert spread[sheet.signs > 0].min() > np.median(spread[sheet.signs == 0])
