"""The supported boards and their pins; the pin map of a board, and the JSON format that the board reads."""

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from common.json_files import parse_json
from firmware_bridge.errors import BridgeError


@dataclass(frozen=True)
class BoardKind:
    """A kind of microcontroller board. Pins are numbered as by its maker (GP28, GPIO4).

    ``chip`` is the chip's name in MicroPython. ``taken`` maps pins that the board itself uses to the reason.
    ``delicate`` maps pins that work with a caveat to it. ``serial_pins`` are the (transmitting, receiving) pins that
    each UART can have; a UART that is not listed can use any pins.
    """

    name: str
    title: str
    chip: str
    prefix: str
    pins: frozenset[int]
    taken: Mapping[int, str]
    uarts: frozenset[int]
    delicate: Mapping[int, str] = field(default_factory=dict)
    serial_pins: Mapping[int, tuple[frozenset[int], frozenset[int]]] = field(default_factory=dict)

    def is_other_chip(self, machine: str) -> bool:
        """Return whether ``machine``, MicroPython's name of the board, is one of BOARDS with another chip."""
        return self.chip not in machine and any(kind.chip in machine for kind in BOARDS.values())

    def pin_name(self, number: int) -> str:
        """Return the name of a pin as printed on the board, ``GP28``."""
        return f"{self.prefix}{number}"

    @property
    def usable_text(self) -> str:
        """The usable pins, ``GP0 to GP22, GP26 to GP28``."""
        runs: list[list[int]] = []
        for pin in sorted(self.pins - self.taken.keys()):
            if runs and runs[-1][-1] == pin - 1:
                runs[-1].append(pin)
            else:
                runs.append([pin])
        names = ((self.pin_name(run[0]), self.pin_name(run[-1])) for run in runs)
        return ", ".join(first if first == last else f"{first} to {last}" for first, last in names)


# Raspberry Pi Pico Datasheet and Raspberry Pi Pico 2 Datasheet, "Pinout and design files": GPIOs of internal use. On
# the boards with wireless the same four go to the wireless chip (Raspberry Pi Pico W Datasheet, same chapter).
_PICO_TAKEN: Mapping[int, str] = MappingProxyType(
    {
        23: "it is the board's own power save line and leads to no pin",
        24: "it is the board's own sense line for USB power and leads to no pin",
        25: "it is the board's own light and leads to no pin",
        29: "it measures the board's own supply and leads to no pin",
    }
)

# RP2040 Datasheet and RP2350 Datasheet, table of GPIO functions, F2; without the pins that the board has taken.
_PICO_SERIAL: Mapping[int, tuple[frozenset[int], frozenset[int]]] = MappingProxyType(
    {
        0: (frozenset({0, 12, 16, 28}), frozenset({1, 13, 17})),
        1: (frozenset({4, 8, 20}), frozenset({5, 9, 21})),
    }
)

# ESP-IDF Programming Guide for the ESP32-S3, "GPIO & RTC GPIO": 45 GPIOs, 0 to 21 and 26 to 48, and the notes below.
_S3_TAKEN: Mapping[int, str] = MappingProxyType(
    {
        19: "it is a wire of the USB socket",
        20: "it is a wire of the USB socket",
        **dict.fromkeys(range(26, 33), "the module's flash memory is connected to it"),
    }
)
_S3_STRAPPING = "the chip reads it when it starts; what is connected to it can keep it from starting"
_S3_OCTAL = "modules with octal memory (such as N8R8, N16R8) need it themselves; others have it free"
_S3_CONSOLE = "it is the console's serial line on most boards"
_S3_DELICATE: Mapping[int, str] = MappingProxyType(
    {
        **dict.fromkeys((0, 3, 45, 46), _S3_STRAPPING),
        **dict.fromkeys(range(33, 38), _S3_OCTAL),
        **dict.fromkeys((43, 44), _S3_CONSOLE),
    }
)

_PICO_KIND = BoardKind(
    name="pico",
    title="Raspberry Pi Pico",
    chip="RP2040",
    prefix="GP",
    pins=frozenset(range(30)),
    taken=_PICO_TAKEN,
    uarts=frozenset({0, 1}),
    serial_pins=_PICO_SERIAL,
)

BOARDS: Mapping[str, BoardKind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            _PICO_KIND,
            replace(_PICO_KIND, name="pico2", title="Raspberry Pi Pico 2", chip="RP2350"),
            BoardKind(
                name="esp32-s3",
                title="ESP32-S3",
                chip="ESP32S3",
                prefix="GPIO",
                pins=frozenset((*range(22), *range(26, 49))),
                taken=_S3_TAKEN,
                delicate=_S3_DELICATE,
                # UART 0 is the interpreter's console.
                uarts=frozenset({1, 2}),
            ),
        )
    }
)
"""The boards by the name that a pin map gives them."""


_PICO = MappingProxyType(
    {
        "lights": "28",
        "rows": "[2, 3, 4, 5, 6, 7, 8, 9]",
        "columns": "[10, 11, 12, 13, 14, 15, 16, 17]",
        "buttons": "18 19 20",
        "buzzer": "22",
        "single": "[26, 27]",
        "uart": "0 0 1",
    }
)
_PINS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "pico": _PICO,
        "pico2": _PICO,
        "esp32-s3": MappingProxyType(
            {
                "lights": "21",
                "rows": "[4, 5, 6, 7, 8, 9, 10, 11]",
                "columns": "[12, 13, 14, 15, 16, 17, 18, 38]",
                "buttons": "39 40 41",
                "buzzer": "42",
                "single": "[47, 48]",
                "uart": "1 1 2",
            }
        ),
    }
)


def example_pin_map(board: str = "pico", button_roles: tuple[str, ...] = ("end turn", "hint", "take back")) -> str:
    """Return an example pin map for one of BOARDS: 64 lights, a matrix of 8 × 8 switches, a button per role, a buzzer.

    Raises KeyError for an unknown board.
    """
    kind, pins = BOARDS[board], _PINS[board]
    names = [role if role.isidentifier() else f'"{role}"' for role in button_roles]
    buttons = "\n".join(f"{name} = {pin}" for name, pin in zip(names, pins["buttons"].split(), strict=False))
    number, tx, rx = pins["uart"].split()
    light = int(pins["lights"])
    return f"""\
# What is connected to which pin. Leave out what you don't have. Pins are numbers as printed on the board, {light} or
# "{kind.pin_name(light)}"; the {kind.title} has {kind.usable_text}.
# `./run hardware firmware pins FILE` checks this file.
# `./run hardware firmware install --pins FILE` puts it on the board.

# The kind of board: {", ".join(f'"{name}"' for name in BOARDS)}.
board = "{board}"

# What the referee calls it.
name = "{kind.title}"

# How it is connected to the referee's computer: "usb", or "uart" with a section [uart].
link = "usb"

# A UART instead of USB: its number, its pins, bits a second.
# [uart]
# number = {number}
# tx = {tx}
# rx = {rx}
# baud = 115200

# A strip of WS2812 lights.
[lights]
pin = {light}

# How many lights, up to 300.
count = 64

# The order in which a light takes its colours; "GRB" for nearly all strips. If red and green are swapped, "RGB".
order = "GRB"

# The strip is dimmed so that it never draws more than this. From USB at most 400 mA; with a supply of its own, enter
# four fifths of what that can give.
current_limit_ma = 400

# 1.0 is full.
brightness = 0.6

# Switches (reed or hall) where rows and columns cross. Switch 0 is row 1, column 1; then along the row.
[matrix]
rows = {pins["rows"]}
columns = {pins["columns"]}

# true if each switch has a diode. Without diodes, three closed switches at the corners of a rectangle make the
# fourth read as closed, so the referee calls all four doubtful.
diodes = true

# Single switches, each from its pin to ground; they are counted after the matrix's.
# [switches]
# pins = {pins["single"]}

# Buttons, each from its pin to ground.
[buttons]
{buttons}

# "passive" plays tones, "active" has only its own.
[buzzer]
pin = {pins["buzzer"]}
kind = "passive"
"""


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
