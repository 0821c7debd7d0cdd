"""Positions inside a turn: the first square of a shape is filled, the others are still to be."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Unfinished
from engine.games.blokus_dice.play.options import COLOURS
from engine.games.blokus_dice.state import BlokusState, appearance_of, colour_in_hand
from engine.games.blokus_dice.turns import choices
from engine.games.blokus_dice.violations import places_on
from engine.support.grid import members
from engine.support.lazy import LazyList


def unfinished_positions(state: BlokusState) -> Sequence[Unfinished]:
    """One for each square of a larger shape that may be drawn, a1 first; not where that square alone is a turn."""
    if state.seat is None:
        return []
    seat, begun, whole = state.seat, 0, 0
    for choice in choices(state):
        for laid in choice.laid:
            if laid.bit_count() > 1:
                begun |= laid
            else:
                whole |= laid
    squares = list(members(begun & ~whole))
    before, colour = appearance_of(state), COLOURS[colour_in_hand(state, seat)]

    def make(index: int) -> Unfinished:
        (place,) = places_on(state, seat, 1 << squares[index])
        return Unfinished({**before, place: colour}, (place,), f"Fill the other squares of the shape on {place}.")

    return LazyList(len(squares), make)
