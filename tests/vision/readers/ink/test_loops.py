"""Loops are found from cells and their sides, with a gap or touching another."""

from __future__ import annotations

import numpy as np

from vision.readers.ink.loops import COMPASS, LOOP, NO_LOOP, lines_between, looped_cells, loops_seen

Cells = dict[tuple[int, int], int]


def scores(cells: Cells, rows: int = 5, columns: int = 6, sure: float = 4.0):
    """What a network would say of a sheet with numbered loops around these cells."""
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


def test_an_empty_sheet_has_none() -> None:
    assert loops(*scores({})) == []


def test_two_that_touch_are_two() -> None:
    below = {(2, 2): 2, (2, 3): 2, (3, 3): 2}
    assert loops(*scores(ROW | below)) == [sorted(ROW), sorted(below)]


def test_a_loop_may_turn_back_on_any_side() -> None:
    bowl = [(1, 1), (2, 1), (2, 2), (2, 3), (1, 3)]
    for turned in (bowl, [(3 - row, column) for row, column in bowl], [(column, row) for row, column in bowl]):
        assert loops(*scores(dict.fromkeys(turned, 1))) == [sorted(turned)]


def test_a_gap_in_the_line_lets_nothing_in() -> None:
    looped, lines = scores(ROW)
    lines[0, 2, 2] = lines[1, 2, 0] = -4.0
    assert loops(looped, lines) == [sorted(ROW)]


def test_a_cell_in_doubt_goes_with_those_that_no_line_parts_it_from() -> None:
    looped, lines = scores(ROW)
    looped[1, 2] = -1.0
    looped[3, 4] = 1.0
    assert loops(looped, lines) == [sorted(ROW)]
