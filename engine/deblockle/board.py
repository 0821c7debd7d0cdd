"""The 7 x 7 board: squares as indices and as bits of one integer.

Square ``i`` is column ``i % 7`` (a to g) and row ``i // 7`` (1 to 7): a1 is 0, g7 is 48. A set of squares is an
integer with bit ``i`` set for square ``i``.
"""

from __future__ import annotations

from collections.abc import Iterator

SIZE = 7
SQUARES = SIZE * SIZE
PLACES: tuple[str, ...] = tuple(f"{column}{row}" for row in range(1, SIZE + 1) for column in "abcdefg")
SQUARE_OF: dict[str, int] = {place: square for square, place in enumerate(PLACES)}

SIDES: tuple[str, ...] = ("north", "east", "south", "west")
"""The compass sides in the order used everywhere, as seen from above; north is away from the first player."""

PLAYERS: tuple[str, ...] = ("gold", "teal")
HOME_STAR: dict[str, int] = {"gold": SQUARE_OF["d2"], "teal": SQUARE_OF["d6"]}
GOAL: dict[str, int] = {"gold": HOME_STAR["teal"], "teal": HOME_STAR["gold"]}
STARS: int = 1 << HOME_STAR["gold"] | 1 << HOME_STAR["teal"]

_ALL = (1 << SQUARES) - 1
_COLUMN_A = sum(1 << (row * SIZE) for row in range(SIZE))
_NOT_A = _ALL & ~_COLUMN_A
_NOT_G = _ALL & ~(_COLUMN_A << (SIZE - 1))
_OFFSETS: tuple[tuple[int, int], ...] = ((0, 1), (1, 0), (0, -1), (-1, 0))


def other(player: str) -> str:
    """The opponent."""
    return PLAYERS[1] if player == PLAYERS[0] else PLAYERS[0]


def _ray(square: int, offset: tuple[int, int]) -> tuple[int, ...]:
    column, row = square % SIZE + offset[0], square // SIZE + offset[1]
    squares = []
    while 0 <= column < SIZE and 0 <= row < SIZE:
        squares.append(row * SIZE + column)
        column, row = column + offset[0], row + offset[1]
    return tuple(squares)


RAYS: tuple[tuple[tuple[int, ...], ...], ...] = tuple(
    tuple(_ray(square, offset) for offset in _OFFSETS) for square in range(SQUARES)
)
"""``RAYS[square][side]``: the squares from there to the edge, the nearest first; sides as in SIDES."""


def beside(squares: int) -> int:
    """The set of squares orthogonally next to any of ``squares``."""
    return ((squares & _NOT_G) << 1) | ((squares & _NOT_A) >> 1) | (squares << SIZE & _ALL) | (squares >> SIZE)


def diagonal_to(squares: int) -> int:
    """The set of squares diagonally next to any of ``squares``."""
    sideways = ((squares & _NOT_G) << 1) | ((squares & _NOT_A) >> 1)
    return (sideways << SIZE & _ALL) | (sideways >> SIZE)


def members(squares: int) -> Iterator[int]:
    """The squares of a set, in rising order."""
    while squares:
        lowest = squares & -squares
        yield lowest.bit_length() - 1
        squares ^= lowest


def columns_and_rows_apart(first: int, second: int) -> tuple[int, int]:
    """How many columns and how many rows lie between two squares: ``(0, 1)`` for orthogonal neighbours in a column."""
    return abs(first % SIZE - second % SIZE), abs(first // SIZE - second // SIZE)
