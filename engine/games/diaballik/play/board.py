"""The 7 x 7 board as sets of squares (see ``engine.support.grid``): home rows, walls, and what touches them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from engine.api import Player
from engine.support.grid import KING, ORTHOGONAL, Grid, set_of
from engine.support.players import opponent

GRID = Grid(7, 7)
SIZE = GRID.columns
EVERY = GRID.every
PLACES: tuple[str, ...] = GRID.names
SQUARE_OF: dict[str, int] = GRID.index

PIECES_A_SIDE = 7
PLAYERS: tuple[str, ...] = ("black", "white")
HOME: Mapping[str, int] = MappingProxyType({"black": 0x7F, "white": 0x7F << 42})
GOAL: Mapping[str, int] = MappingProxyType({"black": HOME["white"], "white": HOME["black"]})
"""The row on which a player's ball wins."""

NEAR: tuple[int, ...] = GRID.neighbours(ORTHOGONAL)
RAYS: tuple[tuple[tuple[int, ...], ...], ...] = GRID.rays(KING)

CONTACTS_TO_CLAIM = 3
"""How many of the opponent's pieces have to touch a wall before it may be called anti-play."""

_LAST_COLUMN = sum(1 << (row * SIZE + SIZE - 1) for row in range(SIZE))


def other(player: Player) -> Player:
    """The opponent."""
    return opponent(PLAYERS, player)


def is_wall(pieces: int) -> bool:
    """Whether seven pieces stand one in every column, neighbouring columns' rows differing by at most one."""
    columns = pieces | pieces >> 7 | pieces >> 14 | pieces >> 21 | pieces >> 28 | pieces >> 35 | pieces >> 42
    if columns & 0x7F != 0x7F:
        return False
    linked = pieces & ~_LAST_COLUMN
    return linked & (pieces >> 1 | pieces >> 8 | pieces << 6) == linked


def touching(wall: int, claimant: str, *, front_only: bool) -> int:
    """The squares from which ``claimant``'s pieces touch a wall face to face.

    A piece beside a wall's piece stands in another piece's column, one row off at most, so right before or behind that
    one: looking along the columns is enough. The front is the side of the claimant's home row.
    """
    before, behind = wall >> SIZE, wall << SIZE & EVERY
    if claimant == PLAYERS[1]:
        before, behind = behind, before
    return before if front_only else before | behind


def seen_from(square: int, blockers: int) -> int:
    """The squares in line with ``square`` (rows, columns, diagonals) up to the first of ``blockers``, that one too."""
    seen = 0
    for ray in RAYS[square]:
        for passed in ray:
            seen |= 1 << passed
            if blockers >> passed & 1:
                break
    return seen


def between_squares(start: int, end: int) -> int:
    """The squares strictly between two; none when they aren't in line."""
    for ray in RAYS[start]:
        if end in ray:
            return set_of(*ray[: ray.index(end)])
    return 0
