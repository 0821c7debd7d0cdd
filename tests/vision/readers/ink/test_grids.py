"""Handwritten digits in a printed grid, in a photo."""

from __future__ import annotations

import pytest

from tests.vision.readers.ink.sheets import handwritten_grid
from vision.errors import FrameError, LayoutError
from vision.readers.ink.paper import BLOT, EMPTY_SIGN
from vision.readers.tiles import BARE, TileGrid, read_handwriting


def test_digits_crosses_and_empty_cells_are_read() -> None:
    total = right = 0
    for seed in range(6):
        image, grid, signs = handwritten_grid(seed)
        for row, told in zip(read_handwriting(image, grid, "page.jpg"), signs, strict=True):
            for cell, sign in zip(row, told, strict=True):
                assert sum(cell.probabilities.values()) == pytest.approx(1)
                assert (cell.symbol == BARE) == (sign == EMPTY_SIGN)
                total += sign not in {EMPTY_SIGN, BLOT}
                right += cell.symbol == sign
    assert right >= 0.9 * total > 50


def test_a_grid_beyond_the_picture_or_too_small_is_refused() -> None:
    image, grid, _ = handwritten_grid(1)
    with pytest.raises(LayoutError, match=r"is outside page\.jpg"):
        read_handwriting(image, TileGrid(5, 6, (*grid.corners[:3], (80.0, 500.0))), "page.jpg")
    with pytest.raises(FrameError, match="pixels wide or high"):
        read_handwriting(image, TileGrid(40, 40, grid.corners), "page.jpg")
