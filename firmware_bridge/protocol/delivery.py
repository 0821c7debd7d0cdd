"""Reliable delivery, in order and exactly once: go-back-N with a window, and its retransmission timer. Pure."""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Container
from dataclasses import dataclass

from firmware_bridge.protocol.packets import SEQUENCE_NUMBERS

HANDLING_S_PER_BYTE = 60e-6
"""Maximum processing time of a device per byte received: a Pico takes some 50 ms for the 900 of 300 lights."""


@dataclass
class SentPacket:
    """An unacknowledged packet; ``sent_s`` is when the line had carried its last transmission."""

    sequence: int
    kind: int
    payload: bytes
    sent_s: float
    is_resent: bool = False

    @property
    def handling_s(self) -> float:
        """Maximum time for which the device may process it."""
        return len(self.payload) * HANDLING_S_PER_BYTE


class SendWindow:
    """The unacknowledged packets, in order; at most ``size``. A new session gets a new window.

    ``due_s`` is when the timer expires, ``None`` while nothing is outstanding; ``must_resend``: everything outstanding
    should be sent again now.
    """

    def __init__(self, size: int, timer: RetransmissionTimer) -> None:
        self._size = size
        self._timer = timer
        self._outstanding: deque[SentPacket] = deque()
        self._next_sequence = 0
        self.due_s: float | None = None
        self._moved_on_s = 0.0
        self.must_resend = False
        self._is_gap_answered = False
        self.acknowledged = 0

    def __len__(self) -> int:
        """Number of outstanding packets."""
        return len(self._outstanding)

    @property
    def has_room(self) -> bool:
        """Whether another packet may be sent now."""
        return len(self._outstanding) < self._size

    @property
    def stuck_since_s(self) -> float | None:
        """Since when packets are outstanding without any acknowledgement; ``None`` while nothing is outstanding."""
        return self._moved_on_s if self._outstanding else None

    def outstanding_of(self, kinds: Container[int]) -> int:
        """Number of outstanding packets of these kinds."""
        return sum(sent.kind in kinds for sent in self._outstanding)

    def send(self, kind: int, payload: bytes, now_s: float) -> SentPacket:
        """Number a packet and keep it until it is acknowledged; there must be room."""
        if not self.has_room:
            raise ValueError(f"{len(self._outstanding)} packets are outstanding; {self._size} is the most")
        sent = SentPacket(self._next_sequence, kind, payload, now_s)
        self._next_sequence = (self._next_sequence + 1) % SEQUENCE_NUMBERS
        self._outstanding.append(sent)
        if len(self._outstanding) == 1:
            self._moved_on_s = now_s
            self._start_timer(now_s)
        return sent

    def delivered_at(self, sequence: int, at_s: float) -> None:
        """Note that a packet sent now waits for a slow line and arrives at ``at_s``."""
        sent = self._outstanding[(sequence - self._outstanding[0].sequence) % SEQUENCE_NUMBERS]
        sent.sent_s = at_s
        if sent is self._outstanding[0]:
            self._start_timer(at_s)

    def acknowledge(self, expected: int, now_s: float) -> None:
        """Note that the peer expects number ``expected`` next; an impossible number is ignored."""
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
        self.must_resend = self.must_resend and bool(self._outstanding)
        self._start_timer(now_s)

    def missing(self, expected: int, now_s: float) -> None:
        """Note that the peer lacks number ``expected`` and received later ones: everything from there is sent again.

        Only once until the peer moves on or the timer expires, because every packet after the gap may be reported.
        """
        self.acknowledge(expected, now_s)
        is_first = bool(self._outstanding) and self._outstanding[0].sequence == expected
        if is_first and not self._is_gap_answered:
            self._is_gap_answered = True
            self.must_resend = True

    def time_out(self, now_s: float) -> bool:
        """Return whether the timer has expired; if so, everything is sent again, and the next timeout is longer."""
        if self.due_s is None or now_s < self.due_s:
            return False
        self._timer.back_off()
        self.must_resend = True
        self._is_gap_answered = False
        self._start_timer(now_s)
        return True

    def resend(self, now_s: float) -> tuple[SentPacket, ...]:
        """Return the packets to send again now, in order, and restart the timer; none if none are due."""
        if not self.must_resend:
            return ()
        self.must_resend = False
        for sent in self._outstanding:
            sent.sent_s = now_s
            sent.is_resent = True
        self._start_timer(now_s)
        return tuple(self._outstanding)

    def _start_timer(self, now_s: float) -> None:
        """Start the timer now, or when the oldest packet arrives; stop it while nothing is outstanding."""
        if not self._outstanding:
            self.due_s = None
            return
        oldest = self._outstanding[0]
        self.due_s = max(now_s, oldest.sent_s) + oldest.handling_s + self._timer.timeout_s


GAP_REPORT_INTERVAL_S = 0.01
"""Interval at which a remaining gap is reported again."""


class Arrival(enum.Enum):
    """How the receiver classifies a numbered packet."""

    NEXT = "next"
    """The expected one."""
    REPEATED = "repeated"
    """A repeated one."""
    AFTER_GAP = "after a gap"
    """A later one: something before it is missing."""


class Receiver:
    """The expected number, and the answers to send. A new session gets a new receiver.

    Every packet to the peer carries ``expected``, which the peer waits for while ``must_acknowledge``. ``gap_since_s``
    is since when later packets arrived without the expected one, ``None`` while nothing is missing.
    """

    def __init__(self) -> None:
        self.expected = 0
        self.gap_since_s: float | None = None
        self.must_acknowledge = False
        self.must_report_gap = False
        self._gap_reported_s: float | None = None

    def take(self, sequence: int, now_s: float) -> Arrival:
        """Classify the packet with that number; only ``NEXT`` may be used."""
        ahead = (sequence - self.expected) % SEQUENCE_NUMBERS
        if ahead == 0:
            self.expected = (self.expected + 1) % SEQUENCE_NUMBERS
            self.must_acknowledge = True
            self.must_report_gap = False
            self._gap_reported_s = None
            self.gap_since_s = None
            return Arrival.NEXT
        if ahead >= SEQUENCE_NUMBERS // 2:
            self.must_acknowledge = True
            return Arrival.REPEATED
        if self.gap_since_s is None:
            self.gap_since_s = now_s
        if self._gap_reported_s is None or now_s - self._gap_reported_s >= GAP_REPORT_INTERVAL_S:
            self.must_report_gap = True
            self._gap_reported_s = now_s
        return Arrival.AFTER_GAP

    def acknowledged(self) -> None:
        """Note that a packet with ``expected`` was sent."""
        self.must_acknowledge = False

    def gap_reported(self) -> None:
        """Note that the gap was reported, which includes ``expected``."""
        self.must_report_gap = False
        self.must_acknowledge = False


MIN_TIMEOUT_S = 0.02
MAX_TIMEOUT_S = 1.0
INITIAL_TIMEOUT_S = 0.25
"""Bounds of the timeout, and its value before the first measurement."""
ANSWER_BYTES = 100
"""Size of a packet that may precede or carry the acknowledgement, such as a report of the switches."""

_SMOOTHED_GAIN = 1 / 8  # gains and granularity as in RFC 6298
_VARIATION_GAIN = 1 / 4
_VARIATIONS = 4
_GRANULARITY_S = 0.001
_BACK_OFF = 1.5  # of the timeout after each loss, up to the next; benchmarks/link.py shows the effect
_MAX_BACK_OFF = 3.0


class RetransmissionTimer:
    """The retransmission timeout of RFC 6298, section 2, adapted to a wire.

    The bounds are 20 ms and 1 s, with 250 ms before the first measurement, because the delay of a wire hardly varies. A
    timeout grows by half instead of doubling, up to three times the measured one, and recovers sooner, because a wire
    that loses packets is not congested. ``round_trip_s`` is smoothed; ``None`` before the first measurement.
    """

    def __init__(self) -> None:
        self._shortest_s = MIN_TIMEOUT_S
        self.round_trip_s: float | None = None
        self._variation_s = 0.0
        self._estimate_s = INITIAL_TIMEOUT_S
        self.timeout_s = INITIAL_TIMEOUT_S

    def allow_for_answer(self, answer_s: float) -> None:
        """Increase the minimum timeout by the transmission time of an answer."""
        self._shortest_s = min(MAX_TIMEOUT_S, MIN_TIMEOUT_S + answer_s)
        self._estimate_s = max(self._shortest_s, self._estimate_s)
        self.timeout_s = max(self._estimate_s, self.timeout_s)

    def acknowledged(self, round_trip_s: float, *, is_resent: bool) -> None:
        """Note that a packet was acknowledged that long after it was sent, or sent again.

        For a packet that was sent again, it is unclear which transmission was acknowledged: the round trip took at
        least that long. So it only counts when it is longer than the measured one. If it never counted (Karn's
        algorithm, section 3), a slow wire on which everything is sent again too early would never be measured. If the
        timeout recovered at once, instead of to twice the measured one, packets would be sent again too early for ever.
        """
        if not is_resent or (self.round_trip_s is not None and round_trip_s > self.round_trip_s):
            self._measure(round_trip_s)
        shortest_s = self._estimate_s
        longest_s = min(MAX_TIMEOUT_S, 2 * shortest_s) if is_resent else shortest_s
        self.timeout_s = min(longest_s, max(shortest_s, self.timeout_s))

    def back_off(self) -> None:
        """Increase the timeout by half, because nothing arrived in time."""
        longest_s = min(MAX_TIMEOUT_S, _MAX_BACK_OFF * self._estimate_s)
        self.timeout_s = max(self.timeout_s, min(longest_s, _BACK_OFF * self.timeout_s))

    def _measure(self, round_trip_s: float) -> None:
        if self.round_trip_s is None:
            self.round_trip_s = round_trip_s
            self._variation_s = round_trip_s / 2
        else:
            error_s = round_trip_s - self.round_trip_s
            self._variation_s += _VARIATION_GAIN * (abs(error_s) - self._variation_s)
            self.round_trip_s += _SMOOTHED_GAIN * error_s
        wanted_s = self.round_trip_s + max(_GRANULARITY_S, _VARIATIONS * self._variation_s)
        self._estimate_s = min(MAX_TIMEOUT_S, max(self._shortest_s, wanted_s))


class SerialLine:
    """One direction of a serial line: bytes wait in the system's buffer for those written before.

    ``bytes_per_s`` is its capacity, ``None`` if unknown or irrelevant, as on USB; ``free_s`` is when it has carried
    everything written, 0 if the rate is unknown.
    """

    def __init__(self, bytes_per_s: float | None = None) -> None:
        if bytes_per_s is not None and not bytes_per_s > 0:
            raise ValueError(f"a line of {bytes_per_s} bytes a second; expected more than 0, or None")
        self._bytes_per_s = bytes_per_s
        self.free_s = 0.0

    def transmission_s(self, count: int) -> float:
        """Return the transmission time of ``count`` bytes by themselves; 0 if the rate is unknown."""
        return 0.0 if self._bytes_per_s is None else count / self._bytes_per_s

    def arrival_s(self, count: int, now_s: float) -> float:
        """Return when the last of ``count`` bytes written now arrives at the other end."""
        if self._bytes_per_s is None:
            return now_s
        self.free_s = max(self.free_s, now_s) + self.transmission_s(count)
        return self.free_s
