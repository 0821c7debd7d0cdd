"""Other cameras, other light and what lies in the way, laid over pictures."""

import json
from importlib.resources import files
from pathlib import Path

import cv2
import numpy as np
import pytest

from benchmarks.parts.picture_changes import CHANGES, EFFECTS, LabelledPicture, View
from benchmarks.parts.picture_changes import with_effect as changed_by
from benchmarks.parts.picture_sets import PictureFolder
from benchmarks.scene.processing import banded, garbled, hazed, low_rate_video, night_mode
from simulator.rendering.renderer import Renderer
from simulator.scene.scene import Scene, lens
from simulator.table import standard_setting
from tests.effort import some
from vision.frame import Image
from vision.geometry import CameraModel, Pose
from vision.sampling import linear_light

SETTING = standard_setting(lens((640, 480)))


def seen_by_nobody() -> tuple[CameraModel, Pose]:
    raise AssertionError("this change needs no geometry")


def with_effect(name: str, image: Image, view: View = seen_by_nobody) -> Image:
    return changed_by(name, LabelledPicture(image, view, SETTING.layout))


@pytest.fixture(scope="module")
def squares() -> Image:
    """A grey picture with a darker square that has sharp edges."""
    image = np.full((60, 80, 3), 170, dtype=np.uint8)
    image[20:40, 30:50] = 80
    return image


@pytest.fixture(scope="module")
def coloured() -> Image:
    """A plain picture of a pale orange."""
    return np.full((60, 80, 3), (120, 150, 200), dtype=np.uint8)


@pytest.fixture(scope="module")
def table() -> Image:
    return Renderer(1).render(Scene(SETTING), 1)


@pytest.mark.parametrize("name", some(EFFECTS, 20))
def test_an_effect_changes_a_picture_the_same_way_each_time(name: str, table: Image) -> None:
    first, again = (with_effect(name, table, lambda: (SETTING.camera, SETTING.pose)) for _ in range(2))
    assert first.shape == table.shape
    assert first.dtype == np.uint8
    assert np.abs(first.astype(float) - table).mean() > 0.05
    assert np.array_equal(first, again)


def test_a_hardship_can_be_drawn_at_any_level_or_named_with_one() -> None:
    for name, levels in CHANGES.items():
        assert {name, *(f"{name}: {level}" for level in levels)} <= EFFECTS.keys()


def test_bands_run_along_rows_and_haze_takes_contrast() -> None:
    grey = np.full((200, 30, 3), 0.4, dtype=np.float32)
    rows = banded(grey, 0.2, 0.0, 2.0)
    np.testing.assert_array_equal(np.ptp(rows, axis=1), 0.0)
    assert rows[:, 0, 0].max() == pytest.approx(0.48, abs=1e-3)
    assert rows[:, 0, 0].min() == pytest.approx(0.32, abs=1e-3)
    assert rows.mean() == pytest.approx(0.4, abs=1e-3)
    np.testing.assert_allclose(hazed(grey, 0.25, 0.8), 0.25 * 0.4 + 0.75 * 0.8, rtol=1e-5)


def test_video_at_a_low_rate_loses_what_is_faint_and_shows_what_was_there_before(squares: Image) -> None:
    blank, faint = np.full_like(squares, 170), np.full_like(squares, 170)
    faint[:, ::2] = 166
    assert np.ptp(low_rate_video(faint, 40.0).astype(int)) < 4
    assert np.ptp(low_rate_video(squares, 40.0).astype(int)) > 60
    before = low_rate_video(squares, 40.0)
    assert np.abs(low_rate_video(squares, 40.0, before).astype(int) - before).max() < 12
    gone = low_rate_video(blank, 40.0, before)
    assert np.abs(gone.astype(int) - 170).max() < 40


def test_night_mode_smooths_faint_edges_away(squares: Image) -> None:
    faint = np.full_like(squares, 170)
    faint[20:40, 30:50] = 150
    dark = night_mode(faint, np.random.default_rng(1), 0.01)
    assert steepest(dark) < steepest(faint)
    assert dark.mean() > 60


def test_a_broken_stream_keeps_what_came_before_the_loss(table: Image) -> None:
    torn = garbled(table, np.random.default_rng(4))
    differs = np.abs(torn.astype(int) - table).max(axis=(1, 2)) > 60
    assert torn.shape == table.shape
    assert not differs[: len(differs) // 8].any()
    assert differs[-len(differs) // 4 :].any()


def test_a_mirror_image_is_turned_over_left_to_right(squares: Image) -> None:
    mirrored = with_effect("orientation: mirrored", squares).astype(int)
    assert np.abs(mirrored - squares[:, ::-1]).max() < 40
    assert np.abs(mirrored - squares[:, ::-1]).mean() < 2


def steepest(image: Image) -> float:
    return float(np.abs(np.diff(image[30].astype(float).mean(axis=1))).max())


def test_each_effect_does_what_its_name_says(squares: Image) -> None:
    blue, _, red = cv2.split(with_effect("warm", squares).astype(float))
    assert red.mean() > blue.mean() + 20
    assert with_effect("dim", squares).mean() < 0.7 * squares.mean()
    assert with_effect("dim", squares)[:15, :25].std() > 2
    assert (
        steepest(with_effect("soft", squares))
        < 0.7 * steepest(squares)
        < 0.7 * steepest(with_effect("sharpened", squares))
    )
    shaken = with_effect("shaken", squares).astype(float)
    assert shaken.mean() == pytest.approx(squares.mean(), abs=1)
    assert cv2.Laplacian(shaken, cv2.CV_64F).std() < 0.7 * cv2.Laplacian(squares.astype(float), cv2.CV_64F).std()


def test_exposure_scales_light_and_not_levels(squares: Image) -> None:
    before = float(np.median(linear_light(squares)))
    assert float(np.median(linear_light(with_effect("bright", squares)))) == pytest.approx(1.6 * before, rel=0.05)
    dark = linear_light(with_effect("night", squares))
    assert float(dark.mean()) < 0.25 * before
    assert float(dark[:15, :25].std()) > 0


def test_a_shadow_takes_half_the_light_behind_hard_edges_and_leaves_the_rest() -> None:
    blank = np.full((180, 240, 3), 170, dtype=np.uint8)
    for number in range(10):
        blank[0, 0] = number  # another picture, so another shadow
        share = linear_light(with_effect("shadow", blank))[2:, 2:].mean(axis=2) / linear_light(blank)[90, 120, 0]
        halved, left = np.abs(share - 0.5) < 0.05, np.abs(share - 1) < 0.05
        assert halved.mean() > 0.1
        assert left.mean() > 0.1
        assert (halved | left).mean() > 0.95


def test_colours_shift_or_grow_stronger_or_weaker(coloured: Image) -> None:
    plain = np.ptp(coloured[0, 0].astype(float))
    blue, green, red = with_effect("cool", coloured).astype(float).mean(axis=(0, 1)) / coloured[0, 0]
    assert blue > 1.1 > green > 0.95
    assert red < 0.9
    for name, factor in (("vivid", 1.5), ("pale", 0.6)):
        changed = with_effect(name, coloured).astype(float)
        assert np.ptp(changed.mean(axis=(0, 1))) == pytest.approx(factor * plain, rel=0.05)


@pytest.mark.parametrize(("name", "is_taught"), [("shadow", False), ("night", False), ("warm", True)])
def test_enrolment_pictures_have_a_cameras_effects_but_not_other_light(
    name: str, is_taught: bool, squares: Image, tmp_path: Path
) -> None:
    layout = files("vision.layout") / "games" / "diaballik.json"
    (tmp_path / "layout.json").write_text(layout.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "index.json").write_text("{}", encoding="utf-8")
    calibration = tmp_path / "calibration"
    calibration.mkdir()
    board = {"squares": [5, 7], "square_mm": 30, "marker_mm": 20, "dictionary": "DICT_4X4_50"}
    (calibration / "layout.json").write_text(json.dumps(board), encoding="utf-8")
    for file in ("000.png", "enrol.png"):
        cv2.imwrite(str(tmp_path / file), squares)
    folder = PictureFolder(tmp_path, calibration, name)
    assert not np.array_equal(folder.image(tmp_path / "000.png"), squares)
    assert np.array_equal(folder.image(tmp_path / "enrol.png"), squares) is not is_taught
