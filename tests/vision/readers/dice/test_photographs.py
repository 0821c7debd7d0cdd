"""Dice in photographs of which nothing is known."""

from typing import Any

import cv2
import numpy as np
import pytest

from simulator.scene.dice_variety import tray_of_six
from vision.errors import FrameError
from vision.readers.dice.drawing import draw_dice
from vision.readers.dice.networks import shipped
from vision.readers.dice.photographs import DieInPicture, read_photograph


@pytest.mark.parametrize("scale", [1.0, 2.5])
def test_six_dice_of_any_size(scale: float) -> None:
    made = tray_of_six(8.0)
    part = made.image[160:560, 420:860]
    image = np.asarray(cv2.resize(part, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC), dtype=np.uint8)
    seen = read_photograph(image, shipped())
    assert sorted(str(die.value) for die in seen) == ["1", "2", "3", "4", "5", "6"]
    for die in seen:
        left, top, right, bottom = die.box
        assert 20 * scale < right - left < 80 * scale
        assert bottom - top == pytest.approx(right - left, abs=0.3)
        assert 0.4 < die.probability <= 1.0


class MoonsOrSuns:
    """Learned faces, of which a moon is always likelier."""

    def probabilities(self, square: object) -> dict[str, float]:
        return {"sun": 0.3, "moon": 0.7}


def test_dice_are_read_by_learned_faces() -> None:
    faces: Any = MoonsOrSuns()
    seen = read_photograph(tray_of_six(8.0).image[160:560, 420:860], shipped(), faces=faces)
    assert [die.value for die in seen] == ["moon"] * 6
    assert all(0.35 < die.probability <= 0.7 for die in seen)


def test_a_picture_without_dice_has_none() -> None:
    assert read_photograph(np.full((300, 400, 3), 128, dtype=np.uint8), shipped()) == ()


def test_a_picture_that_is_too_small_is_refused() -> None:
    with pytest.raises(FrameError, match=r"small\.png is 40 x 30 pixels; dice need at least 48 x 48"):
        read_photograph(np.zeros((30, 40, 3), dtype=np.uint8), shipped(), "small.png")


def test_values_are_written_beside_dice_and_that_one_leans(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    monkeypatch.setattr(cv2, "putText", lambda _, text, *rest: written.append(text))
    box = (20.0, 20.0, 60.0, 60.0)
    dice = [DieInPicture(box, 4, 0.99), DieInPicture(box, "moon", 0.5), DieInPicture(box, None, 0.8)]
    draw_dice(np.zeros((200, 200, 3), dtype=np.uint8), dice)
    assert written == ["4 99%", "moon 50%", "leans"]


def test_what_was_read_is_drawn() -> None:
    picture = np.full((200, 200, 3), 90, dtype=np.uint8)
    dice = [DieInPicture((20.0, 20.0, 60.0, 60.0), 4, 0.99), DieInPicture((100.0, 100.0, 140.0, 140.0), None, 0.8)]
    drawn = draw_dice(picture, dice)
    assert (picture == 90).all()
    assert (drawn[20, 40] != 90).any()
    assert drawn[100, 120, 2] > drawn[100, 120, 1]
