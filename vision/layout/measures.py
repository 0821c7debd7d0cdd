"""Lengths in a layout file."""

from __future__ import annotations

from vision.errors import LayoutError

MOST_MM = 1e6
"""No table is a kilometre long."""


def positive_mm(value: object, what: str) -> float:
    """Give a length above zero as a number; raises LayoutError that says what it should be."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < MOST_MM:
        raise LayoutError(f"{what} is {value!r}; expected a length in millimetres above zero")
    return float(value)
