"""Pictures of the board as the referee believes it to be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from common.grid import PlaceGrid
from engine.registry import games, load
from engine.values import EMPTY
from hardware.lights.signals import Light, LightRole, Mood, Signal
from referee.rendering.board_picture import beside_camera, board_picture
from referee.rendering.board_text import DrawnBoard
from referee.settings.table_layout import grid_of_table
from vision.frame import Image
from vision.layout.table import default_layout

GRID = PlaceGrid.of_squares(7, 7)
SQUARE_PX = 48
LEFT_PX = 26
"""The margin for the numbers of rows."""


def squares(looks: Mapping[str, str] = {}, **more: Any) -> DrawnBoard:
    """A board of 7 x 7 squares."""
    return DrawnBoard({**dict.fromkeys(GRID.places, EMPTY), **looks}, **more)


def changed_square(one: Image, other: Image) -> tuple[int, int]:
    """The row and column of the one square in which two pictures differ."""
    rows, columns = np.nonzero((one != other).any(axis=2))
    row, column = rows // SQUARE_PX, (columns - LEFT_PX) // SQUARE_PX
    assert len(set(row)) == len(set(column)) == 1
    return int(row[0]), int(column[0])


@pytest.mark.parametrize("name", games())
def test_every_piece_has_its_own_picture(name: str) -> None:
    looks = load(name).looks
    pictures = {board_picture(squares({"d4": look}), square_px=SQUARE_PX).tobytes() for look in looks}
    assert len(pictures) == len(looks)


def test_a_light_and_a_goal_are_drawn_only_on_their_squares() -> None:
    bare = board_picture(squares(), square_px=SQUARE_PX)
    lit = squares(lights=[Light.for_role("d4", LightRole.FAULT)])
    assert changed_square(board_picture(lit, square_px=SQUARE_PX), bare) == (3, 3)
    assert changed_square(board_picture(squares(goals={"d2": "gold"}), square_px=SQUARE_PX), bare) == (5, 3)


def test_the_film_shows_camera_and_board_side_by_side(deblockle: Any) -> None:
    camera = np.full((720, 1280, 3), 77, dtype=np.uint8)
    lights = (Light.for_role("c1", LightRole.FAULT),)
    board = DrawnBoard.of(deblockle, deblockle.rules.new(), lights)
    picture = beside_camera(camera, board, Signal(Mood.FAULT, lights, words="Put the gold block back on c1. " * 6))
    assert picture.shape[0] == 540
    assert (picture[30:, :960] == 77).all()
    assert (picture[:30] < 255).any(), "a heading names each side"
    other = beside_camera(camera, squares(), Signal(Mood.ACCEPTED, words="Fine."))
    assert picture.shape == other.shape


def test_sheets_are_drawn_side_by_side_with_their_red_lines() -> None:
    empty = dict.fromkeys(grid_of_table(default_layout("number-drop").with_sheets(2)).places, EMPTY)
    looks = {"p1.a1": "digit 7", "p2.b2": "digit 4 circled", "p2.g14": "cross"}
    bare, drawn, lined = (
        board_picture(one, square_px=SQUARE_PX)
        for one in (DrawnBoard(empty), DrawnBoard({**empty, **looks}), DrawnBoard(empty, red_line=11))
    )
    assert bare.shape[1] == 2 * (7 * SQUARE_PX + LEFT_PX)
    rows, columns = np.nonzero((drawn != bare).any(axis=2))
    sheet = columns // (7 * SQUARE_PX + LEFT_PX)
    assert set(zip(rows // SQUARE_PX, sheet, strict=True)) == {(13, 0), (12, 1), (0, 1)}
    rows, columns = np.nonzero((lined != bare).any(axis=2))
    assert {*(rows + 2) // SQUARE_PX} == {3}
    assert len({*columns}) >= 2 * 7 * SQUARE_PX
