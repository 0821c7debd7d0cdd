"""States and turns: the options, every player's sheet, the markers and how they are passed, and the appearance.

It checks what holds in every position, and recognises the shapes that filled squares make.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from common.phrases import Phrase, either
from engine.errors import OptionError, UnreadableError
from engine.games.blokus_dice.sheet import HOUSE, Sheet, names_by_shape, read_sheet
from engine.options import read_into
from engine.support.grid import Grid, free, members
from engine.values import EMPTY, Appearance, LookName, Option, OptionValue, Place

PLAYERS: tuple[str, ...] = ("p1", "p2", "p3", "p4")
"""All seats, clockwise; a game with fewer players uses the first ones."""

COLOURS: tuple[str, ...] = ("red", "blue", "yellow", "green")
"""The markers' colours, in the order of the players who start with them."""

FIXED_RING = "fixed_ring"
FOLLOWS_START_PLAYER = "follows_start_player"

OPTIONS: tuple[Option, ...] = (
    Option("players", 4, "How many play.", (2, 3, 4)),
    Option("sheet", HOUSE, "The printed sheet: house, or the text of another one."),
    Option(
        "standby",
        FIXED_RING,
        "Where unused markers wait: at fixed places, or to the right of whoever starts the round.",
        (FIXED_RING, FOLLOWS_START_PLAYER),
        ("at fixed places", "beside whoever starts the round"),
    ),
)


@dataclass(frozen=True)
class BlokusOptions:
    """The options in use; OPTIONS explains each field."""

    players: int
    sheet: Sheet
    standby: str

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the players, clockwise."""
        return PLAYERS[: self.players]


def options_from(given: Mapping[str, OptionValue] | None) -> BlokusOptions:
    """Check options and fill in defaults; raises OptionError for an unknown name or a bad value."""
    return read_into(BlokusOptions, OPTIONS, given, sheet=_read_sheet)


def _read_sheet(text: str) -> Sheet:
    try:
        return read_sheet(text)
    except UnreadableError as error:
        raise OptionError(Phrase("option sheet is {text!r}; {error}", text, error)) from error


LOOKS: tuple[LookName, ...] = (EMPTY, *COLOURS)


class PlayerStatus(enum.StrEnum):
    """Whether a player is still in the game; the text of a state contains these values."""

    PLAYING = "playing"
    OUT = "out"
    """The player could draw no shape."""
    RESIGNED = "resigned"


@dataclass(frozen=True)
class FilledSheet:
    """One player's sheet: each colour's squares and the used shapes, as sets, and the number of used strikes."""

    colours: tuple[int, ...] = (0, 0, 0, 0)
    used: int = 0
    strikes: int = 0
    status: PlayerStatus = PlayerStatus.PLAYING

    @property
    def filled(self) -> int:
        """The set of squares filled in any colour."""
        red, blue, yellow, green = self.colours
        return red | blue | yellow | green

    @property
    def shapes_drawn(self) -> int:
        """The number of shapes drawn."""
        return self.used.bit_count()

    def drawn(self, colour: int, squares: int, shape: int, *, strike: bool) -> FilledSheet:
        """Return the sheet after a shape is drawn and crossed off."""
        colours = list(self.colours)
        colours[colour] |= squares
        return FilledSheet(tuple(colours), self.used | 1 << shape, self.strikes + strike, self.status)

    def with_status(self, status: PlayerStatus) -> FilledSheet:
        """Return the sheet with another player status."""
        return replace(self, status=status)


@dataclass(frozen=True)
class BlokusTurn:
    """One turn: the die taken, the shape drawn in the colour in hand, its squares, and whether it used a strike.

    ``squares`` holds names of squares on the player's own sheet, a1 first.
    """

    player: str
    die: int
    shape: str
    squares: tuple[str, ...]
    colour: str
    strike: bool

    @property
    def places(self) -> tuple[Place, ...]:
        """The places that the shape fills."""
        return tuple(f"{self.player}.{square}" for square in self.squares)


@dataclass(frozen=True)
class BlokusState:
    """The state of a game.

    ``markers`` holds the colours around the ring: those of the players, then those on standby, where the one to be used
    next comes last. ``starter`` is the seat that rolls this round, and ``seat`` the one to roll or play next (``None``
    when the game is over). ``dice`` holds the dice still on the table, in rising order; it is empty while a roll is
    awaited.
    """

    options: BlokusOptions
    sheets: tuple[FilledSheet, ...]
    markers: tuple[int, ...] = (0, 1, 2, 3)
    starter: int = 0
    seat: int | None = 0
    dice: tuple[int, ...] = ()

    @property
    def to_move(self) -> str | None:
        """The player who rolls or plays next; ``None`` when the game is over."""
        return None if self.seat is None else PLAYERS[self.seat]

    def active(self) -> list[int]:
        """Return the seats that are still in the game, clockwise from the starter of the round."""
        count = self.options.players
        return [
            seat
            for seat in ((self.starter + step) % count for step in range(count))
            if self.sheets[seat].status == PlayerStatus.PLAYING
        ]

    def still_to_play(self) -> list[int]:
        """Return the seats that have yet to take a die in this round, in order; needs dice on the table."""
        if self.seat is None:
            return []
        count = self.options.players
        gone = (self.seat - self.starter) % count
        return [seat for seat in self.active() if (seat - self.starter) % count >= gone]

    def with_sheet(self, seat: int, sheet: FilledSheet) -> BlokusState:
        """Return the state with a new sheet at a seat."""
        return replace(self, sheets=(*self.sheets[:seat], sheet, *self.sheets[seat + 1 :]))


def place_of(seat: int, square: str) -> Place:
    """Return the place of a square on a player's sheet."""
    return f"{PLAYERS[seat]}.{square}"


def appearance_of(state: BlokusState) -> Appearance:
    """Return the looks of all squares that may be filled, on every player's sheet, a1 first."""
    sheet = state.options.sheet
    looks = dict.fromkeys(_places(sheet.grid, sheet.open_squares, len(state.sheets)), EMPTY)
    for seat, filled in enumerate(state.sheets):
        for colour, squares in enumerate(filled.colours):
            for square in members(squares & sheet.open_squares):
                looks[place_of(seat, sheet.grid.names[square])] = COLOURS[colour]
    return looks


@cache
def _places(grid: Grid, squares: int, sheets: int) -> tuple[Place, ...]:
    """Return the places of these squares on the first ``sheets`` sheets, a1 first."""
    return tuple(place_of(seat, grid.names[square]) for seat in range(sheets) for square in members(squares))


def read_looks(options: BlokusOptions, looks: Mapping[Place, LookName]) -> dict[tuple[int, int], int | None]:
    """Map seats and squares to colours (``None``: empty), including closed squares; raises UnreadableError."""
    read: dict[tuple[int, int], int | None] = {}
    for place, look in looks.items():
        player, _, square = place.partition(".")
        if player not in options.names or square not in options.sheet.grid.index:
            names = options.sheet.grid.names
            raise UnreadableError(
                Phrase(
                    "there is no place {place!r}; expected a player ({names}), a dot and a square from "
                    "{name} to {name_2}",
                    place,
                    ", ".join(options.names),
                    names[0],
                    names[-1],
                )
            )
        if look not in LOOKS:
            raise UnreadableError(
                Phrase("{place} shows {look!r}; expected one of {names}", place, look, ", ".join(LOOKS))
            )
        read[PLAYERS.index(player), options.sheet.grid.index[square]] = None if look == EMPTY else COLOURS.index(look)
    return read


def pass_markers(state: BlokusState) -> tuple[int, ...]:
    """Return the markers around the ring after all players, including those who are out, pass theirs to the left.

    With fixed standby places, the last player's marker goes to the first standby place, and the last standby marker
    goes to the first player. Otherwise the standby places follow the starter: the marker of the starter's right-hand
    neighbour goes to standby, and the starter takes the last standby marker.
    """
    return tuple(state.markers[place] for place in places_passed_from(state.options, state.starter))


@cache
def _places_passed_from(players: int, first: int) -> tuple[int, ...]:
    ring = [(first + step) % players for step in range(players)] + list(range(players, len(COLOURS)))
    return tuple(ring[ring.index(place) - 1] for place in range(len(COLOURS)))


def places_passed_from(options: BlokusOptions, starter: int) -> tuple[int, ...]:
    """Return, for each place in the ring, the place that passes its marker to it after ``starter``'s round."""
    follows = options.standby == FOLLOWS_START_PLAYER
    return _places_passed_from(options.players, starter if follows else 0)


def colour_in_hand(state: BlokusState, seat: int) -> int:
    """Return the colour of the marker that a player holds."""
    return state.markers[seat]


def name_on(grid: Grid, squares: int) -> str | None:
    """Return the name of the shape on these squares; ``None`` if the game has no such shape."""
    if not 1 <= squares.bit_count() <= 5:
        return None
    cells = frozenset((grid.column_of(square), grid.row_of(square)) for square in members(squares))
    return names_by_shape().get(free(cells))


def read_shapes_drawn(sheet: Sheet, player: str, colours: Sequence[int]) -> int:
    """Return the set of numbers of the shapes drawn, which the squares determine: equal colours never share a side.

    Raises UnreadableError for impossible squares: a piece that is no shape of the sheet, a shape drawn twice, a colour
    that doesn't begin in a corner, or one whose shapes aren't connected by their corners.
    """
    grid, used = sheet.grid, 0
    for colour, squares in zip(COLOURS, colours, strict=True):
        patches = list(grid.patches(squares))
        for piece in patches:
            at = _at(grid, piece)
            name = name_on(grid, piece)
            if name is None or name not in sheet.number_of:
                raise UnreadableError(
                    Phrase(
                        "{player}'s {colour} squares {at} are no shape of the sheet; equal colours touch "
                        "only at corners",
                        player,
                        colour,
                        at,
                    )
                )
            if used >> sheet.number_of[name] & 1:
                raise UnreadableError(
                    Phrase(
                        "{player} has drawn {name} twice, the second time on {at}; expected it once", player, name, at
                    )
                )
            used |= 1 << sheet.number_of[name]
        if squares and not any(_is_connected(grid, piece, squares) for piece in patches if piece & sheet.corners):
            raise UnreadableError(
                Phrase(
                    "{player}'s {colour} shapes on {at} don't all hang together by their corners from "
                    "one in a corner square; expected the first one in a corner and each other one "
                    "touching at a corner",
                    player,
                    colour,
                    _at(grid, squares),
                )
            )
    return used


def _at(grid: Grid, squares: int) -> str:
    return ",".join(grid.names[square] for square in members(squares))


def _is_connected(grid: Grid, piece: int, squares: int) -> bool:
    while (grown := (piece | grid.around(piece)) & squares) != piece:
        piece = grown
    return piece == squares


def check_position(state: BlokusState) -> None:
    """Raise UnreadableError unless strikes, dice and who plays fit the sheets, whose squares were checked before."""
    for seat, filled in enumerate(state.sheets):
        _check_strikes(state, seat, filled)
    if all(filled.status == PlayerStatus.RESIGNED for filled in state.sheets):
        raise UnreadableError(Phrase("everyone has resigned; expected at least one player who has not"))
    if state.seat is None:
        return
    if state.sheets[state.seat].status != PlayerStatus.PLAYING:
        raise UnreadableError(
            Phrase("{player} is to move but is {status}", state.to_move, state.sheets[state.seat].status)
        )
    waiting = state.still_to_play() if state.dice else state.active()
    if not state.dice and state.starter != state.seat:
        raise UnreadableError(
            Phrase("{player} starts the round, so {player} rolls, not {to_move}", PLAYERS[state.starter], state.to_move)
        )
    gone = state.options.players - len(state.active())
    if state.dice and not len(waiting) <= len(state.dice) <= len(waiting) + gone:
        raise UnreadableError(
            Phrase(
                "dice on the table: {dice}; players still to take one in this round: {waiting}; "
                "expected a die for each, and at most {gone} more for those who are out",
                len(state.dice),
                len(waiting),
                gone,
            )
        )


def _check_strikes(state: BlokusState, seat: int, filled: FilledSheet) -> None:
    most = min(state.options.sheet.strikes, filled.shapes_drawn)
    if not 0 <= filled.strikes <= most:
        raise UnreadableError(
            either(
                filled.strikes == 1,
                "{player} has crossed out 1 strike; expected {most} at most: one for each shape "
                "drawn, and no more than the sheet has ({strikes_2})",
                "{player} has crossed out {strikes} strikes; expected {most} at most: one for each "
                "shape drawn, and no more than the sheet has ({strikes_2})",
                player=PLAYERS[seat],
                most=most,
                strikes_2=state.options.sheet.strikes,
                strikes=filled.strikes,
            )
        )
