"""A Raspberry Pi Pico in rp2040py: a real MicroPython on the emulated RP2040, with its USB port and its pins.

Time is the chip's own, in nanoseconds, whatever the computer needs for it. Instructions take the cycles of the
Cortex-M0+, but flash memory is always as quick as its cache, which a real chip's isn't: programs take somewhat longer
there. Edges come with the end of the instruction in which they fall, some 70 ns early or late.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rp2040py.boards import BoardSpec
from rp2040py.device import BaseDevice
from rp2040py.execute_batch import execute_batch
from rp2040py.gpio_pin import GPIOPinState
from rp2040py.memory_map import FLASH_START_ADDRESS

from tests.system.rp2040.edges import MS, Edge

_SLICE_NS = MS // 2
# A packet of 64 bytes with all that belongs to it takes some 50 us at USB's 12 Mbit/s: at most 19 of them fit into a
# frame of 1 ms (USB 2.0 specification, table 5-9).
_USB_PACKET_US = 50


class EmulatedPico:
    """A Pico that is switched on and then lives only while ``run_until`` or ``run_for`` runs it.

    Attributes:
        is_connected: whether the host has found its USB port.
        starts: how often that happened: once for each start.
    """

    def __init__(self, uf2: Path, flash: bytes = b"") -> None:
        device = BaseDevice(board=BoardSpec(image=uf2))
        self._simulator = device.simulator
        self._chip: Any = device.mcu
        self._chip.flash[: len(flash)] = flash
        self._clock: Any = self._chip.clock
        self._slice_end = self._clock.create_alarm(self._pause)
        self._usb: Any = self._chip.usb_ctrl
        self._usb.read_delay_microseconds = self._usb.write_delay_microseconds = _USB_PACKET_US
        self._answer_as_before = self._usb.on_endpoint_read
        self._usb.on_endpoint_read = self._chip_takes
        self._reset_as_before = self._usb.on_reset
        self._usb.on_reset = self._was_reset
        device.cdc.on_serial_data = self._chip_says
        device.cdc.on_device_connected = self._was_connected
        self._to_chip = bytearray()
        self._said = bytearray()
        self._takes: tuple[int, int] | None = None
        self._joined: set[tuple[int, int]] = set()
        self.is_connected = False
        self.starts = 0
        self._chip.core.pc = FLASH_START_ADDRESS

    @property
    def now_ns(self) -> float:
        """The chip's time."""
        now: float = self._clock.nanos
        return now

    @property
    def flash(self) -> bytes:
        """All of its flash memory: MicroPython and the files."""
        return bytes(self._chip.flash)

    def run_until(self, fits: Callable[[], bool], most_ms: float) -> bool:
        """Run until ``fits``, asked twice in a millisecond and whenever the chip says something; say whether it did."""
        end_ns = self.now_ns + most_ms * MS
        while not fits():
            left_ns = end_ns - self.now_ns
            if left_ns <= 0:
                return False
            self._simulator.stopped = False
            self._slice_end.schedule(min(left_ns, _SLICE_NS))
            execute_batch(self._simulator, 1)
        return True

    def run_for(self, ms: float) -> None:
        """Run for so long."""
        self.run_until(lambda: False, ms)

    def write(self, data: bytes) -> None:
        """Send bytes to its serial port."""
        self._to_chip += data
        self._send()

    def read(self) -> bytes:
        """Take what it said on its serial port."""
        said = bytes(self._said)
        self._said.clear()
        return said

    def watch(self, pin: int) -> list[Edge]:
        """Give a list that all edges of a pin are added to from now on."""
        edges: list[Edge] = []

        def moved(now: GPIOPinState, before: GPIOPinState) -> None:
            if (now is GPIOPinState.LOW) != (before is GPIOPinState.LOW):
                edges.append(Edge(self.now_ns, now is not GPIOPinState.LOW))

        self._chip.gpio[pin].add_listener(moved)
        return edges

    def press(self, pin: int) -> None:
        """Pull a pin to ground."""
        self._chip.gpio[pin].set_input_value(False)

    def release(self, pin: int) -> None:
        """Let go of a pin that was pulled to ground."""
        self._chip.gpio[pin].release_input()

    def join(self, row: int, column: int) -> None:
        """Close a switch with a diode between two pins: where the row is low, the column is too."""
        self._joined.add((row, column))

        def follow(now: GPIOPinState, before: GPIOPinState) -> None:
            if (row, column) in self._joined:
                (self.press if now is GPIOPinState.LOW else self.release)(column)

        self._chip.gpio[row].add_listener(follow)

    def part(self, row: int, column: int) -> None:
        """Open that switch."""
        self._joined.discard((row, column))
        self.release(column)

    def _pause(self) -> None:
        self._simulator.stopped = True

    def _was_connected(self) -> None:
        self.is_connected = True
        self.starts += 1

    def _was_reset(self) -> None:
        self._reset_as_before()
        self.is_connected = False
        self._to_chip.clear()
        self._takes = None

    def _chip_says(self, data: bytes) -> None:
        self._said += data
        self._pause()

    def _chip_takes(self, endpoint: int, size: int) -> None:
        if endpoint == 0:
            self._answer_as_before(endpoint, size)
        else:
            self._takes = (endpoint, size)
            self._send()

    def _send(self) -> None:
        # rp2040py's own host sends empty packets while it has nothing to say; a real one sends none.
        if self._takes is not None and self._to_chip:
            (endpoint, size), self._takes = self._takes, None
            data = bytes(self._to_chip[:size])
            del self._to_chip[:size]
            self._usb.endpoint_read_done(endpoint, data)
