"""A journal's events told to a person, one line each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engine.api import Game, Outcome
from engine.errors import EngineError
from referee.journal.events import Event, EventKind
from referee.journal.fold import Folded, fold_each, recorded_step


@dataclass(frozen=True)
class EventLine:
    """One event as a line: its number, when it was accepted, what kind it is and a sentence."""

    number: int
    wall_time: str
    kind: str
    sentence: str


def event_lines(game: Game[Any, Any], events: Sequence[tuple[int, Event]]) -> list[EventLine]:
    """Tell one game's events, checking on the way that they make a game; raises FoldError where they do not."""
    told = []
    before: Folded[Any] = Folded()
    for (number, event), after in zip(events, fold_each(game, events), strict=True):
        told.append(EventLine(number, event.wall_time, event.kind, _sentence(game, event, before, after)))
        before = after
    return told


def _sentence(game: Game[Any, Any], event: Event, before: Folded[Any], after: Folded[Any]) -> str:
    data = event.data
    match event.kind:
        case EventKind.NEW_GAME:
            options = data.get("options")
            chosen = (
                ", ".join(f"{name}={value}" for name, value in options.items()) if isinstance(options, dict) else ""
            )
            players = data.get("players")
            names = ", ".join(f"{who} is {name}" for who, name in players.items()) if isinstance(players, dict) else ""
            return "; ".join(part for part in (game.title, chosen, names) if part)
        case EventKind.SET_UP:
            starters = {str(state.to_move) for state in after.start}
            return "the set-up is accepted; " + (
                f"{starters.pop()} starts" if len(starters) == 1 else "it is open who starts"
            )
        case EventKind.TURN:
            return f"{data['turn']}  {_described(game, after, before)}"
        case EventKind.ROLLED:
            return f"{data['roll']} is rolled"
        case EventKind.ANNOUNCED:
            return f"{data['announcement']} is announced"
        case EventKind.TAKE_BACK:
            undone = before.last_played
            return f"{'' if undone is None else before.steps[undone].text} is taken back by {data['by']}"
        case EventKind.HINT_GIVEN:
            sentence = str(data.get("sentence") or data["turn"]).removeprefix("Hint: ")
            return f"a {data['strength']} hint for {data['player']}: {sentence}"
        case EventKind.CORRECTION:
            why = f" ({data['why']})" if data.get("why") else ""
            return f"corrected by {data['by']}{_said(game, event, after)}{why}"
        case EventKind.END:
            outcome = after.outcome or Outcome(None, "")
            return f"{_victory(outcome)}: {outcome.reason}"
        case EventKind.ILLEGAL | EventKind.PUT_RIGHT | EventKind.QUESTION | EventKind.NOTE:
            return str(data.get("sentence") or data.get("text") or "")


def _victory(outcome: Outcome) -> str:
    if outcome.shared_by:
        return f"{' and '.join(outcome.shared_by)} win together"
    return "a draw" if outcome.winner is None else f"{outcome.winner} wins"


def _said(game: Game[Any, Any], event: Event, after: Folded[Any]) -> str:
    """What a person said stands where, as far as the event names places."""
    places = event.data.get("places")
    looks = game.table.appearance(after.states[0])
    named = [str(place) for place in places if place in looks] if isinstance(places, list) else []
    return ": " + ", ".join(f"{place} is {looks[place]}" for place in named) if named else ""


def _described(game: Game[Any, Any], after: Folded[Any], before: Folded[Any]) -> str:
    played = after.steps[-1]
    for state in before.states:
        try:
            return game.notation.describe(recorded_step(game, state, EventKind.TURN, played.text, played.player))
        except EngineError:
            # It is open who starts, and this is the other player's state.
            continue
    return ""
