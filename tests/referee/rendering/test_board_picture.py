"""The board, drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.registry import games, load
from engine.support.looks import Look
from hardware.grid import PlaceGrid
from hardware.lights.signals import Light, LightRole, Mood, Signal
from referee.rendering.board_picture import beside_camera, board_picture
from referee.settings.table_layout import grid_of_table
from vision.layout.table import default_layout

GRID = PlaceGrid.of_squares(7, 7)


def test_looks_are_taken_apart() -> None:
    assert Look.parse("empty") is None
    piece = Look.parse("teal block, hoops up")
    assert piece is not None
    assert (piece.colour, piece.mark) == ("teal", "hoops")
    other = Look.parse("ball")
    assert other is not None
    assert (other.colour, other.mark) == ("ball", "")


@pytest.mark.parametrize("name", games())
def test_every_piece_looks_different_in_the_picture(name: str) -> None:
    looks = load(name).looks
    pictures = {board_picture({"d4": look}, GRID, square_px=48).tobytes() for look in looks}
    assert len(pictures) == len(looks)


def test_a_light_shows_on_its_square_alone() -> None:
    bare = board_picture({}, GRID, square_px=48)
    lit = board_picture({}, GRID, [Light.for_role("d4", LightRole.FAULT)], square_px=48)
    assert lit.shape == bare.shape
    rows, columns = np.nonzero((lit != bare).any(axis=2))
    assert (rows.min() // 48, rows.max() // 48) == (3, 3)
    assert ((columns.min() - 24) // 48, (columns.max() - 24) // 48) == (3, 3)


def test_the_film_has_both_side_by_side(deblockle: Any) -> None:
    camera = np.full((720, 1280, 3), 77, dtype=np.uint8)
    start = deblockle.table.appearance(deblockle.rules.new())
    signal = Signal(Mood.FAULT, (Light.for_role("c1", LightRole.FAULT),), words="Put the gold block back on c1. " * 6)
    picture = beside_camera(camera, start, GRID, signal)
    assert picture.shape[0] == 540
    assert (picture[30:, :960] == 77).all()
    assert (picture[:30] < 255).any(), "a heading tells which side is which"
    other = beside_camera(camera, start, GRID, Signal(Mood.ACCEPTED, words="Fine."))
    assert picture.shape == other.shape


def test_goals_have_a_star() -> None:
    bare = board_picture({}, GRID, square_px=48)
    starred = board_picture({}, GRID, square_px=48, goals={"d2"})
    rows, columns = np.nonzero((starred != bare).any(axis=2))
    assert (rows.min() // 48, rows.max() // 48) == (5, 5)
    assert ((columns.min() - 24) // 48, (columns.max() - 24) // 48) == (3, 3)


def test_what_is_written_on_sheets_is_drawn() -> None:
    grid = grid_of_table(default_layout("number-drop").with_sheets(2))
    looks = {"p1.a1": "digit 7", "p2.b2": "digit 4 circled", "p2.g14": "cross"}
    drawn = board_picture(looks, grid, square_px=24)
    assert drawn.shape[1] > 14 * 24
    assert not (drawn == board_picture({}, grid, square_px=24)).all()
