"""Helpers for times: moments in seconds, and the wall clock's time as text."""

from collections.abc import Iterable
from datetime import datetime


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


def local_time(wall_time: str, form: str = "%Y-%m-%d %H:%M") -> str:
    """Format an ISO 8601 time in the local time zone with ``strftime``; an invalid time is returned unchanged.

    >>> local_time("yesterday")
    'yesterday'
    """
    try:
        return datetime.fromisoformat(wall_time).astimezone().strftime(form)
    except (ValueError, OverflowError):
        return wall_time
