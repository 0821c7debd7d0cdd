"""The 21 shapes of one to five squares, by name, and every way to lay one on a grid."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from engine.support.grid import Grid
from engine.support.polyomino import Shape, free, orientations, read_picture

_PICTURES: Mapping[str, str] = MappingProxyType(
    {
        "1": "X",
        "2": "XX",
        "I3": "XXX",
        "V3": "X./XX",
        "I4": "XXXX",
        "L4": "X./X./XX",
        "T4": "XXX/.X.",
        "O4": "XX/XX",
        "Z4": "XX./.XX",
        "I5": "XXXXX",
        "L5": "X./X./X./XX",
        "Y5": ".X/XX/.X/.X",
        "P5": "XX/XX/X.",
        "U5": "X.X/XXX",
        "V5": "X../X../XXX",
        "T5": "XXX/.X./.X.",
        "X5": ".X./XXX/.X.",
        "F5": ".XX/XX./.X.",
        "N5": ".X/.X/XX/X.",
        "W5": "X../XX./.XX",
        "Z5": "XX./.X./.XX",
    }
)

NAMES: tuple[str, ...] = tuple(_PICTURES)
"""The shapes' names, small ones first: a letter that the shape resembles and its number of squares."""


@cache
def shape_of(name: str) -> Shape:
    """The shape of that name, in the orientation that stands for all; raises KeyError for another name."""
    return free(read_picture(_PICTURES[name]))


@cache
def names_by_shape() -> Mapping[Shape, str]:
    """The name of each free shape."""
    return MappingProxyType({shape_of(name): name for name in NAMES})


def size_of(name: str) -> int:
    """How many squares a shape has."""
    return len(shape_of(name))


def placements(name: str, grid: Grid, free_squares: int) -> tuple[int, ...]:
    """Every way to lay the shape on these squares of a grid, turned and flipped at will, as sets in rising order."""
    found = []
    for orientation in orientations(shape_of(name)):
        width, height = (1 + max(cell[axis] for cell in orientation) for axis in (0, 1))
        pattern = sum(1 << (row * grid.columns + column) for column, row in orientation)
        for row in range(grid.rows - height + 1):
            for column in range(grid.columns - width + 1):
                laid = pattern << (row * grid.columns + column)
                if laid & ~free_squares == 0:
                    found.append(laid)
    return tuple(sorted(found))
