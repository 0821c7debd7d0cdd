"""Requests for hints: whether one is allowed, whether one was given already, and answers that come too late."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from engine.api import Clock, Game
from engine.errors import EngineError
from referee.commands.values import Reply, Respond
from referee.hints.advice import (
    RULED_OUT,
    Advice,
    Answer,
    HintSettings,
    Question,
    Stage,
    answer_question,
    hint_text,
)
from referee.journal.events import STATE_CHANGING, Event, EventKind, JsonValue
from referee.journal.fold import fold

CORRECT_SQUARES = "correct the lit squares first"
ANSWER_QUESTION = "answer the question first"
END_TURN = "end the turn first"
"""What the players have to do before there can be a hint."""

_MEANWHILE = "No hint: the position has changed meanwhile; ask again."


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


@dataclass(frozen=True)
class HintResponse:
    """A hint to record and light, or a message without one (``event`` is ``None``).

    ``repeated`` means that the hint was given before and is only shown again.
    """

    words: str
    places: tuple[str, ...] = ()
    event: Event | None = None
    repeated: bool = False
    waiting: tuple[Respond, ...] = ()
    refused: bool = False


def refusal_reason(game: Game[Any, Any], belief: Sequence[Any]) -> str:
    """Return the reason there can't be a hint now; empty if there can."""
    if not belief:
        return "the board is not set up yet"
    if game.rules.outcome(belief[0]) is not None:
        return "the game is over"
    if len({state.to_move for state in belief}) > 1:
        return "it is still open who starts"
    if to_draw := game.to_draw(belief[0]):
        return f"first, {to_draw}"
    if game.awaits_roll(belief[0]):
        return f"{belief[0].to_move} has to roll first"
    return ""


def last_hint_given(events: Sequence[tuple[int, Event]]) -> Event | None:
    """Return the last hint given for the current position, ``None`` if there is none."""
    for _, event in reversed(events):
        if event.kind in STATE_CHANGING:
            return None
        if event.kind == EventKind.HINT_GIVEN:
            return event
    return None


def states_before(game: Game[Any, Any], events: Sequence[tuple[int, Event]]) -> tuple[str, ...]:
    """Return the earlier states in notation, oldest first, without the current one and ends that were corrected."""
    folded = fold(game, events)
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


@dataclass
class _Pending:
    """A question being worked out, the callers waiting for it, and the key of its position."""

    number: int
    position: object
    by: str
    waiting: list[Respond] = field(default_factory=list)


class HintRequests:
    """Takes requests for hints and returns messages, at once or later. The caller records and shows them."""

    def __init__(self, game: Game[Any, Any], settings: HintSettings, source: HintSource | None) -> None:
        self._game = game
        self._settings = settings
        self._source = source
        self._pending: _Pending | None = None
        self._number = 0

    def ask(
        self,
        belief: Sequence[Any],
        events: Sequence[tuple[int, Event]],
        by: str,
        respond: Respond,
        time_s: float | None,
        *,
        to_do: str,
    ) -> HintResponse:
        """Take a request for a hint in the position ``belief``; ``events`` are the game's events so far.

        ``to_do`` says what the players have to do before a hint, such as ``CORRECT_SQUARES``; empty for nothing.
        """
        why = self._refusal(belief, events, to_do)
        if why:
            return HintResponse(why, waiting=(respond,), refused=True)
        before, state, strength = last_hint_given(events), belief[0], self._settings.strength
        if before is not None:
            try:
                return self._next_stage_of(before, state, by, (respond,), time_s)
            except EngineError:
                # The table is better known now and the turn is illegal, so work out a new hint.
                pass
        if self._pending is None or self._pending.position != self._position(state):
            for waiting in () if self._pending is None else self._pending.waiting:
                waiting(Reply(_MEANWHILE, refused=True))
            self._number += 1
            self._pending = _Pending(self._number, self._position(state), by)
            if self._source is not None:
                text = self._game.notation.format_state(state)
                earlier = states_before(self._game, events)
                question = Question(self._number, self._game.name, text, strength, self._settings.seconds, earlier)
                self._source.ask(question)
        self._pending.waiting.append(respond)
        return HintResponse(f"Thinking about a hint for {state.to_move}.")

    def poll(
        self,
        belief: Sequence[Any],
        events: Callable[[], Sequence[tuple[int, Event]]],
        time_s: float | None,
        *,
        to_do: str,
    ) -> list[HintResponse]:
        """Return new messages: an answer that arrived, or why it comes too late; ``to_do`` is as for ``ask``."""
        if self._source is None:
            return []
        answers = self._source.poll()
        pending = self._pending
        if pending is None:
            return []
        if to_do or not belief or self._position(belief[0]) != pending.position:
            self._pending = None
            words = _refused(to_do) or _MEANWHILE
            return [HintResponse(words, waiting=tuple(pending.waiting), refused=True)]
        said = []
        for answer in answers:
            if answer.number == pending.number:
                self._pending = None
                said.append(self._respond_with(pending, answer, belief[0], events(), time_s))
        return said

    def close(self) -> None:
        """Tell everybody who still waits that no hint will come, and close the source."""
        pending, self._pending = self._pending, None
        for respond in () if pending is None else pending.waiting:
            respond(Reply("No hint: the referee stopped before it was found.", refused=True))
        if self._source is not None:
            self._source.close()

    def _refusal(self, belief: Sequence[Any], events: Sequence[tuple[int, Event]], to_do: str) -> str:
        begun = (event for _, event in events if event.kind == EventKind.NEW_GAME)
        if self._settings.strength == "none" or any(event.data.get("hints") == "none" for event in begun):
            return RULED_OUT
        if self._source is None:
            return "There are no hints here."
        return _refused(refusal_reason(self._game, belief) or to_do)

    def _respond_with(
        self, pending: _Pending, answer: Answer, state: Any, events: Sequence[tuple[int, Event]], time_s: float | None
    ) -> HintResponse:
        waiting, strength = tuple(pending.waiting), self._settings.strength
        if answer.advice is None:
            return HintResponse(f"No hint: {answer.refused.rstrip('.')}.", waiting=waiting, refused=True)
        # A gentle hint first names only the piece.
        stage: Stage = "piece" if strength == "gentle" and last_hint_given(events) is None else "whole"
        try:
            event = hint_event(self._game, state, answer.advice, pending.by, strength, stage, time_s)
        except EngineError as error:
            return HintResponse(f"No hint: {str(error).rstrip('.')}.", waiting=waiting, refused=True)
        return _message_of(event, waiting)

    def _next_stage_of(
        self, before: Event, state: Any, by: str, waiting: tuple[Respond, ...], time_s: float | None
    ) -> HintResponse:
        """Return the next stage of a hint, or repeat the whole hint."""
        strength = str(before.data["strength"])
        event = hint_event(self._game, state, recorded_advice(before), by, strength, "whole", time_s)
        return _message_of(event, waiting, repeated=before.data["stage"] == "whole")

    def _position(self, state: Any) -> object:
        """Return a position's key, which doesn't change when more of its hidden faces become known."""
        if self._game.side_faces is None:
            return self._game.notation.format_state(state)
        roll = None if self._game.dice is None else self._game.dice.roll_of(state)
        return state.to_move, tuple(self._game.table.appearance(state).items()), roll


def _refused(why: str) -> str:
    return f"No hint: {why}." if why else ""


def _message_of(event: Event, waiting: tuple[Respond, ...], *, repeated: bool = False) -> HintResponse:
    return HintResponse(str(event.data["sentence"]), event.texts("places"), event, repeated, waiting)
