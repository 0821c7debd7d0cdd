"""Deadlines by a given clock."""

import pytest

from engine.search.budget import CountingClock, Deadline, DeadlineExceededError, PeriodicTimeCheck


class SetClock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_a_margin_is_reserved() -> None:
    clock = SetClock()
    deadline = Deadline.after(1.0, clock)
    assert deadline.at_s == 101.0
    assert deadline.left_s() == pytest.approx(0.98)
    clock.now_s = 100.979
    assert not deadline.passed()
    deadline.check()
    clock.now_s = 100.981
    assert deadline.passed()
    with pytest.raises(DeadlineExceededError):
        deadline.check()


def test_the_margin_of_a_short_time_is_a_tenth() -> None:
    assert Deadline.after(0.05, SetClock()).left_s() == pytest.approx(0.045)


def test_a_share_ends_earlier_and_reserves_no_further_margin() -> None:
    clock = SetClock()
    half = Deadline(clock, 101.0, margin_s=0.2).share(0.5)
    assert half.left_s() == pytest.approx(0.4)
    clock.now_s += 5
    assert Deadline(clock, 101.0).share(0.5).passed()


def test_the_clock_is_read_only_every_few_calls() -> None:
    clock = CountingClock(1.0)
    check_time = PeriodicTimeCheck(Deadline(clock, 2.5), 10)
    for _ in range(29):
        check_time()
    assert clock.now_s == 2.0
    with pytest.raises(DeadlineExceededError):
        check_time()


def test_a_negative_time_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 0 s"):
        Deadline.after(-1.0, SetClock())
