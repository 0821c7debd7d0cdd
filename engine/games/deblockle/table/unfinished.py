"""Positions inside a turn: rolled with the hop to come, at the goal but not yet taken off, or lifted."""

from __future__ import annotations

from collections.abc import Iterator

from common.phrases import listed
from engine.api import EMPTY, LookName, Unfinished
from engine.games.deblockle.play.board import PLACES, other
from engine.games.deblockle.state import LOOK_TABLE, DeblockleState, appearance_of, change_by
from engine.games.deblockle.turns import legal_turns, possibly_blocked, roll_options
from engine.support.grid import members

_HOW = {
    "cross": "one square straight",
    "x": "one square diagonally",
    "slider": "straight on until something stops it",
    "hoops": "three steps",
}
_MOST_NAMED = 6


def unfinished_positions(state: DeblockleState) -> list[Unfinished]:
    """Every such position, by start square; those that look like the end of a legal turn are left out."""
    if state.to_move is None:
        return []
    players = [state.to_move]
    if possibly_blocked(state, state.to_move):
        players.append(other(state.to_move))
    before = appearance_of(state)
    taken = [change_by(turn) for turn in legal_turns(state)]
    positions: list[Unfinished] = []
    for player in players:
        for change, to_do in _part_way(state, player):
            if change not in taken:
                positions.append(Unfinished({**before, **change}, tuple(change), to_do))
    return positions


def _part_way(state: DeblockleState, player: str) -> Iterator[tuple[dict[str, LookName], str]]:
    for block in state.owned(player):
        start = PLACES[block.square]
        for option in roll_options(state, block):
            place = PLACES[option.rolled_to]
            change = {start: EMPTY, place: LOOK_TABLE.look_of[player, option.top]}
            if option.off:
                yield change, f"Take the {player} block off {place}: it has reached its goal."
            elif option.ends != 1 << option.rolled_to:
                yield change, f"Hop the {player} block from {place}: {_HOW[option.top]}{_named(option.ends)}."
        yield {start: EMPTY}, f"Put the {player} block from {start} down to finish its turn."


def _named(ends: int) -> str:
    places = [PLACES[end] for end in members(ends)]
    return f", to {listed(places, 'or')}" if len(places) <= _MOST_NAMED else ""
