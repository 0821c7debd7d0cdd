from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vision import photoreal
from vision.geometry import back_project, project
from vision.sampling import PlaneWindow, face_map, linear_light_table, plane_map
from vision.sides import neighbours_in_net
from vision.solids import SIDES, BlockSolid, inside_any, outline_px

CAMERA, POSE = photoreal.camera("006.jpg"), photoreal.pose("006.jpg")


@given(st.floats(-120, 120), st.floats(-120, 120), st.floats(-45, 45))
def test_sides_share_the_solids_corners(x: float, y: float, turned: float) -> None:
    solid = BlockSolid(x, y, 10.0, 30.0, turned)
    corners = {tuple(np.round(corner, 6)) for corner in solid.corners_mm()}
    for side in SIDES:
        face = solid.side_corners_mm(side)
        assert {tuple(np.round(corner, 6)) for corner in face} <= corners
        upper_left, upper_right, lower_right, lower_left = face
        assert upper_left[2] == upper_right[2] > lower_left[2] == lower_right[2]
        # right-handed as seen from outside: right x down points into the block
        into = np.cross(upper_right - upper_left, lower_left - upper_left)
        middle = np.array([x, y, 25.0])
        assert into @ (middle - face.mean(axis=0)) > 0


def test_the_north_side_is_away_from_the_first_player() -> None:
    solid = BlockSolid(0.0, 0.0, 10.0, 30.0)
    assert solid.side_corners_mm("north")[:, 1] == pytest.approx(15.0)
    assert solid.side_corners_mm("east")[:, 0] == pytest.approx(15.0)
    assert solid.facing_camera("south", np.array([0.0, -500.0, 400.0])) > 0.5
    assert solid.facing_camera("north", np.array([0.0, -500.0, 400.0])) < 0


@given(st.floats(-140, 140), st.floats(-140, 140), st.floats(0, 60))
def test_projecting_and_projecting_back_meet(x: float, y: float, z: float) -> None:
    there = project(CAMERA, POSE, [[x, y, z]])
    back = back_project(CAMERA, POSE, there, z)
    assert back[0] == pytest.approx([x, y, z], abs=0.05)


def test_points_inside_an_outline_are_told_from_those_outside() -> None:
    solid = BlockSolid(0.0, 0.0, 10.0, 30.0, 20.0)
    outline = outline_px(solid, CAMERA, POSE)
    middle = outline.mean(axis=0)
    points = np.array([middle, middle + 500, outline[0] * 0.98 + middle * 0.02], dtype=np.float32)
    assert inside_any(points, [outline]).tolist() == [True, False, True]
    assert inside_any(points, [outline[::-1].copy()]).tolist() == [True, False, True]
    assert not inside_any(points, []).any()


def test_plane_maps_are_interpolated_to_a_small_part_of_a_pixel() -> None:
    window = PlaneWindow(-140.0, 140.0, 280.0, 280.0, 40.0, 2.0)
    quick = plane_map(CAMERA, POSE, window)
    assert quick.shape == (560, 560, 2)
    rng = np.random.default_rng(1)
    for row, column in rng.integers(0, 560, (200, 2)):
        x = window.left_mm + (column + 0.5) / 2
        y = window.far_mm - (row + 0.5) / 2
        exact = project(CAMERA, POSE, [[x, y, 40.0]])[0]
        assert np.abs(quick[row, column] - exact).max() < 0.1
        assert window.to_pixels(x, y) == pytest.approx((column, row))


def test_a_face_map_runs_from_its_upper_left_corner() -> None:
    solid = BlockSolid(0.0, 0.0, 10.0, 30.0)
    corners = solid.side_corners_mm("south")
    sampled = face_map(CAMERA, POSE, corners, 36)
    expected = project(CAMERA, POSE, corners)
    for (row, column), corner in zip(((0, 0), (0, 35), (35, 35), (35, 0)), expected, strict=True):
        assert np.linalg.norm(sampled[row, column] - corner) < 2.0


def test_linear_light_rises_from_black_to_white() -> None:
    table = linear_light_table()
    assert table[0] == 0
    assert table[255] == pytest.approx(1.0)
    assert (np.diff(table) > 0).all()


def test_neighbours_leave_out_a_symbol_and_its_opposite() -> None:
    net = photoreal.LAYOUT.net
    assert set(neighbours_in_net(net, "star")) == {"slider", "x", "hoops", "cross"}
    assert set(neighbours_in_net(net, "x")) == {"star", "stop", "slider", "hoops"}
    assert set(neighbours_in_net(net, "moon")) == set(net.values())
