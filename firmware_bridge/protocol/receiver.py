"""The receiving side of reliable delivery: in order, exactly once. Pure."""

from __future__ import annotations

import enum

from firmware_bridge.protocol.packets import SEQUENCE_NUMBERS

COMPLAIN_AGAIN_S = 0.01
"""How soon a gap that still stands is told again."""


class Arrival(enum.Enum):
    """What a numbered packet is to the receiver."""

    NEXT = "next"
    """The one that was expected."""
    REPEATED = "repeated"
    """One that was here before."""
    AFTER_GAP = "after a gap"
    """A later one: something before it is missing."""


class Receiver:
    """Which number is expected, and what to answer. A new session gets a new receiver.

    Attributes:
        expected: the number that is expected next; every packet to the peer carries it.
        gap_since_s: since when later ones came and this one did not; ``None`` while nothing is missing.
    """

    def __init__(self) -> None:
        self.expected = 0
        self.gap_since_s: float | None = None
        self._must_acknowledge = False
        self._must_complain = False
        self._complained_s: float | None = None

    @property
    def must_acknowledge(self) -> bool:
        """Whether the peer waits for ``expected``; any packet may carry it."""
        return self._must_acknowledge

    @property
    def must_complain(self) -> bool:
        """Whether the peer is to be told that something is missing."""
        return self._must_complain

    def take(self, sequence: int, now_s: float) -> Arrival:
        """Say what the packet of that number is; only ``NEXT`` may be used."""
        ahead = (sequence - self.expected) % SEQUENCE_NUMBERS
        if ahead == 0:
            self.expected = (self.expected + 1) % SEQUENCE_NUMBERS
            self._must_acknowledge = True
            self._must_complain = False
            self._complained_s = None
            self.gap_since_s = None
            return Arrival.NEXT
        if ahead >= SEQUENCE_NUMBERS // 2:
            self._must_acknowledge = True
            return Arrival.REPEATED
        if self.gap_since_s is None:
            self.gap_since_s = now_s
        if self._complained_s is None or now_s - self._complained_s >= COMPLAIN_AGAIN_S:
            self._must_complain = True
            self._complained_s = now_s
        return Arrival.AFTER_GAP

    def acknowledged(self) -> None:
        """Take in that a packet with ``expected`` is on its way."""
        self._must_acknowledge = False

    def complained(self) -> None:
        """Take in that the peer is being told of the gap, and of ``expected`` with it."""
        self._must_complain = False
        self._must_acknowledge = False
