"""A change is noticed at its place and nowhere else, however slowly it comes."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from vision.frame import Image
from vision.geometry import CameraModel, Pose, Rectangle, project
from vision.layout.pieces import Tray
from vision.layout.table import TableLayout
from vision.motion.changes import ChangeDetector, marker_region, surface_region
from vision.sampling import SHRINK, shrink


@pytest.fixture
def watcher(layout: TableLayout, camera: CameraModel, pose: Pose) -> ChangeDetector:
    return ChangeDetector(layout, camera, pose, {})


@pytest.fixture
def picture(camera: CameraModel) -> Image:
    return np.full((camera.size[1], camera.size[0], 3), 90, dtype=np.uint8)


def at(camera, pose, middle_mm, z):
    return tuple(int(value) for value in np.round(project(camera, pose, [[*middle_mm, z]])[0]))


def test_the_first_picture_changes_every_region_and_its_repetition_none(watcher, picture, layout):
    regions = {*layout.places, *(marker_region(marker_id) for marker_id in layout.markers.centres_mm)}
    assert watcher.changed(shrink(picture)) == regions
    assert watcher.changed(shrink(picture.copy())) == set()


def test_noise_changes_nothing(watcher, picture):
    random = np.random.default_rng(5)
    noisy = lambda: np.clip(picture + random.normal(0, 6, picture.shape), 0, 255).astype(np.uint8)  # noqa: E731
    watcher.changed(shrink(noisy()))
    assert all(watcher.changed(shrink(noisy())) == set() for _ in range(3))


@pytest.mark.parametrize("place", ["a1", "d4", "g7"])
def test_a_change_is_noticed_in_its_place_and_once(watcher, picture, layout, camera, pose, place):
    watcher.changed(shrink(picture))
    changed = picture.copy()
    cv2.circle(changed, at(camera, pose, layout.centre_mm(place), layout.board.height_mm), 5, (200, 90, 40), -1)
    seen = watcher.changed(shrink(changed))
    assert place in seen
    assert len(seen) <= 4, "only neighbours whose blocks would stand before it"
    assert watcher.changed(shrink(changed)) == set()
    assert place in watcher.changed(shrink(picture))


def test_a_change_at_a_marker_is_reported_as_the_markers_region(watcher, picture, layout, camera, pose):
    watcher.changed(shrink(picture))
    changed = picture.copy()
    x, y = layout.markers.centres_mm[2]
    cv2.circle(changed, at(camera, pose, (x, y), layout.markers.z_mm), 6, (250, 250, 250), -1)
    assert watcher.changed(shrink(changed)) == {marker_region(2)}


def test_a_slow_change_is_noticed_once_it_has_added_up(watcher, picture, layout, camera, pose):
    watcher.changed(shrink(picture))
    middle = at(camera, pose, layout.centre_mm("c3"), layout.board.height_mm)
    noticed = []
    for level in range(90, 120, 3):
        picture = picture.copy()
        cv2.circle(picture, middle, 8, (level, level, level), -1)
        noticed.append("c3" in watcher.changed(shrink(picture)))
    assert not noticed[1], "three levels are noise"
    assert 2 <= sum(noticed) <= 4


def test_a_change_beside_the_board_concerns_no_place(watcher, picture):
    watcher.changed(shrink(picture))
    changed = picture.copy()
    changed[:8, :8] = 255
    assert watcher.changed(shrink(changed)) == set()


def test_changes_are_found_in_grey_pictures(watcher, picture, layout, camera, pose):
    grey = np.ascontiguousarray(picture[..., 0])
    watcher.changed(shrink(grey))
    changed = grey.copy()
    cv2.circle(changed, at(camera, pose, layout.centre_mm("d4"), layout.board.height_mm), 5, 200, -1)
    assert "d4" in watcher.changed(shrink(changed))


def blocks_of(picture, column, row, levels):
    """The picture with a row of squares, a pixel each of the small picture, that many levels brighter."""
    changed = picture.copy()
    for number, brighter in enumerate(levels):
        left, top = (column // SHRINK + number) * SHRINK, row // SHRINK * SHRINK
        changed[top : top + SHRINK, left : left + SHRINK] += np.uint8(brighter)
    return changed


@pytest.mark.parametrize(
    ("levels", "is_noticed"), [((60,), False), ((10, 10), True), ((9, 9), False), ((60, 9), False), ((60, 10), True)]
)
def test_two_pixels_of_the_small_picture_that_differ_by_ten_levels_are_a_change(
    watcher, picture, layout, camera, pose, levels, is_noticed
):
    watcher.changed(shrink(picture))
    column, row = at(camera, pose, layout.centre_mm("d4"), layout.board.height_mm)
    assert ("d4" in watcher.changed(shrink(blocks_of(picture, column, row, levels)))) == is_noticed


@pytest.mark.parametrize(("out", "is_noticed"), [(0.9, True), (1.2, True), (1.6, False)])
def test_a_marker_is_watched_with_its_white_border(watcher, picture, layout, camera, pose, out, is_noticed):
    watcher.changed(shrink(picture))
    (x, y), half = layout.markers.centres_mm[1], layout.markers.side_mm / 2
    column, row = at(camera, pose, (x + out * half, y), layout.markers.z_mm)
    changed = picture.copy()
    cv2.circle(changed, (column, row), 2, (250, 250, 250), -1)
    assert (marker_region(1) in watcher.changed(shrink(changed))) == is_noticed


def test_a_tray_is_watched_as_a_whole_up_to_its_edge(picture, layout, camera, pose):
    tray = Tray("tray", Rectangle(-60.0, 60.0, -40.0, 40.0))
    watcher = ChangeDetector(TableLayout("dice", layout.markers, (tray,)), camera, pose, {})
    assert surface_region("tray") in watcher.changed(shrink(picture))
    for x, y, expected in ((50.0, 30.0, {surface_region("tray")}), (75.0, 0.0, set()), (0.0, 55.0, set())):
        changed = picture.copy()
        cv2.circle(changed, at(camera, pose, (x, y), 0.0), 4, (200, 90, 40), -1)
        assert watcher.changed(shrink(changed)) == expected
        watcher.changed(shrink(picture))


@pytest.mark.parametrize(("away_mm", "is_noticed"), [(10.0, True), (24.0, True), (60.0, False)])
@pytest.mark.parametrize("side", [(-1, 0), (1, 0), (0, -1), (0, 1)])
def test_a_hand_beside_the_places_changes_the_margin(layout, camera, pose, picture, side, away_mm, is_noticed):
    name, half = layout.board.name, layout.board.bounds_mm.width_mm / 2
    watcher = ChangeDetector(layout, camera, pose, {name: 30.0})
    assert surface_region(name) in watcher.changed(shrink(picture))
    changed = picture.copy()
    middle = [(half + away_mm) * one for one in side]
    cv2.circle(changed, at(camera, pose, middle, layout.board.height_mm), 8, (90, 120, 190), -1)
    assert (surface_region(name) in watcher.changed(shrink(changed))) == is_noticed


def test_specks_beside_the_places_are_ignored(layout, camera, pose, picture):
    watcher = ChangeDetector(layout, camera, pose, {layout.board.name: 30.0})
    watcher.changed(shrink(picture))
    beside = layout.board.bounds_mm.right_mm + 15.0
    column, row = at(camera, pose, (beside, 0.0), layout.board.height_mm)
    picture[row - 2 : row + 2, column - 2 : column + 2] = 250
    assert surface_region(layout.board.name) not in watcher.changed(shrink(picture))


@pytest.mark.parametrize("side", ["left", "right", "top", "bottom"])
def test_a_place_at_the_pictures_edge_is_watched_as_far_as_it_is_visible(layout, camera, pose, picture, side):
    middle = project(camera, pose, [[*layout.centre_mm("d4"), layout.board.height_mm]])[0]
    width, height = camera.size
    shift = {
        "left": (-middle[0], 0.0),
        "right": (width - 1 - middle[0], 0.0),
        "top": (0.0, -middle[1]),
        "bottom": (0.0, height - 1 - middle[1]),
    }[side]
    matrix = camera.matrix.copy()
    matrix[:2, 2] += shift
    beside = CameraModel(matrix, camera.distortion, camera.size)
    watcher = ChangeDetector(layout, beside, pose, {})
    watcher.changed(shrink(picture))
    column, row = np.clip(np.round(middle + shift), 6, [width - 7, height - 7]).astype(int).tolist()
    changed = picture.copy()
    cv2.circle(changed, (column, row), 5, (220, 60, 30), -1)
    seen = watcher.changed(shrink(changed))
    assert "d4" in seen
    assert not {"a1", "a7", "g1", "g7"} & seen


@pytest.mark.parametrize("channel", range(3))
def test_a_change_of_a_single_colour_is_noticed(watcher, picture, layout, camera, pose, channel):
    watcher.changed(shrink(picture))
    changed = picture.copy()
    colour = [90, 90, 90]
    colour[channel] = 140
    cv2.circle(changed, at(camera, pose, layout.centre_mm("d4"), layout.board.height_mm), 6, colour, -1)
    assert "d4" in watcher.changed(shrink(changed))
