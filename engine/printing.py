"""What is printed on one player's sheet, as values: the grid, and the boxes around it that are crossed off or circled.

It has no lengths: the layout says how large a square is, and the printer finds room around the grid.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Box:
    """A box to cross off or circle: what stands in it, and a shape as ``engine.support.polyomino`` writes it."""

    words: str = ""
    shape: str = ""


@dataclass(frozen=True)
class BoxGroup:
    """Boxes that belong together, under a title."""

    title: str
    boxes: tuple[Box, ...]


@dataclass(frozen=True)
class PrintedSheet:
    """One player's sheet. ``closed`` names squares that are never filled.

    ``line_boxes`` has what stands at the right of each row, the lowest one first; ``red_line`` is how many rows lie
    below the line that must not be crossed, ``None`` where there is none.
    """

    columns: int
    rows: int
    groups: tuple[BoxGroup, ...]
    closed: tuple[str, ...] = ()
    line_boxes: tuple[str, ...] = ()
    red_line: int | None = None


CROSSED, CIRCLED = "x", "o"
"""What a person draws in a box, where it is no words."""


@dataclass(frozen=True)
class MarkedSheet:
    """One player's sheet with what is marked on it beside what is written in its squares.

    ``boxes`` has what is marked in each box of each group, and ``lines`` in each of the line boxes: CROSSED, CIRCLED,
    words, or nothing. ``loops`` are the squares that a loop goes round.
    """

    printed: PrintedSheet
    boxes: tuple[tuple[str, ...], ...]
    lines: tuple[str, ...] = ()
    loops: tuple[tuple[str, ...], ...] = ()
