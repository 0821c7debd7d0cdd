"""Contacts that bounce, and a matrix of them with its ghosts. Pure; times in seconds on any clock."""

from __future__ import annotations

from collections.abc import Collection
from random import Random

MOST_BOUNCE_S = 0.006
"""The longest that a contact chatters; J. G. Ganssle, *A Guide to Debouncing* (2004), measured 6.2 ms at most."""

_MOST_CHATTERS = 12


class Contact:
    """One contact: it chatters for up to ``bounce_s`` each time it closes or opens, differently each time."""

    def __init__(self, rng: Random, bounce_s: float = MOST_BOUNCE_S, *, closed: bool = False) -> None:
        self._rng = rng
        self._bounce_s = bounce_s
        self._closed = closed
        self._edges: list[float] = []

    def move(self, closed: bool, time_s: float) -> None:
        """Close or open it."""
        level = self.is_closed(time_s)
        self._edges = []
        if self._bounce_s > 0:
            chatters = 2 * self._rng.randrange(_MOST_CHATTERS // 2 + 1)
            lasts_s = self._rng.uniform(0.0, self._bounce_s)
            self._edges = sorted(time_s + self._rng.uniform(0.0, lasts_s) for _ in range(chatters))
        if level != closed:
            self._edges.insert(0, time_s)
        self._closed = level
        self.is_closed(time_s)

    def is_closed(self, time_s: float) -> bool:
        """Whether it is closed then; times must not go back."""
        while self._edges and self._edges[0] <= time_s:
            self._edges.pop(0)
            self._closed = not self._closed
        return self._closed

    @property
    def settles_s(self) -> float | None:
        """When the chatter that is under way ends; ``None`` when it rests."""
        return self._edges[-1] if self._edges else None


def columns_read(row: int, closed: Collection[tuple[int, int]], *, diodes: bool) -> set[int]:
    """The columns that read as closed while ``row`` is driven and these (row, column) contacts are closed.

    With a diode at each contact current flows from rows to columns only, so these are the row's own. Without, it flows
    back through any closed contact, too: every column that is connected with the row in any way reads as closed, which
    is how three corners of a rectangle close the fourth.
    """
    columns = {column for at, column in closed if at == row}
    if diodes:
        return columns
    rows = {row}
    while True:
        further = {at for at, column in closed if column in columns} - rows
        if not further:
            return columns
        rows |= further
        columns |= {column for at, column in closed if at in rows}
