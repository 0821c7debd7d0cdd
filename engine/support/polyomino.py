"""Polyominoes: rotating, reflecting and drawing them.

A shape is a frozen set of cells ``(column, row)``, with rows increasing away from the player. A *fixed* polyomino has
0 as its lowest column and row; a *free* one represents all its rotations and reflections.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from engine.errors import UnreadableError
from engine.support.grid import ORTHOGONAL

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
                    f"cannot read {mark!r} at column {where} of the shape {text!r}; expected X, . and /", where
                )
    if not cells:
        raise UnreadableError(f"the shape {text!r} has no cells; expected at least one X")
    if not is_connected(frozenset(cells)):
        raise UnreadableError(f"the shape {text!r} has {len(cells)} cells that don't hang together; expected one piece")
    return fixed(cells)


def picture(shape: Shape) -> str:
    """Draw a shape, the top row first, as ``read_picture`` reads it."""
    cells = fixed(shape)
    width, height = max(column for column, _ in cells) + 1, max(row for _, row in cells) + 1
    return "/".join(
        "".join("X" if (column, row) in cells else "." for column in range(width)) for row in reversed(range(height))
    )


def drawing(shape: Shape) -> list[str]:
    """Draw a shape in rows of filled squares and spaces, the top row first."""
    return picture(shape).replace("X", "■").replace(".", " ").split("/")
