"""Tracking the table: averaged while still, located again after a move, held while hands cover its markers."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from tests.vision.locating.tracked import NOTHING, off_px
from vision.errors import CalibrationError, NotLocatedError
from vision.frame import Frame
from vision.geometry import project
from vision.layout.pieces import Ink
from vision.locating import tracking
from vision.locating.location import TableLocation, locate
from vision.locating.markers import Marker
from vision.locating.tracking import TableTracker


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
