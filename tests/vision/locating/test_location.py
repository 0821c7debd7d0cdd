"""Locating the table by four to one of its markers, never contradicting a visible one."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import combinations, product
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from simulator.rendering.textures import sheet_texture
from simulator.scene.scene import first_fitting, growing_distances, lens, looking_at
from simulator.scene.sheets import lying_sheets
from tests.effort import some
from tests.present import present
from tests.vision.readers.ink import sheets
from tests.vision.readers.ink.sheets import EXPECTED, frame, grid_of, picture
from vision.drawing import draw
from vision.errors import CalibrationError, FrameError, LayoutError, NotLocatedError
from vision.frame import Image
from vision.geometry import CameraModel, Pose, back_project, plane_homography, project
from vision.images import load_image
from vision.layout.pieces import GridSurface, Ink
from vision.layout.table import TableLayout, default_layout
from vision.locating.lattice import BoardSighting, Edges, Steps, clear_boards, run_to_end, symmetric_poses
from vision.locating.lines_and_markers import fit_by_lines, has_few_sharp_markers, is_imprecise
from vision.locating.location import (
    cell_px,
    check_size,
    is_sharp,
    locate,
    location_from_fit,
    location_from_lines,
    seen_text,
)
from vision.locating.markers import FoundBy, Marker, MarkerDetector, SharedPicture
from vision.locating.patterns import MarkerPatterns
from vision.locating.photographed import MOST_SHEETS, photographed_sheet
from vision.locating.pose import PoseFit
from vision.opencv import as_grey
from vision.readers.registry import table_reader

ALL = (0, 1, 2, 3)


def board_error_mm(camera, layout, found, true):
    half = layout.board.columns * layout.board.cell_mm / 2
    corners = np.array([[x, y, 40.0] for x in (-half, half) for y in (-half, half)])
    seen = back_project(camera, found, project(camera, true, corners), 40.0)
    return np.linalg.norm(seen - corners, axis=1).max()


def smaller(picture, camera, share=0.7):
    """A picture and its camera reduced in size, for a faster search."""
    image = np.asarray(cv2.resize(picture, None, fx=share, fy=share, interpolation=cv2.INTER_AREA), np.uint8)
    middle = (share - 1) / 2
    matrix = np.array([[share, 0, middle], [0, share, middle], [0, 0, 1]]) @ camera.matrix
    return image, replace(camera, matrix=matrix, size=(image.shape[1], image.shape[0]))


@pytest.mark.parametrize(
    ("seen", "within_mm"),
    [
        (ALL, 0.3),
        *((chosen, 1.0) for chosen in some(combinations(ALL, 3))),
        *((chosen, 2.5) for chosen in some([(0, 1), (0, 2), (2, 3)])),
    ],
)
def test_the_table_is_located_from_several_markers(seen, within_mm, render_table, camera, layout, pose):
    picture = render_table(pose, hidden=set(ALL) - set(seen))
    located = locate(picture, camera, layout)
    assert located.ids_used == located.ids_seen == seen
    assert not located.uncertain
    assert not located.notices
    assert located.error_px < 0.3
    assert set(located.marker_errors_px) == set(seen)
    assert board_error_mm(camera, layout, located.pose, pose) < within_mm


@pytest.mark.parametrize("marker_id", some(ALL, 1))
def test_the_table_is_located_from_one_marker(marker_id, render_table, camera, layout, pose):
    picture, camera = smaller(render_table(pose, hidden=set(ALL) - {marker_id}), camera)
    located = locate(picture, camera, layout)
    assert located.ids_used == (marker_id,)
    # One small marker allows two poses; the wrong one may be returned, but never as certain.
    assert located.uncertain or board_error_mm(camera, layout, located.pose, pose) < 15


def test_the_earlier_pose_decides_between_the_two_poses_of_a_single_marker(render_table, camera, layout, pose):
    picture, camera = smaller(render_table(pose, hidden={0, 1, 2}), camera)
    assert board_error_mm(camera, layout, locate(picture, camera, layout, previous=pose).pose, pose) < 15


@pytest.mark.parametrize("flip", [np.fliplr, np.flipud])
def test_a_mirrored_picture_is_named_and_gives_no_pose(flip, render_table, camera, layout, pose):
    picture = np.ascontiguousarray(flip(render_table(pose)))
    with pytest.raises(NotLocatedError, match="the picture is mirrored; switch off mirroring in the camera's program"):
        locate(picture, camera, layout)
    with pytest.raises(NotLocatedError):
        locate(picture, camera, layout, thorough=False)


@pytest.mark.parametrize("blur_px", some([2.2, 3.0, 4.0], 1))
def test_a_mirrored_picture_too_blurred_to_decode_gives_no_pose(blur_px, render_table, camera, layout, pose):
    with pytest.raises(NotLocatedError):
        locate(np.ascontiguousarray(np.fliplr(render_table(pose, blur_px=blur_px))), camera, layout)


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_a_picture_turned_by_quarters_is_located(quarters, render_table, camera, layout, pose):
    turned, size = np.rot90(render_table(pose), -quarters), camera.size
    fx, fy, (cx, cy) = camera.matrix[0, 0], camera.matrix[1, 1], camera.matrix[:2, 2]
    width, height = size[0] - 1, size[1] - 1
    if quarters % 2:
        size, (fx, fy) = size[::-1], (fy, fx)
    cx, cy = {1: (height - cy, cx), 2: (width - cx, height - cy), 3: (cy, width - cx)}[quarters]
    own = replace(camera, matrix=np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1]]), size=size)
    located = locate(np.ascontiguousarray(turned), own, layout)
    assert located.ids_used == ALL
    assert located.pose.camera_position_mm == pytest.approx(pose.camera_position_mm, abs=2)


def as_sheet(layout):
    return replace(layout, surfaces=(replace(layout.board, pieces=Ink()),))


def test_a_sheet_with_markers_elsewhere_is_another_games(render_table, camera, layout, pose):
    nearer = {marker_id: (0.0, -0.4 * y) for marker_id, (_, y) in layout.markers.centres_mm.items()}
    picture, camera = smaller(render_table(pose, moved=nearer), camera)
    with pytest.raises(NotLocatedError, match="not where a sheet of deblockle has them; it may be another game's"):
        locate(picture, camera, as_sheet(layout))


def test_two_sheets_with_the_same_markers_are_refused(render_table, camera, layout, pose):
    picture = render_table(pose, extra=[(0, (-60.0, 205.0)), (1, (60.0, 205.0))])
    with pytest.raises(NotLocatedError, match="markers 0 and 1 appear twice, so two sheets have the same markers"):
        locate(picture, camera, as_sheet(layout))


@pytest.mark.parametrize("tilt_deg", [0, 20, 45])
def test_tilted_views(tilt_deg, render_table, camera, layout, pose_looking_from):
    angle = np.radians(tilt_deg)
    pose = pose_looking_from((40.0, -780 * np.sin(angle), 780 * np.cos(angle)))
    located = locate(render_table(pose), camera, layout)
    assert located.ids_used == ALL
    assert board_error_mm(camera, layout, located.pose, pose) < 0.6


@pytest.mark.parametrize(
    "harm", [{"blur_px": 2.2}, {"light": 0.12, "noise": 3.0}, {"noise": 14.0}, {"light": 1.6}], ids=str
)
def test_blur_dim_light_noise_and_glare(harm, render_table, camera, layout, pose):
    located = locate(render_table(pose, **harm), camera, layout)
    assert len(located.ids_used) == 4
    assert board_error_mm(camera, layout, located.pose, pose) < 1.5


def test_ids_outside_the_layout_are_ignored(render_table, camera, layout, pose):
    picture = render_table(pose, hidden={3}, extra=[(7, (-175.0, -175.0)), (17, (0.0, 210.0))])
    located = locate(picture, camera, layout)
    assert located.ids_seen == (0, 1, 2)
    assert not located.notices


def test_a_marker_printed_twice_is_noticed_and_the_one_that_agrees_is_used(render_table, camera, layout, pose):
    located = locate(render_table(pose, extra=[(2, (20.0, 205.0))]), camera, layout)
    assert located.ids_used == ALL
    assert board_error_mm(camera, layout, located.pose, pose) < 0.3
    assert any("marker 2 appears twice" in notice for notice in located.notices)


def test_a_pushed_marker_is_left_out_and_named(render_table, camera, layout, pose):
    located = locate(render_table(pose, moved={1: (25.0, 10.0)}), camera, layout)
    assert located.ids_used == (0, 2, 3)
    assert located.ids_seen == ALL
    assert board_error_mm(camera, layout, located.pose, pose) < 0.6
    assert any("marker 1 is not where the layout says" in notice for notice in located.notices)


def without_lines(picture, camera, layout, pose):
    """The picture with a plain sheet over the board."""
    corners = layout.board.bounds_mm.corners_mm(layout.board.height_mm)
    outline = np.round(project(camera, pose, corners)).astype(np.int32)
    return cv2.fillConvexPoly(picture.copy(), cv2.convexHull(outline), (150, 150, 150))


def test_the_board_decides_which_of_two_contradicting_markers_was_pushed(render_table, camera, layout, pose):
    picture = render_table(pose, hidden={2, 3}, moved={1: (22.0, -18.0)})
    located = locate(picture, camera, layout)
    assert located.ids_used == (0,)
    assert board_error_mm(camera, layout, located.pose, pose) < 3


def test_two_contradicting_markers_over_a_hidden_board_give_no_pose(render_table, camera, layout, pose):
    picture = without_lines(render_table(pose, hidden={2, 3}, moved={1: (40.0, 0.0)}), camera, layout, pose)
    picture, camera = smaller(picture, camera)
    said = r"only markers 0 and 1 of 0-3 were seen, but marker \d and marker \d .* where the layout of deblockle says"
    with pytest.raises(NotLocatedError, match=said):
        locate(picture, camera, layout)
    held = locate(picture, camera, layout, previous=pose)
    assert held.ids_used == (0,)


def test_a_lone_marker_is_too_few_for_a_fast_search(render_table, camera, layout, pose):
    said = "^table not located: only marker 0 of 0-3 was seen; uncover another marker$"
    with pytest.raises(NotLocatedError, match=said):
        locate(render_table(pose, hidden={1, 2, 3}), camera, layout, thorough=False)


def test_the_message_without_markers_says_what_to_do(render_table, camera, layout, pose):
    picture, camera = smaller(render_table(pose, hidden=ALL), camera)
    with pytest.raises(NotLocatedError, match="table not located: none of markers 0 to 3 was seen; check that"):
        locate(picture, camera, layout)


def test_a_picture_of_another_size_than_the_calibration_is_refused(render_table, camera, layout, pose):
    small = cv2.resize(render_table(pose), (320, 240))
    with pytest.raises(
        CalibrationError, match="the picture is 320 x 240 pixels, the calibration drawn is for 640 x 480"
    ):
        locate(small, camera, layout)


@pytest.mark.parametrize("thing", [np.zeros((480, 640), np.float32), np.zeros((0, 0, 3), np.uint8)])
def test_an_invalid_picture_is_refused(thing, camera, layout):
    with pytest.raises(FrameError, match="expected 8 bits a channel"):
        locate(thing, camera, layout)


def test_a_calibration_of_another_camera_is_noticed(render_table, camera, layout, pose_looking_from):
    pose = pose_looking_from((250.0, -480.0, 560.0))
    picture = render_table(pose)
    other = CameraModel(
        camera.matrix * [[1.5, 1, 1], [1, 1.5, 1], [1, 1, 1]], camera.distortion, camera.size, 0.1, "tele"
    )
    try:
        notices = " ".join(locate(picture, other, layout).notices)
    except NotLocatedError as error:
        notices = str(error)
    assert "calibrat" in notices
    assert not locate(picture, camera, layout).notices


def test_the_drawing_shows_the_located_table(render_table, camera, layout, pose):
    picture = render_table(pose)
    located = locate(picture, camera, layout)
    drawn = draw(picture, located, layout, camera)
    assert drawn.shape == picture.shape
    assert drawn is not picture
    changed = np.any(drawn != picture, axis=2)
    corner = np.round(project(camera, located.pose, [[-140.0, 140.0, layout.board.height_mm]])[0]).astype(int)
    assert changed[corner[1] - 2 : corner[1] + 3, corner[0] - 2 : corner[0] + 3].any()
    grey = np.ascontiguousarray(picture[:, :, 0])
    assert draw(grey, located, layout, camera).shape == picture.shape


@pytest.mark.parametrize("push_mm", some([(30.0, 0.0), (-30.0, 0.0), (0.0, 35.0), (25.0, -25.0)]))
def test_one_pushed_marker_of_three_does_not_distort_the_pose(push_mm, render_table, camera, layout, pose):
    picture, camera = smaller(render_table(pose, hidden={3}, moved={1: push_mm}), camera)
    try:
        located = locate(picture, camera, layout)
    except NotLocatedError as error:
        located, said = None, str(error)
    if located is None:
        assert "contradict" in said
    else:
        assert located.ids_used == (0, 2)
        assert board_error_mm(camera, layout, located.pose, pose) < 3


def test_half_covered_markers_still_give_the_orientation(render_table, camera, layout, pose_looking_from):
    pose = pose_looking_from((330.0, 60.0, 560.0))
    picture = render_table(pose, hidden={1})
    for marker_id in (0, 2, 3):
        far_left, far_right, near_right, near_left = 1.2 * layout.markers.corners_mm(marker_id) - (
            0.2 * layout.markers.corners_mm(marker_id).mean(axis=0)
        )
        half = np.array([far_left, far_right, (far_right + near_right) / 2, (far_left + near_left) / 2])
        cv2.fillConvexPoly(picture, np.round(project(camera, pose, half)).astype(np.int32), (90, 120, 60))
    located = locate(picture, camera, layout)
    assert board_error_mm(camera, layout, located.pose, pose) < 4
    assert not located.uncertain


@pytest.mark.parametrize(
    ("game", "share", "is_small"),
    [("number-drop", 0.5, False), ("number-drop", 0.33, True), ("blokus-dice", 0.33, False)],
)
def test_handwriting_that_is_small_in_the_picture_is_noticed(game, share, is_small):
    image = np.asarray(
        cv2.resize(sheets.picture(game), None, fx=share, fy=share, interpolation=cv2.INTER_AREA), np.uint8
    )
    whole = sheets.camera()
    size = (image.shape[1], image.shape[0])
    smaller = replace(whole, matrix=np.diag([share, share, 1.0]) @ whole.matrix, size=size)
    notices = locate(image, smaller, sheets.layout(game)).notices
    assert any("pixels wide" in notice and "closer" in notice for notice in notices) == is_small


@pytest.fixture(scope="module")
def whole_grey(render_table: Callable[..., Image], pose: Pose) -> Image:
    """The table with all its markers, without colours."""
    return np.asarray(cv2.cvtColor(render_table(pose), cv2.COLOR_BGR2GRAY), dtype=np.uint8)


@pytest.fixture(scope="module")
def sightings(whole_grey: Image, camera: CameraModel, layout: TableLayout) -> list[tuple[Edges, BoardSighting]]:
    """The boards found by the lines of that picture, which takes long."""
    return run_to_end(clear_boards(whole_grey, camera, layout.board))


def in_one_step(boards: list[tuple[Edges, BoardSighting]]) -> Steps[list[tuple[Edges, BoardSighting]]]:
    """Search in one step, and find these boards."""
    yield
    return boards


@pytest.fixture
def show_lines(sightings: list[tuple[Edges, BoardSighting]], monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Make the lines show the board where it is, or at another pose, as if its rim were invisible."""

    def show(at_pose: Pose | None = None) -> None:
        boards = [(edges, replace(one, pose=one.pose if at_pose is None else at_pose)) for edges, one in sightings]
        monkeypatch.setattr("vision.locating.lattice.clear_boards", lambda *_: in_one_step(boards))

    return show


@pytest.mark.parametrize("quarters", range(4))
def test_lines_that_fit_a_square_away_follow_the_visible_markers(
    quarters, whole_grey, camera, layout, pose, show_lines
):
    finder = MarkerDetector(layout.markers.dictionary)
    markers = [marker for marker in finder.plain(whole_grey) if marker.marker_id in {0, 2}]
    farther = Pose(pose.rotation, pose.translation + pose.rotation @ (0.0, layout.board.cell_mm, 0.0))
    show_lines(symmetric_poses(farther, layout.board)[quarters])
    found = present(
        run_to_end(fit_by_lines(MarkerPatterns(whole_grey, camera, layout.markers, finder), layout, markers))
    )
    assert found.ids == set(ALL), "the others are found where they must be"
    assert board_error_mm(camera, layout, found.pose, pose) < 2.5


def test_lines_that_contradict_every_visible_marker_are_rejected(whole_grey, camera, layout, show_lines):
    finder = MarkerDetector(layout.markers.dictionary)
    (marker, *_) = finder.plain(whole_grey)
    elsewhere = replace(marker, corners_px=marker.corners_px + np.array([120.0, 90.0]))
    show_lines()
    assert run_to_end(fit_by_lines(MarkerPatterns(whole_grey, camera, layout.markers, finder), layout, ())) is not None
    assert (
        run_to_end(fit_by_lines(MarkerPatterns(whole_grey, camera, layout.markers, finder), layout, (elsewhere,)))
        is None
    )


@pytest.mark.parametrize(
    ("likeness", "mirrored", "decides"),
    [
        ((1.0, 0.0, 0.0, 0.0), 0.0, True),
        ((0.4, 0.2, 0.0, 0.0), 0.2, True),
        ((0.4, 0.2, 0.0, 0.0), 0.3, False),
        ((1.0, 0.97, 0.0, 0.0), 0.0, False),
        ((0.25,) * 4, 0.0, False),
    ],
)
def test_the_orientation_of_a_board_must_be_clearly_likelier_than_every_other(
    likeness, mirrored, decides, whole_grey, camera, layout, pose, monkeypatch, show_lines
):
    """Without decoded markers, orientations and the mirror image are compared by similarity at the markers' places."""
    show_lines()
    turned = symmetric_poses(pose, layout.board)

    def similarity(patterns, seen_pose, marker_id):
        if patterns.are_mirrored:
            return mirrored
        return likeness[int(np.argmin([np.linalg.norm(seen_pose.rotation - one.rotation) for one in turned]))]

    monkeypatch.setattr(MarkerPatterns, "similarity", similarity)
    patterns = MarkerPatterns(whole_grey, camera, layout.markers, MarkerDetector(layout.markers.dictionary))
    found = run_to_end(fit_by_lines(patterns, layout, ()))
    assert (found is not None) == decides
    if found is not None:
        assert found.by_lines
        assert found.ids == set(ALL)
        assert board_error_mm(camera, layout, found.pose, pose) < 1.5


# Messages about a located table: accuracy, problems with markers, and remedies.

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
    assert (
        any("1.1 pixels off on average" in each and "that the calibration virtual" in each for each in notices) == warns
    )
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
    seen = SharedPicture(np.zeros((60, 80, 3), np.uint8))
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


# A sheet in a phone's photo: its focal length is estimated, and incomplete sheets are reported.

DATA = Path(__file__).resolve().parents[2] / "data"
GAMES = ("number-drop", "blokus-dice")
LAYOUTS = [default_layout(game) for game in GAMES]
PRINTED_PX_PER_MM = 6.0
WIDE = (1600, 800)


def photo(
    game: str,
    view_deg: float = 69.0,
    tilt_deg: float = 30.0,
    sheets: tuple[int, ...] = (1,),
    size: tuple[int, int] = (1008, 756),
    farther: float = 1.0,
) -> tuple[Image, CameraModel]:
    """A distortion-free photo of these players' blank sheets side by side, and its camera."""
    camera = lens(size, view_deg, (0, 0, 0, 0, 0), (0.0, 0.0))
    table = default_layout(game).with_sheets(MOST_SHEETS)
    half = lying_sheets(table)[0].half_mm
    corners = np.array([(x, y, 0.0) for x in (-half[0], half[0]) for y in (-half[1], half[1])]) * len(sheets)
    poses = (looking_at(one, tilt_deg, -70.0, 20.0) for one in growing_distances(120.0, 1.03, 200))
    pose = first_fitting(camera, corners * farther, 8.0, poses)
    image = np.full((*size[::-1], 3), (70, 90, 110), np.uint8)
    for place, player in enumerate(sheets):
        printed = sheet_texture(lying_sheets(table)[player - 1], game, PRINTED_PX_PER_MM)
        aside = 2.1 * half[0] * (place - (len(sheets) - 1) / 2)
        to_mm = np.array([(1, 0, aside - half[0]), (0, -1, half[1]), (0, 0, 1)]) @ np.diag(
            [1 / PRINTED_PX_PER_MM, 1 / PRINTED_PX_PER_MM, 1]
        )
        to_px = plane_homography(pose, camera, 0.25) @ to_mm
        cv2.warpPerspective(printed, to_px, size, dst=image, flags=cv2.INTER_AREA, borderMode=cv2.BORDER_TRANSPARENT)
    return np.asarray(cv2.GaussianBlur(image, (0, 0), 0.5), dtype=np.uint8), camera


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize(("view_deg", "tilt_deg"), some([(26.0, 40.0), (69.0, 30.0), (100.0, 40.0), (69.0, 55.0)]))
def test_an_oblique_view_of_a_sheet_gives_the_focal_length(game: str, view_deg: float, tilt_deg: float) -> None:
    image, camera = photo(game, view_deg, tilt_deg)
    sheet = photographed_sheet(image, LAYOUTS)
    assert (sheet.layout.game, sheet.layout.board.name) == (game, "sheet of p1")
    assert sheet.camera.matrix[0, 0] == pytest.approx(camera.matrix[0, 0], rel=0.2)
    assert sheet.error_px < 2.5


@pytest.mark.parametrize("view_deg", [26.0, 69.0, 100.0])
def test_the_cells_of_a_sheet_seen_from_above_are_found_whatever_the_lens(view_deg: float) -> None:
    image, camera = photo("number-drop", view_deg, 0.0)
    sheet = photographed_sheet(image, LAYOUTS)
    board = sheet.layout.board
    outer = project(sheet.camera, sheet.pose, board.bounds_mm.corners_mm(board.height_mm))
    darkest = [cv2.getRectSubPix(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), (5, 5), tuple(corner)) for corner in outer]
    assert all(patch.min() < patch.max() - 30 for patch in darkest)
    assert camera.size == sheet.camera.size


@pytest.mark.parametrize(("game", "view_deg"), some(product(GAMES, [26.0, 100.0]), 3))
def test_the_usual_focal_length_is_assumed_from_straight_above(game: str, view_deg: float) -> None:
    """That view fits any focal length; 27 mm on 35 mm film is 0.62 of the picture's diagonal."""
    image, camera = photo(game, view_deg, 0.0)
    sheet = photographed_sheet(image, LAYOUTS)
    assert sheet.camera.matrix[0, 0] == sheet.camera.matrix[1, 1]
    assert sheet.camera.matrix[0, 0] == pytest.approx(0.62 * np.hypot(*camera.size), rel=0.1)
    assert sheet.camera.matrix[:2, 2].tolist() == [503.5, 377.5]
    assert sheet.error_px < 0.8


@pytest.mark.parametrize("game", GAMES)
def test_a_ray_traced_sheet_is_read_without_a_calibration(game: str) -> None:
    sheet = photographed_sheet(picture(game), LAYOUTS)
    reading = table_reader(sheet.camera, sheet.layout, None).read(frame(picture(game)))
    wrong = sum(a != b for a, b in zip("".join(grid_of(reading, game)), "".join(EXPECTED[game]["grid"]), strict=True))
    assert wrong <= (1 if game == "number-drop" else 0)


def test_the_markers_identify_the_player() -> None:
    sheet = photographed_sheet(photo("number-drop", sheets=(3,))[0], LAYOUTS)
    assert sheet.layout.board.name == "sheet of p3"
    assert sheet.layout.places[0] == "p3.a1"


def test_one_hidden_marker_does_no_harm() -> None:
    image, _ = photo("blokus-dice")
    whole = photographed_sheet(image, LAYOUTS)
    hidden = project(whole.camera, whole.pose, whole.layout.markers.corners_mm(2))
    cv2.fillConvexPoly(image, np.round(hidden).astype(np.int32), (120, 150, 205))
    assert photographed_sheet(image, LAYOUTS).layout == whole.layout


def smaller_print(layout: TableLayout) -> TableLayout:
    """The layout of a sheet whose markers lie elsewhere."""
    centres = {number: (0.7 * x, y) for number, (x, y) in layout.markers.centres_mm.items()}
    return replace(layout, markers=replace(layout.markers, centres_mm=centres))


@pytest.mark.parametrize(
    ("made", "layouts", "says"),
    [
        (partial(np.full, (756, 1008, 3), 200, np.uint8), LAYOUTS, "none of the markers of a sheet of number-drop and"),
        (lambda: photo("number-drop")[0][:, :520], LAYOUTS, "only markers 0 and 3 seen; expected 3 of one sheet"),
        (lambda: photo("number-drop", sheets=(1, 2), size=WIDE)[0], LAYOUTS, "the sheet of p1 and sheet of p2"),
        (
            lambda: photo("number-drop", sheets=(1, 1), size=WIDE)[0],
            LAYOUTS,
            "so two sheets have the same markers",
        ),
        (lambda: photo("blokus-dice", tilt_deg=0.0)[0], LAYOUTS[:1], "not where a sheet of number-drop has them"),
        (lambda: photo("number-drop")[0], [smaller_print(LAYOUTS[0])], "not where a sheet"),
    ],
)
def test_a_photo_without_one_whole_sheet_is_reported(
    made: Callable[[], Image], layouts: list[TableLayout], says: str
) -> None:
    with pytest.raises(NotLocatedError, match=says):
        photographed_sheet(made(), layouts)


@pytest.mark.parametrize("table", ["photoreal/003.jpg", "photoreal-discs/001.jpg", "photoreal-stacks/010.jpg"])
def test_another_games_table_is_no_sheet_though_it_has_the_same_markers(table: str) -> None:
    with pytest.raises(NotLocatedError, match="no printed lines of a sheet of blokus-dice"):
        photographed_sheet(load_image(DATA / table), LAYOUTS)


def test_a_sheet_of_which_only_the_handwriting_is_not_overexposed_is_located() -> None:
    image, _ = photo("number-drop")
    sheet = photographed_sheet(image, LAYOUTS)
    board = sheet.layout.board
    outline = project(sheet.camera, sheet.pose, board.bounds_mm.grown(6.0).corners_mm(board.height_mm))
    centres = project(sheet.camera, sheet.pose, np.insert(board.centres_mm, 2, board.height_mm, axis=1))
    cv2.fillConvexPoly(image, np.round(outline).astype(np.int32), (255, 255, 255))
    for column, row in np.round(centres).astype(np.int32).tolist():
        cv2.line(image, (column - 2, row + 3), (column + 2, row - 3), (60, 50, 40), 2)
    assert photographed_sheet(image, LAYOUTS).layout == sheet.layout


def test_cells_too_small_to_read_are_refused() -> None:
    image, _ = photo("number-drop", size=(640, 480), farther=2.6, tilt_deg=10.0)
    with pytest.raises(FrameError, match="pixels wide in the photo; expected 9 or more; take it from closer"):
        photographed_sheet(image, LAYOUTS)


def test_a_grey_photo_is_accepted() -> None:
    grey = as_grey(photo("number-drop")[0])
    assert photographed_sheet(grey, LAYOUTS).layout.game == "number-drop"


@pytest.mark.parametrize("ids", [(40, 41, 42, 43), (0, 4, 8, 12)])
def test_a_sheet_with_ids_of_its_own_is_found_though_there_are_none_for_six(ids: tuple[int, ...]) -> None:
    usual = default_layout("number-drop").with_sheets(1)
    centres = dict(zip(ids, usual.markers.centres_mm.values(), strict=True))
    own = replace(usual, markers=replace(usual.markers, centres_mm=centres))
    with pytest.raises(NotLocatedError, match="no sheet"):
        photographed_sheet(np.full((480, 640), 200, np.uint8), [own])


def test_a_layout_without_markers_on_its_sheets_is_refused() -> None:
    usual = default_layout("number-drop").with_sheets(1)
    bare = replace(usual, markers=replace(usual.markers, centres_mm={}))
    with pytest.raises(LayoutError, match="found by its markers"):
        photographed_sheet(np.full((480, 640), 200, np.uint8), [bare])
