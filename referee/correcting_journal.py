"""Putting a game right in its journal while no referee is running."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.api import Game
from referee import service_events
from referee.correcting import Correction, corrected
from referee.errors import CorrectionError
from referee.events import Event
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
    turns = fold(game, events).turns
    if not turns:
        raise CorrectionError("there is no turn to take back")
    journal.append(Event("take back", {"by": by}))
    return f"{turns[-1]} is taken back."
