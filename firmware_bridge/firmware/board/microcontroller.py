"""A real board: pins and ports as ``core.board.Board``."""

import os

import machine

from ..core.board import Board
from ..core.pin_map import ACTIVE_BUZZER, PASSIVE_BUZZER, PinMap
from .chip import reset_cause, start_watchdog
from .clock import sleep_ms, ticks_ms
from .fastest_loops import make_levels
from .parts import ActiveBuzzer, Matrix, PassiveBuzzer, make_contacts, make_strip
from .ports import UartPort, UsbPort
from .stay import STAY_FILE

_SEND_TIMEOUT_MS = 100  # for the last bytes to leave before a reset; set by hand


class Microcontroller(Board):
    """A board wired as in a pin map; its files are in the folder ``root``, without a slash at the end.

    Raises ValueError for a pin that can't be used as the map says, OSError for a port that can't be used.
    """

    def __init__(self, pins: PinMap, root: str) -> None:
        self._root = root
        self.loops = make_levels()
        self.boot_id = int.from_bytes(os.urandom(4), "little")
        self.reset_cause = reset_cause()
        self._watchdog: machine.WDT | None = None
        self._strip = make_strip(pins.light_pin, pins.lights, pins.light_order) if pins.lights else None
        self._matrix = Matrix(pins.rows, pins.columns) if pins.rows else None
        self._singles = make_contacts(pins.singles) if pins.singles else None
        self._buttons = make_contacts(pins.buttons)
        self._buzzer: PassiveBuzzer | ActiveBuzzer | None = None
        if pins.buzzer == PASSIVE_BUZZER:
            self._buzzer = PassiveBuzzer(pins.buzzer_pin)
        elif pins.buzzer == ACTIVE_BUZZER:
            self._buzzer = ActiveBuzzer(pins.buzzer_pin)
        self._port: UartPort | UsbPort = UsbPort() if pins.uart is None else UartPort(*pins.uart)

    def ticks_ms(self) -> int:
        """Return the milliseconds of the board's clock."""
        ticks: int = ticks_ms()
        return ticks

    def read(self) -> bytes:
        """Read what has arrived from the host."""
        return self._port.read()

    def write(self, data: memoryview) -> int:
        """Write bytes to the host, and return how many were accepted."""
        return self._port.write(data)

    def takes_lights(self) -> bool:
        """Whether the strip accepts another frame now."""
        return self._strip is None or self._strip.is_ready()

    def show_lights(self, colours: bytearray) -> None:
        """Show the lights."""
        if self._strip is not None:
            self._strip.show(colours)

    def scan(self, masks: list[int]) -> None:
        """Read the switches."""
        if self._matrix is not None:
            self._matrix.scan(masks)
        if self._singles is not None:
            masks[-1] = self._singles.closed()

    def buttons(self) -> int:
        """Read the buttons."""
        return self._buttons.closed()

    def tone(self, frequency_hz: int) -> None:
        """Sound the buzzer."""
        if self._buzzer is not None:
            self._buzzer.tone(frequency_hz)

    def start_watchdog(self) -> None:
        """Start the watchdog."""
        self._watchdog = start_watchdog()

    def feed_watchdog(self) -> None:
        """Feed the watchdog."""
        if self._watchdog is not None:
            self._watchdog.feed()

    def restart(self, into_interpreter: bool) -> None:
        """Reset the board once its last bytes are sent."""
        if into_interpreter:
            with open(self._root + "/" + STAY_FILE, "w") as marker:
                marker.write("The board stays in the interpreter on its next start.\n")
        sleep_ms(_SEND_TIMEOUT_MS)
        machine.reset()
