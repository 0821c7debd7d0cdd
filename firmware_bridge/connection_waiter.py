"""Sleeping until a port has bytes or room, somebody has something to say, or a moment has come."""

from __future__ import annotations

import math
import os
import select
import threading
from collections.abc import Callable
from contextlib import suppress

_WAKE = b"!"
# What a thread may at most sleep at a stretch; far below what poll(2) takes.
_LONGEST_MS = 3_600_000


class Waiter:
    """Lets one thread sleep without turning in circles; any thread may wake it.

    Attributes:
        returns: how often a sleep ended so far.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.returns = 0
        self._clock = clock
        # Whoever wakes must not write into what has been closed, and may be another file by then.
        self._closing = threading.Lock()
        self._is_open = True
        self._wake_in, self._wake_out = os.pipe()
        os.set_blocking(self._wake_in, False)
        os.set_blocking(self._wake_out, False)

    def wake(self) -> None:
        """End the sleep of now, or else the next one; harmless after the end."""
        # A full pipe wakes as well.
        with self._closing, suppress(BlockingIOError):
            if self._is_open:
                os.write(self._wake_out, _WAKE)

    def wait(self, until_s: float | None, port: int | None = None, *, for_room: bool = False) -> None:
        """Sleep until something is to be done.

        Args:
            until_s: the clock's time at which to wake; ``None``: never by time.
            port: the file descriptor of a port, whose bytes (or end) wake.
            for_room: whether room for writing to the port wakes, too.
        """
        poll = select.poll()
        poll.register(self._wake_in, select.POLLIN)
        if port is not None:
            poll.register(port, select.POLLIN | (select.POLLOUT if for_room else 0))
        ready = poll.poll(self._timeout_ms(until_s))
        self.returns += 1
        if any(file == self._wake_in for file, _ in ready):
            with suppress(BlockingIOError):
                os.read(self._wake_in, 4096)

    def close(self) -> None:
        """Let go of the pipe; nobody may sleep any more."""
        with self._closing:
            if self._is_open:
                self._is_open = False
                os.close(self._wake_in)
                os.close(self._wake_out)

    def _timeout_ms(self, until_s: float | None) -> int | None:
        if until_s is None:
            return None
        # Rounded up: waking a little early would mean waking twice.
        return min(_LONGEST_MS, max(0, math.ceil((until_s - self._clock()) * 1000)))
