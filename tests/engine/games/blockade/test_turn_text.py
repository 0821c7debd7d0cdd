"""Turns read as they were written, without looking for those of the same end position."""

from __future__ import annotations

import contextlib
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import EngineError, IllegalTurnError, UnreadableError
from engine.games.blockade.game import GAME
from engine.games.blockade.notation import written_turn
from engine.support.chance import drawn
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
        assert written_turn(state, GAME.notation.format_turn(turn), None) == turn


def test_what_is_written_against_the_rules_is_refused_when_it_is_played() -> None:
    state, _ = after_roll(1, 0)
    with pytest.raises(IllegalTurnError):
        GAME.rules.apply(state, written_turn(state, "a1-e5", None))
    with pytest.raises(IllegalTurnError, match="nothing stands there"):
        written_turn(state, "a1-a2 " * 12, None)
    with pytest.raises(UnreadableError):
        written_turn(state, "a1-z9", None)


@given(text=st.text(alphabet="abe15 -,xto", max_size=12))
def test_only_our_errors_come_of_any_text(text: str) -> None:
    state, _ = after_roll(2, 0)
    with contextlib.suppress(EngineError):
        GAME.rules.apply(state, written_turn(state, text, None))
