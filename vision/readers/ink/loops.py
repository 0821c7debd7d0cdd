"""Loops around several cells: which cells they enclose, given the network's output for each cell and its sides.

A loop's line runs between enclosed cells and others. Cells without a line between them are on the same side of every
loop, and the outside of the grid is not enclosed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vision.frame import FloatArray

COMPASS = ("north", "east", "south", "west")
LOOP, NO_LOOP = "loop", "open"
"""The possible contents of a cell's side."""
_FEWEST = 2
"""Minimum number of cells in a loop."""


@dataclass(frozen=True)
class LoopSettings:
    """How cells and their neighbours are weighted, as log-odds; set by hand on rendered sheets."""

    joined: float = 2.5
    """Odds contributed by a neighbour without a line between. Higher: gaps in a loop let more of the outside in."""
    most: float = 10.0
    """Maximum odds of a cell by itself."""
    rounds: int = 25
    """How often neighbours are asked again."""


def lines_between(lines: FloatArray) -> FloatArray:
    """Return log-odds of a line along each cell's sides (rows, columns, 4), in COMPASS order, combining both cells'
    views.
    """
    both = lines.copy()
    across = (lines[:, :-1, 1] + lines[:, 1:, 3]) / 2
    down = (lines[:-1, :, 2] + lines[1:, :, 0]) / 2
    both[:, :-1, 1] = both[:, 1:, 3] = across
    both[:-1, :, 2] = both[1:, :, 0] = down
    return both


def looped_cells(looped: FloatArray, lines: FloatArray, settings: LoopSettings = LoopSettings()) -> FloatArray:
    """Return log-odds that a loop encloses each cell (rows, columns), taking its neighbours into account.

    ``looped`` are the odds of each cell by itself, ``lines`` the result of ``lines_between``. The marginals are found
    by mean-field iteration.
    """
    own = np.clip(looped, -settings.most, settings.most)
    coupling = settings.joined / (1 + np.exp(np.clip(lines, -30, 30)))
    odds = own.copy()
    mean = np.full((own.shape[0] + 2, own.shape[1] + 2), -1.0)
    beside = (mean[:-2, 1:-1], mean[1:-1, 2:], mean[2:, 1:-1], mean[1:-1, :-2])
    joined = np.ascontiguousarray(np.moveaxis(coupling, -1, 0))
    for _ in range(settings.rounds):
        np.tanh(odds / 2, out=mean[1:-1, 1:-1])
        odds = 0.5 * odds + 0.5 * (own + sum(one * other for one, other in zip(joined, beside, strict=True)))
    for loop in _connected_cells(np.asarray(odds > 0), lines):
        if len(loop) < _FEWEST:
            row, column = next(iter(loop))
            odds[row, column] = min(odds[row, column], -1.0)
    return np.asarray(odds)


def _connected_cells(inside: npt.NDArray[np.bool_], lines: FloatArray) -> list[frozenset[tuple[int, int]]]:
    """Return the cells of each loop: enclosed cells connected without a line between."""
    rows, columns = inside.shape
    left = {(row, column) for row in range(rows) for column in range(columns) if inside[row, column]}
    loops = []
    while left:
        pending = [min(left)]
        left.remove(pending[0])
        found = set(pending)
        while pending:
            row, column = pending.pop()
            for side, (down, right) in enumerate(((-1, 0), (0, 1), (1, 0), (0, -1))):
                beside = (row + down, column + right)
                if beside in left and lines[row, column, side] <= 0:
                    left.remove(beside)
                    found.add(beside)
                    pending.append(beside)
        loops.append(frozenset(found))
    return loops


def loops_seen(
    circled: Mapping[tuple[int, int], bool], sides: Mapping[tuple[int, int], Mapping[str, Mapping[str, float]]]
) -> list[frozenset[tuple[int, int]]]:
    """Return the cells of each loop, by row from the top and column, from circled cells and the contents of their
    sides.
    """
    rows, columns = (max(cell[axis] for cell in circled) + 1 for axis in (0, 1))
    inside = np.zeros((rows, columns), dtype=np.bool_)
    lines = np.zeros((rows, columns, len(COMPASS)))
    for (row, column), is_circled in circled.items():
        inside[row, column] = is_circled
        for side, name in enumerate(COMPASS):
            shown = sides.get((row, column), {}).get(name, {})
            lines[row, column, side] = shown.get(LOOP, 0.0) - 0.5
    return _connected_cells(inside, lines)
