"""The port to the host: USB, which is the interpreter's own console, or a UART."""

import select
import sys

import machine
import micropython

from .fastest_loops import read_waiting, write_while_room

_USB_MOST_READ = 128
"""Limits the delay of scans by a long message: a byte takes an RP2040 about 20 us."""

_UART_MOST_READ = 256  # bytes a step, so that no step takes long; set by hand

_UART_RECEIVE_BYTES = 4096  # 44 ms at 921,600 baud: longer than any step
_UART_SEND_BYTES = 1024  # room for the longest frame


class UsbPort:
    """The console as a stream of bytes, in which Ctrl-C has no special meaning.

    The console blocks until it has read all requested bytes, and only tells whether one byte can be read or written. So
    bytes are read and written one at a time.
    """

    def __init__(self) -> None:
        micropython.kbd_intr(-1)
        self._input = sys.stdin.buffer
        self._output = sys.stdout.buffer
        self._readable = select.poll()
        self._readable.register(sys.stdin, select.POLLIN)
        self._writable = select.poll()
        self._writable.register(sys.stdout, select.POLLOUT)
        self._read = bytearray(_USB_MOST_READ)
        self._view = memoryview(self._read)
        self._slots = [self._view[i : i + 1] for i in range(_USB_MOST_READ)]
        self._one = bytearray(1)

    def read(self) -> bytes:
        """Return the bytes that have arrived."""
        count = read_waiting(self._readable.ipoll, self._input.readinto, self._slots)  # type: ignore[attr-defined, union-attr]
        return bytes(self._view[:count]) if count else b""

    def write(self, data: memoryview) -> int:
        """Write as many bytes as there is room for, and return their number."""
        taken: int = write_while_room(self._writable.ipoll, self._output.write, data, self._one)  # type: ignore[attr-defined]
        return taken


class UartPort:
    """A UART.

    Where the processor generates the lights' pulses, interrupts wait meanwhile, so bytes may be lost and sent again.
    """

    def __init__(self, number: int, tx: int, rx: int, baud: int) -> None:
        self._uart = machine.UART(
            number,
            baudrate=baud,
            tx=machine.Pin(tx),
            rx=machine.Pin(rx),
            rxbuf=_UART_RECEIVE_BYTES,
            txbuf=_UART_SEND_BYTES,
            timeout=0,
        )

    def read(self) -> bytes:
        """Return the bytes that have arrived."""
        waiting = self._uart.any()
        return self._uart.read(min(waiting, _UART_MOST_READ)) or b"" if waiting else b""

    def write(self, data: memoryview) -> int:
        """Write as many bytes as there is room for, and return their number."""
        return self._uart.write(data) or 0
