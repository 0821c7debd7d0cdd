"""Markers' corners are measured to a fraction of a pixel, and markers are re-detected only at their places."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision.errors import LayoutError
from vision.frame import FloatArray
from vision.geometry import CameraModel, Pose, project
from vision.layout.table import TableLayout
from vision.locating.markers import (
    FoundBy,
    Marker,
    MarkerDetector,
    MarkerPatterns,
    grow_quad,
    quad_area,
    redetect_markers,
    refine_quad,
    refine_quads,
)
from vision.opencv import as_grey

SQUARE = np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]])


@given(st.floats(-3, 3), st.floats(-1, 1), st.floats(0.5, 4), st.floats(-50, 50))
def test_growing_a_square_moves_each_side(by, shear, stretch, shift):
    assert quad_area(grow_quad(SQUARE, by)) == pytest.approx((10 + 2 * by) ** 2)
    quad = SQUARE @ np.array([[stretch, 0.0], [shear, 1.0]]) + shift
    grown = grow_quad(quad, 0.5)
    for index in range(4):
        along = quad[(index + 1) % 4] - quad[index]
        normal = np.array([along[1], -along[0]]) / np.linalg.norm(along)
        assert abs((grown[index] - quad[index]) @ normal) == pytest.approx(0.5)


def test_corners_are_measured_to_a_fraction_of_a_pixel(render_table, camera, layout, pose):
    picture = render_table(pose)
    found = MarkerDetector(layout.markers.dictionary).plain(picture)
    assert sorted(marker.marker_id for marker in found) == [0, 1, 2, 3]
    for marker in found:
        true = project(camera, pose, layout.markers.corners_mm(marker.marker_id))
        assert np.abs(marker.corners_px - true).max() < 1.0
        assert np.abs(marker.centre_px - true.mean(axis=0)).max() < 0.15


def test_no_corners_are_measured_without_an_edge():
    assert refine_quad(np.full((40, 40), 90, np.uint8), SQUARE + 10) is None


def test_a_marker_too_blurred_to_trace_is_matched_by_its_pattern(render_table, camera, layout, pose):
    grey = as_grey(render_table(pose, blur_px=3.5))
    finder = MarkerDetector(layout.markers.dictionary)
    assert 1 not in {marker.marker_id for marker in finder.plain(grey)}
    marker = MarkerPatterns(grey, camera, layout.markers, finder).match(pose, 1)
    assert marker is not None
    true = project(camera, pose, layout.markers.corners_mm(1))
    assert np.abs(marker.centre_px - true.mean(axis=0)).max() < 0.3


def test_a_missing_or_different_marker_is_not_matched(render_table, camera, layout, pose):
    finder = MarkerDetector(layout.markers.dictionary)
    hidden = as_grey(render_table(pose, hidden={1}))
    assert MarkerPatterns(hidden, camera, layout.markers, finder).match(pose, 1) is None
    other = as_grey(render_table(pose, hidden={1}, extra=[(2, (175.0, 175.0))]))
    assert MarkerPatterns(other, camera, layout.markers, finder).match(pose, 1) is None


def test_a_marker_whose_pattern_does_not_fit_is_not_refined(render_table, camera, layout, pose):
    grey = as_grey(render_table(pose, hidden={1}))
    marker = Marker(1, project(camera, pose, layout.markers.corners_mm(1)))
    assert MarkerPatterns(grey, camera, layout.markers, MarkerDetector("DICT_4X4_50")).refined(pose, marker) is marker


def test_an_unknown_dictionary_is_named():
    with pytest.raises(LayoutError, match="no marker dictionary 'DICT_9X9_3'; expected one of DICT_4X4_100"):
        MarkerDetector("DICT_9X9_3")


@pytest.fixture
def expected(camera: CameraModel, pose: Pose, layout: TableLayout) -> dict[int, FloatArray]:
    return {marker_id: project(camera, pose, layout.markers.corners_mm(marker_id)) for marker_id in range(4)}


@pytest.fixture
def finder(layout: TableLayout) -> MarkerDetector:
    return MarkerDetector(layout.markers.dictionary)


def test_markers_at_their_places_are_measured_as_by_the_full_search(render_table, pose, expected, finder):
    grey = as_grey(render_table(pose))
    again = redetect_markers(grey, expected, finder)
    found = {marker.marker_id: marker for marker in finder.plain(grey)}
    assert set(again) == set(found) == {0, 1, 2, 3}
    for marker_id, marker in again.items():
        assert np.abs(marker.corners_px - found[marker_id].corners_px).max() < 0.5


@pytest.mark.parametrize("off_px", [-0.8, 0.6, 1.0])
def test_a_slightly_wrong_place_does_no_harm(render_table, pose, expected, finder, off_px):
    grey = as_grey(render_table(pose))
    exact = redetect_markers(grey, expected, finder)
    near = redetect_markers(grey, {marker_id: quad + off_px for marker_id, quad in expected.items()}, finder)
    assert set(near) == set(exact)
    for marker_id, marker in near.items():
        assert np.abs(marker.corners_px - exact[marker_id].corners_px).max() < 0.5


def test_a_pushed_marker_is_not_seen_at_its_old_place(render_table, pose, expected, finder):
    grey = as_grey(render_table(pose, moved={2: (9.0, 0.0)}))
    assert set(redetect_markers(grey, expected, finder)) == {0, 1, 3}


def test_a_covered_or_removed_marker_is_not_seen(render_table, pose, expected, finder):
    grey = as_grey(render_table(pose, hidden={0, 3}))
    assert set(redetect_markers(grey, expected, finder)) == {1, 2}
    low = np.round(expected[1].min(axis=0)).astype(int)
    grey[low[1] - 3 : low[1] + 12, low[0] - 3 : low[0] + 40] = 120
    assert set(redetect_markers(grey, expected, finder)) == {2}


def test_another_marker_at_the_same_place_is_not_mistaken_for_it(render_table, pose, expected, finder, layout):
    grey = as_grey(render_table(pose, hidden={1}, extra=[(7, layout.markers.centres_mm[1])]))
    assert set(redetect_markers(grey, expected, finder)) == {0, 2, 3}


def test_a_marker_partly_out_of_the_picture_is_left_to_the_full_search(render_table, pose, expected, finder):
    grey = as_grey(render_table(pose))
    assert redetect_markers(grey, {0: expected[0] - 400.0}, finder) == {}
    assert redetect_markers(grey, {}, finder) == {}


@pytest.mark.parametrize("angle_deg", [20.0, 100.0])
def test_motion_blurred_markers_are_identified_by_outline_and_similarity(angle_deg, render_table, camera, layout, pose):
    grey = as_grey(shaken(render_table(pose), 8, angle_deg))
    finder = MarkerDetector(layout.markers.dictionary)
    # OpenCV 4.10 still reads one of them.
    assert len(finder.thorough(grey)) <= 1
    found = finder.outlined(grey, sorted(layout.markers.centres_mm))
    assert len(found) >= 2
    for marker in found:
        true = project(camera, pose, layout.markers.corners_mm(marker.marker_id))
        assert marker.found_by is FoundBy.OUTLINED
        assert np.abs(marker.corners_px - true).max() < 6.0


def shaken(picture, length_px, angle_deg):
    """The picture with linear motion blur."""
    smear = np.zeros((2 * length_px + 1, 2 * length_px + 1), dtype=np.float32)
    way = np.array([np.cos(np.radians(angle_deg)), np.sin(np.radians(angle_deg))]) * length_px / 2
    ends = np.round(np.array([-way, way]) + length_px).astype(int)
    cv2.line(smear, ends[0].tolist(), ends[1].tolist(), 1.0)
    return cv2.filter2D(picture, -1, smear / smear.sum())


def test_a_picture_full_of_outlines_stays_within_opencvs_limit() -> None:
    grey = np.random.default_rng(1).integers(0, 255, (300, 300)).astype(np.uint8)
    quad = np.array([[40.0, 40.0], [90.0, 40.0], [90.0, 90.0], [40.0, 90.0]])
    assert len(refine_quads(grey, [quad + number % 100 for number in range(400)])) == 400
