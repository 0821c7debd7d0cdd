"""The 7 x 7 board: which squares are stars, whose goals, and what is beside what.

Squares and sets of squares are as in ``engine.support.grid``: a1 is 0, g7 is 48.
"""

from __future__ import annotations

from engine.api import Player
from engine.support.grid import ORTHOGONAL, Grid
from engine.support.players import opponent

SIZE = 7
_GRID = Grid(SIZE, SIZE)
SQUARES = _GRID.squares
PLACES: tuple[str, ...] = _GRID.names
SQUARE_OF: dict[str, int] = _GRID.index

SIDES: tuple[str, ...] = ("north", "east", "south", "west")
"""The compass sides in the order used everywhere, as seen from above; north is away from the first player."""

PLAYERS: tuple[str, ...] = ("gold", "teal")
HOME_STAR: dict[str, int] = {"gold": SQUARE_OF["d2"], "teal": SQUARE_OF["d6"]}
GOAL: dict[str, int] = {"gold": HOME_STAR["teal"], "teal": HOME_STAR["gold"]}
STARS: int = 1 << HOME_STAR["gold"] | 1 << HOME_STAR["teal"]

RAYS: tuple[tuple[tuple[int, ...], ...], ...] = _GRID.rays(ORTHOGONAL)
"""``RAYS[square][side]``: the squares from there to the edge, the nearest first; sides as in SIDES."""

beside = _GRID.beside
diagonal_to = _GRID.diagonal_to
columns_and_rows_apart = _GRID.apart


def other(player: Player) -> Player:
    """The opponent."""
    return opponent(PLAYERS, player)
