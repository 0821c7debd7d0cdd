"""Blockade on the virtual table: rolls, turns with caps, violations that can be put right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.registry import load
from simulator.faults.players import FaultyPlayers
from simulator.play.actions import Arrangement, Slack
from simulator.play.blockade import StackHandler, stack
from simulator.play.players import Habits
from simulator.scene.pieces import Pyramid, StackPose
from vision.layout.table import default_layout


@pytest.fixture(scope="module")
def blockade() -> Any:
    return load("blockade")


def played(game: Any, seed: int, turns: int) -> FaultyPlayers:
    players = FaultyPlayers(game, default_layout("blockade"), Habits(), np.random.default_rng(seed))
    for _ in range(turns):
        while players.awaits_roll:
            players.roll()
        players.perform(players.turn())
        assert players.looks == dict(game.table.appearance(players.state))
    while players.awaits_roll:
        players.roll()
    return players


def piles(standing: Arrangement) -> dict[str, list[tuple[str, str]]]:
    return {
        place: [(one.size, one.colour) for one in stack(piece).pyramids]
        for place, piece in standing.items()
        if not place.startswith("beside")
    }


def test_the_set_up_is_the_rules_one_with_the_supply_beside_it(blockade: Any) -> None:
    players = played(blockade, 1, 0)
    assert piles(players.standing)["a1"] == [("L", "clear"), *[("M", "yellow")] * 5]
    supply = [stack(piece).pyramids[0] for place, piece in players.standing.items() if place.startswith("beside")]
    assert sorted((one.size, one.colour) for one in supply) == sorted((size, "black") for size in "LMS" * 5)


def test_turns_leave_the_table_as_the_engine_says(blockade: Any) -> None:
    played(blockade, 3, 6)


@pytest.mark.parametrize("kind", list(StackHandler.violations))
def test_every_violation_happens_and_can_be_put_right(blockade: Any, kind: str) -> None:
    players = played(blockade, 2, 2)
    action = players.violation_of(kind)
    assert action is not None
    before, looks = players.standing, players.looks
    players.perform(action)
    assert blockade.table.explain(players.state, players.looks), "the rules name what was wrong"
    players.perform(players.put_right(before, action.player))
    assert players.looks == looks
    assert piles(players.standing) == piles(before)


def test_a_tower_gets_the_largest_black() -> None:
    class Move:
        start, end = "a2", "a3"

    class Turn:
        moves = (Move(),)

    handler = StackHandler(default_layout("blockade"), Slack(), np.random.default_rng(0))
    standing = Arrangement(
        {
            "a2": StackPose(0.0, 0.0, (Pyramid("L", "red"), Pyramid("S", "red"))),
            "a3": StackPose(0.0, 40.0, (Pyramid("L", "red"), Pyramid("M", "red"))),
            "beside 1": StackPose(-150.0, 0.0, (Pyramid("M", "black"),), base_mm=0.0),
            "beside 2": StackPose(-150.0, 30.0, (Pyramid("L", "black"),), base_mm=0.0),
        }
    )
    after = standing.after_all(handler.carries_of(standing, Turn()))
    assert piles(after)["a3"] == [("L", "red"), ("M", "red"), ("S", "red"), ("L", "black")]
    assert "beside 2" not in after
