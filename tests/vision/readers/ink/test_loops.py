"""Loops are found from cells and their sides, with a gap or touching another."""

from __future__ import annotations

import ast
import importlib
import itertools
import math
import re

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.parts.picture_sets import loops_seen
from tests.effort import cases
from vision.geometry import Side
from vision.readers.ink.reader import LOOP, NO_LOOP, LoopSettings, decode_loops, lines_between

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
    odds, both = decode_loops(looped, lines_between(lines))
    cells = {(int(row), int(column)): bool(odds[row, column] > 0) for row, column in np.ndindex(odds.shape)}
    sides = {
        cell: {
            side.value: {LOOP: float(both[cell][number] > 0), NO_LOOP: float(both[cell][number] <= 0)}
            for number, side in enumerate(Side)
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


def test_a_loop_whose_line_lies_on_a_printed_one_is_closed() -> None:
    row = {(2, column): 1 for column in range(1, 5)}
    looped, lines = scores(row)
    for column in (2, 3):  # the upper line passes for the grid's
        looped[2, column] = -3.0
        lines[2, column, 0] = lines[1, column, 2] = -2.5
    assert loops(looped, lines) == [sorted(row)]


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


def by_enumeration(looped, lines, settings):
    """The same log-odds from every way to enclose cells, with the probability of what is seen along each side."""
    rows, columns = looped.shape
    shares = {0: settings.stray, 1: 1 - settings.gap, 2: settings.touching}
    sides = {
        frozenset({(row, column), (row + down, column + right)}): lines[row, column, side]
        for row, column in np.ndindex(rows, columns)
        for side, (down, right) in enumerate(BESIDE)
    }
    inside, line_there = np.zeros((2, rows, columns)), {side: [0.0, 0.0] for side in sides}
    for chosen in itertools.product((0, 1), repeat=rows * columns):
        enclosed = dict(zip(np.ndindex(rows, columns), chosen, strict=True))
        weight = math.exp(sum(settings.cell * looped[cell] + settings.enclosed for cell in enclosed if enclosed[cell]))
        parts = {}
        for side, odds in sides.items():
            share = shares[sum(enclosed.get(cell, 0) for cell in side)]
            parts[side] = (1 - share, share * math.exp(settings.line * odds))
            weight *= sum(parts[side])
        for cell, value in enclosed.items():
            inside[(value, *cell)] += weight
        for side, (without, with_line) in parts.items():
            line_there[side][0] += weight * without / (without + with_line)
            line_there[side][1] += weight * with_line / (without + with_line)
    of_lines = np.empty_like(lines)
    for (row, column, side), _ in np.ndenumerate(lines):
        down, right = BESIDE[side]
        without, with_line = line_there[frozenset({(row, column), (row + down, column + right)})]
        of_lines[row, column, side] = math.log(with_line / without)
    return np.log(inside[1] / inside[0]), of_lines


SHARES = st.floats(0.02, 0.98)
SETTINGS = st.builds(
    LoopSettings,
    cell=st.floats(0.2, 1.0),
    enclosed=st.floats(-1.0, 1.0),
    line=st.floats(0.2, 1.0),
    stray=SHARES,
    gap=SHARES,
    touching=SHARES,
    rounds=st.just(80),
)


@given(settings=SETTINGS, seed=st.integers(0, 10_000), shape=st.sampled_from([(1, 1), (1, 7), (6, 1)]))
@settings(max_examples=cases(60, 10))
def test_cells_in_a_row_are_read_exactly_as_by_enumeration(
    settings: LoopSettings, seed: int, shape: tuple[int, int]
) -> None:
    random = np.random.default_rng(seed)
    looped, lines = random.normal(0.0, 4.0, shape), lines_between(random.normal(0.0, 4.0, (*shape, 4)))
    expected_cells, expected_lines = by_enumeration(looped, lines, settings)
    cells, along = decode_loops(looped, lines, settings)
    assert cells == pytest.approx(expected_cells, abs=1e-5)
    assert along == pytest.approx(expected_lines, abs=1e-5)


@pytest.mark.parametrize("seed", range(cases(8, 2)))
def test_cells_of_a_grid_are_decided_as_by_enumeration(seed: int) -> None:
    random = np.random.default_rng(seed)
    numbers = dict.fromkeys([(0, 1), (0, 2), (1, 1), (2, 1)], 1) | {(2, 2): 2, (1, 2): 2}
    looped, lines = scores(numbers if seed % 2 else dict.fromkeys([(1, 0), (1, 1), (1, 2)], 1), 3, 4)
    noisy = looped + random.normal(0.0, 3.0, looped.shape), lines_between(lines + random.normal(0.0, 3.0, lines.shape))
    expected, _ = by_enumeration(*noisy, LoopSettings())
    found, _ = decode_loops(*noisy)
    clear = np.abs(expected) > 1.0
    assert clear.sum() > 8
    assert ((found > 0) == (expected > 0))[clear].all()


def test_several_sheets_are_read_as_each_alone() -> None:
    random = np.random.default_rng(5)
    looped, lines = random.normal(0.0, 3.0, (4, 3, 5)), lines_between(random.normal(0.0, 3.0, (4, 3, 5, 4)))
    together = decode_loops(looped, lines)
    for number in range(4):
        for whole, alone in zip(together, decode_loops(looped[number], lines[number]), strict=True):
            assert whole[number] == pytest.approx(alone)


def test_the_weights_can_be_fitted_again() -> None:
    training = importlib.import_module("benchmarks.training.loops")
    done = CliRunner().invoke(training.main, ["--sheets", "20"], catch_exceptions=False)
    assert done.exit_code == 0
    (line,) = re.findall(r"^{.*}$", done.output, re.MULTILINE)
    fitted = ast.literal_eval(line)
    assert set(fitted) == {"cell", "enclosed", "line", "stray", "touching"}
    assert 0 < fitted["stray"] < 1
    quality = re.search(r"^shipped: ([\d.]+)% of cells, .* of 10 sheets", done.output, re.MULTILINE)
    assert quality is not None
    assert float(quality[1]) > 97


def test_a_step_keeps_shares_between_0_and_1() -> None:
    training = importlib.import_module("benchmarks.training.loops")
    settings = LoopSettings(stray=0.01)
    assert training.changed(settings, "cell", -0.25).cell == pytest.approx(settings.cell - 0.25)
    assert training.changed(settings, "stray", -5.0).stray == training.LEAST_SHARE
    assert training.changed(settings, "stray", 0.0).stray == pytest.approx(0.01)
