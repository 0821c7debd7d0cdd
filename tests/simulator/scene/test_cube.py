import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.faults.game import place_under
from simulator.scene.cube import (
    COMPASS,
    SIDES,
    axis_of,
    direction,
    faces_of,
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
