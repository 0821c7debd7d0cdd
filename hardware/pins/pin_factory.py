"""Opens gpiozero's pin factory, and turns whatever its pins raise into errors that say what to do."""

from __future__ import annotations

import sys
import warnings

from gpiozero import Device
from gpiozero.exc import BadPinFactory, GPIOPinInUse, GPIOZeroError, GPIOZeroWarning
from gpiozero.pins import Factory

from hardware.errors import DriverError, HardwareError, PinError

NO_PINS_REMEDY = (
    "on a Pi install a pin library with `sudo apt install python3-lgpio` (docs/hardware.md says how it is found); "
    "elsewhere use the terminal"
)


def pin_errors() -> tuple[type[Exception], ...]:
    """Give every exception a pin may raise: gpiozero's, the system's, and lgpio's own where that is loaded.

    RuntimeError is among them since RPi.GPIO raises it bare, for instance on a Pi 5, which it does not know.
    """
    lgpio_error = getattr(sys.modules.get("lgpio"), "error", None)
    own = (lgpio_error,) if isinstance(lgpio_error, type) and issubclass(lgpio_error, Exception) else ()
    return (GPIOZeroError, OSError, RuntimeError, *own)


def open_pin_factory() -> Factory:
    """Give gpiozero's default pin factory; raises DriverError with why each candidate failed and what to do.

    What gpiozero only warns of (falling back from one library to the next) goes into the error.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", GPIOZeroWarning)
        try:
            Device.ensure_pin_factory()
        except (BadPinFactory, ImportError, *pin_errors()) as error:
            tried = "; ".join(dict.fromkeys(str(warning.message) for warning in caught)) or str(error)
            raise DriverError(f"this computer gives no GPIO pins ({tried}); {NO_PINS_REMEDY}") from error
    return Device.pin_factory


def hardware_error(use: str, error: Exception) -> HardwareError:
    """Turn what a pin raised into this room's error, saying what the pin was for and what to do."""
    if isinstance(error, GPIOPinInUse):
        return PinError(f"{use}: {error}; end the other program, or choose another pin")
    if isinstance(error, GPIOZeroError) and isinstance(error, ValueError):
        return PinError(f"{use}: {error}; choose a pin that this board has")
    reason = str(error) or type(error).__name__
    if "busy" in reason.lower():
        return DriverError(f"{use}: another program holds the pin ({reason}); end it, or choose another pin")
    return DriverError(f"{use}: {reason}; check the wiring, then run `referee doctor`")
