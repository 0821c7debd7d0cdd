"""The board, options, states and turns as frozen values, and how a state looks on the table."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from engine.options import read_into
from engine.support.grid import KING, ORTHOGONAL, Grid, members, set_of
from engine.support.looks import LookTable
from engine.support.players import opponent
from engine.values import EMPTY, Announcement, LookName, Option, OptionValue, Player

GRID = Grid(7, 7)
SIZE = GRID.columns
EVERY = GRID.every
PLACES: tuple[str, ...] = GRID.names
SQUARE_OF: dict[str, int] = GRID.index

FIRST_ROW = (1 << SIZE) - 1
"""The squares of row 1."""

PIECES_A_SIDE = 7
PLAYERS: tuple[str, ...] = ("black", "white")
HOME: Mapping[str, int] = MappingProxyType({"black": FIRST_ROW, "white": FIRST_ROW << 42})
GOAL: Mapping[str, int] = MappingProxyType({"black": HOME["white"], "white": HOME["black"]})
"""The row on which a player's ball wins."""

NEAR: tuple[int, ...] = GRID.neighbours(ORTHOGONAL)
RAYS: tuple[tuple[tuple[int, ...], ...], ...] = GRID.rays(KING)

CONTACTS_TO_CLAIM = 3
"""How many of the opponent's pieces must touch a wall before anti-play may be announced."""


def other(player: Player) -> Player:
    """Return the opponent."""
    return opponent(PLAYERS, player)


def is_wall(pieces: int) -> bool:
    """Return whether the seven pieces stand one in each column, with rows of neighbouring columns at most one apart."""
    columns = pieces | pieces >> 7 | pieces >> 14 | pieces >> 21 | pieces >> 28 | pieces >> 35 | pieces >> 42
    if columns & FIRST_ROW != FIRST_ROW:
        return False
    linked = pieces & GRID.outside_last_column
    return linked & (pieces >> 1 | pieces >> 8 | pieces << 6) == linked


def touching(wall: int, claimant: str, *, front_only: bool) -> int:
    """Return the squares from which ``claimant``'s pieces touch a wall face to face.

    Checking along the columns is enough: a square beside a piece of the wall is in another piece's column, at most one
    row away from it. The front is the side of the claimant's home row.
    """
    before, behind = wall >> SIZE, wall << SIZE & EVERY
    if claimant == PLAYERS[1]:
        before, behind = behind, before
    return before if front_only else before | behind


@cache
def between_squares(start: int, end: int) -> int:
    """Return the squares strictly between two; empty if they aren't in line."""
    for ray in RAYS[start]:
        if end in ray:
            return set_of(ray[: ray.index(end)])
    return 0


STANDARD, VARIANT = "standard", "variant"
ANNOUNCED, AUTOMATIC = "announced", "automatic"
BOTH_SIDES, FRONT = "both_sides", "front"

OPTIONS: tuple[Option, ...] = (
    Option(
        "start",
        STANDARD,
        "Where the pieces start; in the variant those of columns b and f change sides.",
        (STANDARD, VARIANT),
    ),
    Option("pass_over_own", True, "Whether a pass may go over pieces of one's own."),
    Option(
        "antiplay",
        ANNOUNCED,
        "Whether anti-play has to be announced or ends the game by itself.",
        (ANNOUNCED, AUTOMATIC),
        ("it has to be announced", "it ends the game by itself"),
    ),
    Option(
        "antiplay_contacts",
        BOTH_SIDES,
        "Which pieces touching a wall count: those on both sides, or only those before it.",
        (BOTH_SIDES, FRONT),
        ("those on both sides", "only those before it"),
    ),
    Option("null_turn", True, "Whether a turn may end with everything where it began."),
    Option("repetition_draw", False, "Whether a draw may be claimed from the third time a position comes up."),
)


@dataclass(frozen=True, slots=True)
class DiaballikOptions:
    """The options in force; each field is explained in OPTIONS."""

    start: str
    pass_over_own: bool
    antiplay: str
    antiplay_contacts: str
    null_turn: bool
    repetition_draw: bool

    @property
    def automatic(self) -> bool:
        """Whether anti-play ends the game automatically."""
        return self.antiplay == AUTOMATIC

    @property
    def front_only(self) -> bool:
        """Whether only pieces in front of a wall count as touching it."""
        return self.antiplay_contacts == FRONT


def options_from(given: Mapping[str, OptionValue] | None) -> DiaballikOptions:
    """Read options into a value; raises OptionError for an unknown name or a bad value."""
    return read_into(DiaballikOptions, OPTIONS, given)


LOOK_TABLE: LookTable[tuple[str, bool]] = LookTable(
    {(player, ball): f"{player} piece{' with ball' if ball else ''}" for player in PLAYERS for ball in (False, True)},
    PLACES,
)
"""Looks of pieces by owner and whether they have the ball."""

LOOKS: tuple[LookName, ...] = LOOK_TABLE.names


class Side(NamedTuple):
    """One player's pieces, as a set of squares, and the square of their ball."""

    pieces: int
    ball: int


class Action(NamedTuple):
    """A piece moved by one square, or the ball passed (``passes``): from square ``start`` to square ``end``."""

    start: int
    end: int
    passes: bool


@dataclass(frozen=True, slots=True)
class DiaballikState:
    """A position. ``to_move`` is ``None`` when the game is over.

    ``announced`` is the announcement that ended the game, if one did. ``counts`` is how often each position occurred
    (by digest), kept only with the option ``repetition_draw``.
    """

    options: DiaballikOptions
    black: Side
    white: Side
    to_move: str | None
    counts: tuple[tuple[str, int], ...] = ()
    announced: Announcement | None = None

    def side(self, player: str) -> Side:
        """Return the player's pieces and ball."""
        return self.black if player == PLAYERS[0] else self.white


@dataclass(frozen=True, slots=True)
class DiaballikTurn:
    """One whole turn: one to three actions in order, and whether it ends by announcing anti-play.

    Of all action sequences with the same result, legal turns are listed with the canonical one: the fewest actions,
    then moves before passes, then the lowest squares.
    """

    player: str
    actions: tuple[Action, ...]
    claims: bool

    @property
    def places(self) -> tuple[str, ...]:
        """The squares where the actions started and ended, in order, without repeats."""
        return tuple(dict.fromkeys(PLACES[square] for action in self.actions for square in (action.start, action.end)))


def appearance_of(state: DiaballikState) -> dict[str, LookName]:
    """Map every square to its look, a1 first."""
    looks = dict.fromkeys(PLACES, EMPTY)
    for player in PLAYERS:
        side = state.side(player)
        for square in members(side.pieces):
            looks[PLACES[square]] = LOOK_TABLE.look_of[player, square == side.ball]
    return looks
