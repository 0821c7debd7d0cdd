"""The camera's picture with what is read and hidden drawn over it."""

from __future__ import annotations

import numpy as np

from referee.rendering.overlay import Overlay
from simulator.play.game import GameOptions
from simulator.scene.viewpoint import lens
from simulator.table import VirtualTable, standard_setting
from vision.frame import Frame
from vision.reading import Hindrance, HindranceKind, PlaceReading, Reading


def test_what_is_read_and_what_is_hidden_is_drawn_where_it_is() -> None:
    table = VirtualTable(5, GameOptions(turns=1), setting=standard_setting(lens((640, 360))), fps=6.0)
    frame = next(iter(table.frames()))
    before = frame.image.copy()
    readings: list[Reading | None] = [None]
    overlay = Overlay(table.calibration(), table.setting.layout, reading=lambda: readings[0])
    located = overlay(frame)
    assert located is not None
    assert not np.array_equal(located, frame.image)
    hand = Hindrance(HindranceKind.HAND, "a hand is over g7", ("g7",))
    readings[0] = Reading(0, 0.0, {"a1": PlaceReading({"gold block, star up": 1.0})}, (hand,))
    drawn = overlay(frame)
    assert drawn is not None
    changed = np.argwhere((drawn != located).any(axis=2))
    assert changed[:, 0].min() < 180 < changed[:, 0].max(), "far and near, at g7 and at a1"
    assert np.array_equal(frame.image, before), "the frame itself is the referee's"


def test_without_a_table_nothing_is_drawn() -> None:
    table = VirtualTable(5, GameOptions(turns=1), setting=standard_setting(lens((640, 360))), fps=6.0)
    overlay = Overlay(table.calibration(), table.setting.layout)
    assert overlay(Frame(np.zeros((360, 640, 3), np.uint8), 0.0, 0)) is None
