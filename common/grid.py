"""The arrangement of a board's places in rows and columns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PlaceGrid:
    """Places in rows and columns: ``rows`` from the far side to the near one, each from left to right."""

    rows: tuple[tuple[str, ...], ...]

    @classmethod
    def of_squares(cls, columns: int, rows: int) -> PlaceGrid:
        """Make a board's grid: columns a, b, c, ... from the left, rows 1, 2, 3, ... from the near side.

        Raises ValueError unless there are 1 to 26 columns and at least one row.
        """
        if not 1 <= columns <= 26 or rows < 1:
            raise ValueError(f"a grid of {columns} x {rows} squares; expected 1 to 26 columns and at least 1 row")
        names = [chr(ord("a") + column) for column in range(columns)]
        return cls(tuple(tuple(f"{name}{row}" for name in names) for row in range(rows, 0, -1)))

    @property
    def places(self) -> tuple[str, ...]:
        """Every place, row by row."""
        return tuple(place for row in self.rows for place in row)


def column_and_row(place: str) -> tuple[str, str]:
    """Split a square's name into its column and row, ``"c3"`` into ``("c", "3")``; empty for a missing part."""
    column = place.rstrip("0123456789")
    return column, place[len(column) :]
