"""Names and helpers for the places of a table, shared by every package."""

from collections.abc import Mapping

EMPTY = "empty"
"""The look of an empty place."""


def occupied(looks: Mapping[str, str]) -> frozenset[str]:
    """Return the occupied places, given each place's look.

    >>> sorted(occupied({"a1": "empty", "a2": "gold block, x up"}))
    ['a2']
    """
    return frozenset(place for place, look in looks.items() if look != EMPTY)
