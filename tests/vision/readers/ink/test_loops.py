"""Loops are found from cells and their sides, with a gap or touching another."""

from __future__ import annotations

import math

import numpy as np
import pytest

from vision.readers.ink.loops import COMPASS, LOOP, NO_LOOP, lines_between, looped_cells, loops_seen

Cells = dict[tuple[int, int], int]


def scores(cells: Cells, rows: int = 5, columns: int = 6, sure: float = 4.0):
    """A network's scores of a sheet with numbered loops around these cells."""
    numbers = np.zeros((rows + 2, columns + 2), dtype=int)
    for (row, column), number in cells.items():
        numbers[row + 1, column + 1] = number
    own = numbers[1:-1, 1:-1]
    beside = (numbers[:-2, 1:-1], numbers[1:-1, 2:], numbers[2:, 1:-1], numbers[1:-1, :-2])
    lines = np.stack([np.where(own != other, sure, -sure) for other in beside], axis=-1)
    return np.where(own > 0, sure, -sure).astype(float), lines.astype(float)


def loops(looped, lines):
    both = lines_between(lines)
    odds = looped_cells(looped, both)
    cells = {(int(row), int(column)): bool(odds[row, column] > 0) for row, column in np.ndindex(odds.shape)}
    sides = {
        cell: {
            name: {LOOP: float(both[cell][side] > 0), NO_LOOP: float(both[cell][side] <= 0)}
            for side, name in enumerate(COMPASS)
        }
        for cell in cells
    }
    return sorted(sorted(loop) for loop in loops_seen(cells, sides))


ROW = {(1, 1): 1, (1, 2): 1, (1, 3): 1}


def test_an_empty_sheet_has_no_loops() -> None:
    assert loops(*scores({})) == []


def test_two_touching_loops_are_two() -> None:
    below = {(2, 2): 2, (2, 3): 2, (3, 3): 2}
    assert loops(*scores(ROW | below)) == [sorted(ROW), sorted(below)]


def test_a_loop_may_be_concave_on_any_side() -> None:
    bowl = [(1, 1), (2, 1), (2, 2), (2, 3), (1, 3)]
    for turned in (bowl, [(3 - row, column) for row, column in bowl], [(column, row) for row, column in bowl]):
        assert loops(*scores(dict.fromkeys(turned, 1))) == [sorted(turned)]


def test_a_gap_in_the_line_adds_no_cells() -> None:
    looped, lines = scores(ROW)
    lines[0, 2, 2] = lines[1, 2, 0] = -4.0
    assert loops(looped, lines) == [sorted(ROW)]


def test_a_doubtful_cell_follows_neighbours_without_a_line_between() -> None:
    looped, lines = scores(ROW)
    looped[1, 2] = -1.0
    looped[3, 4] = 1.0
    assert loops(looped, lines) == [sorted(ROW)]


BESIDE = ((-1, 0), (0, 1), (1, 0), (0, -1))


def test_the_score_of_a_line_is_the_mean_of_the_cells_on_both_sides() -> None:
    lines = np.random.default_rng(1).normal(0.0, 3.0, (3, 4, 4))
    both = lines_between(lines)
    for (row, column, side), value in np.ndenumerate(both):
        down, right = BESIDE[side]
        there = row + down, column + right
        is_cell = 0 <= there[0] < 3 and 0 <= there[1] < 4
        other = lines[(*there, (side + 2) % 4)] if is_cell else lines[row, column, side]
        assert value == pytest.approx((lines[row, column, side] + other) / 2)


def by_asking_neighbours(looped, lines):
    """The same odds cell by cell: a cell's own score and those of neighbours without a line between."""
    own = {cell: min(10.0, max(-10.0, value)) for cell, value in np.ndenumerate(looped)}
    odds = dict(own)
    for _ in range(25):
        mean = {cell: math.tanh(value / 2) for cell, value in odds.items()}
        told = {
            (row, column): sum(
                2.5 / (1 + math.exp(lines[row, column, side])) * mean.get((row + down, column + right), -1.0)
                for side, (down, right) in enumerate(BESIDE)
            )
            for row, column in odds
        }
        odds = {cell: (odds[cell] + own[cell] + told[cell]) / 2 for cell in odds}
    return odds


@pytest.mark.parametrize("seed", range(4))
def test_the_odds_of_a_loop_equal_a_cell_by_cell_reference(seed: int) -> None:
    random = np.random.default_rng(seed)
    looped, lines = random.normal(1.0, 4.0, (4, 5)), lines_between(random.normal(0.0, 2.0, (4, 5, 4)))
    looped[0, 0], looped[3, 4] = 50.0, -50.0
    odds, expected = looped_cells(looped, lines), by_asking_neighbours(looped, lines)
    for cell, value in np.ndenumerate(odds):
        joined = any(
            expected.get((cell[0] + down, cell[1] + right), -1.0) > 0 and lines[(*cell, side)] <= 0
            for side, (down, right) in enumerate(BESIDE)
        )
        assert value == pytest.approx(-1.0 if expected[cell] > 0 and not joined else expected[cell])


def test_a_loop_has_at_least_two_cells() -> None:
    assert loops(*scores({(1, 1): 1, (1, 2): 1})) == [[(1, 1), (1, 2)]]
    assert loops(*scores({(1, 1): 1, (2, 2): 1})) == []
    looped, lines = scores({(1, 1): 1})
    assert looped_cells(looped, lines_between(lines))[1, 1] == -1.0


def test_unread_sides_have_no_line() -> None:
    circled = {(0, 0): True, (0, 1): True, (0, 2): True, (1, 1): False}
    line = {LOOP: 0.6, NO_LOOP: 0.4}
    assert loops_seen(circled, {}) == [frozenset({(0, 0), (0, 1), (0, 2)})]
    assert loops_seen(circled, {(0, 1): {"east": line}, (0, 2): {"west": line}}) == [
        frozenset({(0, 0), (0, 1)}),
        frozenset({(0, 2)}),
    ]
