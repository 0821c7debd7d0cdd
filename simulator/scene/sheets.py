"""Positions of sheets, and the tray for dice, on the virtual table.

The first sheet's frame is the table's. Further ones lie beside it, slightly turned.
"""

import math
from dataclasses import dataclass

import numpy as np

from vision.frame import FloatArray
from vision.layout.pieces import DicePieces, GridSurface, Ink, MarkerLayout, Tray
from vision.layout.table import TableLayout

_TURNS_DEG = (0.0, 7.0, -5.0, 4.0, -8.0, 6.0)
"""Rotation of each sheet, anticlockwise, repeated for more sheets."""
_BORDER = 1 / 3
"""Width of the paper around a marker, as a share of its side."""
_GAP_MM = 28.0
"""Distance between sheets that are not turned."""
_ACROSS = 2
"""Number of sheets side by side before the next row begins."""


@dataclass(frozen=True)
class LyingSheet:
    """A sheet, its markers, and its pose: its grid's centre and its rotation anticlockwise."""

    surface: GridSurface
    markers: MarkerLayout
    x_mm: float
    y_mm: float
    turned_deg: float

    @property
    def half_mm(self) -> FloatArray:
        """Half of the paper's width and height."""
        return _half_mm(self.markers)

    def on_table(self, points_mm: FloatArray) -> FloatArray:
        """Convert points of the sheet, shape (..., 2), to points of the table."""
        return np.asarray(points_mm @ self._turn.T + np.array([self.x_mm, self.y_mm]), dtype=np.float64)

    def on_sheet(self, points_mm: FloatArray) -> FloatArray:
        """Convert points of the table, shape (..., 2), to points of the sheet."""
        return np.asarray((points_mm - np.array([self.x_mm, self.y_mm])) @ self._turn, dtype=np.float64)

    @property
    def _turn(self) -> FloatArray:
        cosine, sine = (function(math.radians(self.turned_deg)) for function in (math.cos, math.sin))
        return np.array([[cosine, -sine], [sine, cosine]])


def _half_mm(markers: MarkerLayout) -> FloatArray:
    """Return half of a sheet's width and height, with its markers and the paper around them."""
    centres = np.abs(np.array(list(markers.centres_mm.values()), dtype=np.float64))
    return np.asarray(centres.max(axis=0) + markers.side_mm * (0.5 + _BORDER))


def lying_sheets(layout: TableLayout) -> tuple[LyingSheet, ...]:
    """Return the sheets of a table; empty if it has a board."""
    sheets = [one for one in layout.surfaces if isinstance(one, GridSurface) and isinstance(one.pieces, Ink)]
    width, height = 2 * _half_mm(layout.markers) + _GAP_MM if sheets else (0.0, 0.0)
    return tuple(
        LyingSheet(
            sheet,
            sheet.markers or layout.markers,
            -float(width) * (number % _ACROSS),
            -float(height) * (number // _ACROSS),
            _TURNS_DEG[number % len(_TURNS_DEG)],
        )
        for number, sheet in enumerate(sheets)
    )


def sheet_of(layout: TableLayout, place: str) -> LyingSheet | None:
    """Return the sheet with a place; ``None`` on a table with a board."""
    return next((one for one in lying_sheets(layout) if place.startswith(one.surface.prefix)), None)


def place_mm(layout: TableLayout, place: str) -> tuple[float, float]:
    """Return the centre of a place on the table; raises LayoutError for an unknown place."""
    sheet = sheet_of(layout, place)
    if sheet is None:
        return layout.centre_mm(place)
    x, y = sheet.on_table(np.array(sheet.surface.centre_mm(place)))
    return float(x), float(y)


def dice_tray(layout: TableLayout) -> Tray | None:
    """Return the table's tray for dice; ``None`` if it has none."""
    trays = (one for one in layout.surfaces if isinstance(one, Tray) and isinstance(one.pieces, DicePieces))
    return next(trays, None)


def die_side_mm(layout: TableLayout) -> float:
    """Return the edge of a table's dice: the mean of the layout's limits."""
    tray = dice_tray(layout)
    pieces = DicePieces() if tray is None else DicePieces.on(tray)
    return (pieces.smallest_mm + pieces.largest_mm) / 2


def extent_mm(layout: TableLayout) -> FloatArray:
    """Return the points that must be visible, shape (n, 3): corners of all markers, and of trays beside sheets."""
    sheets = lying_sheets(layout)
    if not sheets:
        return np.vstack([layout.markers.corners_mm(marker_id) for marker_id in layout.markers.centres_mm])
    trays = [one for one in layout.surfaces if isinstance(one, Tray)]
    corners = [tray.bounds_mm.corners_mm(tray.height_mm) for tray in trays]
    for sheet in sheets:
        for marker_id in sheet.markers.centres_mm:
            own = sheet.markers.corners_mm(marker_id)
            corners.append(np.column_stack([sheet.on_table(own[:, :2]), own[:, 2]]))
    return np.vstack(corners)
