"""What a search remembers of positions it has met (a transposition table), within a bound.

Greenblatt, Eastlake & Crocker (1967), "The Greenblatt chess program"; keys as in Zobrist (1970), "A new hashing
method with application for game playing", or the packed position itself.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeAlias, TypeVar

MoveT = TypeVar("MoveT")

SOLVED = 1 << 20
"""The depth of a value that no guess has part in: every line below it was followed to the end of the game."""


EXACT, AT_LEAST, AT_MOST = 0, 1, 2
"""What a remembered score says of the true one."""

Entry: TypeAlias = tuple[int, int, int, MoveT | None]
"""What was found of a position: searched how deep, what the score says, the score for its mover, the best move.

A score of a win or loss counts the plies from this position. It is a plain tuple of numbers, which Python's collector
of garbage leaves alone: a table full of anything else makes it stop the search for tens of milliseconds.
"""


class Table(Generic[MoveT]):
    """Two generations of entries: when the younger is full it becomes the older, and the older is forgotten."""

    def __init__(self, most_entries: int = 200_000) -> None:
        if most_entries < 2:
            raise ValueError(f"got room for {most_entries} entries; expected at least 2")
        self._most_young = most_entries // 2
        self._young: dict[Hashable, Entry[MoveT]] = {}
        self._old: dict[Hashable, Entry[MoveT]] = {}

    def __len__(self) -> int:
        """Give the number of entries held, one that is in both generations counted twice."""
        return len(self._young) + len(self._old)

    def get(self, key: Hashable) -> Entry[MoveT] | None:
        """Give what is known of a position, or ``None``."""
        return self._young.get(key) or self._old.get(key)

    def put(self, key: Hashable, entry: Entry[MoveT]) -> None:
        """Remember it, in place of what was known."""
        if len(self._young) >= self._most_young and key not in self._young:
            self._old = self._young
            self._young = {}
        self._young[key] = entry
