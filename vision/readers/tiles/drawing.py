"""Drawing what was read in a grid onto the photo, for a person to check."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from vision.drawing import whole_pixels, write_text
from vision.frame import FloatArray, Image
from vision.opencv import as_colour
from vision.readers.tiles.cells import TileGrid
from vision.readers.tiles.symbols import UNKNOWN, ReadCell

_SURE, _UNSURE, _GRID = (60, 140, 20), (60, 60, 255), (200, 90, 0)
"""Colours of certain and of other cells, and of the grid, blue-green-red."""


def draw_cells(image: Image, grid: TileGrid, cells: Sequence[Sequence[ReadCell]], sure: float) -> Image:
    """Return a copy of the photo with the grid's lines, and each cell's symbol in its lower left corner.

    Known symbols of a probability of ``sure`` or more are green, others red.
    """
    picture = as_colour(image).copy()
    to_pixels = grid.to_pixels()
    level = [((0, row), (grid.columns, row)) for row in range(grid.rows + 1)]
    upright = [((column, 0), (column, grid.rows)) for column in range(grid.columns + 1)]
    for line in _seen_at([*level, *upright], to_pixels):
        cv2.polylines(picture, [whole_pixels(line)], False, _GRID, 1, cv2.LINE_AA)
    lower_left = _seen_at(
        [[(column, row + 1) for column in range(grid.columns)] for row in range(grid.rows)], to_pixels
    )
    for corners, read in zip(lower_left, cells, strict=True):
        for corner, cell in zip(corners, read, strict=True):
            is_sure = cell.symbol != UNKNOWN and cell.probability >= sure
            write_text(picture, cell.symbol, corner, _SURE if is_sure else _UNSURE)
    return picture


def _seen_at(nodes: Sequence[Sequence[tuple[int, int]]], to_pixels: FloatArray) -> FloatArray:
    """Return the pixels of a grid's nodes, given by column and row; both (n, m, 2)."""
    seen = cv2.perspectiveTransform(np.array(nodes, dtype=np.float64), to_pixels)
    return np.asarray(seen, dtype=np.float64)
