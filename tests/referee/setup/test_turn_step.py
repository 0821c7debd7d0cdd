"""The step of the set-up in which a turn is tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from engine.registry import load
from referee.judge.belief import Belief
from referee.setup.steps import check_step, steps_of
from referee.setup.table_setup import StepResult, TableSetup
from vision.frame import Frame, Image
from vision.reading import Hindrance, HindranceKind, PlaceReading, Reading


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


class Eyes:
    """A reader that sees certain looks, and what may be in the way."""

    def __init__(self, looks: Mapping[str, str], *hindrances: Hindrance) -> None:
        places = {place: PlaceReading({look: 0.99, "other": 0.01}) for place, look in looks.items()}
        self.reading = Reading(0, 0.0, places, hindrances)

    def read(self, frame: Frame) -> Reading:
        del frame
        return self.reading

    def crop(self, frame: Frame, place: str) -> Image:
        raise AssertionError(place)


def outcome_of(folder: Path, turns: int, *hindrances: Hindrance) -> StepResult:
    """Check the step once that many turns were played."""
    game = load("diaballik")
    state = game.rules.new()
    frame = Frame(np.zeros((4, 4, 3), np.uint8), 0.0, 0)
    table = TableSetup(game, folder, lambda *_: (frame,), date(2026, 1, 1))
    table.belief = replace(Belief(), states=(state,), states_ignoring_sides=(state,))
    for text in ("b1-b2", "b7-b6")[:turns]:
        state = game.rules.apply(state, game.notation.parse_turn(state, text))
    table.reader = Eyes(game.table.appearance(state), *hindrances)
    (step,) = (each for each in steps_of(game) if each.name == "turn")
    return check_step(step, table, "")


def test_one_turn_is_the_test_and_two_are_not(tmp_path: Path) -> None:
    assert not outcome_of(tmp_path, 0).is_done
    assert outcome_of(tmp_path, 1).is_done
    two = outcome_of(tmp_path, 2)
    assert not two.is_done
    assert two.findings[0].message.startswith("two turns were played: ")
    assert two.findings[0].remedy == "take the second one back, for this test"


@pytest.mark.parametrize("turns", [0, 1])
def test_a_hand_over_the_board_is_named_before_anything_is_judged(tmp_path: Path, turns: int) -> None:
    outcome = outcome_of(tmp_path, turns, Hindrance(HindranceKind.HAND, "a hand or arm is over c1", ("c1",)))
    (finding,) = outcome.findings
    assert (finding.message, finding.remedy) == ("a hand or arm is over c1", "take your hands away from the board")
    assert not outcome.is_done
