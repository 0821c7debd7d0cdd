"""One game's part of the journal: what is recorded of it, with pictures, and read back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic

from engine.api import Game, StateT, TurnT
from referee.errors import JournalError
from referee.journal import Folded, fold
from referee.journal.events import Event, EventKind, Evidence
from referee.judge.verdict import AcceptedRoll, AcceptedTurn, Verdict, VerdictKind
from referee.session import event_records
from referee.session.crops import CropKeeper, Cropper
from referee.session.news import key_of
from referee.session.ports import Recorder
from referee.session.recovery import CatchUp
from vision.frame import Frame


class GameLog(Generic[StateT, TurnT]):
    """Records what becomes of the journal's latest game; raises JournalError when that can't be written."""

    def __init__(self, game: Game[StateT, TurnT], journal: Recorder, cropper: Cropper) -> None:
        self._game = game
        self._journal = journal
        self._cropper = cropper
        self._crops = CropKeeper(game.places)
        self._recorded: tuple[object, ...] | None = None
        self._catch_up = CatchUp(journal)
        self.number = 0
        """The game's number in the journal, 0 before there is one."""
        self.last_event = 0
        """The number of the newest event."""

    @property
    def trouble(self) -> JournalError | None:
        """What keeps the journal from being written, ``None`` while all is well."""
        trouble = getattr(self._journal, "trouble", None)
        return trouble if isinstance(trouble, JournalError) else None

    def caught_up(self, time_s: float) -> bool:
        """Let a journal in trouble try again if it is time to; tells whether the trouble is over just now."""
        return self._catch_up.caught_up(time_s)

    def open_latest(self) -> Folded[StateT] | None:
        """Take up the journal's latest game and give what it adds up to; ``None`` where there is none."""
        number = self._journal.latest_game()
        if number is None:
            return None
        self.number = number
        folded = self.folded()
        self.last_event = folded.last_event
        return folded

    def append(self, event: Event, evidence: Sequence[Evidence] = ()) -> int:
        """Record an event and give its number; it is durable on return."""
        self.last_event = self._journal.append(event, evidence)
        if event.kind == EventKind.NEW_GAME:
            self.number = self._journal.latest_game() or 0
        return self.last_event

    def events(self) -> list[tuple[int, Event]]:
        """List the game's (number, event) pairs in order."""
        return self._journal.events(self.number)

    def folded(self) -> Folded[StateT]:
        """Give what the game's events add up to; raises FoldError when they make no game."""
        return fold(self._game, self.events())

    def before_seen_roll(self) -> tuple[StateT, ...]:
        """Give what was believed before the roll that is being played, if it was seen; nothing otherwise."""
        return event_records.before_seen_roll(self._game, self.events())

    def hold(self, event: Event, state: Any, time_s: float) -> None:
        """Record a person's word, and that the game has ended where it led to that state."""
        self.append(event)
        outcome = self._game.rules.outcome(state)
        if outcome is not None:
            self.append(event_records.end_event(outcome, time_s))

    def record(
        self,
        verdict: Verdict,
        steps: Sequence[AcceptedTurn | AcceptedRoll],
        states: Sequence[StateT],
        frame: Frame | None,
    ) -> int | None:
        """Record what a verdict says, with pictures of its places out of ``frame``; ``states`` are believed now.

        Gives the number of the event that has the pictures, ``None`` for a verdict that is only shown.
        """
        evidence = self._crops.evidence(verdict.places, self._cropper, frame)
        number = None
        if verdict.kind is VerdictKind.SET_UP:
            self.append(
                event_records.set_up_event([self._game.notation.format_state(state) for state in states], verdict)
            )
        for step in steps:
            number = self.append(event_records.step_event(step, verdict), evidence)
        said = event_records.said_event(verdict)
        if said is not None and self._recorded != key_of(verdict):
            number = self.append(said, evidence)
        if said is not None or steps:
            self._recorded = key_of(verdict)
        if steps or verdict.kind in {VerdictKind.SET_UP, VerdictKind.PUT_RIGHT}:
            self._crops.keep(self._cropper, frame)
        outcome = self._game.rules.outcome(states[0]) if steps else None
        if outcome is not None:
            self.append(event_records.end_event(outcome, verdict.time_s))
        return number
