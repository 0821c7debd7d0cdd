from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vision import photoreal
from vision.geometry import CubeSolid, Rectangle, Side, back_project, corners_px, project
from vision.layout.pieces import BlockPieces
from vision.readers.blocks.reader import neighbours_in_net, side_views
from vision.sampling import PlaneGrid, PlaneWindow, linear_light, linear_light_table, plane_map

CAMERA, POSE = photoreal.camera("006.jpg"), photoreal.pose("006.jpg")


@given(st.floats(-120, 120), st.floats(-120, 120), st.floats(-45, 45))
def test_sides_share_the_solids_corners(x: float, y: float, turned: float) -> None:
    solid = CubeSolid(x, y, 10.0, 30.0, turned)
    corners = {tuple(np.round(corner, 6)) for corner in solid.corners_mm()}
    for side in Side:
        face = solid.side_corners_mm(side)
        assert {tuple(np.round(corner, 6)) for corner in face} <= corners
        upper_left, upper_right, lower_right, lower_left = face
        assert upper_left[2] == upper_right[2] > lower_left[2] == lower_right[2]
        # right-handed as seen from outside: right x down points into the block
        into = np.cross(upper_right - upper_left, lower_left - upper_left)
        middle = np.array([x, y, 25.0])
        assert into @ (middle - face.mean(axis=0)) > 0


def test_the_north_side_is_away_from_the_first_player() -> None:
    solid = CubeSolid(0.0, 0.0, 10.0, 30.0)
    assert solid.side_corners_mm(Side.NORTH)[:, 1] == pytest.approx(15.0)
    assert solid.side_corners_mm(Side.EAST)[:, 0] == pytest.approx(15.0)
    assert solid.facing_camera(Side.SOUTH, np.array([0.0, -500.0, 400.0])) > 0.5
    assert solid.facing_camera(Side.NORTH, np.array([0.0, -500.0, 400.0])) < 0


@given(st.floats(-140, 140), st.floats(-140, 140), st.floats(0, 60))
def test_projecting_and_projecting_back_meet(x: float, y: float, z: float) -> None:
    there = project(CAMERA, POSE, [[x, y, z]])
    back = back_project(CAMERA, POSE, there, z)
    assert back[0] == pytest.approx([x, y, z], abs=0.05)


def test_plane_maps_agree_with_projecting_each_point() -> None:
    window = PlaneWindow(-140.0, 140.0, 280.0, 280.0, 40.0, 2.0)
    found = plane_map(CAMERA, POSE, window)
    assert found.shape == (560, 560, 2)
    rng = np.random.default_rng(1)
    for row, column in rng.integers(0, 560, (200, 2)):
        x = window.left_mm + (column + 0.5) / 2
        y = window.far_mm - (row + 0.5) / 2
        exact = project(CAMERA, POSE, [[x, y, 40.0]])[0]
        assert np.abs(found[row, column] - exact).max() < 1e-3
        assert window.to_pixels(x, y) == pytest.approx((column, row))


def test_a_plane_grid_agrees_with_projecting_each_point() -> None:
    grid = PlaneGrid.of(CAMERA, POSE, Rectangle(-140.0, 140.0, -140.0, 140.0), 40.0)
    rng = np.random.default_rng(2)
    x, y = rng.uniform(-139, 139, (2, 20, 10))
    exact = project(CAMERA, POSE, np.column_stack([x.ravel(), y.ravel(), np.full(x.size, 40.0)]))
    assert np.abs(grid.pixel_map(x, y).reshape(-1, 2) - exact).max() < 0.1


def test_side_faces_are_sampled_from_their_upper_left_corner() -> None:
    """Colours encode each pixel's position, so a face's pixels show where they were sampled."""
    columns, rows = np.meshgrid(np.arange(CAMERA.size[0]), np.arange(CAMERA.size[1]))
    image = np.dstack([columns % 256, rows % 256, np.zeros_like(rows)]).astype(np.uint8)
    solid = CubeSolid(20.0, -30.0, 10.0, 30.0, 12.0)
    (views,) = side_views(image, corners_px([solid], CAMERA, POSE))
    facing = {side: solid.facing_camera(side, POSE.camera_position_mm) for side in Side}
    seen = {view.side for view in views}
    assert {side for side in Side if facing[side] > 0.3} <= seen <= {side for side in Side if facing[side] > 0}
    assert "south" in seen
    for view in views:
        expected = project(CAMERA, POSE, solid.side_corners_mm(view.side))
        for (row, column), corner in zip(((0, 0), (0, 35), (35, 35), (35, 0)), expected, strict=True):
            assert np.linalg.norm(view.points_px[row, column] - corner) < 2.0
        assert view.open.all()
        at = view.points_px[18, 18]
        shown = linear_light(np.round(at % 256).astype(np.uint8).reshape(1, 2))[0]
        assert np.abs(view.picture[18, 18, :2] - shown).max() < 0.02


def test_a_nearer_block_hides_part_of_a_side_face() -> None:
    image = np.zeros((CAMERA.size[1], CAMERA.size[0], 3), dtype=np.uint8)
    (views,) = side_views(image, corners_px([CubeSolid(0.0, 40.0, 10.0, 30.0)], CAMERA, POSE))
    view = next(one for one in views if one.side == "south")
    nearer = np.zeros(image.shape[:2], dtype=np.uint8)
    assert view.without_hidden(nearer) is view
    middle = int(view.points_px[..., 0].mean())
    nearer[:, :middle] = 1
    assert 0.3 < view.without_hidden(nearer).open_share < 0.7


def test_linear_light_rises_from_black_to_white() -> None:
    table = linear_light_table()
    assert table[0] == 0
    assert table[255] == pytest.approx(1.0)
    assert (np.diff(table) > 0).all()


def test_neighbours_leave_out_a_symbol_and_its_opposite() -> None:
    net = BlockPieces.on(photoreal.LAYOUT.board).net
    assert set(neighbours_in_net(net, "star")) == {"slider", "x", "hoops", "cross"}
    assert set(neighbours_in_net(net, "x")) == {"star", "stop", "slider", "hoops"}
    assert set(neighbours_in_net(net, "moon")) == set(net.values())


def test_a_symbol_on_two_faces_has_the_neighbours_of_both() -> None:
    net = {"up": "star", "down": "stop", "north": "star", "south": "x", "east": "hoops", "west": "cross"}
    assert set(neighbours_in_net(net, "star")) == {"star", "x", "hoops", "cross", "stop"}
