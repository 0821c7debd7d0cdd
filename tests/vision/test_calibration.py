"""A camera is calibrated from pictures of a board, with a verdict on the result."""

import json
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import some
from vision import calibration as calibrating
from vision.calibration import (
    BoardCorners,
    Calibration,
    CharucoBoardSpec,
    calibrate,
    camera_from_json,
    format_board,
    load_calibration,
    parse_board,
    save_calibration,
)
from vision.errors import CalibrationError
from vision.frame import Image
from vision.geometry import CameraModel, Pose, back_project, project
from vision.opencv import CameraFit, undistort_points

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


def board_picture(angles_deg, place_mm, camera=None, blur_px=0.7, described=BOARD, back_projected=back_project):
    camera = camera or true_camera()
    spec = parse_board(described)
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
    made = calibrate(pictures, BOARD)
    assert made.good, made.reasons
    points = np.stack(np.meshgrid(np.linspace(100, 540, 9), np.linspace(90, 390, 7)), axis=-1).reshape(-1, 2)
    true = cv2.fisheye.undistortPoints(points[:, None], lens.matrix, np.zeros(4))[:, 0]
    found = undistort_points(points, made.camera.matrix, made.camera.distortion)
    apart_deg = np.degrees(np.abs(np.arctan(np.hypot(*found.T)) - np.arctan(np.hypot(*true.T))))
    assert apart_deg.max() < 0.3
    flat = Pose(np.eye(3), np.array([0.0, 0.0, 1.0]))
    assert project(made.camera, flat, np.column_stack([found, np.zeros(len(found))])) == pytest.approx(points, abs=0.05)


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


# When a calibration is good or must be done again, and which calibration files are valid.

SIZE = (640, 480)
EVERYWHERE = np.array([[80.0 * column + 40, 80.0 * row + 40] for row in range(6) for column in range(8)])
"""The centre of each field of the grid that measures coverage."""
TILTED = np.radians([20.0, 0.0, 0.0])


class Fitted:
    """Stands in for the search for boards and for OpenCV's fit: views of known corners, errors and tilts."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.corners: Iterator[tuple[int, int]] = iter(())
        self.at = EVERYWHERE
        self.errors: dict[int, float] = {}
        self.turns: dict[int, np.ndarray] = {}
        self.error_px, self.with_k3_px = 0.2, 0.2
        self.fitted: list[tuple[int, int]] = []
        monkeypatch.setattr(calibrating, "find_board", self.find)
        monkeypatch.setattr(calibrating, "fit_camera", self.fit)

    def find(self, image: Image, spec: CharucoBoardSpec) -> BoardCorners:
        index, count = next(self.corners)
        pixels = np.resize(np.roll(self.at, -index * 8, axis=0), (count, 2)).astype(np.float64)
        pixels[:1] += 0.001 * index
        return BoardCorners(pixels, list(range(count)))

    def fit(
        self, points: Sequence[np.ndarray], pixels: Sequence[np.ndarray], size: tuple[int, int], *, radial_terms: int
    ) -> CameraFit:
        assert size == SIZE
        kept = [round(float(one[0, 0]) % 40 / 0.001) if len(one) else 0 for one in pixels]
        self.fitted.append((len(kept), radial_terms))
        error = self.error_px if radial_terms == 2 else self.with_k3_px
        distortion = np.array([0.1, 0.0, 0.0, 0.0, 0.5 if radial_terms == 3 else 0.0])
        return CameraFit(
            np.diag([500.0, 500.0, 1.0]),
            distortion,
            error,
            tuple(self.errors.get(index, 0.1) for index in kept),
            tuple(self.turns.get(index, TILTED) for index in kept),
        )

    def made(self, *corners: int) -> Calibration:
        self.corners = iter(enumerate(corners))
        return calibrate([np.zeros((480, 640), np.uint8)] * len(corners), BOARD)


@pytest.fixture
def fitted(monkeypatch: pytest.MonkeyPatch) -> Fitted:
    return Fitted(monkeypatch)


def test_five_tilted_views_with_small_errors_all_over_the_picture_are_good(fitted: Fitted) -> None:
    found = fitted.made(24, 24, 24, 24, 24)
    assert found.verdict == "good"
    assert found.good
    assert found.coverage == 1.0
    assert found.camera.distortion[4] == 0.0
    assert [view.tilt_deg for view in found.views] == pytest.approx([20.0] * 5)
    assert [view.error_px for view in found.views] == [0.1] * 5
    assert [view.index for view in found.views] == [0, 1, 2, 3, 4]


_TOO_FEW = "Not good enough. Take at least 5 pictures (10 is better): only 4 pictures could be used."


def test_four_pictures_are_too_few_and_two_give_no_camera(fitted: Fitted) -> None:
    assert fitted.made(24, 24, 24, 24).verdict == _TOO_FEW
    assert fitted.made(24, 24, 24).reasons[0].endswith("only 3 pictures could be used")
    with pytest.raises(CalibrationError, match=r"2 of 3 pictures show enough .* \(corners seen: 24, 24, 7; 8 needed\)"):
        fitted.made(24, 24, 7)


def test_a_view_needs_eight_corners(fitted: Fitted) -> None:
    found = fitted.made(24, 24, 24, 24, 8, 7)
    assert [view.used for view in found.views] == [True] * 5 + [False]
    assert found.views[5].why_not == "only 7 corners seen"
    assert found.views[5].error_px is None
    assert found.views[5].corners == 7
    assert fitted.made(24, 24, 24, 24, 8, 1).views[5].why_not == "only 1 corner seen"


@pytest.mark.parametrize(("error_px", "good"), [(0.5, True), (0.51, False)])
def test_corners_may_be_half_a_pixel_off(fitted: Fitted, error_px: float, good: bool) -> None:
    fitted.error_px = fitted.with_k3_px = error_px
    found = fitted.made(24, 24, 24, 24, 24)
    assert found.good == good
    assert good or found.verdict.startswith("Not good enough. The corners are 0.51 pixels off on average; at most")


@pytest.mark.parametrize(("tilt_deg", "good"), [(14.6, True), (14.4, False), (165.6, False), (165.4, True)])
def test_three_views_must_be_tilted(fitted: Fitted, tilt_deg: float, good: bool) -> None:
    fitted.turns = {index: np.radians([0.0, tilt_deg, 0.0]) for index in (0, 1)} | dict.fromkeys((3, 4), np.zeros(3))
    found = fitted.made(24, 24, 24, 24, 24)
    assert found.good == good
    assert good or "Only 1 picture shows the board tilted by 15 degrees or more" in found.verdict


@pytest.mark.parametrize(("fields", "good"), [(24, True), (23, False)])
def test_half_of_the_picture_must_be_covered(fitted: Fitted, fields: int, good: bool) -> None:
    fitted.at = EVERYWHERE[:fields]
    found = fitted.made(*[24] * 5)
    assert found.coverage == pytest.approx(fields / 48)
    assert found.good == good
    assert good or "Corners were seen in only 48% of the picture; at least 50% is needed" in found.verdict


def test_corners_at_the_very_edge_count_for_the_fields_there(fitted: Fitted) -> None:
    fitted.at = np.array([[-3.0, -2.0], [645.0, 485.0], [79.9, 79.9], [80.1, 80.1]])
    assert fitted.made(*[24] * 5).coverage == pytest.approx(3 / 48)


@pytest.mark.parametrize(("error_px", "kept"), [(0.32, False), (0.29, True)])
def test_a_view_with_over_three_times_the_median_error_is_left_out(fitted: Fitted, error_px: float, kept: bool) -> None:
    fitted.errors = {5: error_px}
    found = fitted.made(*[24] * 6)
    assert found.views[5].used == kept
    assert kept or found.views[5].why_not == "it disagrees with the other pictures"
    fitted.errors = {5: 0.29} | dict.fromkeys(range(5), 0.02)
    assert fitted.made(*[24] * 6).views[5].used, "three tenths of a pixel are always allowed"


def test_no_more_than_half_of_the_views_are_left_out(fitted: Fitted) -> None:
    fitted.errors = {index: 10.0**index for index in range(7)}
    assert [view.used for view in fitted.made(*[24] * 7).views] == [True] * 4 + [False] * 3
    assert sum(view.used for view in fitted.made(*[24] * 4).views) == 3


@pytest.mark.parametrize(("with_k3_px", "is_kept"), [(0.189, True), (0.191, False)])
def test_a_third_radial_term_must_reduce_the_error(fitted: Fitted, with_k3_px: float, is_kept: bool) -> None:
    fitted.with_k3_px = with_k3_px
    assert bool(fitted.made(*[24] * 5).camera.distortion[4]) == is_kept


def test_corners_of_a_board_are_numbered_row_by_row() -> None:
    spec = parse_board(BOARD)
    assert spec.corners_mm([0, 5, 6, 23]).tolist() == [[30, 30, 0], [180, 30, 0], [30, 60, 0], [180, 120, 0]]
    small = parse_board(" CHARUCO:3x3:10.5:7:DICT_4X4_50 ")
    assert (small.columns, small.rows, small.square_mm, small.marker_mm) == (3, 3, 10.5, 7.0)
    for wrong, says in (
        ("charuco:3x2:30:22:DICT_5X5_100", "3 x 2 squares is too small; expected at least 3 x 3"),
        ("charuco:7x5:30:0:DICT_5X5_100", "expected smaller ones, above 0"),
        ("charuco:7x5:30:31:DICT_5X5_100", "markers of 31 mm in squares of 30 mm"),
    ):
        with pytest.raises(CalibrationError, match=says):
            parse_board(wrong)


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
    ],
)
def test_invalid_calibration_values_are_refused(change: dict[str, Any], says: str) -> None:
    with pytest.raises(CalibrationError, match=says):
        camera_from_json(GOOD | change, "it")
    with pytest.raises(CalibrationError, match="it is not a calibration"):
        camera_from_json([GOOD], "it")


def test_a_board_is_found_at_any_scale_and_in_both_charuco_patterns() -> None:
    spec = parse_board("charuco:5x4:20:15:DICT_4X4_50")
    board = cv2.aruco.CharucoBoard((5, 4), 20, 15, cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50))
    for legacy in (False, True):
        board.setLegacyPattern(legacy)
        drawn = cv2.copyMakeBorder(board.generateImage((400, 320)), 40, 40, 40, 40, cv2.BORDER_CONSTANT, value=255)
        found = calibrating.find_board(np.asarray(drawn, dtype=np.uint8), spec)
        assert found.is_enough
        assert found.ids == list(range(12))
        expected = spec.corners_mm(found.ids)[:, :2] * 4 + 40 - 0.5
        assert np.abs(found.corners_px - expected).max() < 0.2
    nothing = calibrating.find_board(np.full((100, 100, 3), 255, np.uint8), spec)
    assert nothing.ids == []
    assert nothing.corners_px.shape == (0, 2)
    assert not nothing.is_enough
