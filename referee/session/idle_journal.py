"""A hint for a journal's game while no referee is running."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.api import Clock, Game
from referee.entering import usual_start
from referee.errors import CorrectionError
from referee.events import Event
from referee.hinting import Answer, HintSettings, Question, worked_out
from referee.journal import Journal, fold
from referee.service_hints import HintDesk


class HintsAtOnce:
    """Works a hint out while whoever asks waits."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._answers: list[Answer] = []

    def ask(self, question: Question) -> None:
        """Work it out now."""
        self._answers.append(worked_out(question, self._clock))

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
    desk = HintDesk(game, settings, HintsAtOnce(clock))
    fault = folded.fault is not None
    said = [desk.ask(states, events, by, None, None, fault=fault)]
    said += desk.poll(states, lambda: events, None, fault=fault)
    last = said[-1]
    if last.refused:
        raise CorrectionError(last.words)
    if last.event is not None and not last.repeated:
        journal.append(last.event)
    return last.words
