"""Reliable delivery, in order and exactly once: go-back-N with a window, and its retransmission timer. Pure."""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from firmware_bridge.protocol.packets import SEQUENCE_NUMBERS

HANDLING_S_PER_BYTE = 60e-6
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
        return len(self.payload) * HANDLING_S_PER_BYTE


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

    def delivered_at(self, sequence: int, at_s: float) -> None:
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


GAP_REPORT_INTERVAL_S = 0.01
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
        self._must_report_gap = False
        self._gap_reported_s: float | None = None

    @property
    def must_acknowledge(self) -> bool:
        """Whether the peer waits for ``expected``; any packet may carry it."""
        return self._must_acknowledge

    @property
    def must_report_gap(self) -> bool:
        """Whether the peer is to be told that something is missing."""
        return self._must_report_gap

    def take(self, sequence: int, now_s: float) -> Arrival:
        """Say what the packet of that number is; only ``NEXT`` may be used."""
        ahead = (sequence - self.expected) % SEQUENCE_NUMBERS
        if ahead == 0:
            self.expected = (self.expected + 1) % SEQUENCE_NUMBERS
            self._must_acknowledge = True
            self._must_report_gap = False
            self._gap_reported_s = None
            self.gap_since_s = None
            return Arrival.NEXT
        if ahead >= SEQUENCE_NUMBERS // 2:
            self._must_acknowledge = True
            return Arrival.REPEATED
        if self.gap_since_s is None:
            self.gap_since_s = now_s
        if self._gap_reported_s is None or now_s - self._gap_reported_s >= GAP_REPORT_INTERVAL_S:
            self._must_report_gap = True
            self._gap_reported_s = now_s
        return Arrival.AFTER_GAP

    def acknowledged(self) -> None:
        """Take in that a packet with ``expected`` is on its way."""
        self._must_acknowledge = False

    def gap_reported(self) -> None:
        """Take in that the peer is being told of the gap, and of ``expected`` with it."""
        self._must_report_gap = False
        self._must_acknowledge = False


MIN_TIMEOUT_S = 0.02
MAX_TIMEOUT_S = 1.0
INITIAL_TIMEOUT_S = 0.25
"""The waits' bounds, and the wait before anything was measured."""
ANSWER_BYTES = 100
"""What may come before the acknowledgement, or carry it, such as a report of the switches: slow on a slow line."""

_SMOOTHED_GAIN = 1 / 8
_VARIATION_GAIN = 1 / 4
_VARIATIONS = 4
_GRANULARITY_S = 0.001
_BACK_OFF = 1.5
_MAX_BACK_OFF = 3.0


class RetransmissionTimer:
    """The retransmission timeout of RFC 6298, section 2, for a wire instead of the internet.

    Shorter than the RFC's second at least, since a wire of a metre does not surprise: between 20 ms and 1 s, and
    250 ms before the first measurement. And a wait grows by half, not to twice, up to three times the measured one,
    and comes back sooner, for a wire that loses is not congested.
    """

    def __init__(self) -> None:
        self._shortest_s = MIN_TIMEOUT_S
        self._smoothed_s: float | None = None
        self._variation_s = 0.0
        self._estimate_s = INITIAL_TIMEOUT_S
        self._timeout_s = INITIAL_TIMEOUT_S

    @property
    def timeout_s(self) -> float:
        """How long to wait now."""
        return self._timeout_s

    @property
    def round_trip_s(self) -> float | None:
        """The smoothed round-trip time; ``None`` before the first measurement."""
        return self._smoothed_s

    def allow(self, answer_s: float) -> None:
        """Wait that much longer than the shortest at least: so long may an answer take on its way."""
        self._shortest_s = min(MAX_TIMEOUT_S, MIN_TIMEOUT_S + answer_s)
        self._estimate_s = max(self._shortest_s, self._estimate_s)
        self._timeout_s = max(self._estimate_s, self._timeout_s)

    def acknowledged(self, round_trip_s: float, *, is_resent: bool) -> None:
        """Take in that a packet was acknowledged so long after it was sent, or sent again.

        Of a packet that was sent again it isn't clear which sending is acknowledged: the round trip took at least as
        long. So it counts only when it is longer than what was measured. Were none to count (Karn's algorithm,
        section 3), a slow wire on which everything is sent again too early would never be measured; and were the wait
        to come back at once, not to twice the measured one, it would be sent again too early for ever.
        """
        if not is_resent or (self._smoothed_s is not None and round_trip_s > self._smoothed_s):
            self._measured(round_trip_s)
        shortest_s = self._estimate_s
        longest_s = min(MAX_TIMEOUT_S, 2 * shortest_s) if is_resent else shortest_s
        self._timeout_s = min(longest_s, max(shortest_s, self._timeout_s))

    def back_off(self) -> None:
        """Wait half as long again from now on: nothing came in time."""
        longest_s = min(MAX_TIMEOUT_S, _MAX_BACK_OFF * self._estimate_s)
        self._timeout_s = max(self._timeout_s, min(longest_s, _BACK_OFF * self._timeout_s))

    def _measured(self, round_trip_s: float) -> None:
        if self._smoothed_s is None:
            self._smoothed_s = round_trip_s
            self._variation_s = round_trip_s / 2
        else:
            error_s = round_trip_s - self._smoothed_s
            self._variation_s += _VARIATION_GAIN * (abs(error_s) - self._variation_s)
            self._smoothed_s += _SMOOTHED_GAIN * error_s
        wanted_s = self._smoothed_s + max(_GRANULARITY_S, _VARIATIONS * self._variation_s)
        self._estimate_s = min(MAX_TIMEOUT_S, max(self._shortest_s, wanted_s))


class SerialLine:
    """One direction of a serial line: what is written waits, in the system's buffer, for what was written before.

    Args:
        bytes_per_s: how many bytes it carries a second; ``None`` where that is not known, or so fast that it means
            nothing, as on USB.
    """

    def __init__(self, bytes_per_s: float | None = None) -> None:
        if bytes_per_s is not None and not bytes_per_s > 0:
            raise ValueError(f"a line of {bytes_per_s} bytes a second; expected more than 0, or None")
        self._bytes_per_s = bytes_per_s
        self._free_s = 0.0

    @property
    def free_s(self) -> float:
        """When it has carried all that was written; 0 where the rate is not known."""
        return self._free_s

    def takes_s(self, count: int) -> float:
        """Give how long ``count`` bytes take, by themselves; 0 where the rate is not known."""
        return 0.0 if self._bytes_per_s is None else count / self._bytes_per_s

    def carried_s(self, count: int, now_s: float) -> float:
        """Give when the last of ``count`` bytes that are written now is at the other end."""
        if self._bytes_per_s is None:
            return now_s
        self._free_s = max(self._free_s, now_s) + self.takes_s(count)
        return self._free_s
