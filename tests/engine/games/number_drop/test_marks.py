"""The marks beside the squares of a sheet, as the page draws them."""

from engine.games.number_drop.table import marked_sheets
from tests.engine.games.number_drop.strategies import LETTERED, TILES, state_of
from tests.engine.games.number_drop.test_game import GOLDEN


def test_the_boxes_lines_and_sums_of_the_golden_sheet_are_marked():
    marked = marked_sheets(state_of(f"over p1={GOLDEN} p2=-"))
    assert set(marked) == {"p1", "p2"}
    same, runs, bonus, letters, *sums = marked["p1"].boxes
    assert (same, runs, bonus) == (("x", "x", "x", "x", "x"), ("", "x", "", "x", ""), ("",))
    assert letters == ("", "", "", "", "")
    assert sums == [("45",), ("9",), ("54",)]
    # Lines 2, 4 and 6 to 10 are full, and line 12 has a digit above the Game Over line.
    assert marked["p1"].lines == ("", "o", "", "o", "", "o", "o", "o", "o", "o", "", "o", "", "")
    assert marked["p1"].loops[0] == ("p1.a5", "p1.a6", "p1.b6")
    assert set(marked["p2"].lines) == {""}
    assert marked["p2"].loops == ()


def test_sums_are_left_open_and_letters_circled_while_the_game_goes_on():

    marked = marked_sheets(state_of(f"roll p1={LETTERED} p2=2...... {TILES}"))["p1"]
    assert marked.boxes[3:] == (("o", "", "", "", ""), ("",), ("",), ("",))
