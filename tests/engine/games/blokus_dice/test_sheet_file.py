"""A sheet of one's own: drawn as it is printed, and marked as it is played on."""

from __future__ import annotations

from engine.games.blokus_dice.sheet_file import marked_sheets, sheet_drawn
from tests.engine.games.blokus_dice.strategies import GAME

ONE_STRIKE = "sheet=6x5/1/c3/1,2/I3/V3/I4,L4/L5/O4"
NO_STRIKES = "sheet=6x5/0/-/1,2/I3/V3/I4,L4/L5/O4"
DRAWN = """\
 5 . . . . . .
 4 . . . . . .
 3 . . # . . .
 2 . . . . . .
 1 . . . . . .
   a b c d e f

1: 1     2
   ■     ■
         ■

2: I3
   ■
   ■
   ■

3: V3
   ■
   ■■

4: I4    L4
   ■     ■
   ■     ■
   ■     ■■
   ■

5: L5
   ■
   ■
   ■
   ■■

6: O4
   ■■
   ■■

8 shapes, 26 squares; 29 to fill; 1 strike"""


def playing(sheet: str, first: str = "-:0"):
    second = "6/6/6/6/bbb3:0" if first != "-:0" else first
    return GAME.notation.parse_state(f"p1 dice=1,5 p1={first} p2={second} {sheet}")


def test_a_sheet_is_drawn_with_its_squares_shapes_and_strikes() -> None:
    assert sheet_drawn(playing(ONE_STRIKE).options.sheet) == DRAWN


def test_a_title_stands_above_the_sheet() -> None:
    text = GAME.sheet_file.text()
    title, empty, *drawn = GAME.sheet_file.draw(text).split("\n")
    assert (title, empty) == ("house", "")
    assert GAME.sheet_file.draw(text.replace('"house"', '""')).split("\n") == drawn


def test_shapes_that_are_used_and_strikes_are_crossed_off() -> None:
    sheets = marked_sheets(playing(ONE_STRIKE, "6/6/6/6/rrr3:1"))
    unused = (("", ""), ("",), ("",), ("", ""), ("",), ("",), ("",))
    assert sheets["p1"].boxes == (*unused[:1], ("x",), *unused[2:6], ("x",))
    assert sheets["p2"].boxes == (*unused[:1], ("x",), *unused[2:])
    assert sheets["p1"].printed.closed == ("c3",)


def test_where_there_are_no_strikes_none_are_printed() -> None:
    sheet = marked_sheets(playing(NO_STRIKES))["p1"]
    assert len(sheet.boxes) == 6
    assert [group.title for group in sheet.printed.groups] == ["1", "2", "3", "4", "5", "6"]
    assert "Strikes" in [group.title for group in marked_sheets(playing(ONE_STRIKE))["p1"].printed.groups]
