from __future__ import annotations

import numpy as np
import pytest

from benchmarks.parts.stress.photoreal import IN_THE_SCENE, LabelledPicture, developed, harder, picture_levels
from simulator.rendering.renderer import Renderer
from simulator.scene.scene import Scene, lens
from simulator.table import standard_setting
from tests.effort import some
from vision.locating.location import locate
from vision.sampling import linear_light

SETTING = standard_setting(lens((640, 480)))
LEVELS = picture_levels()


@pytest.fixture(scope="module")
def picture() -> LabelledPicture:
    image = Renderer(1).render(Scene(SETTING), 1)
    return LabelledPicture(image, SETTING.camera, SETTING.pose, SETTING.layout, ())


def test_developing_inverts_linear_light() -> None:
    grey = np.arange(256, dtype=np.uint8).reshape(16, 16, 1).repeat(3, axis=2)
    assert np.array_equal(developed(linear_light(grey)), grey)


@pytest.mark.parametrize(("hardship", "level"), some(LEVELS, 15))
def test_each_hardship_changes_the_picture_and_the_same_seed_gives_the_same(
    hardship: str, level: str, picture: LabelledPicture
) -> None:
    first, again = (harder(picture, hardship, level, np.random.default_rng(5)) for _ in range(2))
    assert np.array_equal(first.image, again.image)
    assert first.image.shape == picture.image.shape
    assert not np.array_equal(first.image, picture.image)


@pytest.mark.parametrize("level", some(IN_THE_SCENE["hands"], 4))
def test_an_added_hand_covers_places(level: str, picture: LabelledPicture) -> None:
    found = [harder(picture, "hands", level, np.random.default_rng(seed)) for seed in range(4)]
    assert all(one.hand in {"over", "at the rim"} for one in found)
    assert any(one.covered for one in found)


def test_a_painted_over_marker_is_not_detected(picture: LabelledPicture) -> None:
    seen = [
        locate(harder(picture, "markers", level, np.random.default_rng(3)).image, SETTING.camera, SETTING.layout)
        for level in ("1 missing", "2 missing")
    ]
    assert [len(one.ids_seen) for one in seen] == [3, 2]
