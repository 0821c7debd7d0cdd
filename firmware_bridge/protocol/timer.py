"""How long to wait for an acknowledgement before sending again. Pure."""

from __future__ import annotations

SHORTEST_S = 0.02
LONGEST_S = 1.0
FIRST_S = 0.25
"""The waits' bounds, and the wait before anything was measured."""
ANSWER_BYTES = 100
"""What may come before the acknowledgement, or carry it, such as a report of the switches: slow on a slow line."""

_SMOOTHED_GAIN = 1 / 8
_VARIATION_GAIN = 1 / 4
_VARIATIONS = 4
_GRANULARITY_S = 0.001
_BACK_OFF = 1.5
_MOST_BACK_OFF = 3.0


class RetransmissionTimer:
    """The retransmission timeout of RFC 6298, section 2, for a wire instead of the internet.

    Shorter than the RFC's second at least, since a wire of a metre does not surprise: between 20 ms and 1 s, and
    250 ms before the first measurement. And a wait grows by half, not to twice, up to three times the measured one,
    and comes back sooner, for a wire that loses is not congested.
    """

    def __init__(self) -> None:
        self._shortest_s = SHORTEST_S
        self._smoothed_s: float | None = None
        self._variation_s = 0.0
        self._estimate_s = FIRST_S
        self._timeout_s = FIRST_S

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
        self._shortest_s = min(LONGEST_S, SHORTEST_S + answer_s)
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
        longest_s = min(LONGEST_S, 2 * shortest_s) if is_resent else shortest_s
        self._timeout_s = min(longest_s, max(shortest_s, self._timeout_s))

    def back_off(self) -> None:
        """Wait half as long again from now on: nothing came in time."""
        longest_s = min(LONGEST_S, _MOST_BACK_OFF * self._estimate_s)
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
        self._estimate_s = min(LONGEST_S, max(self._shortest_s, wanted_s))
