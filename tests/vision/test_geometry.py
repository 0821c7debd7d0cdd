"""Projection and back-projection, poses, and solids."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision.geometry import (
    CubeSolid,
    FrustumSolid,
    Pose,
    PyramidSolid,
    Rectangle,
    Side,
    back_project,
    corners_px,
    outline_px,
    plane_homography,
    project,
    unit_circle,
)
from vision.opencv import undistort_points

within = st.floats(-200, 200)


@given(within, within, st.floats(-5, 60))
def test_back_projection_undoes_projection(camera, pose, x, y, z):
    pixels = project(camera, pose, [[x, y, z]])
    assert np.allclose(back_project(camera, pose, pixels, z), [[x, y, z]], atol=0.05)


@given(within, within, st.floats(0, 40))
def test_the_homography_agrees_with_projection(camera, pose, x, y, z):
    pixels = project(camera, pose, [[x, y, z]])
    straight = np.append(undistort_points(pixels, camera.matrix, camera.distortion)[0], 1) @ camera.matrix.T
    mapped = plane_homography(pose, camera, z) @ [x, y, 1]
    assert np.allclose(mapped[:2] / mapped[2], straight[:2], atol=0.05)


@given(st.lists(st.floats(-1.5, 1.5), min_size=3, max_size=3), st.lists(within, min_size=3, max_size=3))
def test_a_pose_returns_its_rotation_and_translation_vectors(rotation, translation):
    pose = Pose.from_vectors(rotation, translation)
    # OpenCV returns no rotation for one of less than a hundred-thousandth
    assert np.allclose(pose.rotation_vector, rotation, atol=2e-5)
    assert np.allclose(pose.rotation @ pose.camera_position_mm + translation, 0, atol=1e-6)


def test_no_points_give_no_points(camera, pose):
    assert project(camera, pose, np.zeros((0, 3))).shape == (0, 2)
    assert back_project(camera, pose, np.zeros((0, 2)), 0.0).shape == (0, 3)


def test_a_circle_is_made_of_unit_vectors_at_equal_angles_counter_clockwise() -> None:
    assert unit_circle(4) == pytest.approx(np.array([[1, 0], [0, 1], [-1, 0], [0, -1]]))
    turns = unit_circle(24) @ np.array([1, 1j])
    assert turns[1:] / turns[:-1] == pytest.approx(np.full(23, np.exp(2j * np.pi / 24)))


def test_a_frustum_has_its_radii_at_base_and_top() -> None:
    body = FrustumSolid(10.0, -20.0, 5.0, 30.0, 12.0, 4.0)
    corners = body.corners_mm()
    away = np.hypot(corners[:, 0] - 10.0, corners[:, 1] + 20.0)
    assert np.allclose(away[corners[:, 2] == 5.0], 12.0)
    assert np.allclose(away[corners[:, 2] == 35.0], 4.0)
    inner = body.inner_points_mm(4)
    assert len(inner) == 64
    assert np.all(np.hypot(inner[:, 0] - 10.0, inner[:, 1] + 20.0) < 12.0 - 8.0 * (inner[:, 2] - 5.0) / 30.0)
    grown = body.grown(2.0)
    assert (grown.base_mm, grown.height_mm, grown.foot_radius_mm, grown.top_radius_mm) == (5.0, 32.0, 14.0, 6.0)


def test_a_pyramid_is_a_truncated_hull_around_its_inner_points() -> None:
    pyramid = PyramidSolid(10.0, -5.0, 6.0, 40.0, 24.0, 4.0, 90.0)
    corners = pyramid.corners_mm()
    assert corners.shape == (8, 3)
    assert sorted(set(corners[:, 2].round(6))) == [6.0, 46.0]
    assert np.abs(corners[:4, :2] - (10.0, -5.0)).max() == pytest.approx(12.0)
    assert np.abs(corners[4:, :2] - (10.0, -5.0)).max() == pytest.approx(2.0)
    points = pyramid.inner_points_mm(4)
    assert points.shape == (64, 3)
    share = (points[:, 2] - 6.0) / 40.0
    assert (np.abs(points[:, :2] - (10.0, -5.0)).max(axis=1) < 12.0 - 10.0 * share).all()
    assert pyramid.grown(1.0).foot_side_mm == 26.0
    assert pyramid.grown(1.0).base_mm == 6.0


def test_a_rectangle_contains_its_edges_and_grows_on_every_side() -> None:
    rectangle = Rectangle(-10.0, 20.0, -5.0, 15.0)
    assert (rectangle.width_mm, rectangle.depth_mm) == (30.0, 20.0)
    assert rectangle.contains(-10.0, 15.0)
    assert rectangle.contains(20.0, -5.0)
    assert not any(rectangle.contains(x, y) for x, y in ((-10.1, 0.0), (20.1, 0.0), (0.0, -5.1), (0.0, 15.1)))
    assert rectangle.grown(2.0) == Rectangle(-12.0, 22.0, -7.0, 17.0)
    assert rectangle.corners_mm(3.0).tolist() == [[-10, -5, 3], [20, -5, 3], [20, 15, 3], [-10, 15, 3]]


def test_a_cube_stands_on_its_base_and_is_turned_counter_clockwise() -> None:
    straight = CubeSolid(10.0, -20.0, 5.0, 8.0)
    corners = straight.corners_mm()
    assert corners[:4].tolist() == [[6, -16, 5], [14, -16, 5], [14, -24, 5], [6, -24, 5]]
    assert np.array_equal(corners[4:], np.add(corners[:4], (0, 0, 8)))
    turned = CubeSolid(10.0, -20.0, 5.0, 8.0, 90.0).corners_mm()
    assert np.allclose(turned[0], corners[3]), "the north-west corner turned to the south-west"
    assert straight.grown(1.0) == CubeSolid(10.0, -20.0, 5.0, 10.0)


@pytest.mark.parametrize("turned_deg", [0.0, 30.0, 90.0])
def test_points_inside_a_cube_are_spread_evenly(turned_deg: float) -> None:
    points = CubeSolid(10.0, -20.0, 5.0, 8.0, turned_deg).inner_points_mm(4)
    assert points.shape == (64, 3)
    assert np.allclose(points.mean(axis=0), (10.0, -20.0, 9.0))
    assert sorted(set(points[:, 2].round(6))) == [6.0, 8.0, 10.0, 12.0]
    angle = np.radians(turned_deg)
    to_side = (points[:, :2] - (10.0, -20.0)) @ (np.cos(angle), np.sin(angle))
    assert sorted(set(to_side.round(6))) == [-3.0, -1.0, 1.0, 3.0]


def test_the_sides_of_a_cube_that_face_the_camera_are_seen() -> None:
    cube = CubeSolid(0.0, 0.0, 0.0, 10.0)
    upper_left, upper_right, lower_right, lower_left = cube.side_corners_mm(Side.SOUTH).tolist()
    assert (upper_left, upper_right) == ([-5, -5, 10], [5, -5, 10])
    assert (lower_left, lower_right) == ([-5, -5, 0], [5, -5, 0])
    camera_position = np.array([5.0, -100.0, 5.0])
    assert cube.facing_camera(Side.SOUTH, camera_position) == pytest.approx(95 / np.hypot(95, 5))
    assert cube.facing_camera(Side.NORTH, camera_position) < 0
    assert cube.facing_camera(Side.EAST, camera_position) == pytest.approx(0.0)
    assert cube.facing_camera(Side.WEST, camera_position) < 0


def test_projected_cube_corners_agree_with_projected_points(camera, pose) -> None:
    cubes = [CubeSolid(0.0, 0.0, 10.0, 30.0), CubeSolid(80.0, -40.0, 10.0, 30.0, 20.0)]
    seen = corners_px(cubes, camera, pose)
    assert seen.shape == (2, 8, 2)
    assert np.allclose(seen[1], project(camera, pose, cubes[1].corners_mm()))
    assert corners_px([], camera, pose).shape == (0, 8, 2)
    outline = outline_px(cubes[0], camera, pose)
    assert {tuple(point) for point in outline.round(2)} <= {tuple(point) for point in seen[0].astype("f4").round(2)}
    assert len(outline) in {4, 6}


def test_points_inside_round_and_square_bodies_are_spread_over_their_height_and_width() -> None:
    frustum = FrustumSolid(10.0, -20.0, 5.0, 30.0, 12.0, 4.0)
    points = frustum.inner_points_mm(6)
    assert points.shape == (216, 3)
    assert sorted(set(points[:, 2].round(6))) == [7.5, 12.5, 17.5, 22.5, 27.5, 32.5]
    away = np.hypot(points[:, 0] - 10.0, points[:, 1] + 20.0)
    shares = away / (12.0 - 8.0 * (points[:, 2] - 5.0) / 30.0)
    assert sorted(set(shares.round(6))) == pytest.approx(np.sqrt((np.arange(6) + 0.5) / 6), abs=1e-6)
    assert np.allclose(points[:, :2].mean(axis=0), (10.0, -20.0))
    pyramid = PyramidSolid(10.0, -20.0, 5.0, 30.0, 12.0, 4.0, 30.0)
    inner = pyramid.inner_points_mm(4)
    assert inner.shape == (64, 3)
    assert sorted(set(inner[:, 2].round(6))) == [8.75, 16.25, 23.75, 31.25]
    turn = np.radians(30.0)
    across = (inner[:, :2] - (10.0, -20.0)) @ np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    side = 12.0 - 8.0 * (inner[:, 2] - 5.0) / 30.0
    assert sorted(set((across[:, 0] / side).round(6))) == [-0.375, -0.125, 0.125, 0.375]
    assert sorted(set((across[:, 1] / side).round(6))) == [-0.375, -0.125, 0.125, 0.375]


def test_solids_grow_on_all_sides_but_downwards() -> None:
    assert FrustumSolid(1.0, 2.0, 3.0, 30.0, 12.0, 4.0).grown(1.5) == FrustumSolid(1.0, 2.0, 3.0, 31.5, 13.5, 5.5)
    assert PyramidSolid(1.0, 2.0, 3.0, 30.0, 12.0, 4.0, 20.0).grown(1.5) == PyramidSolid(
        1.0, 2.0, 3.0, 31.5, 15.0, 7.0, 20.0
    )


def test_a_truncated_pyramid_has_a_square_base_and_a_smaller_square_top() -> None:
    corners = PyramidSolid(10.0, -20.0, 5.0, 30.0, 12.0, 4.0).corners_mm()
    assert corners[:4].tolist() == [[4, -14, 5], [16, -14, 5], [16, -26, 5], [4, -26, 5]]
    assert corners[4:].tolist() == [[8, -18, 35], [12, -18, 35], [12, -22, 35], [8, -22, 35]]
