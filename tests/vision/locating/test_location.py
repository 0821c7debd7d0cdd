"""Locating the table by four to one of its markers, never contradicting a visible one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import cv2
import numpy as np
import pytest

from tests.effort import some
from tests.present import present
from tests.vision.readers.ink import sheets
from vision.drawing import draw
from vision.errors import CalibrationError, FrameError, NotLocatedError
from vision.frame import Image
from vision.geometry import CameraModel, Pose, back_project, project
from vision.layout.pieces import Ink
from vision.layout.table import TableLayout
from vision.locating.lattice import BoardSighting, Edges, Steps, clear_boards, run_to_end, symmetric_poses
from vision.locating.lines_and_markers import fit_by_lines
from vision.locating.location import locate
from vision.locating.markers import MarkerDetector, MarkerPatterns

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
        *((chosen, 1.0) for chosen in combinations(ALL, 3)),
        *((chosen, 2.5) for chosen in [(0, 1), (0, 2), (2, 3)]),
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
        monkeypatch.setattr("vision.locating.lines_and_markers.clear_boards", lambda *_: in_one_step(boards))

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
    ("likeness", "decides"),
    [((1.0, 0.0, 0.0, 0.0), True), ((0.4, 0.2, 0.0, 0.0), True), ((1.0, 0.97, 0.0, 0.0), False), ((0.25,) * 4, False)],
)
def test_the_orientation_of_a_board_must_be_clearly_likelier_than_every_other(
    likeness, decides, whole_grey, camera, layout, pose, monkeypatch, show_lines
):
    """Without detected markers, orientations are compared by similarity at the markers' places."""
    show_lines()
    turned = symmetric_poses(pose, layout.board)

    def similarity(patterns, seen_pose, marker_id):
        return likeness[int(np.argmin([np.linalg.norm(seen_pose.rotation - one.rotation) for one in turned]))]

    monkeypatch.setattr(MarkerPatterns, "similarity", similarity)
    patterns = MarkerPatterns(whole_grey, camera, layout.markers, MarkerDetector(layout.markers.dictionary))
    found = run_to_end(fit_by_lines(patterns, layout, ()))
    assert (found is not None) == decides
    if found is not None:
        assert found.by_lines
        assert found.ids == set(ALL)
        assert board_error_mm(camera, layout, found.pose, pose) < 1.5
