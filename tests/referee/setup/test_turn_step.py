"""The step of the set-up in which a turn is tried."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from engine.registry import load
from referee.judge.belief import Belief
from referee.setup.steps import steps_of
from referee.setup.table_setup import TableSetup


@pytest.mark.parametrize(
    ("name", "asks", "faces"),
    [
        ("number-drop", "Draw the tiles and play the first turn.", "I3,I4,O4,S4,T4"),
        ("blockade", "Roll the dice and play one turn with them.", "1,1"),
        ("deblockle", "Play one turn, and take your hands away.", ""),
    ],
)
def test_the_step_asks_for_what_the_game_needs(name: str, asks: str, faces: str, tmp_path: Path) -> None:
    game = load(name)
    table = TableSetup(game, tmp_path, lambda *_: (), date(2026, 1, 1), "a4", {})
    state = game.rules.new()
    table.belief = replace(Belief(), states=(state,), states_ignoring_sides=(state,))
    (step,) = (each for each in steps_of(game) if each.name == "turn")
    said = " ".join(step.prepare(table))
    assert said.startswith(asks)
    assert (f"such as {faces}." in said) == bool(faces)
    if game.dice is not None and faces:
        assert game.dice.parse_roll(state, faces)
