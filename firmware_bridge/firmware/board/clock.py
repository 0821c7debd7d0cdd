"""The interpreter's clock, which CPython hasn't."""

from time import sleep_ms, sleep_us, ticks_ms  # type: ignore[attr-defined]

__all__ = ["sleep_ms", "sleep_us", "ticks_ms"]
