"""All supported versions of OpenCV give the same shapes, and empty arrays if nothing is found."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from vision.geometry import CameraModel, Pose, project
from vision.opencv import (
    align_affine,
    aruco_dictionary,
    as_grey,
    detect_markers,
    planar_poses,
    points_2d,
    project_with_jacobian,
    refine_saddles,
    undistort_points,
)

SQUARE = np.array([[-50.0, 50.0], [50.0, 50.0], [50.0, -50.0], [-50.0, -50.0]])


def test_points_of_any_shape_become_rows_of_two() -> None:
    assert points_2d(None).shape == (0, 2)
    assert points_2d([[[1, 2]], [[3, 4]]]).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert points_2d(np.zeros((2, 4, 2), dtype=np.float32)).shape == (8, 2)


def test_a_picture_of_one_channel_stays_unchanged() -> None:
    grey = np.arange(6, dtype=np.uint8).reshape(2, 3)
    assert as_grey(grey) is grey
    assert as_grey(np.stack([grey] * 3, axis=-1)).tolist() == grey.tolist()


@pytest.mark.parametrize("name", ["DICT_9X9", "ArucoDetector", "4X4_50", ""])
def test_an_unknown_marker_dictionary_is_refused(name: str) -> None:
    assert aruco_dictionary("DICT_4X4_50").markerSize == 4
    with pytest.raises(ValueError, match=r"expected one of .*DICT_4X4_50"):
        aruco_dictionary(name)


def test_a_marker_is_found_with_its_number() -> None:
    dictionary = aruco_dictionary("DICT_4X4_50")
    marker = np.asarray(cv2.aruco.generateImageMarker(dictionary, 7, 60), dtype=np.uint8)
    picture = np.pad(marker, ((30, 30), (40, 40)), constant_values=255)
    detector = cv2.aruco.ArucoDetector(dictionary)
    ((number, corners),) = detect_markers(detector, picture)
    assert number == 7
    assert corners == pytest.approx(np.array([[40, 30], [99, 30], [99, 89], [40, 89]]), abs=1.0)
    assert detect_markers(detector, np.full((80, 80), 255, dtype=np.uint8)) == []


def test_no_points_give_no_points(camera: CameraModel) -> None:
    none = np.zeros((0, 2))
    assert undistort_points(none, camera.matrix, camera.distortion).shape == (0, 2)
    assert refine_saddles(np.zeros((9, 9), dtype=np.uint8), none, 3) is none


def test_a_chessboards_corner_is_found_to_a_fraction_of_a_pixel() -> None:
    fine = np.zeros((400, 400), dtype=np.uint8)
    fine[:203, :197] = fine[203:, 197:] = 255
    picture = np.asarray(cv2.resize(fine, (40, 40), interpolation=cv2.INTER_AREA), dtype=np.uint8)
    found = refine_saddles(picture, np.array([[21.0, 18.0]]), 5)
    assert found == pytest.approx(np.array([[19.2, 19.8]]), abs=0.15)


def test_the_better_of_the_two_poses_of_a_plane_comes_first(camera: CameraModel, pose: Pose) -> None:
    pixels = project(camera, pose, np.column_stack([SQUARE, np.zeros(4)]))
    poses = planar_poses(SQUARE, undistort_points(pixels, camera.matrix, camera.distortion))
    assert len(poses) == 2
    rotation, translation = poses[0]
    assert rotation == pytest.approx(pose.rotation_vector, abs=1e-3)
    assert translation == pytest.approx(pose.translation, rel=1e-3)


def test_the_jacobian_of_projection_tells_how_pixels_move_with_the_pose(camera: CameraModel, pose: Pose) -> None:
    points = np.array([[10.0, -20.0, 5.0], [60.0, 30.0, 0.0]])
    given = (pose.rotation_vector, pose.translation, camera.matrix, camera.distortion)
    pixels, by_pose = project_with_jacobian(points, *given)
    assert by_pose.shape == (2, 2, 6)
    step = np.array([0.0, 0.1, 0.0])
    moved, _ = project_with_jacobian(points, given[0], given[1] + step, *given[2:])
    assert by_pose[:, :, 4] == pytest.approx((moved - pixels) / 0.1, rel=0.01, abs=1e-3)
    turned, _ = project_with_jacobian(points, given[0] + 0.001 * step, *given[1:])
    assert by_pose[:, :, 1] == pytest.approx((turned - pixels) / 0.0001, rel=0.01, abs=0.5)


def test_a_template_is_aligned_and_a_blank_one_is_not() -> None:
    y, x = np.mgrid[:60, :60].astype(np.float32)
    picture = np.asarray(np.sin(x / 5) + np.cos(y / 7) + np.sin((x + y) / 9), dtype=np.float32)
    found = align_affine(np.ascontiguousarray(picture[20:40, 22:42]), picture, np.array([20.5, 21.5]))
    assert found is not None
    warp, correlation = found
    assert warp == pytest.approx(np.array([[1, 0, 22], [0, 1, 20]]), abs=0.05)
    assert correlation > 0.99
    blank = np.zeros((20, 20), dtype=np.float32)
    assert align_affine(blank, np.zeros((60, 60), dtype=np.float32), np.array([3.0, 3.0])) is None
