"""Markers' corners are measured to a fraction of a pixel."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision.errors import LayoutError
from vision.geometry import project
from vision.locating.markers import Marker, MarkerDetector
from vision.locating.patterns import match_expected, polish
from vision.locating.quads import grow_quad, quad_area, refine_quad
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


def test_where_there_is_no_edge_nothing_is_measured():
    assert refine_quad(np.full((40, 40), 90, np.uint8), SQUARE + 10) is None


def test_a_marker_too_blurred_to_trace_is_matched_by_its_pattern(render_table, camera, layout, pose):
    grey = as_grey(render_table(pose, blur_px=3.5))
    finder = MarkerDetector(layout.markers.dictionary)
    assert 1 not in {marker.marker_id for marker in finder.plain(grey)}
    marker = match_expected(grey, camera, pose, layout.markers, 1, finder)
    assert marker is not None
    true = project(camera, pose, layout.markers.corners_mm(1))
    assert np.abs(marker.centre_px - true.mean(axis=0)).max() < 0.3


def test_nothing_is_matched_where_no_marker_or_another_one_lies(render_table, camera, layout, pose):
    finder = MarkerDetector(layout.markers.dictionary)
    hidden = as_grey(render_table(pose, hidden={1}))
    assert match_expected(hidden, camera, pose, layout.markers, 1, finder) is None
    other = as_grey(render_table(pose, hidden={1}, extra=[(2, (175.0, 175.0))]))
    assert match_expected(other, camera, pose, layout.markers, 1, finder) is None


def test_polishing_leaves_a_marker_alone_whose_pattern_does_not_fit(render_table, camera, layout, pose):
    grey = as_grey(render_table(pose, hidden={1}))
    marker = Marker(1, project(camera, pose, layout.markers.corners_mm(1)))
    assert polish(grey, camera, pose, layout.markers, marker, MarkerDetector("DICT_4X4_50")) is marker


def test_an_unknown_dictionary_is_named():
    with pytest.raises(LayoutError, match="no marker dictionary 'DICT_9X9_3'; expected one of DICT_4X4_100"):
        MarkerDetector("DICT_9X9_3")
