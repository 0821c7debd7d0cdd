"""A camera is calibrated from pictures of a board, with a verdict on the result."""

from __future__ import annotations

import json
from datetime import date

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision.calibration import (
    Calibration,
    CharucoBoardSpec,
    calibrate,
    format_board,
    load_calibration,
    parse_board,
    save_calibration,
    undistorted_preview,
)
from vision.errors import CalibrationError
from vision.frame import Image
from vision.geometry import CameraModel, Pose, back_project

BOARD = "charuco:7x5:30:22:DICT_5X5_100"
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


def board_picture(angles_deg, place_mm, camera=None, blur_px=0.7):
    camera = camera or true_camera()
    spec = parse_board(BOARD)
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_5X5_100)
    board = cv2.aruco.CharucoBoard((spec.columns, spec.rows), spec.square_mm, spec.marker_mm, dictionary)
    margin = round(15 * TEXTURE_PX_PER_MM)
    across, down = (round(count * spec.square_mm * TEXTURE_PX_PER_MM) for count in (spec.columns, spec.rows))
    texture = cv2.copyMakeBorder(board.generateImage((across, down)), *(margin,) * 4, cv2.BORDER_CONSTANT, value=255)
    texture = cv2.GaussianBlur(texture, (0, 0), 1.2)
    turns = [cv2.Rodrigues(np.radians(angle) * np.eye(3)[axis])[0] for axis, angle in enumerate(angles_deg)]
    rotation = turns[0] @ turns[1] @ turns[2]
    middle = np.array([spec.columns * spec.square_mm / 2, spec.rows * spec.square_mm / 2, 0.0])
    pose = Pose(rotation, np.asarray(place_mm, dtype=float) - rotation @ middle)
    width, height = camera.size
    pixels = np.stack(np.meshgrid(np.arange(width), np.arange(height)), axis=-1).reshape(-1, 2)
    on_board = back_project(camera, pose, pixels, 0.0)[:, :2] * TEXTURE_PX_PER_MM + margin - 0.5
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
def made(pictures: list[Image]) -> Calibration:
    return calibrate(pictures, BOARD, name="desk camera")


def test_a_good_calibration_finds_the_camera(made):
    assert made.verdict == "good"
    assert made.camera.reprojection_error_px < 0.2
    true = true_camera()
    assert np.allclose(np.diag(made.camera.matrix), np.diag(true.matrix), rtol=0.005)
    assert np.allclose(made.camera.matrix[:2, 2], true.matrix[:2, 2], atol=2.5)
    assert made.camera.distortion[0] == pytest.approx(-0.12, abs=0.03)
    assert made.camera.size == (640, 480)
    assert [view.used for view in made.views] == [True] * len(VIEWS)
    assert made.board == BOARD


def test_a_view_that_disagrees_is_left_out(pictures):
    bend = np.array([[1, 0.1, 0], [0, 1.06, 0]], dtype=np.float32)
    bent = np.asarray(cv2.warpAffine(pictures[0], bend, (640, 480), borderValue=(90,)), dtype=np.uint8)
    calibration = calibrate([*pictures, bent], BOARD)
    assert not calibration.views[-1].used
    assert "disagrees" in calibration.views[-1].why_not
    assert calibration.good
    assert calibration.camera.reprojection_error_px < 0.2


def test_a_view_without_the_board_is_left_out_with_the_reason(pictures):
    calibration = calibrate([*pictures, np.full((480, 640), 90, np.uint8)], BOARD)
    assert calibration.views[-1].why_not == "only 0 corners seen"
    assert calibration.good


def test_too_few_flat_central_views_need_a_new_calibration():
    flat = [board_picture((angle, 0, 0), (0, 0, 420 + 5 * angle)) for angle in (0, 4, 8)]
    calibration = calibrate(flat, BOARD)
    assert not calibration.good
    assert calibration.verdict.startswith(
        "Not good enough. Take at least 5 pictures (10 is better): only 3 pictures could be used."
    )
    assert "tilted" in calibration.verdict
    assert "hold the board in each corner" in calibration.verdict


def test_no_picture_with_the_board_is_an_error(pictures):
    with pytest.raises(CalibrationError, match="no pictures; expected 5 or more"):
        calibrate([], BOARD)
    with pytest.raises(CalibrationError, match="0 of 4 pictures show enough of the board charuco:7x5"):
        calibrate([np.full((480, 640), 90, np.uint8)] * 4, BOARD)
    with pytest.raises(CalibrationError, match="check the board's description"):
        calibrate(pictures[:4], "charuco:7x5:30:22:DICT_4X4_50")


def test_pictures_of_two_sizes_are_refused(pictures):
    with pytest.raises(CalibrationError, match="differ in size \\(320 x 240, 640 x 480\\)"):
        calibrate([*pictures, cv2.resize(pictures[0], (320, 240))], BOARD)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("7x5", "expected charuco:COLUMNSxROWS"),
        ("charuco:2x5:30:22:DICT_5X5_100", "too small"),
        ("charuco:7x5:30:30:DICT_5X5_100", "markers of 30 mm in squares of 30 mm"),
        ("charuco:7x5:30:22:DICT_FINE", "no marker dictionary 'DICT_FINE'"),
        ("charuco:7x5:30:22:dict_5x5_100", "expected charuco:COLUMNSxROWS"),
    ],
)
def test_an_invalid_board_description_is_refused(text, says):
    with pytest.raises(CalibrationError, match=says):
        parse_board(text)


@given(
    st.builds(
        lambda columns, rows, square, part, dictionary: CharucoBoardSpec(
            columns, rows, square / 4, square * part / 16, dictionary
        ),
        st.integers(3, 20),
        st.integers(3, 20),
        st.integers(8, 400),
        st.integers(1, 3),
        st.sampled_from(["DICT_4X4_50", "DICT_5X5_100", "DICT_APRILTAG_36h11", "DICT_6X6_250"]),
    )
)
def test_a_board_description_round_trips(spec):
    assert parse_board(format_board(spec)) == spec


def test_a_calibration_is_saved_and_loaded(made, tmp_path):
    path = tmp_path / "camera.json"
    save_calibration(path, made, made_on=date(2024, 5, 6))
    assert json.loads(path.read_text(encoding="utf-8"))["date"] == "2024-05-06"
    camera = load_calibration(path)
    assert np.array_equal(camera.matrix, made.camera.matrix)
    assert np.array_equal(camera.distortion, made.camera.distortion)
    assert (camera.size, camera.name) == ((640, 480), "desk camera")
    assert camera.reprojection_error_px == made.camera.reprojection_error_px
    with pytest.raises(CalibrationError, match="cannot write the calibration"):
        save_calibration(tmp_path / "none" / "camera.json", made, made_on=date(2024, 5, 6))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"format": "other"}, "is not a calibration"),
        ({"version": 7}, "has version 7, this program reads 1"),
        ({"matrix": [[1, 2], [3, 4]]}, "not a camera matrix of 3 x 3"),
        ({"matrix": [[0, 0, 1], [0, 0, 1], [0, 0, 1]]}, "focal lengths above zero"),
        ({"matrix": "wide"}, "is invalid"),
        ({"distortion": [1, 2]}, "distortion has 2 numbers; expected 4, 5, 8, 12 or 14 finite ones"),
        ({"size": [640]}, "is invalid"),
        ({"size": [640, float("inf")]}, "is invalid"),
        ({"size": [0, 480]}, "size 0 x 480"),
        ({"name": None, "error_px": None}, "is invalid"),
    ],
)
def test_an_invalid_calibration_file_is_refused_with_the_reason(change, says, made, tmp_path):
    path = tmp_path / "camera.json"
    save_calibration(path, made, made_on=date(2024, 5, 6))
    data = json.loads(path.read_text(encoding="utf-8")) | change
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(CalibrationError, match=says):
        load_calibration(path)


def test_missing_incomplete_and_truncated_calibration_files_are_refused(made, tmp_path):
    path = tmp_path / "camera.json"
    with pytest.raises(
        CalibrationError, match=r"cannot read the calibration .*; make one with: ./run hardware calibrate"
    ):
        load_calibration(path)
    save_calibration(path, made, made_on=date(2024, 5, 6))
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole[:80], encoding="utf-8")
    with pytest.raises(CalibrationError, match=r"is not valid JSON: .*; make one with: ./run hardware calibrate"):
        load_calibration(path)
    path.write_text(whole.replace('"size"', '"siez"'), encoding="utf-8")
    with pytest.raises(CalibrationError, match="has no key 'size'; calibrate again"):
        load_calibration(path)


def test_the_preview_keeps_the_size_and_has_coloured_lines(made, pictures):
    preview = undistorted_preview(pictures[0], made.camera)
    assert preview.shape == (480, 640, 3)
    assert np.any(preview[:, :, 0] != preview[:, :, 2])
