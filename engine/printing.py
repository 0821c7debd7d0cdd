"""The printed content of one player's sheet: the grid, and the boxes around it to cross off or circle.

It contains no lengths: the layout has the size of a square, and the printer arranges the boxes around the grid.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Box:
    """A box to cross off or circle: its text, and its shape as written by ``engine.support.grid``."""

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

    ``line_boxes`` has the text at the right of each row, the lowest row first; ``red_line`` is the number of rows below
    the line that must not be crossed, or ``None``. ``tiles`` has the shapes on both sides of each tile that the players
    share.
    """

    columns: int
    rows: int
    groups: tuple[BoxGroup, ...]
    closed: tuple[str, ...] = ()
    line_boxes: tuple[str, ...] = ()
    red_line: int | None = None
    tiles: tuple[tuple[Box, ...], ...] = ()


CROSSED, CIRCLED = "x", "o"
"""Signs that a person draws in a box."""
ALLOWED = "."
"""The sign of an empty box that may be marked in the next turn."""


@dataclass(frozen=True)
class MarkedSheet:
    """One player's sheet with the marks around and between its squares.

    ``boxes`` has the mark in each box of each group, and ``lines`` the mark in each line box: CROSSED, CIRCLED,
    ALLOWED, a text, or an empty string. ``loops`` has the squares inside each drawn loop.
    """

    printed: PrintedSheet
    boxes: tuple[tuple[str, ...], ...]
    lines: tuple[str, ...] = ()
    loops: tuple[tuple[str, ...], ...] = ()
