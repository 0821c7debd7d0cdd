"""Sensors in detecting rest and unreadable squares."""

from dataclasses import replace
from typing import Any

import pytest

from referee.judge.stability import StabilityFilter, StabilitySettings
from referee.session.view import StallWatch
from vision.reading import Reading


@pytest.fixture
def start(deblockle: Any) -> dict[str, str]:
    return dict(deblockle.table.appearance(deblockle.rules.new()))


def felt(reading: Reading, place: str, sensed: float | None) -> Reading:
    """Give the reading with the value of a sensor under one place."""
    return replace(reading, places={**reading.places, place: replace(reading.places[place], sensed=sensed)})


@pytest.mark.parametrize("hidden", [(), ("c2",)])
def test_a_change_that_only_a_sensor_notices_restarts_the_wait(make_reading: Any, start: Any, hidden: Any) -> None:
    settler = StabilityFilter(StabilitySettings(readings=2, quiet_s=0.0))
    for step in range(3):
        settler.add(felt(make_reading(start, time_s=step / 10, hidden=hidden, unreadable=["c2"]), "c2", 0.03))
    again = [
        settler.add(felt(make_reading(start, time_s=1 + step / 10, hidden=hidden, unreadable=["c2"]), "c2", 0.99))
        for step in range(2)
    ]
    assert again[0] is None
    assert again[1] is not None
    assert again[1].since_s == pytest.approx(1.0)


def test_a_sensor_that_is_not_sure_may_flicker(make_reading: Any, start: Any) -> None:
    settler = StabilityFilter(StabilitySettings(readings=2, quiet_s=0.0))
    settled = [
        settler.add(felt(make_reading(start, time_s=step / 10), "c2", 0.3 + 0.4 * (step % 2))) for step in range(6)
    ]
    assert settled[-1] is not None
    assert settled[-1].since_s == 0.0


def test_a_hidden_square_with_a_sensor_does_not_block_the_table(make_reading: Any, start: Any) -> None:
    alone, with_sensor = StallWatch(5.0, 0.8), StallWatch(5.0, 0.8)
    named: list[str] = []
    for second in range(10):
        reading = make_reading(start, time_s=float(second), hidden=["c2"])
        named += alone.add(reading)
        assert with_sensor.add(felt(reading, "c2", 0.03)) == ()
    assert named == ["c2"]
