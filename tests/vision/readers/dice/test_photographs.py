"""Dice in photographs without a known camera or layout."""

from typing import Any

import cv2
import numpy as np
import pytest

from benchmarks.scene.dice_variety import tray_of_six
from vision.errors import FrameError
from vision.frame import Image
from vision.readers.dice import photographs
from vision.readers.dice.finding import CLASSES, FoundDie, shipped
from vision.readers.dice.photographs import read_photograph


@pytest.fixture(scope="module")
def six() -> Image:
    """A picture of six dice."""
    return tray_of_six(8.0).image[160:560, 420:860]


@pytest.mark.parametrize("scale", [1.0, 2.5])
def test_six_dice_of_any_size_are_read(six: Image, scale: float) -> None:
    image = np.asarray(cv2.resize(six, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC), dtype=np.uint8)
    seen = read_photograph(image, shipped())
    assert sorted(str(die.value) for die in seen) == ["1", "2", "3", "4", "5", "6"]
    for die in seen:
        left, top, right, bottom = die.box
        assert 20 * scale < right - left < 80 * scale
        assert bottom - top == pytest.approx(right - left, abs=0.3)
        assert 0.4 < die.probability <= 1.0


class MoonsOrSuns:
    """Fake learned faces: always more likely a moon than a sun."""

    def probabilities(self, square: object) -> dict[str, float]:
        return {"sun": 0.3, "moon": 0.7}


def test_dice_are_read_by_learned_faces(six: Image) -> None:
    faces: Any = MoonsOrSuns()
    seen = read_photograph(six, shipped(), faces=faces)
    assert [die.value for die in seen] == ["moon"] * 6
    assert all(0.35 < die.probability <= 0.7 for die in seen)


def test_a_picture_without_dice_has_none() -> None:
    assert read_photograph(np.full((300, 400, 3), 128, dtype=np.uint8), shipped()) == ()


def test_a_picture_that_is_too_small_is_refused() -> None:
    with pytest.raises(FrameError, match=r"small\.png is 40 x 30 pixels; dice need at least 48 x 48"):
        read_photograph(np.zeros((30, 40, 3), dtype=np.uint8), shipped(), "small.png")


def test_a_large_photograph_is_reduced_and_its_boxes_are_in_its_own_pixels(six: Image) -> None:
    large = np.asarray(cv2.resize(six, None, fx=4, fy=4, interpolation=cv2.INTER_CUBIC), dtype=np.uint8)
    boxes = [np.array(die.box) for die in read_photograph(large, shipped())]
    for die, four in zip(read_photograph(six, shipped()), boxes, strict=True):
        assert four / 4 == pytest.approx(np.array(die.box), abs=4.0)


PLACE_PX = (100.0, 80.0)


def found(side_px: float, heat: float = 0.9, place_px: tuple[float, float] = PLACE_PX, **chances: float) -> FoundDie:
    """A die that was found, with these probabilities of values (as ``_3``) and of the other classes."""
    named = {name.removeprefix("_"): chance for name, chance in chances.items()}
    probabilities = np.array([named.get(name, 0.0) for name in CLASSES], dtype=np.float32)
    return FoundDie(*place_px, side_px, heat, probabilities, np.zeros((4, 4, 3), dtype=np.uint8))


def read_found(monkeypatch: pytest.MonkeyPatch, *dice: FoundDie) -> list[tuple[float, int | str | None, float]]:
    """Width, value and probability of each die of a photograph in which these were found."""
    monkeypatch.setattr(photographs, "find_dice", lambda *_: dice)
    seen = read_photograph(np.zeros((200, 300, 3), dtype=np.uint8), shipped())
    assert all(end == round(end, 1) for die in seen for end in die.box)
    return [(die.box[2] - die.box[0], die.value, die.probability) for die in seen]


def test_dice_from_ten_pixels_to_almost_half_of_the_picture_are_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[float, float]] = []

    def find(_image: object, _networks: object, sides: tuple[float, float], *_: object) -> tuple[FoundDie, ...]:
        asked.append(sides)
        return ()

    monkeypatch.setattr(photographs, "find_dice", find)
    read_photograph(np.zeros((200, 300, 3), dtype=np.uint8), shipped())
    read_photograph(np.zeros((1600, 3200, 3), dtype=np.uint8), shipped())
    assert np.array(asked) == pytest.approx(np.array([(10.0, 90.0), (10.0, 0.45 * 800)]))


@pytest.mark.parametrize(
    ("side_px", "heat", "count"),
    [(20 / 1.7, 0.3, 2), (20 / 1.9, 0.3, 1), (20 / 1.9, 0.5, 2), (20 * 1.7, 0.3, 2), (20 * 1.9, 0.3, 1)],
)
def test_a_weak_die_of_another_size_is_dropped(
    monkeypatch: pytest.MonkeyPatch, side_px: float, heat: float, count: int
) -> None:
    assert len(read_found(monkeypatch, found(20.0, _3=1.0), found(side_px, heat, _3=1.0))) == count


@pytest.mark.parametrize(
    ("place_px", "box"),
    [
        ((100.0, 80.0), (70.4, 50.4, 129.6, 109.6)),
        ((10.0, 195.0), (0, 165.4, 39.6, 200)),
        ((295.0, 5.0), (265.4, 0, 300, 34.6)),
    ],
)
def test_a_box_holds_the_die_within_the_picture(
    monkeypatch: pytest.MonkeyPatch, place_px: tuple[float, float], box: tuple[float, ...]
) -> None:
    monkeypatch.setattr(photographs, "find_dice", lambda *_: [found(40.0, place_px=place_px, _3=1.0)])
    (seen,) = read_photograph(np.zeros((200, 300, 3), dtype=np.uint8), shipped())
    assert seen.box == pytest.approx(box)


def test_sizes_are_averaged_over_clearly_seen_dice(monkeypatch: pytest.MonkeyPatch) -> None:
    widths = [width for width, _, _ in read_found(monkeypatch, *(found(side, _3=1.0) for side in (16.0, 20.0, 25.0)))]
    assert sorted(widths) == pytest.approx([1.48 * (side * 20) ** 0.5 for side in (16.0, 20.0, 25.0)], abs=0.11)
    weak = [width for width, _, _ in read_found(monkeypatch, *(found(side, 0.3, _3=1.0) for side in (16.0, 25.0)))]
    assert sorted(weak) == pytest.approx([1.48 * 16, 1.48 * 25], abs=0.11)


def test_the_probability_of_a_value_includes_that_of_a_flat_die(monkeypatch: pytest.MonkeyPatch) -> None:
    ((_, value, probability),) = read_found(monkeypatch, found(20.0, _3=0.5, _4=0.1, cocked=0.2, nothing=0.2))
    assert value == 3
    assert probability == pytest.approx(0.8 * 0.75 * 0.5 / 0.6, abs=1e-3)
    ((_, value, probability),) = read_found(monkeypatch, found(20.0, _3=0.2, cocked=0.6, nothing=0.2))
    assert value is None
    assert probability == pytest.approx(0.6, abs=1e-3)
    ((_, value, _),) = read_found(monkeypatch, found(20.0, _3=0.5, cocked=0.5))
    assert value == 3
