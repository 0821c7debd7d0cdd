"""Pseudo-terminals in place of USB serial ports: what a host opens, and the end that the virtual device holds."""

from __future__ import annotations

import os
import tty
from collections import deque
from types import TracebackType
from typing import Self

_PIECE = 4096
_MOST_WAITING = 65536


class PseudoTerminal:
    """A pseudo-terminal whose one end the host opens by ``name`` while this process reads and writes the other.

    Nothing here blocks. As on USB, what the host doesn't read waits in a buffer, and when that is full, is lost.
    """

    def __init__(self) -> None:
        self._device_end, self._host_end = os.openpty()
        # The host's end stays open here too, so that reading doesn't fail while no host has it open.
        tty.setraw(self._host_end)
        os.set_blocking(self._device_end, False)
        self.name = os.ttyname(self._host_end)
        self._waiting: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._lost_bytes = 0

    def fileno(self) -> int:
        """The file to wait on with ``select``."""
        return self._device_end

    @property
    def lost_bytes(self) -> int:
        """How many bytes were lost because the host didn't read."""
        return self._lost_bytes

    @property
    def is_waiting(self) -> bool:
        """Whether something waits until the host reads: then wait for the file to be writable, too."""
        return bool(self._waiting)

    def read(self) -> bytes:
        """What has come from the host, up to a few kilobytes; empty when there is nothing."""
        try:
            return os.read(self._device_end, _PIECE)
        except BlockingIOError:
            return b""

    def write(self, data: bytes) -> None:
        """Send bytes to the host, as far as there is room, and keep the rest for ``flush``."""
        if self._waiting_bytes + len(data) > _MOST_WAITING:
            self._lost_bytes += len(data)
            return
        self._waiting.append(data)
        self._waiting_bytes += len(data)
        self.flush()

    def flush(self) -> None:
        """Send what waits, as far as there is room."""
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
        """Take it away, as unplugging does: a host that has it open finds it gone."""
        if self._device_end >= 0:
            os.close(self._device_end)
            os.close(self._host_end)
            self._device_end = self._host_end = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
