"""Options, states and turns as frozen values, and how a state looks on the sheets."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TypeAlias

from common.phrases import Phrase
from engine.errors import OptionError, UnreadableError
from engine.games.number_drop.sheet import (
    CROSS,
    DIGITS,
    EMPTY_CELL,
    GRID,
    STAR,
    Components,
    Sheet,
    printed_components,
    read_dice,
)
from engine.options import read_into
from engine.values import EMPTY, LookName, Option, OptionValue, Place

MOST_PLAYERS = 6
PRINTED = "printed"
"""Means the dice or tiles in the game's data file."""

BOTH_SIDES, SOLO_SIDE, OTHER_SIDE = "both_sides", "solo_side", "other_side"

OPTIONS: tuple[Option, ...] = (
    Option("players", 2, "How many play; 1 is the solo game.", tuple(range(1, MOST_PLAYERS + 1))),
    Option(
        "tiles",
        BOTH_SIDES,
        "Which sides of the tiles may be up when several play.",
        (BOTH_SIDES, SOLO_SIDE, OTHER_SIDE),
        ("either side", "only the side of the solo game", "only the other side"),
    ),
    Option("tile_backs", PRINTED, "What is on the back of I4, L4, O4, T4 and S4, such as V3,I3,U5,X5,T5."),
    Option("x_counts_above_line", True, "Whether an X above the Game Over line costs five points and ends the game."),
    Option(
        "clockwise", False, "Whether players take turns, clockwise from the first: first all drop, then all combine."
    ),
    Option("dice", PRINTED, "The faces of the dice, the shape die last, such as 1*3457/12*456/234*67/123567/IOTLS*."),
)


@dataclass(frozen=True)
class NumberDropOptions:
    """The options in force; each field is explained in OPTIONS. ``dice`` and ``tile_backs`` are in strict text."""

    players: int
    tiles: str
    tile_backs: str
    x_counts_above_line: bool
    clockwise: bool
    dice: str

    @property
    def solo(self) -> bool:
        """Whether one person plays alone."""
        return self.players == 1

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the players, clockwise."""
        return PLAYERS[: self.players]

    @property
    def components(self) -> Components:
        """The dice and tiles under these options."""
        return _components(self.dice, self.tile_backs)


@cache
def _components(dice: str, backs: str) -> Components:
    printed = printed_components()
    faces = printed.dice if dice == PRINTED else read_dice(dice)
    tiles = printed.tiles
    if backs != PRINTED:
        tiles = tuple((solo, back) for (solo, _), back in zip(tiles, backs.split(","), strict=True))
    return Components(faces, tiles, printed.shapes)


def options_from(given: Mapping[str, OptionValue] | None) -> NumberDropOptions:
    """Read options into a value; raises OptionError for an unknown name or a bad value."""
    return read_into(NumberDropOptions, OPTIONS, given, tile_backs=_read_backs, dice=_read_dice)


def _read_backs(text: str) -> str:
    if text.lower() == PRINTED:
        return PRINTED
    backs = [back.strip().upper() for back in text.split(",")]
    printed = [other for _, other in printed_components().tiles]
    if sorted(backs) != sorted(printed):
        raise OptionError(
            Phrase("option tile_backs is {text!r}; it takes {names} in any order", text, ",".join(printed))
        )
    return PRINTED if backs == printed else ",".join(backs)


def _read_dice(text: str) -> str:
    if text.lower() == PRINTED:
        return PRINTED
    try:
        dice = read_dice(text)
    except UnreadableError as error:
        raise OptionError(Phrase("option dice: {error}", error)) from None
    return PRINTED if dice == printed_components().dice else "/".join(dice)


PLAYERS: tuple[str, ...] = tuple(f"p{number}" for number in range(1, MOST_PLAYERS + 1))
PLACES: tuple[Place, ...] = tuple(f"{player}.{square}" for player in PLAYERS for square in GRID.names)
CROSS_LOOK: LookName = "cross"
CIRCLED = " circled"
"""The suffix of the look of a digit in a loop."""
LOOKS: tuple[LookName, ...] = (
    EMPTY,
    *(Phrase("digit {digit}", digit) for digit in DIGITS),
    CROSS_LOOK,
    *(Phrase("digit {digit}{circled}", digit, CIRCLED) for digit in DIGITS),
)
SLIDES_TO_GO = 4
"""The number of notches below the start; a tile in the last one shows GO!."""


class Phase(enum.Enum):
    """What the game waits for; the values are used in texts."""

    TILES = "tiles"
    """Drawing the tiles to their slots, which is a roll."""
    SETUP = "setup"
    """Each player's first digit."""
    ROLL = "roll"
    PENALTY = "penalty"
    """The penalty shape of one tile."""
    SLIDE = "slide"
    """Solo: any one tile slides by one notch."""
    STAR_SLIDE = "star-slide"
    """Solo: the tile that the star slides."""
    DROP = "drop"
    """Everyone's shape and then their combination."""
    OVER = "over"


@dataclass(frozen=True)
class NumberDropState:
    """A position. Players and slots are indices from 0; sets of them are bit masks.

    ``playing`` are the players who still write in this phase. ``combining`` are those who have dropped and may still
    draw a loop. ``slot`` is the slot whose penalty drops. ``last_turn`` means that a shape didn't fit, so the game ends
    with this turn. ``notches`` (solo only) is how far each tile has slid. ``gone`` are the players who resigned.
    """

    options: NumberDropOptions
    phase: Phase
    sheets: tuple[Sheet, ...]
    tiles: tuple[str, ...] = ()
    first: int = 0
    roll: tuple[str, ...] = ()
    playing: int = 0
    combining: int = 0
    crossed_off: int = 0
    notches: tuple[int, ...] = ()
    slot: int | None = None
    star_slid: bool = False
    last_turn: bool = False
    gone: int = 0
    drawn: bool = False

    @property
    def to_move(self) -> str | None:
        """The player whose turn or roll is next (the first, if several may play); ``None`` when the game is over."""
        if self.phase is Phase.OVER:
            return None
        busy = self.busy()
        return PLAYERS[busy[0] if busy else self.first]

    def in_order(self) -> tuple[int, ...]:
        """Return the players still in the game, clockwise from the first player."""
        count = self.options.players
        around = ((self.first + step) % count for step in range(count))
        return tuple(player for player in around if not self.gone >> player & 1)

    def busy(self) -> tuple[int, ...]:
        """Return the players who may play a turn now, clockwise from the first player."""
        if self.options.clockwise and self.phase is Phase.DROP:
            # Combinations wait until all players have dropped.
            pending = self.playing or self.combining
            return tuple(player for player in self.in_order() if pending >> player & 1)[:1]
        pending = self.playing | self.combining
        return tuple(player for player in self.in_order() if pending >> player & 1)

    def with_sheet(self, player: int, sheet: Sheet) -> NumberDropState:
        """Return the state with a new sheet for a player."""
        return replace(self, sheets=(*self.sheets[:player], sheet, *self.sheets[player + 1 :]))

    def has_star(self) -> bool:
        """Return whether a die of the roll shows a star."""
        return STAR in self.roll


@dataclass(frozen=True, slots=True)
class SetUpDigit:
    """A player's first digit, on a square of the lowest line."""

    player: str
    square: str
    digit: str

    @property
    def places(self) -> tuple[Place, ...]:
        """The place that is written."""
        return (f"{self.player}.{self.square}",)


class _OnSheet:
    """A turn on some squares of the player's sheet."""

    __slots__ = ()
    player: str
    squares: tuple[str, ...]

    @property
    def places(self) -> tuple[Place, ...]:
        """The places written, or those inside the loop."""
        return tuple(f"{self.player}.{square}" for square in self.squares)


@dataclass(frozen=True, slots=True)
class Drop(_OnSheet):
    """A dropped shape: its squares in rising order (a1, b1, … a2, …) and the digit in each."""

    player: str
    squares: tuple[str, ...]
    digits: str


@dataclass(frozen=True, slots=True)
class PenaltyDrop(_OnSheet):
    """A dropped penalty shape: the squares crossed, in rising order."""

    player: str
    squares: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Combination(_OnSheet):
    """A loop around squares in rising order, or none; ``letter`` is the letter circled with it."""

    player: str
    squares: tuple[str, ...] = ()
    letter: str | None = None


@dataclass(frozen=True, slots=True)
class Slide:
    """Solo: the tile in a slot (A to E) slides down by one notch."""

    player: str
    letter: str

    @property
    def places(self) -> tuple[Place, ...]:
        """Empty: the tiles lie beside the sheets."""
        return ()


WritingTurn: TypeAlias = SetUpDigit | Drop | PenaltyDrop
NumberDropTurn: TypeAlias = WritingTurn | Combination | Slide


def written_by(turn: WritingTurn) -> tuple[tuple[str, ...], str]:
    """Return the squares on which a turn writes, and the mark for each."""
    if isinstance(turn, SetUpDigit):
        return (turn.square,), turn.digit
    return turn.squares, turn.digits if isinstance(turn, Drop) else CROSS * len(turn.squares)


@cache
def look_of(mark: str, circled: bool) -> LookName:
    """Return the look of a cell."""
    if mark == EMPTY_CELL:
        return EMPTY
    if mark == CROSS:
        return CROSS_LOOK
    return Phrase("digit {mark}{circled}", mark, CIRCLED) if circled else Phrase("digit {mark}", mark)


def read_look(place: Place, look: LookName) -> tuple[str, bool]:
    """Read a look as a mark and whether it is circled; raises UnreadableError."""
    if look == EMPTY:
        return EMPTY_CELL, False
    if look == CROSS_LOOK:
        return CROSS, False
    if look not in LOOKS:
        raise UnreadableError(Phrase("{place} shows {look!r}; expected one of {names}", place, look, ", ".join(LOOKS)))
    return look[len("digit ")], look.endswith(CIRCLED)


def places_on(player: str, squares: int) -> tuple[Place, ...]:
    """Return the places of a set of squares on a player's sheet, in rising order."""
    return tuple(f"{player}.{name}" for name in GRID.names_of(squares))


def read_place(options: NumberDropOptions, place: Place) -> tuple[int, int]:
    """Read a place as indices of player and square; raises UnreadableError if no sheet in play has it."""
    player, _, name = place.partition(".")
    if player not in options.names or name not in GRID.index:
        raise UnreadableError(
            Phrase("there is no place {place!r}; places run from p1.a1 to {name}.g14", place, options.names[-1])
        )
    return PLAYERS.index(player), GRID.index[name]


def appearance_of(state: NumberDropState) -> dict[Place, LookName]:
    """Map every place of the sheets in play to its look, in the order of PLACES."""
    looks: dict[Place, LookName] = {}
    for player, sheet in zip(PLAYERS, state.sheets, strict=False):
        looks |= _looks_on(player, sheet.cells, sheet.circled)
    return looks


@lru_cache(maxsize=256)
def _looks_on(player: str, cells: str, circled: int) -> Mapping[Place, LookName]:
    """Map the places of a player's sheet to their looks; a turn changes one sheet, so the others' are known."""
    return {
        f"{player}.{GRID.names[square]}": look_of(mark, bool(circled >> square & 1))
        for square, mark in enumerate(cells)
    }
