"""For owners of a Pi: the drivers on real pins. Skipped unless the pins are named.

Join two free pins with a 1 kΩ resistor, say GPIO17 and GPIO27, and run

    REFEREE_REAL_PINS=17,27 ./check --real tests/real/test_real_pins.py

The first is driven, the second listens. Nothing else may be connected to either.
"""

import os
import threading
import time
from collections.abc import Iterator

import pytest
from gpiozero import DigitalInputDevice
from gpiozero.pins import Factory

from hardware.buttons import Buttons
from hardware.lights.gpio import BuzzerDriver, PlaceLed
from hardware.lights.panel import DriverSource, Panel
from hardware.lights.signals import Light, LightRole, Mood, Signal, Sound
from hardware.pin_map import ButtonRole, parse_pin
from hardware.pins import open_pin_factory, probe

NAMED = os.environ.get("REFEREE_REAL_PINS", "")
LATENESS_S = 0.05

pytestmark = pytest.mark.skipif(not NAMED, reason="set REFEREE_REAL_PINS=OUT,IN to two joined pins of a real Pi")


@pytest.fixture
def pins() -> tuple[int, int]:
    out, into = (parse_pin(name) for name in NAMED.split(","))
    return out, into


@pytest.fixture
def factory() -> Factory:
    return open_pin_factory()


@pytest.fixture
def heard(pins: tuple[int, int], factory: Factory) -> Iterator[list[tuple[float, bool]]]:
    edges: list[tuple[float, bool]] = []
    listener = DigitalInputDevice(pins[1], pin_factory=factory)
    listener.when_activated = lambda: edges.append((time.monotonic(), True))
    listener.when_deactivated = lambda: edges.append((time.monotonic(), False))
    yield edges
    listener.close()


def play(panel: Panel, seconds: float) -> None:
    end_s = time.monotonic() + seconds
    never = threading.Event()
    while (change_s := panel.next_change_s()) is not None and change_s < end_s:
        never.wait(max(0.0, change_s - time.monotonic()))
        panel.tick()
    never.wait(max(0.0, end_s - time.monotonic()))


def test_the_pins_are_in_order(pins: tuple[int, int]) -> None:
    faults = [
        finding for finding in probe([("place a1", pins[0]), ("place a2", pins[1])]) if finding.severity == "fault"
    ]
    assert faults == []


def test_a_blinking_light_blinks_in_time(
    pins: tuple[int, int], factory: Factory, heard: list[tuple[float, bool]]
) -> None:
    said: list[str] = []
    source = DriverSource("light a1", lambda: PlaceLed("a1", pins[0], pin_factory=factory))
    with Panel([source], time.monotonic, said.append) as panel:
        panel.tick()
        start_s = time.monotonic()
        panel.show(Signal(Mood.FAULT, (Light.for_role("a1", LightRole.FAULT),)), start_s)
        play(panel, 1.1)
    moments = [moment_s - start_s for moment_s, _ in heard[:5]]
    assert said == []
    assert [level for _, level in heard[:5]] == [True, False, True, False, True]
    assert moments == pytest.approx([0.0, 0.25, 0.5, 0.75, 1.0], abs=LATENESS_S)


def test_a_sound_has_its_rhythm(pins: tuple[int, int], factory: Factory, heard: list[tuple[float, bool]]) -> None:
    said: list[str] = []
    source = DriverSource("buzzer", lambda: BuzzerDriver(pins[0], pin_factory=factory))
    with Panel([source], time.monotonic, said.append) as panel:
        panel.tick()
        start_s = time.monotonic()
        panel.show(Signal(Mood.FAULT, sound=Sound.FAULT), start_s)
        play(panel, 1.2)
    assert said == []
    assert [moment_s - start_s for moment_s, _ in heard] == pytest.approx([0.0, 0.4, 0.52, 0.92], abs=LATENESS_S)


def test_a_press_is_heard_once(pins: tuple[int, int], factory: Factory) -> None:
    said: list[str] = []
    source = DriverSource("light a1", lambda: PlaceLed("a1", pins[0], active_high=False, pin_factory=factory))
    with Panel([source], time.monotonic, said.append) as panel:
        panel.tick()
        buttons = Buttons({ButtonRole.END_TURN: pins[1]}, time.monotonic, said.append, pin_factory=factory)
        panel.show(Signal(Mood.ACCEPTED, (Light.for_role("a1", LightRole.TURN),)))
        play(panel, 0.2)
        panel.show(Signal(Mood.WAITING))
        play(panel, 0.2)
        pressed = buttons.presses()
        buttons.close()
    assert said == []
    assert pressed == (ButtonRole.END_TURN,)
