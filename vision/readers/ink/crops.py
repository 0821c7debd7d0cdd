"""The signs a cell may hold, and the crops that the network reads."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.frame import FloatImage
from vision.layout.surfaces import GridSurface
from vision.readers.ink.paper import CELL_PX

EMPTY_SIGN, CROSS, BLOT = "empty", "X", "blot"
DIGITS = ("0", "1", "2", "3", "4", "5", "6", "7", "8", "9")
SIGNS = (EMPTY_SIGN, *DIGITS, CROSS, BLOT)
"""The signs a cell may hold; a blot is any other mark."""
CROP_PX = 2 * CELL_PX
"""The network sees a cell and half of each neighbouring cell."""
SHIFTS_PX = ((0, 0), (0, 1), (0, -1), (1, 0), (-1, 0))
"""Offsets at which a cell that may be written in is read: averaging several views reduces errors."""

Crops = npt.NDArray[np.float32]


def cell_of(place: str, surface: GridSurface) -> tuple[int, int]:
    """Return a place's row from the top, and its column."""
    name = place.removeprefix(surface.prefix)
    return surface.rows - int(name[1:]), ord(name[0]) - ord("a")


def crops_of(
    ink: FloatImage, cells: npt.NDArray[np.int64], moved_px: tuple[int, int] = (0, 0), around_px: int = 0
) -> Crops:
    """Cut out cells (n, 2), given by row from the top and column, as the network's input (n, 1, CROP_PX, CROP_PX).

    ``ink`` is that of a flat picture with half a cell of margin. ``moved_px`` is the offset of the crops, down and
    right, up to a pixel; ``around_px`` enlarges them by that much on each side, up to a pixel.
    """
    side = CROP_PX + 2 * around_px
    given = np.empty((len(cells), 1, side, side), dtype=np.float32)
    around = np.pad(ink, 1, mode="edge")
    for number, (row, column) in enumerate(cells):
        top, left = (1 + at * CELL_PX + moved - around_px for at, moved in zip((row, column), moved_px, strict=True))
        given[number, 0] = around[top : top + side, left : left + side]
    return given
