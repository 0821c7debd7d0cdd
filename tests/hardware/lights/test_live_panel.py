from __future__ import annotations

import itertools
import queue
import threading
import time

import pytest

from hardware.errors import DriverError
from hardware.lights.panel import DriverSource, LivePanel, Panel
from hardware.lights.signals import Light, LightRole, Mood, Signal
from tests.guard import GUARD_S

SHOWN = Signal(Mood.FAULT, (Light.for_role("c3", LightRole.FAULT),))


class Telltale:
    """A driver that wants a tick every 10 ms and reports every call."""

    name = "telltale"

    def __init__(self) -> None:
        self.calls: queue.Queue[tuple[str, float]] = queue.Queue()
        self.error: Exception | None = None

    def show(self, signal: Signal, time_s: float) -> None:
        self.calls.put(("show", time_s))

    def tick(self, time_s: float) -> None:
        if self.error is not None:
            raise self.error
        self.calls.put(("tick", time_s))

    def next_change_s(self, time_s: float) -> float | None:
        return time_s + 0.01

    def close(self) -> None:
        self.calls.put(("close", 0.0))

    def next(self, kind: str) -> float:
        while True:
            called, time_s = self.calls.get(timeout=GUARD_S)
            if called == kind:
                return time_s


@pytest.fixture
def telltale() -> Telltale:
    return Telltale()


@pytest.fixture
def said() -> queue.Queue[str]:
    return queue.Queue()


@pytest.fixture
def panel(telltale: Telltale, said: queue.Queue[str]) -> Panel:
    return Panel([DriverSource("telltale", lambda: telltale)], time.monotonic, said.put)


def test_patterns_advance_by_themselves_and_never_tick_early(panel: Panel, telltale: Telltale) -> None:
    with LivePanel(panel, time.monotonic) as live:
        live.show(SHOWN)
        moments = [telltale.next("tick") for _ in range(5)]
    assert all(later - earlier >= 0.009 for earlier, later in itertools.pairwise(moments))
    telltale.next("close")


def test_the_time_of_a_recording_is_ignored(panel: Panel, telltale: Telltale) -> None:
    with LivePanel(panel, time.monotonic) as live:
        before_s = time.monotonic()
        live.show(SHOWN, 3.0)
        assert telltale.next("show") >= before_s


def test_a_driver_that_fails_in_the_thread_is_reported(
    panel: Panel, telltale: Telltale, said: queue.Queue[str]
) -> None:
    with LivePanel(panel, time.monotonic) as live:
        live.show(SHOWN)
        telltale.error = DriverError("unplugged")
        assert "unplugged" in said.get(timeout=GUARD_S)


def broken(panel: Panel, telltale: Telltale) -> LivePanel:
    """A live panel whose thread a driver has just ended with a bug."""
    live = LivePanel(panel, time.monotonic).__enter__()
    telltale.next("tick")
    telltale.error = KeyError("a bug")
    assert live._running is not None
    assert isinstance(live._running.exception(GUARD_S), KeyError)
    return live


def test_a_bug_in_a_driver_is_raised_on_leaving(panel: Panel, telltale: Telltale) -> None:
    live = broken(panel, telltale)
    with pytest.raises(KeyError, match="a bug"):
        live.__exit__(None, None, None)
    telltale.next("close")


def test_a_bug_in_a_driver_is_raised_at_the_next_show(panel: Panel, telltale: Telltale) -> None:
    live = broken(panel, telltale)
    with pytest.raises(KeyError, match="a bug"):
        live.show(SHOWN)
    live.close()
    telltale.next("close")


def test_leaving_ends_the_thread_even_when_nothing_ever_changes(said: queue.Queue[str]) -> None:
    with LivePanel(Panel([], time.monotonic, said.put), time.monotonic):
        assert any(thread.name.startswith("lights") for thread in threading.enumerate())
    assert not any(thread.name.startswith("lights") for thread in threading.enumerate())
