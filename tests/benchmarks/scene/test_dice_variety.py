"""Random pictures of dice, their ground truth, and the drawings on their faces."""

import functools

import numpy as np
import pytest

from benchmarks.scene.dice_variety import COCKED, DicePicture, dice_picture
from simulator.rendering.dice import (
    FACE_PX,
    SHAPE_SQUARES,
    DieLook,
    DrawnDie,
    centre_height_mm,
    die_rotation,
    draw_dice,
    pip_face,
    pip_faces,
    printed_face,
    text_face,
)
from simulator.scene.scene import Lighting, lens, looking_at


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


def test_a_die_that_the_edge_of_the_picture_cuts_off_is_not_in_sight() -> None:
    pictures = [made(number) for number in range(25)]
    flattened = [die.in_sight for picture in pictures if picture.camera_px is not None for die in picture.dice]
    assert set(flattened) == {True, False}


def test_a_leaning_die_has_a_direction_only_in_rectified_pictures() -> None:
    pictures = [made(number) for number in range(12)]
    assert {COCKED} < {die.shows for picture in pictures for die in picture.dice}
    for picture in pictures:
        for die in picture.dice:
            assert (die.leans is None) == (picture.camera_px is None)
            if die.leans is not None:
                assert (np.hypot(*die.leans) > np.sin(np.radians(10))) == (die.shows == COCKED)


@pytest.mark.parametrize("value", range(1, 7))
def test_a_face_has_as_many_pips_as_its_value(value: int) -> None:
    face = pip_face(value, radius=0.1)
    assert face.shape == (FACE_PX, FACE_PX)
    assert face.mean() == pytest.approx(value * np.pi * 0.1**2, rel=0.08)


def test_opposite_faces_add_up_to_seven() -> None:
    pips = [face.mean() for face in pip_faces()]
    one = pips[0]
    counts = [round(share / one) for share in pips]
    assert [a + b for a, b in zip(counts[::2], counts[1::2], strict=True)] == [7, 7, 7]


def test_letters_are_drawn() -> None:
    assert 0.03 < text_face("8").mean() < 0.5


@pytest.mark.parametrize("letter", SHAPE_SQUARES)
def test_a_shape_has_four_squares(letter: str) -> None:
    assert printed_face(letter).mean() == pytest.approx(4 * (0.15 * 0.9) ** 2, rel=0.1)


def test_a_star_has_one_point_above_and_two_below() -> None:
    star = printed_face("*") > 0.5
    rows = np.flatnonzero(star.any(axis=1))
    highest, lowest = (np.ptp(np.flatnonzero(star[row])) for row in (rows[0], rows[-1]))
    assert highest < 4
    assert lowest > 15


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


@pytest.mark.parametrize("face", range(6))
def test_a_die_has_the_requested_rotation(face: int) -> None:
    turn = die_rotation(face, 30.0)
    assert turn @ turn.T == pytest.approx(np.eye(3), abs=1e-9)
    axis = np.zeros(3)
    axis[2 - face // 2] = 1 if face % 2 == 0 else -1
    assert turn @ axis == pytest.approx([0, 0, 1], abs=1e-9)
    assert centre_height_mm(turn, 16.0) == pytest.approx(8.0)
    assert centre_height_mm(die_rotation(face, 30.0, 45.0), 16.0) > 10.0
