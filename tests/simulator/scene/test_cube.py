import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.faults.game import place_under
from simulator.scene.cube import (
    COMPASS,
    OPPOSITE,
    SIDES,
    axis_of,
    direction,
    faces_of,
    net_side,
    placed_faces,
    roll_faces,
    rotate_faces,
    rotation_of,
    tip_rotation,
    turn_rotation,
)
from simulator.scene.pieces import SYMBOLS
from simulator.scene.scene import standard_layout
from simulator.scene.sheets import extent_mm, lying_sheets, place_mm
from vision.layout.pieces import BlockPieces
from vision.layout.table import default_layout

NET = BlockPieces.on(standard_layout().board).net


@st.composite
def lying(draw: st.DrawFn) -> tuple[str, str]:
    up = draw(st.sampled_from(SYMBOLS))
    return up, draw(st.sampled_from([symbol for symbol in SYMBOLS if symbol not in axis_of(NET, up)]))


def shown_by(rotation: np.ndarray) -> dict[str, str]:
    shown = {}
    for face in placed_faces(NET, rotation, np.zeros(3), 30.0):
        side = next(side for side in SIDES if float(direction(side) @ face.normal) > 0.99)
        shown[side] = face.symbol
    return shown


def test_the_net_itself_is_as_printed() -> None:
    assert faces_of(NET, "star", "slider") == dict(NET)


@given(lying())
def test_every_orientation_shows_each_symbol_once(lies: tuple[str, str]) -> None:
    faces = faces_of(NET, *lies)
    assert (faces["up"], faces["north"]) == lies
    assert sorted(faces.values()) == sorted(SYMBOLS)


@given(lying(), st.sampled_from(COMPASS))
def test_rolling_by_names_is_rolling_in_space(lies: tuple[str, str], side: str) -> None:
    rotation = tip_rotation(side, 90.0) @ rotation_of(NET, *lies)
    assert shown_by(rotation) == roll_faces(faces_of(NET, *lies), side)


@given(lying(), st.integers(0, 3))
def test_turning_by_names_is_turning_in_space(lies: tuple[str, str], quarters: int) -> None:
    rotation = turn_rotation(90.0 * quarters) @ rotation_of(NET, *lies)
    assert shown_by(rotation) == rotate_faces(faces_of(NET, *lies), quarters)


@given(lying(), st.sampled_from(COMPASS))
def test_rolling_there_and_back_changes_nothing(lies: tuple[str, str], side: str) -> None:
    faces = faces_of(NET, *lies)
    assert roll_faces(roll_faces(faces, side), OPPOSITE[side]) == faces


@pytest.mark.parametrize(("up", "north"), [("star", "star"), ("star", "stop"), ("x", "cross")])
def test_opposite_symbols_cannot_be_up_and_north(up: str, north: str) -> None:
    with pytest.raises(ValueError, match="adjacent sides"):
        faces_of(NET, up, north)


def test_an_unknown_symbol_is_named() -> None:
    with pytest.raises(ValueError, match="no symbol 'moon'"):
        net_side(NET, "moon")


@given(lying())
def test_corners_run_clockwise_seen_from_outside(lies: tuple[str, str]) -> None:
    for face in placed_faces(NET, rotation_of(NET, *lies), np.array([5.0, 6.0, 7.0]), 30.0):
        top_left, top_right, _, bottom_left = face.corners_mm
        facing = np.cross(top_right - top_left, top_left - bottom_left)
        assert float(facing @ face.normal) > 0


LAYOUT = default_layout("number-drop").with_sheets(4)


def test_every_cell_of_every_sheet_is_found_at_its_centre() -> None:
    for place in LAYOUT.places:
        assert place_under(LAYOUT, *place_mm(LAYOUT, place)) == place


def test_sheets_lie_beside_each_other() -> None:
    sheets = lying_sheets(LAYOUT)
    assert [sheet.surface.prefix for sheet in sheets] == ["p1.", "p2.", "p3.", "p4."]
    for number, sheet in enumerate(sheets):
        corners = sheet.on_table(sheet.half_mm * np.array([[-1, 1], [1, 1], [1, -1], [-1, -1]]))
        for other in sheets[:number]:
            inside = np.abs(other.on_sheet(corners)) < other.half_mm
            assert not inside.all(axis=1).any()
    corners_of_tray = 4
    assert len(extent_mm(LAYOUT)) == 4 * 4 * 4 + corners_of_tray


def test_the_first_sheet_has_the_tables_frame() -> None:
    assert place_mm(LAYOUT, "p1.a1") == pytest.approx(LAYOUT.centre_mm("p1.a1"))


def test_a_table_with_a_board_has_no_sheets() -> None:
    board = default_layout("deblockle")
    assert lying_sheets(board) == ()
    assert place_under(board, *place_mm(board, "c3")) == "c3"
    assert len(extent_mm(board)) == 16
