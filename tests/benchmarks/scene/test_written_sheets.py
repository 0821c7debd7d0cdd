"""Random pictures of written sheets, and their ground truth."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.scene.written_sheets import COLUMNS, ROWS, loops_of, written_sheet
from simulator.scene.handwriting import FORMS, Writer, loop_around

SIGNS = ("empty", "1", "2", "X", "blot")


def test_a_seed_always_gives_the_same_sheet() -> None:
    first, again, other = (written_sheet(np.random.default_rng(seed), SIGNS, 24) for seed in (4, 4, 5))
    assert (first.flat == again.flat).all()
    assert (first.signs == again.signs).all()
    assert (first.loops == again.loops).all()
    assert (first.signs != other.signs).any()
    assert first.flat.shape == ((ROWS + 1) * 24, (COLUMNS + 1) * 24, 3)


def test_cells_with_ink_are_darker_than_empty_ones() -> None:
    sheet = written_sheet(np.random.default_rng(11), SIGNS, 24)
    grey = sheet.flat.mean(axis=2)[12:-12, 12:-12].reshape(ROWS, 24, COLUMNS, 24)
    spread = grey[:, 5:19, :, 5:19].std(axis=(1, 3))
    assert spread[sheet.signs > 0].min() > np.median(spread[sheet.signs == 0])


def test_loops_enclose_several_connected_cells() -> None:
    loops = loops_of(np.random.default_rng(1), 3)
    assert loops.max() >= 2
    for number in range(1, loops.max() + 1):
        cells = {tuple(cell) for cell in np.argwhere(loops == number)}
        assert not cells or len(cells) >= 2
        grown = {min(cells)} if cells else set()
        for _ in cells:
            grown |= {(r + a, c + b) for r, c in grown for a, b in ((0, 1), (1, 0), (0, -1), (-1, 0))} & cells
        assert grown == cells


@pytest.mark.parametrize("seed", range(4))
def test_a_loop_stays_near_its_cells(seed: int) -> None:
    mask = np.array([[True, True, True], [False, False, True]])
    (stroke,) = loop_around(mask, np.random.default_rng(seed))
    assert stroke.min() > -0.3
    assert (stroke.max(axis=0) < np.array([3.3, 2.3])).all()


@pytest.mark.parametrize("sign", sorted(FORMS))
def test_signs_stay_near_their_cell(sign: str) -> None:
    hand = Writer(np.random.default_rng(2))
    for _ in range(10):
        assert all(np.abs(stroke).max() < 0.7 for stroke in hand.sign(sign))
    assert all(np.abs(stroke).max() < 0.8 for stroke in hand.blot())


def test_signs_are_taken_from_scans_on_a_share_of_the_sheets() -> None:
    """A scan that fills its cell differs from any stroke by the dark share of the cell."""
    scans = {"1": np.full((1, 28, 28), 255, dtype=np.uint8)}
    dark = 0
    for seed in range(12):
        sheet = written_sheet(np.random.default_rng(seed), ("empty", "1", "blot"), 24, scans)
        grey = sheet.flat.mean(axis=2)[12:-12, 12:-12].reshape(ROWS, 24, COLUMNS, 24)
        ones = grey[:, 9:15, :, 9:15].max(axis=(1, 3))[sheet.signs == 1]
        dark += bool((ones < 0.8 * grey.max()).all())
    assert 4 <= dark <= 10
