"""What every package calls the same about the places of a table."""

from __future__ import annotations

from collections.abc import Mapping

EMPTY = "empty"
"""How a place looks on which nothing stands."""


def occupied(looks: Mapping[str, str]) -> frozenset[str]:
    """The places on which something stands, by each place's look.

    >>> sorted(occupied({"a1": "empty", "a2": "gold block, x up"}))
    ['a2']
    """
    return frozenset(place for place, look in looks.items() if look != EMPTY)
