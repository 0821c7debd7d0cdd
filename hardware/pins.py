"""Opens gpiozero's pin factory, explains its errors, and checks this computer's pins for ``./run doctor``."""

import importlib.util
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpiozero import Device
from gpiozero.exc import BadPinFactory, GPIOPinInUse, GPIOZeroError, GPIOZeroWarning
from gpiozero.pins import Factory

from common.findings import Finding, Severity
from common.phrases import Phrase, joined
from hardware.errors import DriverError, HardwareError, PinError

NO_PINS_REMEDY = Phrase(
    "`./run` installs the pin library lgpio on a 64-bit Pi with Python 3.11 to 3.13; elsewhere use the terminal"
)


def pin_errors() -> tuple[type[Exception], ...]:
    """Return all exceptions that a pin may raise: gpiozero's, the system's, and lgpio's own if it is loaded.

    RuntimeError is among them because RPi.GPIO raises it directly, for instance on a Pi 5, which it doesn't support.
    """
    lgpio_error = getattr(sys.modules.get("lgpio"), "error", None)
    own = (lgpio_error,) if isinstance(lgpio_error, type) and issubclass(lgpio_error, Exception) else ()
    return (GPIOZeroError, OSError, RuntimeError, *own)


def open_pin_factory() -> Factory:
    """Open gpiozero's default pin factory; raises DriverError with why each candidate failed and what to do.

    gpiozero's warnings (about falling back to the next library) become part of the error.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", GPIOZeroWarning)
        try:
            Device.ensure_pin_factory()
        except (BadPinFactory, ImportError, *pin_errors()) as error:
            tried = "; ".join(dict.fromkeys(str(warning.message) for warning in caught)) or str(error)
            raise DriverError(
                "this computer has no usable GPIO pins ({tried}); {no_pins_remedy}", tried, NO_PINS_REMEDY
            ) from error
    return Device.pin_factory


def hardware_error(use: str, error: Exception) -> HardwareError:
    """Convert a pin's exception to a HardwareError that names the pin's use and what to do."""
    if isinstance(error, GPIOPinInUse):
        return PinError("{use}: {error}; end the other program, or choose another pin", use, error)
    if isinstance(error, GPIOZeroError) and isinstance(error, ValueError):
        return PinError("{use}: {error}; choose a pin that this board has", use, error)
    reason = str(error) or type(error).__name__
    if "busy" in reason.lower():
        return DriverError(
            "{use}: another program holds the pin ({reason}); end it, or choose another pin", use, reason
        )
    return DriverError("{use}: {reason}; check the wiring, then run `./run doctor`", use, reason)


_MODEL = Path("proc/device-tree/model")


@dataclass(frozen=True)
class Computer:
    """The properties of the computer that are checked; passed in so that tests can replace them."""

    root: Path = Path("/")
    working_directory: Path = Path()
    environment: Mapping[str, str] | None = None
    has_module: Callable[[str], bool] = lambda name: importlib.util.find_spec(name) is not None
    open_factory: Callable[[], Factory] = open_pin_factory

    def gpio_chips(self) -> list[Path]:
        """Return the devices by which pins are reached."""
        return sorted((self.root / "dev").glob("gpiochip*"))


def probe(uses: Sequence[tuple[str, int]] = (), computer: Computer | None = None) -> list[Finding]:
    """Check the board, the pin library, permissions, and whether each pin exists on this board.

    ``uses`` are the pins' uses, in words, and their Broadcom numbers. Pins are not driven. Without ``uses``, a computer
    without GPIO is not a fault; if it is no Raspberry Pi either, a note says no more than that.
    """
    computer = computer or Computer()
    if not uses and not (computer.root / _MODEL).exists() and not computer.gpio_chips():
        return list(_model(computer))
    return [*_model(computer), *_library(computer), *_rights(computer), *_factory(computer, uses)]


def _model(computer: Computer) -> Iterator[Finding]:
    try:
        model = (computer.root / _MODEL).read_text(encoding="utf-8", errors="replace").strip("\0 \n")
    except OSError:
        yield Finding.note("computer", "this does not seem to be a Raspberry Pi", "use the terminal for lights")
        return
    yield Finding.ok("computer", model)


def _library(computer: Computer) -> Iterator[Finding]:
    environment = os.environ if computer.environment is None else computer.environment
    chosen = environment.get("GPIOZERO_PIN_FACTORY")
    if chosen:
        remedy = Phrase("unset GPIOZERO_PIN_FACTORY to let gpiozero choose")
        yield Finding.note("pin library", Phrase("GPIOZERO_PIN_FACTORY asks for {chosen}", chosen), remedy)
    if computer.has_module("lgpio"):
        yield Finding.ok("lgpio", "lgpio is installed; it knows every Raspberry Pi")
    else:
        yield Finding.note("lgpio", "lgpio is not installed; a Pi 5 has no pins without it", NO_PINS_REMEDY)


def _rights(computer: Computer) -> Iterator[Finding]:
    chips = computer.gpio_chips()
    closed = [chip.name for chip in chips if not os.access(chip, os.R_OK | os.W_OK)]
    if closed:
        remedy = Phrase("join the group gpio with `sudo usermod -aG gpio $USER`, then log in again")
        yield Finding.fault("rights", Phrase("you may not use {names}", joined(closed, ", ")), remedy)
    elif chips:
        yield Finding.ok("rights", Phrase("{names} can be used", joined((chip.name for chip in chips), ", ")))
    if chips and not os.access(computer.working_directory, os.W_OK):
        # lgpio makes a pipe there as soon as it is imported
        remedy = Phrase("start the referee in a directory you may write to")
        message = Phrase("lgpio must create a pipe in the working directory, but may not write there")
        yield Finding.fault("working directory", message, remedy)


def _factory(computer: Computer, uses: Sequence[tuple[str, int]]) -> Iterator[Finding]:
    try:
        factory = computer.open_factory()
        header = factory.board_info
    except pin_errors() as error:
        remedy = NO_PINS_REMEDY if NO_PINS_REMEDY not in str(error) else ""
        yield Finding("pins", Severity.FAULT if uses else Severity.NOTE, str(error), remedy)
        return
    yield Finding.ok("pins", Phrase("{name} drives the pins of a Pi {model}", type(factory).__name__, header.model))
    for use, number in uses:
        missing = _missing(factory, number)
        if missing is not None:
            yield Finding.fault(f"GPIO{number}", f"{use}: {missing}", "choose a pin that this board has")


def _missing(factory: Factory, number: int) -> str | None:
    try:
        found = next(iter(factory.board_info.find_pin(f"GPIO{number}")), None)
    except pin_errors() as error:
        return str(error)
    return None if found is not None else Phrase("this board has no such pin")
