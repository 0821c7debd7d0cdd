"""The pin map of a microcontroller board, and the JSON format that the board reads."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from typing import Any

from common.json_files import parse_json
from firmware_bridge.errors import BridgeError
from firmware_bridge.pin_maps.boards import BoardKind

DEVICE_FORMAT = 1
"""The version of the format that the board reads."""


class PinMapError(BridgeError, ValueError):
    """A pin map that cannot be read or used; one line per fault: what was got, what was expected, what to do."""


@dataclass(frozen=True)
class SerialWires:
    """A UART of the board as the link, instead of USB: its number, its pins, and baud rate."""

    uart: int
    tx: int
    rx: int
    baud: int = 115200


@dataclass(frozen=True)
class LightStrip:
    """A strip of WS2812 lights.

    ``order`` is the order of a light's colour bytes. The board dims every frame so that the strip never draws more than
    ``current_limit_ma``; ``brightness`` is 1 for full.
    """

    pin: int
    count: int
    order: str
    current_limit_ma: int
    brightness: float


@dataclass(frozen=True)
class SwitchMatrix:
    """Switches at the crossings of rows (driven) and columns (read). ``diodes``: one at each switch."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    diodes: bool

    @property
    def count(self) -> int:
        """Number of switches."""
        return len(self.rows) * len(self.columns)


@dataclass(frozen=True)
class Buzzer:
    """A buzzer: ``passive`` ones play any tone, ``active`` ones only their own."""

    pin: int
    kind: str


@dataclass(frozen=True)
class PinMap:
    """What is connected to a board's pins, validated: each pin exists, is free, and is used once.

    ``link`` is ``None`` for USB. ``switches`` are single ones, each between its pin and ground, as are ``buttons``,
    (role, pin) each. ``warnings`` are sentences about pins with a caveat.
    """

    board: BoardKind
    name: str
    link: SerialWires | None = None
    lights: LightStrip | None = None
    matrix: SwitchMatrix | None = None
    switches: tuple[int, ...] = ()
    buttons: tuple[tuple[str, int], ...] = ()
    buzzer: Buzzer | None = None
    warnings: tuple[str, ...] = ()

    @property
    def light_count(self) -> int:
        """Number of lights."""
        return 0 if self.lights is None else self.lights.count

    @property
    def switch_count(self) -> int:
        """Number of switches: first the matrix's row by row, then the single ones."""
        return (0 if self.matrix is None else self.matrix.count) + len(self.switches)

    @property
    def button_roles(self) -> tuple[str, ...]:
        """Role of each button, in the order of the board's numbers."""
        return tuple(role for role, _ in self.buttons)

    def device_json(self) -> bytes:
        """Encode the map as the board reads it; the same map always gives the same bytes."""
        form: dict[str, Any] = {"format": DEVICE_FORMAT, "board": self.board.name, "name": self.name, "link": "usb"}
        if self.link is not None:
            form["link"] = {"uart": self.link.uart, "tx": self.link.tx, "rx": self.link.rx, "baud": self.link.baud}
        if self.lights is not None:
            form["lights"] = {
                "pin": self.lights.pin,
                "count": self.lights.count,
                "order": self.lights.order,
                "limit_ma": self.lights.current_limit_ma,
                "brightness": max(1, round(self.lights.brightness * 255)),
            }
        if self.matrix is not None:
            form["matrix"] = {"rows": self.matrix.rows, "columns": self.matrix.columns, "diodes": self.matrix.diodes}
        if self.switches:
            form["switches"] = self.switches
        if self.buttons:
            form["buttons"] = [pin for _, pin in self.buttons]
        if self.buzzer is not None:
            form["buzzer"] = {"pin": self.buzzer.pin, "kind": self.buzzer.kind}
        return json.dumps(form, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()

    @property
    def crc32(self) -> int:
        """CRC-32 of the encoded map; the board sends its own during the handshake."""
        return zlib.crc32(self.device_json())


def is_linked_by_usb(device_json: bytes) -> bool:
    """Return whether a board with this encoded map uses USB; it also does with a damaged map."""
    try:
        form = parse_json(device_json)
    except ValueError:
        return True
    return not isinstance(form, dict) or form.get("link", "usb") == "usb"
