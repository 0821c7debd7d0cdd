"""Turns tapped on the sheet: the squares of a shape in any order, and which die, where a strike allows others."""

from __future__ import annotations

from engine.games.blokus_dice.notation import STRIKE
from engine.games.blokus_dice.state import PLAYERS, BlokusState, BlokusTurn, place_of
from engine.games.blokus_dice.turns import choices, turn_of
from engine.support.grid import members, union
from engine.tapping import Steps, Tapped


def tapped(state: BlokusState, taps: Steps) -> Tapped[BlokusTurn]:
    """Return what may follow these taps. Without a strike, the turn takes the die that gives the shape."""
    if state.seat is None:
        return Tapped()
    seat, grid = state.seat, state.options.sheet.grid
    *squares, last = taps or ("",)
    if not last.startswith(STRIKE):
        squares = list(taps)
    if any(player != PLAYERS[seat] or square not in grid.index for player, _, square in map(_split, squares)):
        return Tapped()
    chosen = grid.squares_named(square for _, _, square in map(_split, squares))
    fitting = choices(state, changed=chosen)
    following = union(placement for choice in fitting for placement in choice.placements) & ~chosen
    whole = [choice for choice in fitting if chosen in choice.placements]
    turns = {f"{STRIKE}:{choice.die}" if choice.strike else "": turn_of(state, choice, chosen) for choice in whole}
    if last.startswith(STRIKE):
        return Tapped(turn=turns.get(last))
    strikes = {tap: f"Take the {turn.die} and cross out a strike" for tap, turn in turns.items() if tap}
    return Tapped(tuple(place_of(seat, grid.names[square]) for square in members(following)), strikes, turns.get(""))


def _split(place: str) -> tuple[str, str, str]:
    return place.partition(".")
