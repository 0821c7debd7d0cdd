"""Blockade's turns as text."""

import pytest

from engine.errors import UnreadableError
from engine.games.blockade import turns
from engine.games.blockade.playing import merge_moves
from engine.values import Roll
from tests.engine.games.blockade.strategies import DICE, GAME


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("a2-a3-b4", "a2-b4"),
        ("a2-a3 a3-b4", "a2-b4"),
        ("A2 to B3, B3 to A2", "stay"),
        ("a2-b3 c4-b3-c4 b3-a2", "stay"),
        ("c4-c3 a2-a3", "c4-c3 a2-a3"),
        ("c4-c3 a2-a3 a3-b4", "c4-c3 a2-b4"),
        ("c4-c3 c3-b4 a2-a3", "c4-b4 a2-a3"),
        ("c4-c3 a2-a3 e2-d3 d3-d2", "c4-c3 a2-a3 e2-d2"),
        ("c4 c3 a2 a3", "c4-c3 a2-a3"),
        ("c4 c3-b4 a2-a3", "c4-b4 a2-a3"),
        ("c4>c3 a2>a3", "c4-c3 a2-a3"),
    ],
)
def test_moves_are_kept_as_they_were_typed_without_detours(typed: str, written: str) -> None:
    state = DICE.rolled(GAME.rules.new({"starts": "warm"}), Roll(("6", "6")))
    assert GAME.notation.format_turn(GAME.notation.parse_turn(state, typed)) == written


@pytest.mark.parametrize("text", ["4,1", "4 1", "41"])
def test_two_dice_are_read_with_or_without_a_separator(text: str) -> None:
    assert DICE.parse_roll(GAME.rules.new({"starts": "warm"}), text) == Roll(("4", "1"))


def test_reading_a_typed_turn_lists_no_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    state = DICE.rolled(GAME.rules.new({"starts": "warm"}), Roll(("6", "6")))
    monkeypatch.setattr(turns, "_Ends", lambda *_: pytest.fail("all turns were listed"))
    assert GAME.notation.format_turn(GAME.notation.parse_turn(state, "c4-c3")) == "c4-c3"


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("->a2-a3", 1),
        ("a2--a3", 4),
        ("a2-", 4),
        ("a2 - a3 to", 11),
        ("a2 to", 6),
        ("a2-a3 to ", 10),
        ("a2-a3 ?", 7),
        ("z9-a1", 1),
        ("a2-a3 e5", 7),
        (" a2", 2),
        ("c4 c3 a2 a3 b4", 13),
        (" -a2", 2),
        ("a2-,b3", 4),
        ("a2-then ", 4),
    ],
)
def test_the_column_of_unreadable_text_is_named(text: str, column: int) -> None:
    state = DICE.rolled(GAME.rules.new({"starts": "warm"}), Roll(("6", "6")))
    with pytest.raises(UnreadableError) as raised:
        GAME.notation.parse_turn(state, text)
    assert raised.value.column == column


@pytest.mark.parametrize("text", ["", ".", ",", "and"])
def test_a_text_that_names_no_square_is_no_turn(text: str) -> None:
    state = DICE.rolled(GAME.rules.new({"starts": "warm"}), Roll(("6", "6")))
    with pytest.raises(UnreadableError, match="names no square; expected moves such as a2-b3 e5-c3, or stay"):
        GAME.notation.parse_turn(state, text)


def test_of_several_unreadable_words_the_first_is_named() -> None:
    state = DICE.rolled(GAME.rules.new({"starts": "warm"}), Roll(("6", "6")))
    with pytest.raises(UnreadableError, match=r"cannot read 'over' at column 7"):
        GAME.notation.parse_turn(state, "a2-a3 over there")


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("tower", ["exact", "contains"])
@pytest.mark.parametrize("starts", ["roll", "warm", "cool"])
def test_the_summary_tells_the_rules_in_force(*, strict: bool, tower: str, starts: str) -> None:
    told = GAME.notation.summary({"strict": strict, "tower": tower, "starts": starts, "draw_after_passes": 3})
    assert ("whenever its move ends" in told) == strict
    assert ("when your turn ends" in told) == (not strict)
    assert ("on at least one medium" in told) == (tower == "contains")
    assert ("on one medium" in told) == (tower == "exact")
    assert ("the higher total plays first" in told) == (starts == "roll")
    assert (f"{starts.capitalize()} plays first." in told) == (starts != "roll")
    assert "nothing moves for 3 turns in a row" in told
    assert "is a draw" not in GAME.notation.summary({})


def test_the_next_step_is_named() -> None:
    pieces = "Towers: red 0, yellow 0, green 0, blue 0. Black left: 15."
    start = GAME.rules.new()
    assert GAME.notation.standing(start) == ("Warm: roll the two dice for who starts. Then cool rolls.", pieces)
    rolled = DICE.rolled(start, Roll(("2", "5")))
    assert GAME.notation.standing(rolled) == ("Cool: roll the two dice for who starts. Warm has 2,5.", pieces)
    cool = GAME.rules.new({"starts": "cool"})
    assert GAME.notation.standing(cool) == ("Cool: roll the two dice.", pieces)
    playing = DICE.rolled(cool, Roll(("1", "4")))
    assert GAME.notation.standing(playing) == ("Cool plays: 1 for green and 4 for blue.", pieces)
    low = DICE.rolled(cool, Roll(("1", "3")))
    assert GAME.notation.standing(low) == (
        "Cool plays: 1 for green and 3 for blue, or their sum of 4 for one colour.",
        pieces,
    )


def test_the_roll_for_who_starts_says_who_starts() -> None:
    start = GAME.rules.new()
    assert GAME.roll_sentence(start, Roll(("2", "5"))) == "2,5 was rolled."
    warm = DICE.rolled(start, Roll(("2", "5")))
    assert GAME.roll_sentence(warm, Roll(("6", "2"))) == "6,2 was rolled. Cool starts, with 8 against 7."
    assert GAME.roll_sentence(warm, Roll(("1", "2"))) == "1,2 was rolled. Warm starts, with 7 against 3."
    assert GAME.roll_sentence(warm, Roll(("4", "3"))) == "4,3 was rolled. Both rolled 7, so both roll again."
    later = DICE.rolled(warm, Roll(("6", "2")))
    assert GAME.roll_sentence(later, Roll(("1", "1"))) == "1,1 was rolled."


def test_consecutive_moves_of_one_piece_are_merged() -> None:
    assert merge_moves([(5, 6), (6, 11, 12), (12, 17), (3, 4)]) == ((5, 6, 11, 12, 17), (3, 4))
