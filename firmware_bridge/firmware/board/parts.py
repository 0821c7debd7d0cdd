"""What hangs on the pins: lights, switches, buttons, buzzer."""

import machine
import neopixel

from .clock import sleep_us

_SETTLE_US = 40
"""How long a column takes to rise by its pull-up (some 50 kOhm) along a cable of some 200 pF: four time constants."""

_HALF_DUTY = 32768
_LOWEST_HZ = 20
_HIGHEST_HZ = 20_000


def _input_pin(number: int) -> "machine.Pin":
    return machine.Pin(number, machine.Pin.IN, machine.Pin.PULL_UP)


class Strip:
    """A strip of WS2812 lights."""

    def __init__(self, pin: int, count: int, order: str) -> None:
        self._strip = neopixel.NeoPixel(machine.Pin(pin, machine.Pin.OUT), count)
        self._red, self._green, self._blue = (order.index(letter) for letter in "RGB")

    def show(self, colours: bytearray) -> None:
        """Send the levels of all lights, red, green and blue of each."""
        sent = self._strip.buf
        red, green, blue = self._red, self._green, self._blue
        for at in range(0, len(colours), 3):
            sent[at + red] = colours[at]
            sent[at + green] = colours[at + 1]
            sent[at + blue] = colours[at + 2]
        self._strip.write()


class Contacts:
    """Contacts that close a pin to ground: single switches, buttons."""

    def __init__(self, pins: list[int]) -> None:
        self._pins = [_input_pin(pin) for pin in pins]

    def closed(self) -> int:
        """Give a bit mask of the closed ones."""
        mask = 0
        bit = 1
        for pin in self._pins:
            if not pin.value():
                mask |= bit
            bit <<= 1
        return mask


class Matrix:
    """Switches where rows and columns cross. One row at a time is pulled low, the others float; columns are read."""

    def __init__(self, rows: list[int], columns: list[int]) -> None:
        self._rows = [machine.Pin(row, machine.Pin.OPEN_DRAIN, value=1) for row in rows]
        self._columns = Contacts(columns)

    def scan(self, masks: list[int]) -> None:
        """Fill in, for each row, a bit mask of the columns that are closed."""
        for index in range(len(self._rows)):
            row = self._rows[index]
            row.value(0)
            sleep_us(_SETTLE_US)
            masks[index] = self._columns.closed()
            row.value(1)


class PassiveBuzzer:
    """A buzzer that plays the tone it is given."""

    def __init__(self, pin: int) -> None:
        self._pwm = machine.PWM(machine.Pin(pin), freq=1000, duty_u16=0)

    def tone(self, frequency_hz: int) -> None:
        """Sound, or fall silent at 0."""
        if frequency_hz:
            self._pwm.freq(max(_LOWEST_HZ, min(_HIGHEST_HZ, frequency_hz)))
        self._pwm.duty_u16(_HALF_DUTY if frequency_hz else 0)


class ActiveBuzzer:
    """A buzzer with a tone of its own."""

    def __init__(self, pin: int) -> None:
        self._pin = machine.Pin(pin, machine.Pin.OUT, value=0)

    def tone(self, frequency_hz: int) -> None:
        """Sound, or fall silent at 0."""
        self._pin.value(1 if frequency_hz else 0)
