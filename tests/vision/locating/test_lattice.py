"""A board without markers is located and tracked by its lines."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

import cv2
import numpy as np
import pytest

from vision.errors import NotLocatedError
from vision.frame import Frame, Image
from vision.geometry import CameraModel, Pose, back_project, project
from vision.layout.pieces import GridSurface
from vision.layout.table import TableLayout
from vision.locating.lattice import Edges, candidate_boards, run_to_end, symmetric_poses
from vision.locating.location import locate
from vision.locating.tracking import LineTracker, TrackedTable

ALL = (0, 1, 2, 3)
WITHIN_MM = 2.0


@pytest.fixture(scope="module")
def unmarked(layout: TableLayout) -> TableLayout:
    return layout.without_markers()


@pytest.fixture(scope="module")
def picture(render_table: Callable[..., Image], pose: Pose) -> Image:
    return render_table(pose, hidden=ALL)


def board_error_mm(camera, surface, found, true):
    corners = surface.bounds_mm.corners_mm(surface.height_mm)
    seen = back_project(camera, found, project(camera, true, corners), surface.height_mm)
    return np.linalg.norm(seen - corners, axis=1).max()


def test_a_board_is_found_by_its_lines_the_first_player_at_the_lower_edge(picture, camera, unmarked, pose):
    located = locate(picture, camera, unmarked)
    assert board_error_mm(camera, unmarked.board, located.pose, pose) < WITHIN_MM
    assert located.ids_used == located.ids_seen == ()
    assert located.error_px < 2.0
    assert not located.uncertain
    assert len(located.symmetric_poses) == 3


def test_the_earlier_pose_decides_the_orientation(picture, camera, unmarked, pose):
    for before in symmetric_poses(pose, unmarked.board):
        found = locate(picture, camera, unmarked, previous=before).pose
        assert board_error_mm(camera, unmarked.board, found, before) < WITHIN_MM


def test_a_pose_off_by_a_square_is_corrected(picture, camera, unmarked, pose):
    off = Pose(pose.rotation, pose.translation + pose.rotation @ (unmarked.board.cell_mm, 0.0, 0.0))
    assert (
        board_error_mm(camera, unmarked.board, locate(picture, camera, unmarked, previous=off).pose, pose) < WITHIN_MM
    )


@pytest.mark.parametrize("tilt_deg", [5, 45])
def test_tilted_views(tilt_deg, render_table, camera, unmarked, pose_looking_from):
    angle = np.radians(tilt_deg)
    pose = pose_looking_from((700 * np.sin(angle), 0.0, 700 * np.cos(angle)))
    located = locate(render_table(pose, hidden=ALL, noise=4.0), camera, unmarked)
    errors = [board_error_mm(camera, unmarked.board, each, pose) for each in (located.pose, *located.symmetric_poses)]
    assert min(errors) < WITHIN_MM


def test_a_board_that_is_longer_than_wide_can_be_turned_by_half_only(camera, pose_looking_from):
    surface = GridSurface("board", columns=5, rows=8, cell_mm=35.0)
    pose = pose_looking_from((250.0, -250.0, 650.0))
    grey = np.full(camera.size[::-1], 60, dtype=np.uint8)
    bounds = surface.bounds_mm
    cv2.fillConvexPoly(grey, np.round(project(camera, pose, bounds.corners_mm(0.0))).astype(np.int32), 150, cv2.LINE_AA)
    for count, axis in ((surface.columns, 0), (surface.rows, 1)):
        for line in range(count + 1):
            ends = np.array([[bounds.left_mm, bounds.near_mm, 0.0], [bounds.right_mm, bounds.far_mm, 0.0]])
            ends[:, axis] = ends[0, axis] + line * surface.cell_mm
            first, second = np.round(project(camera, pose, ends)).astype(int).tolist()
            cv2.line(grey, first, second, 90, 1, cv2.LINE_AA)
    found = run_to_end(candidate_boards(Edges.detect(grey, camera), camera, surface))[0]
    assert found.is_clear
    poses = symmetric_poses(found.pose, surface)
    assert len(poses) == 2
    assert min(board_error_mm(camera, surface, each, pose) for each in poses) < 2 * WITHIN_MM


def test_no_board_is_found_in_a_picture_without_one(camera, unmarked):
    noise = np.random.default_rng(3).integers(0, 255, (*camera.size[::-1], 3)).astype(np.uint8)
    for picture in (np.full_like(noise, 90), np.asarray(cv2.GaussianBlur(noise, (0, 0), 3), dtype=np.uint8)):
        with pytest.raises(NotLocatedError, match="no grid of 7 x 7 squares was found; check that the whole board"):
            locate(picture, camera, unmarked)


def under_a_sheet(picture, camera, pose, near_mm):
    """The picture with paper over the board from the far side to ``near_mm`` in front of its middle."""
    covered = picture.copy()
    sheet = np.array([[-300, near_mm, 10], [300, near_mm, 10], [300, 300, 10], [-300, 300, 10]], dtype=np.float64)
    cv2.fillConvexPoly(covered, np.round(project(camera, pose, sheet)).astype(np.int32), (200, 200, 200))
    return covered


def test_a_board_is_followed_by_its_lines(picture, camera, unmarked, pose, render_table, pose_looking_from):
    tracker = LineTracker(camera, unmarked, hold_s=5.0)
    frames = iter(range(1000))

    def feed(shown, at_s=None):
        number = next(frames)
        return tracker.update(Frame(shown, number / 10 if at_s is None else at_s, number))

    assert not feed(picture).uncertain
    still = feed(picture)
    assert still.frames_averaged == 2
    assert board_error_mm(camera, unmarked.board, still.pose, pose) < WITHIN_MM

    assert board_error_mm(camera, unmarked.board, feed(under_a_sheet(picture, camera, pose, 60)).pose, pose) < WITHIN_MM
    assert feed(under_a_sheet(picture, camera, pose, -200)).held_s > 0
    assert not feed(picture).uncertain

    # Moved by a square, so that lines coincide with lines.
    nudged = pose_looking_from((100.0, -330.0, 700.0), (40.0, 0.0, 0.0))
    moved = render_table(nudged, hidden=ALL)
    assert feed(moved).moving
    rested = feed(moved)
    assert not rested.uncertain
    assert "moved" in rested.notices[0]
    assert board_error_mm(camera, unmarked.board, rested.pose, nudged) < WITHIN_MM

    with pytest.raises(NotLocatedError, match="its lines have not been in sight for"):
        feed(np.zeros_like(picture), at_s=60.0)
    assert board_error_mm(camera, unmarked.board, feed(picture).pose, pose) < WITHIN_MM


@pytest.fixture(scope="module")
def begun(picture: Image, camera: CameraModel, unmarked: TableLayout) -> LineTracker:
    """A tracker that has located the board at 0 seconds, which takes long."""
    tracker = LineTracker(camera, unmarked, hold_s=5.0)
    tracker.update(Frame(picture, 0.0, 0))
    return tracker


@pytest.fixture
def followed(begun: LineTracker) -> Callable[[Image, float], TrackedTable]:
    """``followed(picture, at_s)`` gives one frame after another to a tracker that has seen the board at 0 seconds."""
    tracker, count = deepcopy(begun), iter(range(1, 1000))
    return lambda shown, at_s: tracker.update(Frame(shown, at_s, next(count)))


@pytest.mark.parametrize(("at_s", "is_held"), [(5.0, True), (5.2, False)])
def test_a_board_without_visible_lines_is_held_for_the_configured_time(picture, followed, at_s, is_held):
    nothing = np.full_like(picture, 90)
    if is_held:
        held = followed(nothing, at_s)
        assert held.held_s == pytest.approx(at_s)
        assert held.uncertain
        assert not held.moving
        assert held.frames_averaged == 1
        assert not followed(picture, at_s + 0.1).uncertain
    else:
        with pytest.raises(NotLocatedError, match="have not been in sight for 5 s"):
            followed(nothing, at_s)


def test_a_board_held_at_the_same_time_is_uncertain(picture, followed):
    assert followed(np.full_like(picture, 90), 0.0).held_s > 0


def test_whole_pictures_are_searched_once_the_picture_rests_and_then_ever_more_rarely(
    picture, followed, camera, unmarked, pose, monkeypatch
):
    searched = []

    def none(edges, camera, surface):
        searched.append(len(edges.lengths))
        yield
        return []

    monkeypatch.setattr("vision.locating.tracking.candidate_boards", none)
    nothing = np.full_like(picture, 90)
    counts = []
    for at_s in (0.1, 0.2, 0.6, 2.1, 2.3, 4.9):
        followed(nothing, at_s)
        counts.append(len(searched))
    assert counts == [0, 1, 1, 1, 2, 2]


def test_a_board_not_found_is_searched_for_again_only_when_due(picture, camera, unmarked, monkeypatch):
    searched: list[int] = []

    def none(*_arguments):
        searched.append(len(searched))
        raise NotLocatedError(f"search {len(searched)}")

    monkeypatch.setattr("vision.locating.tracking.board_by_lines", none)
    tracker = LineTracker(camera, unmarked)
    for at_s, reason in ((0.0, 1), (0.1, 1), (0.9, 1), (1.0, 2), (2.9, 2), (3.0, 3)):
        with pytest.raises(NotLocatedError, match=f"search {reason}"):
            tracker.update(Frame(picture, at_s, 0))


@pytest.mark.parametrize(("nudge_mm", "moves"), [(0.8, False), (4.0, True)])
def test_a_board_moved_by_more_than_a_pixel_and_a_half_is_said_once(
    picture, followed, camera, unmarked, pose, render_table, nudge_mm, moves
):
    nudged = Pose(pose.rotation, pose.translation + pose.rotation @ (nudge_mm, 0.0, 0.0))
    shown = render_table(nudged, hidden=ALL)
    first = followed(shown, 0.1)
    second = followed(shown, 0.2)
    assert first.moving == moves
    assert not second.moving
    assert len(second.notices) == int(moves)
    assert followed(shown, 0.3).notices == ()
    assert board_error_mm(camera, unmarked.board, second.pose, nudged) < (WITHIN_MM if moves else 2.5)


def test_a_single_picture_of_a_board_that_was_moved_is_used(
    followed, camera, unmarked, render_table, pose_looking_from
):
    moved = pose_looking_from((100.0, -330.0, 700.0), (100.0, 15.0, 0.0))
    found = followed(render_table(moved, hidden=ALL), 60.0)
    assert not found.uncertain
    assert ["was located again" in notice for notice in found.notices] == [True]
    assert board_error_mm(camera, unmarked.board, found.pose, moved) < 2 * WITHIN_MM


def test_a_pose_is_the_mean_of_the_last_twenty_frames(picture, followed):
    assert [followed(picture, 0.1 * (number + 1)).frames_averaged for number in range(21)] == [*range(2, 21), 20, 20]
