"""Hints as the journal has them: whether there can be one, whether one was given already, and where they come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Protocol

from common.phrases import Phrase
from engine.api import Clock, Game
from referee.hints.advice import (
    Advice,
    Answer,
    Question,
    Stage,
    answer_question,
    hint_text,
)
from referee.journal.events import Event, EventKind, JsonValue
from referee.journal.fold import Folded


class HintSource(Protocol):
    """Works out hints while frames keep coming, such as ``referee.hints.process.HintProcess``."""

    def ask(self, question: Question) -> None:
        """Start working out a question."""

    def poll(self) -> Sequence[Answer]:
        """Return the answers since the last call."""

    def close(self) -> None:
        """Release its resources."""


class ImmediateHints:
    """Works out hints synchronously."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._answers: list[Answer] = []

    def ask(self, question: Question) -> None:
        """Work out the hint now."""
        self._answers.append(answer_question(question, self._clock))

    def poll(self) -> list[Answer]:
        """Return the answers since the last call."""
        answers, self._answers = self._answers, []
        return answers

    def close(self) -> None:
        """Do nothing, since nothing is open."""


def refusal_reason(game: Game[Any, Any], belief: Sequence[Any]) -> str:
    """Return the reason there can't be a hint now; empty if there can."""
    if not belief:
        return Phrase("the board is not set up yet")
    if game.rules.outcome(belief[0]) is not None:
        return Phrase("the game is over")
    if len({state.to_move for state in belief}) > 1:
        return Phrase("it is still open who starts")
    if to_draw := game.to_draw(belief[0]):
        return Phrase("first, {to_draw}", to_draw)
    if game.awaits_roll(belief[0]):
        return Phrase("{to_move} has to roll first", belief[0].to_move)
    return ""


def states_before(game: Game[Any, Any], folded: Folded[Any]) -> tuple[str, ...]:
    """Return the earlier states in notation, oldest first, without the current one and ends that were corrected."""
    states = [folded.start, *(step.states for step in folded.steps)]
    earlier = [each[0] for each in states[:-1] if each]
    return tuple(game.notation.format_state(state) for state in earlier if game.rules.outcome(state) is None)


def hint_event(
    game: Game[Any, Any], state: Any, advice: Advice, by: str, strength: str, stage: Stage, time_s: float | None
) -> Event:
    """Return the event that records a hint; raises EngineError if the turn is illegal in the state."""
    said = hint_text(game, state, advice, stage)
    data: dict[str, JsonValue] = {
        "by": by,
        "strength": strength,
        "stage": stage,
        "sentence": said.words,
        "places": list(said.places),
        **asdict(advice),
    }
    return Event(EventKind.HINT_GIVEN, data, time_s)


def recorded_advice(event: Event) -> Advice:
    """Return the advice of a recorded hint."""
    data: Mapping[str, Any] = event.data
    die = data.get("die")
    return Advice(
        turn=str(data["turn"]),
        player=str(data["player"]),
        reason=str(data.get("reason", "")),
        expected=float(data.get("expected", 0.0)),
        unit=str(data.get("unit", "win")),
        sure=float(data.get("sure", 0.0)),
        die=die if isinstance(die, int) else None,
    )


def position_key(game: Game[Any, Any], state: Any) -> object:
    """Return a position's key, which doesn't change when more of its hidden faces become known."""
    if game.side_faces is None:
        return game.notation.format_state(state)
    roll = None if game.dice is None else game.dice.roll_of(state)
    return state.to_move, tuple(game.table.appearance(state).items()), roll
