"""A game of the journal as a game record that others can read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from engine import record
from engine.api import Game
from engine.errors import EngineError
from referee.errors import FoldError
from referee.events import Event
from referee.journal.fold import Folded, FoldedStep, fold

_NOT_IN_A_RECORD = str.maketrans({"{": "(", "}": ")", ";": ","})
_MORE_WAS_SEEN = "side faces were seen"


def record_of(game: Game[Any, Any], events: Sequence[tuple[int, Event]]) -> record.Record:
    """Give the record of one game's (number, event) pairs: the turns that count, and where a person corrected it.

    Raises FoldError when the game was never set up or its events do not make a game.
    """
    folded = fold(game, events)
    if not folded.started:
        raise FoldError("the game was never set up; there is nothing to record")
    start = _start(game, folded)
    steps = []
    state = start
    for step in folded.steps:
        turn = None if step.turn is None else game.parse_turn(state, step.turn)
        state = step.states[0]
        steps.append((turn, state, _one_line(step.why) if turn is None else _MORE_WAS_SEEN))
    made = record.make(game, start, steps, _tags(game, folded, events))
    if folded.outcome is not None and made.result == record.UNFINISHED:
        made = replace(made, result=record.result_of(folded.outcome))
    return made


def _start(game: Game[Any, Any], folded: Folded[Any]) -> Any:
    """The starting state that the first turn fits; the first one while nobody has played."""
    first: FoldedStep[Any] | None = folded.steps[0] if folded.steps else None
    if first is None or first.turn is None:
        return folded.start[0]
    for state in folded.start:
        try:
            game.apply(state, game.parse_turn(state, first.turn))
        except EngineError:
            continue
        return state
    raise FoldError(f"the first turn {first.turn} fits no starting state")


def _tags(
    game: Game[Any, Any], folded: Folded[Any], events: Sequence[tuple[int, Event]]
) -> tuple[tuple[str, str], ...]:
    new_game = events[0][1]
    tags = [("Date", _one_line(new_game.wall_time[:10]))] if new_game.wall_time else []
    players = new_game.data.get("players")
    if isinstance(players, dict):
        tags += [(player.capitalize(), _one_line(str(players[player]))) for player in game.players if player in players]
    if folded.outcome is not None:
        tags.append(("Termination", _one_line(folded.outcome.reason)))
    return tuple(tags)


def _one_line(text: str) -> str:
    """A text from a person without what a record's line cannot hold."""
    line = " ".join(text.translate(_NOT_IN_A_RECORD).split())
    return "".join(character for character in line if character.isprintable())
