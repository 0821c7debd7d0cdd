"""Bytes on their way to the host that the port hasn't taken yet. Pure."""

from .board import Board
from .cobs import encode_into, encoded_most


class Outbox:
    """A bounded buffer of whole frames; a frame that doesn't fit isn't begun."""

    def __init__(self, size: int = 1536) -> None:
        self._buffer = bytearray(size)
        self._view = memoryview(self._buffer)
        self._start = 0
        self._end = 0

    @property
    def is_empty(self) -> bool:
        """Whether everything was handed over."""
        return self._start == self._end

    def has_room_for(self, length: int) -> bool:
        """Whether the frame of a packet of ``length`` bytes fits."""
        needed = encoded_most(length) + 2
        if self._end + needed > len(self._buffer) and self._start:
            kept = self._end - self._start
            self._view[:kept] = self._view[self._start : self._end]
            self._start, self._end = 0, kept
        return self._end + needed <= len(self._buffer)

    def put(self, packet: bytes) -> bool:
        """Put in the frame of a packet; ``False`` when there is no room."""
        if not self.has_room_for(len(packet)):
            return False
        self._buffer[self._end] = 0
        end = encode_into(packet, self._buffer, self._end + 1)
        self._buffer[end] = 0
        self._end = end + 1
        return True

    def hand_over(self, board: Board) -> None:
        """Give the board what it takes now."""
        if self._start < self._end:
            self._start += board.write(self._view[self._start : self._end])
        if self._start == self._end:
            self._start = self._end = 0
