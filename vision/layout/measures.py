"""Lengths in a layout file."""

from __future__ import annotations

from vision.errors import LayoutError

MOST_MM = 1e6
"""Upper limit of any length: a kilometre, to detect typing errors."""


def positive_mm(value: object, what: str) -> float:
    """Return a length above zero as a number; raises LayoutError for anything else, naming it ``what``."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < MOST_MM:
        raise LayoutError(f"{what} is {value!r}; expected a length in millimetres above zero")
    return float(value)
