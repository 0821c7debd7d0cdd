"""The board, the pyramids and where they start; distances between squares.

A *piece* is an integer, its colour times four plus its size (1 small, 2 medium, 3 large). A *stack* is a tuple of
pieces, the lowest first. Squares are indices as in ``engine.support.grid``: a1 is 0, e5 is 24.
"""

from __future__ import annotations

from functools import lru_cache

from engine.api import Place, Player
from engine.support.grid import KING, Grid, members
from engine.support.players import opponent

GRID = Grid(5, 5)
PLACES: tuple[Place, ...] = GRID.names
SQUARES = GRID.squares
NEIGHBOURS: tuple[int, ...] = GRID.neighbours(KING)

WARM, COOL = "warm", "cool"
PLAYERS: tuple[Player, ...] = (WARM, COOL)

COLOURS: tuple[str, ...] = ("red", "yellow", "green", "blue", "clear", "black")
RED, YELLOW, GREEN, BLUE, CLEAR, BLACK = range(6)
LETTERS = "RYGBCK"
SMALL, MEDIUM, LARGE = 1, 2, 3
SIZES: tuple[str, ...] = ("", "small", "medium", "large")
SIZE_LETTERS = " SML"
OWNED: dict[Player, tuple[int, int]] = {WARM: (RED, YELLOW), COOL: (GREEN, BLUE)}
"""The two colours of each player, in the order of their dice."""

PIECES_OF_A_SIZE = 5
"""How many small, and how many medium, pyramids each playing colour has; and how many of each size black has."""

TOWERS_TO_WIN = 5
UNREACHABLE = 99
"""The distance to a square that can't be reached."""

Stack = tuple[int, ...]
Stacks = tuple[Stack, ...]

_ROWS_FROM_FAR = ("CBBBC", "RRRBY", "RGCBY", "RGYYY", "CGGGC")
_CORNERS = {"a5": GREEN, "e5": RED, "a1": YELLOW, "e1": BLUE}


def piece_of(colour: int, size: int) -> int:
    """The piece of this colour and size."""
    return colour * 4 + size


def colour_of(piece: int) -> int:
    """The colour of a piece."""
    return piece >> 2


def size_of(piece: int) -> int:
    """The size of a piece: 1, 2 or 3."""
    return piece & 3


def name_of(piece: int) -> str:
    """A piece in words, which is also its look: ``red small``."""
    return f"{COLOURS[piece >> 2]} {SIZES[piece & 3]}"


def owner_of(colour: int) -> Player | None:
    """Whose colour it is; ``None`` for clear and black."""
    return next((player for player, colours in OWNED.items() if colour in colours), None)


def other(player: Player) -> Player:
    """The opponent."""
    return opponent(PLAYERS, player)


BASES: tuple[int, ...] = tuple(LETTERS.index(_ROWS_FROM_FAR[4 - square // 5][square % 5]) for square in range(SQUARES))
"""The colour of the large that stands on each square, from the first turn to the last."""

CLEARS: tuple[int, ...] = tuple(square for square in range(SQUARES) if BASES[square] == CLEAR)
"""The squares with a clear large."""


def starting_stacks() -> Stacks:
    """The set-up: larges everywhere, a small on each coloured one, five mediums on each corner."""
    stacks = []
    for square, base in enumerate(BASES):
        stack = [piece_of(base, LARGE)]
        if base != CLEAR:
            stack.append(piece_of(base, SMALL))
        elif PLACES[square] in _CORNERS:
            stack += [piece_of(_CORNERS[PLACES[square]], MEDIUM)] * PIECES_OF_A_SIZE
        stacks.append(tuple(stack))
    return tuple(stacks)


@lru_cache(maxsize=2048)
def distances(walls: int) -> tuple[tuple[int, ...], ...]:
    """``distances(walls)[start][end]``: the fewest steps between squares, none of them onto a square of ``walls``.

    ``UNREACHABLE`` where there is no way, and for every way from or to a wall.
    """
    table = []
    for start in range(SQUARES):
        row = [UNREACHABLE] * SQUARES
        frontier = 0 if walls >> start & 1 else 1 << start
        seen = frontier
        steps = 0
        while frontier:
            for square in members(frontier):
                row[square] = steps
            frontier = GRID.around(frontier) & ~seen & ~walls
            seen |= frontier
            steps += 1
        table.append(tuple(row))
    return tuple(table)
