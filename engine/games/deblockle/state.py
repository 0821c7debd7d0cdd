"""Options, states and turns as frozen values, and how a state looks on the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from engine.errors import ContradictionError, UnreadableError
from engine.games.deblockle.board import (
    PLACES,
    PLAYERS,
    PRINTED_NET,
    SIDES,
    SQUARE_OF,
    SYMBOLS,
    TOWARDS,
    Cube,
    cube_of,
    read_net,
)
from engine.options import read_into
from engine.support.grid import set_of
from engine.support.looks import Look, LookTable
from engine.values import EMPTY, Announcement, Facing, LookName, Option, OptionValue

MOST_BLOCKS = 4

OPTIONS: tuple[Option, ...] = (
    Option("blocks_gold", MOST_BLOCKS, "How many blocks gold starts with.", (1, 2, 3, 4)),
    Option("blocks_teal", MOST_BLOCKS, "How many blocks teal starts with.", (1, 2, 3, 4)),
    Option("starts", "gold", "Who plays first.", PLAYERS),
    Option("side_by_side", True, "Whether a turn may end beside an opponent's block; false is the harder variant."),
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
    f"{EMPTY!r} or a look such as {_LOOKS_BY_BLOCK[PLAYERS[0], SYMBOLS[0]]!r} with {', '.join(SYMBOLS)}",
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
        raise UnreadableError(f"there is no square {place!r}; squares run from a1 to g7")
    for side, symbol in facing.items():
        if side not in SIDES or symbol not in SYMBOLS:
            raise UnreadableError(
                f"{place} is said to show {symbol!r} at its side {side!r}; "
                f"expected one of {', '.join(SYMBOLS)} at {', '.join(SIDES)}"
            )


def narrowed_blocks(state: DeblockleState, sightings: Mapping[str, Facing]) -> tuple[Block, ...]:
    """Return the blocks, narrowed to orientations that agree with the side faces seen; raises ContradictionError."""
    cube = state.options.cube
    blocks = state.by_square()
    for place, facing in sightings.items():
        check_facing(place, facing)
        block = blocks.get(SQUARE_OF[place])
        if block is None:
            raise ContradictionError(f"a block's side was seen on {place}, but no block stands there")
        mask = cube.agreeing(block.mask, facing)
        if not mask:
            seen = ", ".join(f"{symbol} facing {TOWARDS[side]}" for side, symbol in facing.items())
            raise ContradictionError(
                f"the {block.owner} block on {place} can't show {seen} with {cube.top(block.mask)} up, "
                "after all that was seen before"
            )
        blocks[block.square] = block._replace(mask=mask)
    return tuple(blocks.values())
