from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.connection.conversation import ClockSync

WRAP_MS = 2**32


def test_before_any_answer_it_is_now() -> None:
    assert ClockSync().host_s(12345, 7.0) == 7.0


def test_the_quickest_answer_counts() -> None:
    clock = ClockSync()
    clock.answered(0.0, 1.0, 100_000)
    clock.answered(2.0, 2.01, 102_000)
    clock.answered(3.0, 3.4, 103_300)
    assert clock.host_s(102_500, 4.0) == pytest.approx(2.505)


def test_an_old_answer_gives_way_once_the_clocks_may_have_drifted() -> None:
    clock = ClockSync()
    clock.answered(0.0, 0.001, 0)
    clock.answered(1000.0, 1000.02, 1_000_060)
    assert clock.host_s(1_000_060, 1001.0) == pytest.approx(1000.01)


def test_nothing_is_told_before_it_happened() -> None:
    clock = ClockSync()
    clock.answered(0.0, 0.1, 1000)
    assert clock.host_s(9000, 2.0) == 2.0


def test_an_answer_before_its_question_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="come later"):
        ClockSync().answered(2.0, 1.0, 0)


@given(
    st.integers(0, WRAP_MS - 1),
    st.floats(-100e-6, 100e-6),
    st.integers(0, 2**32),
    st.lists(st.floats(0.0005, 0.3), min_size=1, max_size=30),
)
def test_times_are_as_certain_as_the_best_of_the_last_answers(
    start_ms: int, drift: float, seed: int, round_trips_s: list[float]
) -> None:
    """A device whose counter starts anywhere (and wraps) and runs too fast or slow, behind a wire with any delays."""
    rng = random.Random(seed)

    def device_ms(time_s: float) -> int:
        return (start_ms + int(time_s * (1 + drift) * 1000)) % WRAP_MS

    clock = ClockSync()
    received_s = list[float]()
    now_s = 0.0
    for round_trip_s in round_trips_s:
        sent_s = now_s + rng.uniform(0, 20)
        clock.answered(sent_s, sent_s + round_trip_s, device_ms(sent_s + rng.random() * round_trip_s))
        now_s = sent_s + round_trip_s
        received_s.append(now_s)
    happened_s = now_s + rng.uniform(0, 5)
    told_s = happened_s + rng.uniform(0, 1)
    # Half of a round trip, and what two clocks of 50 ppm drift apart after it; the last 16 answers are kept.
    answers = list(zip(round_trips_s, received_s, strict=True))[-16:]
    uncertainty_s = min(round_trip_s / 2 + 1e-4 * (told_s - at_s) for round_trip_s, at_s in answers)
    # Two clock readings are each cut to whole milliseconds.
    assert abs(clock.host_s(device_ms(happened_s), told_s) - happened_s) <= uncertainty_s + 0.0021
