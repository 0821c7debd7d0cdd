"""Which combinations a sheet offers: sets of unused digits that fit an open box.

Identical ones are connected sets of exactly as many equal digits as the box says, part of a larger patch or not;
consecutive ones are paths of digits that rise by one from cell to cell.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from engine.games.number_drop.sheet import (
    BONUS_BOX,
    BONUS_SIZE,
    COLUMNS,
    CONSECUTIVE,
    CROSS,
    EMPTY_CELL,
    GRID,
    IDENTICAL,
    LINES,
    NEIGHBOURS,
    SMALLEST,
    Sheet,
    box_of,
)
from engine.support.grid import members

_NOT_FIRST = GRID.every & ~sum(1 << (line * COLUMNS) for line in range(LINES))
_NOT_LAST = GRID.every & ~sum(1 << (line * COLUMNS + COLUMNS - 1) for line in range(LINES))


def _beside(squares: int) -> int:
    """The squares beside a set, as ``GRID.beside`` but quicker: it may reach above the sheet, where nothing is."""
    return (squares & _NOT_LAST) << 1 | (squares & _NOT_FIRST) >> 1 | squares << COLUMNS | squares >> COLUMNS


def combinations(sheet: Sheet, most: int | None = None) -> tuple[tuple[int, int], ...]:
    """Every box that can be filled and the squares to loop, by box, then by squares; none twice.

    With ``most`` no more than so many are looked for: a sheet full of one digit would offer a hundred thousand.
    """
    return tuple(sorted(islice(_each(unused_digits(sheet), sheet.loops), most)))


def has_combination(sheet: Sheet) -> bool:
    """Whether any open box can be filled."""
    return any(True for _ in _each(unused_digits(sheet), sheet.loops))


def unused_digits(sheet: Sheet) -> list[int]:
    """For each digit the set of squares that show it outside every loop."""
    digits = [0] * 10
    free = ~sheet.circled
    for square, mark in enumerate(sheet.cells):
        if mark not in (EMPTY_CELL, CROSS) and free >> square & 1:
            digits[int(mark)] |= 1 << square
    return digits


def found_in(digits: list[int], loops: tuple[int, ...] | list[int]) -> tuple[tuple[int, int], ...]:
    """Every open box and set of squares, from sets of squares by digit; ``loops`` are 0 for open boxes."""
    return tuple(sorted(_each(digits, loops)))


def _each(digits: list[int], loops: tuple[int, ...] | list[int]) -> Iterator[tuple[int, int]]:
    same = {size for size in range(SMALLEST, BONUS_SIZE) if not loops[size - SMALLEST]}
    runs = {size for size in range(SMALLEST, BONUS_SIZE) if not loops[size + 2]}
    if not loops[BONUS_BOX]:
        same.add(BONUS_SIZE)
        runs.add(BONUS_SIZE)
    if same:
        for loop in _identical(digits, same):
            yield box_of(IDENTICAL, loop.bit_count()), loop
    if runs:
        for loop in _consecutive(digits, runs):
            yield box_of(CONSECUTIVE, loop.bit_count()), loop


def _identical(digits: list[int], sizes: set[int]) -> Iterator[int]:
    smallest, largest = min(sizes), max(sizes)
    for squares in digits:
        if squares.bit_count() < smallest:
            continue
        left = squares & _beside(squares)
        while left.bit_count() >= smallest:
            patch, grown = 0, left & -left
            while grown != patch:
                patch, grown = grown, (grown | _beside(grown)) & squares
            left &= ~patch
            if patch.bit_count() >= smallest:
                yield from _connected_sets(patch, largest, sizes)


def _connected_sets(patch: int, largest: int, sizes: set[int]) -> Iterator[int]:
    """Every connected subset of a patch with one of these sizes, each once.

    Redelmeier's way: a set grows only by squares that were not passed over before, from its lowest square on
    (D. H. Redelmeier, Counting polyominoes, Discrete Mathematics 36, 1981).
    """
    for start in members(patch):
        allowed = patch >> start << start
        first = 1 << start
        # A set, what it may grow by, and what was ever beside it.
        pending = [(first, _beside(first) & allowed, first | _beside(first))]
        while pending:
            chosen, edge, seen = pending.pop()
            if chosen.bit_count() in sizes:
                yield chosen
            if chosen.bit_count() == largest:
                continue
            while edge:
                square = edge & -edge
                edge ^= square
                beside = _beside(square)
                pending.append((chosen | square, edge | (beside & allowed & ~seen), seen | beside))


def _consecutive(digits: list[int], sizes: set[int]) -> Iterator[int]:
    shortest, longest = min(sizes), max(sizes)
    for first in range(10 - shortest + 1):
        reach = digits[first]
        for digit in range(first + 1, first + shortest):
            reach = _beside(reach) & digits[digit] if reach else 0
        if not reach:
            continue
        pending = [(square, 1 << square, first, 1) for square in members(digits[first])]
        while pending:
            end, path, digit, length = pending.pop()
            if length in sizes:
                yield path
            if length == longest or digit == 9:
                continue
            following = digits[digit + 1]
            pending += [
                (beside, path | 1 << beside, digit + 1, length + 1)
                for beside in NEIGHBOURS[end]
                if following >> beside & 1
            ]
