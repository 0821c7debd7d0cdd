"""Pseudo-terminals in place of USB serial ports."""

from __future__ import annotations

import os
import tty
from collections import deque

from common.closeable import Closeable

_PIECE = 4096
_MOST_WAITING = 65536


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
