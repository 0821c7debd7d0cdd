"""The share of each game's legal turns that sensors alone can tell."""

from __future__ import annotations

from typing import Any

from engine.registry import load
from engine.values import Roll
from referee.sensing.health import occupancy_coverage


def test_sensors_alone_tell_most_turns_of_deblockle_if_the_blocks_are_known(deblockle: Any) -> None:
    told = occupancy_coverage(deblockle, deblockle.rules.new())
    assert told.turns == told.alone + told.alike + told.unsensed == 58
    assert (told.alone, told.alike, told.unsensed) == (32, 18, 8)


def test_sensors_alone_tell_fewer_turns_of_deblockle_if_side_faces_are_unknown(deblockle: Any) -> None:
    told = occupancy_coverage(deblockle, deblockle.table.set_up(deblockle.table.appearance(deblockle.rules.new())))
    assert told.alone / told.turns < 0.5


def test_sensors_alone_tell_no_turn_of_diaballik_because_passes_are_not_sensed() -> None:
    game: Any = load("diaballik")
    told = occupancy_coverage(game, game.rules.new())
    assert told.alone == 0
    assert told.alike > 250
    assert told.unsensed == 7
    assert told.any


def test_sensors_tell_nothing_in_blockade_because_every_square_stays_occupied() -> None:
    game: Any = load("blockade")
    state = game.rules.new({"starts": "warm"})
    told = occupancy_coverage(game, game.dice.rolled(state, Roll(("2", "1"))))
    assert told.turns > 250
    assert told.unsensed == told.turns
    assert not told.any
