"""A state and a turn: the options in force, everyone's sheet, the markers and how they go round, and what is seen."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from engine.errors import OptionError, UnreadableError
from engine.games.blokus_dice.sheet import HOUSE, Sheet, read_sheet
from engine.options import read_into
from engine.support.grid import Grid, members
from engine.values import EMPTY, Appearance, LookName, Option, OptionValue, Place

PLAYERS: tuple[str, ...] = ("p1", "p2", "p3", "p4")
"""The players, clockwise; the first ones of them play."""

COLOURS: tuple[str, ...] = ("red", "blue", "yellow", "green")
"""The markers' colours, in the order in which the first players take them."""

FIXED_RING = "fixed_ring"
FOLLOWS_START_PLAYER = "follows_start_player"

OPTIONS: tuple[Option, ...] = (
    Option("players", 4, "How many play.", (2, 3, 4)),
    Option("sheet", HOUSE, "The printed sheet: house, or what `./run tools sheet` makes of a sheet file."),
    Option(
        "standby",
        FIXED_RING,
        "Where unused markers wait: at fixed places, or to the right of whoever starts the round.",
        (FIXED_RING, FOLLOWS_START_PLAYER),
    ),
)


@dataclass(frozen=True)
class BlokusOptions:
    """The options in force; each field is explained in OPTIONS."""

    players: int
    sheet: Sheet
    standby: str

    @property
    def names(self) -> tuple[str, ...]:
        """Who plays, clockwise."""
        return PLAYERS[: self.players]


def options_from(given: Mapping[str, OptionValue] | None) -> BlokusOptions:
    """Read options into a value; raises OptionError for an unknown name or a bad value."""
    return read_into(BlokusOptions, OPTIONS, given, sheet=_read_sheet)


def _read_sheet(text: str) -> Sheet:
    try:
        return read_sheet(text)
    except UnreadableError as error:
        raise OptionError(f"option sheet is {text!r}; {error}") from error


LOOKS: tuple[LookName, ...] = (EMPTY, *COLOURS)


class PlayerStatus(enum.StrEnum):
    """Whether a player is still in the game; the values stand in texts."""

    PLAYING = "playing"
    OUT = "out"
    """The player could place nothing."""
    RESIGNED = "resigned"


@dataclass(frozen=True)
class FilledSheet:
    """One player's sheet: the squares of each colour, the shapes crossed off (both as sets), strikes crossed out."""

    colours: tuple[int, int, int, int] = (0, 0, 0, 0)
    used: int = 0
    strikes: int = 0
    status: PlayerStatus = PlayerStatus.PLAYING

    @property
    def filled(self) -> int:
        """The squares of any colour."""
        red, blue, yellow, green = self.colours
        return red | blue | yellow | green

    @property
    def shapes_drawn(self) -> int:
        """How many shapes were drawn."""
        return self.used.bit_count()

    def drawn(self, colour: int, squares: int, shape: int, *, strike: bool) -> FilledSheet:
        """The sheet after a shape was drawn and crossed off."""
        colours = list(self.colours)
        colours[colour] |= squares
        red, blue, yellow, green = colours
        return FilledSheet((red, blue, yellow, green), self.used | 1 << shape, self.strikes + strike, self.status)

    def with_status(self, status: PlayerStatus) -> FilledSheet:
        """The sheet of a player who is out or has resigned."""
        return replace(self, status=status)


@dataclass(frozen=True)
class BlokusTurn:
    """A die taken, a shape drawn with the colour in hand on these squares, and whether a strike was crossed out for it.

    ``squares`` are names on the player's own sheet, a1 first.
    """

    player: str
    die: int
    shape: str
    squares: tuple[str, ...]
    colour: str
    strike: bool

    @property
    def places(self) -> tuple[Place, ...]:
        """The squares that were drawn."""
        return tuple(f"{self.player}.{square}" for square in self.squares)


@dataclass(frozen=True)
class BlokusState:
    """Where a game stands.

    ``markers`` are the colours around the ring, the players' places first, then those that stand by, the first to go
    into use last. ``starter`` is the seat that rolls this round, ``seat`` the one to roll or play (``None``: over).
    ``dice`` are those still on the table, in rising order; none while a roll is awaited.
    """

    options: BlokusOptions
    sheets: tuple[FilledSheet, ...]
    markers: tuple[int, int, int, int] = (0, 1, 2, 3)
    starter: int = 0
    seat: int | None = 0
    dice: tuple[int, ...] = ()

    @property
    def to_move(self) -> str | None:
        """Who rolls or plays next, ``None`` when the game is over."""
        return None if self.seat is None else PLAYERS[self.seat]

    def active(self) -> list[int]:
        """The seats that are still in the game, clockwise from whoever starts the round."""
        count = self.options.players
        return [
            seat
            for seat in ((self.starter + step) % count for step in range(count))
            if self.sheets[seat].status == PlayerStatus.PLAYING
        ]

    def still_to_play(self) -> list[int]:
        """The seats that take a die yet in this round, in their order; only while dice are on the table."""
        if self.seat is None:
            return []
        count = self.options.players
        gone = (self.seat - self.starter) % count
        return [seat for seat in self.active() if (seat - self.starter) % count >= gone]

    def with_sheet(self, seat: int, sheet: FilledSheet) -> BlokusState:
        """The state with another sheet at a seat."""
        return replace(self, sheets=(*self.sheets[:seat], sheet, *self.sheets[seat + 1 :]))


def place_of(seat: int, square: str) -> Place:
    """The place of a square on a player's sheet."""
    return f"{PLAYERS[seat]}.{square}"


def appearance_of(state: BlokusState) -> Appearance:
    """Every square that may be filled, of every player's sheet, a1 first."""
    sheet = state.options.sheet
    looks = dict.fromkeys(_places(sheet.grid, sheet.open_squares, len(state.sheets)), EMPTY)
    for seat, filled in enumerate(state.sheets):
        for colour, squares in enumerate(filled.colours):
            for square in members(squares & sheet.open_squares):
                looks[place_of(seat, sheet.grid.names[square])] = COLOURS[colour]
    return looks


@cache
def _places(grid: Grid, squares: int, sheets: int) -> tuple[Place, ...]:
    """The places of these squares on so many sheets, a1 first."""
    return tuple(place_of(seat, grid.names[square]) for seat in range(sheets) for square in members(squares))


def read_looks(options: BlokusOptions, looks: Mapping[Place, LookName]) -> dict[tuple[int, int], int | None]:
    """Read places and looks as seats, squares and colours (``None``: empty); raises UnreadableError.

    Squares that are printed as closed are read too.
    """
    read: dict[tuple[int, int], int | None] = {}
    for place, look in looks.items():
        player, _, square = place.partition(".")
        if player not in options.names or square not in options.sheet.grid.index:
            names = options.sheet.grid.names
            raise UnreadableError(
                f"there is no place {place!r}; expected a player ({', '.join(options.names)}), a dot and a square "
                f"from {names[0]} to {names[-1]}"
            )
        if look not in LOOKS:
            raise UnreadableError(f"{place} shows {look!r}; expected one of {', '.join(LOOKS)}")
        read[PLAYERS.index(player), options.sheet.grid.index[square]] = None if look == EMPTY else COLOURS.index(look)
    return read


Markers = tuple[int, int, int, int]


def passed(state: BlokusState) -> Markers:
    """The markers around the ring after everyone has passed theirs to the left, players who are out too.

    At fixed places the last player's marker goes to the first stand-by place and the last stand-by one to the first
    player. Otherwise that happens between the right neighbour of whoever started the round and that starter.
    """
    red, blue, yellow, green = (state.markers[place] for place in places_passed_from(state.options, state.starter))
    return red, blue, yellow, green


@cache
def _places_passed_from(players: int, first: int) -> tuple[int, ...]:
    ring = [(first + step) % players for step in range(players)] + list(range(players, len(COLOURS)))
    return tuple(ring[ring.index(place) - 1] for place in range(len(COLOURS)))


def places_passed_from(options: BlokusOptions, starter: int) -> tuple[int, ...]:
    """For each place of the ring the place whose marker comes there when ``starter`` has started the round."""
    follows = options.standby == FOLLOWS_START_PLAYER
    return _places_passed_from(options.players, starter if follows else 0)


def colour_in_hand(state: BlokusState, seat: int) -> int:
    """The colour that a player holds."""
    return state.markers[seat]
