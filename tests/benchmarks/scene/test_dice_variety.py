"""Random pictures of dice, their ground truth, and the drawings on their faces."""

import functools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.scene.dice_variety import COCKED, DicePicture, dice_picture
from benchmarks.scene.drawn_stacks import drawn_stacks_pictures
from benchmarks.scene.loose_dice import draw_dice
from benchmarks.scene.mirrored import fresnel
from benchmarks.scene.reflections import Facets, Surroundings
from benchmarks.scene.stack_variety import StacksPicture, stacks_picture
from benchmarks.scene.written_sheets import COLUMNS, ROWS, loops_of, scans_in, written_sheet
from simulator.rendering.dice import (
    FACE_PX,
    SHAPE_SQUARES,
    DieLook,
    DrawnDie,
    centre_height_mm,
    die_rotation,
    pip_face,
    pip_faces,
    printed_face,
    text_face,
)
from simulator.scene.handwriting import FORMS, OTHER_FORMS, Writer, loop_around
from simulator.scene.scene import Lighting, lens, looking_at
from tests.effort import cases
from vision.frame import FloatArray
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


def test_pictures_of_one_table_differ_in_their_stacks_only() -> None:
    first, *others = drawn_stacks_pictures(np.random.default_rng([2, 3]), LAYOUT)
    assert others
    for other in others:
        assert other.camera is first.camera
        assert other.pose is first.pose
        assert any(
            other.stacks[place].pieces != first.stacks[place].pieces for place in other.stacks.keys() & first.stacks
        )


# Random pictures of stacks, and their ground truth.


@pytest.fixture(scope="module")
def made_stack_variety() -> list[StacksPicture]:
    return [stacks_picture(np.random.default_rng([2, number]), LAYOUT) for number in range(cases(8, 2))]


def test_a_seed_gives_one_picture_stack_variety(made_stack_variety: list[StacksPicture]) -> None:
    again = stacks_picture(np.random.default_rng([2, 0]), LAYOUT)
    assert (again.image == made_stack_variety[0].image).all()
    assert again.hidden == made_stack_variety[0].hidden


def test_pictures_show_every_size_empty_places_and_hidden_ones(made_stack_variety: list[StacksPicture]) -> None:
    stacks = [stack for picture in made_stack_variety for stack in picture.stacks.values()]
    assert {stack.size for stack in stacks} == {"S", "M", "L"}
    assert any(len(picture.stacks) < len(LAYOUT.board.places) for picture in made_stack_variety)
    assert any(picture.hidden for picture in made_stack_variety)


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


def test_loops_enclose_several_connected_cells() -> None:
    loops = loops_of(np.random.default_rng(1), 3)
    assert loops.max() >= 2
    for number in range(1, loops.max() + 1):
        cells = {tuple(cell) for cell in np.argwhere(loops == number)}
        assert not cells or len(cells) >= 2
        grown = {min(cells)} if cells else set()
        for _ in cells:
            grown |= {(r + a, c + b) for r, c in grown for a, b in ((0, 1), (1, 0), (0, -1), (-1, 0))} & cells
        assert grown == cells


@pytest.mark.parametrize("seed", range(4))
def test_a_loop_stays_near_its_cells(seed: int) -> None:
    mask = np.array([[True, True, True], [False, False, True]])
    (stroke,) = loop_around(mask, np.random.default_rng(seed))
    assert stroke.min() > -0.3
    assert (stroke.max(axis=0) < np.array([3.3, 2.3])).all()


@pytest.mark.parametrize("sign", sorted({**FORMS, **OTHER_FORMS}))
def test_signs_stay_near_their_cell(sign: str) -> None:
    hand = Writer(np.random.default_rng(2))
    for _ in range(10):
        assert all(np.abs(stroke).max() < 0.7 for stroke in hand.sign(sign))
    assert all(np.abs(stroke).max() < 0.8 for stroke in hand.blot())


def test_a_share_of_the_writers_draws_a_wide_flag_on_a_1() -> None:
    widths = []
    for seed in range(60):
        drawn = np.vstack(Writer(np.random.default_rng(seed), 0.1).sign("1", 1.0))
        width, height = np.ptp(drawn, axis=0)
        widths.append(width / height)
    assert 5 < sum(width > 0.45 for width in widths) < 25


def test_signs_are_taken_from_scans() -> None:
    """A scan that fills its cell leaves no bare paper in the cell's middle, as strokes do."""
    bare = []
    for scans in ({}, {"1": np.full((1, 28, 28), 255, dtype=np.uint8)}):
        for seed in range(6):
            sheet = written_sheet(np.random.default_rng(seed), ("empty", "1", "blot"), 24, scans)
            grey = sheet.flat.mean(axis=2)[12:-12, 12:-12].reshape(ROWS, 24, COLUMNS, 24)
            ones = grey[:, 9:15, :, 9:15].max(axis=(1, 3))[sheet.signs == 1]
            bare.append(float(np.median(ones) / np.quantile(grey, 0.95)))
    assert max(bare[6:]) < min(bare[:6])


def test_a_quarter_of_a_file_of_scans_is_kept_aside(tmp_path: Path) -> None:
    """Each made picture holds its number, in a row of bits."""
    pictures = [[f"{number:032b}", *["0" * 32] * 31, f" {number % 10}"] for number in range(400)]
    (tmp_path / "digits.tra").write_text("\n".join(["ntot = 400", *(line for one in pictures for line in one)]))
    numbers = {}
    for aside in (False, True):
        scans = scans_in(tmp_path / "digits.tra", aside=aside)
        found = {digit: pictures.max(axis=1)[:, 6:-6] // 255 for digit, pictures in scans.items()}
        read = {digit: [int("".join(map(str, row)), 2) for row in rows.tolist()] for digit, rows in found.items()}
        assert all(number % 10 == int(digit) for digit, own in read.items() for number in own)
        numbers[aside] = sorted(number for own in read.values() for number in own)
    assert numbers == {False: list(range(236)), True: list(range(300, 400))}


# Mirror images in plane faces, and shadows on them.

CAMERA = lens((400, 400), distortion=np.zeros(5))
POSE = looking_at(600.0, 0.0)
SIDE_PX, STEP_MM = 200, 2.0
ORIGIN, SHAPE = np.zeros(2), (400, 400)
UPRIGHT = np.array([1.0, 0.0, 0.0])
"""The normal of a wall that faces +x."""


@pytest.fixture
def surroundings() -> Surroundings:
    """Ground with a brightness equal to its x in mm, under a grey sky."""
    column = (np.arange(SIDE_PX) - SIDE_PX / 2 + 0.5) * STEP_MM
    texture = np.broadcast_to(column[None, :, None], (SIDE_PX, SIDE_PX, 3)).astype(np.float32)
    half = SIDE_PX / 2 * STEP_MM - STEP_MM / 2
    ground = np.array([[STEP_MM, 0, -half], [0, -STEP_MM, half], [0, 0, 0], [0, 0, 1]])
    projection = CAMERA.matrix @ np.column_stack([POSE.rotation, POSE.translation])
    return Surroundings(projection, POSE.camera_position_mm, np.ascontiguousarray(texture), ground, np.full(3, 77.0))


def pixel(point_mm: FloatArray) -> tuple[int, int]:
    found = CAMERA.matrix @ (POSE.rotation @ point_mm + POSE.translation)
    column, row = np.rint(found[:2] / found[2]).astype(int).tolist()
    return row, column


def wall(x_mm: float, value: float) -> Facets:
    """A square of 20 mm that faces -x."""
    face = np.array([[x_mm, 10, 0], [x_mm, -10, 0], [x_mm, -10, 20], [x_mm, 10, 20]], dtype=float)
    return Facets(face[None], np.array([[-1.0, 0, 0]]), np.full((1, 3), value))


def test_reflectance_grows_from_a_little_head_on_to_everything_at_grazing_incidence() -> None:
    assert fresnel(1.0, 0.04) == pytest.approx(0.04)
    assert fresnel(0.0, 0.04) == pytest.approx(1.0)
    assert fresnel(0.2, 0.04) == pytest.approx(0.354, abs=1e-3)


def test_a_wall_mirrors_the_ground_where_the_reflected_ray_hits_it(surroundings: Surroundings) -> None:
    point = np.array([-60.0, 0.0, 30.0])
    picture = surroundings.mirrored(point, UPRIGHT, Facets.joined([]), ORIGIN, SHAPE)
    # the ray from 600 mm above the centre goes 2 mm aside for each 19 mm down, and turns back at the wall
    assert picture[pixel(point)][0] == pytest.approx(-60 + 30 * 60 / 570, abs=1.0)


def test_a_wall_mirrors_an_object_in_front_of_it_and_none_behind_it(surroundings: Surroundings) -> None:
    point = np.array([-60.0, 0.0, 30.0])
    in_front = surroundings.mirrored(point, UPRIGHT, wall(-58.0, 500.0), ORIGIN, SHAPE)
    behind = surroundings.mirrored(point, UPRIGHT, wall(-62.0, 500.0), ORIGIN, SHAPE)
    assert in_front[pixel(point)][0] == pytest.approx(500.0)
    assert behind[pixel(point)][0] < 0


def test_a_level_mirror_shows_the_sky(surroundings: Surroundings) -> None:
    flat = surroundings.mirrored(
        np.array([0.0, 0.0, 30.0]), np.array([0.0, 0.0, 1.0]), Facets.joined([]), ORIGIN, SHAPE
    )
    assert (flat == 77.0).all()


def test_a_body_in_front_of_a_face_casts_its_shadow_on_it(surroundings: Surroundings) -> None:
    point = np.array([-60.0, 0.0, 20.0])
    to_light = np.array([1.0, 0.0, 0.0])
    corners = wall(-40.0, 0.0).corners_mm.reshape(-1, 3)
    mask = surroundings.shadow(point, UPRIGHT, to_light, [corners], ORIGIN, SHAPE)
    assert mask[pixel(np.array([-60.0, 0.0, 10.0]))] == 255
    assert not surroundings.shadow(point, UPRIGHT, to_light, [corners - [40.0, 0, 0]], ORIGIN, SHAPE).any()
    assert mask[pixel(np.array([-60.0, 30.0, 10.0]))] == 0
