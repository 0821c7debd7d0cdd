"""Milliseconds that wrap: MicroPython's ticks count modulo 2**30, the protocol's time modulo 2**32."""

TICKS_MASK = (1 << 30) - 1


def elapsed_ms(now: int, then: int) -> int:
    """Give the milliseconds from ``then`` to ``now``, both ticks; right for fewer than 2**30, which are 12 days."""
    return (now - then) & TICKS_MASK


class DeviceClock:
    """From ticks to the time that messages carry: milliseconds since the start, modulo 2**32."""

    def __init__(self, ticks: int) -> None:
        self._ticks = ticks & TICKS_MASK
        self._wraps = 0

    def advance(self, ticks: int) -> None:
        """Take in the ticks of now; at least once in 12 days."""
        if ticks < self._ticks:
            self._wraps = (self._wraps + 1) & 3
        self._ticks = ticks

    def time_ms(self) -> int:
        """Give the time of the last ``advance``."""
        return (self._wraps << 30) | self._ticks

    def time_of(self, ticks: int) -> int:
        """Give the time of a moment that lies fewer than 2**30 ms before the last ``advance``."""
        return (self.time_ms() - elapsed_ms(self._ticks, ticks)) & 0xFFFFFFFF
