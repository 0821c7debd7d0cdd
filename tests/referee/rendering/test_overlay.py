"""The camera's picture with an overlay of readings and hidden places."""

from __future__ import annotations

import numpy as np

from referee.rendering.overlay import Overlay
from simulator.play.game import GameOptions
from simulator.rendering.renderer import Renderer
from simulator.scene.scene import Scene, lens
from simulator.table import VirtualTable, standard_setting
from vision.frame import Frame
from vision.geometry import project
from vision.layout.table import default_layout
from vision.locating.location import locate
from vision.reading import Hindrance, HindranceKind, PlaceReading, Reading


def test_readings_and_hidden_places_are_drawn_at_their_squares() -> None:
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
    assert np.array_equal(frame.image, before), "the frame itself is unchanged"


def test_the_reading_of_every_sheet_is_drawn_on_it() -> None:
    layout = default_layout("number-drop").with_sheets(2)
    setting = standard_setting(lens((960, 540)), layout=layout)
    frame = Frame(Renderer(1).render(Scene(setting, ()), 0), 0.0, 0)
    reading = Reading(0, 0.0, {f"{player}.a1": PlaceReading({"3": 1.0}) for player in ("p1", "p2")})
    plain = Overlay(setting.camera, layout, reading=lambda: None)(frame)
    read = Overlay(setting.camera, layout, reading=lambda: reading)(frame)
    assert plain is not None
    assert read is not None
    for part in layout.parts():
        pose = locate(frame.image, setting.camera, part).pose
        board = part.board
        for picture, before in ((plain, frame.image), (read, plain)):
            left, top = project(setting.camera, pose, [[*board.centre_mm(board.places[0]), board.height_mm]])[0].astype(
                int
            )
            around = np.s_[top - 12 : top + 12, left - 12 : left + 12]
            assert not np.array_equal(picture[around], before[around]), board.name


def test_without_a_table_nothing_is_drawn() -> None:
    table = VirtualTable(5, GameOptions(turns=1), setting=standard_setting(lens((640, 360))), fps=6.0)
    overlay = Overlay(table.calibration(), table.setting.layout)
    assert overlay(Frame(np.zeros((360, 640, 3), np.uint8), 0.0, 0)) is None
