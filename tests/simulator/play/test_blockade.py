"""Blockade on the virtual table: rolls, turns with caps, violations that can be put right."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks.faults.players import FaultyPlayers
from engine.registry import load
from simulator.play.actions import ActionKind, Arrangement, Slack
from simulator.play.blockade import StackHandler, as_stack
from simulator.play.game import GameOptions, TruthLog, VirtualGame
from simulator.play.players import Habits
from simulator.scene.pieces import DiePose, Pyramid, StackPose
from simulator.scene.sheets import dice_tray
from vision.layout.table import default_layout


@pytest.fixture(scope="module")
def blockade() -> Any:
    return load("blockade")


def played(game: Any, seed: int, turns: int) -> FaultyPlayers:
    players = FaultyPlayers(game, default_layout("blockade"), Habits(), np.random.default_rng(seed))
    for _ in range(turns):
        while players.awaits_roll:
            players.perform(players.roll())
        players.perform(players.turn())
        assert players.looks == dict(game.table.appearance(players.state))
    while players.awaits_roll:
        players.perform(players.roll())
    return players


def piles(standing: Arrangement) -> dict[str, list[tuple[str, str]]]:
    return {
        place: [(one.size, one.colour) for one in as_stack(piece).pyramids]
        for place, piece in standing.items()
        if isinstance(piece, StackPose) and not place.startswith("beside")
    }


def dice_of(players: FaultyPlayers) -> dict[str, DiePose]:
    return {piece.colour: piece for piece in players.standing.values() if isinstance(piece, DiePose)}


def test_dice_are_thrown_by_their_owner_and_lie_apart_in_the_tray(blockade: Any) -> None:
    players = played(blockade, 4, 0)
    tray = dice_tray(default_layout("blockade"))
    assert tray is not None
    before = dice_of(players)
    assert set(before) == {"red", "yellow", "green", "blue"}
    players.perform(players.turn())
    thrown_by = players.to_move
    action = players.roll()
    players.perform(action)
    after = dice_of(players)
    handler = players._handler
    assert isinstance(handler, StackHandler)
    mine = {colour for colour, piece in after.items() if handler.owner(piece) == thrown_by}
    assert {colour for colour in after if after[colour] != before[colour]} == mine
    assert (
        ",".join(str(after[colour].value) for colour in ("red", "yellow", "green", "blue") if colour in mine)
        == action.turn
    )
    for piece in after.values():
        assert tray.bounds_mm.left_mm < piece.x_mm < tray.bounds_mm.right_mm
        assert tray.bounds_mm.near_mm < piece.y_mm < tray.bounds_mm.far_mm
        others = [other for other in after.values() if other is not piece]
        assert min(math.hypot(piece.x_mm - one.x_mm, piece.y_mm - one.y_mm) for one in others) > 16 * math.sqrt(2)


def test_players_without_a_tray_read_their_rolls_out() -> None:
    layout = default_layout("blockade")
    bare = replace(layout, surfaces=layout.surfaces[:1])
    log = TruthLog()
    game = VirtualGame(3, bare, GameOptions("blockade", turns=1), log)
    for frame in range(400):
        game.moment(frame / 15)
    assert game.rolls
    assert ActionKind.ROLLED not in {event.kind for event in log.events}


def test_the_set_up_is_that_of_the_rules_with_the_supply_beside_it(blockade: Any) -> None:
    players = played(blockade, 1, 0)
    assert piles(players.standing)["a1"] == [("L", "clear"), *[("M", "yellow")] * 5]
    supply = [as_stack(piece).pyramids[0] for place, piece in players.standing.items() if place.startswith("beside")]
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


@pytest.mark.parametrize("side_mm", [8.0, 40.0])
def test_a_tray_without_room_for_the_dice_is_said_to_be_too_small(blockade: Any, side_mm: float) -> None:
    layout = default_layout("blockade")
    tray = dice_tray(layout)
    assert tray is not None
    bounds = tray.bounds_mm
    small = replace(tray, bounds_mm=replace(bounds, right_mm=bounds.left_mm + side_mm, far_mm=bounds.near_mm + side_mm))
    handler = StackHandler(replace(layout, surfaces=(layout.board, small)), Slack(), np.random.default_rng(0))
    start = blockade.rules.new()
    with pytest.raises(ValueError, match=f"is {side_mm:g} by {side_mm:g} mm, too small to throw a die"):
        handler.set_up(blockade.table.appearance(start), blockade.notation.format_state(start))
