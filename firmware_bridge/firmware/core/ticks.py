"""Milliseconds that wrap: MicroPython's ticks count modulo 2**30."""

TICKS_MASK = (1 << 30) - 1  # MicroPython's ticks wrap after 30 bits


def elapsed_ms(now: int, then: int) -> int:
    """Return the milliseconds from ``then`` to ``now``, both ticks; valid up to 2**30, which is 12 days."""
    return (now - then) & TICKS_MASK


class DeviceClock:
    """Converts ticks to milliseconds since the start, which never wrap."""

    def __init__(self, ticks: int) -> None:
        self._ticks = ticks & TICKS_MASK
        self._wraps = 0

    def advance(self, ticks: int) -> None:
        """Advance to the present ticks; to be called at least once in 12 days."""
        if ticks < self._ticks:
            self._wraps += 1
        self._ticks = ticks

    def time_ms(self) -> int:
        """Return the time of the last ``advance``."""
        return (self._wraps << 30) | self._ticks
