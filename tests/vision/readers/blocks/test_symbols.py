"""Correlating many masks with many patches at once gives each one's correlation coefficient."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import cases
from vision.readers.blocks.appearance import TemplateBank, correlations, drawn_mask, peak_between, unit_rows, windows_of

BANK = TemplateBank.of(
    {symbol: drawn_mask(symbol, 60) for symbol in ("star", "cross", "hoops")}, 30.0, 0.75, (0.6, 1.2)
)


@given(st.integers(0, 2**32 - 1), st.floats(0.001, 1.0), st.floats(0.0, 1.0))
@settings(deadline=None, max_examples=cases(40))
def test_every_correlation_is_the_correlation_coefficient(seed: int, contrast: float, level: float) -> None:
    rng = np.random.default_rng(seed)
    side = BANK.side_px + 4
    patches = (level + contrast * rng.random((3, side, side))).astype(np.float32)
    found = correlations(windows_of(patches, BANK.side_px), BANK.rows)
    assert found.shape == (3, 5, 5, len(BANK.rows))
    for _ in range(30):
        patch, down, across, index = (int(rng.integers(size)) for size in found.shape)
        window = patches[patch, down : down + BANK.side_px, across : across + BANK.side_px].astype(np.float64)
        expected = np.corrcoef(window.ravel(), BANK.masks[index].ravel())[0, 1]
        assert found[patch, down, across, index] == pytest.approx(expected, abs=2e-3)


def test_a_patch_without_contrast_correlates_with_nothing() -> None:
    flat = np.full((1, BANK.side_px, BANK.side_px), 0.4, dtype=np.float32)
    assert (correlations(windows_of(flat, BANK.side_px), BANK.rows) == -1).all()


def test_the_bank_holds_each_symbol_in_each_turn_that_looks_different() -> None:
    turns = {
        symbol: {q for s, q in zip(BANK.symbols, BANK.quarters, strict=True) if s == symbol} for symbol in BANK.symbols
    }
    assert turns == {"star": {0, 1, 2, 3}, "cross": {0}, "hoops": {0, 1, 2, 3}}
    assert set(BANK.columns_of("star", 0.6)) | set(BANK.columns_of("star", 1.2)) == set(range(8))
    assert unit_rows(BANK.rows) == pytest.approx(BANK.rows, abs=1e-5)


@given(st.floats(-0.49, 0.49), st.floats(-0.49, 0.49))
def test_a_peak_between_places_is_found(down: float, across: float) -> None:
    rows, columns = np.meshgrid(np.arange(5.0), np.arange(5.0), indexing="ij")
    scores = (1 - 0.1 * (rows - 2 - down) ** 2 - 0.1 * (columns - 2 - across) ** 2).astype(np.float32)
    assert peak_between(scores, 2, 2) == pytest.approx((down, across), abs=1e-3)


@pytest.mark.parametrize(("row", "column"), [(1, 1), (1, 4), (3, 1), (3, 4), (0, 2), (4, 2), (2, 0), (2, 5), (0, 5)])
def test_a_peak_is_found_up_to_the_place_beside_the_border(row: int, column: int) -> None:
    rows, columns = np.meshgrid(np.arange(5.0), np.arange(6.0), indexing="ij")
    scores = (1 - 0.1 * (rows - row - 0.3) ** 2 - 0.1 * (columns - column + 0.2) ** 2).astype(np.float32)
    down, across = 0.3 if 0 < row < 4 else 0.0, -0.2 if 0 < column < 5 else 0.0
    assert peak_between(scores, row, column) == pytest.approx((down, across), abs=1e-3)
