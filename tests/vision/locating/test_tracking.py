"""Tracking the table: averaged while still, located again after a move, held while hands cover its markers."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import cv2
import numpy as np
import pytest

from simulator.scene.scene import lens, looking_at
from tests.effort import some
from tests.vision.locating.lines import edges_of, grid_of
from tests.vision.locating.tracked import NOTHING, off_px
from vision.errors import CalibrationError, NotLocatedError
from vision.frame import Frame
from vision.geometry import Pose, project
from vision.layout.pieces import Ink
from vision.layout.table import default_layout
from vision.locating import tracking
from vision.locating.lattice import BoardSighting, Edges, board_near
from vision.locating.location import TableLocation, locate, search_table
from vision.locating.markers import Marker
from vision.locating.tracking import LineTracker, TableTracker, ThoroughSearches, TrackedTable, TrackingSettings


def test_the_pose_gets_steadier_while_nothing_moves(feed, render_table, camera, layout, pose):
    results = [feed(render_table(pose, noise=8.0, seed=seed)) for seed in range(8)]
    assert [result.frames_averaged for result in results] == list(range(1, 9))
    assert not any(result.notices or result.uncertain for result in results)
    assert off_px(camera, layout, results[-1].pose, pose) < 0.3


def test_a_moved_camera_is_noticed_relocated_and_reported_once(feed, render_table, camera, layout, pose_looking_from):
    before, after = pose_looking_from((60.0, -330.0, 700.0)), pose_looking_from((75.0, -330.0, 690.0), (8.0, 5.0, 0.0))
    for seed in range(3):
        feed(render_table(before, seed=seed))
    moving = feed(render_table(after, seed=4))
    assert moving.moving
    assert moving.uncertain
    assert not moving.notices
    rested = feed(render_table(after, seed=5))
    assert not rested.uncertain
    assert len(rested.notices) == 1
    assert "moved" in rested.notices[0]
    assert "located again" in rested.notices[0]
    assert off_px(camera, layout, rested.pose, after) < 0.5
    assert feed(render_table(after, seed=6)).notices == ()


def test_a_marker_out_of_place_from_the_start_is_reported_once(feed, render_table, pose):
    picture = render_table(pose, moved={1: (25.0, 10.0)})
    assert ["marker 1 is not where the layout says" in notice for notice in feed(picture).notices] == [True]
    assert feed(picture).notices == ()


def test_a_move_beyond_the_search_windows_is_found(feed, render_table, camera, layout, pose_looking_from):
    before, after = (
        pose_looking_from((60.0, -330.0, 700.0)),
        pose_looking_from((200.0, -250.0, 750.0), (60.0, 0.0, 0.0)),
    )
    feed(render_table(before))
    feed(render_table(after, seed=2))
    rested = feed(render_table(after, seed=3))
    assert off_px(camera, layout, rested.pose, after) < 0.5
    assert any("moved" in notice for notice in rested.notices)


def test_a_hand_over_markers_is_no_move(feed, render_table, camera, layout, pose):
    feed(render_table(pose))
    for hidden in ((0,), (0, 1), (0, 1, 2)):
        result = feed(render_table(pose, hidden=hidden, seed=len(hidden)))
        assert not result.uncertain
        assert not result.notices
        assert set(result.ids_in_sight) == {0, 1, 2, 3} - set(hidden)
        assert off_px(camera, layout, result.pose, pose) < 0.5


def test_markers_in_unchanged_surroundings_are_not_searched_for_again(feed, render_table, pose):
    feed(render_table(pose))
    assert feed(render_table(pose, hidden=(0, 1)), unchanged=(1, 2, 3)).ids_in_sight == (1, 2, 3)
    assert feed(render_table(pose, hidden=(0, 1))).ids_in_sight == (2, 3)
    assert feed(render_table(pose, hidden=(0,)), unchanged=(0, 1, 2)).ids_in_sight == (1, 2, 3)


def test_if_one_marker_moved_all_are_searched_for(feed, render_table, pose_looking_from):
    feed(render_table(pose_looking_from((60.0, -330.0, 700.0))))
    moved = feed(render_table(pose_looking_from((70.0, -330.0, 700.0))), unchanged=(1, 2, 3))
    assert moved.moving
    assert not moved.notices


def test_without_visible_markers_the_pose_is_held_for_a_while_and_then_dropped(feed, render_table, pose):
    feed(render_table(pose), at_s=0.0)
    held = feed(NOTHING, at_s=4.0)
    assert held.uncertain
    assert held.held_s == pytest.approx(4.0)
    assert held.ids_in_sight == ()
    with pytest.raises(NotLocatedError, match="no marker has been in its place for 6 s"):
        feed(NOTHING, at_s=6.0)
    assert not feed(render_table(pose), at_s=7.0).uncertain


def test_a_pushed_marker_is_distinguished_from_a_moved_camera(feed, render_table, camera, layout, pose):
    feed(render_table(pose))
    pushed = feed(render_table(pose, moved={2: (14.0, 0.0)}, seed=2))
    assert pushed.ids_in_sight == (0, 1, 3)
    assert not pushed.uncertain
    assert [notice for notice in pushed.notices if "marker 2 was moved" in notice]
    again = feed(render_table(pose, moved={2: (14.0, 0.0)}, seed=3))
    assert again.notices == ()
    assert off_px(camera, layout, again.pose, pose) < 0.5
    back = feed(render_table(pose, seed=4))
    assert back.notices == ("marker 2 is back in its place",)
    assert set(back.ids_in_sight) == {0, 1, 2, 3}


def covered(picture, camera, layout, pose, marker_id, reach_mm, tone):
    """The picture with a flat hand over a strip of a marker's left side and of the table beside it."""
    left, top, z = layout.markers.corners_mm(marker_id)[0]
    strip = [[left - 30, top + 3], [left + reach_mm, top + 3], [left + reach_mm, top - 33], [left - 30, top - 33]]
    outline = project(camera, pose, np.array([[x, y, z] for x, y in strip]))
    return cv2.fillPoly(picture.copy(), [np.rint(outline).astype(np.int32)], (tone,) * 3)


@pytest.mark.parametrize("tone", [20, 90, 200])
def test_a_half_covered_marker_was_not_moved(feed, render_table, camera, layout, pose, tone):
    for seed in range(2):
        feed(render_table(pose, seed=seed))
    picture = render_table(pose, seed=3)
    for reach_mm in np.arange(-2.0, 8.0, 1.0):
        result = feed(covered(picture, camera, layout, pose, 0, reach_mm, tone))
        assert not result.notices
        assert not result.moving
        assert off_px(camera, layout, result.pose, pose) < 0.5
    assert not feed(render_table(pose, seed=4)).notices


def test_a_moving_sheet_is_tracked_without_a_notice(render_table, camera, layout, pose_looking_from):
    sheet = replace(layout, surfaces=(replace(layout.board, pieces=Ink()),))
    tracker = TableTracker(camera, sheet)
    before, after = pose_looking_from((60.0, -330.0, 700.0)), pose_looking_from((66.0, -330.0, 700.0), (6.0, 0.0, 0.0))
    pictures = [render_table(before), render_table(after, seed=2), render_table(after, seed=3)]
    pictures.append(render_table(after, moved={2: (14.0, 0.0)}, seed=4))
    results = [tracker.update(Frame(picture, float(at_s), at_s)) for at_s, picture in enumerate(pictures)]
    assert [result.moving for result in results] == [False, True, False, False]
    assert not any(result.notices for result in results)
    assert all(off_px(camera, layout, result.pose, after) < 0.5 for result in results[1:])


def test_a_sheets_marker_that_contradicts_two_others_is_searched_for_in_the_whole_picture_once(
    render_table, camera, layout, pose, monkeypatch
):
    searches = []

    def counted(*arguments, **options):
        searches.append(arguments)
        return locate(*arguments, **options)

    monkeypatch.setattr(tracking, "locate", counted)
    sheet = replace(layout, surfaces=(replace(layout.board, pieces=Ink()),))
    tracker = TableTracker(camera, sheet)
    pictures = [render_table(pose, hidden=(2, 3))]
    pictures += [render_table(pose, hidden=(3,), moved={2: (14.0, 0.0)}, seed=seed) for seed in range(2, 5)]
    for number, picture in enumerate(pictures):
        located = tracker.update(Frame(picture, number / 10, number)).located
    assert len(searches) == 2
    assert off_px(camera, layout, located.pose, pose) < 2.0


def test_markers_uncovered_later_join_without_a_notice(feed, render_table, camera, layout, pose):
    feed(render_table(pose, hidden=(0, 3)))
    joined = feed(render_table(pose, seed=2))
    assert set(joined.ids_in_sight) == {0, 1, 2, 3}
    assert joined.notices == ()
    assert off_px(camera, layout, joined.pose, pose) < 0.5


def test_a_frame_of_another_size_is_refused_and_the_next_goes_on(feed, render_table, pose):
    feed(render_table(pose))
    with pytest.raises(CalibrationError, match="calibrate again at this one"):
        feed(np.zeros((100, 100, 3), np.uint8))
    assert not feed(render_table(pose, seed=3)).uncertain


def test_a_table_never_seen_is_not_located(feed):
    with pytest.raises(NotLocatedError, match="none of markers 0 to 3 was seen"):
        feed(np.full((480, 640, 3), 90, dtype=np.uint8))


@pytest.mark.parametrize(("push_mm", "told"), [(0.7, False), (2.6, True)])
def test_a_marker_counts_as_moved_from_most_of_a_pixel_on(feed, render_table, pose, push_mm, told):
    for seed in range(4):
        feed(render_table(pose, noise=0.5, seed=seed))
    result = feed(render_table(pose, noise=0.5, moved={2: (push_mm, 0.0)}, seed=9))
    assert bool(result.notices) == told
    assert (2 in result.ids_in_sight) != told
    assert not result.moving


@pytest.mark.parametrize(("at_s", "held"), [(4.99, True), (5.0, True), (5.01, False)])
def test_a_pose_without_markers_is_held_for_the_configured_time(feed, render_table, pose, at_s, held):
    feed(render_table(pose), at_s=0.0)
    if held:
        result = feed(NOTHING, at_s=at_s)
        assert result.held_s == pytest.approx(at_s)
        assert result.uncertain
        assert not result.moving
        assert result.frames_averaged == 1
    else:
        with pytest.raises(NotLocatedError, match="no marker has been in its place for 5 s"):
            feed(NOTHING, at_s=at_s)


def test_a_notice_is_given_once_however_many_pixels_it_names(feed, render_table, layout, camera, pose, monkeypatch):
    errors_px = iter((1.21, 1.26, 1.24, 12.0))

    def notices(*_):
        off = f"the markers are {next(errors_px):.1f} pixels off on average; check that the calibration is right"
        return (off, "marker 1 is not where the layout says (3 pixels off); it is left out")

    monkeypatch.setattr("vision.locating.location.notices_of", notices)
    assert [len(feed(render_table(pose, seed=seed)).notices) for seed in range(4)] == [2, 0, 0, 0]


def test_a_pose_held_at_the_same_time_is_still_uncertain(feed, render_table, pose):
    feed(render_table(pose), at_s=3.0)
    assert feed(np.full((480, 640, 3), 90, dtype=np.uint8), at_s=3.0).uncertain


def test_a_marker_that_appears_away_from_its_place_in_the_layout_is_named(feed, render_table, pose):
    feed(render_table(pose, hidden=(3,)))
    result = feed(render_table(pose, moved={3: (12.0, 0.0)}, seed=2))
    assert [notice for notice in result.notices if "marker 3 was moved" in notice]
    assert result.ids_in_sight == (0, 1, 2)


def test_a_single_marker_in_place_keeps_the_pose_of_all(feed, render_table, camera, layout, pose):
    for seed in range(3):
        feed(render_table(pose, seed=seed))
    for number in range(3):
        result = feed(render_table(pose, hidden=(0, 1, 3), seed=5 + number))
        assert result.ids_in_sight == (2,)
        assert not result.uncertain
        assert off_px(camera, layout, result.pose, pose) < 0.4


def test_after_eight_frames_each_of_two_markers_is_measured_in_every_other_one(feed, render_table, pose):
    """Two markers are always matched by their pattern, which takes time."""
    pictures = [render_table(pose, hidden=(0, 3), seed=seed) for seed in range(3)]
    counts = [feed(pictures[number % 3]).frames_averaged for number in range(14)]
    assert counts == [1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 10, 10, 11, 11]


def test_a_marker_half_in_place_is_no_measure_of_a_pose_from_lines(
    camera, layout, pose, monkeypatch: pytest.MonkeyPatch
):
    tracker, bare = TableTracker(camera, layout), np.full((*camera.size[::-1], 3), 120, dtype=np.uint8)
    with pytest.raises(NotLocatedError):
        tracker.update(Frame(bare, 0.0, 0))
    tracker._restart_at(tracking._Found(TableLocation(pose, (), (), 0.3, {})), Frame(bare, 0.05, 1))
    lifted = project(camera, pose, layout.markers.corners_mm(0))
    lifted[2:] += (0.0, -0.4 * float(np.linalg.norm(lifted[1] - lifted[0])))
    monkeypatch.setattr(tracking, "redetect_markers", lambda *_: {0: Marker(0, lifted)})
    held = tracker.update(Frame(bare, 0.1, 2))
    assert np.allclose(held.pose.translation, pose.translation)


# Tracking a board by its lines while hands cover rows of it: no other position is taken for certain.

CAMERA = lens((960, 720))
LAYOUT = default_layout("deblockle").without_markers()
BOARD = LAYOUT.board
POSE = looking_at(650.0, 25.0)
PICTURE = np.full((720, 960), 120, dtype=np.uint8)
COVERED = [(0, 3), (0, 4), (1, 2), (1, 3), (2, 1), (2, 2), (3, 0), (3, 1), (4, 0)]
"""Rows covered at the near and the far rim."""

Feed = Callable[..., TrackedTable]


def edges_with_rows_covered(near: int, far: int) -> Edges:
    """The edges of the board's lines beyond the covered rows; the innermost line of a covered row is in sight."""
    low_mm = BOARD.bounds_mm.near_mm + near * BOARD.cell_mm - 1
    high_mm = BOARD.bounds_mm.far_mm - far * BOARD.cell_mm + 1
    shown = [line for line in grid_of(BOARD) if all(low_mm < y_mm < high_mm for _, y_mm in line)]
    return edges_of(CAMERA, POSE, shown, BOARD.height_mm)


def rows_away(rows: int) -> Pose:
    """The pose of a board that many rows farther from the first player."""
    return Pose(POSE.rotation, POSE.translation + POSE.rotation @ (0.0, rows * BOARD.cell_mm, 0.0))


@pytest.fixture
def feed_line_tracking(monkeypatch: pytest.MonkeyPatch) -> Callable[[Pose], Feed]:
    """``feed(previous)(near, far)`` gives one frame after another, with these rows covered, to a tracker."""

    def begin(previous: Pose) -> Feed:
        tracker, numbers = LineTracker(CAMERA, LAYOUT, previous=previous), iter(range(1000))

        def update(near: int = 0, far: int = 0) -> TrackedTable:
            number, edges = next(numbers), edges_with_rows_covered(near, far)
            monkeypatch.setattr(Edges, "detect", classmethod(lambda *_: edges))
            return tracker.update(Frame(PICTURE, 0.3 * number, number))

        return update

    return begin


def off_mm(found: TrackedTable) -> float:
    return float(np.linalg.norm(found.pose.translation - POSE.translation))


@pytest.mark.parametrize(("near", "far"), some(COVERED, 2))
def test_a_partly_covered_board_is_not_located_squares_off(
    feed_line_tracking: Callable[[Pose], Feed], near: int, far: int
) -> None:
    update = feed_line_tracking(POSE)
    for _ in range(3):
        assert off_mm(update()) < 1
    covered = [update(near, far) for _ in range(4)]
    assert all(off_mm(one) < 1 for one in covered)
    assert not any(one.moving for one in covered)
    uncovered = [update() for _ in range(3)]
    assert all(off_mm(one) < 1 and not one.uncertain for one in uncovered)


@pytest.mark.parametrize("rows", some([-2, -1, 1, 2]))
def test_a_board_located_squares_off_under_hands_is_corrected_once_they_leave(
    feed_line_tracking: Callable[[Pose], Feed], rows: int
) -> None:
    update = feed_line_tracking(rows_away(rows))
    assert off_mm(update(2, 2)) == pytest.approx(abs(rows) * BOARD.cell_mm, abs=1)
    update()
    assert off_mm(update()) < 1
    assert not update().uncertain


@pytest.mark.parametrize("rows", some([-3, -2, 2, 3]))
def test_a_board_that_moved_by_several_squares_is_located_at_once(
    feed_line_tracking: Callable[[Pose], Feed], rows: int
) -> None:
    assert off_mm(feed_line_tracking(rows_away(rows))()) < 1


def test_neighbouring_squares_are_only_tried_while_the_visibility_is_unusual(
    feed_line_tracking: Callable[[Pose], Feed], monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[tuple[object, ...]] = []

    def counted(*given: Any) -> BoardSighting | None:
        tried.append(given)
        return board_near(*given)

    monkeypatch.setattr(tracking, "board_near", counted)
    update = feed_line_tracking(POSE)
    for rows in (2, 2, 0, 0, 0):
        update(rows)
    assert len(tried) == 1


# Searching thoroughly for a table that was lost: a step in each frame, and only what is seen again counts.

MOST_STEPS = 7
"""The most steps that a thorough search takes."""


def seen_only_thoroughly(render_table, pose, seed=1):
    """A picture so blurred that only thorough methods find its markers."""
    return render_table(pose, blur_px=2.2, seed=seed)


@pytest.fixture
def two_poses(pose_looking_from: Callable[..., Pose]) -> tuple[Pose, Pose]:
    """A pose before and after a move beyond the search windows."""
    return pose_looking_from((60.0, -330.0, 700.0)), pose_looking_from((200.0, -250.0, 750.0), (60.0, 0.0, 0.0))


def test_a_lost_table_is_searched_for_thoroughly_once_the_picture_rests(feed, render_table, camera, layout, two_poses):
    """A step a frame; what was found in an earlier picture is only used once a later one shows it too."""
    before, after = two_poses
    feed(render_table(before), at_s=0.0)
    results = [
        feed(seen_only_thoroughly(render_table, after, seed=number), at_s=number / 10)
        for number in range(1, 2 * MOST_STEPS + 2)
    ]
    lost, *searched = results
    assert lost.uncertain
    assert off_px(camera, layout, lost.pose, before) < 0.5
    found = next(number for number, one in enumerate(searched) if off_px(camera, layout, one.pose, after) < 3)
    assert searched[found].moving
    assert all(one.uncertain for one in searched[: found + 1])
    later = [one for one in searched[found + 1 :] if not one.moving]
    assert later
    assert all(off_px(camera, layout, one.pose, after) < 3 for one in later)


def test_a_table_first_found_in_an_earlier_picture_is_not_read_until_another_shows_it(
    render_table, camera, layout, pose
):
    tracker = TableTracker(camera, layout, hold_s=60.0)
    with pytest.raises(NotLocatedError):
        tracker.update(Frame(NOTHING, 0.0, 0))
    blurred = seen_only_thoroughly(render_table, pose)
    pictures, found = iter([blurred] * 12), []
    for number in range(1, 4 * MOST_STEPS):
        with suppress(NotLocatedError):
            found.append(tracker.update(Frame(next(pictures, NOTHING), number / 10, number)))
    assert len(found) > MOST_STEPS
    assert all(one.moving for one in found)
    sharp = [tracker.update(Frame(render_table(pose), 3.0 + number / 10, 30 + number)) for number in range(2)]
    assert not sharp[-1].uncertain


def test_a_table_found_where_it_was_in_an_earlier_picture_is_held(feed, render_table, two_poses, monkeypatch):
    _, pose = two_poses
    feed(render_table(pose), at_s=0.0)
    monkeypatch.setattr(TableTracker, "_find_in_windows", lambda *_: {})
    monkeypatch.setattr(tracking, "_SETTINGS", replace(TrackingSettings(), moved_px=3.0))
    for number in (1, 2):
        feed(seen_only_thoroughly(render_table, pose, seed=number), at_s=number / 10)
    held = [feed(NOTHING, at_s=number / 10) for number in range(3, 3 + 2 * MOST_STEPS)]
    assert all(one.uncertain and one.ids_in_sight == () for one in held)
    assert not any(one.moving for one in held)
    assert held[-1].held_s == pytest.approx((2 + 2 * MOST_STEPS) / 10 - 0.2), "the search began with the second picture"


def test_a_single_picture_does_not_wait_for_the_search_in_an_earlier_one(feed, render_table, camera, layout, two_poses):
    before, after = two_poses
    feed(render_table(before), at_s=0.0)
    assert all(feed(NOTHING, at_s=number / 10).uncertain for number in range(1, 4))
    found = feed(seen_only_thoroughly(render_table, after), at_s=60.0)
    assert not found.moving
    assert off_px(camera, layout, found.pose, after) < 3


def test_only_the_first_picture_of_a_film_is_searched_thoroughly_in_one_frame(
    render_table, camera, layout, pose, monkeypatch
):
    at_once = []

    def counted(*arguments, thorough=True, **more):
        at_once.append(number) if thorough else None
        return locate(*arguments, thorough=thorough, **more)

    monkeypatch.setattr(tracking, "locate", counted)
    tracker = TableTracker(camera, layout, hold_s=1.0)
    for number in range(40):
        with suppress(NotLocatedError):
            tracker.update(Frame(render_table(pose) if number == 0 else NOTHING, number / 10, number))
    assert at_once == [0]


def test_no_pose_is_kept_for_a_picture_that_is_mirrored_in_play(feed, render_table, pose):
    whole = render_table(pose)
    feed(whole, at_s=0.0)
    for number in range(1, 9):
        with pytest.raises(NotLocatedError, match="the picture is mirrored"):
            feed(np.ascontiguousarray(np.fliplr(whole)), at_s=0.1 * number)
    back = feed(whole, at_s=1.0)
    assert back.ids_in_sight == (0, 1, 2, 3)
    assert not back.uncertain
    assert feed(NOTHING, at_s=1.1).held_s > 0


def test_a_search_does_not_begin_again_before_its_end(render_table, camera, layout, pose, monkeypatch):
    """A slow camera takes longer between frames than until the next search is due."""
    events = []

    def watched(*arguments, **more):
        events.append("begun")
        try:
            return (yield from search_table(*arguments, **more))
        finally:
            events.append("ended")

    monkeypatch.setattr(tracking, "search_table", watched)
    tracker = TableTracker(camera, layout, hold_s=120.0)
    tracker.update(Frame(render_table(pose), 0.0, 0))
    lit = np.full_like(NOTHING, 200)
    for number in range(1, 41):
        tracker.update(Frame(lit if number % 20 < 10 else NOTHING, 1.9 * number, number))
    assert events[:4] == ["begun", "ended", "begun", "ended"]


def test_a_table_found_in_an_earlier_picture_is_not_read_where_it_no_longer_is(
    feed, render_table, camera, layout, two_poses, pose_looking_from
):
    before, after = two_poses
    beyond = pose_looking_from((230.0, -230.0, 760.0), (70.0, 10.0, 0.0))
    feed(render_table(before), at_s=0.0)
    blurred = [seen_only_thoroughly(render_table, after, seed=number) for number in (1, 2)]
    assert all(feed(one, at_s=0.1 * number).uncertain for number, one in enumerate(blurred, 1))
    results = [feed(NOTHING, at_s=0.2 + number / 10) for number in range(1, MOST_STEPS)]
    assert all(one.uncertain for one in results)
    (found,) = (one for one in results if one.moving and one.held_s == 0)
    assert off_px(camera, layout, found.pose, after) < 3
    last = [feed(render_table(beyond, seed=number), at_s=2.0 + number / 10) for number in range(2)]
    assert [one.moving for one in last] == [True, False]
    assert off_px(camera, layout, last[-1].pose, beyond) < 0.5


@pytest.mark.parametrize("blur_px", [0.7, 2.2])
def test_a_single_picture_of_a_table_that_was_moved_is_used(feed, render_table, camera, layout, two_poses, blur_px):
    before, after = two_poses
    feed(render_table(before), at_s=0.0)
    found = feed(render_table(after, blur_px=blur_px), at_s=60.0)
    assert not found.moving
    assert ["was located again" in notice for notice in found.notices] == [True]
    assert off_px(camera, layout, found.pose, after) < 3
    assert feed(render_table(after, seed=2), at_s=120.0).notices == ()


def test_a_film_of_which_many_frames_were_not_tracked_shows_movement(render_table, camera, layout, two_poses):
    tracker = TableTracker(camera, layout)
    frames = [Frame(render_table(pose), 3.0 * number, 15 * number) for number, pose in enumerate(two_poses)]
    assert [tracker.update(frame).moving for frame in frames] == [False, True]


def test_pictures_that_never_rest_are_searched_thoroughly_after_a_second(
    feed, render_table, two_poses, pose_looking_from
):
    before, after = two_poses
    feed(render_table(before), at_s=0.0)
    beyond = pose_looking_from((230.0, -230.0, 760.0), (70.0, 10.0, 0.0))
    shaken = [seen_only_thoroughly(render_table, place) for place in (after, beyond)]
    results = [feed(shaken[number % 2], at_s=number / 4) for number in range(1, MOST_STEPS + 6)]
    found = [result.moving for result in results].index(True)
    assert 4 <= found < MOST_STEPS + 5


def test_a_picture_that_rests_after_a_search_in_vain_is_searched_at_once():
    rows = [np.full((480, 640), level, dtype=np.uint8) for level in (0, 100, 0, 100, 50, 50, 50)]
    searches = ThoroughSearches()
    due = [searches.are_due(grey, 0.5 * number, at_once=False) for number, grey in enumerate(rows)]
    assert due == [False, False, True, False, False, True, False]


def test_a_lost_table_is_still_missing_for_the_reason_of_the_last_thorough_search(
    feed, render_table, pose, monkeypatch
):
    def fail(*_arguments, thorough=True, **_more):
        raise NotLocatedError("one marker seen" if thorough else "no marker seen")

    def fail_in_steps(*_arguments, **_more):
        yield
        fail()

    feed(render_table(pose), at_s=0.0)
    monkeypatch.setattr(tracking, "locate", fail)
    monkeypatch.setattr(tracking, "search_table", fail_in_steps)
    for number in range(1, 26):
        feed(NOTHING, at_s=0.2 * number)
    for at_s in (5.2, 5.4):
        with pytest.raises(NotLocatedError, match="one marker seen"):
            feed(NOTHING, at_s=at_s)


def test_thorough_searches_in_vain_become_rarer(render_table, camera, layout, pose, monkeypatch):
    begun_at_s = []

    def counted(*arguments, **more):
        begun_at_s.append(time_s)
        return search_table(*arguments, **more)

    monkeypatch.setattr(tracking, "search_table", counted)
    tracker = TableTracker(camera, layout, hold_s=60.0)
    tracker.update(Frame(render_table(pose), 0.0, 0))
    lit = NOTHING.copy()
    lit[:20, :20] = 250
    for number in range(1, 200):
        time_s = number / 10
        tracker.update(Frame(lit if number % 2 and number < 145 else NOTHING, time_s, number))
    # the last one searches the picture that no longer changes
    assert begun_at_s == pytest.approx([0.2, 2.3, 6.4, 10.5, 14.5])


def test_why_a_table_was_not_found_is_what_the_last_thorough_search_says(feed, render_table, pose, monkeypatch):
    def fail(*_arguments, thorough=True, **_more):
        raise NotLocatedError("one marker seen" if thorough else "no marker seen")

    monkeypatch.setattr(tracking, "locate", fail)
    for at_s in (0.0, 0.1, 0.2):
        with pytest.raises(NotLocatedError, match="one marker seen"):
            feed(render_table(pose), at_s=at_s)


def test_a_moved_table_that_only_thorough_searches_see_comes_to_rest(
    feed, render_table, camera, layout, two_poses, monkeypatch
):
    before, after = two_poses
    feed(render_table(before), at_s=0.0)
    found = locate(render_table(after), camera, layout)

    def in_vain(*_arguments, **_more):
        raise NotLocatedError("seen by no fast method")

    def in_steps(*_arguments, **_more):
        yield
        return found

    monkeypatch.setattr(TableTracker, "_find_in_windows", lambda *_: {})
    monkeypatch.setattr(tracking, "locate", in_vain)
    monkeypatch.setattr(tracking, "search_table", in_steps)
    results = [feed(NOTHING, at_s=number / 10) for number in range(1, 40)]
    assert any(one.moving for one in results)
    assert not results[-1].moving
    assert sum("was located again" in said for one in results for said in one.notices) == 1
