"""Dice and their values, drawn for a person to check."""

from dataclasses import replace
from typing import Any

import cv2
import numpy as np
import pytest

from benchmarks.scene.dice_variety import tray_layout
from simulator.scene.scene import lens, looking_at
from vision.geometry import CubeSolid, project
from vision.layout.pieces import DicePieces
from vision.readers.dice.photographs import DieInPicture, draw_dice, draw_roll
from vision.reading import DieReading, RollReading

GREY = np.full((200, 200, 3), 90, dtype=np.uint8)
BOX = (20.0, 50.0, 70.0, 100.0)


def test_values_and_leaning_are_written_beside_dice(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    monkeypatch.setattr(cv2, "putText", lambda _, text, *rest: written.append(text))
    box = (20.0, 20.0, 60.0, 60.0)
    dice = [DieInPicture(box, 4, 0.99), DieInPicture(box, "moon", 0.5), DieInPicture(box, None, 0.8)]
    draw_dice(GREY, dice)
    assert written == ["4 99%", "moon 50%", "leans"]


@pytest.mark.parametrize(
    ("value", "probability", "colour"),
    [(4, 0.95, (60, 200, 0)), (4, 0.85, (0, 170, 255)), ("moon", 0.9, (60, 200, 0)), (None, 0.99, (0, 0, 230))],
)
def test_a_box_is_green_if_certain_orange_if_in_doubt_and_red_if_the_die_leans(
    value: int | str | None, probability: float, colour: tuple[int, int, int]
) -> None:
    drawn = draw_dice(GREY, [DieInPicture(BOX, value, probability)])
    assert (GREY == 90).all()
    for row, column in ((50, 45), (100, 45), (75, 20), (75, 70)):
        assert np.abs(drawn[row, column].astype(int) - colour).max() < 30
    assert (drawn[54:97, 24:67] == 90).all()


@pytest.mark.parametrize(("scale", "thickness"), [(1, 1), (2, 1), (5, 3), (8, 5)])
def test_lines_are_thicker_on_larger_pictures(scale: int, thickness: int) -> None:
    left, top, right, bottom = BOX
    large = np.full((200 * scale, 300 * scale, 3), 90, dtype=np.uint8)
    box = (left * scale, top * scale, right * scale, bottom * scale)
    drawn = draw_dice(large, [DieInPicture(box, 4, 0.99)])
    lower = drawn[round(box[3]) - 10 : round(box[3]) + 10, 45 * scale, 1]
    # The line's green is 200 on a ground of 90, less where it covers half of a pixel.
    assert (lower.astype(int) - 90).sum() / 110 == pytest.approx(thickness, abs=0.6)


@pytest.mark.parametrize("top", [2.0, 50.0])
def test_a_value_stands_above_its_box_and_within_the_picture(top: float) -> None:
    box = (20.0, top, 70.0, top + 50.0)
    one, other = (draw_dice(GREY, [DieInPicture(box, value, 0.99)]) for value in (1, 8))
    rows, columns = np.nonzero((one != other).any(axis=2))
    assert 20 <= columns.min() < columns.max() < 36
    assert rows.max() == pytest.approx(max(top - 3, 10), abs=2)
    assert 9 <= np.ptp(rows) <= 14


@pytest.mark.parametrize(
    ("how", "label"), [({}, "3 95%"), ({"cocked": True}, "leans"), ({"half_hidden": True}, "half hidden")]
)
def test_the_dice_of_a_tray_have_a_box_and_their_value_or_why_they_have_none(
    how: dict[str, Any], label: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    monkeypatch.setattr(cv2, "putText", lambda _, text, *rest: written.append(text))
    surface = replace(tray_layout().surfaces[0], pieces=DicePieces(16.0, 16.0))
    camera, pose = lens(), looking_at(560.0, 20.0)
    roll = RollReading("tray", (DieReading(30.0, -20.0, {"3": 0.95, "4": 0.05}, **how),))
    drawn = draw_roll(np.full((720, 1280, 3), 90, dtype=np.uint8), roll, surface, camera, pose)
    rows, columns = np.nonzero((drawn == ((0, 0, 230) if how else (60, 200, 0))).all(axis=2))
    corners = project(camera, pose, CubeSolid(30.0, -20.0, surface.height_mm, 16.0).corners_mm())
    left, upper, right, lower = columns.min(), rows.max(), columns.max(), rows.min()
    assert left < corners[:, 0].min() < corners[:, 0].max() < right
    assert right - left < 1.6 * np.ptp(corners[:, 0])
    assert (lower + upper) / 2 == pytest.approx(corners[:, 1].mean(), abs=0.3 * np.ptp(corners[:, 1]))
    assert (left + right) / 2 == pytest.approx(corners[:, 0].mean(), abs=0.3 * np.ptp(corners[:, 0]))
    assert written == [label]
