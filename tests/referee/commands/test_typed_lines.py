"""Lines that a person types beside the table."""

from __future__ import annotations

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
from referee.commands.typed_lines import TypedLines, parse_line, typed_help
from referee.commands.values import (
    Announce,
    AnswerDraw,
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
from referee.journal.fold import fold
from referee.journal.journal import Journal
from referee.journal.reader import events_of_game
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
        ("accept", AnswerDraw(by="Ann", accepts=True)),
        ("Refuse", AnswerDraw(by="Ann", accepts=False)),
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
                session.execute(submitted.command, submitted.respond)
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
