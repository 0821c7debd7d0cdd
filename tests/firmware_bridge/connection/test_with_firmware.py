"""The connection to the firmware's own core, on the virtual board behind a real pseudo-terminal."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from firmware_bridge.connection.connection import BoardConnection
from firmware_bridge.connection.events import (
    BoardEvent,
    ButtonChanged,
    ConnectionState,
    Linked,
    Lost,
    SensorsReported,
)
from firmware_bridge.ports.selection import WantedBoard
from firmware_bridge.protocol.messages import ButtonAction, Configure
from simulator.microcontroller.microcontroller import VirtualMicrocontroller
from tests.guard import GUARD_S

Until = Callable[[BoardConnection, Callable[[list[BoardEvent]], bool]], list[BoardEvent]]

PIN_MAP = {
    "format": 1,
    "board": "pico",
    "name": "Raspberry Pi Pico",
    "link": "usb",
    "lights": {"pin": 28, "count": 8, "order": "GRB", "limit_ma": 2000, "brightness": 255},
    "matrix": {"rows": [2, 3], "columns": [4, 5], "diodes": True},
    "buttons": [10, 11],
    "buzzer": {"pin": 22, "kind": "passive"},
}
COLOURS = bytes(range(1, 25))


@pytest.fixture
def chip() -> Iterator[VirtualMicrocontroller]:
    with VirtualMicrocontroller(json.dumps(PIN_MAP).encode(), seed=5) as chip:
        yield chip


@pytest.fixture
def started_s() -> float:
    """When nothing had been asked of the board yet."""
    return time.monotonic()


@pytest.fixture
def connection(chip: VirtualMicrocontroller, said: Any, started_s: float) -> Iterator[BoardConnection]:
    with BoardConnection(WantedBoard(), time.monotonic, said, list_ports=chip.list_ports) as connection:
        yield connection


def shows(chip: VirtualMicrocontroller, colours: bytes) -> bool:
    return chip.wait_for(lambda: chip.lights().colours == colours, GUARD_S)


def test_lights_reach_the_strip_and_its_facts_the_host(
    chip: VirtualMicrocontroller, connection: BoardConnection, until: Until
) -> None:
    connection.show_lights(COLOURS)
    (linked,) = [event for event in until(connection, lambda events: len(events) > 0) if isinstance(event, Linked)]
    welcome = linked.welcome
    assert (welcome.lights, welcome.switches, welcome.buttons, welcome.buzzer) == (8, 4, 2, 2)
    assert welcome.board == "Raspberry Pi Pico"
    assert shows(chip, COLOURS)


def test_switches_and_presses_have_times_of_the_host(
    chip: VirtualMicrocontroller, connection: BoardConnection, started_s: float, until: Until
) -> None:
    connection.configure(Configure(debounce_ms=5, long_press_ms=10_000))
    # A board that has just started doubts its switches until they have rested.
    until(connection, lambda events: any(isinstance(e, SensorsReported) and not any(e.doubtful) for e in events))
    before_s = time.monotonic()
    chip.set_switch(3, True)
    events = until(connection, lambda events: any(isinstance(e, SensorsReported) and e.closed[3] for e in events))
    (change,) = [change for event in events if isinstance(event, SensorsReported) for change in event.changes]
    assert (change.switch, change.closed) == (3, True)
    chip.press(1)
    events = until(connection, lambda events: len([e for e in events if isinstance(e, ButtonChanged)]) == 2)
    pressed, released = (event for event in events if isinstance(event, ButtonChanged))
    assert (pressed.button, pressed.action) == (1, ButtonAction.PRESSED)
    assert (released.button, released.action) == (1, ButtonAction.RELEASED)
    assert released.held_s > 0
    # The clocks are matched to half of the quickest question's round trip, which on a busy computer may be anything
    # since the start; the board counts whole milliseconds.
    now_s = time.monotonic()
    off_s = (now_s - started_s) / 2 + 0.002
    assert all(before_s - off_s <= at_s <= now_s for at_s in (change.time_s, pressed.time_s, released.time_s))


def test_what_the_board_should_show_survives_everything(
    chip: VirtualMicrocontroller, connection: BoardConnection, until: Until
) -> None:
    def wait(kind: type[Any]) -> Any:
        return [
            e for e in until(connection, lambda events: any(isinstance(e, kind) for e in events)) if isinstance(e, kind)
        ]

    connection.show_lights(COLOURS)
    wait(Linked)
    assert shows(chip, COLOURS)
    chip.reset()
    assert wait(Linked)[-1].restarted
    assert shows(chip, COLOURS)
    first_name = chip.port_name
    chip.unplug()
    wait(Lost)
    connection.show_lights(COLOURS[::-1])
    chip.replug()
    assert wait(Linked)[-1].port.device == chip.port_name != first_name
    assert shows(chip, COLOURS[::-1])


def test_leaving_ends_at_the_bare_interpreter(
    chip: VirtualMicrocontroller, connection: BoardConnection, said: Any, until: Until
) -> None:
    until(connection, lambda events: any(isinstance(event, Linked) for event in events))
    connection.leave()
    assert connection.wait_for(lambda: connection.state is ConnectionState.RELEASED, GUARD_S)
    assert chip.wait_for(lambda: chip.is_in_interpreter, GUARD_S)
    assert said.sentences == []
