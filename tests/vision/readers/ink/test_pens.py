"""Squares filled with pens: in any shade, hatched or ticked, in any light."""

from __future__ import annotations

import math

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from vision.errors import LayoutError
from vision.readers.ink.paper import CELL_PX
from vision.readers.ink.reader import PenSettings, densities, read_pens
from vision.surface.paper import hues, usual_hues

PENS = ("red", "blue", "yellow", "green")
INKS = {"red": (40, 35, 200), "blue": (170, 90, 40), "yellow": (40, 200, 240), "green": (70, 130, 40)}
SIDE = 6
Picture = npt.NDArray[np.uint8]


def bare() -> Picture:
    sheet = np.full(((SIDE + 1) * CELL_PX, (SIDE + 1) * CELL_PX, 3), 245, dtype=np.uint8)
    for line in range(SIDE + 1):
        at = CELL_PX // 2 + line * CELL_PX
        last = CELL_PX // 2 + SIDE * CELL_PX
        cv2.line(sheet, (CELL_PX // 2, at), (last, at), (150, 150, 150), 1)
        cv2.line(sheet, (at, CELL_PX // 2), (at, last), (150, 150, 150), 1)
    return sheet


def corner(row: int, column: int) -> tuple[int, int]:
    return CELL_PX // 2 + column * CELL_PX, CELL_PX // 2 + row * CELL_PX


def fill(sheet: Picture, row: int, column: int, ink: tuple[int, int, int]) -> None:
    x, y = corner(row, column)
    cv2.rectangle(sheet, (x + 2, y + 2), (x + CELL_PX - 2, y + CELL_PX - 2), ink, -1)


def hatch(sheet: Picture, row: int, column: int, ink: tuple[int, int, int]) -> None:
    x, y = corner(row, column)
    for step in range(4, CELL_PX, 6):
        cv2.line(sheet, (x + 2, y + step), (x + step, y + 2), ink, 1, cv2.LINE_AA)
        cv2.line(sheet, (x + step, y + CELL_PX - 2), (x + CELL_PX - 2, y + step), ink, 1, cv2.LINE_AA)


def tick(sheet: Picture, row: int, column: int, ink: tuple[int, int, int]) -> None:
    x, y = corner(row, column)
    points = np.array([[x + 6, y + 11], [x + 10, y + 18], [x + 19, y + 5]], dtype=np.int32)
    cv2.polylines(sheet, [points], False, ink, 2, cv2.LINE_AA)


def lit(sheet: Picture, colour: tuple[float, float, float], fall: float = 0.0) -> Picture:
    along = np.linspace(1, 1 - fall, sheet.shape[1])[None, :, None]
    return np.asarray(np.clip(sheet * np.array(colour) * along, 0, 255), dtype=np.uint8)


def test_a_squares_ink_is_the_same_however_the_sheet_is_turned() -> None:
    sheet = bare()
    fill(sheet, 1, 0, INKS["red"])
    hatch(sheet, 2, 4, INKS["blue"])
    tick(sheet, 5, 1, INKS["green"])
    along = densities(sheet, SIDE, SIDE)
    across = densities(np.ascontiguousarray(sheet.swapaxes(0, 1)), SIDE, SIDE)
    assert across.swapaxes(0, 1) == pytest.approx(along, abs=3e-3)
    most = along.max(axis=2)
    assert np.argwhere(most >= np.sort(most, axis=None)[-3]).tolist() == [[1, 0], [2, 4], [5, 1]]


def names(sheet: Picture) -> dict[tuple[int, int], str]:
    seen = read_pens(sheet, SIDE, SIDE, usual_hues(PENS))
    found = np.argwhere(seen.filled > 0)
    return {(int(row), int(column)): PENS[int(seen.pens[row, column].argmax())] for row, column in found}


@pytest.mark.parametrize("how", [fill, hatch, tick])
@pytest.mark.parametrize("light", [(1.0, 1.0, 1.0), (0.55, 0.8, 1.0), (0.3, 0.25, 0.2)])
def test_every_pen_is_recognised_in_any_kind_of_filling(how, light) -> None:
    sheet = bare()
    expected = {(index, index + 1): pen for index, pen in enumerate(PENS)}
    for (row, column), pen in expected.items():
        how(sheet, row, column, INKS[pen])
    assert names(lit(sheet, light, 0.4)) == expected


def test_probabilities_of_pens_sum_to_one_and_none_is_certain() -> None:
    sheet = bare()
    fill(sheet, 1, 2, INKS["blue"])
    settings = PenSettings()
    seen = read_pens(sheet, SIDE, SIDE, usual_hues(PENS))
    assert np.allclose(seen.pens.sum(axis=2), 1)
    assert seen.pens[1, 2].min() >= settings.odd_one_out / len(PENS)
    assert seen.pens[1, 2].max() > 0.9
    assert 0 < seen.filled[1, 2] <= settings.most
    assert seen.filled.min() == settings.bare_log_odds


def test_a_bare_sheet_is_bare_under_a_shadow_too() -> None:
    sheet = lit(bare(), (0.9, 0.9, 0.9)).astype(np.float64)
    sheet[:, 60:110] *= 0.6
    assert names(sheet.astype(np.uint8)) == {}


def test_pens_are_fitted_to_each_picture() -> None:
    sheet = bare()
    for column in range(4):
        fill(sheet, 1, column, (60, 90, 215))
        fill(sheet, 3, column, (60, 165, 245))
    found = names(sheet)
    assert {found[1, column] for column in range(4)} == {"red"}
    assert {found[3, column] for column in range(4)} == {"yellow"}


def test_most_of_a_sheet_may_be_filled() -> None:
    sheet = bare()
    expected = {(row, column): PENS[(row + column) % 4] for row in range(SIDE) for column in range(SIDE) if row != 2}
    for (row, column), pen in expected.items():
        fill(sheet, row, column, INKS[pen])
    assert names(lit(sheet, (0.8, 0.9, 1.0), 0.3)) == expected


def test_a_pen_of_unknown_colour_is_named() -> None:
    with pytest.raises(LayoutError, match="no pen is known as 'mauve'"):
        usual_hues(["red", "mauve"])


def of_many_strengths() -> Picture:
    """A sheet whose cells are tinted with more and more ink of each pen, each somewhat off its usual hue."""
    sheet = bare()
    for column, strength in enumerate((0.01, 0.04, 0.1, 0.3, 0.7, 1.0)):
        for row, ink in enumerate(INKS.values()):
            other = np.roll(ink, 1)
            paint = 245 * (1 - strength) + strength * (0.85 * np.array(ink) + 0.15 * other)
            blue, green, red = (int(level) for level in paint)
            fill(sheet, row, column, (blue, green, red))
    return sheet


def by_turns(hue_deg: float, pen_deg: float) -> float:
    """Signed difference of a hue from a pen's, from -180 to 180 degrees."""
    return (hue_deg - pen_deg + 180) % 360 - 180


def test_pens_are_fitted_to_the_hues_of_their_cells() -> None:
    """A cell-by-cell reference: odds grow with the logarithm of the ink, and a pen's hue follows its cells."""
    sheet, usual = of_many_strengths(), usual_hues(PENS)
    seen = read_pens(sheet, SIDE, SIDE, usual)
    found, strength = hues(densities(sheet, SIDE, SIDE))
    hue = dict(np.ndenumerate(found))
    filled = {
        cell: min(12.0, max(-9.0, 5.0 * math.log(max(value, 1e-3) / 0.1))) for cell, value in np.ndenumerate(strength)
    }
    assert dict(np.ndenumerate(seen.filled)) == pytest.approx(filled)
    assert len({round(value) for value in filled.values()}) > 6
    pens = usual.tolist()
    for _ in range(8):
        off, counted = [0.0] * len(PENS), [(11 / 16) ** 2] * len(PENS)
        for cell, odds in filled.items():
            own = min(range(len(PENS)), key=lambda pen: abs(by_turns(hue[cell], pens[pen])))
            there = 1 / (1 + math.exp(-odds))
            off[own] += there * by_turns(hue[cell], usual[own])
            counted[own] += there
        pens = [usual[pen] + off[pen] / counted[pen] for pen in range(len(PENS))]
    assert max(abs(pen - was) for pen, was in zip(pens, usual, strict=True)) > 3
    for cell in filled:
        weights = [(1 + (by_turns(hue[cell], pen) / 11) ** 2 / 4) ** -2.5 for pen in pens]
        shares = [0.998 * weight / sum(weights) + 0.002 / len(PENS) for weight in weights]
        assert seen.pens[cell].tolist() == pytest.approx(shares)


def test_ink_in_the_middle_of_a_cell_counts_more_than_at_its_border() -> None:
    """The weights are Gaussian with a standard deviation of a fifth of a cell."""
    found = []
    for off_px in (0, 4, 8):
        sheet = np.full_like(bare(), 245)
        x, y = corner(2, 2)
        middle = CELL_PX // 2
        sheet[y + middle - 1 : y + middle + 1, x + middle + off_px - 1 : x + middle + off_px + 1] = INKS["green"]
        found.append(densities(sheet, SIDE, SIDE)[2, 2].max())
    shares = [value / found[0] for value in found[1:]]
    # Smoothing widens the dot, and so the distribution, a little.
    wide = math.sqrt(0.2**2 + (1.2 / CELL_PX) ** 2)
    assert shares == pytest.approx([math.exp(-0.5 * (off / CELL_PX / wide) ** 2) for off in (4, 8)], rel=0.1)
