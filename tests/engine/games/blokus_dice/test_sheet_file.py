"""An owner's own sheet: printed, marked during play, and read from a file."""

from __future__ import annotations

import pytest

from engine.errors import UnreadableError
from engine.games.blokus_dice.sheet import draw_sheet
from engine.games.blokus_dice.table import marked_sheets
from tests.engine.games.blokus_dice.strategies import GAME
from tests.present import present

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
    assert draw_sheet(playing(ONE_STRIKE).options.sheet) == DRAWN


def test_a_title_is_printed_above_the_sheet() -> None:
    text = present(GAME.sheet_file).text()
    title, empty, *drawn = present(GAME.sheet_file).draw(text).split("\n")
    assert (title, empty) == ("house", "")
    assert present(GAME.sheet_file).draw(text.replace('"house"', '""')).split("\n") == drawn


def test_used_shapes_and_strikes_are_crossed_off() -> None:
    sheets = marked_sheets(playing(ONE_STRIKE, "6/6/6/6/rrr3:1"))
    unused = (("", ""), ("",), ("",), ("", ""), ("",), ("",), ("",))
    assert sheets["p1"].boxes == (*unused[:1], ("x",), *unused[2:6], ("x",))
    assert sheets["p2"].boxes == (*unused[:1], ("x",), *unused[2:])
    assert sheets["p1"].printed.closed == ("c3",)


def test_a_sheet_without_strikes_prints_none() -> None:
    sheet = marked_sheets(playing(NO_STRIKES))["p1"]
    assert len(sheet.boxes) == 6
    assert [group.title for group in sheet.printed.groups] == ["1", "2", "3", "4", "5", "6"]
    assert "Strikes" in [group.title for group in marked_sheets(playing(ONE_STRIKE))["p1"].printed.groups]


def read_with(*changes: tuple[str, str]):
    """Read the house's sheet file with each of these texts in it replaced."""
    text = present(GAME.sheet_file).text()
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    return GAME.rules.new(present(GAME.sheet_file).read(text)).options.sheet


def test_a_sheet_file_gives_its_size_strikes_closed_squares_and_rows() -> None:
    sheet = read_with(
        ('"10x10"', '"5 X 20"'),
        ("blocked = []", 'blocked = ["A1", " e20 "]'),
        ("strikes = 3", "strikes = 20"),
        ('"W5", "Z5"]', '" w5"]'),
    )
    assert (sheet.columns, sheet.rows, sheet.strikes) == (5, 20, 20)
    assert sheet.closed == 1 | 1 << 99
    assert sheet.shapes_of_row[5] == ("N5", "W5")
    assert read_with(("strikes = 3", "strikes = 0"), ('"10x10"', '"20x5"')).strikes == 0


@pytest.mark.parametrize(
    ("before", "after", "faults"),
    [
        ("size =", "sise =", [(0, "size: is missing"), (7, "sise: is not a key of a sheet")]),
        ("strikes = 3", "", [(0, "strikes: is missing; expected a line such as strikes = 3")]),
        ("blocked = []", "", [(0, "blocked: is missing; expected a line such as blocked = []")]),
        ('"10x10"', '"4x10"', [(7, "size: got '4x10'; expected columns x rows, each from 5 to 20")]),
        ('"10x10"', '"10x21"', [(7, "size: got '10x21'; expected columns x rows, each from 5 to 20")]),
        ('"10x10"', "100", [(7, "size: got 100; expected")]),
        ("strikes = 3", "strikes = 21", [(13, "strikes: got 21; expected a whole number from 0 to 20")]),
        ("strikes = 3", "strikes = -1", [(13, "strikes: got -1; expected")]),
        ("strikes = 3", "strikes = true", [(13, "strikes: got True; expected")]),
        ("blocked = []", "blocked = 1", [(10, "blocked: got 1; expected a list of squares")]),
        ("blocked = []", "blocked = [2]", [(10, "blocked: got 2; expected a square from a1 to j10")]),
        ("blocked = []", 'blocked = ["a1", "A1"]', [(10, "blocked: got 'A1' twice")]),
        ("blocked = []", 'blocked = ["a1", "j1", "a10", "j10"]', [(10, "blocked: got all four corners")]),
        ('title = "house"', "title = 1", [(4, "title: got 1; expected one line of text in quotes")]),
        ('title = "house"', 'title = "a\\nb"', [(4, "title: got 'a\\nb'; expected one line of text in quotes")]),
        ('"X5", "F5"]', '"F5", "F5"]', [(22, "rows.5: got F5 again, which is in row 5")]),
        ('"X5", "F5"]', '"F6", 5]', [(22, "rows.5: got 'F6'; expected one of 1, 2, I3"), (22, "rows.5: got 5;")]),
        ('["T5", "X5", "F5"]', "[]", [(22, "rows.5: got []; expected a list of at least one shape")]),
        ('5 = ["T5", "X5", "F5"]', "", [(0, "rows.5: got nothing; expected a list")]),
        ("6 = [", "7 = [", [(0, "rows.6: got nothing"), (23, "rows.7: is not a number on a die; expected 1 to 6")]),
        ("strikes = 3", "strikes =", [(13, "the file: is not valid TOML")]),
    ],
)
def test_each_fault_of_a_sheet_file_is_reported_with_its_line(before, after, faults):
    with pytest.raises(UnreadableError) as raised:
        read_with((before, after))
    told = str(raised.value).split("\n")
    assert len(told) == len(faults)
    for one, (line, message) in zip(told, faults, strict=True):
        assert one.startswith(f"line {line}, {message}" if line else message)


def test_rows_that_are_no_table_are_reported_once_with_each_missing_row() -> None:
    text = present(GAME.sheet_file).text()
    with pytest.raises(UnreadableError) as raised:
        present(GAME.sheet_file).read("rows = 7\n" + text[: text.index("[rows]")])
    told = str(raised.value).split("\n")
    assert "line 1, rows: got 7; expected a table [rows] with the keys 1 to 6" in told
    assert sum("got nothing" in one for one in told) == 6
