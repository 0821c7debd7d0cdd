"""How long to wait for an acknowledgement before sending again. Pure."""

from __future__ import annotations

SHORTEST_S = 0.02
LONGEST_S = 1.0
FIRST_S = 0.25
"""The waits' bounds, and the wait before anything was measured."""

_SMOOTHED_GAIN = 1 / 8
_VARIATION_GAIN = 1 / 4
_VARIATIONS = 4
_GRANULARITY_S = 0.001


class RetransmissionTimer:
    """The retransmission timeout of RFC 6298, section 2, for a wire instead of the internet.

    Shorter than the RFC's second at least, since a wire of a metre does not surprise: between 20 ms and 1 s, and
    250 ms before the first measurement. Measurements come from packets that were sent once only (Karn's algorithm,
    section 3), and what the timer was backed off to lasts until the next one (section 5).
    """

    def __init__(self) -> None:
        self._smoothed_s: float | None = None
        self._variation_s = 0.0
        self._timeout_s = FIRST_S

    @property
    def timeout_s(self) -> float:
        """How long to wait now."""
        return self._timeout_s

    @property
    def round_trip_s(self) -> float | None:
        """The smoothed round-trip time; ``None`` before the first measurement."""
        return self._smoothed_s

    def measured(self, round_trip_s: float) -> None:
        """Take in the round-trip time of a packet that was sent once only."""
        if self._smoothed_s is None:
            self._smoothed_s = round_trip_s
            self._variation_s = round_trip_s / 2
        else:
            error_s = round_trip_s - self._smoothed_s
            self._variation_s += _VARIATION_GAIN * (abs(error_s) - self._variation_s)
            self._smoothed_s += _SMOOTHED_GAIN * error_s
        wanted_s = self._smoothed_s + max(_GRANULARITY_S, _VARIATIONS * self._variation_s)
        self._timeout_s = min(LONGEST_S, max(SHORTEST_S, wanted_s))

    def back_off(self) -> None:
        """Wait twice as long from now on: nothing came in time."""
        self._timeout_s = min(LONGEST_S, 2 * self._timeout_s)
