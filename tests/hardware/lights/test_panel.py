from __future__ import annotations

import itertools
import queue
import threading
import time
from collections.abc import Callable

import pytest
from gpiozero import LED
from gpiozero.pins.mock import MockFactory
from hypothesis import given
from hypothesis import strategies as st

from hardware.errors import DriverError
from hardware.lights.gpio import PlaceLed
from hardware.lights.panel import DriverSource, LivePanel, Panel
from hardware.lights.signals import Light, LightRole, Mood, Signal, Sound
from tests.guard import GUARD_S
from tests.hardware.conftest import FakeClock

ACCEPTED = Signal(Mood.ACCEPTED, (Light.for_role("c3", LightRole.TURN),), Sound.ACCEPTED, "Gold moved.")
FAULT = Signal(Mood.FAULT, (Light.for_role("d4", LightRole.FAULT),), Sound.FAULT, "Not like that.")


class Device:
    """The device behind a driver: how often its driver was made, what it showed, and the error it raises now."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.made = 0
        self.open = 0
        self.shown: list[tuple[float, Signal]] = []
        self.ticks: list[float] = []

    def make(self) -> FlakyDriver:
        self.check()
        self.made += 1
        self.open += 1
        return FlakyDriver(self)

    def check(self) -> None:
        if self.error is not None:
            raise self.error


class FlakyDriver:
    name = "flaky"

    def __init__(self, device: Device) -> None:
        self.device = device

    def show(self, signal: Signal, time_s: float) -> None:
        self.device.check()
        self.device.shown.append((time_s, signal))

    def tick(self, time_s: float) -> None:
        self.device.check()
        self.device.ticks.append(time_s)

    def next_change_s(self, time_s: float) -> float | None:
        return time_s + 0.5

    def close(self) -> None:
        self.device.open -= 1
        self.device.check()


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def make_panel(clock: FakeClock, said: list[str]) -> Callable[..., Panel]:
    def make(**devices: Device) -> Panel:
        sources = [DriverSource(name, device.make) for name, device in devices.items()]
        return Panel(sources, clock, said.append, said.append)

    return make


def test_a_signal_goes_to_every_driver(make_panel, said: list[str]) -> None:
    lamp, bell = Device(), Device()
    panel = make_panel(lamp=lamp, bell=bell)
    panel.show(ACCEPTED, 1.0)
    panel.show(FAULT, 2.0)
    assert lamp.shown == bell.shown == [(1.0, ACCEPTED), (2.0, FAULT)]
    assert said == []


@pytest.mark.parametrize("error", [DriverError("the lamp is gone"), OSError("gone")])
def test_a_failing_driver_affects_no_other_and_is_reported_once(make_panel, said: list[str], error: Exception) -> None:
    lamp, bell = Device(), Device()
    panel = make_panel(lamp=lamp, bell=bell)
    panel.show(ACCEPTED, 0.0)
    lamp.error = error
    for second in range(1, 200):
        panel.show(FAULT, float(second))
    assert len(bell.shown) == 200
    assert said == [f"Lamp does not work: {error}. The game goes on, and the referee keeps trying."]
    assert (lamp.open, bell.open) == (0, 1)
    assert panel.working == ("bell",)


def test_a_driver_that_works_again_shows_the_current_signal_without_its_sound(make_panel, said: list[str]) -> None:
    lamp = Device()
    panel = make_panel(lamp=lamp)
    panel.show(ACCEPTED, 0.0)
    lamp.error = DriverError("unplugged")
    panel.tick(1.0)
    panel.show(FAULT, 1.5)
    lamp.error = None
    panel.tick(1.9)
    assert lamp.open == 0
    panel.tick(2.0)
    assert lamp.shown[-1] == (2.0, Signal(FAULT.mood, FAULT.lights, Sound.SILENCE, FAULT.words))
    assert said[-1] == "Lamp works again."
    assert (lamp.made, lamp.open) == (2, 1)


def test_the_time_between_retries_grows_and_is_announced(make_panel) -> None:
    lamp = Device()
    lamp.error = DriverError("not there")
    panel = make_panel(lamp=lamp)
    panel.tick(0.0)
    tried_s = []
    for _ in range(8):
        retry_s = panel.next_change_s(0.0)
        tried_s.append(retry_s)
        panel.tick(retry_s)
    assert tried_s == [1.0, 3.0, 7.0, 15.0, 31.0, 63.0, 123.0, 183.0]


def test_a_loose_contact_counts_as_working_again_only_after_a_minute(make_panel, said: list[str]) -> None:
    lamp = Device()
    panel = make_panel(lamp=lamp)
    now_s = 0.0
    for number in range(20):
        lamp.error = DriverError(f"loose {number % 3}")
        panel.tick(now_s := now_s + 1)
        lamp.error = None
        panel.tick(now_s := panel.next_change_s(now_s))
    broken = "Lamp does not work: loose {}. The game goes on, and the referee keeps trying.".format
    assert said == [broken(0), "Lamp works again.", broken(1)]
    panel.tick(now_s + 59)
    assert len(said) == 3
    panel.tick(now_s + 60)
    assert said[3:] == ["Lamp works again."]
    lamp.error = DriverError("loose 1")
    panel.tick(now_s + 61)
    assert said[4:] == [broken(1)]


def test_an_error_that_all_drivers_share_is_reported_once(make_panel, said: list[str]) -> None:
    devices = {f"light {place}": Device() for place in ("a1", "b2", "c3")}
    for device in devices.values():
        device.error = DriverError("this computer has no usable GPIO pins")
    panel = make_panel(**devices)
    panel.tick(0.0)
    assert len(said) == 1


def test_a_bug_in_a_driver_is_raised(make_panel) -> None:
    lamp = Device()
    panel = make_panel(lamp=lamp)
    lamp.error = KeyError("a bug")
    with pytest.raises(KeyError):
        panel.show(ACCEPTED, 0.0)


def test_a_panel_uses_its_clock_if_no_time_is_given(make_panel, clock) -> None:
    lamp = Device()
    panel = make_panel(lamp=lamp)
    panel.show(ACCEPTED)
    assert lamp.shown == [(clock.now_s, ACCEPTED)]
    assert panel.next_change_s() == clock.now_s + 0.5
    clock.now_s += 0.5
    panel.tick()
    assert lamp.ticks == [clock.now_s]


def test_closing_survives_a_driver_that_fails_on_closing(make_panel) -> None:
    lamp, bell = Device(), Device()
    with make_panel(lamp=lamp, bell=bell) as panel:
        panel.show(ACCEPTED, 0.0)
        lamp.error = OSError("gone")
    assert (lamp.open, bell.open) == (0, 0)


def test_two_drivers_with_the_same_name_are_refused(clock, said: list[str]) -> None:
    source = DriverSource("lamp", Device().make)
    with pytest.raises(ValueError, match="two drivers are called lamp"):
        Panel([source, source], clock, said.append)


steps = st.lists(
    st.tuples(st.sampled_from(["break", "mend", "show", "tick"]), st.floats(0.01, 40.0), st.sampled_from([0, 1])),
    max_size=60,
)


@given(steps)
def test_failures_never_stop_the_panel_and_repaired_drivers_show_the_current_signal(
    script: list[tuple[str, float, int]],
) -> None:
    devices = [Device(), Device()]
    said: list[str] = []
    sources = [DriverSource(f"driver {index}", device.make) for index, device in enumerate(devices)]
    panel = Panel(sources, lambda: 0.0, said.append)
    now_s, current = 0.0, None
    for action, pause_s, index in script:
        now_s += pause_s
        if action == "break":
            devices[index].error = DriverError(f"{index} broke")
        elif action == "mend":
            devices[index].error = None
        elif action == "show":
            current = (ACCEPTED, FAULT)[index]
            panel.show(current, now_s)
        else:
            panel.tick(now_s)
        assert all(device.open in (0, 1) for device in devices)
    for device in devices:
        device.error = None
    panel.tick(now_s + 61)
    assert [device.open for device in devices] == [1, 1]
    if current is not None:
        for device in devices:
            assert device.shown[-1][1].lights == current.lights
    outages = sum(action == "break" for action, _, _ in script)
    assert len(said) <= outages


def test_a_busy_pin_is_used_once_the_other_program_frees_it(clock, plain_pins: MockFactory, said: list[str]) -> None:
    sources = [
        DriverSource("light c3", lambda: PlaceLed("c3", 17, pin_factory=plain_pins)),
        DriverSource("light d4", lambda: PlaceLed("d4", 27, pin_factory=plain_pins)),
    ]
    both = Signal(Mood.ACCEPTED, (Light.for_role("c3", LightRole.TURN), Light.for_role("d4", LightRole.TURN)))
    other = LED(17, pin_factory=plain_pins)
    with Panel(sources, clock, said.append) as panel:
        panel.show(both)
        assert not plain_pins.pin("GPIO17").state
        assert plain_pins.pin("GPIO27").state
        assert len(said) == 1
        assert said[0].startswith("Light c3 (GPIO17) does not work: pin GPIO17 is already in use")
        other.close()
        clock.now_s += 1.0
        panel.tick()
        assert plain_pins.pin("GPIO17").state


def test_a_driver_counts_as_working_again_only_after_its_steady_time(clock) -> None:
    said, back, broken, is_open = list[str](), list[str](), [True], [False]

    class FailsLate:
        """Opens without an error and fails a second later."""

        name = "late"

        def __init__(self) -> None:
            self._made_s = clock.now_s
            is_open[0] = True

        def show(self, signal: Signal, time_s: float) -> None:
            self.tick(time_s)

        def tick(self, time_s: float) -> None:
            if broken[0] and time_s >= self._made_s + 1.0:
                raise OSError("nobody listens")

        def next_change_s(self, time_s: float) -> float | None:
            return time_s + 1.0

        def close(self) -> None:
            is_open[0] = False

    with Panel([DriverSource("late", FailsLate, steady_s=5.0)], clock, said.append, back.append) as panel:
        panel.show(Signal(Mood.WAITING))
        for _ in range(300):
            clock.now_s += 1.0
            panel.tick()
        assert len(said) == 1
        assert back == []
        broken[0] = False
        while not is_open[0]:
            clock.now_s += 1.0
            panel.tick()
        working_s = clock.now_s
        for _ in range(4):
            clock.now_s += 1.0
            panel.tick()
        assert back == []
        assert panel.next_change_s() == working_s + 5.0
        clock.now_s += 1.0
        panel.tick()
        assert back == ["Late works again."]
        assert len(said) == 1


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
def said_live_panel() -> queue.Queue[str]:
    return queue.Queue()


@pytest.fixture
def panel(telltale: Telltale, said_live_panel: queue.Queue[str]) -> Panel:
    return Panel([DriverSource("telltale", lambda: telltale)], time.monotonic, said_live_panel.put)


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
    panel: Panel, telltale: Telltale, said_live_panel: queue.Queue[str]
) -> None:
    with LivePanel(panel, time.monotonic) as live:
        live.show(SHOWN)
        telltale.error = DriverError("unplugged")
        assert "unplugged" in said_live_panel.get(timeout=GUARD_S)


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


def test_leaving_ends_the_thread_even_when_nothing_ever_changes(said_live_panel: queue.Queue[str]) -> None:
    with LivePanel(Panel([], time.monotonic, said_live_panel.put), time.monotonic):
        assert any(thread.name.startswith("lights") for thread in threading.enumerate())
    assert not any(thread.name.startswith("lights") for thread in threading.enumerate())
