"""When a calibration is good or must be done again, and which calibration files are valid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import cv2
import numpy as np
import pytest

from vision import calibration as calibrating
from vision.calibration import BoardCorners, Calibration, CharucoBoardSpec, calibrate, camera_from_json, parse_board
from vision.calibration import undistorted_preview as preview
from vision.errors import CalibrationError
from vision.frame import Image
from vision.geometry import CameraModel
from vision.opencv import CameraFit

SIZE = (640, 480)
BOARD = "charuco:7x5:30:22:DICT_5X5_100"
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
        self.fitted: list[tuple[int, bool]] = []
        monkeypatch.setattr(calibrating, "find_board", self.find)
        monkeypatch.setattr(calibrating, "fit_camera", self.fit)

    def find(self, image: Image, spec: CharucoBoardSpec) -> BoardCorners:
        index, count = next(self.corners)
        pixels = np.resize(np.roll(self.at, -index * 8, axis=0), (count, 2)).astype(np.float64)
        pixels[:1] += 0.001 * index
        return BoardCorners(pixels, list(range(count)))

    def fit(
        self, points: Sequence[np.ndarray], pixels: Sequence[np.ndarray], size: tuple[int, int], *, third_radial: bool
    ) -> CameraFit:
        assert size == SIZE
        kept = [round(float(one[0, 0]) % 40 / 0.001) if len(one) else 0 for one in pixels]
        self.fitted.append((len(kept), third_radial))
        error = self.with_k3_px if third_radial else self.error_px
        distortion = np.array([0.1, 0.0, 0.0, 0.0, 0.5 if third_radial else 0.0])
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


@pytest.mark.parametrize(("tilt_deg", "good"), [(15.1, True), (14.9, False), (165.1, False), (164.9, True)])
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


@pytest.mark.parametrize("shape", [(160, 240), (160, 240, 3)])
def test_the_preview_has_lines_at_each_eighth(shape: tuple[int, ...]) -> None:
    camera = CameraModel(np.array([[200.0, 0, 120], [0, 200, 80], [0, 0, 1]]), np.zeros(5), (240, 160))
    image = np.full(shape, 90, dtype=np.uint8)
    lined = preview(image, camera)
    assert (image == 90).all()
    # beside a soft line there is a shimmer of it
    changed = np.abs(lined.astype(int) - (255, 160, 0)).max(axis=2) < 45
    assert np.flatnonzero(changed[5]).tolist() == [30 * step for step in range(1, 8)]
    assert np.flatnonzero(changed[:, 5]).tolist() == [20 * step for step in range(1, 8)]
    assert changed[2:-2, 120].all()
    assert changed[80, 2:-2].all()


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
