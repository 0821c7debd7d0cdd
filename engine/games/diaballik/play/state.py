"""A Diaballik state and turn: frozen values, and what an onlooker sees of a state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from engine.api import EMPTY, Announcement, LookName
from engine.errors import UnreadableError
from engine.games.diaballik.play.board import PLACES, PLAYERS, SQUARE_OF
from engine.games.diaballik.play.options import DiaballikOptions
from engine.support.grid import members

LOOKS: tuple[LookName, ...] = (
    EMPTY,
    *(f"{player} piece{ball}" for player in PLAYERS for ball in ("", " with ball")),
)
_READ_LOOK: dict[LookName, tuple[str, bool]] = {
    f"{player} piece{' with ball' if ball else ''}": (player, ball) for player in PLAYERS for ball in (False, True)
}


class Side(NamedTuple):
    """What one player has on the board: the set of squares of the pieces, and the square of the one with the ball."""

    pieces: int
    ball: int


class Action(NamedTuple):
    """A piece moved by one square, or the ball passed (``passes``): from square ``start`` to square ``end``."""

    start: int
    end: int
    passes: bool


@dataclass(frozen=True, slots=True)
class DiaballikState:
    """A position. ``to_move`` is ``None`` when over; ``announced`` is what ended the game, if something said did.

    ``counts`` is how often each position occurred (by digest), kept only with the option ``repetition_draw``.
    """

    settings: DiaballikOptions
    black: Side
    white: Side
    to_move: str | None
    counts: tuple[tuple[str, int], ...] = ()
    announced: Announcement | None = None

    def side(self, player: str) -> Side:
        """What the player has on the board."""
        return self.black if player == PLAYERS[0] else self.white


@dataclass(frozen=True, slots=True)
class DiaballikTurn:
    """One whole turn: one to three actions in order, and whether it ends with announcing anti-play.

    Among the orders that lead to the same result the listed turns hold the canonical one: the fewest actions, then
    moves before passes, then the lowest squares.
    """

    player: str
    actions: tuple[Action, ...]
    claims: bool = False

    @property
    def places(self) -> tuple[str, ...]:
        """The squares the actions began and ended on, in order, none twice."""
        return tuple(dict.fromkeys(PLACES[square] for action in self.actions for square in (action.start, action.end)))


def look_of(player: str, *, ball: bool) -> LookName:
    """The look of a piece, with its ball or without."""
    return f"{player} piece with ball" if ball else f"{player} piece"


def read_look(place: str, look: LookName) -> tuple[str, bool] | None:
    """Read a look into owner and whether it has the ball, ``None`` for empty; raises UnreadableError for neither."""
    if place not in SQUARE_OF:
        raise UnreadableError(f"there is no square {place!r}; squares run from a1 to g7")
    if look == EMPTY:
        return None
    if look not in _READ_LOOK:
        raise UnreadableError(f"{place} shows {look!r}; expected one of {', '.join(LOOKS)}")
    return _READ_LOOK[look]


def appearance_of(state: DiaballikState) -> dict[str, LookName]:
    """Map every square to its look, a1 first."""
    looks = dict.fromkeys(PLACES, EMPTY)
    for player in PLAYERS:
        side = state.side(player)
        for square in members(side.pieces):
            looks[PLACES[square]] = look_of(player, ball=square == side.ball)
    return looks
