"""A virtual board behind a real pseudo-terminal, and settings that name it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from firmware_bridge.pin_map_file import parse_pin_map
from hardware.pins import BUTTON_ROLES
from referee.config import Configuration, load
from simulator.microcontroller.faults import WireFaults
from simulator.microcontroller.microcontroller import VirtualMicrocontroller

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


@dataclass(frozen=True)
class Plugged:
    """A virtual board that is plugged in, and a folder for settings."""

    device: VirtualMicrocontroller
    folder: Path

    def settings(self, more: str = "", base: str = SETTINGS) -> Configuration:
        """Write settings that name the board's port, and read them."""
        (self.folder / "referee.toml").write_text(base.replace("PORT", self.device.port_name) + more)
        return load(None, environment={"HOME": str(self.folder)}, folder=self.folder)


@contextmanager
def plugged(folder: Path, pins: str = SMALL, faults: WireFaults | None = None) -> Iterator[Plugged]:
    """Plug a virtual board in."""
    pin_map = parse_pin_map(pins, button_roles=BUTTON_ROLES)
    with VirtualMicrocontroller(pin_map.device_json(), faults, seed=3) as device:
        yield Plugged(device, folder)
