"""Commands carried out on a journal while no referee is running."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.api import Clock, Game
from referee.commands.corrections import Correction, corrected
from referee.commands.entries import Entry, entered, usual_start
from referee.errors import CorrectionError
from referee.hints.advice import Answer, HintSettings, Question, answer_question
from referee.hints.requests import HintRequests
from referee.journal import Journal, fold
from referee.journal.events import Event, JsonValue
from referee.session import event_records


class ImmediateHints:
    """Works a hint out while whoever asks waits."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._answers: list[Answer] = []

    def ask(self, question: Question) -> None:
        """Work it out now."""
        self._answers.append(answer_question(question, self._clock))

    def poll(self) -> list[Answer]:
        """Give the answers that came since the last time."""
        answers, self._answers = self._answers, []
        return answers

    def close(self) -> None:
        """Nothing to let go of."""


def hint_in_journal(
    journal: Journal,
    game: Game[Any, Any],
    events: Sequence[tuple[int, Event]],
    by: str,
    settings: HintSettings,
    clock: Clock,
) -> str:
    """Give a hint for the journal's latest game in words, and record that it was given.

    A game that was never set up begins as the rules say. Raises CorrectionError when there can be no hint.
    """
    folded = fold(game, events)
    states = folded.states or usual_start(game, folded.options)
    desk = HintRequests(game, settings, ImmediateHints(clock))
    fault = folded.fault is not None
    said = [desk.ask(states, events, by, None, None, fault=fault)]
    said += desk.poll(states, lambda: events, None, fault=fault)
    last = said[-1]
    if last.refused:
        raise CorrectionError(last.words)
    if last.event is not None and not last.repeated:
        journal.append(last.event)
    return last.words


def correct_journal(
    journal: Journal, game: Game[Any, Any], events: Sequence[tuple[int, Event]], correction: Correction
) -> str:
    """Record a correction of the journal's latest game and give it in a sentence; raises CorrectionError."""
    folded = fold(game, events)
    done = corrected(game, folded.states, correction, folded.options)
    journal.append(event_records.corrected_event(game, done, correction, None))
    outcome = game.rules.outcome(done.states[0])
    if outcome is not None:
        journal.append(event_records.end_event(outcome, None))
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
        texts: list[JsonValue] = [game.notation.format_state(state) for state in states]
        journal.append(Event("set up", {"state": texts[0] if len(texts) == 1 else texts, "by": entry.by}))
    journal.append(done.event)
    if done.outcome is not None:
        journal.append(event_records.end_event(done.outcome, None))
    return done.sentence
