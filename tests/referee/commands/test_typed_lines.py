"""Lines that a person types beside the table, and corrections as text."""

import contextlib
import time
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.user import user_name
from engine.registry import games, load
from hardware.pin_map import ButtonRole
from journal.journal import Journal
from journal.reader import events_of_game
from referee.commands.entries import apply_correction, read_looks
from referee.commands.typed_lines import (
    TypedLines,
    parse_line,
    typed_help,
)
from referee.commands.values import (
    Announce,
    Answer,
    AskHint,
    CommandQueue,
    Correct,
    EnterRoll,
    EnterTurn,
    NewGame,
    OfferDraw,
    PauseClock,
    Press,
    TakeBack,
)
from referee.errors import CorrectionError
from referee.record.fold import fold
from tests.referee.by_text import by_text

DEBLOCKLE: Any = load("deblockle")


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("\n", Press(ButtonRole.END_TURN)),
        (" B ", TakeBack("Ann")),
        ("undo", TakeBack("Ann")),
        ("h", AskHint("Ann")),
        ("Hint\n", AskHint("Ann")),
        ("Draw", OfferDraw("Ann")),
        ("accept", Answer(by="Ann", accepts=True)),
        ("Refuse", Answer(by="Ann", accepts=False)),
        ("resign", Announce("resign", "Ann")),
    ],
)
def test_a_single_word_is_read_as_its_command(line: str, command: object) -> None:
    assert parse_line(DEBLOCKLE, line, "Ann") == command


@pytest.mark.parametrize(
    ("game", "line", "command"),
    [
        ("deblockle", "turn c1-c2=hoops\n", EnterTurn("c1-c2=hoops", "Ann")),
        ("deblockle", "Turn  c1 c2 hoops", EnterTurn("c1 c2 hoops", "Ann")),
        ("number-drop", "turn p2 none", EnterTurn("none", "Ann", "p2")),
        ("number-drop", "turn P2: none", EnterTurn("none", "Ann", "p2")),
        ("number-drop", "P1: letter-a", Announce("p1: letter-a", "Ann")),
        ("blockade", "roll 4,1", EnterRoll("4,1", "Ann")),
        ("blockade", "clock stop", PauseClock("Ann")),
        ("blockade", "Clock Go", PauseClock("Ann", resume=True)),
        ("deblockle", "correct c3=empty", Correct("Ann", {"c3": "empty"})),
        ("deblockle", "correct C3 gold star c4 empty", Correct("Ann", {"c3": "gold block, star up", "c4": "empty"})),
        ("deblockle", 'correct c3="teal block, x up"', Correct("Ann", {"c3": "teal block, x up"})),
    ],
)
def test_a_line_is_read_as_a_turn_a_roll_or_a_correction(game: str, line: str, command: object) -> None:
    assert parse_line(load(game), line, "Ann") == command


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("what", "'what' is not understood; \\? says what can be typed"),
        ("quit", "Ctrl-C stops the referee; the game is kept"),
        ("gold:resign", "'gold:resign' is not understood"),
        ("turn", "Something is missing after 'turn'"),
        ("correct", "Something is missing after 'correct'"),
        ("correct c9 empty", "there is no place 'c9'"),
        ("correct c3", "say what stands on c3"),
        ("correct c3=green", "does not occur in Deblockle"),
        (f"turn {'a1' * 2001}", "at most 4000 characters"),
        ("turn a1-\udcff", "unicode"),
    ],
)
def test_any_other_line_is_refused_with_what_can_be_typed(line: str, words: str) -> None:
    with pytest.raises(CorrectionError, match=words):
        parse_line(DEBLOCKLE, line, "Ann")


@given(line=st.text(max_size=30))
def test_any_line_is_read_or_refused(line: str) -> None:
    with contextlib.suppress(CorrectionError):
        parse_line(DEBLOCKLE, line, "Ann")


@pytest.mark.parametrize("name", games())
def test_help_names_the_commands_of_the_game(name: str) -> None:
    game = load(name)
    told = typed_help(game, game.rules.new(), has_clock=True)
    assert told.endswith("Ctrl-C stops.")
    assert ("roll " in told) == (game.dice is not None)
    example = told.partition("`")[2].partition("`")[0]
    assert isinstance(parse_line(game, example, "Ann"), Correct)
    assert len(told) <= 3 * 69


def test_help_names_a_letter_that_may_be_circled_late() -> None:
    game = load("number-drop")
    slots = "slots=I4,L4,O4,T4,S4"
    state = game.notation.parse_state(f"roll p1=555..../1234...|loop:a1+b1+c1|loop:a2+b2+c2 p2=2...... {slots}")
    assert "p1:letter-a" in typed_help(game, state, has_clock=False)


@pytest.mark.parametrize(
    ("name", "options", "announced"),
    [
        ("blockade", {}, "draw, resign, accept, refuse"),
        ("number-drop", {"players": 3}, "resign"),
        ("blokus-dice", {}, "resign"),
    ],
)
def test_help_names_only_what_the_game_lets_its_players_say(name: str, options: dict[str, int], announced: str) -> None:
    game: Any = load(name)
    with_clock, without = (typed_help(game, game.rules.new(options), has_clock=each) for each in (True, False))
    assert with_clock.partition("`, ")[2] == f"{announced}, clock stop, clock go. Ctrl-C stops."
    assert without.partition("`, ")[2] == f"{announced}. Ctrl-C stops."


def test_help_names_a_claim_once_the_rules_allow_it() -> None:
    game: Any = load("diaballik")
    state = game.rules.new({"repetition_draw": True})
    assert "`, draw" in typed_help(game, state, has_clock=False)
    for text in ("a1-a2", "a7-a6", "a2-a1", "a6-a7") * 2:
        state = game.rules.apply(state, game.notation.parse_turn(state, text))
    assert "`, repetition, draw" in typed_help(game, state, has_clock=False)


def test_typed_commands_are_carried_out_and_only_refusals_are_printed() -> None:
    game: Any = load("blockade")
    said: list[str] = []
    commands = CommandQueue(time.monotonic)
    with Journal.in_memory(wall_clock=lambda: datetime(2026, 1, 1, tzinfo=UTC)) as journal:
        session = by_text(journal, "blockade", time.monotonic)
        session.begin(NewGame("blockade", {"starts": "warm"}))
        typed = TypedLines(game, commands, said.append, lambda: "Here is help.", lambda: ())
        for line in ("turn a2-a3", "?", "roll 4,1", "turn a2-a3 c4-c3", "what"):
            typed.submit(line)
            for submitted in commands.take():
                session.carry_out(submitted.command, submitted.respond)
        folded = fold(*events_of_game(journal, None))
    assert [step.text for step in folded.steps] == ["4,1", "a2-a3 c4-c3"]
    assert [words.split(".")[0] for words in said] == [
        "'a2-a3' is not legal here: Warm hasn't rolled yet",
        "Here is help",
        "'what' is not understood; ? says what can be typed",
    ]


def test_a_resignation_counts_once_typed_twice() -> None:
    said: list[str] = []
    commands = CommandQueue(time.monotonic)
    states: list[Any] = []
    typed = TypedLines(DEBLOCKLE, commands, said.append, str, lambda: states)
    typed.submit("resign")
    assert said.pop().startswith("the board is not set up yet")
    states.append(DEBLOCKLE.rules.new())
    taken = []
    for line in ("resign", "h", "resign", "Resign", "draw", "resign teal", "resign Teal"):
        typed.submit(line)
        taken.append([submitted.command for submitted in commands.take()])
    by = user_name()
    gold, teal = (Announce(f"{side}:resign", by) for side in ("gold", "teal"))
    assert taken == [[], [AskHint(by)], [], [gold], [OfferDraw(by)], [], [teal]]
    asked = "Gold wants to resign. Type resign again to confirm."
    assert said == [asked, asked, "Teal wants to resign. Type resign teal again to confirm."]


@pytest.mark.parametrize(
    ("words", "looks"),
    [
        (["c3", "teal block, x up"], {"c3": "teal block, x up"}),
        (["C3=empty", "c4=gold star"], {"c3": "empty", "c4": "gold block, star up"}),
        (["c3", "Teal X", "c4", "empty"], {"c3": "teal block, x up", "c4": "empty"}),
        (["c3 = x up, teal"], {"c3": "teal block, x up"}),
        ([], {}),
    ],
)
def test_looks_are_read_leniently(deblockle: Any, words: list[str], looks: dict[str, str]) -> None:
    assert read_looks(deblockle, words) == looks


@pytest.mark.parametrize(
    ("said", "look"),
    [("black", "black piece"), ("black ball", "black piece with ball"), ("white piece", "white piece")],
)
def test_parts_that_a_look_does_not_mention_are_absent(said: str, look: str) -> None:
    assert read_looks(load("diaballik"), ["c3", said]) == {"c3": look}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["h9=empty"], "no place 'h9'; places run from a1 to g7"),
        (["c3"], "say what stands on c3"),
        (["c3=x"], "could be gold block, x up or teal block, x up; write more"),
        (["c3=red block"], "'red block' on c3 does not occur in Deblockle"),
        (["c3="], "'' on c3 does not occur"),
        (["c3=empty", "c3=teal x"], "c3 is given twice"),
    ],
)
def test_an_unreadable_correction_is_refused_with_the_reason(deblockle: Any, words: list[str], message: str) -> None:
    with pytest.raises(CorrectionError, match=message):
        read_looks(deblockle, words)


def test_a_refused_look_brings_one_example_of_each_sort() -> None:
    with pytest.raises(CorrectionError, match='expected something like "digit 0", "cross", or empty'):
        read_looks(load("number-drop"), ["p1.a1=X"])


def test_a_correction_has_exactly_one_content(deblockle: Any) -> None:
    states = (deblockle.rules.new({}),)
    with pytest.raises(CorrectionError, match="give one of them"):
        apply_correction(deblockle, states, Correct("Ann", {"c3": "empty"}, "gold c1:G.star?"), {})
    with pytest.raises(CorrectionError, match="nothing was corrected"):
        apply_correction(deblockle, states, Correct("Ann"), {})


def test_a_correction_applies_to_every_possible_state(deblockle: Any) -> None:
    belief = tuple(deblockle.rules.new({"starts": player}) for player in deblockle.players)
    done = apply_correction(deblockle, belief, Correct("Ann", {"c1": "gold block, x up"}, why="it was turned"), {})
    assert [state.to_move for state in done.states] == ["gold", "teal"]
    assert done.sentence == "Ann says: c1 is gold block, x up (it was turned)."
    settled = apply_correction(deblockle, belief, Correct("Ann", to_move="teal"), {})
    assert [state.to_move for state in settled.states] == ["teal"]
    assert settled.sentence == "Ann says: teal plays next."
    both = apply_correction(deblockle, belief, Correct("Ann", {"c1": "gold block, x up"}, to_move="teal"), {})
    assert both.sentence == "Ann says: c1 is gold block, x up, teal plays next."


def test_a_correction_to_a_whole_position_names_the_changed_places(deblockle: Any) -> None:
    state = deblockle.rules.new({})
    text = deblockle.notation.format_state(deblockle.table.amend(state, {"c1": "empty", "d1": "gold block, x up"}))
    done = apply_correction(deblockle, (state,), Correct("Ann", position=text, to_move="teal"), {})
    assert done.places == ("c1", "d1")
    assert done.states[0].to_move == "teal"
    same = apply_correction(deblockle, (state,), Correct("Ann", position=deblockle.notation.format_state(state)), {})
    assert same.sentence == "Ann says: the position stands."


@pytest.mark.parametrize(
    "correction",
    [
        Correct("Ann", {"d2": "gold block, x up"}),
        Correct("Ann", position="gold c3:what"),
        Correct("Ann", to_move="red"),
    ],
)
def test_an_impossible_correction_is_refused(deblockle: Any, correction: Correct) -> None:
    with pytest.raises(CorrectionError):
        apply_correction(deblockle, (deblockle.rules.new({}),), correction, {})


def test_a_correction_before_the_set_up_is_the_set_up(deblockle: Any) -> None:
    looks = {"c1": "gold block, x up", "e7": "teal block, star up"}
    done = apply_correction(deblockle, (), Correct("Ann", looks, to_move="teal"), {"side_by_side": False})
    assert done.states[0].to_move == "teal"
    assert "side_by_side=false" in deblockle.notation.format_state(done.states[0])
    with pytest.raises(CorrectionError, match=r"has to name every piece on it.*There is no teal block on the board"):
        apply_correction(deblockle, (), Correct("Ann", {"c1": "gold block, x up"}), {})


def test_a_correction_is_accepted_on_the_sheets_in_play() -> None:
    game = load("number-drop")
    believed = game.rules.new({"players": 2})
    said = apply_correction(game, [believed], Correct("Ann", {"p2.c1": "digit 2"}), {"players": 2})
    assert said.places == ("p2.c1",)
    assert "p2.c1 is digit 2" in said.sentence
    with pytest.raises(CorrectionError, match="p3"):
        apply_correction(game, [believed], Correct("Ann", {"p3.c1": "digit 2"}), {"players": 2})
