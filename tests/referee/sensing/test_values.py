"""What sensors alone can tell of each game, by its own legal turns."""

from __future__ import annotations

from typing import Any

from engine.registry import load
from engine.values import Roll
from referee.sensing.values import occupancy_coverage


def test_most_turns_of_deblockle_are_told_where_the_blocks_are_known(deblockle: Any) -> None:
    told = occupancy_coverage(deblockle, deblockle.rules.new())
    assert told.turns == told.alone + told.alike + told.unsensed == 58
    assert (told.alone, told.alike, told.unsensed) == (32, 18, 8)


def test_fewer_are_where_nobody_saw_the_blocks_sides(deblockle: Any) -> None:
    told = occupancy_coverage(deblockle, deblockle.table.set_up(deblockle.table.appearance(deblockle.rules.new())))
    assert told.alone / told.turns < 0.5


def test_no_turn_of_diaballik_is_told_since_none_feels_a_pass() -> None:
    game: Any = load("diaballik")
    told = occupancy_coverage(game, game.rules.new())
    assert told.alone == 0
    assert told.alike > 250
    assert told.unsensed == 7
    assert told.any


def test_nothing_of_blockade_is_felt_where_every_square_is_always_taken() -> None:
    game: Any = load("blockade")
    state = game.rules.new({"starts": "warm"})
    told = occupancy_coverage(game, game.dice.rolled(state, Roll(("2", "1"))))
    assert told.turns > 250
    assert told.unsensed == told.turns
    assert not told.any
