"""Messages about a located table: accuracy, problems with markers, and remedies."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from simulator.scene.scene import lens, looking_at
from vision.errors import CalibrationError, FrameError
from vision.geometry import CameraModel, Pose, project
from vision.layout.pieces import GridSurface, Ink
from vision.layout.table import TableLayout, default_layout
from vision.locating.lattice import BoardSighting, symmetric_poses
from vision.locating.lines_and_markers import has_few_sharp_markers, is_imprecise
from vision.locating.location import cell_px, check_size, is_sharp, location_from_fit, location_from_lines, seen_text
from vision.locating.markers import FoundBy, Marker, MarkerDetector, PictureMarkers
from vision.locating.pose import PoseFit

LAYOUT = default_layout("deblockle")
CAMERA = lens((800, 600), 60.0, (0, 0, 0, 0, 0), (0.0, 0.0))
POSE = looking_at(560.0, 0.0)


def marker(marker_id: int, off_px: float = 0.0, found_by: FoundBy = FoundBy.PLAIN) -> Marker:
    """A marker this many pixels to the right of its projection."""
    corners = project(CAMERA, POSE, LAYOUT.markers.corners_mm(marker_id))
    return Marker(marker_id, corners + np.array([off_px, 0.0]), found_by)


def fit(*offs_px: float, unused: tuple[Marker, ...] = (), error_px: float = 0.1) -> PoseFit:
    used = tuple(marker(number, off_px) for number, off_px in enumerate(offs_px))
    return PoseFit(POSE, used, unused, error_px)


def test_the_errors_of_each_marker_and_of_all_are_reported() -> None:
    found = location_from_fit(fit(1.0, 0.0, 2.0), CAMERA, LAYOUT, (0, 1, 2, 3), uncertain=True)
    assert found.marker_errors_px == pytest.approx({0: 1.0, 1: 0.0, 2: 2.0})
    assert found.error_px == pytest.approx(np.sqrt(5 / 3))
    assert found.ids_used == (0, 1, 2)
    assert found.ids_seen == (0, 1, 2, 3)
    assert found.uncertain
    assert found.notices == ()
    assert location_from_fit(fit(), CAMERA, LAYOUT, (), uncertain=False).error_px == 0.0


def test_markers_left_out_are_named_with_the_reason() -> None:
    strays = (marker(1, 30.0), marker(3, 12.0), marker(3, 12.0))
    found = location_from_fit(fit(0.0, 0.0, 0.0, unused=strays), CAMERA, LAYOUT, (), uncertain=False)
    assert found.notices == (
        "marker 1 appears twice; the one that agrees with the others is used",
        "marker 3 is not where the layout says (12 pixels off); it is left out",
    )


def test_a_lone_marker_that_appears_twice_agrees_with_no_other() -> None:
    found = location_from_fit(fit(0.0, unused=(marker(0, 200.0),)), CAMERA, LAYOUT, (0,), uncertain=False)
    assert found.notices == ("marker 0 appears twice, and no other one shows which of them is right; remove one",)


@pytest.mark.parametrize(("markers", "error_px", "warns"), [(2, 1.1, True), (2, 0.9, False), (1, 1.1, False)])
def test_a_large_mean_error_suggests_a_new_calibration(markers: int, error_px: float, warns: bool) -> None:
    one = fit(*[0.0] * markers, error_px=error_px)
    notices = location_from_fit(one, CAMERA, LAYOUT, (), uncertain=False).notices
    assert any("1.1 pixels off on average; check that the calibration virtual" in each for each in notices) == warns
    assert bool(notices) == warns


@pytest.mark.parametrize(("cell_mm", "warns"), [(8.8, True), (9.0, False)])
def test_cells_of_fewer_than_eleven_pixels_are_noticed_on_a_sheet_for_digits(cell_mm: float, warns: bool) -> None:
    focal_px = float(CAMERA.matrix[0, 0])
    sheet = GridSurface("sheet", columns=4, rows=3, cell_mm=cell_mm, pieces=Ink())
    assert cell_px(CAMERA, POSE, sheet) == pytest.approx(cell_mm * focal_px / 560.0)
    assert (cell_px(CAMERA, POSE, sheet) < 11.0) == warns
    table = TableLayout("number-drop", LAYOUT.markers, (sheet,))
    notices = location_from_fit(fit(0.0, 0.0), CAMERA, table, (), uncertain=False).notices
    assert any("less than 11 pixels wide" in each for each in notices) == warns
    plain = TableLayout("deblockle", LAYOUT.markers, (replace(LAYOUT.board, cell_mm=cell_mm),))
    assert location_from_fit(fit(0.0, 0.0), CAMERA, plain, (), uncertain=False).notices == ()


def test_the_width_of_a_cell_is_that_of_the_narrowest_edge() -> None:
    slanted = looking_at(560.0, 50.0)
    wide = GridSurface("sheet", columns=8, rows=3, cell_mm=20.0)
    corners = project(CAMERA, slanted, wide.bounds_mm.corners_mm(0.0))
    near, right, far, left = np.linalg.norm(corners - np.roll(corners, -1, axis=0), axis=1)
    assert cell_px(CAMERA, slanted, wide) == pytest.approx(min(near / 8, far / 8, left / 3, right / 3))
    assert far < near


def test_the_markers_seen_are_listed_of_those_expected() -> None:
    assert seen_text((0, 2), LAYOUT) == "only markers 0 and 2 of 0-3 were seen"
    assert seen_text((1,), LAYOUT) == "only marker 1 of 0-3 was seen"
    assert seen_text((0, 1, 2, 3), LAYOUT) == "markers 0, 1, 2 and 3 of 0-3 were seen"
    assert seen_text((), LAYOUT) == "none of markers 0 to 3 was seen"

    def with_ids(*ids: int) -> TableLayout:
        centres = {number: (10.0 * number, 0.0) for number in ids}
        return replace(LAYOUT, markers=replace(LAYOUT.markers, centres_mm=centres))

    assert seen_text((), with_ids(4, 6, 7)) == "none of markers 4, 6 and 7 was seen"
    assert seen_text((4,), with_ids(4, 6, 7)) == "only marker 4 of 4, 6 and 7 was seen"
    assert seen_text((4,), with_ids(4, 5)) == "only marker 4 of 4 and 5 was seen"
    assert seen_text((5,), with_ids(4, 5, 6)) == "only marker 5 of 4-6 was seen"
    assert seen_text((4, 5), with_ids(4, 5)) == "markers 4 and 5 were seen"
    assert seen_text((4,), with_ids(4)) == "marker 4 was seen"
    assert seen_text((), with_ids(4)) == "marker 4 was not seen"


@pytest.mark.parametrize(
    ("error_px", "markers", "sharp"),
    [(0.12, 3, True), (0.14, 3, False), (0.29, 4, True), (0.31, 4, False), (0.01, 2, False), (0.29, 5, True)],
)
def test_three_markers_or_more_may_be_measured_by_outline(error_px: float, markers: int, sharp: bool) -> None:
    assert is_sharp(error_px, markers) == sharp


def test_up_to_two_sharp_markers_are_few() -> None:
    blurred = [marker(number, found_by=FoundBy.MATCHED) for number in range(4)]
    assert has_few_sharp_markers(blurred)
    assert has_few_sharp_markers([*blurred, marker(0), marker(1), marker(1)])
    assert not has_few_sharp_markers([marker(0), marker(1), marker(2)])


@pytest.mark.parametrize(("sharp", "blurred", "imprecise"), [(3, 0, False), (2, 1, True), (3, 1, False), (0, 1, True)])
def test_three_markers_are_imprecise_if_one_is_blurred(sharp: int, blurred: int, imprecise: bool) -> None:
    used = [marker(number) for number in range(sharp)]
    used += [marker(sharp + number, found_by=FoundBy.SHARPENED) for number in range(blurred)]
    assert is_imprecise(PoseFit(POSE, tuple(used), (), 0.1)) == imprecise


@pytest.mark.parametrize("shape", [(600, 800), (600, 800, 3)])
def test_a_picture_has_eight_bits_and_the_calibrations_size(shape: tuple[int, ...]) -> None:
    check_size(np.zeros(shape, np.uint8), CAMERA)
    wrong: Any
    for wrong in (np.zeros(shape, np.uint16), np.zeros((*shape, 1, 1), np.uint8), np.zeros(0, np.uint8)):
        with pytest.raises(FrameError, match="expected 8 bits a channel, in one channel or three"):
            check_size(wrong, CAMERA)
    with pytest.raises(
        CalibrationError, match="the picture is 600 x 800 pixels, the calibration virtual is for 800 x 600"
    ):
        check_size(np.zeros((800, 600), np.uint8), CAMERA)
    nameless = CameraModel(CAMERA.matrix, CAMERA.distortion, CAMERA.size)
    with pytest.raises(CalibrationError, match="801 x 600 pixels"):
        check_size(np.zeros((600, 801), np.uint8), nameless)


@pytest.mark.parametrize("quarters", range(4))
def test_a_board_found_by_lines_keeps_its_orientation_or_faces_the_lower_edge(quarters: int) -> None:
    poses = symmetric_poses(POSE, LAYOUT.board)
    sighting = BoardSighting(poses[quarters], 1.0, 0.4)
    first = location_from_lines(sighting, LAYOUT, None)
    assert first.pose.rotation == pytest.approx(POSE.rotation)
    assert first.error_px == 0.4
    assert first.ids_used == first.ids_seen == ()
    assert len(first.symmetric_poses) == 3
    for before in poses:
        nudged = Pose(before.rotation @ Pose.from_vectors((0.0, 0.0, 0.3), np.zeros(3)).rotation, before.translation)
        again = location_from_lines(sighting, LAYOUT, nudged)
        assert again.pose.rotation == pytest.approx(before.rotation, abs=1e-9)
        assert not any(other is again.pose for other in again.symmetric_poses)


def test_one_picture_is_searched_once_by_each_method_and_dictionary(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[tuple[str, str]] = []
    slow = ("sharpened", "thorough", "enlarged", "equalised")
    for method in ("plain", "halved", "quick", *slow):

        def count(self: MarkerDetector, grey: object, method: str = method) -> tuple[Marker, ...]:
            searched.append((method, self.dictionary))
            return (marker(len(searched) % 4),)

        monkeypatch.setattr(MarkerDetector, method, count)
    seen = PictureMarkers(np.zeros((60, 80, 3), np.uint8))
    small, large = MarkerDetector("DICT_4X4_50"), MarkerDetector("DICT_5X5_50")
    first = seen.find(small, MarkerDetector.plain)
    assert seen.find(MarkerDetector("DICT_4X4_50"), MarkerDetector.plain) is first
    assert seen.find(small, MarkerDetector.halved) is seen.find(small, MarkerDetector.halved)
    assert seen.find(small, MarkerDetector.quick) is seen.find(small, MarkerDetector.quick) is not first
    assert seen.find(large, MarkerDetector.plain) is not first
    for find in (getattr(MarkerDetector, method) for method in slow):
        assert seen.find(small, find) is seen.find(MarkerDetector("DICT_4X4_50"), find)
    assert searched == [
        ("plain", "DICT_4X4_50"),
        ("halved", "DICT_4X4_50"),
        ("quick", "DICT_4X4_50"),
        ("plain", "DICT_5X5_50"),
        *((method, "DICT_4X4_50") for method in slow),
    ]
    assert seen.grey.shape == (60, 80)
