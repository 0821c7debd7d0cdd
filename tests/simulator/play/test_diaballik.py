"""Diaballik on the virtual table: turns leave what the engine says, violations are illegal and can be put right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.registry import load
from simulator.faults.players import FaultyPlayers
from simulator.play.diaballik import DiscHandler
from simulator.play.players import Habits, could_result_from_play
from vision.layout.table import default_layout


@pytest.fixture(scope="module")
def diaballik() -> Any:
    return load("diaballik")


def players_of(game: Any, seed: int) -> FaultyPlayers:
    return FaultyPlayers(game, default_layout(game.name), Habits(), np.random.default_rng(seed))


def test_turns_leave_the_table_as_the_engine_says(diaballik: Any) -> None:
    players = players_of(diaballik, 1)
    for _ in range(12):
        before = players.looks
        players.perform(players.turn())
        assert players.looks == dict(diaballik.table.appearance(players.state)) != before


@pytest.mark.parametrize("kind", list(DiscHandler.violations))
def test_every_violation_happens_and_can_be_put_right(diaballik: Any, kind: str) -> None:
    for seed in range(6):
        players = players_of(diaballik, seed)
        for _ in range(2 * seed):
            players.perform(players.turn())
        action = players.violation_of(kind)
        if action is not None:
            break
    assert action is not None
    before, looks = players.standing, players.looks
    players.perform(action)
    assert players.looks != looks
    assert diaballik.table.explain(players.state, players.looks), "the rules name what was wrong"
    players.perform(players.put_right(before, action.player))
    assert players.looks == looks


@pytest.mark.parametrize("kind", FaultyPlayers.wrong_set_ups)
def test_a_wrong_set_up_is_put_right(diaballik: Any, kind: str) -> None:
    players = players_of(diaballik, 2)
    before, looks = players.standing, players.looks
    action = players.set_up_wrongly(kind)
    assert action is not None
    players.perform(action)
    assert players.looks != looks
    players.perform(players.put_right(before, action.player))
    assert players.looks == looks


def test_two_turns_in_a_row_could_be_played(diaballik: Any) -> None:
    players = players_of(diaballik, 3)
    start = players.state
    for _ in range(2):
        players.perform(players.turn())
    assert could_result_from_play(diaballik, start, players.looks)
    assert could_result_from_play(diaballik, start, players.looks, by_occupancy=True)
    players.perform(players.turn())
    assert not could_result_from_play(diaballik, start, {**players.looks, "d4": "empty", "d1": "empty", "d7": "empty"})


def test_after_a_game_everything_is_swept_off(diaballik: Any) -> None:
    players = players_of(diaballik, 4)
    players.perform(players.sweep())
    assert set(players.looks.values()) == {"empty"}
    assert len(players.standing) == 14
