"""When a pin moved."""

from dataclasses import dataclass

MS = 1_000_000
"""Nanoseconds."""


@dataclass(frozen=True)
class Edge:
    """A pin that became high (or was let go) or low, at nanoseconds of the chip's clock."""

    at_ns: float
    is_high: bool
