"""The switches under the virtual board feel what stands there, and fail as they are told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.faults.switches import SwitchFaults, VirtualSwitches, draw_switch_faults, sensed_places
from simulator.scene.pieces import block_on
from simulator.scene.scene import standard_layout

LAYOUT = standard_layout()
BLOCKS = tuple(block_on(LAYOUT, place, "gold", "star", "slider") for place in ("b1", "e3"))


def closed_at(switches: VirtualSwitches, time_s: float) -> set[str]:
    read = switches.closed(BLOCKS, time_s)
    assert read is not None
    return {place for place, is_closed in read.items() if is_closed}


def test_a_switch_closes_under_a_block_that_stands_and_not_under_one_in_the_air() -> None:
    lifted = replace(BLOCKS[1], base_mm=20.0)
    assert sensed_places(LAYOUT, (BLOCKS[0], lifted)) == {"b1"}
    assert closed_at(VirtualSwitches(LAYOUT, 1), 0.0) == {"b1", "e3"}


@pytest.mark.parametrize(("offset_mm", "sensed"), [(16.0, True), (18.0, False)])
def test_a_block_must_stand_near_the_middle(offset_mm: float, sensed: bool) -> None:
    block = block_on(LAYOUT, "c3", "teal", "x", "star", offset_mm=(offset_mm, 0.0))
    assert sensed_places(LAYOUT, (block,)) == ({"c3"} if sensed else set())


def test_a_block_beside_the_board_is_sensed_nowhere() -> None:
    assert sensed_places(LAYOUT, (replace(BLOCKS[0], x_mm=900.0, y_mm=0.0),)) == set()


def test_switches_are_stuck_or_dead_from_their_time_on() -> None:
    switches = VirtualSwitches(LAYOUT, 1, SwitchFaults(stuck={"c3": 5.0}, dead={"e3": 7.0}))
    assert closed_at(switches, 4.9) == {"b1", "e3"}
    assert closed_at(switches, 5.0) == {"b1", "c3", "e3"}
    assert closed_at(switches, 7.0) == {"b1", "c3"}


def test_nothing_is_read_while_the_cable_is_off() -> None:
    switches = VirtualSwitches(LAYOUT, 1, SwitchFaults(unplugged=((2.0, 3.0),)))
    assert [switches.closed(BLOCKS, time_s) is None for time_s in (1.9, 2.0, 2.9, 3.0)] == [False, True, True, False]


def test_flickers_are_short_repeatable_and_about_as_frequent_as_requested() -> None:
    faults = SwitchFaults(flickers_per_minute=2.0, flicker_s=0.4)
    times_s = [step / 50 for step in range(60 * 50)]

    def wrong() -> list[tuple[float, str]]:
        switches = VirtualSwitches(LAYOUT, 9, faults)
        return [(time_s, place) for time_s in times_s for place in closed_at(switches, time_s) ^ {"b1", "e3"}]

    found = wrong()
    assert found == wrong()
    share = len(found) / (len(times_s) * len(LAYOUT.places))
    # Twice a minute for 0.2 s on average is a share of 2 * 0.2 / 60.
    assert 0.004 < share < 0.01


def test_impossible_faults_are_refused() -> None:
    with pytest.raises(ValueError, match="c3: both stuck and dead"):
        SwitchFaults(stuck={"c3": 0.0}, dead={"c3": 1.0})
    with pytest.raises(ValueError, match="flickers_per_minute is -1"):
        SwitchFaults(flickers_per_minute=-1)


def test_drawn_faults_are_of_every_kind_in_a_few_dozen_games() -> None:
    drawn = [draw_switch_faults(LAYOUT, np.random.default_rng(seed), 200.0) for seed in range(40)]
    assert any(one.stuck for one in drawn)
    assert any(one.dead for one in drawn)
    assert any(not one.stuck and not one.dead for one in drawn)
    assert all(one.unplugged for one in drawn)
