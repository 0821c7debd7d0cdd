"""The parts connected to the pins: lights, switches, buttons, buzzer."""

import sys

import machine

from . import fastest_loops
from .clock import sleep_us

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .bitstream_strip import BitstreamStrip
    from .pio_strip import PioStrip

_SETTLE_US = 40
"""Rise time of a column with its pull-up (about 50 kOhm) and a cable of about 200 pF: four time constants."""

_REGISTER_BITS = 32  # pins that one read of the RP2's register covers

_HALF_DUTY = 32768  # of 65536: a square wave, the loudest
_LOWEST_HZ = 20  # limits of hearing, in Hz
_HIGHEST_HZ = 20_000  # as above


def _input_pin(number: int) -> "machine.Pin":
    return machine.Pin(number, machine.Pin.IN, machine.Pin.PULL_UP)


def make_strip(pin: int, count: int, order: str) -> "BitstreamStrip | PioStrip":
    """Make a strip of WS2812 lights, driven by PIO if the chip has it."""
    port: str = sys.platform
    if port == "rp2":
        from .pio_strip import PioStrip

        return PioStrip(pin, count, order)
    from .bitstream_strip import BitstreamStrip

    return BitstreamStrip(pin, count, order)


class Contacts:
    """Contacts that close a pin to ground: single switches, buttons."""

    def __init__(self, pins: list[int]) -> None:
        self._pins = [_input_pin(pin) for pin in pins]

    def closed(self) -> int:
        """Return a bit mask of the closed ones."""
        mask = 0
        bit = 1
        for pin in self._pins:
            if not pin.value():
                mask |= bit
            bit <<= 1
        return mask


class RegisterContacts(Contacts):
    """The same, all read at once from the register of an RP2040 or RP2350."""

    def __init__(self, pins: list[int]) -> None:
        super().__init__(pins)
        self._numbers = bytes(pins)

    def closed(self) -> int:
        """Return a bit mask of the closed ones."""
        return fastest_loops.low_pins(self._numbers)


def make_contacts(pins: list[int]) -> Contacts:
    """Make contacts, read at once if the chip can."""
    port: str = sys.platform
    is_one_register = port == "rp2" and all(pin < _REGISTER_BITS for pin in pins)
    return RegisterContacts(pins) if is_one_register and fastest_loops.CAN_READ_PINS_AT_ONCE else Contacts(pins)


class Matrix:
    """Switches where rows and columns cross. One row at a time is pulled low, the others float; columns are read."""

    def __init__(self, rows: list[int], columns: list[int]) -> None:
        self._rows = [machine.Pin(row, machine.Pin.OPEN_DRAIN, value=1) for row in rows]
        self._columns = make_contacts(columns)

    def scan(self, masks: list[int]) -> None:
        """Fill in, for each row, a bit mask of the columns that are closed."""
        closed = self._columns.closed
        for index, row in enumerate(self._rows):
            row.value(0)
            sleep_us(_SETTLE_US)
            masks[index] = closed()
            row.value(1)


class PassiveBuzzer:
    """A buzzer that plays any tone."""

    def __init__(self, pin: int) -> None:
        self._pwm = machine.PWM(machine.Pin(pin), freq=1000, duty_u16=0)

    def tone(self, frequency_hz: int) -> None:
        """Sound at a frequency; 0 is silence."""
        if frequency_hz:
            self._pwm.freq(max(_LOWEST_HZ, min(_HIGHEST_HZ, frequency_hz)))
        self._pwm.duty_u16(_HALF_DUTY if frequency_hz else 0)


class ActiveBuzzer:
    """A buzzer with a tone of its own."""

    def __init__(self, pin: int) -> None:
        self._pin = machine.Pin(pin, machine.Pin.OUT, value=0)

    def tone(self, frequency_hz: int) -> None:
        """Sound at a frequency; 0 is silence."""
        self._pin.value(1 if frequency_hz else 0)
