"""Compares candidates over the same sampled rolls, by the best of a few random drops after each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from random import Random

import numpy as np
from numpy.typing import NDArray

from engine.games.number_drop.advice.candidates import Candidate, Valuation
from engine.games.number_drop.advice.evaluation import OPEN, Boards, Values, board_of
from engine.games.number_drop.components import Components
from engine.games.number_drop.drops import any_digits, falling, turned_shapes
from engine.games.number_drop.sheet import COLUMNS, LINES
from engine.search.budget import Deadline
from engine.search.sampling import paired_difference, probability_ahead
from engine.support.polyomino import Shape

ROLLS_A_ROUND = 10
DROPS_A_ROLL = 12
ENOUGH_ROLLS = 100
"""The least number of rolls over which the last two are compared, if time allows."""
MOST_ROLLS = 400
_FEWEST_TO_DROP = 30
_CLEARLY = 3.0
_SPARE_LINES = 4
"""Spare lines above the sheet, for shapes that turn out not to fit."""
_NONE_FITS = -20.0
"""The value of a drop that doesn't fit."""


@cache
def _held(shapes: tuple[Shape, ...]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return, for each way to hold a shape, its cells' columns, their rows, and the lowest row in each one's column."""
    columns, rows, lows = [], [], []
    for held in falling(shapes):
        columns.append([held.column + across for across, _ in held.cells])
        rows.append([up for _, up in held.cells])
        lows.append([held.lows[across] for across, _ in held.cells])
    return np.array(columns), np.array(rows), np.array(lows)


def _sample_drops(components: Components, rng: Random) -> tuple[NDArray[np.int64], ...]:
    """Draw rolls and random drops of each: columns, rows, lows and digits, each of shape (rolls * drops, 4)."""
    parts: list[list[NDArray[np.int64]]] = [[], [], []]
    digits = []
    for _ in range(ROLLS_A_ROUND):
        roll = tuple(die[int(rng.random() * len(die))] for die in components.dice)
        tables = _held(turned_shapes(components, roll[-1]))
        chosen = [int(rng.random() * len(tables[0])) for _ in range(DROPS_A_ROLL)]
        for part, table in zip(parts, tables, strict=True):
            part.append(table[chosen])
        digits += [[int(digit) for digit in any_digits(roll, rng)] for _ in range(DROPS_A_ROLL)]
    return (*(np.concatenate(part) for part in parts), np.array(digits))


def _drop_all(board: Boards, columns: NDArray[np.int64], rows: NDArray[np.int64], lows: NDArray[np.int64],
             digits: NDArray[np.int64]) -> tuple[Boards, NDArray[np.bool_]]:  # fmt: skip
    """Return the board after each of these drops, and whether the drop fits on the sheet."""
    heights = LINES - np.argmax(np.flip(board, 0) >= 0, axis=0)
    heights[~(board >= 0).any(axis=0)] = 0
    rest = np.maximum((heights[columns] - lows).max(axis=1), 0)
    squares = (rest[:, None] + rows) * COLUMNS + columns
    boards = np.full((len(columns), (LINES + _SPARE_LINES) * COLUMNS), OPEN, dtype=np.int8)
    boards[:, : LINES * COLUMNS] = board.ravel()
    np.put_along_axis(boards, squares, digits.astype(np.int8), axis=1)
    fits = (rest[:, None] + rows < LINES).all(axis=1)
    return boards[:, : LINES * COLUMNS].reshape(-1, LINES, COLUMNS), fits


def compare_over_rolls(
    candidates: Sequence[Candidate],
    valuation: Valuation,
    components: Components,
    deadline: Deadline,
    rng: Random,
    on_new_leader: Callable[[Candidate], object],
) -> tuple[Candidate, float]:
    """Return the candidate with the best results over sampled rolls, and the confidence in it (0 to 1).

    Candidates clearly behind (by three standard errors over the common rolls) are dropped early.
    """
    left = list(range(len(candidates)))
    boards = [board_of(candidate.sheet) for candidate in candidates]
    gained: list[list[float]] = [[] for _ in candidates]
    leader, slowest_s = 0, 0.0
    while len(left) > 1 and len(gained[left[0]]) < MOST_ROLLS and deadline.left_s() > slowest_s:
        sample = _sample_drops(components, rng)
        row: dict[int, list[float]] = {}
        for index in left:
            began_s = deadline.clock()
            row[index] = _best_drops(boards[index], candidates[index], valuation, sample)
            slowest_s = max(slowest_s, deadline.clock() - began_s)
            if deadline.left_s() < slowest_s:
                break
        if len(row) < len(left):
            # An incomplete round is discarded.
            break
        for index, values in row.items():
            gained[index] += values
        left.sort(key=lambda index: (-sum(gained[index]), index))
        if left[0] != leader:
            leader = left[0]
            on_new_leader(candidates[leader])
        left = _still_racing(left, gained)
    return (candidates[leader], _confidence_in(gained, leader)) if gained[leader] else (candidates[0], 0.5)


def _still_racing(left: list[int], gained: Sequence[Sequence[float]]) -> list[int]:
    """Return the candidates that are not clearly behind the first of ``left``."""
    leader = gained[left[0]]
    if len(leader) < _FEWEST_TO_DROP:
        return left
    near = [index for index in left if index == left[0] or not _is_behind(gained[index], leader)]
    # The last two are compared over enough rolls, however clear the lead.
    return near if len(near) > 1 or len(leader) >= ENOUGH_ROLLS else left[:2]


def _confidence_in(gained: Sequence[Sequence[float]], leader: int) -> float:
    rivals = [each for index, each in enumerate(gained) if index != leader and each]
    # A rival that was dropped early has fewer values.
    leads = [paired_difference(gained[leader][: len(each)], each) for each in rivals]
    return min((probability_ahead(mean, error) for mean, error in leads), default=1.0)


def _best_drops(
    board: Boards, candidate: Candidate, valuation: Valuation, sample: tuple[NDArray[np.int64], ...]
) -> list[float]:
    """Return the value of the best drop for each roll of the sample."""
    boards, fits = _drop_all(board, *sample)
    worth: Values = np.where(fits, valuation.with_boxes_of(boards, candidate.sheet, turns_less=1), _NONE_FITS)
    return [float(best) for best in worth.reshape(ROLLS_A_ROUND, DROPS_A_ROLL).max(axis=1)]


def _is_behind(other: Sequence[float], leader: Sequence[float]) -> bool:
    mean, error = paired_difference(leader, other)
    return mean > _CLEARLY * error
