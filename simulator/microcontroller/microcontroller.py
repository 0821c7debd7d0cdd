"""The virtual microcontroller in real time: a pseudo-terminal that behaves like a board on USB."""

import contextlib
import math
import os
import select
import threading
import time
import tty
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self

from serial.tools.list_ports_common import ListPortInfo

from common.closeable import Closeable
from firmware_bridge.protocol.messages import ResetCause
from simulator.microcontroller.board import MOST_BOUNCE_S, ShownFrame, SoundedTone
from simulator.microcontroller.stepped import WATCHDOG_S, SteppedMicrocontroller
from simulator.microcontroller.wire import WireFaults

_PIECE = 4096  # bytes read at once
_MOST_WAITING = 65536  # bytes that wait for a host that does not read


class PseudoTerminal(Closeable):
    """A pseudo-terminal: the host opens one end by ``name``, and this process reads and writes the other.

    Nothing here blocks. As on USB, data that the host doesn't read is buffered, and lost when the buffer is full.
    """

    def __init__(self) -> None:
        self._device_end, self._host_end = os.openpty()
        # the host's end stays open here too, so that reading doesn't fail while no host has it open
        tty.setraw(self._host_end)
        os.set_blocking(self._device_end, False)
        self.name = os.ttyname(self._host_end)
        self._waiting: deque[bytes] = deque()
        self._waiting_bytes = 0

    def fileno(self) -> int:
        """Return the file descriptor to wait on with ``select``."""
        return self._device_end

    @property
    def is_waiting(self) -> bool:
        """Whether data waits for the host to read: then also wait for the file to be writable."""
        return bool(self._waiting)

    def read(self) -> bytes:
        """Read bytes from the host, up to a few kilobytes; empty when there are none."""
        try:
            return os.read(self._device_end, _PIECE)
        except BlockingIOError:
            return b""

    def write(self, data: bytes) -> None:
        """Send as many bytes to the host as there is room for, and keep the rest for ``flush``."""
        if self._waiting_bytes + len(data) > _MOST_WAITING:
            return
        self._waiting.append(data)
        self._waiting_bytes += len(data)
        self.flush()

    def flush(self) -> None:
        """Send kept bytes, as many as there is room for."""
        while self._waiting:
            piece = self._waiting[0]
            try:
                sent = os.write(self._device_end, piece)
            except BlockingIOError:
                return
            self._waiting_bytes -= sent
            if sent < len(piece):
                self._waiting[0] = piece[sent:]
                return
            self._waiting.popleft()

    def close(self) -> None:
        """Remove it, as unplugging does: a host that has it open gets an error."""
        if self._device_end >= 0:
            os.close(self._device_end)
            os.close(self._host_end)
            self._device_end = self._host_end = -1


VENDOR_ID, PRODUCT_ID = 0x2E8A, 0x0005
"""USB numbers of a Raspberry Pi Pico with MicroPython."""


_LONGEST_SLEEP_S = 60.0  # bound for select


class VirtualMicrocontroller(Closeable):
    """The firmware's own core on a virtual board, behind a real pseudo-terminal and a faulty wire.

    For a program that opens ``port_name`` with pyserial and lists ports with ``list_ports`` it behaves like a board on
    USB. A context manager: inside, one thread serves the port and sleeps in ``select`` when nothing is due. All methods
    may be called from any thread. The arguments are those of ``SteppedMicrocontroller``.
    """

    def __init__(
        self,
        pin_map: bytes,
        faults: WireFaults | None = None,
        seed: int = 0,
        *,
        serial_number: str = "E6614C311B7F0001",
        bounce_s: float = MOST_BOUNCE_S,
        watchdog_s: float = WATCHDOG_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pin_map = pin_map
        self._faults = faults
        self._seed = seed
        self._bounce_s = bounce_s
        self._watchdog_s = watchdog_s
        self._serial_number = serial_number
        self._clock = clock
        self._changed = threading.Condition(threading.RLock())
        self._stepped: SteppedMicrocontroller | None = None
        self._terminal: PseudoTerminal | None = None
        self._next_terminal: PseudoTerminal | None = None
        self._wake_read, self._wake_write = -1, -1
        self._threads = ThreadPoolExecutor(max_workers=1, thread_name_prefix="virtual microcontroller")
        self._serving: Future[None] | None = None
        self._is_closing = False
        self._rounds = 0

    def __enter__(self) -> Self:
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        os.set_blocking(self._wake_write, False)
        self._terminal = PseudoTerminal()
        self._stepped = SteppedMicrocontroller(
            self._pin_map,
            self._faults,
            self._seed,
            start_s=self._clock(),
            bounce_s=self._bounce_s,
            watchdog_s=self._watchdog_s,
        )
        self._serving = self._threads.submit(self._serve)
        self._serving.add_done_callback(self._ended)
        return self

    def close(self) -> None:
        """End the thread and remove the port. Raises the exception that ended the thread earlier, if any."""
        if self._serving is None or self._is_closing:
            return
        self._is_closing = True
        self._wake()
        self._threads.shutdown()
        for terminal in (self._terminal, self._next_terminal):
            if terminal is not None:
                terminal.close()
        os.close(self._wake_read)
        os.close(self._wake_write)
        self._terminal = self._next_terminal = None
        self._serving.result()

    # the host computer's side

    @property
    def port_name(self) -> str:
        """The port to open: ``/dev/pts/...``. Raises RuntimeError while unplugged."""
        with self._changed:
            if self._terminal is None:
                raise RuntimeError("the virtual microcontroller is unplugged, or not running; it has no port")
            return self._terminal.name

    def list_ports(self) -> list[ListPortInfo]:
        """List ports like ``serial.tools.list_ports.comports``: this one, while it is plugged in."""
        with self._changed:
            if self._terminal is None:
                return []
            record = ListPortInfo(self._terminal.name, skip_link_detection=True)
        # as reported by a Pico with MicroPython
        record.description = "Board in FS mode - Board CDC"
        record.manufacturer, record.product = "MicroPython", "Board in FS mode"
        record.vid, record.pid, record.serial_number = VENDOR_ID, PRODUCT_ID, self._serial_number
        return [record]

    # the side of a person at the table

    def lights(self) -> ShownFrame:
        """Return what the lights show now: as the host sent it (sRGB) and as the strip received it."""
        with self._changed:
            return self._running.board.shown[-1]

    def frames(self) -> tuple[ShownFrame, ...]:
        """Return the frames shown so far, up to the last thousand, with their times on the clock."""
        with self._changed:
            return tuple(self._running.board.shown)

    def tones(self) -> tuple[SoundedTone, ...]:
        """Return the tones sounded so far, up to the last 256."""
        with self._changed:
            return tuple(self._running.board.tones)

    def press(self, button: int, held_s: float = 0.1) -> None:
        """Press a button, and release it ``held_s`` later. Raises IndexError if there is no such button."""
        self._do(lambda stepped: stepped.press(button, self._clock(), held_s))

    def set_switch(self, switch: int, closed: bool) -> None:
        """Close or open a switch. Raises IndexError if there is no such switch."""
        self._do(lambda stepped: stepped.set_switch(switch, closed, self._clock()))

    def unplug(self) -> None:
        """Pull the cable: a host that has the port open gets an error, and the board has no power."""
        self._do(lambda stepped: stepped.unplug(self._clock()))

    def replug(self) -> None:
        """Plug the cable in again: the board starts, on a port with another name."""
        self._do(lambda stepped: stepped.replug(self._clock()))

    def reset(self, cause: ResetCause = ResetCause.SOFTWARE) -> None:
        """Reset the board; its port stays."""
        self._do(lambda stepped: stepped.reset(self._clock(), cause))

    def hang(self) -> None:
        """Let the firmware hang until the watchdog resets the board."""
        self._do(lambda stepped: stepped.hang(self._clock()))

    @property
    def boots(self) -> int:
        """Number of times the board has started."""
        with self._changed:
            return self._running.boots

    @property
    def is_plugged(self) -> bool:
        """Whether the cable is plugged in."""
        with self._changed:
            return self._terminal is not None

    @property
    def is_in_interpreter(self) -> bool:
        """Whether the host has switched the board to its bare interpreter."""
        with self._changed:
            return self._running.is_in_interpreter

    @property
    def rounds(self) -> int:
        """Number of times the thread has woken up."""
        with self._changed:
            return self._rounds

    def fault_counts(self) -> dict[str, int]:
        """Return the number of frames in both directions (``"frames"``), and of those hit by each kind of fault."""
        with self._changed:
            wires = (self._running.to_device, self._running.to_host)
            kinds = dict.fromkeys(kind for wire in wires for kind in wire.fault_counts)
            return {kind: sum(wire.fault_counts.get(kind, 0) for wire in wires) for kind in kinds}

    def wait_for(self, predicate: Callable[[], bool], timeout_s: float = 10.0) -> bool:
        """Wait until ``predicate`` is true, checked after each change; returns whether it was in time."""
        with self._changed:
            serving = self._serving
            holds = self._changed.wait_for(lambda: (serving is not None and serving.done()) or predicate(), timeout_s)
            if serving is not None and serving.done():
                # an exception that ended the thread is raised here
                serving.result()
                return predicate()
            return holds

    # the thread's side

    @property
    def _running(self) -> SteppedMicrocontroller:
        if self._stepped is None:
            raise RuntimeError("the virtual microcontroller is not running; use it in a with statement")
        return self._stepped

    def _do(self, act: Callable[[SteppedMicrocontroller], None]) -> None:
        with self._changed:
            stepped = self._running
            act(stepped)
            self._wake()
            # only the thread opens and closes ports, since it may just be waiting for one
            if not self.wait_for(lambda: stepped.is_plugged == (self._terminal is not None)):
                raise RuntimeError("the virtual microcontroller's thread did not open or close its port within 10 s")

    def _wake(self) -> None:
        # with a full pipe the thread wakes up as well
        with contextlib.suppress(BlockingIOError):
            os.write(self._wake_write, b"\0")

    def _match_plug(self) -> None:
        """Remove the port when the cable was pulled, and open one with another name when it is plugged in again."""
        stepped = self._running
        if not stepped.is_plugged and self._terminal is not None:
            # opened before the old one is closed, so that its name differs
            self._next_terminal = PseudoTerminal()
            self._terminal.close()
            self._terminal = None
        elif stepped.is_plugged and self._terminal is None:
            self._terminal, self._next_terminal = self._next_terminal, None

    def _serve(self) -> None:
        while not self._is_closing:
            self._round()

    def _ended(self, _serving: Future[None]) -> None:
        with self._changed:
            self._changed.notify_all()

    def _round(self) -> None:
        with self._changed:
            stepped, terminal, now_s = self._running, self._terminal, self._clock()
            due_s = stepped.next_due_s
            poll = select.poll()
            poll.register(self._wake_read, select.POLLIN)
            if terminal is not None:
                # a slow wire accepts no more while it is busy, so that the host's buffer fills
                is_free = stepped.to_device.free_at_s <= now_s
                if not is_free:
                    due_s = min(due_s, stepped.to_device.free_at_s)
                events = select.POLLIN * is_free | select.POLLOUT * terminal.is_waiting
                if events:
                    poll.register(terminal.fileno(), events)
        ready = poll.poll(math.ceil(1000 * max(0.0, min(due_s - now_s, _LONGEST_SLEEP_S))))
        if any(file == self._wake_read for file, _ in ready):
            os.read(self._wake_read, 4096)
        with self._changed:
            self._rounds += 1
            self._exchange(terminal if terminal is self._terminal else None)
            self._match_plug()
            self._changed.notify_all()

    def _exchange(self, terminal: PseudoTerminal | None) -> None:
        stepped, now_s = self._running, self._clock()
        if terminal is not None:
            data = terminal.read() if stepped.to_device.free_at_s <= now_s else b""
            if data:
                stepped.from_host(data, now_s)
        stepped.advance(now_s)
        for piece in stepped.take_to_host(now_s):
            if terminal is not None:
                terminal.write(piece)
        if terminal is not None:
            terminal.flush()
