"""The way to the host: USB, which is the interpreter's own console, or a UART."""

import select
import sys

import machine
import micropython

from .pick import read_waiting, write_while_room

_USB_MOST_READ = 128
"""So that a long message doesn't keep the switches from being scanned: a byte takes an RP2040 some 20 us."""

_UART_MOST_READ = 256

_UART_RECEIVE_BYTES = 4096
_UART_SEND_BYTES = 1024


class UsbPort:
    """The console as a stream of bytes. Ctrl-C is a byte like any other from now on.

    The console only reads exactly as many bytes as are asked for and blocks until then, and says no more than whether
    there is one to read, or room for one to write. So bytes come and go one at a time.
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
        """Give what has arrived."""
        count = read_waiting(self._readable.ipoll, self._input.readinto, self._slots)  # type: ignore[attr-defined, union-attr]
        return bytes(self._view[:count]) if count else b""

    def write(self, data: memoryview) -> int:
        """Write what there is room for and give how much that was."""
        taken: int = write_while_room(self._writable.ipoll, self._output.write, data, self._one)  # type: ignore[attr-defined]
        return taken


class UartPort:
    """A UART with its wires.

    Where the processor itself makes the lights' pulses, interrupts wait meanwhile, and large frames may cost a resend.
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
        """Give what has arrived."""
        waiting = self._uart.any()
        return self._uart.read(min(waiting, _UART_MOST_READ)) or b"" if waiting else b""

    def write(self, data: memoryview) -> int:
        """Write what there is room for and give how much that was."""
        return self._uart.write(data) or 0
