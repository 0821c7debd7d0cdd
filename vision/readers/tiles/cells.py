"""Rectifying the cells of a grid from a photo and four corners, and normalising them for lamp and exposure.

A cell is stored as the logs of its linear light relative to the whole grid's. A lamp of another colour then adds a
constant to each channel; subtracting a cell's mean leaves only its print.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from vision.errors import FrameError, LayoutError
from vision.frame import FloatArray, FloatImage, Image
from vision.sampling import linear_light

CELL_PX = 32
"""Side of a rectified cell."""
LEAST_CELL_PX = 12
"""Minimum edge of a readable cell in the photo."""
MOST_CELLS = 40
"""Maximum number of rows and of columns."""

_MOST_FINER = 6
"""Maximum oversampling, relative to ``CELL_PX``, before a large cell is averaged."""
DARKEST = 0.05
"""Light added before logarithms are taken, as a share of the grid's mean: anything darker is black."""
_BLUR_PX = 0.9
"""Smoothing of the cells, so that focus and slightly wrong corners count less."""


@dataclass(frozen=True)
class TileGrid:
    """A grid in a photo: its corners (x, y) in pixels at top left, top right, bottom right and bottom left.

    Raises LayoutError for invalid corners or numbers.
    """

    rows: int
    columns: int
    corners: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        if not (1 <= self.rows <= MOST_CELLS and 1 <= self.columns <= MOST_CELLS):
            raise LayoutError(
                f"the grid has {self.rows} x {self.columns} cells; expected 1 to {MOST_CELLS} rows and columns"
            )
        if len(self.corners) != 4:
            raise LayoutError(
                f"{len(self.corners)} corners were given; expected four, as x,y in pixels: top left, top right, "
                "bottom right, bottom left"
            )
        turns = [_turn(*(self.corners[(index + step) % 4] for step in range(3))) for index in range(4)]
        if not all(turn > 0 for turn in turns):
            shown = " ".join(f"{x:g},{y:g}" for x, y in self.corners)
            raise LayoutError(
                f"the corners {shown} do not go once around a grid; give them in this order: top left, top right, "
                "bottom right, bottom left"
            )

    def to_pixels(self) -> FloatArray:
        """Return the homography, (3, 3), from (column, row) with cells of edge 1 to the photo's pixels."""
        ends = np.array([(0, 0), (self.columns, 0), (self.columns, self.rows), (0, self.rows)], dtype=np.float32)
        return np.asarray(cv2.getPerspectiveTransform(ends, np.array(self.corners, dtype=np.float32)), dtype=np.float64)

    def edges_px(self) -> tuple[float, float]:
        """Return the shortest and the longest edge of a cell in the photo, in pixels."""
        nodes = np.array([(x, y) for y in range(self.rows + 1) for x in range(self.columns + 1)], dtype=np.float64)
        seen = cv2.perspectiveTransform(nodes[:, None], self.to_pixels()).reshape(self.rows + 1, self.columns + 1, 2)
        lengths = [np.linalg.norm(np.diff(seen, axis=axis), axis=2) for axis in (0, 1)]
        return min(float(one.min()) for one in lengths), max(float(one.max()) for one in lengths)


def flat_grid(image: Image, grid: TileGrid, source: str, cell_px: int, margin_cells: float = 0.0) -> tuple[Image, int]:
    """Rectify the grid and a margin around it; returns the picture and how many of its pixels make one of ``cell_px``.

    Raises LayoutError where a corner is outside the picture, FrameError where the cells are too small.
    """
    height, width = image.shape[:2]
    for x, y in grid.corners:
        if not (-1 <= x <= width and -1 <= y <= height):
            raise LayoutError(
                f"the corner {x:g},{y:g} is outside {source}, which has {width} x {height} pixels; "
                "give corners in pixels of that picture"
            )
    shortest, longest = grid.edges_px()
    if shortest < LEAST_CELL_PX:
        raise FrameError(
            f"a cell of {source} is {shortest:.0f} pixels wide or high; expected {LEAST_CELL_PX} or more; take the "
            "photo from closer or more from above, or check --grid and --corners"
        )
    finer = min(_MOST_FINER, math.ceil(longest / cell_px))
    step = 1 / (finer * cell_px)
    start = step / 2 - margin_cells
    to_cells = np.array([(step, 0, start), (0, step, start), (0, 0, 1)])
    across, down = (round((cells + 2 * margin_cells) * cell_px) * finer for cells in (grid.columns, grid.rows))
    flat = cv2.warpPerspective(
        image,
        grid.to_pixels() @ to_cells,
        (across, down),
        flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
        borderMode=cv2.BORDER_REPLICATE,
    )
    return np.asarray(flat, dtype=np.uint8), finer


def flat_cells(image: Image, grid: TileGrid, source: str) -> FloatImage:
    """Return the cells in reading order as logs of light, (rows * columns, CELL_PX, CELL_PX, 3), blue-green-red.

    Raises what ``flat_grid`` raises.
    """
    flat, finer = flat_grid(image, grid, source, CELL_PX)
    fine = linear_light(flat)
    light = fine.reshape(grid.rows * CELL_PX, finer, grid.columns * CELL_PX, finer, 3).mean(axis=(1, 3))
    soft = cv2.GaussianBlur(light, (0, 0), _BLUR_PX)
    logs = np.log(soft / max(float(soft.mean()), 1e-6) + DARKEST)
    cells = logs.reshape(grid.rows, CELL_PX, grid.columns, CELL_PX, 3).swapaxes(1, 2)
    return np.ascontiguousarray(cells.reshape(-1, CELL_PX, CELL_PX, 3), dtype=np.float32)


def _turn(before: tuple[float, float], at: tuple[float, float], after: tuple[float, float]) -> float:
    """Return a number above 0 where the path turns clockwise, in a picture whose y points down."""
    return (at[0] - before[0]) * (after[1] - at[1]) - (at[1] - before[1]) * (after[0] - at[0])
