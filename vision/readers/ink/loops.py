"""Loops around several cells: which cells they enclose, from what the network says of each cell and of its sides.

A loop's line runs between cells of the loop and others. Cells without a line between them are on the same side of every
loop, and what lies beyond the grid is in none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vision.frame import FloatArray

COMPASS = ("north", "east", "south", "west")
LOOP, NO_LOOP = "loop", "open"
"""What a side of a cell shows."""
_FEWEST = 2
"""Cells that a loop runs around at least."""


@dataclass(frozen=True)
class LoopSettings:
    """How cells and their neighbours are weighed against each other, as log-odds; set by hand on made sheets."""

    joined: float = 2.5
    """Odds that a neighbour without a line between lends. Higher: gaps in a loop let more of the outside in."""
    most: float = 10.0
    """Most odds of a cell for itself."""
    rounds: int = 25
    """How often neighbours are asked again."""


def lines_between(lines: FloatArray) -> FloatArray:
    """The log-odds of a line along each cell's sides (rows, columns, 4), in COMPASS' order, from both cells' views."""
    both = lines.copy()
    across = (lines[:, :-1, 1] + lines[:, 1:, 3]) / 2
    down = (lines[:-1, :, 2] + lines[1:, :, 0]) / 2
    both[:, :-1, 1] = both[:, 1:, 3] = across
    both[:-1, :, 2] = both[1:, :, 0] = down
    return both


def looped_cells(looped: FloatArray, lines: FloatArray, settings: LoopSettings = LoopSettings()) -> FloatArray:
    """The log-odds that a loop runs around each cell (rows, columns), its neighbours heard.

    ``looped`` are the odds of each cell by itself, ``lines`` what ``lines_between`` gave. The cells' means are found
    by iteration (mean field).
    """
    own = np.clip(looped, -settings.most, settings.most)
    coupling = settings.joined / (1 + np.exp(np.clip(lines, -30, 30)))
    odds = own.copy()
    for _ in range(settings.rounds):
        mean = np.pad(np.tanh(odds / 2), 1, constant_values=-1.0)
        beside = np.stack([mean[:-2, 1:-1], mean[1:-1, 2:], mean[2:, 1:-1], mean[1:-1, :-2]], axis=-1)
        odds = 0.5 * odds + 0.5 * (own + (coupling * beside).sum(axis=-1))
    for loop in _joined(np.asarray(odds > 0), lines):
        if len(loop) < _FEWEST:
            row, column = next(iter(loop))
            odds[row, column] = min(odds[row, column], -1.0)
    return np.asarray(odds)


def _joined(inside: npt.NDArray[np.bool_], lines: FloatArray) -> list[frozenset[tuple[int, int]]]:
    """The cells of each loop: those inside that no line parts."""
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
    """The cells of each loop by row from above and column, of cells that are circled and what their sides show."""
    rows, columns = (max(cell[axis] for cell in circled) + 1 for axis in (0, 1))
    inside = np.zeros((rows, columns), dtype=np.bool_)
    lines = np.zeros((rows, columns, len(COMPASS)))
    for (row, column), is_circled in circled.items():
        inside[row, column] = is_circled
        for side, name in enumerate(COMPASS):
            shown = sides.get((row, column), {}).get(name, {})
            lines[row, column, side] = shown.get(LOOP, 0.0) - 0.5
    return _joined(inside, lines)
