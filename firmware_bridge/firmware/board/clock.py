"""MicroPython's clock, which CPython lacks."""

from time import sleep_ms, sleep_us, ticks_diff, ticks_ms, ticks_us  # type: ignore[attr-defined]

__all__ = ["sleep_ms", "sleep_us", "ticks_diff", "ticks_ms", "ticks_us"]
