"""A virtual board behind a real pseudo-terminal, and settings that name it."""

import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from app.settings.configuration import Configuration, load
from firmware_bridge.pin_maps.file import parse_pin_map
from hardware.pin_map import BUTTON_ROLES
from simulator.microcontroller.microcontroller import VirtualMicrocontroller
from simulator.microcontroller.wire import WireFaults
from tests.guard import GUARD_S

SMALL = """
board = "pico"
[lights]
pin = 28
count = 4
[matrix]
rows = [2]
columns = [3, 4, 5]
diodes = true
[buttons]
"end turn" = 10
hint = 11
[buzzer]
pin = 22
"""

SETTINGS = """
[lights]
drivers = ["board"]
light_map = "lights.toml"
[sensors]
source = "board"
map = "sensors.toml"
[board]
port = "PORT"
"""


class Heard(StringIO):
    """Printed text, for threads that wait for it."""

    def __init__(self) -> None:
        super().__init__()
        self._changed = threading.Condition()

    def write(self, text: str) -> int:
        with self._changed:
            written = super().write(text)
            self._changed.notify_all()
        return written

    def wait_for(self, text: str, times: int = 1) -> None:
        with self._changed:
            found = self._changed.wait_for(lambda: self.getvalue().count(text) >= times, GUARD_S)
        assert found, f"{text!r} was not printed {times} times"


@dataclass(frozen=True)
class Plugged:
    """A connected virtual board, and a folder for settings."""

    device: VirtualMicrocontroller
    folder: Path
    stack: ExitStack

    def unplug(self) -> None:
        """Pull the cable, and keep the port's name from other terminals until the end of the test."""
        self.stack.callback(os.close, os.open(self.device.port_name, os.O_RDWR | os.O_NOCTTY))
        self.device.unplug()

    def settings(self, more: str = "", base: str = SETTINGS) -> Configuration:
        """Write settings that name the board's port, and read them."""
        (self.folder / "referee.toml").write_text(base.replace("PORT", self.device.port_name) + more)
        return load(None, environment={"HOME": str(self.folder)}, folder=self.folder)


@contextmanager
def plugged(folder: Path, pins: str = SMALL, faults: WireFaults | None = None) -> Iterator[Plugged]:
    """Connect a virtual board."""
    pin_map = parse_pin_map(pins, button_roles=BUTTON_ROLES)
    with VirtualMicrocontroller(pin_map.device_json(), faults, seed=3) as device, ExitStack() as stack:
        yield Plugged(device, folder, stack)
