"""The signs a cell may hold, and where it is in a picture of the grid."""

from __future__ import annotations

from vision.layout.surfaces import GridSurface

EMPTY_SIGN, CROSS, BLOT = "empty", "X", "blot"
DIGITS = ("0", "1", "2", "3", "4", "5", "6", "7", "8", "9")
SIGNS = (EMPTY_SIGN, *DIGITS, CROSS, BLOT)
"""The signs a cell may hold; a blot is any other mark."""


def cell_of(place: str, surface: GridSurface) -> tuple[int, int]:
    """Return a place's row from the top, and its column."""
    column, row = surface.column_and_row(place)
    return surface.rows - 1 - row, column
