"""Positions inside a turn that are no turn's result: a piece lifted, or the ball in hand."""

from __future__ import annotations

from collections.abc import Iterator

from engine.api import EMPTY, LookName, Unfinished
from engine.games.diaballik.play.board import PLACES
from engine.games.diaballik.state import LOOK_TABLE, DiaballikState, appearance_of
from engine.games.diaballik.turns import TurnInProgress, actions, begun
from engine.support.grid import members


def unfinished_positions(state: DiaballikState) -> list[Unfinished]:
    """Every such position before the first action and after it, by squares.

    Whatever a turn leaves between two actions is a whole turn too, so only what is in a hand is unfinished.
    """
    if state.to_move is None:
        return []
    before = appearance_of(state)
    start = begun(state, state.to_move)
    found: dict[tuple[tuple[str, LookName], ...], str] = {}
    for turn in (start, *(start.after(action) for action in actions(start))):
        done = _looks(start, turn)
        for change, to_do in _in_hand(turn):
            changed = {place: look for place, look in {**done, **change}.items() if look != before[place]}
            found.setdefault(tuple(sorted(changed.items())), to_do)
    return [
        Unfinished({**before, **dict(changed)}, tuple(place for place, _ in changed), to_do)
        for changed, to_do in found.items()
    ]


def _looks(start: TurnInProgress, turn: TurnInProgress) -> dict[str, LookName]:
    """The looks that the turn so far has changed."""
    touched = (start.pieces ^ turn.pieces) | (1 << start.ball | 1 << turn.ball if start.ball != turn.ball else 0)
    return {
        PLACES[square]: LOOK_TABLE.look_of[turn.player, square == turn.ball] if turn.pieces >> square & 1 else EMPTY
        for square in members(touched)
    }


def _in_hand(turn: TurnInProgress) -> Iterator[tuple[dict[str, LookName], str]]:
    if turn.ended:
        return
    if turn.moves_left:
        for square in members(turn.pieces & ~(1 << turn.ball)):
            place = PLACES[square]
            yield {place: EMPTY}, f"Put the {turn.player} piece from {place} down to finish its move."
    if turn.pass_left:
        change = {PLACES[turn.ball]: LOOK_TABLE.look_of[turn.player, False]}
        yield change, f"Put {turn.player}'s ball down on the piece that gets it."
