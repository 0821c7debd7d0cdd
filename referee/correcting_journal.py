"""A person's word put into the journal while no referee is running: corrections, turns, rolls, announcements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.api import Game
from referee import service_events
from referee.correcting import Correction, corrected
from referee.entering import Entry, entered, usual_start
from referee.errors import CorrectionError
from referee.events import Event, JsonValue
from referee.journal import Journal, fold


def correct_journal(
    journal: Journal, game: Game[Any, Any], events: Sequence[tuple[int, Event]], correction: Correction
) -> str:
    """Record a correction of the journal's latest game and give it in a sentence; raises CorrectionError."""
    folded = fold(game, events)
    done = corrected(game, folded.states, correction, folded.options)
    journal.append(service_events.corrected_event(game, done, correction, None))
    outcome = game.outcome(done.states[0])
    if outcome is not None:
        journal.append(service_events.end_event(outcome, None))
    return done.sentence


def take_back_in_journal(journal: Journal, game: Game[Any, Any], events: Sequence[tuple[int, Event]], by: str) -> str:
    """Record that the last turn no longer counts and give that in a sentence; raises CorrectionError without one."""
    folded = fold(game, events)
    if folded.last_played is None:
        raise CorrectionError("there is no turn to take back")
    journal.append(Event("take back", {"by": by}))
    return f"{folded.steps[folded.last_played].text} is taken back."


def enter_in_journal(journal: Journal, game: Game[Any, Any], events: Sequence[tuple[int, Event]], entry: Entry) -> str:
    """Record a turn, roll or announcement of the journal's latest game and give it in a sentence.

    A game that was never set up begins as the rules say. Raises CorrectionError or EngineError.
    """
    folded = fold(game, events)
    states = folded.states or usual_start(game, folded.options)
    done = entered(game, states, entry)
    if not folded.states:
        texts: list[JsonValue] = [game.format_state(state) for state in states]
        journal.append(Event("set up", {"state": texts[0] if len(texts) == 1 else texts, "by": entry.by}))
    journal.append(done.event)
    if done.outcome is not None:
        journal.append(service_events.end_event(done.outcome, None))
    return done.sentence
