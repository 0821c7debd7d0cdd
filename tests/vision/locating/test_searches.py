"""Searching thoroughly for a table that was lost: a step in each frame, and only what is seen again counts."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest

from tests.vision.locating.tracked import NOTHING, off_px
from vision.errors import NotLocatedError
from vision.frame import Frame
from vision.geometry import Pose
from vision.locating import tracking
from vision.locating.location import locate, search_table
from vision.locating.tracking import TableTracker, ThoroughSearches, TrackingSettings

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
    for number in range(1, 41):
        tracker.update(Frame(NOTHING, 1.9 * number, number))
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
    rows = [np.full((480, 640), level, dtype=np.uint8) for level in (0, 100, 0, 100, 0, 0, 0)]
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
    for number in range(1, 145):
        time_s = number / 10
        tracker.update(Frame(NOTHING, time_s, number))
    assert begun_at_s == pytest.approx([0.2, 2.2, 6.2, 10.2, 14.2])


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
