"""Checks the Pi's pins on this computer for ``referee doctor``: what is there, what is missing, what to do."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gpiozero.pins import Factory

from common.findings import Finding, Severity
from hardware.pins.pin_factory import NO_PINS_REMEDY, open_pin_factory, pin_errors
from hardware.pins.pin_map import GpioPinMap

_MODEL = Path("proc/device-tree/model")


@dataclass(frozen=True)
class Computer:
    """What the check looks at, passed in so that it can be another computer's."""

    root: Path = Path("/")
    working_directory: Path = Path()
    environment: Mapping[str, str] | None = None
    has_module: Callable[[str], bool] = lambda name: importlib.util.find_spec(name) is not None
    open_factory: Callable[[], Factory] = open_pin_factory


def probe(pins: GpioPinMap | None = None, computer: Computer | None = None) -> list[Finding]:
    """Look at the board, the pin library, the rights, and whether each pin of ``pins`` exists on this board.

    Pins are only looked up, none is driven. Without ``pins``, a computer without GPIO is no fault.
    """
    computer = computer or Computer()
    return [*_model(computer), *_library(computer), *_rights(computer), *_factory(computer, pins)]


def _model(computer: Computer) -> Iterator[Finding]:
    try:
        model = (computer.root / _MODEL).read_text(encoding="utf-8", errors="replace").strip("\0 \n")
    except OSError:
        yield Finding.note("computer", "this is no Raspberry Pi, as far as it says", "use the terminal for lights")
        return
    yield Finding.ok("computer", model)


def _library(computer: Computer) -> Iterator[Finding]:
    environment = os.environ if computer.environment is None else computer.environment
    chosen = environment.get("GPIOZERO_PIN_FACTORY")
    if chosen:
        remedy = "unset GPIOZERO_PIN_FACTORY to let gpiozero choose"
        yield Finding.note("pin library", f"GPIOZERO_PIN_FACTORY asks for {chosen}", remedy)
    if computer.has_module("lgpio"):
        yield Finding.ok("lgpio", "lgpio is installed; it knows every Raspberry Pi")
    else:
        yield Finding.note("lgpio", "lgpio is not installed; a Pi 5 has no pins without it", NO_PINS_REMEDY)


def _rights(computer: Computer) -> Iterator[Finding]:
    chips = sorted((computer.root / "dev").glob("gpiochip*"))
    closed = [chip.name for chip in chips if not os.access(chip, os.R_OK | os.W_OK)]
    if closed:
        remedy = "join the group with `sudo usermod -aG gpio $USER`, then log in again"
        yield Finding.fault("rights", f"you may not use {', '.join(closed)}", remedy)
    elif chips:
        yield Finding.ok("rights", f"{', '.join(chip.name for chip in chips)} can be used")
    if chips and not os.access(computer.working_directory, os.W_OK):
        # lgpio makes a pipe there as soon as it is imported.
        remedy = "start the referee in a directory you may write to"
        yield Finding.fault("working directory", "lgpio has to write a pipe here and may not", remedy)


def _factory(computer: Computer, pins: GpioPinMap | None) -> Iterator[Finding]:
    needed = pins is not None and bool(pins.uses)
    try:
        factory = computer.open_factory()
        header = factory.board_info
    except pin_errors() as error:
        remedy = NO_PINS_REMEDY if NO_PINS_REMEDY not in str(error) else "see the message"
        yield Finding("pins", Severity.FAULT if needed else Severity.NOTE, str(error), remedy)
        return
    yield Finding.ok("pins", f"{type(factory).__name__} drives the pins of a Pi {header.model}")
    for use, number in () if pins is None else pins.uses:
        missing = _missing(factory, number)
        if missing is not None:
            yield Finding.fault(f"GPIO{number}", f"{use}: {missing}", "choose a pin that this board has")


def _missing(factory: Factory, number: int) -> str | None:
    try:
        found = next(iter(factory.board_info.find_pin(f"GPIO{number}")), None)
    except pin_errors() as error:
        return str(error)
    return None if found is not None else "this board has no such pin"
