"""Handwritten digits and crosses in any printed grid, in a photo with its corners given."""

from __future__ import annotations

import cv2
import numpy as np

from vision.frame import Image
from vision.readers.ink.handwriting import Handwriting
from vision.readers.ink.network import InkNetwork
from vision.readers.ink.paper import CELL_PX, MARGIN_CELLS, ink_on
from vision.readers.ink.signs import BLOT, EMPTY_SIGN, SIGNS
from vision.readers.tiles.cells import TileGrid, flat_grid
from vision.readers.tiles.symbols import UNKNOWN, ReadCell

BARE = "."
"""The symbol of an empty cell."""
_SYMBOLS = tuple({EMPTY_SIGN: BARE, BLOT: UNKNOWN}.get(sign, sign) for sign in SIGNS)


def read_handwriting(
    image: Image, grid: TileGrid, source: str, taught: Handwriting | None = None
) -> tuple[tuple[ReadCell, ...], ...]:
    """Read the cells of a grid, row by row: a digit, X, BARE for an empty cell, UNKNOWN for another mark.

    All digits are taken to be as frequent. Raises LayoutError where a corner is outside the picture, FrameError where
    the cells are too small.
    """
    flat, finer = flat_grid(image, grid, source, CELL_PX, MARGIN_CELLS)
    if finer > 1:
        size = (flat.shape[1] // finer, flat.shape[0] // finer)
        flat = np.asarray(cv2.resize(flat, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    cells = np.argwhere(np.ones((grid.rows, grid.columns), dtype=np.bool_))
    scores = InkNetwork(taught=taught).read(ink_on(flat), cells)[:, : len(SIGNS)]
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    found = []
    for own in shares.tolist():
        symbol, probability = max(zip(_SYMBOLS, own, strict=True), key=lambda pair: pair[1])
        found.append(ReadCell(symbol, probability, dict(zip(_SYMBOLS, own, strict=True))))
    return tuple(tuple(found[row * grid.columns : (row + 1) * grid.columns]) for row in range(grid.rows))
