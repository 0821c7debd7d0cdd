"""A Diaballik state and turn: frozen values, and what an onlooker sees of a state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from engine.api import EMPTY, Announcement, LookName
from engine.games.diaballik.play.board import PLACES, PLAYERS
from engine.games.diaballik.play.options import DiaballikOptions
from engine.support.grid import members
from engine.support.looks import LookTable

LOOK_TABLE: LookTable[tuple[str, bool]] = LookTable(
    {(player, ball): f"{player} piece{' with ball' if ball else ''}" for player in PLAYERS for ball in (False, True)},
    PLACES,
)
"""Looks of pieces by owner and whether they have the ball."""

LOOKS: tuple[LookName, ...] = LOOK_TABLE.names


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


def appearance_of(state: DiaballikState) -> dict[str, LookName]:
    """Map every square to its look, a1 first."""
    looks = dict.fromkeys(PLACES, EMPTY)
    for player in PLAYERS:
        side = state.side(player)
        for square in members(side.pieces):
            looks[PLACES[square]] = LOOK_TABLE.look_of[player, square == side.ball]
    return looks
