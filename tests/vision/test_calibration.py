"""A camera is calibrated from pictures of the printed board; calibration files are checked as they are read."""

import json
from typing import Any

import cv2
import numpy as np
import pytest

from tests.effort import some
from vision.calibration import (
    SQUARE_MM,
    SQUARES,
    calibrate,
    calibration_board,
    camera_from_json,
    load_calibration,
    save_calibration,
)
from vision.errors import CalibrationError
from vision.frame import Image
from vision.geometry import CameraModel, Pose, back_project, project
from vision.opencv import undistort_points

TEXTURE_PX_PER_MM = 4
VIEWS = [
    # (tilt about x, tilt about y, turn) in degrees, (x, y, distance) of the board's middle in millimetres
    ((25, 0, 5), (0, 0, 330)),
    ((-25, 10, 0), (-60, -40, 340)),
    ((10, 30, -10), (60, 40, 330)),
    ((0, -30, 20), (-70, 50, 350)),
    ((-20, -20, 90), (70, -40, 360)),
    ((5, 5, 0), (10, 10, 300)),
    ((30, 20, 180), (0, 30, 340)),
]


def true_camera():
    matrix = np.array([[560.0, 0.0, 316.0], [0.0, 562.0, 243.0], [0.0, 0.0, 1.0]])
    return CameraModel(matrix, np.array([-0.12, 0.03, 0.0, 0.0, 0.0]), (640, 480))


def board_picture(angles_deg, place_mm, camera=None, blur_px=0.7, back_projected=back_project):
    camera = camera or true_camera()
    board = calibration_board()
    margin = round(15 * TEXTURE_PX_PER_MM)
    across, down = (round(count * SQUARE_MM * TEXTURE_PX_PER_MM) for count in SQUARES)
    texture = cv2.copyMakeBorder(board.generateImage((across, down)), *(margin,) * 4, cv2.BORDER_CONSTANT, value=255)
    texture = cv2.GaussianBlur(texture, (0, 0), 1.2)
    turns = [cv2.Rodrigues(np.radians(angle) * np.eye(3)[axis])[0] for axis, angle in enumerate(angles_deg)]
    rotation = turns[0] @ turns[1] @ turns[2]
    middle = np.array([*(count * SQUARE_MM / 2 for count in SQUARES), 0.0])
    pose = Pose(rotation, np.asarray(place_mm, dtype=float) - rotation @ middle)
    width, height = camera.size
    pixels = np.stack(np.meshgrid(np.arange(width), np.arange(height)), axis=-1).reshape(-1, 2)
    on_board = back_projected(camera, pose, pixels, 0.0)[:, :2] * TEXTURE_PX_PER_MM + margin - 0.5
    maps = on_board.astype(np.float32).reshape(height, width, 2)
    seen = cv2.remap(
        texture,
        np.ascontiguousarray(maps[..., 0]),
        np.ascontiguousarray(maps[..., 1]),
        cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_CONSTANT,
        borderValue=90,
    )
    noise = np.random.default_rng(5).normal(0, 2, seen.shape)
    light = cv2.GaussianBlur(seen.astype(float) * 0.8 + 20, (0, 0), blur_px)
    return np.clip(light + noise, 0, 255).astype(np.uint8)


@pytest.fixture(scope="module")
def pictures() -> list[Image]:
    return [board_picture(angles, place) for angles, place in VIEWS]


@pytest.fixture(scope="module")
def made(pictures: list[Image]) -> CameraModel:
    return calibrate(pictures, name="desk camera")


def test_a_calibration_finds_the_camera(made):
    assert made.reprojection_error_px < 0.2
    true = true_camera()
    assert np.allclose(np.diag(made.matrix), np.diag(true.matrix), rtol=0.005)
    assert np.allclose(made.matrix[:2, 2], true.matrix[:2, 2], atol=2.5)
    assert made.distortion[0] == pytest.approx(-0.12, abs=0.03)
    assert made.size == (640, 480)


def test_pictures_without_the_board_are_left_out_and_too_few_are_refused(pictures, made):
    bare = np.full((480, 640), 90, np.uint8)
    assert np.allclose(calibrate([*pictures, bare]).matrix, made.matrix)
    for given, seen in ([], "0 of 0"), ([bare] * 4, "0 of 4"), ([*pictures[:4], bare], "4 of 5"):
        with pytest.raises(CalibrationError, match=f"seen well in {seen} pictures; 5 are needed"):
            calibrate(given)


def test_a_bent_board_is_refused(pictures):
    bend = np.array([[1, 0.1, 0], [0, 1.06, 0]], dtype=np.float32)
    bent = [np.asarray(cv2.warpAffine(each, bend, (640, 480), borderValue=(90,)), np.uint8) for each in pictures[:3]]
    with pytest.raises(CalibrationError, match=r"pixels off on average; at most 0\.5 is accepted"):
        calibrate([*pictures, *bent])


def test_pictures_of_two_sizes_are_refused(pictures):
    with pytest.raises(CalibrationError, match="differ in size \\(320 x 240, 640 x 480\\)"):
        calibrate([*pictures, cv2.resize(pictures[0], (320, 240))])


def through_a_fish_eye(camera, pose, pixels, height_mm):
    """Do what ``back_project`` does, for an equidistant lens; far away where it sees no table."""
    rays = cv2.fisheye.undistortPoints(pixels[:, None].astype(float), camera.matrix, np.zeros(4))[:, 0]
    directions = np.column_stack([rays, np.ones(len(rays))]) @ pose.rotation
    centre = pose.camera_position_mm
    with np.errstate(all="ignore"):
        scale = (height_mm - centre[2]) / directions[:, 2]
        seen = np.asarray(centre + scale[:, None] * directions)
    return np.where(np.isfinite(seen) & (scale > 0)[:, None] & (np.abs(seen) < 1e5), seen, 1e5)


@pytest.mark.parametrize("width_deg", some([100, 130, 150], 1))
def test_a_fish_eye_lens_is_calibrated(width_deg):
    focal_px = 320 / np.radians(width_deg / 2)
    lens = CameraModel(np.array([[focal_px, 0, 319.5], [0, focal_px, 239.5], [0, 0, 1]]), np.zeros(5), (640, 480))
    reach = np.tan(np.radians(width_deg / 2 - 25))
    held = [
        *(((20, 0, 5), 0, 0), ((-20, 10, 0), 0, 0), ((0, -25, 90), 0, 0), ((5, 30, 0), 1, 0), ((5, -30, 10), -1, 0)),
        *(((-25, 20, 0), 1, 1), ((-25, -20, 5), -1, 1), ((25, 20, 0), 1, -1), ((25, -20, 0), -1, -1)),
    ]
    views = [
        (tilts, (90 * across * reach, 70 * down * reach, 90 if across or down else 130)) for tilts, across, down in held
    ]
    pictures = [board_picture(*view, camera=lens, back_projected=through_a_fish_eye) for view in views]
    made = calibrate(pictures)
    points = np.stack(np.meshgrid(np.linspace(100, 540, 9), np.linspace(90, 390, 7)), axis=-1).reshape(-1, 2)
    true = cv2.fisheye.undistortPoints(points[:, None], lens.matrix, np.zeros(4))[:, 0]
    found = undistort_points(points, made.matrix, made.distortion)
    apart_deg = np.degrees(np.abs(np.arctan(np.hypot(*found.T)) - np.arctan(np.hypot(*true.T))))
    assert apart_deg.max() < 0.3
    flat = Pose(np.eye(3), np.array([0.0, 0.0, 1.0]))
    assert project(made, flat, np.column_stack([found, np.zeros(len(found))])) == pytest.approx(points, abs=0.05)


def test_a_calibration_is_saved_and_loaded(made, tmp_path):
    path = tmp_path / "camera.json"
    save_calibration(path, made)
    camera = load_calibration(path)
    assert np.array_equal(camera.matrix, made.matrix)
    assert np.array_equal(camera.distortion, made.distortion)
    assert (camera.size, camera.name) == ((640, 480), "desk camera")
    assert camera.reprojection_error_px == made.reprojection_error_px
    with pytest.raises(CalibrationError, match="cannot write the calibration"):
        save_calibration(tmp_path / "none" / "camera.json", made)


def test_missing_incomplete_and_truncated_calibration_files_are_refused(tmp_path):
    path = tmp_path / "camera.json"
    with pytest.raises(
        CalibrationError, match=r"cannot read the calibration .*; make one with: ./run hardware calibrate"
    ):
        load_calibration(path)
    whole = json.dumps(GOOD)
    path.write_text(whole[:80], encoding="utf-8")
    with pytest.raises(CalibrationError, match=r"is not valid JSON: .*; make one with: ./run hardware calibrate"):
        load_calibration(path)
    path.write_text(whole.replace('"size"', '"siez"'), encoding="utf-8")
    with pytest.raises(CalibrationError, match="has no key 'size'; calibrate again"):
        load_calibration(path)


GOOD: dict[str, Any] = {
    "format": "tabletop-referee camera",
    "version": 1,
    "name": "desk",
    "size": [640, 480],
    "error_px": 0.2,
    "matrix": [[500, 0, 320], [0, 510, 240], [0, 0, 1]],
    "distortion": [0.1, 0, 0, 0, 0],
}


@pytest.mark.parametrize(
    "change",
    [
        *({"distortion": [0.01] * count} for count in (4, 5, 8, 12, 14)),
        {"size": [1, 1]},
        {"error_px": 0},
        {"matrix": [[0.5, 0, 0], [0, 0.5, 0], [0, 0, 1]]},
    ],
)
def test_valid_calibration_values_are_read(change: dict[str, Any]) -> None:
    camera = camera_from_json(GOOD | change, "it")
    assert camera.size == tuple((GOOD | change)["size"])
    assert camera.distortion.tolist() == (GOOD | change)["distortion"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        *(
            ({"distortion": [0.01] * count}, f"distortion has {count} numbers; expected 4, 5, 8, 12 or 14")
            for count in (3, 6, 13, 15)
        ),
        ({"distortion": [[0.1] * 5]}, "distortion has 5 numbers; expected 4, 5, 8, 12 or 14 finite ones"),
        ({"distortion": [float("nan")] * 5}, "distortion has 5 numbers; expected 4, 5, 8, 12 or 14 finite ones"),
        ({"size": [0, 1]}, "size 0 x 1"),
        ({"size": [1, 0]}, "size 1 x 0"),
        ({"error_px": float("inf")}, "error inf do not fit"),
        ({"matrix": [[-5, 0, 0], [0, 5, 0], [0, 0, 1]]}, "focal lengths above zero"),
        ({"matrix": [[5, 0, 0], [0, 0, 0], [0, 0, 1]]}, "focal lengths above zero"),
        ({"matrix": [[5, 0, float("inf")], [0, 5, 0], [0, 0, 1]]}, "not a camera matrix"),
        ({"matrix": [[1, 2], [3, 4]]}, "not a camera matrix of 3 x 3"),
        ({"matrix": "wide"}, "is invalid"),
        ({"format": "other"}, "is not a calibration"),
        ({"version": 7}, "has version 7, this program reads 1"),
        ({"size": [640]}, "is invalid"),
        ({"size": [640, float("inf")]}, "is invalid"),
        ({"name": None, "error_px": None}, "is invalid"),
    ],
)
def test_invalid_calibration_values_are_refused(change: dict[str, Any], says: str) -> None:
    with pytest.raises(CalibrationError, match=says):
        camera_from_json(GOOD | change, "it")
    with pytest.raises(CalibrationError, match="it is not a calibration"):
        camera_from_json([GOOD], "it")
