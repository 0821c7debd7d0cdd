"""How shapes fall: straight down from the top until they rest on the floor or on a filled cell.

Only the heights of the columns matter, since a falling shape never enters the holes below them. A shape can't be
dropped where part of it would lie outside the sheet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import combinations_with_replacement, permutations
from random import Random
from typing import NamedTuple

from engine.games.number_drop.components import DIGITS, NUMBER_DICE, SHAPES, STAR, Components
from engine.games.number_drop.sheet import COLUMNS, LINES
from engine.support.polyomino import Shape

Cells = tuple[int, ...]
"""The squares that a dropped shape fills, in rising order."""


class FallingShape(NamedTuple):
    """A rotated shape above the sheet: its left column, the lowest and highest cell of each column, and its cells."""

    column: int
    lows: tuple[int, ...]
    height: int
    cells: tuple[tuple[int, int], ...]


@cache
def falling(shapes: tuple[Shape, ...]) -> tuple[FallingShape, ...]:
    """Return every way to hold these rotated shapes above the sheet, in a fixed order."""
    found = []
    for shape in shapes:
        width = max(column for column, _ in shape) + 1
        height = max(row for _, row in shape) + 1
        lows = tuple(min(row for column, row in shape if column == across) for across in range(width))
        cells = tuple(sorted(shape, key=lambda cell: (cell[1], cell[0])))
        found += [FallingShape(column, lows, height, cells) for column in range(COLUMNS - width + 1)]
    return tuple(found)


@cache
def squares_at(shapes: tuple[Shape, ...]) -> tuple[tuple[Cells, ...], ...]:
    """Return the squares that a shape fills, for each way to hold it, by resting row."""
    return tuple(
        tuple(
            tuple((row + up) * COLUMNS + held.column + across for across, up in held.cells)
            for row in range(LINES - held.height + 1)
        )
        for held in falling(shapes)
    )


@lru_cache(64)
def landings(heights: tuple[int, ...], shapes: tuple[Shape, ...]) -> tuple[Cells, ...]:
    """Return every set of squares where one of these rotated shapes can come to rest, once, in a fixed order."""
    ways = zip(falling(shapes), squares_at(shapes), strict=True)
    return tuple(cells for held, by_row in ways if (cells := landed(heights, held, by_row)) is not None)


def landed(heights: Sequence[int], held: FallingShape, by_row: tuple[Cells, ...]) -> Cells | None:
    """Return the squares where a held shape comes to rest, given those by resting row; ``None`` if it doesn't fit."""
    column, row = held.column, 0
    for low in held.lows:
        row = max(row, heights[column] - low)
        column += 1
    return by_row[row] if row < len(by_row) else None


@cache
def turned_shapes(components: Components, face: str) -> tuple[Shape, ...]:
    """Return every rotation and reflection of a tile face, of a shape on the shape die, or of all five for its star."""
    if face == STAR:
        return tuple(shape for letter in SHAPES for shape in components.turned(letter))
    return components.turned(face)


@cache
def assignments(faces: tuple[str, ...]) -> tuple[str, ...]:
    """Return every distinct way to write the number dice into four cells in order, with stars as any digit; sorted."""
    fixed = [face for face in faces if face != STAR]
    found: set[tuple[str, ...]] = set()
    for wild in combinations_with_replacement(DIGITS, len(faces) - len(fixed)):
        found.update(permutations((*fixed, *wild)))
    return tuple(sorted("".join(digits) for digits in found))


def fits_dice(digits: str, faces: Sequence[str]) -> bool:
    """Return whether these digits can be some or all of the number dice, each used once, with stars as any digit."""
    beyond = Counter(digits) - Counter(face for face in faces if face != STAR)
    return set(digits) <= set(DIGITS) and beyond.total() <= faces.count(STAR)


def any_digits(faces: tuple[str, ...], rng: Random) -> str:
    """Draw one of the distinct arrangements of the number dice, all equally likely."""
    numbers = tuple(sorted(faces[:NUMBER_DICE]))
    if STAR not in numbers:
        # Shuffled dice give every different arrangement equally often.
        order = list(numbers)
        rng.shuffle(order)
        return "".join(order)
    arranged = assignments(numbers)
    return arranged[int(rng.random() * len(arranged))]
