"""Simulations of other cameras and other light."""

import json
from importlib.resources import files
from pathlib import Path

import cv2
import numpy as np
import pytest

from benchmarks.parts.camera_effects import EFFECTS, with_effect
from benchmarks.parts.picture_sets import PictureFolder
from vision.frame import Image
from vision.sampling import linear_light


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


@pytest.mark.parametrize("name", EFFECTS)
def test_an_effect_changes_a_picture_the_same_way_each_time(name: str, squares: Image, coloured: Image) -> None:
    picture = np.concatenate([squares, coloured])
    changed = with_effect(name, picture)
    assert changed.shape == picture.shape
    assert changed.dtype == np.uint8
    assert np.abs(changed.astype(float) - picture).mean() > 0.5
    assert np.array_equal(changed, with_effect(name, picture))


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
