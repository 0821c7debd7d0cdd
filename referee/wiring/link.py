"""Opening the switches that the settings name, by number: for commands that know no squares yet."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from hardware.sensor_matrix_pins import PinSwitches
from referee.board import misfits
from referee.board_link import LinkedBoard, answering_board
from referee.board_plan import WirePlan
from referee.board_switches import SwitchReport
from referee.errors import ConfigError


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
class SwitchesOfBoard:
    """The switches of a board that answers."""

    linked: LinkedBoard
    count: int
    pin_map_crc: int | None

    def read(self) -> SwitchReport | None:
        """Give the newest report."""
        return self.linked.board.switches()

    def wait(self, timeout_s: float) -> None:
        """Wait for the board."""
        self.linked.wait(timeout_s)


@dataclass(frozen=True)
class SwitchesOnPins:
    """The switches on the Pi's own pins."""

    switches: PinSwitches
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
def open_switches(plan: WirePlan, say: Callable[[str], None]) -> Iterator[Switches]:
    """Open the switches that the settings name; raises ConfigError where they name none."""
    if plan.sensors == "board":
        with answering_board(plan, say) as linked:
            welcome = linked.welcome()
            if not welcome.switches:
                raise ConfigError(
                    "the board has no switches; name them in its pin map, then `referee firmware install`"
                )
            for sentence in misfits(welcome, plan):
                say(sentence)
            yield SwitchesOfBoard(linked, welcome.switches, welcome.pin_map_checksum)
    elif plan.sensors == "pins" and plan.switch_pins is not None:
        on_pins = PinSwitches(plan.switch_pins, say, time.sleep)
        try:
            yield SwitchesOnPins(on_pins)
        finally:
            on_pins.close()
    else:
        raise ConfigError('no switches are set; set source below [sensors] to "board" or "pins"')
