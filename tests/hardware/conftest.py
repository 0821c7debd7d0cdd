from collections.abc import Callable, Iterator

import pytest
from gpiozero.pins import mock

from hardware.lights.panel import Panel

START_S = 100.0


class FakeClock:
    """A monotonic clock that stands still until it is set."""

    def __init__(self, now_s: float = START_S) -> None:
        self.now_s = now_s

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    """The referee's clock, also used by gpiozero's mock pins to time their states."""
    fake = FakeClock()
    monkeypatch.setattr(mock, "monotonic", fake)
    return fake


@pytest.fixture
def plain_pins(clock: FakeClock) -> Iterator[mock.MockFactory]:
    """Mock pins of a Pi 4 without pulse-width modulation."""
    factory = mock.MockFactory(revision="c03111")
    yield factory
    factory.close()


@pytest.fixture
def pwm_pins(clock: FakeClock) -> Iterator[mock.MockFactory]:
    """Mock pins of a Pi 4 with pulse-width modulation."""
    factory = mock.MockFactory(revision="c03111", pin_class=mock.MockPWMPin)
    yield factory
    factory.close()


@pytest.fixture
def play(clock: FakeClock) -> Callable[[Panel, float], int]:
    """Run a panel until a time, from one announced change to the next; returns the number of ticks."""

    def run(panel: Panel, until_s: float) -> int:
        ticks = 0
        while (change_s := panel.next_change_s(clock.now_s)) is not None and change_s <= until_s:
            assert change_s > clock.now_s, "the next change must lie ahead"
            clock.now_s = change_s
            panel.tick(clock.now_s)
            ticks += 1
        clock.now_s = until_s
        return ticks

    return run


@pytest.fixture
def history() -> Callable[[mock.MockPin], list[tuple[float, float]]]:
    """A mock pin's changes, without the initial state: (seconds since its states were cleared, state)."""

    def read(pin: mock.MockPin) -> list[tuple[float, float]]:
        moment_s, seen = 0.0, []
        for delta_s, state in pin.states[1:]:
            moment_s += delta_s
            seen.append((round(moment_s, 6), float(state)))
        return seen

    return read
