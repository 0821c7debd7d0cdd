"""States, turns and sheets as text, strict to write, lenient to read; an owner's own sheet, read from a file."""

import random
import re

import pytest

from engine.errors import EngineError, IllegalTurnError, UnreadableError
from engine.games.blokus_dice.table import marked_sheets
from tests.engine.games.blokus_dice import oracle
from tests.engine.games.blokus_dice.strategies import GAME
from tests.engine.whole_games import scores_of
from tests.present import present

START = "p1 starter=p1 markers=red,blue,yellow,green dice=- p1=-:0 p2=-:0 p3=-:0 p4=-:0"
# p1 has drawn the domino, then p2 is to draw; of four dice three are left.
ONE_DRAWN = START.replace("p1 ", "p2 ", 1).replace("dice=-", "dice=2,3,4").replace("p1=-", f"p1={'10/' * 9}rr8")


def test_the_start_is_written_in_strict_text():
    assert GAME.notation.format_state(GAME.rules.new()) == START
    assert GAME.notation.parse_state("") == GAME.notation.parse_state("p1") == GAME.rules.new()
    assert GAME.notation.parse_state("players=2 standby=follows_start_player") == GAME.rules.new(
        {"players": 2, "standby": "follows_start_player"}
    )
    assert GAME.notation.parse_state("P1 dice=- markers=r,b,y,g p2=-  p1=-:0") == GAME.rules.new({"players": 2})
    assert GAME.notation.parse_state("p1 sheet=HOUSE") == GAME.rules.new()
    assert GAME.notation.parse_state(ONE_DRAWN).dice == (2, 3, 4)


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("p5", 1, "expected NAME=VALUE"),
        ("p1 p2", 4, "only one of p1, p2, p3, p4, over"),
        ("p3 p1=-:0 p2=-:0", 1, "expected one of p1, p2"),
        ("p1 starter=p9", 12, "expected one of p1, p2, p3, p4"),
        ("p1 dice=1,2,3,7", 9, "one to four dice"),
        ("p1 dice=", 4, "expected NAME=VALUE"),
        ("p1 dice=1,2,3,4 dice=1", 17, "dice with one value"),
        ("p1 markers=red,blue,yellow", 12, "each of red, blue, yellow, green once"),
        ("p1 markers=red,blue,yellow,yellow", 12, "each of red, blue, yellow, green once"),
        ("p1 markers=red,blue,yellow,pink", 12, "each of red, blue, yellow, green once"),
        ("p1 p1=-:0", 7, "two, three or four players"),
        ("p1 p1=-:0 p3=-:0", 14, "two, three or four players"),
        ("p1 p1=-:0 p2=-:0 players=3", 26, "2, which is how many"),
        ("p1 players=7", 4, "takes one of 2, 3, 4"),
        ("p1 colour=red", 4, "there is no option 'colour'"),
        ("p1 sheet=3x3", 4, "cannot read '3x3' as a sheet"),
        ("p1 p1=-:x p2=-:0", 7, "a sheet such as"),
        ("p1 p1=-:0:gone p2=-:0", 7, "a sheet such as"),
        ("p1 p1=10/10:0 p2=-:0", 7, "10 rows separated by '/', not 2"),
        (f"p1 p1={'10/' * 9}9:0 p2=-:0", 34, "10 squares of row 1"),
        (f"p1 p1={'10/' * 4}5q4/{'10/' * 4}10:0 p2=-:0", 19, "10 squares of row 6"),
        ("p1 p1=5/5/5/5/r4:0 p2=-:0 sheet=5x5/3/a1/1/2/I3/V3/I4/L4", 15, "a1 empty: it is closed"),
    ],
)
def test_an_unreadable_state_names_its_column(text, column, message):
    with pytest.raises(UnreadableError, match=re.escape(message)) as raised:
        GAME.notation.parse_state(text)
    assert raised.value.column == column


SMALL = "sheet=5x5/3/-/1,2/I3/V3/I4/L4/O4"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("over", "can still play"),
        ("over p1=-:0:resigned p2=-:0:resigned", "everyone has resigned"),
        ("p1 p1=-:0:out p2=-:0", "p1 is to move but is out"),
        ("p2 starter=p1", "p1 starts the round, so p1 rolls, not p2"),
        ("p1 dice=1,2,3", "dice on the table: 3; players still to take one in this round: 4"),
        ("p1 dice=1,2,3 p1=-:0 p2=-:0", "dice on the table: 3; players still to take one in this round: 2"),
        ("p1 p1=-:1 p2=-:0", "p1 has crossed out 1 strike; expected 0 at most"),
        (
            f"p2 starter=p1 dice=2 p1=5/5/5/5/1r3:0 p2=-:0 {SMALL}",
            "hang together by their corners from one in a corner",
        ),
        (f"p1 p1=r4/5/5/5/r4:0 p2=-:0 {SMALL}", "drawn 1 twice"),
        (f"p1 p1=rr3/5/5/5/r4:0 p2=-:0 {SMALL}", "hang together"),
        (f"p1 p1=rrrrr/5/5/5/5:0 p2=-:0 {SMALL}", "are no shape of the sheet"),
        (f"p1 p1=rrrrr/rrrrr/5/5/5:0 p2=-:0 {SMALL}", "are no shape of the sheet"),
    ],
)
def test_an_impossible_position_names_the_broken_invariant(text, message):
    with pytest.raises(UnreadableError, match=re.escape(message)):
        GAME.notation.parse_state(text)


def test_a_colour_can_reach_a_second_corner():
    text = f"p1 p1=5/5/5/2rrr/rr2r:0 p2=5/5/5/2bbb/bb2b:0 {SMALL}"
    assert scores_of(GAME, GAME.notation.parse_state(text)) == {"p1": 6, "p2": 6}
    apart = text.replace("2rrr/rr2r", "5/rr2r").replace("2bbb/bb2b", "5/bb2b")
    with pytest.raises(UnreadableError, match="hang together"):
        GAME.notation.parse_state(apart)


TURNS = "p1 dice=1,2,3,4"


@pytest.mark.parametrize(
    ("text", "strict"),
    [
        ("1:V3:a1,a2,b1", "1:V3:a1,b1,a2"),
        ("v3 a1 a2 b1", "1:V3:a1,b1,a2"),
        ("a1,a2,b1", "1:V3:a1,b1,a2"),
        ("p1 a1 a2 b1", "1:V3:a1,b1,a2"),
        ("p1.a1 p1.a2 p1.b1", "1:V3:a1,b1,a2"),
        ("a1a2b1", "1:V3:a1,b1,a2"),
        ("V3a1a2b1", "1:V3:a1,b1,a2"),
        ("1 1 a1", "1:1:a1"),
        ("a1", "1:1:a1"),
        ("2 a1 !", "2:1:a1:strike"),
        ("3:I5:a1,b1,c1,d1,e1", "3:I5:a1,b1,c1,d1,e1"),
        ("i5 a1 b1 c1 d1 e1", "3:I5:a1,b1,c1,d1,e1"),
        ("4 strike F5 a1 a2 a3 b2 b1", None),
        ("j5 i4 i5 j4 j3", None),
    ],
)
def test_turns_are_read_leniently(text, strict):
    state = GAME.notation.parse_state(TURNS)
    if strict is None:
        with pytest.raises(IllegalTurnError):
            GAME.notation.parse_turn(state, text)
    else:
        assert GAME.notation.format_turn(GAME.notation.parse_turn(state, text)) == strict


def test_a_list_of_squares_can_begin_with_a_square_named_like_a_shape():
    state = GAME.notation.parse_state(
        "p1 dice=1,1 sheet=5x5/3/-/1,F5/I3,L4/V3/I4/L5/O4 p1=-:0 p2=-:0".replace("5x5", "6x5")
    )
    # f5 is a corner of this sheet and F5 a shape of it.
    assert GAME.notation.format_turn(GAME.notation.parse_turn(state, "f5")) == "1:1:f5"
    assert GAME.notation.parse_turn(state, "1 f5 f4 f3 !").shape == "I3"
    assert GAME.notation.parse_turn(state, "f5 a1 b1 b2 b3 c2").shape == "F5"


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("", 1),
        ("1:V3", 1),
        ("1:V3:a1,a1,b1", 9),
        ("1:V3:a1,k1,b1", 9),
        ("1:V3:a1,a2,?", 12),
        ("p2.a1 p2.a2", 1),
        ("7:V3:a1,a2,b1", 1),
        ("1:V3:a1,a2,b1:strike:strike", 22),
        ("1:V3:V5:a1", 6),
    ],
)
def test_an_unreadable_turn_names_its_column(text, column):
    with pytest.raises(UnreadableError) as raised:
        GAME.notation.parse_turn(GAME.notation.parse_state(TURNS), text)
    assert raised.value.column == column


def test_the_error_about_an_unknown_square_gives_the_valid_range():
    with pytest.raises(UnreadableError, match="with squares from a1 to j10"):
        GAME.notation.parse_turn(GAME.notation.parse_state(TURNS), "1:V3:a1,k1,b1")


def test_a_turn_must_name_its_die_if_that_is_ambiguous():
    state = GAME.notation.parse_state(TURNS)
    with pytest.raises(EngineError, match=r"fits 3 turns: 2:1:a1:strike, 3:1:a1:strike, 4:1:a1:strike"):
        GAME.notation.parse_turn(state, "a1 strike")
    assert GAME.notation.parse_turn(GAME.notation.parse_state("p1 dice=1,2 players=2"), "a1 strike").die == 2


def test_a_turn_of_an_unknown_player_is_refused():
    with pytest.raises(UnreadableError, match="no player 'p3'"):
        GAME.notation.parse_turn(GAME.notation.parse_state("p1 dice=1,2 players=2"), "a1", "p3")


def test_the_oracles_sheet_is_the_house_sheet():
    assert GAME.rules.new({"sheet": oracle.Paper().text()}) == GAME.rules.new()


ONE_STRIKE = "sheet=6x5/1/c3/1,2/I3/V3/I4,L4/L5/O4"
NO_STRIKES = "sheet=6x5/0/-/1,2/I3/V3/I4,L4/L5/O4"


def playing(sheet: str, first: str = "-:0"):
    second = "6/6/6/6/bbb3:0" if first != "-:0" else first
    return GAME.notation.parse_state(f"p1 dice=1,5 p1={first} p2={second} {sheet}")


def test_used_shapes_and_strikes_are_crossed_off_and_those_that_the_dice_give_are_marked() -> None:
    sheets = marked_sheets(playing(ONE_STRIKE, "6/6/6/6/rrr3:1"))
    unused = ((".", "."), ("",), ("",), ("", ""), (".",), ("",), ("",))
    assert sheets["p1"].boxes == (*unused[:1], ("x",), *unused[2:6], ("x",))
    assert sheets["p2"].boxes == (*unused[:1], ("x",), *unused[2:])
    assert sheets["p1"].printed.closed == ("c3",)
    rolling = GAME.notation.parse_state(f"p1 p1=-:0 p2=-:0 {ONE_STRIKE}")
    assert not any("." in marks for sheet in marked_sheets(rolling).values() for marks in sheet.boxes)


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


@pytest.mark.parametrize(
    "text",
    [
        f"p1 p1=5/5/5/5/r4:0 p2=-:0 {SMALL}",
        f"p2 starter=p1 dice=2 p1=-:0 p2=-:0 {SMALL}",
        f"p1 p1=-:0 p2=5/5/5/5/r4:0:out {SMALL}",
    ],
)
def test_sheets_with_more_shapes_than_turns_can_bring_are_played_on(text):
    state = GAME.notation.parse_state(text)
    rng = random.Random(1)
    for _ in range(40):
        if GAME.rules.outcome(state) is not None:
            break
        if GAME.awaits_roll(state):
            dice = present(GAME.dice)
            state = dice.rolled(state, dice.possible_rolls(state)[-1].roll)
        else:
            turns = GAME.rules.legal_turns(state)
            state = GAME.rules.apply(state, turns[rng.randrange(len(turns))])
    assert GAME.rules.outcome(state) is not None
