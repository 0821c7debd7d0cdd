"""What a cell may hold, and what the network sees of it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.frame import FloatImage
from vision.layout.surfaces import GridSurface
from vision.readers.ink.paper import CELL_PX

EMPTY_SIGN, CROSS, BLOT = "empty", "X", "blot"
DIGITS = ("0", "1", "2", "3", "4", "5", "6", "7", "8", "9")
SIGNS = (EMPTY_SIGN, *DIGITS, CROSS, BLOT)
"""What a cell may hold; a blot is whatever is none of the others."""
CROP_PX = 2 * CELL_PX
"""The network sees a cell and half of each cell beside it."""
SHIFTS_PX = ((0, 0), (0, 1), (0, -1), (1, 0), (-1, 0))
"""Where a cell that may be written in is looked at: what is seen from several places errs less."""

Crops = npt.NDArray[np.float32]


def cell_of(place: str, surface: GridSurface) -> tuple[int, int]:
    """A place's row from above, and its column."""
    name = place.removeprefix(surface.prefix)
    return surface.rows - int(name[1:]), ord(name[0]) - ord("a")


def crops_of(
    ink: FloatImage, cells: npt.NDArray[np.int64], moved_px: tuple[int, int] = (0, 0), around_px: int = 0
) -> Crops:
    """What the network takes, (n, 1, CROP_PX, CROP_PX), of cells (n, 2), row from above and column.

    ``ink`` is that of a flat picture with half a cell of margin; ``moved_px`` is how far down and right of the cells
    the crops are, up to a pixel; ``around_px`` is added on each side, up to a pixel, too.
    """
    side = CROP_PX + 2 * around_px
    given = np.empty((len(cells), 1, side, side), dtype=np.float32)
    around = np.pad(ink, 1, mode="edge")
    for number, (row, column) in enumerate(cells):
        top, left = (1 + at * CELL_PX + moved - around_px for at, moved in zip((row, column), moved_px, strict=True))
        given[number, 0] = around[top : top + side, left : left + side]
    return given
