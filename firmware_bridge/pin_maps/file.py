"""Reads the owner's pin map from TOML, and validates it completely before anything is sent to a board."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from common.phrases import did_you_mean, first_faults
from common.toml_text import as_toml, parse_toml
from common.whole_files import MOST_SETTINGS_BYTES, read_text
from firmware_bridge.firmware.core.lights import FULL_CHANNEL_MA, IDLE_MA
from firmware_bridge.firmware.core.pin_map import (
    COLOUR_ORDERS,
    MOST_BUTTONS,
    MOST_COLUMNS,
    MOST_LIGHTS,
    MOST_ROWS,
    MOST_SINGLES,
)
from firmware_bridge.pin_maps.pin_map import (
    BOARDS,
    BoardKind,
    Buzzer,
    LightStrip,
    PinMap,
    PinMapError,
    SerialWires,
    SwitchMatrix,
)

LONGEST_NAME_BYTES = 40  # of a name in the file, such as a board's
BUZZER_KINDS = ("passive", "active")
LINKS = ("usb", "uart")
LOWEST_BAUD, HIGHEST_BAUD = 9600, 921_600  # what the boards support

_SECTIONS = ("uart", "lights", "matrix", "switches", "buttons", "buzzer")
_TOP_KEYS = ("board", "name", "link")
_PIN = re.compile(r"\s*(?:gp|gpio)?\s*(\d+)\s*", re.IGNORECASE)


def read_pin_map(file: Path, *, button_roles: Collection[str]) -> PinMap:
    """Read and validate a pin map's file; raises PinMapError as ``parse_pin_map`` does, and when it cannot be read."""
    try:
        text = read_text(file, most_bytes=MOST_SETTINGS_BYTES)
    except OSError as error:
        raise PinMapError(
            f"cannot read the pin map {file}: {error.strerror}; `./run hardware firmware pins --example` prints one"
        ) from error
    except UnicodeDecodeError as error:
        raise PinMapError(f"the pin map {file} is not UTF-8 text") from error
    return parse_pin_map(text, button_roles=button_roles, source=str(file))


def parse_pin_map(text: str, *, button_roles: Collection[str], source: str = "the pin map") -> PinMap:
    """Parse and validate a pin map in TOML; ``source`` names it in messages.

    Raises PinMapError listing all faults, one per line: unknown keys and boards (with the nearest name), pins that the
    board lacks or reserves, pins used twice (with both uses), too many lights or switches, buttons with roles other
    than ``button_roles``, and a map without anything connected.
    """
    try:
        values = parse_toml(text)
    except tomllib.TOMLDecodeError as error:
        raise PinMapError(f"{source} is not valid TOML: {error}") from error
    faults: list[str] = []
    made = _read(values, button_roles, source, faults)
    if made is None or faults:
        raise PinMapError(first_faults((f"{source}: {fault}" for fault in faults), "\n"))
    return made


def _read(values: Mapping[str, Any], button_roles: Collection[str], source: str, faults: list[str]) -> PinMap | None:
    top = _Section("", values, (*_TOP_KEYS, *_SECTIONS), faults)
    kind = BOARDS.get(top.choice("board", tuple(BOARDS), None))
    if kind is None:
        return None
    name = top.text("name", kind.title)
    pins = _Pins(kind, faults)
    link = _link(top, pins)
    lights, matrix, switches = _lights(top, pins), _matrix(top, pins), _switches(top, pins)
    buttons, buzzer = _buttons(top, pins, button_roles), _buzzer(top, pins)
    if not faults and not (lights or matrix or switches or buttons or buzzer):
        faults.append(f"nothing is connected to the board; give it at least one of {', '.join(_SECTIONS[1:])}")
    return PinMap(
        board=kind,
        name=name,
        link=link,
        lights=lights,
        matrix=matrix,
        switches=switches,
        buttons=buttons,
        buzzer=buzzer,
        warnings=tuple(f"{source}: {warning}" for warning in pins.warnings),
    )


def _link(top: _Section, pins: _Pins) -> SerialWires | None:
    kind = top.choice("link", LINKS, "usb")
    section = top.section("uart", ("number", "tx", "rx", "baud"))
    if kind != "uart":
        if section is not None and kind == "usb":
            top.fault('there is a section [uart], but the link is USB; write link = "uart", or leave the section out')
        return None
    if section is None:
        top.fault("the link is a UART, but there is no section [uart]; give it number, tx and rx")
        return None
    before = len(top.faults)
    number = section.number("number", 0, 9, None)
    tx, rx = pins.take(section, "tx", "the UART's tx"), pins.take(section, "rx", "the UART's rx")
    baud = section.number("baud", LOWEST_BAUD, HIGHEST_BAUD, 115_200)
    if len(top.faults) > before:
        return None
    pins.check_uart(number, tx, rx)
    return SerialWires(number, tx, rx, baud)


def _lights(top: _Section, pins: _Pins) -> LightStrip | None:
    section = top.section("lights", ("pin", "count", "order", "current_limit_ma", "brightness"))
    if section is None:
        return None
    faults_before = len(section.faults)
    strip = LightStrip(
        pin=pins.take(section, "pin", "the lights"),
        count=section.number("count", 1, MOST_LIGHTS, None),
        order=section.choice("order", COLOUR_ORDERS, "GRB"),
        current_limit_ma=section.number("current_limit_ma", 50, 60_000, 400),
        brightness=section.fraction("brightness", 1.0),
    )
    dark_ma, white_ma = strip.count * IDLE_MA, 3 * FULL_CHANNEL_MA
    if len(section.faults) == faults_before and strip.current_limit_ma < dark_ma + white_ma:
        section.fault(
            f"lights.current_limit_ma is {strip.current_limit_ma}; {strip.count} lights draw {dark_ma} mA when dark "
            f"and one of them in white {white_ma} more; give at least {dark_ma + white_ma}"
        )
    return strip


def _matrix(top: _Section, pins: _Pins) -> SwitchMatrix | None:
    section = top.section("matrix", ("rows", "columns", "diodes"))
    if section is None:
        return None
    return SwitchMatrix(
        rows=pins.take_list(section, "rows", "matrix row", MOST_ROWS),
        columns=pins.take_list(section, "columns", "matrix column", MOST_COLUMNS),
        diodes=section.flag("diodes", False),
    )


def _switches(top: _Section, pins: _Pins) -> tuple[int, ...]:
    section = top.section("switches", ("pins",))
    return () if section is None else pins.take_list(section, "pins", "switch", MOST_SINGLES)


def _buttons(top: _Section, pins: _Pins, roles: Collection[str]) -> tuple[tuple[str, int], ...]:
    section = top.section("buttons", tuple(roles), "button")
    if section is None:
        return ()
    if len(section.values) > MOST_BUTTONS:
        section.fault(f"there are {len(section.values)} buttons; the firmware takes {MOST_BUTTONS}")
    return tuple((role, pins.take(section, role, f"the button {role!r}")) for role in section.values if role in roles)


def _buzzer(top: _Section, pins: _Pins) -> Buzzer | None:
    section = top.section("buzzer", ("pin", "kind"))
    if section is None:
        return None
    return Buzzer(pins.take(section, "pin", "the buzzer"), section.choice("kind", BUZZER_KINDS, "passive"))


class _Section:
    """One table of the file; reading from it collects faults and continues, so that all are reported at once."""

    def __init__(
        self, name: str, values: Mapping[str, Any], known: Collection[str], faults: list[str], what: str = "key"
    ) -> None:
        self.name = name
        self.values = values
        self.faults = faults
        for key in values:
            if key not in known:
                guess = did_you_mean(key, known)
                self.fault(f"there is no {what} {self._path(key)}{guess}; known: {', '.join(known)}")

    def fault(self, sentence: str) -> None:
        self.faults.append(sentence)

    def wrong(self, key: str, expected: str) -> None:
        got = as_toml(self.values[key]) if key in self.values else "missing"
        self.fault(f"{self._path(key)} is {got}; expected {expected}")

    def section(self, name: str, known: Collection[str], what: str = "key") -> _Section | None:
        values = self.values.get(name)
        if values is None:
            return None
        if not isinstance(values, dict):
            self.wrong(name, f"a section [{name}] with {', '.join(known)}")
            return None
        return _Section(name, values, known, self.faults, what)

    def number(self, key: str, low: int, high: int, default: int | None) -> int:
        value = self.values.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.wrong(key, f"a whole number from {low} to {high}")
            return low
        return value

    def fraction(self, key: str, default: float) -> float:
        value = self.values.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
            self.wrong(key, "a number above 0, up to 1 for full")
            return default
        return float(value)

    def flag(self, key: str, default: bool) -> bool:
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            self.wrong(key, "true or false")
            return default
        return value

    def choice(self, key: str, choices: tuple[str, ...], default: str | None) -> str:
        value = self.values.get(key, default)
        if value not in choices:
            guess = did_you_mean(value, choices) if isinstance(value, str) else ""
            self.wrong(key, f"one of {', '.join(map(as_toml, choices))}{guess}")
            return default or ""
        return str(value)

    def text(self, key: str, default: str) -> str:
        value = self.values.get(key, default)
        if not isinstance(value, str) or not value.strip() or len(value.encode()) > LONGEST_NAME_BYTES:
            self.wrong(key, f"a name of at most {LONGEST_NAME_BYTES} bytes")
            return default
        return value

    def _path(self, key: str) -> str:
        key = key if re.fullmatch(r"[\w-]+", key) else as_toml(key)
        return f"{self.name}.{key}" if self.name else key


class _Pins:
    """The pins of one board, each assigned at most once."""

    def __init__(self, kind: BoardKind, faults: list[str]) -> None:
        self.kind = kind
        self.warnings: list[str] = []
        self._faults = faults
        self._uses: dict[int, str] = {}

    def take(self, section: _Section, key: str, use: str) -> int:
        if key not in section.values:
            section.wrong(
                key, f"a pin such as {min(self.kind.pins)} or {as_toml(self.kind.pin_name(min(self.kind.pins)))}"
            )
            return -1
        return self._take(section.values[key], use)

    def take_list(self, section: _Section, key: str, use: str, most: int) -> tuple[int, ...]:
        given = section.values.get(key)
        if not isinstance(given, list) or not given:
            section.wrong(key, "a list of pins, such as [2, 3, 4]")
            return ()
        if len(given) > most:
            section.fault(f"{section.name}.{key} has {len(given)} pins; at most {most} are taken")
        return tuple(self._take(pin, f"{use} {number}") for number, pin in enumerate(given, start=1))

    def check_uart(self, number: int, tx: int, rx: int) -> None:
        if number not in self.kind.uarts:
            known = " or ".join(map(str, sorted(self.kind.uarts)))
            self._faults.append(f"uart.number is {number}; on the {self.kind.title} it can be {known}")
            return
        for key, pin, fitting in zip(("tx", "rx"), (tx, rx), self.kind.serial_pins.get(number, ()), strict=False):
            if pin not in fitting:
                names = ", ".join(map(self.kind.pin_name, sorted(fitting)))
                self._faults.append(
                    f"uart.{key} is {self.kind.pin_name(pin)}; UART {number} of the {self.kind.title} has its {key} at "
                    f"one of {names}"
                )

    def _take(self, given: object, use: str) -> int:
        kind = self.kind
        match = _PIN.fullmatch(str(given)) if isinstance(given, int | str) and not isinstance(given, bool) else None
        if match is None:
            example = as_toml(kind.pin_name(min(kind.pins)))
            self._faults.append(f"{use}: {as_toml(given)} is not a pin; expected a number such as 2, or {example}")
            return -1
        pin = int(match[1])
        name = kind.pin_name(pin)
        if pin not in kind.pins:
            self._faults.append(f"{use}: the {kind.title} has no {name}; it has {kind.usable_text}")
        elif pin in kind.taken:
            self._faults.append(f"{use}: {name} cannot be used: {kind.taken[pin]}; use one of {kind.usable_text}")
        elif pin in self._uses:
            self._faults.append(f"{name} is used twice: for {self._uses[pin]} and for {use}; give each its own pin")
        elif pin in kind.delicate:
            self.warnings.append(f"{use} is on {name}: {kind.delicate[pin]}")
        self._uses.setdefault(pin, use)
        return pin
