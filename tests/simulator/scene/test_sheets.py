import numpy as np
import pytest

from simulator.scene.sheets import extent_mm, lying_sheets, place_mm, place_under
from vision.layout.table import default_layout

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
