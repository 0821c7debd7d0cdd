"""Random games by camera, sensors and both, with random errors: what is accepted was played."""

from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from app.wiring.plan import Inputs
from benchmarks.sensing import ErrorRates, main, play, scaled
from engine.registry import load
from tests.effort import cases

SEEDS = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("inputs", list(Inputs))
@given(seed=SEEDS, times=st.floats(0, 4))
@settings(max_examples=cases(6, 2))
def test_no_turn_is_accepted_that_was_not_played(deblockle: Any, inputs: Inputs, seed: int, times: float) -> None:
    played = play("deblockle", deblockle, inputs, seed, scaled(ErrorRates(), times), 6)
    assert not played.wrong


def test_a_lift_counts_where_a_person_had_contradicted_the_sensor(deblockle: Any) -> None:
    """Game 420: the sensor of f6 missed a block, which a person named; the block then left f6 for f7, while the sensor
    of e7 failed. Another turn from e7 to f7 is legal.
    """
    played = play("deblockle", deblockle, Inputs.SENSORS, 420, scaled(ErrorRates(), 2.0), 6)
    assert not played.wrong


def test_two_broken_sensors_that_look_like_a_turn_are_asked_about_if_another_was_played(deblockle: Any) -> None:
    """Game 20111: a2 is stuck closed and e3 open, as after a legal turn, while a block is rolled to d3 and back."""
    played = play("deblockle", deblockle, Inputs.SENSORS, 20111, scaled(ErrorRates(), 4.0), 1)
    assert (played.wrong, played.counts["asked"]) == ([], 1)


@given(seed=SEEDS)
@settings(max_examples=cases(3, 1))
def test_nothing_is_asked_by_camera_and_sensors_that_never_err(deblockle: Any, seed: int) -> None:
    played = play("deblockle", deblockle, Inputs.BOTH, seed, scaled(ErrorRates(), 0), 8)
    assert played.counts["asked"] == 0
    assert played.counts["accepted"] == played.turns


@pytest.mark.long
@pytest.mark.parametrize("inputs", list(Inputs))
@pytest.mark.parametrize("name", ["deblockle", "diaballik"])
@pytest.mark.parametrize("times", [1.0, 4.0])
def test_thousands_of_turns_none_of_them_accepted_wrong(name: str, inputs: Inputs, times: float) -> None:
    game: Any = load(name)
    wrong = []
    for seed in range(40 if name == "diaballik" else 120):
        wrong += play(name, game, inputs, 10_000 + seed, scaled(ErrorRates(), times), 12).wrong
    assert not wrong


def test_the_benchmark_says_whether_its_lines_are_met() -> None:
    result = CliRunner().invoke(main, ["--games", "2", "--turns", "2", "--game", "deblockle", "--times", "0"])
    # Two games without a single error: a camera asks nothing either, so both can't ask less.
    assert result.exit_code == 1
    assert "MISSED" in result.output
