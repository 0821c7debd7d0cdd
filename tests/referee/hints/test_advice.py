"""Hints are requested, calculated and described, in this process and in a separate one."""

from __future__ import annotations

import io
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, replace
from typing import Any

import pytest

from engine.errors import EngineError
from engine.games.deblockle.hints import search_rules_of
from engine.registry import load
from engine.search.budget import CountingClock
from referee.hints.advice import Advice, Answer, Question, answer_question, hint_text
from referee.hints.process import HintProcess, serve
from tests.engine import toy_harvest
from tests.engine.toy_harvest import GAME as HARVEST
from tests.guard import GUARD_S

GAME = load("deblockle")
START = GAME.notation.format_state(GAME.rules.new())
QUESTION = Question(3, "deblockle", START, "fair", 0.05, earlier=())


@pytest.fixture
def harvest(monkeypatch: pytest.MonkeyPatch) -> Any:
    toy_harvest.register(monkeypatch)
    return HARVEST


def answers_of(hints: HintProcess, count: int) -> list[Answer]:
    """Wait for this many answers."""
    waited = threading.Event()
    got: list[Answer] = []
    for _ in range(round(GUARD_S / 0.01)):
        got += hints.poll()
        if len(got) >= count:
            return got
        waited.wait(0.01)
    raise AssertionError(f"only {got}")


def test_the_same_question_gets_the_same_answer() -> None:
    # Half-made tables from an earlier test would give the second answer more time than the first.
    search_rules_of(GAME.rules.new().options).prepare(lambda: None)
    first, again = (answer_question(QUESTION, CountingClock(0.001)) for _ in range(2))
    assert first == again
    assert first.number == 3
    assert first.advice is not None
    turn = GAME.notation.parse_turn(GAME.rules.new(), first.advice.turn)
    assert first.advice.player == turn.player == "gold"


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (replace(QUESTION, game="halma"), "halma"),
        (replace(QUESTION, state="rubbish"), "rubbish"),
        (
            replace(
                QUESTION,
                state=GAME.notation.format_state(
                    GAME.rules.announce(GAME.rules.new(), GAME.rules.announcements(GAME.rules.new())[0])
                ),
            ),
            "over",
        ),
    ],
)
def test_a_question_without_an_answer_gets_the_reason(question: Question, words: str) -> None:
    answer = answer_question(question, CountingClock(0.001))
    assert answer.advice is None
    assert words in answer.refused


ADVICE = Advice("c1-c2=hoops-a1", "gold", "takes a block off", 0.714, "win", 0.4)


def test_a_hint_shows_the_piece_or_the_whole_turn() -> None:
    state = GAME.rules.new()
    piece = hint_text(GAME, state, ADVICE, "piece")
    assert piece.words == "Hint: look at the gold block on c1."
    assert piece.places == ("c1",)
    whole = hint_text(GAME, state, ADVICE, "whole")
    assert whole.words == (
        "Hint: Gold rolls c1 to c2, hoops up, and hops to a1. That takes a block off. Chance of winning: 71%."
    )
    assert whole.places == ("c1", "c2", "a1")
    sure = hint_text(GAME, state, replace(ADVICE, expected=1.0, sure=1.0), "whole")
    assert sure.words.endswith("Chance of winning: 100%, worked out to the end.")
    with pytest.raises(EngineError):
        hint_text(GAME, state, replace(ADVICE, turn="c7-b7=stop"), "whole")


def test_a_hint_in_a_dice_game_names_the_die(harvest: Any) -> None:
    state = harvest.notation.parse_state("0,0 1 5 - -")
    advice = Advice("keep", "p2", "gives more points", 1.0, "points", 0.5, 0)
    assert hint_text(harvest, state, advice, "whole").words == (
        "Hint: p2 keeps the die. Take the die that shows 5. That gives more points. Expected: 1 point."
    )
    assert hint_text(harvest, state, advice, "piece").words == "Hint: take the die that shows 5."
    assert hint_text(harvest, state, replace(advice, die=None), "piece").words == "Hint: look at p2."


@pytest.mark.parametrize(
    ("position", "turn", "words"),
    [
        (
            "p1 slide p1=...1... slots=I4,L4,O4,T4,S4 roll=1,1,1,2,I to=p1 notches=0,0,0,0,0 players=1",
            "slide:A",
            "p1 slides the tile in column A by one notch.",
        ),
        (
            "p1 drop p1=....2../....1../....1../...11.. p2=...2... slots=I4,I3,O4,X5,T5 roll=1,1,1,2,I to=p2 then=p1",
            "none",
            "p1 draws no loop.",
        ),
    ],
)
def test_a_turn_that_touches_no_place_is_told_whole_at_once(position: str, turn: str, words: str) -> None:
    game = load("number-drop")
    state, advice = game.notation.parse_state(position), Advice(turn, "p1", "is good", 40.0, "points", 0.5)
    first = hint_text(game, state, advice, "piece")
    assert first == hint_text(game, state, advice, "whole")
    assert first.words == f"Hint: {words} That is good. Expected: 40 points."
    squares = hint_text(game, state, replace(advice, unit="squares"), "whole")
    assert squares.words.endswith("Expected: 40 filled squares.")


def test_the_hint_process_reads_questions_and_writes_answers_as_lines() -> None:
    questions = [QUESTION, replace(QUESTION, number=4, state="rubbish")]
    out = io.StringIO()
    serve(io.StringIO("".join(json.dumps(asdict(each)) + "\n" for each in questions)), out, CountingClock(0.001))
    first, second = (json.loads(line) for line in out.getvalue().splitlines())
    assert (first["number"], first["advice"]["player"]) == (3, "gold")
    assert second["number"] == 4
    assert second["advice"] is None
    assert "rubbish" in second["refused"]


@pytest.fixture
def hints() -> Iterator[HintProcess]:
    with closing(HintProcess()) as process:
        yield process


def test_a_separate_process_answers(hints: HintProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.chdir(tmp_path)
    assert hints.poll() == []
    hints.ask(QUESTION)
    hints.ask(replace(QUESTION, number=4, state="rubbish"))
    first, second = answers_of(hints, 2)
    assert first.number == 3
    assert first.advice is not None
    assert second.number == 4
    assert "rubbish" in second.refused


def test_an_answer_wakes_the_waiting_thread() -> None:
    answered = threading.Event()
    with closing(HintProcess(on_answer=answered.set)) as hints:
        hints.ask(QUESTION)
        assert answered.wait(GUARD_S)
        assert [answer.number for answer in hints.poll()] == [3]


@pytest.mark.parametrize("command", [(sys.executable, "-c", ""), ("/no/such/program",)])
def test_a_process_that_ends_is_reported_and_started_again(command: tuple[str, ...]) -> None:
    with closing(HintProcess(command)) as hints:
        for number in (1, 2):
            hints.ask(replace(QUESTION, number=number))
            (answer,) = answers_of(hints, 1)
            assert answer.number == number
            assert "could not be worked out" in answer.refused


def test_closing_ends_the_process_at_once() -> None:
    hints = HintProcess()
    hints.ask(replace(QUESTION, seconds=10.0))
    process = hints._process
    assert process is not None
    hints.close()
    assert process.returncode is not None
    hints.close()


def test_the_process_ends_with_the_referee() -> None:
    hints = HintProcess()
    hints.ask(QUESTION)
    answers_of(hints, 1)
    process = hints._process
    assert process is not None
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(GUARD_S) == 0
    hints.close()
