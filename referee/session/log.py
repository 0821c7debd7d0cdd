"""One game's part of the journal: recording events with pictures, reading them back, and retrying failed writes."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Generic

from common.phrases import Phrase
from engine import registry
from engine.api import Game, StateT, TurnT
from engine.values import OptionValue, Outcome, Place, Player
from referee.commands.entries import players_with
from referee.commands.values import Reply
from referee.errors import FoldError, JournalError
from referee.judge.belief import Belief, override_belief
from referee.judge.explorer import JudgeContext
from referee.judge.verdict import AcceptedStep, Verdict, VerdictKind
from referee.record.events import REQUEST, STATE_CHANGING, Event, EventKind, Evidence
from referee.record.fold import Folded, fold, fold_each, fold_next
from referee.session.ports import Reader, Recorded, Recorder
from referee.session.recording import (
    end_event,
    latest_overrides,
    missing_end_event,
    overruled_places,
    set_up_event,
    standing_fault,
    step_event,
    undone_states,
    verdict_event,
)
from referee.session.view import verdict_key
from vision.errors import VisionError
from vision.frame import Frame, Image

RETRY_EVERY_S = 5.0
"""How often, in seconds of frame time, events that are only in memory are written again."""


class GameLog(Generic[StateT, TurnT]):
    """Records the events of the journal's latest game; raises JournalError if they can't be written."""

    def __init__(self, game: Game[StateT, TurnT], journal: Recorder, reader: Reader | None) -> None:
        self._game = game
        self._journal = journal
        self._reader = reader
        self._crops = CropKeeper(game.places, reader)
        self._recorded: tuple[object, ...] | None = None
        self._behind_since_s: float | None = None
        self.folded: Folded[StateT] = Folded()
        """The fold of the game's events."""
        self.request_id = ""
        """The id of the command that is being carried out, if it has one."""
        self.number = 0
        """The game's number in the journal, 0 before there is one."""
        self.playing: tuple[Player, ...] = ()
        """Those who play."""

    @property
    def ended(self) -> Outcome | None:
        """How the game ended according to the journal."""
        return self.folded.outcome if self.folded.is_ended else None

    @property
    def trouble(self) -> JournalError | None:
        """Why the journal can't be written, ``None`` if it can."""
        return self._journal.trouble

    @contextmanager
    def recording_request(self, request_id: str) -> Iterator[None]:
        """Record the id of the command that is being carried out with every event inside the context."""
        outer, self.request_id = self.request_id, request_id
        try:
            yield
        finally:
            self.request_id = outer

    def recording_preparation(self) -> AbstractContextManager[None]:
        """Record no id inside the context: only the event that completes a command proves that it was carried out."""
        return self.recording_request("")

    def with_write_warning(self, reply: Reply) -> Reply:
        """Return a reply that says so while the journal can't be written."""
        if self.trouble is None or reply.refused:
            return reply
        return replace(
            reply, words=Phrase("{words} This is only in memory so far: {trouble}.", reply.words, self.trouble)
        )

    def retry_writes(self, time_s: float) -> bool:
        """Retry failed writes every few seconds of frame time; returns whether they have just succeeded."""
        if self._journal.trouble is None:
            self._behind_since_s = None
            return False
        # Frame time restarts when the machine does, so a time in the past must not delay the retry.
        if self._behind_since_s is None or time_s < self._behind_since_s:
            self._behind_since_s = time_s
        if time_s - self._behind_since_s < RETRY_EVERY_S:
            return False
        self._behind_since_s = time_s
        return self._journal.retry()

    def open_latest(self) -> bool:
        """Open the journal's latest game; returns whether there is one of this kind to go on with.

        Raises FoldError if it is one of another kind that must go on.
        """
        number = self._journal.latest_game()
        if number is None:
            return False
        recorded = self._journal.events(number)
        name = str(recorded[0][1].data["game"])
        if name != self._game.name:
            if open_game(self._journal) is None:
                return False
            raise FoldError(
                "game {number} in the journal is {title} and not finished; go on with it by name = "
                '"{name}" under [game], or begin {title_2} by `./run watch --new`',
                number,
                registry.load(name).title,
                name,
                self._game.title,
            )
        self.number = number
        self.folded = fold(self._game, recorded)
        self._begin()
        return True

    def last_begun(self) -> Event:
        """Return how this game began, or, if the referee began it by itself and nothing was played, the one before.

        Only the journal's newest games are searched.
        """
        newest = self._journal.events(self.number)[0][1]
        if newest.names or newest.text("rules") or self.folded.turns or self.folded.is_ended:
            return newest
        begun = self._journal.beginnings()
        return next((event for event in begun if event.data["game"] == self._game.name), newest)

    def append(self, event: Event, evidence: Sequence[Evidence] = (), states: Sequence[StateT] | None = None) -> int:
        """Record an event and return its number; it is durable on return.

        ``states`` are those that its data names; without them, these are read from it.
        """
        event = self._completed(event)
        number = self._journal.append(event, evidence)
        begins = event.kind == EventKind.NEW_GAME
        before: Folded[StateT] = Folded() if begins else self.folded
        self.folded = fold_next(self._game, before, number, event, None if states is None else tuple(states))
        if begins:
            self.number = self._journal.latest_game() or 0
            self._begin()
        if event.kind in STATE_CHANGING:
            # The same fault or question is news again.
            self._recorded = None
        return number

    def append_to_another(self, event: Event) -> int:
        """Record how a game of another kind begins, the last event of this log; returns that game's number."""
        self._journal.append(self._completed(event))
        return self._journal.latest_game() or 0

    def _completed(self, event: Event) -> Event:
        if self._reader is None:
            event = replace(event, frame_time_s=None)
        return replace(event, data={**event.data, REQUEST: self.request_id}) if self.request_id else event

    def record_missing_end(self) -> Outcome | None:
        """Record the missing end of a game that was interrupted after its last turn; returns it if it was missing."""
        end = missing_end_event(self.folded)
        if end is None:
            return None
        self.append(end)
        return self.ended

    def events(self) -> list[tuple[int, Event]]:
        """List the game's (number, event) pairs in order."""
        return self._journal.events(self.number)

    def _begin(self) -> None:
        self.playing = players_with(self._game, self.folded.options)
        self._recorded = None
        self._crops = CropKeeper(self._game.places, self._reader)

    def record_entry(self, event: Event, states: Sequence[StateT], outcome: Outcome | None, time_s: float) -> None:
        """Record a person's entry, which leads to these states, and, if it ends the game, its outcome."""
        self.append(event, states=states)
        if outcome is not None:
            self.append(end_event(outcome, time_s))

    def record(
        self,
        verdict: Verdict,
        steps: Sequence[AcceptedStep],
        states: Sequence[StateT],
        frame: Frame | None,
        complete_s: Mapping[AcceptedStep, float],
    ) -> int | None:
        """Record a verdict with pictures of its places from ``frame``; ``states`` are those after its steps.

        ``complete_s`` are the times at which accepted turns were complete on the table, in a game with a clock. Returns
        the number of the event that holds the pictures, ``None`` for a verdict that is only shown.
        """
        evidence = self._crops.evidence(verdict.places, frame)
        number = None
        if verdict.kind is VerdictKind.SET_UP:
            self.append(set_up_event(self._game, states, verdict.time_s), states=states)
        for step in steps:
            event = step_event(self._game, step, verdict, complete_s.get(step))
            number = self.append(event, evidence, step.states)
        said = verdict_event(verdict)
        if said is not None and self._recorded != verdict_key(verdict):
            number = self.append(said, evidence)
            self._recorded = verdict_key(verdict)
        if steps or verdict.kind in {VerdictKind.SET_UP, VerdictKind.PUT_RIGHT}:
            self._crops.keep(frame)
        outcome = self._game.rules.outcome(states[0]) if steps else None
        if outcome is not None:
            self.append(end_event(outcome, verdict.time_s))
        return number


MOST_PLACES = 6
"""The most places pictured for one verdict; a turn of Deblockle passes at most five."""


class CropKeeper:
    """Remembers what every place looked like when the table was last agreed on."""

    def __init__(self, places: Sequence[Place], reader: Reader | None) -> None:
        self._places = tuple(places)
        self._reader = reader
        self._before: dict[Place, Image] = {}

    def keep(self, frame: Frame | None) -> None:
        """Remember how the places look in this frame."""
        if frame is not None:
            self._before = {place: image for place in self._places if (image := self._crop(frame, place)) is not None}

    def evidence(self, places: Sequence[Place], frame: Frame | None) -> tuple[Evidence, ...]:
        """Return PNG pictures of the places: ``before-c3`` when the table was last agreed on, ``after-c3`` now."""
        found: list[Evidence] = []
        for place in places[:MOST_PLACES]:
            after = None if frame is None else self._crop(frame, place)
            for name, image in ((f"before-{place}", self._before.get(place)), (f"after-{place}", after)):
                if image is not None:
                    found.append(Evidence(name, "image/png", _png(image)))
        return tuple(found)

    def _crop(self, frame: Frame, place: Place) -> Image | None:
        try:
            return None if self._reader is None else self._reader.crop(frame, place)
        except VisionError:
            # A verdict is recorded even if its picture can't be cut out.
            return None


def _png(image: Image) -> bytes:
    # Here, because typed turns need no pictures.
    import cv2

    encoded, content = cv2.imencode(".png", image)
    if not encoded:
        raise ValueError(f"a picture of shape {image.shape} can't be written as PNG")
    return bytes(content.tobytes())


def belief_from(
    context: JudgeContext[StateT, TurnT],
    recorded: Sequence[tuple[int, Event]],
    folded: Folded[StateT],
    *,
    set_up_seen: bool = True,
) -> Belief[StateT, TurnT]:
    """Return the belief that a game's (number, event) pairs lead to, including a person's latest overrides.

    If the set-up is ``set_up_seen`` by a camera, it judges a faulty one anew.
    """
    events = [event for _, event in recorded]
    belief: Belief[StateT, TurnT] = Belief.of(folded.states)
    overrides = latest_overrides(events)
    each = list(fold_each(context.game, recorded)) if overrides else []
    for index in overrides:
        before, override = each[index - 1], events[index]
        belief = override_belief(
            context,
            replace(belief, states=before.states),
            each[index].states,
            override.texts("places"),
            undone=undone_states(before) if override.kind == EventKind.TAKE_BACK else (),
        )
    fault = folded.fault if folded.started or not set_up_seen else None
    said = overruled_places(events)
    return replace(
        belief,
        states=folded.states,
        states_ignoring_sides=folded.states,
        fault=None if fault is None else standing_fault(fault),
    ).with_places_confirmed(said, {place: look for place, look in said.items() if look})


def open_game(journal: Recorded) -> tuple[str, Mapping[str, OptionValue]] | None:
    """Return the kind and the options of the journal's latest game if it must go on, whatever the settings name.

    It must if it is not over, and has turns or was begun by a person. Raises FoldError and UnknownGameError.
    """
    number = journal.latest_game()
    recorded = [] if number is None else journal.events(number)
    if not recorded:
        return None
    begun = recorded[0][1]
    name = str(begun.data["game"])
    folded = fold(registry.load(name), recorded)
    goes_on = folded.outcome is None and (folded.turns or begun.text("by"))
    return (name, folded.options) if goes_on else None
