"""What changed is noticed, in its place and nowhere else, however slowly it came."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from vision.geometry import project
from vision.motion.changes import ChangeDetector, marker_region


@pytest.fixture
def watcher(layout, camera, pose):
    return ChangeDetector(layout, camera, pose)


@pytest.fixture
def picture(camera):
    return np.full((camera.size[1], camera.size[0], 3), 90, dtype=np.uint8)


def at(camera, pose, x, y, z):
    return tuple(int(value) for value in np.round(project(camera, pose, [[x, y, z]])[0]))


def test_the_first_picture_changes_everything_and_the_same_again_nothing(watcher, picture, layout):
    regions = {*layout.places, *(marker_region(marker_id) for marker_id in layout.markers.centres_mm)}
    assert watcher.changed(picture) == regions
    assert watcher.changed(picture.copy()) == set()


def test_noise_changes_nothing(watcher, picture):
    random = np.random.default_rng(5)
    noisy = lambda: np.clip(picture + random.normal(0, 6, picture.shape), 0, 255).astype(np.uint8)  # noqa: E731
    watcher.changed(noisy())
    assert all(watcher.changed(noisy()) == set() for _ in range(10))


@pytest.mark.parametrize("place", ["a1", "d4", "g7"])
def test_a_change_is_noticed_in_its_place_and_once(watcher, picture, layout, camera, pose, place):
    watcher.changed(picture)
    changed = picture.copy()
    cv2.circle(changed, at(camera, pose, *layout.centre_mm(place), layout.board.height_mm), 5, (200, 90, 40), -1)
    seen = watcher.changed(changed)
    assert place in seen
    assert len(seen) <= 4, "only neighbours whose blocks would stand before it"
    assert watcher.changed(changed) == set()
    assert place in watcher.changed(picture)


def test_a_change_of_a_marker_goes_by_the_markers_name(watcher, picture, layout, camera, pose):
    watcher.changed(picture)
    changed = picture.copy()
    x, y = layout.markers.centres_mm[2]
    cv2.circle(changed, at(camera, pose, x, y, layout.markers.z_mm), 6, (250, 250, 250), -1)
    assert watcher.changed(changed) == {marker_region(2)}


def test_what_creeps_in_slowly_is_noticed_once_it_has_added_up(watcher, picture, layout, camera, pose):
    watcher.changed(picture)
    middle = at(camera, pose, *layout.centre_mm("c3"), layout.board.height_mm)
    noticed = []
    for level in range(90, 120, 3):
        picture = picture.copy()
        cv2.circle(picture, middle, 8, (level, level, level), -1)
        noticed.append("c3" in watcher.changed(picture))
    assert not noticed[1], "three levels are noise"
    assert 2 <= sum(noticed) <= 4


def test_a_change_beside_the_board_concerns_no_place(watcher, picture):
    watcher.changed(picture)
    changed = picture.copy()
    changed[:8, :8] = 255
    assert watcher.changed(changed) == set()


def test_grey_pictures_are_watched_too(watcher, picture, layout, camera, pose):
    grey = np.ascontiguousarray(picture[..., 0])
    watcher.changed(grey)
    changed = grey.copy()
    cv2.circle(changed, at(camera, pose, *layout.centre_mm("d4"), layout.board.height_mm), 5, 200, -1)
    assert "d4" in watcher.changed(changed)
