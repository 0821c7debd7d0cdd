"""The evaluation of sheets, many at once as arrays.

A sheet is 14 by 7 bytes, the lowest line first: a free digit as itself, ``LOOPED`` for a digit inside a loop,
``CROSSED`` for a cross, ``OPEN`` for an empty cell. The value is the current points plus an estimate of further ones:
the best assignment of patches of equal digits and of runs to open boxes, lines that can still be filled, and room below
the Game Over line.
"""

import math
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.games.number_drop.sheet import (
    BONUS_SIZE,
    COLUMNS,
    CONSECUTIVE,
    CROSS,
    EMPTY_CELL,
    FULL_LINE_POINTS,
    GAME_OVER_POINTS,
    IDENTICAL,
    LINES,
    LINES_BELOW_GAME_OVER,
    SMALLEST,
    SQUARES,
    Sheet,
)

LOOPED, CROSSED, OPEN = 20, 21, -10  # far enough from the digits that no step of one leads to them
Boards = NDArray[np.int8]
Values = NDArray[np.float32]

_SWEEPS_OF_PATCHES, _SWEEPS_OF_RUNS = 5, 7  # over the board; patches and runs that wind more are seen in part
_PATCHES = 4
"""The number of patches, and the number of runs, assigned to boxes."""
_GROWING = range(2, BONUS_SIZE + 1)
_BURIED = range(SMALLEST, BONUS_SIZE + 1)
_LEVELS = 1 + len(_GROWING) + len(_BURIED)


@dataclass(frozen=True)
class Weights:
    """The weights of the evaluation's terms; tuned by playing solo games with many settings."""

    hope: float = 0.7
    """The exponent of the probabilities of filling a box; below 1 is more optimistic than the measured ones."""
    early: float = 0.97
    """The share of its points that a combination is worth before it is drawn."""
    column: float = 1.5
    """The extra points of each filled box, on the way to a full column."""
    line: float = 1.2
    """The worth of an almost full line with nothing above its gaps."""
    hole: float = 1.5
    """The cost of an empty cell below a filled one."""
    bump: float = 0.5
    """The cost of each line of difference between neighbouring columns."""
    turn: float = 3.0
    """The cost of a turn for which there is no room left."""
    letter: float = 3.0
    """The worth of a circled letter, which averts a penalty."""


WEIGHTS = Weights()


def board_of(sheet: Sheet) -> Boards:
    """Return one sheet as an array of 14 by 7."""
    circled = sheet.circled
    flat = [
        OPEN if mark == EMPTY_CELL else CROSSED if mark == CROSS else LOOPED if circled >> square & 1 else int(mark)
        for square, mark in enumerate(sheet.cells)
    ]
    return np.array(flat, dtype=np.int8).reshape(LINES, COLUMNS)


@cache
def _sorted_levels() -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Return the row of each code of unsorted levels, and the levels of each row, the highest first."""
    rows = np.array(list(combinations_with_replacement(reversed(range(_LEVELS)), _PATCHES)), dtype=np.int16)
    codes = np.zeros(_LEVELS**_PATCHES, dtype=np.int16)
    codes[_code(rows)] = np.arange(len(rows), dtype=np.int16)
    return codes, rows


def _code(levels: NDArray[Any]) -> NDArray[np.int64]:
    code = np.zeros(levels.shape[:-1], dtype=np.int64)
    for place in range(_PATCHES):
        code = code * _LEVELS + levels[..., place]
    return code


def _size_of(level: int) -> tuple[int, bool]:
    """Return the size of a patch by its level, and whether it can grow."""
    if level == 0:
        return 0, False
    if level <= len(_GROWING):
        return _GROWING[level - 1], True
    return _BURIED[level - 1 - len(_GROWING)], False


_RANKS = sorted(range(_LEVELS), key=_size_of)
"""Levels, the least promising first."""
_RANK_OF_LEVEL = {level: rank for rank, level in enumerate(_RANKS)}
_RANK_GROWING = np.array(
    [0, 0, *(_RANK_OF_LEVEL[1 + size - 2] for size in _GROWING)] + [_RANK_OF_LEVEL[len(_GROWING)]] * 100, dtype=np.int8
)
_RANK_BURIED = np.array(
    [0, 0, 0, *(_RANK_OF_LEVEL[1 + len(_GROWING) + size - SMALLEST] for size in _BURIED)]
    + [_RANK_OF_LEVEL[_LEVELS - 1]] * 100,
    dtype=np.int8,
)
"""The rank of a patch by its size: of one that can still grow above, of one that can't here."""

_BY_SIZE = {IDENTICAL: (0.8, -1.04, -1.22, -1.55, -1.49, -2.5), CONSECUTIVE: (0.68, -0.4, -0.63, -0.58, 0.28, -0.5)}


def chance_of(kind: str, size: int, missing: int, turns_left: float) -> float:
    """Return the probability that a box is filled in the end if its best patch or run lacks this many digits.

    A logistic regression on 24,534 open boxes of solo games that were played by these values.
    """
    time = math.log1p(turns_left)
    odds = _BY_SIZE[kind][size - SMALLEST] - 0.93 * missing - 0.29 * min(missing, 1)
    odds += 1.15 * time + 0.26 * missing * time - 0.7 * (size - 5) * time
    return 1 / (1 + math.exp(-odds))


@cache
def _promises(kind: str, open_sizes: int, turns_left: int) -> NDArray[np.float32]:
    """Return, for each row of sorted ranks, the most that such patches can be worth with these boxes open.

    ``open_sizes`` has a bit for each size from 3 to 8.
    """
    _, rows = _sorted_levels()
    worth = np.zeros((BONUS_SIZE + 1, _LEVELS), dtype=np.float32)
    for size in range(SMALLEST, BONUS_SIZE + 1):
        points = size + (0 if size == BONUS_SIZE else WEIGHTS.column)
        for rank, level in enumerate(_RANKS):
            have, grows = _size_of(level)
            missing = max(0, size - (have if grows or have >= size else 1))
            chance = WEIGHTS.early if not missing else chance_of(kind, size, missing, turns_left) ** WEIGHTS.hope
            worth[size, rank] = points * chance
    # A box has some worth even without a patch; patches count for what they add.
    usual = sum(
        float(worth[size, 0]) for size in range(SMALLEST, BONUS_SIZE + 1) if open_sizes >> (size - SMALLEST) & 1
    )
    worth -= worth[:, :1]
    most = min(_PATCHES, turns_left)
    best = np.full((1 << _PATCHES, len(rows)), -np.inf, dtype=np.float32)
    best[0] = 0
    for size in range(SMALLEST, BONUS_SIZE + 1):
        if not open_sizes >> (size - SMALLEST) & 1:
            continue
        gain = worth[size][rows]
        for used in reversed(range(1 << _PATCHES)):
            if used.bit_count() > most:
                continue
            for place in range(_PATCHES):
                if used >> place & 1:
                    np.maximum(best[used], best[used ^ 1 << place] + gain[:, place], out=best[used])
    return np.asarray(best.max(axis=0) + (usual if turns_left else 0.0), dtype=np.float32)


def values(
    boards: Boards,
    same_open: NDArray[np.int64],
    runs_open: NDArray[np.int64],
    turns_left: float,
    *,
    solo: bool,
    x_counts: bool,
) -> Values:
    """Return each sheet's value apart from its filled boxes, with its full lines and lost points.

    ``boards`` has the shape (sheets, 14, 7); ``same_open`` and ``runs_open`` a bit for each open size from 3 to 8.
    """
    # With the sheets as the last axis, the operations below run over contiguous memory.
    cells = np.ascontiguousarray(boards.transpose(1, 2, 0))
    filled = cells >= 0
    counts = filled.sum(axis=1, dtype=np.int8)
    covered = filled.copy()
    for line in reversed(range(LINES - 1)):
        covered[line] |= covered[line + 1]
    holes = (covered ^ filled)[:LINES_BELOW_GAME_OVER]
    heights = covered.sum(axis=0, dtype=np.int8)
    below = counts[:LINES_BELOW_GAME_OVER]
    full = below == COLUMNS
    reachable = ~holes.any(axis=1) & ~full
    total = FULL_LINE_POINTS * full.sum(axis=0) + WEIGHTS.line * ((below / COLUMNS) ** 2 * reachable).sum(axis=0)
    counted = filled if x_counts else filled & (cells != CROSSED)
    above = counted[LINES_BELOW_GAME_OVER:].any(axis=1).sum(axis=0)
    room = np.clip(LINES_BELOW_GAME_OVER - heights, 0, None).sum(axis=0)
    if solo:
        total -= WEIGHTS.turn * np.clip(turns_left * 4.5 - room, 0, None) / 4
    else:
        total += WEIGHTS.turn * room / 5
    total -= WEIGHTS.hole * holes.sum(axis=(0, 1))
    total -= WEIGHTS.bump * np.abs(np.diff(heights, axis=0)).sum(axis=0)
    whole_turns = int(turns_left + 0.5)
    access = _accessible(cells, covered)
    equal = _promised(IDENTICAL, _patches(cells, access), same_open, whole_turns)
    runs = _promised(CONSECUTIVE, _runs(cells, access), runs_open, whole_turns)
    total += np.where(above == 0, equal + runs, -WEIGHTS.turn * turns_left)
    total += GAME_OVER_POINTS * above
    return np.asarray(total, dtype=np.float32)


Mask = NDArray[np.uint8]
"""All bits set where something holds, none elsewhere."""


def _mask(condition: NDArray[np.bool_]) -> Mask:
    return np.negative(condition.view(np.uint8))


def _accessible(cells: Boards, covered: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the free digits beside an empty cell below the Game Over line that a shape can still reach."""
    reach = ~covered
    reach[LINES_BELOW_GAME_OVER:] = False
    beside = np.zeros_like(reach)
    beside[:, 1:] |= reach[:, :-1]
    beside[:, :-1] |= reach[:, 1:]
    beside[1:] |= reach[:-1]
    beside[:-1] |= reach[1:]
    return beside & _free(cells)


def _free(cells: Boards) -> NDArray[np.bool_]:
    return cells.view(np.uint8) < 10


def _promised(kind: str, ranks: NDArray[np.int8], open_sizes: NDArray[np.int64], turns_left: int) -> Values:
    """Return the worth of each sheet's patches by their ranks, in any order; rank 0 stands for none."""
    top = np.sort(ranks, axis=1)[:, : -_PATCHES - 1 : -1]
    codes, _ = _sorted_levels()
    rows = codes[_code(top)]
    first = int(open_sizes[0])
    if (open_sizes == first).all():
        return np.asarray(_promises(kind, first, turns_left)[rows], dtype=np.float32)
    promised = np.zeros(len(ranks), dtype=np.float32)
    for sizes in np.unique(open_sizes):
        chosen = open_sizes == sizes
        promised[chosen] = _promises(kind, int(sizes), turns_left)[rows[chosen]]
    return promised


def _patches(cells: Boards, access: NDArray[np.bool_]) -> NDArray[np.int8]:
    """Return the ranks of each sheet's patches of equal digits, each at the patch's highest square."""
    sheets = cells.shape[2]
    free = _free(cells)
    across = _mask((cells[:, 1:] == cells[:, :-1]) & free[:, 1:])
    upward = _mask((cells[1:] == cells[:-1]) & free[1:])
    label = np.arange(1, SQUARES + 1, dtype=np.uint8).reshape(LINES, COLUMNS, 1) & _mask(free)
    for _ in range(_SWEEPS_OF_PATCHES):
        np.maximum(label[:, 1:], label[:, :-1] & across, out=label[:, 1:])
        np.maximum(label[1:], label[:-1] & upward, out=label[1:])
        np.maximum(label[:, :-1], label[:, 1:] & across, out=label[:, :-1])
        np.maximum(label[:-1], label[1:] & upward, out=label[:-1])
    flat = label.reshape(SQUARES, sheets)
    keys = flat.astype(np.int32) + np.arange(sheets, dtype=np.int32) * (SQUARES + 1)
    sizes = np.bincount(keys.ravel(), minlength=sheets * (SQUARES + 1)).astype(np.int8)
    growing = np.zeros(sheets * (SQUARES + 1), dtype=bool)
    growing[keys[access.reshape(SQUARES, sheets)]] = True
    ranks = np.where(growing, _RANK_GROWING[sizes], _RANK_BURIED[sizes])
    return ranks.reshape(sheets, SQUARES + 1)[:, 1:]


def _runs(cells: Boards, access: NDArray[np.bool_]) -> NDArray[np.int8]:
    """Return the ranks of each sheet's longest runs, each at its start; only one of several runs with a common end."""
    free = _free(cells)
    across = cells[:, 1:] - cells[:, :-1]
    both_across = free[:, 1:] & free[:, :-1]
    upward = cells[1:] - cells[:-1]
    both_upward = free[1:] & free[:-1]
    rising = _masks_of_steps((across == 1) & both_across, (across == -1) & both_across)
    rising += _masks_of_steps((upward == 1) & both_upward, (upward == -1) & both_upward)
    falling = (rising[1], rising[0], rising[3], rising[2])
    squares = np.arange(SQUARES, dtype=np.uint16).reshape(LINES, COLUMNS, 1)
    at_end, at_start = access & (cells < 9), access & (cells > 0)
    ends = _reaches(free, at_end, squares, rising)
    starts = _reaches(free, at_start, squares, falling)
    sheets = cells.shape[2]
    ends, starts = ends.reshape(SQUARES, sheets), starts.reshape(SQUARES, sheets)
    # A run goes from a square to the end of its longest way up, if the longest way down from there leads back.
    back = np.take_along_axis(starts, (ends & _SQUARE).astype(np.int64), axis=0)
    begins = ((back & _SQUARE) == squares.reshape(SQUARES, 1)) & free.reshape(SQUARES, sheets)
    lengths = ends >> _LENGTH_SHIFT
    growing = ((ends | back) & _GROWS).astype(bool)
    ranks = np.where(growing, _RANK_GROWING[lengths], _RANK_BURIED[lengths]) * begins
    return np.ascontiguousarray(ranks.T)


_SQUARE, _GROWS, _LENGTH_SHIFT = np.uint16(127), np.uint16(128), np.uint16(8)


def _masks_of_steps(forward: NDArray[np.bool_], backward: NDArray[np.bool_]) -> tuple[NDArray[np.uint16], ...]:
    return tuple(np.negative(step.astype(np.uint16)) for step in (forward, backward))


def _reaches(
    free: NDArray[np.bool_],
    grows: NDArray[np.bool_],
    squares: NDArray[np.uint16],
    steps: tuple[NDArray[np.uint16], ...],
) -> NDArray[np.uint16]:
    """Return each square's longest path along these steps: its length, whether it can be extended, and its end.

    ``steps`` are masks of the squares from which a step leads east, west, up and down.
    """
    reach = (free.astype(np.uint16) << _LENGTH_SHIFT | grows.astype(np.uint16) * _GROWS | squares) & np.negative(
        free.astype(np.uint16)
    )
    one_more = np.uint16(1) << _LENGTH_SHIFT
    for _ in range(_SWEEPS_OF_RUNS):
        longer = reach + one_more
        np.maximum(reach[:, :-1], longer[:, 1:] & steps[0], out=reach[:, :-1])
        np.maximum(reach[:, 1:], longer[:, :-1] & steps[1], out=reach[:, 1:])
        np.maximum(reach[:-1], longer[1:] & steps[2], out=reach[:-1])
        np.maximum(reach[1:], longer[:-1] & steps[3], out=reach[1:])
    return reach
