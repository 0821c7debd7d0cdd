"""A strip of WS2812 lights on any pin of any chip: the processor generates the pulses, 30 us a light."""

import machine
import neopixel

from ..core.lights import PAUSE_US
from .clock import ticks_diff, ticks_us


class BitstreamStrip:
    """The strip. Interrupts wait while a frame is sent."""

    def __init__(self, pin: int, count: int, order: str) -> None:
        self._strip = neopixel.NeoPixel(machine.Pin(pin, machine.Pin.OUT), count)
        self._red, self._green, self._blue = (order.index(letter) for letter in "RGB")
        self._is_resting = False
        self._ended_us = 0

    def is_ready(self) -> bool:
        """Whether the pause after the last frame is over; to be called at least every few minutes."""
        if self._is_resting:
            self._is_resting = ticks_diff(ticks_us(), self._ended_us) < PAUSE_US
        return not self._is_resting

    def show(self, colours: bytearray) -> None:
        """Send the levels of all lights, red, green and blue of each; only when ready."""
        sent = self._strip.buf
        red, green, blue = self._red, self._green, self._blue
        for at in range(0, len(colours), 3):
            sent[at + red] = colours[at]
            sent[at + green] = colours[at + 1]
            sent[at + blue] = colours[at + 2]
        self._strip.write()
        self._is_resting = True
        self._ended_us = ticks_us()
