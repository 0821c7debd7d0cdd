"""The board, blocks and how rolls turn them; options, states and turns as frozen values; how a state looks.

Squares and sets of squares are as in ``engine.support.grid``: a1 is 0, g7 is 48. An orientation is an integer from 0 to
23; a set of orientations is a 24-bit mask. An orientation says which of the net's six faces is at each of the positions
*up, north, east, south, west, down*. Orientation 0 is the net as written. Rolling a block north puts its south face up,
its upper face north, and so on. Hops and slides never turn a block.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType
from typing import NamedTuple

from common.phrases import Phrase, joined
from engine.errors import ContradictionError, OptionError, UnreadableError
from engine.options import read_into
from engine.support.grid import ORTHOGONAL, Grid, set_of
from engine.support.looks import Look, LookTable
from engine.support.players import opponent
from engine.values import EMPTY, Announcement, Facing, LookName, Option, OptionValue, Player

SIZE = 7
GRID = Grid(SIZE, SIZE)
SQUARES = GRID.squares
PLACES: tuple[str, ...] = GRID.names
SQUARE_OF: dict[str, int] = GRID.index

SIDES: tuple[str, ...] = ("north", "east", "south", "west")
"""The compass sides in the order used everywhere, as seen from above; north is away from the first player."""
TOWARDS: Mapping[str, str] = MappingProxyType(
    {
        "north": Phrase("away from {player}", "gold"),
        "east": Phrase("to {player}'s right", "gold"),
        "south": Phrase("towards {player}", "gold"),
        "west": Phrase("to {player}'s left", "gold"),
    }
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
            Phrase(
                "the net {text!r} does not name each of {names} once; write the symbols at "
                "{names_2}, such as {example}",
                text,
                ", ".join(SYMBOLS),
                "/".join(NET_POSITIONS),
                PRINTED_NET,
            )
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


MOST_BLOCKS = 4

OPTIONS: tuple[Option, ...] = (
    Option("blocks_gold", MOST_BLOCKS, "How many blocks gold starts with.", (1, 2, 3, 4)),
    Option("blocks_teal", MOST_BLOCKS, "How many blocks teal starts with.", (1, 2, 3, 4)),
    Option("starts", "gold", "Who plays first.", PLAYERS),
    Option("side_by_side", True, "Whether a turn may end beside an opponent's block; if not, it is harder."),
    Option("slider_stops_before_star", False, "Whether a slide that would end on a star may stop just before it."),
    Option("hop_forfeited_when_stuck", False, "Whether a block may roll to where it can't hop, and stay there."),
    Option("repetition_draw", False, "Whether a draw may be claimed the third time a position comes up."),
    Option("net", PRINTED_NET, "A block's symbols: up/down/north/east/south/west from above, north away from gold."),
)


@dataclass(frozen=True)
class DeblockleOptions:
    """The options in force; each field is explained in OPTIONS. ``net`` is in strict text."""

    blocks_gold: int
    blocks_teal: int
    starts: str
    side_by_side: bool
    slider_stops_before_star: bool
    hop_forfeited_when_stuck: bool
    repetition_draw: bool
    net: str

    @property
    def cube(self) -> Cube:
        """The cube with this net."""
        return cube_of(self.net)

    def blocks(self, player: str) -> int:
        """Return the number of blocks with which the player starts."""
        return self.blocks_gold if player == PLAYERS[0] else self.blocks_teal


def options_from(given: Mapping[str, OptionValue] | None) -> DeblockleOptions:
    """Read options into a value; raises OptionError for an unknown name or a bad value."""
    return read_into(DeblockleOptions, OPTIONS, given, net=lambda text: "/".join(read_net(text)))


_LOOKS_BY_BLOCK = {(player, symbol): Look(player, "block", symbol).name for player in PLAYERS for symbol in SYMBOLS}
LOOK_TABLE: LookTable[tuple[str, str]] = LookTable(
    _LOOKS_BY_BLOCK,
    PLACES,
    Phrase(
        "{empty!r} or a look such as {example!r} with {names}",
        EMPTY,
        _LOOKS_BY_BLOCK[PLAYERS[0], SYMBOLS[0]],
        ", ".join(SYMBOLS),
    ),
)
"""Looks of blocks by owner and top symbol."""

LOOKS: tuple[LookName, ...] = LOOK_TABLE.names


class Block(NamedTuple):
    """A block on the board: its square, its owner, and the mask of orientations that are still possible."""

    square: int
    owner: str
    mask: int


@dataclass(frozen=True, slots=True)
class DeblockleState:
    """A position. ``blocks`` are in order of their squares. ``counts`` is how often each position occurred (by digest)
    since the last block left the board, kept only with the option ``repetition_draw``. ``announced`` is the
    announcement that ended the game. ``to_move`` is ``None`` when the game is over.
    """

    options: DeblockleOptions
    blocks: tuple[Block, ...]
    to_move: str | None
    counts: tuple[tuple[str, int], ...] = ()
    announced: Announcement | None = None

    def owned(self, player: str) -> tuple[Block, ...]:
        """Return the player's blocks on the board."""
        return tuple(block for block in self.blocks if block.owner == player)

    def occupied(self, player: str) -> int:
        """Return the set of squares with blocks of the player."""
        return set_of(block.square for block in self.blocks if block.owner == player)

    def by_square(self) -> dict[int, Block]:
        """Return the blocks on the board by their squares."""
        return {block.square: block for block in self.blocks}

    def removed(self, player: str) -> int:
        """Return how many of the player's blocks have left the board."""
        return self.options.blocks(player) - len(self.owned(player))


@dataclass(frozen=True, slots=True)
class DeblockleTurn:
    """One whole turn: roll, then hop.

    ``rolled_to`` is one place, or several if turns that look alike were combined and it isn't known which was played.
    ``end`` is where the block ends (``rolled_to`` itself if it didn't hop), or ``None`` if it left the board.
    """

    player: str
    start: str
    rolled_to: tuple[str, ...]
    top: str
    end: str | None

    @property
    def places(self) -> tuple[str, ...]:
        """The squares where the turn started, passed and ended, without repeats."""
        end = () if self.end is None else (self.end,)
        return tuple(dict.fromkeys((self.start, *self.rolled_to, *end)))


def appearance_of(state: DeblockleState) -> dict[str, LookName]:
    """Map every square to its look, a1 first."""
    looks = dict.fromkeys(PLACES, EMPTY)
    cube = state.options.cube
    for block in state.blocks:
        looks[PLACES[block.square]] = LOOK_TABLE.look_of[block.owner, cube.top(block.mask)]
    return looks


def change_by(turn: DeblockleTurn) -> dict[str, LookName]:
    """Return the places whose looks the turn changes, with their new looks."""
    change = {turn.start: EMPTY}
    if turn.end is not None:
        change[turn.end] = LOOK_TABLE.look_of[turn.player, turn.top]
    return change


def facings_of(state: DeblockleState) -> dict[str, tuple[Facing, ...]]:
    """Map each square with a block to every facing that is still possible there."""
    return {PLACES[block.square]: state.options.cube.facings(block.mask) for block in state.blocks}


def check_facing(place: str, facing: Facing) -> None:
    """Raise UnreadableError unless the place is a square and the facing maps compass sides to symbols."""
    if place not in SQUARE_OF:
        raise UnreadableError(Phrase("there is no square {place!r}; squares run from a1 to g7", place))
    for side, symbol in facing.items():
        if side not in SIDES or symbol not in SYMBOLS:
            raise UnreadableError(
                Phrase(
                    "{place} is said to show {symbol!r} at its side {side!r}; expected one of {names} at {names_2}",
                    place,
                    symbol,
                    side,
                    ", ".join(SYMBOLS),
                    ", ".join(SIDES),
                )
            )


def narrowed_blocks(state: DeblockleState, sightings: Mapping[str, Facing]) -> tuple[Block, ...]:
    """Return the blocks, narrowed to orientations that agree with the side faces seen; raises ContradictionError."""
    cube = state.options.cube
    blocks = state.by_square()
    for place, facing in sightings.items():
        check_facing(place, facing)
        block = blocks.get(SQUARE_OF[place])
        if block is None:
            raise ContradictionError(Phrase("a block's side was seen on {place}, but no block stands there", place))
        mask = cube.agreeing(block.mask, facing)
        if not mask:
            seen = joined(
                (Phrase("{symbol} facing {side}", symbol, TOWARDS[side]) for side, symbol in facing.items()), ", "
            )
            raise ContradictionError(
                Phrase(
                    "the {owner} block on {place} can't show {seen} with {top} up, after all that was seen before",
                    block.owner,
                    place,
                    seen,
                    cube.top(block.mask),
                )
            )
        blocks[block.square] = block._replace(mask=mask)
    return tuple(blocks.values())
