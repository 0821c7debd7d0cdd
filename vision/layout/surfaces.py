"""The surfaces of a table: a board, a sheet, a tray. Each is read by itself.

A surface is a rectangle at a height in the frame (``vision.geometry``) of the markers it is located by: the table's
markers, or its own if it can move by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NoReturn

import numpy as np

from common.phrases import shortened
from vision.errors import LayoutError
from vision.frame import FloatArray
from vision.geometry import Rectangle, Solid
from vision.layout.markers import MarkerLayout
from vision.layout.measures import MOST_MM, height_mm, naming, positive_mm, whole_number
from vision.layout.pieces import Pieces, pieces_from_json

MOST_NAMED = 8
"""Number of places up to which a message names each."""


@dataclass(frozen=True)
class GridSurface:
    """A board or sheet of square places with its centre at the origin; a1 is at the first player's left.

    ``prefix`` begins the name of each place, so that the places of several sheets differ: ``p2.`` for ``p2.a1``.
    """

    name: str
    columns: int
    rows: int
    cell_mm: float
    height_mm: float = 0.0
    pieces: Pieces | None = None
    printed: tuple[str, ...] = ()
    markers: MarkerLayout | None = None
    prefix: str = ""

    @property
    def bounds_mm(self) -> Rectangle:
        """The outer lines of the grid."""
        half_width, half_depth = self.columns * self.cell_mm / 2, self.rows * self.cell_mm / 2
        return Rectangle(-half_width, half_width, -half_depth, half_depth)

    @cached_property
    def places(self) -> tuple[str, ...]:
        """All squares, column by column within a row: a1 b1 ... g1 a2 ..."""
        return tuple(self._name(column, row) for row in range(self.rows) for column in range(self.columns))

    @cached_property
    def centres_mm(self) -> FloatArray:
        """The (x, y) of every square's centre, in the order of ``places``, shape (n, 2)."""
        column, row = np.meshgrid(np.arange(self.columns), np.arange(self.rows))
        steps = np.column_stack([column.ravel() - (self.columns - 1) / 2, row.ravel() - (self.rows - 1) / 2])
        return np.asarray(steps * self.cell_mm)

    @cached_property
    def _centre_of(self) -> dict[str, tuple[float, float]]:
        return {place: (float(x), float(y)) for place, (x, y) in zip(self.places, self.centres_mm, strict=True)}

    def centre_mm(self, place: str) -> tuple[float, float]:
        """Return the (x, y) of a square's centre; raises LayoutError for a place that is not on the board."""
        centre = self._centre_of.get(place)
        if centre is None:
            first, last = self.places[0], self.places[-1]
            raise LayoutError(f"no square {place!r} on this {self.name}; squares run from {first} to {last}")
        return centre

    def divided(self, columns: int, rows: int) -> GridSurface:
        """Return the same surface divided into that many squares, as large as fit."""
        cell_mm = min(self.bounds_mm.width_mm / columns, self.bounds_mm.depth_mm / rows)
        return replace(self, columns=columns, rows=rows, cell_mm=cell_mm)

    def place_at(self, x_mm: float, y_mm: float) -> str | None:
        """Return the square at a point of the surface's plane, ``None`` beside the grid."""
        column = round(x_mm / self.cell_mm + (self.columns - 1) / 2)
        return self._place(column, round(y_mm / self.cell_mm + (self.rows - 1) / 2))

    def column_and_row(self, place: str) -> tuple[int, int]:
        """Return a square's column from the left and its row from the first player, both counted from 0."""
        name = place.removeprefix(self.prefix)
        return ord(name[0]) - ord("a"), int(name[1:]) - 1

    def neighbour(self, place: str, columns: int, rows: int) -> str | None:
        """Return the square that many columns to the right and rows farther away, ``None`` beside the grid."""
        column, row = self.column_and_row(place)
        return self._place(column + columns, row + rows)

    def _place(self, column: int, row: int) -> str | None:
        return self._name(column, row) if 0 <= column < self.columns and 0 <= row < self.rows else None

    def _name(self, column: int, row: int) -> str:
        return f"{self.prefix}{chr(ord('a') + column)}{row + 1}"

    def outline_mm(self, place: str) -> FloatArray:
        """Return a square's corners, shape (4, 2): near left, near right, far right, far left."""
        x, y = self.centre_mm(place)
        half = self.cell_mm / 2
        return np.array([[x - half, y - half], [x + half, y - half], [x + half, y + half], [x - half, y + half]])

    def solid_at(self, place: str) -> Solid | None:
        """Return the largest piece that may stand in a square's centre; ``None`` where none can."""
        return None if self.pieces is None else self.pieces.solid_at(*self.centre_mm(place), self.height_mm)


@dataclass(frozen=True)
class Tray:
    """A surface without places, on which dice are thrown."""

    name: str
    bounds_mm: Rectangle
    height_mm: float = 0.0
    pieces: Pieces | None = None
    markers: MarkerLayout | None = None

    places: ClassVar[tuple[str, ...]] = ()
    printed: ClassVar[tuple[str, ...]] = ()

    def centre_mm(self, place: str) -> NoReturn:
        """Raise LayoutError: a tray has no places."""
        raise LayoutError(f"no place {place!r} in the {self.name}; dice may lie anywhere in it")

    outline_mm = solid_at = centre_mm


Surface = GridSurface | Tray


def named_places(surface: Surface, places: Sequence[str]) -> str:
    """Name places for a message: all of a surface by its name, many by the first ones and the number of the others."""
    return f"the {surface.name}" if len(places) == len(surface.places) else shortened(places, MOST_NAMED)


def top_mm(surface: Surface) -> float:
    """Return the height of the top of the highest piece on a surface."""
    return surface.height_mm + (0.0 if surface.pieces is None else surface.pieces.height_mm)


FEWEST_SQUARES = 2
"""The fewest squares: a lone one has no lines inside."""
MOST_COLUMNS, MOST_ROWS = 26, 100
"""The most columns, which are named by a letter each, and the most rows."""


def surface_from_json(data: Mapping[str, Any], name: str, markers: MarkerLayout | None, prefix: str = "") -> Surface:
    """Parse a surface: a ``board`` (cols, rows, cell, top_z) with ``star_spaces``, a ``tray`` (x, y, top_z), or a
    ``sheet`` (size, grid) at the height of its markers; and its pieces. Raises LayoutError, and KeyError without one.
    """
    pieces = pieces_from_json(data)
    if "tray" in data:
        tray = data["tray"]
        with naming("tray"):
            (left, right), (near, far) = tray["x"], tray["y"]
            for key, low, high in (("x", left, right), ("y", near, far)):
                if not -MOST_MM < low < high < MOST_MM:
                    raise LayoutError(
                        f"tray.{key} is [{low}, {high}]; expected two lengths in mm, the smaller one first"
                    )
            bounds = Rectangle(float(left), float(right), float(near), float(far))
            return Tray(name, bounds, height_mm(tray.get("top_z", 0.0), "tray.top_z"), pieces, markers)
    key, where = ("sheet", "sheet.grid") if "sheet" in data else ("board", "board")
    given = data[key]
    with naming(key):
        board = _board_of_sheet(given, data.get("markers")) if "sheet" in data else given
        surface = GridSurface(
            name,
            columns=whole_number(board["cols"], f"{where}.cols"),
            rows=whole_number(board["rows"], f"{where}.rows"),
            cell_mm=positive_mm(board["cell"], f"{where}.cell"),
            height_mm=height_mm(board.get("top_z", 0.0), f"{where}.top_z"),
            pieces=pieces,
            markers=markers,
            prefix=prefix,
        )
    if surface.columns > MOST_COLUMNS:
        raise LayoutError(
            f"the {name} has {surface.columns} columns; expected at most {MOST_COLUMNS}, since letters name them"
        )
    if not (surface.columns >= 1 and 1 <= surface.rows <= MOST_ROWS):
        raise LayoutError(
            f"the {name} has {surface.columns} x {surface.rows} squares; expected 1 to {MOST_COLUMNS} columns and "
            f"1 to {MOST_ROWS} rows"
        )
    if surface.columns * surface.rows < FEWEST_SQUARES:
        raise LayoutError(f"the {name} has 1 x 1 squares; expected at least {FEWEST_SQUARES}")
    with naming("star_spaces", add_section=True):
        for place in (printed := tuple(data.get("star_spaces", ()))):
            surface.centre_mm(place)
    return replace(surface, printed=printed)


def _board_of_sheet(sheet: Mapping[str, Any], markers: object) -> dict[str, Any]:
    """Return the board equivalent to a sheet's grid: ``lines`` are rows, and its height is that of its markers."""
    grid = sheet["grid"]
    rows = grid["rows"] if "rows" in grid else grid["lines"]
    for side, count in (("left", grid["cols"]), ("bottom", rows)):
        if side in grid and abs(grid[side] + count * grid["cell"] / 2) > GRID_OFF_MM:
            raise LayoutError(
                f"sheet.grid.{side} is {grid[side]}; expected {-count * grid['cell'] / 2:g}, since all is measured "
                "from the grid's middle"
            )
    height = markers.get("z", 0.0) if isinstance(markers, Mapping) else 0.0
    return {"cols": grid["cols"], "rows": rows, "cell": grid["cell"], "top_z": height}


GRID_OFF_MM = 0.5
"""Tolerance of the stated position of a sheet's grid, in mm: less than a printer's error."""
