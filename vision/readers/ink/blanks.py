"""Cells that show nothing but print, so that the network need not read each of them.

Print is the same in all cells or runs along whole lines between them, and handwriting is neither. So what even the
barest cells, and the barest parts of a line, have in common is print.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import FloatImage
from vision.readers.ink.paper import CELL_PX


@dataclass(frozen=True)
class BlankSettings:
    """When a cell counts as blank. Set by hand on virtual and ray-traced sheets."""

    square_px: int = 3
    """Side, in pixels of the flat picture, of the squares that are compared; a divisor of half a cell. Larger: noise
    matters less, and thin strokes are missed.
    """
    barest: float = 0.25
    """Share of the cells that are as bare as print. Higher: faster, but many like strokes are taken for print."""
    darker: float = 0.05
    """Ink above that of print, from 0 to 1, from which a square is written in. Higher: faster, misses faint strokes."""
    uneven: float = 0.4
    """Share by which print itself may be darker, as it is where it falls on fewer of the camera's pixels. Higher:
    faster, misses strokes on it."""
    fewest: int = 24
    """Number of cells from which print is known."""


def blank_cells(
    ink: FloatImage, cells: npt.NDArray[np.int64], settings: BlankSettings = BlankSettings()
) -> npt.NDArray[np.intp]:
    """Return the numbers of the cells (n, 2) that are blank, and so is half of each neighbour; the darkest first.

    ``ink`` is that of a flat picture with half a cell of margin; cells are given by row from the top and column.
    """
    rows, columns = (side // CELL_PX - 1 for side in ink.shape)
    if rows * columns < settings.fewest:
        return np.zeros(0, dtype=np.intp)
    half = CELL_PX // 2 // settings.square_px
    size = (2 * half * (columns + 1), 2 * half * (rows + 1))
    small = np.asarray(cv2.resize(ink, size, interpolation=cv2.INTER_AREA), dtype=np.float32)
    darker = small - np.float32(1 + settings.uneven) * _print_on(small, half, settings.barest)
    quarters = darker.reshape(2 * rows + 2, half, 2 * columns + 2, half).max(axis=(1, 3))
    inside = quarters[1:-1, 1:-1].reshape(rows, 2, columns, 2).max(axis=(1, 3))
    around = np.lib.stride_tricks.sliding_window_view(quarters, (4, 4)).max(axis=(2, 3))[::2, ::2]
    order = np.argsort(-inside[tuple(cells.T)], kind="stable")
    return np.asarray(order[around[tuple(cells[order].T)] < settings.darker])


def _print_on(small: FloatImage, half: int, barest: float) -> FloatImage:
    """Return the ink of the print in each square; ``half`` is the number of squares along half a cell."""
    side = 2 * half
    rows, columns = (size // side for size in small.shape)
    grid = small[half:-half, half:-half]
    cells = grid.reshape(rows - 1, side, columns - 1, side).transpose(1, 3, 0, 2).reshape(side, side, -1)
    tile = np.tile(np.roll(_low(cells, barest), (half, half), axis=(0, 1)), (rows, columns))
    level = np.where(_beside_line(rows, half), _low(small[:, half:-half], barest), 0)
    upright = np.where(_beside_line(columns, half), _low(small[half:-half].T, barest), 0)
    return np.asarray(np.maximum(tile, np.maximum(level[:, None], upright)), dtype=np.float32)


def _low(values: FloatImage, share: float) -> FloatImage:
    """Return the value below which that share of the last axis lies."""
    rank = int(share * values.shape[-1])
    return np.asarray(np.partition(values, rank, axis=-1)[..., rank], dtype=np.float32)


def _beside_line(cells: int, half: int) -> npt.NDArray[np.bool_]:
    """Return which squares of a row of so many cells touch a line between cells."""
    at = np.arange(2 * half * cells) % (2 * half)
    return np.asarray((at == half - 1) | (at == half))
