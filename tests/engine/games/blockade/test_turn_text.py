"""Turns read as they were typed."""

from __future__ import annotations

import contextlib
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import EngineError
from engine.games.blockade import turns
from engine.games.blockade.game import GAME
from engine.support.chance import drawn
from engine.values import Roll
from tests.effort import cases


def after_roll(seed: int, rounds: int):
    rng = Random(seed)
    state = GAME.rules.new()
    for _ in range(rounds):
        while GAME.awaits_roll(state):
            state = GAME.dice.rolled(state, drawn(GAME.dice.possible_rolls(state), rng))
        turns = GAME.rules.legal_turns(state)
        state = GAME.rules.apply(state, turns[rng.randrange(len(turns))])
    while GAME.awaits_roll(state):
        state = GAME.dice.rolled(state, drawn(GAME.dice.possible_rolls(state), rng))
    return state, rng


@pytest.mark.parametrize("seed", range(cases(6)))
def test_what_was_written_is_read_as_it_was(seed: int) -> None:
    state, rng = after_roll(seed, seed)
    turns = GAME.rules.legal_turns(state)
    for _ in range(cases(20)):
        turn = turns[rng.randrange(len(turns))]
        assert GAME.notation.parse_turn(state, GAME.notation.format_turn(turn)) == turn


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("a2-a3-b4", "a2-b4"),
        ("a2-a3 a3-b4", "a2-b4"),
        ("A2 to B3, B3 to A2", "stay"),
        ("a2-b3 c4-b3-c4 b3-a2", "stay"),
        ("c4-c3 a2-a3", "c4-c3 a2-a3"),
    ],
)
def test_moves_are_kept_as_they_were_typed_without_detours(typed: str, written: str) -> None:
    state = GAME.dice.rolled(GAME.rules.new({"starts": "warm"}), Roll(("6", "6")))
    assert GAME.notation.format_turn(GAME.notation.parse_turn(state, typed)) == written


def test_reading_a_typed_turn_lists_no_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    state = GAME.dice.rolled(GAME.rules.new({"starts": "warm"}), Roll(("6", "6")))
    monkeypatch.setattr(turns, "TurnList", lambda *_: pytest.fail("all turns were listed"))
    assert GAME.notation.format_turn(GAME.notation.parse_turn(state, "c4-c3")) == "c4-c3"


@given(text=st.text(alphabet="abe15 -,xto", max_size=12))
def test_only_our_errors_come_of_any_text(text: str) -> None:
    state, _ = after_roll(2, 0)
    with contextlib.suppress(EngineError):
        GAME.rules.apply(state, GAME.notation.parse_turn(state, text))
