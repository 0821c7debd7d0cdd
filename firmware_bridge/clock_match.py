"""From the board's milliseconds to the host's monotonic seconds, by questions that were answered. Pure.

A question sent at ``sent_s`` and answered by ``received_s`` with the board's time places that time between the two;
the middle is off by half the round trip at most (as in NTP, RFC 5905, section 8). Of the last answers the one with
the narrowest bounds counts, where an older one's grow by how far two clocks may drift apart meanwhile.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

_WRAP_MS = 2**32
_KEPT = 16
# Twice 50 ppm: ordinary crystals at both ends.
_DRIFT = 1e-4


@dataclass(frozen=True)
class _Answer:
    sent_s: float
    received_s: float
    device_ms: int

    def uncertainty_s(self, now_s: float) -> float:
        return (self.received_s - self.sent_s) / 2 + (now_s - self.received_s) * _DRIFT


class ClockMatch:
    """Where the board's clock stands against the host's; a new one for each start of the board."""

    def __init__(self) -> None:
        self._answers: deque[_Answer] = deque(maxlen=_KEPT)

    def answered(self, sent_s: float, received_s: float, device_ms: int) -> None:
        """Take in that a question sent at ``sent_s`` was answered by ``received_s`` with the board's milliseconds."""
        if received_s < sent_s:
            raise ValueError(f"an answer at {received_s} s to a question at {sent_s} s; expected it to come later")
        self._answers.append(_Answer(sent_s, received_s, device_ms))

    def host_s(self, device_ms: int, now_s: float) -> float:
        """Give the host's time for a time of the board's that arrived at ``now_s``, and so can't be later than that.

        The board's counter wraps at 2**32; a time is taken to be within 24 days of the last answer. Without any
        answer yet it is ``now_s``.
        """
        if not self._answers:
            return now_s
        best = self._best(now_s)
        elapsed_ms = (device_ms - best.device_ms + _WRAP_MS // 2) % _WRAP_MS - _WRAP_MS // 2
        return min(now_s, (best.sent_s + best.received_s) / 2 + elapsed_ms / 1000)

    def uncertainty_s(self, now_s: float) -> float | None:
        """Say how far off a time may be at ``now_s``; ``None`` without any answer yet."""
        return self._best(now_s).uncertainty_s(now_s) if self._answers else None

    def _best(self, now_s: float) -> _Answer:
        return min(self._answers, key=lambda answer: answer.uncertainty_s(now_s))
