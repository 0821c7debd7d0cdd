"""How a game's squares lie, told from their names alone: for games and commands without a measured table."""

from __future__ import annotations

from collections.abc import Sequence

from hardware.pins import column_and_row
from hardware.terminal import Grid


def grid_of(places: Sequence[str]) -> Grid:
    """Lay out places such as c3: a row for each number, the highest farthest away, columns as they come."""
    rows: dict[str, list[str]] = {}
    for place in places:
        rows.setdefault(column_and_row(place)[1], []).append(place)
    return Grid(tuple(tuple(row) for row in reversed(list(rows.values()))))
