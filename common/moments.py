"""Helpers for times in seconds."""

from __future__ import annotations

from collections.abc import Iterable


def earliest(moments_s: Iterable[float | None]) -> float | None:
    """Return the earliest time, ignoring ``None`` (never); ``None`` if all are ``None``.

    >>> earliest([3.0, None, 2.5]), earliest([None])
    (2.5, None)
    """
    return min((moment for moment in moments_s if moment is not None), default=None)


def to_microseconds(time_s: float) -> int:
    """Round to whole microseconds, so that computed times compare exactly.

    >>> to_microseconds(10.04 - 10.0) == to_microseconds(0.04)
    True
    """
    return round(time_s * 1e6)
