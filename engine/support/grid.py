"""Rectangular grids and polyominoes.

Grids have squares as indices and sets of squares as bit masks. Square ``i`` is in column ``i % columns``
(a, b, c… from the first player's left) and row ``i // columns`` (1, 2, 3… from the first player's side), so a1 is 0. A
set of squares is an integer whose bit ``i`` stands for square ``i``.

A polyomino's shape is a frozen set of cells ``(column, row)``, with rows
increasing away from the player. A *fixed* polyomino has 0 as its lowest column and row; a *free* one represents all its
rotations and reflections.
"""

import string
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, reduce
from operator import or_

from common.phrases import Phrase
from engine.errors import UnreadableError

Offset = tuple[int, int]

ORTHOGONAL: tuple[Offset, ...] = ((0, 1), (1, 0), (0, -1), (-1, 0))
"""Steps of one column or row: north (away from the first player), east, south, west."""

DIAGONAL: tuple[Offset, ...] = ((1, 1), (1, -1), (-1, -1), (-1, 1))
"""Steps to a square that touches at a corner: north-east, south-east, south-west, north-west."""

KING: tuple[Offset, ...] = tuple(step for pair in zip(ORTHOGONAL, DIAGONAL, strict=True) for step in pair)
"""All eight steps, clockwise from north."""


@dataclass(frozen=True)
class Grid:
    """A rectangle of ``columns`` by ``rows`` squares, at most 26 columns."""

    columns: int
    rows: int

    @property
    def squares(self) -> int:
        """The number of squares."""
        return self.columns * self.rows

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The squares' names by index: a1, b1, … a2, b2, …"""
        letters = string.ascii_lowercase[: self.columns]
        return tuple(f"{letter}{row}" for row in range(1, self.rows + 1) for letter in letters)

    @cached_property
    def index(self) -> dict[str, int]:
        """The squares' indices by name."""
        return {name: square for square, name in enumerate(self.names)}

    @cached_property
    def every(self) -> int:
        """The set of all squares."""
        return (1 << self.squares) - 1

    def column_of(self, square: int) -> int:
        """Return the column of a square, 0 for a."""
        return square % self.columns

    def row_of(self, square: int) -> int:
        """Return the row of a square, 0 for the first player's."""
        return square // self.columns

    def apart(self, first: int, second: int) -> tuple[int, int]:
        """Return the distance of two squares in columns and in rows: (0, 1) for neighbours in a column."""
        columns = abs(self.column_of(first) - self.column_of(second))
        return columns, abs(self.row_of(first) - self.row_of(second))

    def names_of(self, squares: int) -> tuple[str, ...]:
        """Return the names of a set of squares, in rising order."""
        return tuple(self.names[square] for square in members(squares))

    def squares_named(self, names: Iterable[str]) -> int:
        """Return the set of squares with these names; raises KeyError for a name that isn't a square's."""
        return set_of(self.index[name] for name in names)

    def ray(self, square: int, offset: Offset) -> tuple[int, ...]:
        """Return the squares beyond a square in one direction up to the edge, the nearest first."""
        column, row = self.column_of(square) + offset[0], self.row_of(square) + offset[1]
        squares = []
        while 0 <= column < self.columns and 0 <= row < self.rows:
            squares.append(row * self.columns + column)
            column, row = column + offset[0], row + offset[1]
        return tuple(squares)

    def rays(self, offsets: tuple[Offset, ...]) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """Return every square's rays as ``rays[square][direction]``, with directions in the order of ``offsets``."""
        return tuple(tuple(self.ray(square, offset) for offset in offsets) for square in range(self.squares))

    def neighbours(self, offsets: tuple[Offset, ...]) -> tuple[int, ...]:
        """Return, for every square, the set of squares one step away in these directions."""
        return tuple(
            sum(1 << ray[0] for offset in offsets if (ray := self.ray(square, offset)))
            for square in range(self.squares)
        )

    def adjacent_to(self, squares: int) -> int:
        """Return the set of squares that share a side with any of ``squares``."""
        return self._sideways(squares) | (squares << self.columns & self.every) | (squares >> self.columns)

    def diagonal_to(self, squares: int) -> int:
        """Return the set of squares that touch any of ``squares`` at a corner."""
        sideways = self._sideways(squares)
        return (sideways << self.columns & self.every) | (sideways >> self.columns)

    def around(self, squares: int) -> int:
        """Return the set of squares a king's step from any of ``squares``."""
        return self.adjacent_to(squares) | self.diagonal_to(squares)

    def patch(self, start: int, squares: int) -> int:
        """Return the members of ``squares`` that are connected by sides with the set ``start``, which is among them."""
        reached, grown = 0, start
        while grown != reached:
            reached, grown = grown, (grown | self.adjacent_to(grown)) & squares
        return reached

    def patches(self, squares: int) -> Iterator[int]:
        """Yield the patches of squares connected by sides that make up a set, in the order of their lowest squares."""
        while squares:
            patch = self.patch(squares & -squares, squares)
            yield patch
            squares &= ~patch

    @cached_property
    def outside_first_column(self) -> int:
        """The set of squares that have one on their left."""
        return self.every & ~sum(1 << (row * self.columns) for row in range(self.rows))

    @cached_property
    def outside_last_column(self) -> int:
        """The set of squares that have one on their right."""
        return self.every & ~sum(1 << (row * self.columns + self.columns - 1) for row in range(self.rows))

    def _sideways(self, squares: int) -> int:
        return (squares & self.outside_last_column) << 1 | (squares & self.outside_first_column) >> 1


def members(squares: int) -> Iterator[int]:
    """Yield the squares of a set, in rising order."""
    while squares:
        lowest = squares & -squares
        yield lowest.bit_length() - 1
        squares ^= lowest


def union(sets: Iterable[int]) -> int:
    """Return the union of sets."""
    return reduce(or_, sets, 0)


def set_of(squares: Iterable[int]) -> int:
    """Return the set of these squares."""
    return union(1 << square for square in squares)


Cell = tuple[int, int]
Shape = frozenset[Cell]


def fixed(cells: Iterable[Cell]) -> Shape:
    """Return the shape moved to the origin; raises ValueError when there are no cells."""
    listed = list(cells)
    if not listed:
        raise ValueError("a shape needs at least one cell, got none")
    left, low = min(column for column, _ in listed), min(row for _, row in listed)
    return frozenset((column - left, row - low) for column, row in listed)


@cache
def orientations(shape: Shape) -> tuple[Shape, ...]:
    """Return the one to eight distinct rotations and reflections of a shape, fixed, in a defined order."""
    found = set()
    cells = list(shape)
    for _ in range(4):
        cells = [(row, -column) for column, row in cells]
        found.add(fixed(cells))
        found.add(fixed((-column, row) for column, row in cells))
    return tuple(sorted(found, key=sorted))


def free(shape: Shape) -> Shape:
    """Return the first orientation, which represents the free polyomino."""
    return orientations(fixed(shape))[0]


def is_connected(shape: Shape) -> bool:
    """Return whether the cells are connected through sides."""
    if not shape:
        return False
    reached, pending = set(), [next(iter(shape))]
    while pending:
        column, row = pending.pop()
        if (column, row) in shape and (column, row) not in reached:
            reached.add((column, row))
            pending += [(column + across, row + up) for across, up in ORTHOGONAL]
    return reached == shape


def read_picture(text: str) -> Shape:
    """Read a drawing such as ``X../XXX``, the top row first; raises UnreadableError."""
    rows = text.split("/")
    cells = set()
    for row, line in enumerate(rows):
        for column, mark in enumerate(line):
            if mark.upper() == "X":
                cells.add((column, len(rows) - 1 - row))
            elif mark != ".":
                where = sum(len(before) + 1 for before in rows[:row]) + column + 1
                raise UnreadableError(
                    Phrase(
                        "cannot read {mark!r} at column {where} of the shape {text!r}; expected X, . and /",
                        mark,
                        where,
                        text,
                    ),
                    where,
                )
    if not cells:
        raise UnreadableError(Phrase("the shape {text!r} has no cells; expected at least one X", text))
    if not is_connected(frozenset(cells)):
        raise UnreadableError(
            Phrase(
                "the shape {text!r} has {cells} cells that don't hang together; expected one piece", text, len(cells)
            )
        )
    return fixed(cells)


def picture(shape: Shape) -> str:
    """Draw a shape, the top row first, as ``read_picture`` reads it."""
    cells = fixed(shape)
    width, height = max(column for column, _ in cells) + 1, max(row for _, row in cells) + 1
    return "/".join(
        "".join("X" if (column, row) in cells else "." for column in range(width)) for row in reversed(range(height))
    )
