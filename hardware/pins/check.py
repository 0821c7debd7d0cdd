"""Checks the Pi's pins on this computer for ``referee doctor``: what is there, what is missing, what to do."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gpiozero.pins import Factory

from hardware.pins.pin_factory import NO_PINS_REMEDY, open_pin_factory, pin_errors
from hardware.pins.pin_map import GpioPinMap

Level = Literal["ok", "note", "fault"]

_MODEL = Path("proc/device-tree/model")


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: ``level`` is ``ok``, ``note`` (works without it) or ``fault``."""

    subject: str
    level: Level
    message: str
    remedy: str = ""


@dataclass(frozen=True)
class Computer:
    """What the check looks at, passed in so that it can be another computer's."""

    root: Path = Path("/")
    working_directory: Path = Path()
    environment: Mapping[str, str] | None = None
    has_module: Callable[[str], bool] = lambda name: importlib.util.find_spec(name) is not None
    open_factory: Callable[[], Factory] = open_pin_factory


def probe(pins: GpioPinMap | None = None, surroundings: Computer | None = None) -> list[Finding]:
    """Look at the board, the pin library, the rights, and whether each pin of ``pins`` exists on this board.

    Pins are only looked up, none is driven. Without ``pins``, a computer without GPIO is no fault.
    """
    around = surroundings or Computer()
    return [*_board(around), *_library(around), *_rights(around), *_factory(around, pins)]


def _board(around: Computer) -> Iterator[Finding]:
    try:
        model = (around.root / _MODEL).read_text(encoding="utf-8", errors="replace").strip("\0 \n")
    except OSError:
        yield Finding("computer", "note", "this is no Raspberry Pi, as far as it says", "use the terminal for lights")
        return
    yield Finding("computer", "ok", model)


def _library(around: Computer) -> Iterator[Finding]:
    environment = os.environ if around.environment is None else around.environment
    chosen = environment.get("GPIOZERO_PIN_FACTORY")
    if chosen:
        remedy = "unset GPIOZERO_PIN_FACTORY to let gpiozero choose"
        yield Finding("pin library", "note", f"GPIOZERO_PIN_FACTORY asks for {chosen}", remedy)
    if around.has_module("lgpio"):
        yield Finding("lgpio", "ok", "lgpio is installed; it knows every Raspberry Pi")
    else:
        yield Finding("lgpio", "note", "lgpio is not installed; a Pi 5 has no pins without it", NO_PINS_REMEDY)


def _rights(around: Computer) -> Iterator[Finding]:
    chips = sorted((around.root / "dev").glob("gpiochip*"))
    closed = [chip.name for chip in chips if not os.access(chip, os.R_OK | os.W_OK)]
    if closed:
        remedy = "join the group with `sudo usermod -aG gpio $USER`, then log in again"
        yield Finding("rights", "fault", f"you may not use {', '.join(closed)}", remedy)
    elif chips:
        yield Finding("rights", "ok", f"{', '.join(chip.name for chip in chips)} can be used")
    if chips and not os.access(around.working_directory, os.W_OK):
        # lgpio makes a pipe there as soon as it is imported.
        remedy = "start the referee in a directory you may write to"
        yield Finding("working directory", "fault", "lgpio has to write a pipe here and may not", remedy)


def _factory(around: Computer, pins: GpioPinMap | None) -> Iterator[Finding]:
    needed = pins is not None and bool(pins.uses)
    try:
        factory = around.open_factory()
        header = factory.board_info
    except pin_errors() as error:
        remedy = NO_PINS_REMEDY if NO_PINS_REMEDY not in str(error) else "see the message"
        yield Finding("pins", "fault" if needed else "note", str(error), remedy)
        return
    yield Finding("pins", "ok", f"{type(factory).__name__} drives the pins of a Pi {header.model}")
    for use, number in () if pins is None else pins.uses:
        missing = _missing(factory, number)
        if missing is not None:
            yield Finding(f"GPIO{number}", "fault", f"{use}: {missing}", "choose a pin that this board has")


def _missing(factory: Factory, number: int) -> str | None:
    try:
        found = next(iter(factory.board_info.find_pin(f"GPIO{number}")), None)
    except pin_errors() as error:
        return str(error)
    return None if found is not None else "this board has no such pin"
