"""Connecting the controller that a plan asks for, and opening switches by number."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from serial.tools import list_ports

from common.phrases import capitalized
from firmware_bridge.connection.connection import BoardConnection
from firmware_bridge.errors import SilentDeviceError
from firmware_bridge.protocol.messages import Welcome
from hardware.inputs.switches import GpioSwitches
from referee.errors import ConfigError
from referee.wiring.controller import Controller, mismatches
from referee.wiring.plan import SwitchSource, WiringPlan
from referee.wiring.sensor_map import SwitchReport


class Switches(Protocol):
    """Switches by number, on a board or on the Pi's own pins."""

    @property
    def count(self) -> int:
        """How many there are."""
        ...

    @property
    def pin_map_crc(self) -> int | None:
        """What tells one numbering of the board's pins from another; ``None`` on the Pi's own pins."""
        ...

    def read(self) -> SwitchReport | None:
        """Give the newest report, with the changes since it was last asked for; ``None`` while there is none."""
        ...

    def wait(self, timeout_s: float) -> None:
        """Wait until there may be news, at most that long."""
        ...


@dataclass(frozen=True)
class SwitchesOnController:
    """The switches of a board that answers."""

    linked: LinkedController
    count: int
    pin_map_crc: int | None

    def read(self) -> SwitchReport | None:
        """Give the newest report."""
        return self.linked.controller.switches()

    def wait(self, timeout_s: float) -> None:
        """Wait for the board."""
        self.linked.wait(timeout_s)


@dataclass(frozen=True)
class SwitchesOnPins:
    """The switches on the Pi's own pins."""

    switches: GpioSwitches
    pin_map_crc: int | None = None

    @property
    def count(self) -> int:
        """How many there are."""
        return self.switches.pins.switches

    def read(self) -> SwitchReport | None:
        """Scan, and give what is believed."""
        return self.switches.latest(time.monotonic())

    def wait(self, timeout_s: float) -> None:
        """Wait for the next scan."""
        now_s = time.monotonic()
        time.sleep(max(0.0, min(timeout_s, self.switches.next_scan_s(now_s) - now_s)))


@contextmanager
def open_switches(plan: WiringPlan, say: Callable[[str], None]) -> Iterator[Switches]:
    """Open the switches that the settings name; raises ConfigError where they name none."""
    if plan.switch_source is SwitchSource.CONTROLLER:
        with answering_controller(plan, say) as linked:
            welcome = linked.welcome()
            if not welcome.switches:
                raise ConfigError(
                    "the board has no switches; name them in its pin map, then `referee firmware install`"
                )
            for sentence in mismatches(welcome, plan):
                say(sentence)
            yield SwitchesOnController(linked, welcome.switches, welcome.pin_map_checksum)
    elif plan.switch_source is SwitchSource.PINS and plan.switch_pins is not None:
        on_pins = GpioSwitches(plan.switch_pins, say, time.sleep)
        try:
            yield SwitchesOnPins(on_pins)
        finally:
            on_pins.close()
    else:
        raise ConfigError('no switches are set; set source below [sensors] to "board" or "pins"')


ANSWER_TIMEOUT_S = 20.0
"""How long a board may take to answer: long enough for one that is reset by opening its port, and asked twice."""


@dataclass(frozen=True)
class LinkedController:
    """The controller and the connection to it."""

    controller: Controller
    connection: BoardConnection

    def welcome(self, timeout_s: float = ANSWER_TIMEOUT_S) -> Welcome:
        """Wait for the board; raises what keeps it away (BridgeError), the first thing that does."""
        connection = self.connection
        connection.wait_for(lambda: connection.welcome is not None or connection.outage is not None, timeout_s)
        welcome, outage = connection.welcome, connection.outage
        if welcome is not None:
            return welcome
        if outage is not None:
            raise outage.error
        raise SilentDeviceError(f"no board answered within {timeout_s:g} s")

    def wait(self, timeout_s: float) -> None:
        """Wait until the board has told something, at most that long."""
        self.connection.wait_for(lambda: self.connection.has_events, timeout_s)


ListPorts = Callable[[], Iterable[Any]]
"""Gives pyserial's records of the ports there are."""


@contextmanager
def linked_controller(
    plan: WiringPlan, say: Callable[[str], None], list_ports: ListPorts = list_ports.comports
) -> Iterator[LinkedController]:
    """Look for the board of the plan for as long as this is entered; a board that is away is no error here.

    ``say`` gets a sentence when it is away and when it is back, from the connection's thread.
    """

    def tell(words: str) -> None:
        say(as_sentence(words))

    connection = BoardConnection(plan.wanted, time.monotonic, tell, list_ports=list_ports)
    connection.configure(plan.configure)
    with connection:
        yield LinkedController(Controller(connection, plan, say), connection)


@contextmanager
def answering_controller(
    plan: WiringPlan, say: Callable[[str], None], list_ports: ListPorts = list_ports.comports
) -> Iterator[LinkedController]:
    """Connect the board of the plan for a command that can do nothing without it, and wait until it answers.

    Raises what keeps it away (BridgeError), which is not said as well; what happens later is.
    """
    has_answered = threading.Event()

    def tell(sentence: str) -> None:
        if has_answered.is_set():
            say(sentence)

    with linked_controller(plan, tell, list_ports) as linked:
        linked.welcome()
        has_answered.set()
        yield linked


def as_sentence(words: str) -> str:
    """Make a sentence of what the connection says of the board."""
    return f"{capitalized(words)}{'' if words.endswith(('.', '?', '!')) else '.'}"
