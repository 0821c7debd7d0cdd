"""The board, the orientations of blocks, and how rolls change them.

Squares and sets of squares are as in ``engine.support.grid``: a1 is 0, g7 is 48. An orientation is an integer from 0 to
23; a set of orientations is a 24-bit mask. An orientation says which of the net's six faces is at each of the positions
*up, north, east, south, west, down*. Orientation 0 is the net as written. Rolling a block north puts its south face up,
its upper face north, and so on. Hops and slides never turn a block.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from itertools import combinations
from types import MappingProxyType

from engine.errors import OptionError
from engine.support.grid import ORTHOGONAL, Grid
from engine.support.players import opponent
from engine.values import Player

SIZE = 7
GRID = Grid(SIZE, SIZE)
SQUARES = GRID.squares
PLACES: tuple[str, ...] = GRID.names
SQUARE_OF: dict[str, int] = GRID.index

SIDES: tuple[str, ...] = ("north", "east", "south", "west")
"""The compass sides in the order used everywhere, as seen from above; north is away from the first player."""
TOWARDS: Mapping[str, str] = MappingProxyType(
    {"north": "away from gold", "east": "to gold's right", "south": "towards gold", "west": "to gold's left"}
)
"""The sides in everyday words, as seen by gold."""

PLAYERS: tuple[str, ...] = ("gold", "teal")
HOME_STAR: dict[str, int] = {"gold": SQUARE_OF["d2"], "teal": SQUARE_OF["d6"]}
GOAL: dict[str, int] = {"gold": HOME_STAR["teal"], "teal": HOME_STAR["gold"]}
STARS: int = 1 << HOME_STAR["gold"] | 1 << HOME_STAR["teal"]

RAYS: tuple[tuple[tuple[int, ...], ...], ...] = GRID.rays(ORTHOGONAL)
"""``RAYS[square][side]``: the squares from there to the edge, the nearest first; sides as in SIDES."""

adjacent_to = GRID.adjacent_to
diagonal_to = GRID.diagonal_to


def other(player: Player) -> Player:
    """Return the opponent."""
    return opponent(PLAYERS, player)


SYMBOLS: tuple[str, ...] = ("star", "stop", "cross", "x", "slider", "hoops")
NET_POSITIONS: tuple[str, ...] = ("up", "down", "north", "east", "south", "west")
PRINTED_NET = "star/stop/slider/x/hoops/cross"
"""The net in text form: the symbols at NET_POSITIONS in that order, as the printed blocks have them."""

_UP, _NORTH, _EAST, _SOUTH, _WEST, _DOWN = range(6)
# For each roll, the position that each face comes from: new position -> old position.
_TIPS: tuple[tuple[int, ...], ...] = (
    (_SOUTH, _UP, _EAST, _DOWN, _WEST, _NORTH),
    (_WEST, _NORTH, _UP, _SOUTH, _DOWN, _EAST),
    (_NORTH, _DOWN, _EAST, _UP, _WEST, _SOUTH),
    (_EAST, _NORTH, _DOWN, _SOUTH, _UP, _WEST),
)
Faces = tuple[int, ...]
RollResult = tuple[str, int, int]
"""One result of a roll: the symbol that comes up, and the orientations before and after it (both masks)."""


def _tip(faces: Faces, side: int) -> Faces:
    return tuple(faces[old] for old in _TIPS[side])


def _all_orientations() -> tuple[Faces, ...]:
    found: set[Faces] = set()
    fresh: set[Faces] = {tuple(range(6))}
    while fresh:
        found |= fresh
        fresh = {_tip(faces, side) for faces in fresh for side in range(4)} - found
    return tuple(sorted(found))


def read_net(text: str) -> tuple[str, ...]:
    """Read a net: ``star/stop/slider/x/hoops/cross`` (up/down/north/east/south/west) or ``up=star,down=stop,…``.

    Gives the symbols at NET_POSITIONS. Raises OptionError unless each symbol is there exactly once.
    """
    lowered = text.strip().lower()
    if "=" in lowered or ":" in lowered:
        pairs = [part.replace(":", "=").partition("=") for part in lowered.replace("/", ",").split(",")]
        named = {position.strip(): symbol.strip() for position, _, symbol in pairs}
        symbols = tuple(named.get(position, "") for position in NET_POSITIONS)
    else:
        symbols = tuple(part.strip() for part in lowered.replace(",", "/").split("/"))
    if sorted(symbols) != sorted(SYMBOLS):
        raise OptionError(
            f"the net {text!r} does not name each of {', '.join(SYMBOLS)} once; "
            f"write the symbols at {'/'.join(NET_POSITIONS)}, such as {PRINTED_NET}"
        )
    return symbols


class Cube:
    """A kind of block: its net, and precomputed facts about its orientations."""

    def __init__(self, net: str) -> None:
        symbols = dict(zip(NET_POSITIONS, read_net(net), strict=True))
        by_face = [symbols[position] for position in ("up", *SIDES, "down")]
        orientations = _all_orientations()
        index = {faces: number for number, faces in enumerate(orientations)}
        self._shown = tuple(tuple(by_face[face] for face in faces) for faces in orientations)
        self._rolled = tuple(tuple(index[_tip(faces, side)] for side in range(4)) for faces in orientations)
        self.with_top: Mapping[str, int] = {
            symbol: sum(1 << number for number, shown in enumerate(self._shown) if shown[_UP] == symbol)
            for symbol in SYMBOLS
        }
        """For each symbol, the mask of the four orientations with that symbol up."""
        masks = [mask for whole in self.with_top.values() for mask in _submasks(whole)]
        self._top_of = {mask: self._shown[_bits(mask)[0]][_UP] for mask in masks}
        self._rolls = {mask: tuple(self._roll(mask, side) for side in range(4)) for mask in masks}

    def _roll(self, mask: int, side: int) -> tuple[RollResult, ...]:
        before: dict[str, int] = {}
        after: dict[str, int] = {}
        for orientation in _bits(mask):
            result = self._rolled[orientation][side]
            top = self._shown[result][_UP]
            before[top] = before.get(top, 0) | 1 << orientation
            after[top] = after.get(top, 0) | 1 << result
        return tuple((top, before[top], after[top]) for top in SYMBOLS if top in before)

    def rolls(self, mask: int) -> tuple[tuple[RollResult, ...], ...]:
        """Return, for each side in SIDES, the possible results of rolling that way from an orientation in ``mask``."""
        return self._rolls[mask]

    def top(self, mask: int) -> str:
        """Return the symbol that is up in every orientation of ``mask``."""
        return self._top_of[mask]

    def facings(self, mask: int) -> tuple[dict[str, str], ...]:
        """Return the symbols on the four sides, for every orientation in ``mask``."""
        return tuple(
            dict(zip(SIDES, self._shown[orientation][_NORTH : _WEST + 1], strict=True)) for orientation in _bits(mask)
        )

    def agreeing(self, mask: int, facing: Mapping[str, str]) -> int:
        """Return the orientations in ``mask`` whose sides agree with ``facing``; its missing sides may be anything."""
        agreeing = 0
        for orientation in _bits(mask):
            shown = self._shown[orientation]
            if all(shown[SIDES.index(side) + _NORTH] == symbol for side, symbol in facing.items()):
                agreeing |= 1 << orientation
        return agreeing


@functools.cache
def cube_of(net: str) -> Cube:
    """Return the cube with this net, cached."""
    return Cube(net)


def _bits(mask: int) -> list[int]:
    return [number for number in range(mask.bit_length()) if mask >> number & 1]


def _submasks(whole: int) -> list[int]:
    bits = [1 << number for number in _bits(whole)]
    return [sum(chosen) for size in range(1, len(bits) + 1) for chosen in combinations(bits, size)]
