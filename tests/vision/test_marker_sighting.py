"""A marker is seen again only where it was, and only if it is that marker."""

from __future__ import annotations

import numpy as np
import pytest

from vision.geometry import project
from vision.locating.markers import MarkerDetector, seen_again
from vision.opencv import as_grey


@pytest.fixture
def expected(camera, pose, layout):
    return {marker_id: project(camera, pose, layout.markers.corners_mm(marker_id)) for marker_id in range(4)}


@pytest.fixture
def finder(layout):
    return MarkerDetector(layout.markers.dictionary)


def test_markers_in_their_places_are_seen_as_the_finder_sees_them(render_table, pose, expected, finder):
    grey = as_grey(render_table(pose))
    again = seen_again(grey, expected, finder)
    found = {marker.marker_id: marker for marker in finder.plain(grey)}
    assert set(again) == set(found) == {0, 1, 2, 3}
    for marker_id, marker in again.items():
        assert np.abs(marker.corners_px - found[marker_id].corners_px).max() < 0.5


@pytest.mark.parametrize("off_px", [-0.8, 0.6, 1.0])
def test_a_place_a_little_off_does_no_harm(render_table, pose, expected, finder, off_px):
    grey = as_grey(render_table(pose))
    exact = seen_again(grey, expected, finder)
    near = seen_again(grey, {marker_id: quad + off_px for marker_id, quad in expected.items()}, finder)
    assert set(near) == set(exact)
    for marker_id, marker in near.items():
        assert np.abs(marker.corners_px - exact[marker_id].corners_px).max() < 0.5


def test_one_that_was_pushed_is_not_seen_where_it_was(render_table, pose, expected, finder):
    grey = as_grey(render_table(pose, moved={2: (9.0, 0.0)}))
    assert set(seen_again(grey, expected, finder)) == {0, 1, 3}


def test_one_that_is_covered_or_taken_away_is_not_seen(render_table, pose, expected, finder):
    grey = as_grey(render_table(pose, hidden={0, 3}))
    assert set(seen_again(grey, expected, finder)) == {1, 2}
    low = np.round(expected[1].min(axis=0)).astype(int)
    grey[low[1] - 3 : low[1] + 12, low[0] - 3 : low[0] + 40] = 120
    assert set(seen_again(grey, expected, finder)) == {2}


def test_another_marker_in_its_place_is_not_taken_for_it(render_table, pose, expected, finder, layout):
    grey = as_grey(render_table(pose, hidden={1}, extra=[(7, layout.markers.centres_mm[1])]))
    assert set(seen_again(grey, expected, finder)) == {0, 2, 3}


def test_what_reaches_out_of_the_picture_is_left_to_the_finder(render_table, pose, expected, finder):
    grey = as_grey(render_table(pose))
    assert seen_again(grey, {0: expected[0] - 400.0}, finder) == {}
    assert seen_again(grey, {}, finder) == {}
