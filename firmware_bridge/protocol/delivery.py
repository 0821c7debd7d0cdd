"""The sending side of reliable delivery: go-back-N with a window. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from firmware_bridge.protocol.packets import SEQUENCE_NUMBERS
from firmware_bridge.protocol.timer import RetransmissionTimer

HANDLING_S_A_BYTE = 60e-6
"""How long a device may take over what came, for each byte: a Pico takes some 50 ms over the 900 of 300 lights."""


@dataclass
class Sent:
    """A packet that is not acknowledged yet; the line had carried it by ``sent_s`` when it was sent last."""

    sequence: int
    kind: int
    payload: bytes
    sent_s: float
    is_resent: bool = False

    @property
    def handling_s(self) -> float:
        """How long the device may take over it."""
        return len(self.payload) * HANDLING_S_A_BYTE


class SendWindow:
    """What is on its way, in order; at most ``size`` packets. A new session gets a new window.

    Args:
        size: how many packets may be outstanding.
        timer: says how long to wait before sending again.
    """

    def __init__(self, size: int, timer: RetransmissionTimer) -> None:
        self._size = size
        self._timer = timer
        self._outstanding: deque[Sent] = deque()
        self._next_sequence = 0
        self._due_s: float | None = None
        self._moved_on_s = 0.0
        self._must_resend = False
        self._is_gap_answered = False
        self.acknowledged = 0

    def __len__(self) -> int:
        """How many packets are outstanding."""
        return len(self._outstanding)

    @property
    def has_room(self) -> bool:
        """Whether another packet may be sent now."""
        return len(self._outstanding) < self._size

    @property
    def due_s(self) -> float | None:
        """When the timer runs out; ``None`` while nothing is outstanding."""
        return self._due_s

    @property
    def must_resend(self) -> bool:
        """Whether everything outstanding should be sent again now."""
        return self._must_resend

    @property
    def stuck_since_s(self) -> float | None:
        """Since when something is outstanding and nothing is acknowledged; ``None`` while nothing is outstanding."""
        return self._moved_on_s if self._outstanding else None

    def outstanding_of(self, kinds: Iterable[int]) -> int:
        """How many packets of these kinds are outstanding."""
        wanted = frozenset(kinds)
        return sum(sent.kind in wanted for sent in self._outstanding)

    def send(self, kind: int, payload: bytes, now_s: float) -> Sent:
        """Number a packet and keep it until it is acknowledged; there must be room."""
        if not self.has_room:
            raise ValueError(f"{len(self._outstanding)} packets are outstanding; {self._size} is the most")
        sent = Sent(self._next_sequence, kind, payload, now_s)
        self._next_sequence = (self._next_sequence + 1) % SEQUENCE_NUMBERS
        self._outstanding.append(sent)
        if len(self._outstanding) == 1:
            self._moved_on_s = now_s
            self._start_timer(now_s)
        return sent

    def carried(self, sequence: int, at_s: float) -> None:
        """Take in that a packet that is sent now waits for a slow line, and is at the other end at ``at_s``."""
        sent = self._outstanding[(sequence - self._outstanding[0].sequence) % SEQUENCE_NUMBERS]
        sent.sent_s = at_s
        if sent is self._outstanding[0]:
            self._start_timer(at_s)

    def acknowledge(self, expected: int, now_s: float) -> None:
        """Take in that the peer expects number ``expected`` next; a number that can't be is ignored."""
        if not self._outstanding:
            return
        count = (expected - self._outstanding[0].sequence) % SEQUENCE_NUMBERS
        if not 0 < count <= len(self._outstanding):
            return
        newest = [self._outstanding.popleft() for _ in range(count)][-1]
        self._timer.acknowledged(max(0.0, now_s - newest.sent_s), is_resent=newest.is_resent)
        self.acknowledged += count
        self._moved_on_s = now_s
        self._is_gap_answered = False
        self._must_resend = self._must_resend and bool(self._outstanding)
        self._start_timer(now_s)

    def missing(self, expected: int, now_s: float) -> None:
        """Take in that the peer misses number ``expected`` and had later ones: everything from there is sent again.

        Only once until the peer moves on or the timer runs out, for every packet after the gap may be complained of.
        """
        self.acknowledge(expected, now_s)
        is_first = bool(self._outstanding) and self._outstanding[0].sequence == expected
        if is_first and not self._is_gap_answered:
            self._is_gap_answered = True
            self._must_resend = True

    def time_out(self, now_s: float) -> bool:
        """Say whether the timer ran out; if so everything is to be sent again, and the next wait is longer."""
        if self._due_s is None or now_s < self._due_s:
            return False
        self._timer.back_off()
        self._must_resend = True
        self._is_gap_answered = False
        self._start_timer(now_s)
        return True

    def resend(self, now_s: float) -> tuple[Sent, ...]:
        """Give what should be sent again now, in order, and start the timer anew; nothing when nothing should."""
        if not self._must_resend:
            return ()
        self._must_resend = False
        for sent in self._outstanding:
            sent.sent_s = now_s
            sent.is_resent = True
        self._start_timer(now_s)
        return tuple(self._outstanding)

    def _start_timer(self, now_s: float) -> None:
        """Wait from now on, or from when the oldest packet will be there; no timer while nothing is outstanding."""
        if not self._outstanding:
            self._due_s = None
            return
        oldest = self._outstanding[0]
        self._due_s = max(now_s, oldest.sent_s) + oldest.handling_s + self._timer.timeout_s
