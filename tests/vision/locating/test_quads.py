"""Measuring the corners of a dark quad by its edges: blurred, beside other edges, and partly covered."""

from collections.abc import Mapping
from dataclasses import replace

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import some
from tests.vision.conftest import RenderTable
from vision.errors import LayoutError
from vision.frame import FloatArray, Image
from vision.geometry import CameraModel, Pose, project
from vision.layout.table import TableLayout
from vision.locating.lines_and_markers import grid_agrees, grid_contrast, refine_by_grid
from vision.locating.markers import FoundBy, Marker, MarkerDetector, redetect_markers
from vision.locating.patterns import MarkerPatterns
from vision.locating.quads import grow_quad, quad_area, refine_quad, refine_quads
from vision.opencv import as_grey

SIZE_PX = 100
OVERSAMPLING = 6
TILTED = np.array([[26.3, 21.8], [71.4, 30.1], [66.2, 74.9], [20.7, 68.4]])


def square(side_px: float, turned_deg: float = 8.0) -> FloatArray:
    """The corners of a square in the middle of the picture, clockwise from the upper left."""
    turn = np.radians(turned_deg)
    corners = side_px / 2 * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    rotation = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    return np.asarray(corners @ rotation + (SIZE_PX - 1) / 2 + np.array([0.3, -0.2]))


def picture_of(*areas: tuple[FloatArray, float], paper: float = 220.0, blur_px: float = 0.8) -> Image:
    """Blurred convex areas in grey levels, each drawn over those before it."""
    steps = (np.arange(SIZE_PX * OVERSAMPLING) + 0.5) / OVERSAMPLING - 0.5
    across, down = np.meshgrid(steps, steps)
    fine = np.full(across.shape, (paper / 255) ** 2.2)
    for corners, grey in areas:
        ahead = np.roll(corners, -1, axis=0) - corners
        left = np.array(
            [x * (down - corner[1]) - y * (across - corner[0]) for (x, y), corner in zip(ahead, corners, strict=True)]
        )
        fine[(left > 0).all(axis=0) | (left < 0).all(axis=0)] = (grey / 255) ** 2.2
    light = cv2.resize(fine, (SIZE_PX, SIZE_PX), interpolation=cv2.INTER_AREA)
    return np.round(255 * cv2.GaussianBlur(light, (0, 0), blur_px) ** (1 / 2.2)).astype(np.uint8)


def off_px(found: FloatArray | None, true: FloatArray) -> float:
    """The largest error of a corner; infinite if none was measured."""
    return np.inf if found is None else float(np.linalg.norm(found - true, axis=1).max())


@pytest.mark.parametrize(("quad", "within_px"), [(TILTED, 0.2), (TILTED[::-1], 0.2), (square(30.0), 0.4)])
@pytest.mark.parametrize("start_px", [(0.0, 0.0), (1.0, -0.8), (-0.9, 0.9)])
def test_corners_are_measured_from_a_rough_start(
    quad: FloatArray, within_px: float, start_px: tuple[float, float]
) -> None:
    assert off_px(refine_quad(picture_of((quad, 20.0)), quad + start_px), quad) < within_px


@pytest.mark.parametrize("blur_px", [0.5, 1.5, 2.5])
def test_blur_does_not_move_the_corners_of_a_black_quad_on_white(blur_px: float) -> None:
    grey = picture_of((TILTED, 0.0), paper=255.0, blur_px=blur_px)
    assert off_px(refine_quad(grey, TILTED + 0.5), TILTED) < 0.5


@pytest.mark.parametrize(("side_px", "start_px"), [(64.0, 4.4), (40.0, 3.5), (12.0, 1.2)])
def test_larger_quads_are_found_from_a_rougher_start(side_px: float, start_px: float) -> None:
    quad = square(side_px, 0.0)
    assert off_px(refine_quad(picture_of((quad, 20.0)), quad + start_px), quad) < 0.75


def test_a_frame_around_and_a_light_field_inside_do_not_shift_the_sides() -> None:
    quad = square(36.0)
    middle = quad.mean(axis=0)
    beside = [((middle + share * (quad - middle)), grey) for share, grey in ((1.4, 30.0), (1.27, 220.0))]
    inside = (middle + 0.68 * (quad - middle), 255.0)
    start = quad + np.array([0.7, -0.6])
    alone = refine_quad(picture_of((quad, 40.0)), start)
    assert alone is not None
    assert off_px(alone, quad) < 0.3
    assert off_px(refine_quad(picture_of(*beside, (quad, 40.0), inside), start), alone) < 0.1


@pytest.mark.parametrize("side", some(range(4)))
@pytest.mark.parametrize(("share", "grey"), [(0.1, 20.0), (0.2, 20.0), (0.2, 220.0), (0.4, 220.0)])
def test_a_partly_covered_side_is_measured_on_its_visible_part(side: int, share: float, grey: float) -> None:
    first, second = TILTED[side], TILTED[(side + 1) % 4]
    along, out = (second - first) * share, np.array([(second - first)[1], -(second - first)[0]]) / 45.0
    start = first + 0.3 * (second - first)
    card = np.array([start + 2 * out, start + along + 2 * out, start + along - 8 * out, start - 8 * out])
    assert off_px(refine_quad(picture_of((TILTED, 20.0), (card, grey)), TILTED), TILTED) < 0.2


def test_a_side_whose_edge_can_hardly_be_seen_is_not_measured() -> None:
    assert off_px(refine_quad(picture_of((TILTED, 100.0), paper=104.0, blur_px=0.3), TILTED), TILTED) < 0.5
    assert refine_quad(picture_of((TILTED, 100.0), paper=101.0, blur_px=0.3), TILTED) is None
    pale = refine_quad(picture_of((TILTED, 240.0), paper=200.0), TILTED)
    assert pale is None, "it must be darker than what surrounds it"
    half_seen = picture_of((TILTED, 20.0), (np.array([[0.0, 0.0], [99.0, 0.0], [99.0, 45.0], [0.0, 45.0]]), 20.0))
    assert refine_quad(half_seen, TILTED) is None


def test_quads_with_a_side_under_seven_pixels_are_not_measured() -> None:
    wide = np.array([[30.0, 40.0], [70.0, 40.0], [70.0, 47.4], [30.0, 47.4]])
    narrow = wide - [[0.0, 0.0], [0.0, 0.0], [0.0, 0.8], [0.0, 0.8]]
    assert off_px(refine_quad(picture_of((wide, 20.0), blur_px=0.4), wide), wide) < 0.2
    assert refine_quad(picture_of((narrow, 20.0), blur_px=0.4), narrow) is None


def test_results_keep_the_order_of_the_quads() -> None:
    left, right = square(20.0) - (25.0, 0.0), square(24.0, 3.0) + np.array([22.0, 5.0])
    grey = picture_of((left, 20.0), (right, 60.0))
    nothing = square(12.0) + np.array([0.0, 38.0])
    found = refine_quads(grey, [nothing, right + 0.4, left * 0.01, left - 0.4])
    assert found[0] is None
    assert found[2] is None
    assert off_px(found[1], right) < 0.6
    assert off_px(found[3], left) < 0.4
    assert refine_quads(grey, []) == []


@pytest.mark.parametrize("turned", [1, -1])
def test_the_area_is_that_of_any_simple_quad_in_either_order(turned: int) -> None:
    assert quad_area(np.array([[0.0, 0.0], [4.0, 1.0], [5.0, 6.0], [-1.0, 3.0]])[::turned]) == pytest.approx(20.0)


def test_any_number_of_quads_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    image = np.full((80, 80), 230, dtype=np.uint8)
    image[20:60, 20:60] = 20
    rough = np.array([[19.0, 20.0], [60.0, 19.0], [60.0, 60.0], [20.0, 61.0]])
    (one,) = refine_quads(image, [rough])
    assert one is not None
    monkeypatch.setattr("vision.sampling._MOST_ROWS", 7)
    many = refine_quads(image, [rough] * 9)
    assert all(quad is not None and np.array_equal(quad, one) for quad in many)


# Matching markers by their pattern near their expected places, and correcting a pose by the board's lines.

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


def off_px_patterns(marker: Marker | None, true: Places) -> float:
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
    assert off_px_patterns(matched, true) < 0.25
    assert matched is not None
    assert matched.found_by is FoundBy.MATCHED
    found = MarkerPatterns(grey, camera, layout.markers, finder).find(elsewhere, marker_id)
    assert off_px_patterns(found, true) < 1.0


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
        assert off_px_patterns(again, true) < within_px
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
        assert off_px_patterns(MarkerPatterns(grey, camera, layout.markers, finder).match(pose, marker_id), true) < 0.5
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


@pytest.mark.parametrize("method", some(["plain", "thorough", "sharpened", "enlarged", "equalised"], 3))
def test_every_search_of_the_whole_picture_measures_accurate_corners(
    method: str, picture: Image, true: Places, finder: MarkerDetector
) -> None:
    found = [one for one in getattr(finder, method)(picture) if one.marker_id in true]
    assert sorted(one.marker_id for one in found) == [0, 1, 2, 3]
    for one in found:
        assert one.found_by == FoundBy(method)
        assert off_px_patterns(one, true) < 1.0
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


@pytest.mark.parametrize("off_mm", some([(1.5, 0.0), (0.0, -3.0), (4.0, 4.0), (0.0, 0.0)]))
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


# Markers' corners are measured to a fraction of a pixel, and markers are re-detected only at their places.

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
def finder_markers(layout: TableLayout) -> MarkerDetector:
    return MarkerDetector(layout.markers.dictionary)


def test_markers_at_their_places_are_measured_as_by_the_full_search(render_table, pose, expected, finder_markers):
    grey = as_grey(render_table(pose))
    again = redetect_markers(grey, expected, finder_markers)
    found = {marker.marker_id: marker for marker in finder_markers.plain(grey)}
    assert set(again) == set(found) == {0, 1, 2, 3}
    for marker_id, marker in again.items():
        assert np.abs(marker.corners_px - found[marker_id].corners_px).max() < 0.5


@pytest.mark.parametrize("off_px", [-0.8, 0.6, 1.0])
def test_a_slightly_wrong_place_does_no_harm(render_table, pose, expected, finder_markers, off_px):
    grey = as_grey(render_table(pose))
    exact = redetect_markers(grey, expected, finder_markers)
    near = redetect_markers(grey, {marker_id: quad + off_px for marker_id, quad in expected.items()}, finder_markers)
    assert set(near) == set(exact)
    for marker_id, marker in near.items():
        assert np.abs(marker.corners_px - exact[marker_id].corners_px).max() < 0.5


def test_a_pushed_marker_is_not_seen_at_its_old_place(render_table, pose, expected, finder_markers):
    grey = as_grey(render_table(pose, moved={2: (9.0, 0.0)}))
    assert set(redetect_markers(grey, expected, finder_markers)) == {0, 1, 3}


def test_a_covered_or_removed_marker_is_not_seen(render_table, pose, expected, finder_markers):
    grey = as_grey(render_table(pose, hidden={0, 3}))
    assert set(redetect_markers(grey, expected, finder_markers)) == {1, 2}
    low = np.round(expected[1].min(axis=0)).astype(int)
    grey[low[1] - 3 : low[1] + 12, low[0] - 3 : low[0] + 40] = 120
    assert set(redetect_markers(grey, expected, finder_markers)) == {2}


def test_another_marker_at_the_same_place_is_not_mistaken_for_it(render_table, pose, expected, finder_markers, layout):
    grey = as_grey(render_table(pose, hidden={1}, extra=[(7, layout.markers.centres_mm[1])]))
    assert set(redetect_markers(grey, expected, finder_markers)) == {0, 2, 3}


def test_a_marker_partly_out_of_the_picture_is_left_to_the_full_search(render_table, pose, expected, finder_markers):
    grey = as_grey(render_table(pose))
    assert redetect_markers(grey, {0: expected[0] - 400.0}, finder_markers) == {}
    assert redetect_markers(grey, {}, finder_markers) == {}


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
