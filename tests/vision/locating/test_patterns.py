"""Matching markers by their pattern near their expected places, and correcting a pose by the board's lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import cv2
import numpy as np
import pytest

from tests.vision.conftest import RenderTable
from vision.frame import FloatArray, Image
from vision.geometry import CameraModel, Pose, project
from vision.layout.table import TableLayout
from vision.locating.lines_and_markers import grid_agrees, grid_contrast, refine_by_grid
from vision.locating.markers import FoundBy, Marker, MarkerDetector, MarkerPatterns, redetect_markers
from vision.opencv import as_grey

Places = Mapping[int, FloatArray]


@pytest.fixture(scope="module")
def true(camera: CameraModel, pose: Pose, layout: TableLayout) -> Places:
    """Where the picture has each marker's corners."""
    return {marker_id: project(camera, pose, layout.markers.corners_mm(marker_id)) for marker_id in range(4)}


@pytest.fixture(scope="module")
def picture(render_table: RenderTable, pose: Pose) -> Image:
    return render_table(pose)


@pytest.fixture(scope="module")
def finder(layout: TableLayout) -> MarkerDetector:
    return MarkerDetector(layout.markers.dictionary)


def shifted(pose: Pose, x_mm: float, y_mm: float = 0.0) -> Pose:
    """The pose of a shifted table."""
    return Pose(pose.rotation, pose.translation + pose.rotation @ np.array([x_mm, y_mm, 0.0]))


def off_px(marker: Marker | None, true: Places) -> float:
    """The largest error of a marker's corners; infinite if none was found."""
    return np.inf if marker is None else float(np.abs(marker.corners_px - true[marker.marker_id]).max())


@pytest.mark.parametrize("off_mm", [(0.0, 0.0), (20.0, 0.0), (-14.0, 14.0), (0.0, -19.0)])
@pytest.mark.parametrize("marker_id", range(4))
def test_a_marker_is_matched_exactly_within_more_than_half_its_side(
    marker_id: int,
    off_mm: tuple[float, float],
    picture: Image,
    camera: CameraModel,
    layout: TableLayout,
    pose: Pose,
    true: Places,
    finder: MarkerDetector,
) -> None:
    grey, elsewhere = as_grey(picture), shifted(pose, *off_mm)
    matched = MarkerPatterns(grey, camera, layout.markers, finder).match(elsewhere, marker_id)
    assert off_px(matched, true) < 0.25
    assert matched is not None
    assert matched.found_by is FoundBy.MATCHED
    found = MarkerPatterns(grey, camera, layout.markers, finder).find(elsewhere, marker_id)
    assert off_px(found, true) < 1.0


def test_a_marker_beyond_the_search_range_is_not_matched(
    picture: Image, camera: CameraModel, layout: TableLayout, pose: Pose, finder: MarkerDetector
) -> None:
    grey = as_grey(picture)
    for marker_id in range(4):
        assert MarkerPatterns(grey, camera, layout.markers, finder).match(shifted(pose, 26.0), marker_id) is None
    outside = shifted(pose, 900.0)
    assert MarkerPatterns(grey, camera, layout.markers, finder).match(outside, 1) is None
    assert MarkerPatterns(grey, camera, layout.markers, finder).find(outside, 1) is None
    assert MarkerPatterns(grey, camera, layout.markers, finder).similarity(outside, 1) == 0.0
    marker = Marker(1, project(camera, pose, layout.markers.corners_mm(1)))
    assert MarkerPatterns(grey, camera, layout.markers, finder).refined(outside, marker) is marker


@pytest.mark.parametrize(("blur_px", "within_px"), [(0.7, 0.25), (2.0, 0.6), (3.0, 1.5)])
def test_a_marker_is_measured_again_by_its_whole_pattern(
    blur_px: float,
    within_px: float,
    render_table: RenderTable,
    camera: CameraModel,
    layout: TableLayout,
    pose: Pose,
    true: Places,
    finder: MarkerDetector,
) -> None:
    grey = as_grey(render_table(pose, blur_px=blur_px))
    for marker_id, corners in true.items():
        rough = Marker(marker_id, corners + np.array([1.2, -0.9]), FoundBy.OUTLINED)
        again = MarkerPatterns(grey, camera, layout.markers, finder).refined(pose, rough)
        assert off_px(again, true) < within_px
        assert again.found_by is FoundBy.OUTLINED
        far = Marker(marker_id, corners + 0.2 * rough.side_px, FoundBy.OUTLINED)
        assert MarkerPatterns(grey, camera, layout.markers, finder).refined(pose, far) is far


@pytest.mark.parametrize("light", [0.05, 0.3, 1.3])
def test_a_match_does_not_depend_on_the_light(
    light: float,
    render_table: RenderTable,
    camera: CameraModel,
    layout: TableLayout,
    pose: Pose,
    true: Places,
    finder: MarkerDetector,
) -> None:
    grey = as_grey(render_table(pose, light=light, noise=1.0))
    for marker_id in range(4):
        assert off_px(MarkerPatterns(grey, camera, layout.markers, finder).match(pose, marker_id), true) < 0.5
        assert MarkerPatterns(grey, camera, layout.markers, finder).similarity(pose, marker_id) > 0.95


def test_half_a_marker_is_as_similar_as_its_better_half(
    picture: Image, camera: CameraModel, layout: TableLayout, pose: Pose, finder: MarkerDetector
) -> None:
    for marker_id in range(4):
        first, second, third, fourth = layout.markers.corners_mm(marker_id)
        middle = (first + third) / 2
        for one, other, away in ((first, second, fourth), (second, third, first), (third, fourth, second)):
            out = 0.4 * (one - away)
            half = [(one + away) / 2 - out * 0.0, one + out, other + out, other + (middle - (one + other) / 2)]
            card = picture.copy()
            cv2.fillConvexPoly(card, np.round(project(camera, pose, half)).astype(np.int32), (90, 120, 60))
            shown = MarkerPatterns(as_grey(card), camera, layout.markers, finder).similarity(pose, marker_id)
            assert shown > 0.85
    whole = MarkerPatterns(as_grey(picture), camera, layout.markers, finder).similarity(pose, 1)
    assert whole > 0.97


def test_a_position_without_its_marker_is_not_similar(
    render_table: RenderTable, camera: CameraModel, layout: TableLayout, pose: Pose, finder: MarkerDetector
) -> None:
    hidden = as_grey(render_table(pose, hidden={1}))
    assert MarkerPatterns(hidden, camera, layout.markers, finder).similarity(pose, 1) < 0.4
    other = as_grey(render_table(pose, hidden={1}, extra=[(2, layout.markers.centres_mm[1])]))
    assert MarkerPatterns(other, camera, layout.markers, finder).similarity(pose, 1) < 0.9
    assert MarkerPatterns(other, camera, layout.markers, finder).match(pose, 1) is None
    quarter = as_grey(
        render_table(Pose(pose.rotation @ np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]]), pose.translation))
    )
    assert MarkerPatterns(quarter, camera, layout.markers, finder).match(pose, 1) is None


def test_a_patch_shows_its_surroundings_from_straight_above(
    picture: Image, camera: CameraModel, layout: TableLayout, pose: Pose, finder: MarkerDetector
) -> None:
    grey = as_grey(picture)
    patch = MarkerPatterns(grey, camera, layout.markers, finder).rectified(pose, 2, half_mm=30.0, px_per_mm=2.0)
    assert patch is not None
    assert patch.image.shape == (121, 121)
    half = layout.markers.side_mm / 2
    corners = np.array([[-half, half], [half, half], [half, -half], [-half, -half]])
    on_patch = 60 + 2.0 * corners * [1, -1]
    assert np.abs(patch.to_pixels(on_patch) - project(camera, pose, layout.markers.corners_mm(2))).max() < 0.01
    code = cv2.resize(
        cv2.aruco.generateImageMarker(cv2.aruco.getPredefinedDictionary(0), 2, 6), (60, 60), interpolation=0
    )
    side = round(4 * half)
    seen = patch.image[60 - side // 2 : 60 + side // 2, 60 - side // 2 : 60 + side // 2]
    known = cv2.resize(code, seen.shape[::-1], interpolation=cv2.INTER_NEAREST)
    assert np.corrcoef(seen.ravel(), known.ravel())[0, 1] > 0.8


@pytest.mark.parametrize(("shift_px", "seen"), [(1.5, True), (-1.5, True), (2.4, False), (-2.4, False)])
def test_a_marker_is_seen_again_within_two_pixels_of_its_place(
    shift_px: float, seen: bool, picture: Image, finder: MarkerDetector
) -> None:
    moved = {one.marker_id: one.corners_px + np.array([shift_px, 0.0]) for one in finder.plain(picture)}
    found = redetect_markers(as_grey(picture), moved, finder)
    assert set(found) == ({0, 1, 2, 3} if seen else set())
    assert all(one.found_by is FoundBy.SEEN_AGAIN for one in found.values())


@pytest.mark.parametrize(("scale", "seen"), [(0.65, True), (0.5, False)])
def test_markers_of_fewer_than_fourteen_pixels_are_left_to_the_thorough_search(
    scale: float, seen: bool, picture: Image, true: Places, finder: MarkerDetector
) -> None:
    smaller = cv2.resize(as_grey(picture), None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    small = np.asarray(smaller, dtype=np.uint8)
    places = {marker_id: (corners + 0.5) * scale - 0.5 for marker_id, corners in true.items() if marker_id in (0, 1)}
    assert bool(redetect_markers(small, places, finder)) == seen


def test_a_marker_at_the_very_edge_of_the_picture_is_seen_again(
    picture: Image, true: Places, finder: MarkerDetector
) -> None:
    corners = true[2]
    right, bottom = np.ceil(corners.max(axis=0)).astype(int)
    left, top = np.floor(corners.min(axis=0)).astype(int)
    grey = as_grey(picture)
    assert 2 in redetect_markers(grey[: bottom + 3, : right + 3], {2: corners}, finder)
    assert 2 in redetect_markers(grey[top - 3 :, left - 3 :], {2: corners - np.array([left - 3, top - 3])}, finder)
    assert redetect_markers(grey[: bottom - 2], {2: corners}, finder) == {}
    assert redetect_markers(grey[:, : right - 2], {2: corners}, finder) == {}
    assert redetect_markers(grey[top + 2 :], {2: corners - np.array([0, top + 2])}, finder) == {}


@pytest.mark.parametrize("method", ["plain", "thorough", "sharpened", "enlarged", "equalised"])
def test_every_search_of_the_whole_picture_measures_accurate_corners(
    method: str, picture: Image, true: Places, finder: MarkerDetector
) -> None:
    found = [one for one in getattr(finder, method)(picture) if one.marker_id in true]
    assert sorted(one.marker_id for one in found) == [0, 1, 2, 3]
    for one in found:
        assert one.found_by == FoundBy(method)
        assert off_px(one, true) < 1.0
        assert np.abs(one.centre_px - true[one.marker_id].mean(axis=0)).max() < 0.1
        assert one.side_px == pytest.approx(Marker(one.marker_id, true[one.marker_id]).side_px, rel=0.04)


@pytest.mark.parametrize(("width_px", "searched"), [(899, False), (900, True), (1280, True)])
def test_large_pictures_are_searched_at_half_size(
    width_px: int, searched: bool, picture: Image, true: Places, finder: MarkerDetector
) -> None:
    scale = width_px / 640
    large = cv2.resize(as_grey(picture), (width_px, round(480 * scale)), interpolation=cv2.INTER_CUBIC)
    found = finder.halved(np.asarray(large, dtype=np.uint8))
    assert bool(found) == searched
    for one in found:
        assert np.abs((one.corners_px + 0.5) / scale - 0.5 - true[one.marker_id]).max() < 1.0


def test_a_marker_that_fills_a_patch_is_found_in_it_and_a_small_one_is_not(finder: MarkerDetector) -> None:
    code = cv2.aruco.generateImageMarker(cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50), 5, 90)
    for side_px, found in ((90, True), (40, False)):
        patch = np.full((270, 270), 220, dtype=np.uint8)
        patch[100 : 100 + side_px, 90 : 90 + side_px] = cv2.resize(code, (side_px, side_px), interpolation=0)
        assert bool(finder.filling(patch)) == found


@pytest.mark.parametrize("turns", range(4))
def test_an_outlined_markers_corners_are_in_the_order_of_its_code(turns: int, finder: MarkerDetector) -> None:
    """Its outline is found, and its code compared in each of four turns."""
    code = cv2.aruco.generateImageMarker(cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50), 3, 60)
    picture = np.full((240, 240), 220, dtype=np.uint8)
    picture[90:150, 80:140] = np.rot90(code, turns)
    blurred = np.asarray(cv2.GaussianBlur(picture, (0, 0), 4.0), dtype=np.uint8)
    corners = np.roll(np.array([[79.5, 89.5], [139.5, 89.5], [139.5, 149.5], [79.5, 149.5]]), turns, axis=0)
    (marker,) = finder.outlined(blurred, range(6))
    assert marker.marker_id == 3
    assert np.abs(marker.corners_px - corners).max() < 6.0
    assert finder.outlined(blurred, [0, 1, 2, 4, 5]) == ()
    assert finder.outlined(np.full((240, 240), 220, np.uint8), range(6)) == ()


@pytest.mark.parametrize("off_mm", [(1.5, 0.0), (0.0, -3.0), (4.0, 4.0), (0.0, 0.0)])
@pytest.mark.parametrize("is_inverted", [False, True])
def test_a_boards_lines_correct_a_pose(
    off_mm: tuple[float, float],
    is_inverted: bool,
    picture: Image,
    camera: CameraModel,
    layout: TableLayout,
    pose: Pose,
) -> None:
    shown: Image = np.asarray(np.clip(255 - picture.astype(int), 0, 255), dtype=np.uint8) if is_inverted else picture
    found = refine_by_grid(shown, camera, shifted(pose, *off_mm), layout, ())
    corners = layout.board.bounds_mm.corners_mm(layout.board.height_mm)
    assert np.linalg.norm(project(camera, found, corners) - project(camera, pose, corners), axis=1).max() < 1.0
    contrasts = [grid_contrast(shown, camera, one, layout) for one in (pose, shifted(pose, 2.0), shifted(pose, 5.0))]
    assert contrasts[0] > contrasts[1] > contrasts[2]
    assert contrasts[0] > 0.1


@pytest.mark.parametrize(("off_mm", "agrees"), [(0.0, True), (1.2, True), (2.2, False), (-2.2, False), (5.0, False)])
def test_lines_agree_with_a_pose_within_a_millimetre_and_a_half(
    off_mm: float, agrees: bool, picture: Image, camera: CameraModel, layout: TableLayout, pose: Pose
) -> None:
    assert grid_agrees(picture, camera, shifted(pose, off_mm, off_mm), layout) == agrees


def test_a_pose_is_unchanged_without_visible_lines(
    camera: CameraModel, layout: TableLayout, pose: Pose, picture: Image
) -> None:
    blank = np.full_like(picture, 110)
    off = shifted(pose, 2.0)
    assert refine_by_grid(blank, camera, off, layout, ()) is off
    assert not grid_agrees(blank, camera, pose, layout)
    assert grid_contrast(blank, camera, pose, layout) == pytest.approx(0.0, abs=1e-6)


def test_markers_hold_a_pose_against_the_lines(
    picture: Image, camera: CameraModel, layout: TableLayout, pose: Pose
) -> None:
    """Markers that put the table 3 mm away pull the pose harder the more of them there are."""
    elsewhere = shifted(pose, 3.0)
    markers = [Marker(one, project(camera, elsewhere, layout.markers.corners_mm(one))) for one in range(4)]
    corners = layout.board.bounds_mm.corners_mm(layout.board.height_mm)
    offs = []
    for used in ((), markers):
        found = refine_by_grid(picture, camera, shifted(pose, 1.0), layout, used)
        offs.append(
            float(np.linalg.norm(project(camera, found, corners) - project(camera, pose, corners), axis=1).max())
        )
    assert offs[0] < 0.8
    assert offs[1] > offs[0] + 0.3
    near = [replace(one, corners_px=project(camera, pose, layout.markers.corners_mm(one.marker_id))) for one in markers]
    found = refine_by_grid(picture, camera, shifted(pose, 1.0), layout, near)
    assert np.linalg.norm(project(camera, found, corners) - project(camera, pose, corners), axis=1).max() < 0.6
