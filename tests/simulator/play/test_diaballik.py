"""Diaballik on the virtual table: turns leave what the engine says, violations are illegal and can be put right."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from benchmarks.faults.players import FaultyPlayers
from engine.registry import load
from simulator.play.actions import Slack
from simulator.play.diaballik import DiscHandler
from simulator.play.players import Habits, could_result_from_play
from vision.layout.pieces import DiscPieces
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


@pytest.mark.parametrize("rows", [(2, 6), (6, 2)])
def test_pieces_beside_the_board_never_overlap_wherever_the_others_stand(rows: tuple[int, int]) -> None:
    layout = default_layout("diaballik")
    handler = DiscHandler(layout, Slack(), np.random.default_rng(5))
    looks = {
        f"{column}{row}": f"{player} piece{' with ball' if column == 'd' else ''}"
        for player, first in zip(("black", "white"), rows, strict=True)
        for row in (first, first + 1)
        for column in "abcdefg"
    }
    standing = handler.set_up(looks)
    for square in (square for square in looks if square.startswith("d")):
        standing = standing.after(handler.take_ball_off(standing, square))
    for square in sorted(looks):
        standing = standing.after(handler.take_off(standing, square))
    lying = list(standing.values())
    assert len(lying) == len(looks) + 4
    apart_mm = [math.dist((one.x_mm, one.y_mm), (other.x_mm, other.y_mm)) for one, other in combinations(lying, 2)]
    disc_mm = DiscPieces.on(layout.board).diameter_mm
    assert min(apart_mm) > disc_mm
    assert {handler.owner(piece): piece.x_mm > layout.board.bounds_mm.right_mm for piece in lying} == {
        "black": True,
        "white": False,
    }
    markers, clear_mm = layout.markers.centres_mm.values(), (layout.markers.side_mm + disc_mm) / 2
    assert all(math.dist((one.x_mm, one.y_mm), centre) > clear_mm for one in lying for centre in markers)
