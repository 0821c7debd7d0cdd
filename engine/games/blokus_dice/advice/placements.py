"""What may be drawn on a sheet, found fast: for each square, what fits the open squares at its sides."""

from __future__ import annotations

from functools import lru_cache

from engine.games.blokus_dice.sheet import Sheet
from engine.support.grid import ORTHOGONAL


class PlacementFinder:
    """Finds what may be drawn on a sheet; remembers, for each square, what fits the open squares at its sides."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self.squares = sheet.grid.squares
        self._rows = tuple(row << self.squares for row in sheet.row_sets[1:])
        self._at_sides = sheet.grid.neighbours(ORTHOGONAL)
        self._fitting: list[dict[int, tuple[tuple[int, ...], ...]]] = [{} for _ in range(self.squares)]

    def ways(self, own: int, filled: int, shapes: int) -> list[int]:
        """Every way to draw these shapes in a colour that has ``own``, none twice, each as in ``Sheet.covering``."""
        sheet, grid = self.sheet, self.sheet.grid
        may_fill = sheet.open_squares & ~(filled | grid.beside(own))
        anchors = may_fill & (grid.diagonal_to(own) if own else sheet.corners)
        wanted = shapes << self.squares
        rows = [number for number, row in enumerate(self._rows) if row & wanted]
        closed = ~(may_fill | wanted)
        found: list[int] = []
        while anchors:
            lowest = anchors & -anchors
            anchors ^= lowest
            anchor = lowest.bit_length() - 1
            open_sides = self._at_sides[anchor] & may_fill
            fitting = self._fitting[anchor].get(open_sides) or self._find_fitting(anchor, open_sides)
            for row in rows:
                found += [laid for laid in fitting[row] if not laid & closed]
            # What covers several of these squares is found by the first of them.
            closed |= lowest
        return found

    def _find_fitting(self, square: int, open_sides: int) -> tuple[tuple[int, ...], ...]:
        """What covers a square and none of the closed ones at its sides, by the row of its shape."""
        closed = self._at_sides[square] & ~open_sides
        every = [laid for laid in self.sheet.covering[square] if not laid & closed]
        fitting = tuple(tuple(laid for laid in every if laid & row) for row in self._rows)
        self._fitting[square][open_sides] = fitting
        return fitting


@lru_cache(maxsize=8)
def finder_of(sheet: Sheet) -> PlacementFinder:
    """The one that finds what may be drawn on a sheet; what it remembers is at most 16 lists a square."""
    return PlacementFinder(sheet)
