from __future__ import annotations

import numpy as np
import pytest

from benchmarks.parts.stress.drafts import piece_look
from benchmarks.parts.stress.hardships import hardships
from benchmarks.parts.stress.scenes import StressCase, case_of
from benchmarks.scene.variety import FACES, INKS, are_distinguishable, shows_on, varied_pieces
from benchmarks.stress import Task, picture_of, tasks
from simulator.rendering.optics import irradiance
from simulator.rendering.textures import face_texture
from simulator.scene.cube import turn_rotation
from simulator.scene.pieces import BlockPose, StackPose
from simulator.scene.scene import Lighting, Shade
from tests.effort import some
from tests.present import present
from vision.geometry import project

KNOWN = hardships(1)
LEVELS = [(name, level) for name, hardship in KNOWN.items() for level in hardship.levels]


@pytest.fixture(scope="module")
def cases() -> list[StressCase]:
    return [case_of(KNOWN[name], level, 0, seed=5) for name, level in some(LEVELS, 15)]


def test_blocks_do_not_intersect(cases: list[StressCase]) -> None:
    grid = np.stack(np.meshgrid(np.linspace(-14.9, 14.9, 16), np.linspace(-14.9, 14.9, 16)), axis=-1).reshape(-1, 2)
    for case in cases:
        for first in case.scene.pieces:
            turn = turn_rotation(first.turned_deg)[:2, :2]
            points = grid @ turn.T + [first.x_mm, first.y_mm]
            for second in case.scene.pieces:
                if second is first:
                    continue
                back = (points - [second.x_mm, second.y_mm]) @ turn_rotation(second.turned_deg)[:2, :2]
                assert not (np.abs(back) < 15.0).all(axis=1).any(), case.name


def test_the_truth_names_every_block_where_it_stands(cases: list[StressCase]) -> None:
    for case in cases:
        layout = case.scene.setting.layout
        blocks = {place: look for place, look in case.looks.items() if look != "empty"}
        assert len(blocks) == len(case.scene.pieces)
        for block in case.scene.pieces:
            assert isinstance(block, BlockPose)
            (place,) = (
                place
                for place in blocks
                if np.hypot(*(np.array(layout.centre_mm(place)) - [block.x_mm, block.y_mm])) <= 8.01
            )
            assert blocks[place] == f"{block.colour} block, {block.up} up"
            assert abs(block.turned_deg) <= 30.0


def test_the_board_and_the_markers_that_are_there_are_in_the_picture(cases: list[StressCase]) -> None:
    for case in cases:
        setting = case.scene.setting
        markers = setting.layout.markers
        shown = [marker for marker in markers.centres_mm if setting.table.markers.get(marker) != "missing"]
        corners = np.vstack([markers.corners_mm(marker) for marker in shown])
        top = setting.layout.board.height_mm
        board = np.array([[x, y, top] for x in (-140.0, 140.0) for y in (-140.0, 140.0)])
        pixels = project(setting.camera, setting.pose, np.vstack([corners, board]))
        assert bool(np.all(pixels > 0)), case.name
        assert bool(np.all(pixels < np.array(setting.camera.size))), case.name


def test_a_hand_over_the_board_covers_places_and_one_beside_it_none() -> None:
    over = [case_of(KNOWN["hands"], "bare arm", number, seed=2) for number in range(6)]
    beside = [case_of(KNOWN["hands"], "beside", number, seed=2) for number in range(6)]
    assert all(case.hand == "over" and case.covered for case in over)
    assert all(case.hand != "over" and not case.covered for case in beside)
    assert any(case.hand == "beside" for case in beside)


def test_the_same_seed_gives_the_same_picture_and_another_another() -> None:
    first, again = (Task("resolution", "640x480", 0, 1).case() for _ in range(2))
    other = Task("resolution", "640x480", 0, 2).case()
    picture = picture_of(first)
    assert np.array_equal(picture, picture_of(again))
    assert not np.array_equal(picture, picture_of(other))


def test_half_the_pictures_show_everything_at_once_and_the_rest_every_level_in_turn() -> None:
    singles = [task for task in tasks(2 * (len(LEVELS) - 2), 1) if task.hardship != "everything"]
    assert {(task.hardship, task.level) for task in singles} == {one for one in LEVELS if one[0] != "everything"}
    assert len(singles) == len(LEVELS) - 2
    assert len(tasks(31, 1)) == 31
    assert {task.hardship for task in tasks(7, 1, ["tilt"])} == {"tilt"}
    assert len(set(tasks(200, 1))) == 200


@pytest.mark.parametrize("seed", some(range(40)))
def test_drawn_piece_sets_are_distinguishable(seed: int) -> None:
    said, look = varied_pieces(seed)
    assert are_distinguishable(look.colours["gold"], look.colours["teal"])
    for part, name in zip(said.split(", "), ("gold", "teal"), strict=True):
        face, ink = part.split(" with ")
        assert look.colours[name] == FACES[face]
        assert look.inks[name] == INKS[ink]
        assert shows_on(INKS[ink], FACES[face])


def test_a_face_is_painted_in_its_own_ink() -> None:
    look = varied_pieces(3)[1]
    stop = {name: face_texture(look, name, "stop", 0)[48, 48].astype(float) / 255 for name in look.colours}
    for name, middle in stop.items():
        assert np.allclose(middle, look.inks[name], atol=0.08)


def test_ordinary_sets_are_gold_and_teal() -> None:
    assert piece_look(-1).colours == piece_look(-2).colours
    assert piece_look(-1).symbol_scale != piece_look(-2).symbol_scale


def test_a_shade_removes_the_lamp_on_one_side_only() -> None:
    shade = Shade(towards_deg=0.0, edge_mm=20.0, softness_mm=40.0, remaining_light=0.0)
    points = np.array([[-100.0, 0.0, 0.0], [100.0, 0.0, 0.0], [20.0, 0.0, 0.0]])
    up = np.array([0.0, 0.0, 1.0])
    bare = irradiance(Lighting(), points, up)
    shaded = irradiance(Lighting(shade=shade), points, up)
    assert np.allclose(shaded[0], bare[0])
    assert np.allclose(shaded[1], Lighting().ambient)
    assert shaded[1, 0] < shaded[2, 0] < bare[2, 0]


def test_a_stack_stands_on_every_square_of_blockade() -> None:
    known = hardships(0, "blockade")
    assert not known.keys() & {"hands", "things", "piece colours"}
    case = case_of(known["off centre"], "8 mm", 0, seed=5, game="blockade")
    assert "empty" not in case.looks.values()
    for pile in case.scene.pieces:
        assert isinstance(pile, StackPose)
        top = pile.pyramids[-1]
        size = {"S": "small", "M": "medium", "L": "large"}[top.size]
        place = present(case.scene.setting.layout.board.place_at(pile.x_mm, pile.y_mm))
        assert case.looks[place] == f"{top.colour} {size}"
