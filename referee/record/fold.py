"""A game as a fold over its events: its state, its clock, and what is open. The same live and after a restart."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Generic, Literal

from common.phrases import Phrase, capitalized, either, joined
from engine.api import Game, SideFaces, StateT, TurnT
from engine.errors import ContradictionError, EngineError
from engine.support.chance import format_roll
from engine.support.players import parse_announcement, who_plays
from engine.values import Announcement, OptionValue, Outcome, OutcomeKind, Place, Player, Roll
from referee.clocks import Clock, ClockFace, PauseReason, TimeControl, recorded_control
from referee.errors import ClockError, FoldError
from referee.record.events import (
    ASKS_TAKE_BACK,
    MISREAD,
    OFFER_MADE,
    OFFERS_DRAW,
    REQUEST,
    SEEN,
    STATE_CHANGING,
    STOPPED,
    Event,
    EventKind,
    JsonValue,
    PlayedKind,
)

COMPLETE_S = "complete_s"
"""The key in a ``turn`` event for the time at which the turn was first complete on the table."""

_SWITCHING = STATE_CHANGING | {EventKind.END}
"""The events that may change whose time runs."""


class ClockChange(StrEnum):
    """What happened to the clock; the values are stored in the journal's file."""

    PAUSED = "paused"
    WENT_ON = "went on"
    FLAG_FELL = "flag fell"
    RESTARTED = "restarted"
    RAN = "ran"
    SET = "set"


@dataclass(frozen=True)
class ClockFold:
    """One game's clock after some of its events; ``clock`` is ``None`` before the set-up and in a game without one.

    Time passes only while the referee runs: the time between its last event and a ``restarted`` event counts for no
    player. An event without a time takes none. ``latest_s`` is the newest time of any event so far. ``switched`` is the
    clock after the newest event that may have changed whose time runs, ``changes`` are its own changes since then with
    their times, and ``before`` the clocks that a take-back returns to.
    """

    control: TimeControl | None = None
    clock: Clock | None = None
    latest_s: float = -math.inf
    switched: Clock | None = None
    changes: tuple[tuple[Event, float], ...] = ()
    before: tuple[Clock, ...] = ()

    @property
    def is_agreed(self) -> bool:
        """Whether this game is played with a clock."""
        return self.control is not None

    def face(self, time_s: float) -> ClockFace | None:
        """Return what the clock shows at a time, or at the newest event if that is later."""
        return None if self.clock is None else self.clock.face(max(time_s, self.latest_s))

    def after(self, game: Game[Any, Any], event: Event, states: Sequence[Any]) -> ClockFold:
        """Return the clock after the game's next event, which leads to these states.

        Raises ClockError for a clock that can't be read.
        """
        if event.kind == EventKind.NEW_GAME:
            control = recorded_control(event.data)
            return ClockFold(control) if control is None else ClockFold(control, latest_s=event.frame_time_s or 0.0)
        if self.control is None:
            return self
        if event.data.get("change") == ClockChange.RESTARTED and event.frame_time_s is not None:
            # Let time pass until the newest event before the restart, and again from this one.
            clock = self.clock and replace(self.clock.at(self.latest_s), since_s=event.frame_time_s)
            return replace(self, clock=clock, latest_s=event.frame_time_s, switched=clock, changes=())
        time_s = event.frame_time_s
        if time_s is None or (self.clock is not None and time_s < self.clock.since_s):
            # Entered while no referee ran, or before the first frame after a restart: it takes no time.
            time_s = max(self.latest_s, 0.0 if self.clock is None else self.clock.since_s)
        now = replace(self, latest_s=max(self.latest_s, time_s))
        if event.kind == EventKind.CLOCK:
            return replace(now._changed(event, time_s), changes=(*self.changes, (event, time_s)))
        if event.kind not in _SWITCHING:
            return now
        if "state" in event.data:
            now = now._switched(game, event, time_s, states)
        elif event.kind == EventKind.TAKE_BACK and self.before and self.clock is not None:
            clock = replace(self.before[-1], since_s=time_s, pauses=self.clock.pauses)
            now = replace(now, clock=clock, before=self.before[:-1])
        elif event.kind == EventKind.END and self.clock is not None:
            now = replace(now, clock=self.clock.switch(time_s, ()))
        return replace(now, switched=now.clock, changes=())

    def _switched(self, game: Game[Any, Any], event: Event, time_s: float, states: Sequence[Any]) -> ClockFold:
        """Return the clock after an event that led to other states."""
        assert self.control is not None
        folded = self
        later: Sequence[tuple[Event, float]] = ()
        if self.clock is None or event.kind == EventKind.SET_UP:
            folded = replace(self, clock=Clock.full(self.control, who_plays(game, states[0]), time_s), before=())
        elif event.kind != EventKind.CORRECTION:
            complete_s = event.data.get(COMPLETE_S)
            time_s = min(float(complete_s), time_s) if isinstance(complete_s, int | float) else time_s
            folded, later = self._rewound(time_s)
            assert folded.clock is not None
            folded = replace(folded, before=(*folded.before, folded.clock.at(time_s)))
        assert folded.clock is not None
        finished = str(event.data.get("player")) if event.kind == EventKind.TURN else None
        clock = folded.clock.switch(time_s, _whose_time(game, states), finished)
        folded = replace(folded, clock=replace(clock, retired=_retired(game, clock, states)))
        for change, changed_s in later:
            folded = folded._changed(change, changed_s)
        return folded

    def _rewound(self, time_s: float) -> tuple[ClockFold, list[tuple[Event, float]]]:
        """Return the clock at a time since the last turn, and the changes after it, to be made again."""
        later = [(change, changed_s) for change, changed_s in self.changes if changed_s > time_s]
        if not later:
            return self, later
        folded = replace(self, clock=self.switched)
        for change, changed_s in self.changes[: -len(later)]:
            folded = folded._changed(change, changed_s)
        return folded, later

    def _changed(self, event: Event, time_s: float) -> ClockFold:
        """Return the clock after a ``clock`` event."""
        clock, data = self.clock, event.data
        if clock is None:
            return self
        now = clock.at(time_s)
        match ClockChange(str(data["change"])):
            case ClockChange.PAUSED:
                now = replace(now, pauses=clock.pauses | {PauseReason(str(data["why"]))})
            case ClockChange.WENT_ON:
                now = replace(now, pauses=clock.pauses - {PauseReason(str(data["why"]))})
            case ClockChange.FLAG_FELL:
                now = replace(now, fallen=(*clock.fallen, str(data["player"])))
            case ClockChange.SET:
                left = _seconds(data["remaining_s"])
                fallen = tuple(player for player in left if left[player] <= 0)
                # Taking back a turn from before gives nobody more than this.
                before = tuple(replace(earlier, remaining_s=left, fallen=fallen) for earlier in self.before)
                return replace(self, clock=replace(now, remaining_s=left, fallen=fallen), before=before)
            case ClockChange.RAN | ClockChange.RESTARTED:
                return self
        return replace(self, clock=now)


def _whose_time(game: Game[Any, Any], states: Sequence[Any]) -> tuple[Player, ...]:
    """Return the players whose time runs: none while it is open who starts, and none after the end."""
    rules = game.rules
    movers = {tuple(rules.players_to_move(state)) for state in states if rules.outcome(state) is None}
    return movers.pop() if len(movers) == 1 else ()


def _retired(game: Game[Any, Any], clock: Clock, states: Sequence[Any]) -> tuple[Player, ...]:
    """Return the players who can't even resign any more; nobody after the end."""
    playing = {player for state in states for player in who_plays(game, state)} | {*clock.running}
    return tuple(player for player in clock.remaining_s if player not in playing)


def paused_event(why: PauseReason, by: str, time_s: float) -> Event:
    """Make the event that pauses the clock."""
    said = (
        Phrase("{by} stops the clock.", by)
        if why is PauseReason.PERSON
        else Phrase("The clock is paused: {words}.", why.words)
    )
    return _event(ClockChange.PAUSED, time_s, why=why.value, sentence=said)


def resumed_event(why: PauseReason, time_s: float) -> Event:
    """Make the event that ends one reason for a pause."""
    return _event(ClockChange.WENT_ON, time_s, why=why.value, sentence=Phrase("The clock runs again."))


def restarted_event(time_s: float) -> Event:
    """Make the event for the first frame after a restart."""
    return _event(ClockChange.RESTARTED, time_s)


def running_event(time_s: float) -> Event:
    """Make the event that records a running clock; a restart loses only the time after it."""
    return _event(ClockChange.RAN, time_s)


def flag_event(player: Player, time_s: float) -> Event:
    """Make the event for a player whose time is up."""
    said = Phrase("{player}'s time is up: the flag has fallen.", capitalized(player))
    return _event(ClockChange.FLAG_FELL, time_s, player=player, sentence=said)


def set_event(clock: Clock) -> Event:
    """Make the event that sets the times by hand, such as those of an earlier game that is resumed."""
    left: dict[str, JsonValue] = {player: round(left_s, 3) for player, left_s in clock.remaining_s.items()}
    return _event(ClockChange.SET, None, remaining_s=left)


def _event(change: ClockChange, time_s: float | None, **data: JsonValue) -> Event:
    return Event(EventKind.CLOCK, {"change": change.value, **data}, time_s)


def _seconds(value: JsonValue) -> dict[Player, float]:
    if not isinstance(value, dict) or not all(isinstance(left, int | float) for left in value.values()):
        raise ClockError("the journal sets the clock to {value!r}; expected seconds by player", value)
    return {player: float(str(left)) for player, left in value.items()}


_NAMES: Mapping[PlayedKind, str] = MappingProxyType(
    {EventKind.TURN: "a turn", EventKind.ROLLED: "a roll", EventKind.ANNOUNCED: "an announcement"}
)


@dataclass(frozen=True)
class FoldedStep(Generic[StateT]):
    """A turn, roll or announcement that counts, or a correction, with the states after it.

    ``text`` is the turn, roll or announcement in notation; ``player`` is who played or said it and ``by`` its author,
    if the event names one. A correction has the reason ``why`` instead of a text, and the ``places`` that it corrects.
    ``seen`` says that the camera read a roll.
    """

    kind: PlayedKind | Literal[EventKind.CORRECTION]
    text: str
    states: tuple[StateT, ...]
    why: str = ""
    player: Player | None = None
    by: str = ""
    places: tuple[Place, ...] = ()
    seen: bool = False

    @property
    def said(self) -> str:
        """The step with its player: ``gold c1-c2=stop``."""
        return self.text if self.player is None else joined((self.player, self.text))


@dataclass(frozen=True)
class Intention:
    """The turn that the program has chosen: its player, its notation, and the request to the people at the table."""

    player: Player
    turn: str
    words: str
    places: tuple[Place, ...] = ()


def hinted_turn(event: Event) -> Intention | None:
    """Return the turn that a recorded hint tells, ``None`` if it names only the piece or die."""
    if event.data["stage"] != "whole":
        return None
    return Intention(str(event.data["player"]), str(event.data["turn"]), event.text("sentence") or "")


@dataclass(frozen=True)
class Offer:
    """An open draw offer by ``player``, or their wish to take something back; ``about`` says which.

    It ``is_newest`` if nothing was played since. A draw offer stands until another player answers or plays a turn,
    until a take-back withdraws it, or until a person's correction or a take-back changes the position. A turn by the
    offering player leaves it open. A wish to take back ends with any change of the position. ``words`` say all of it,
    ``device`` is the id of the one that it came from, empty for none.
    """

    player: Player
    about: str = OFFERS_DRAW
    words: str = ""
    device: str = ""
    is_newest: bool = True


@dataclass(frozen=True)
class Folded(Generic[StateT]):
    """The result of folding a game's events.

    ``start`` are the possible start states: none before the set-up, two while it is open who starts, else one.
    ``steps`` are the corrections, and the turns, rolls and announcements that weren't taken back. ``fault`` is the last
    ``illegal`` event, unless it was put right or superseded. ``last_event`` is the number of the last event,
    ``last_change`` that of the last one other than the clock's and remarks. ``outcome`` is that of the rules until the
    game ``is_ended`` by an event. ``newest`` is the kind of the last event that changed the state or ended the game.
    ``hints`` are the last hints given for the current position, by their player.
    ``names`` are those of the players who gave one; they may have agreed on a game ``without_hints``.
    """

    game: str = ""
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    start: tuple[StateT, ...] = ()
    steps: tuple[FoldedStep[StateT], ...] = ()
    outcome: Outcome | None = None
    fault: Event | None = None
    last_event: int = 0
    last_change: int = 0
    is_ended: bool = False
    newest: EventKind | None = None
    names: Mapping[Player, str] = field(default_factory=dict)
    without_hints: bool = False
    clock: ClockFold = field(default_factory=ClockFold)
    intention: Intention | None = None
    offer: Offer | None = None
    hints: Mapping[Player, Event] = field(default_factory=dict)

    @property
    def started(self) -> bool:
        """Whether the set-up was accepted."""
        return bool(self.start)

    @property
    def stopped(self) -> bool:
        """Whether somebody stopped the game before its end."""
        return self.outcome is not None and self.outcome.kind is OutcomeKind.STOPPED

    @property
    def states(self) -> tuple[StateT, ...]:
        """All states that are possible now; none before the set-up."""
        return self.steps[-1].states if self.steps else self.start

    @property
    def turns(self) -> tuple[str, ...]:
        """The turns that count, in notation."""
        return tuple(step.text for step in self.steps if step.kind == EventKind.TURN)

    @property
    def last_turn(self) -> FoldedStep[StateT] | None:
        """The last turn that counts."""
        return next((step for step in reversed(self.steps) if step.kind == EventKind.TURN), None)

    def before_seen_roll(self, game: Game[StateT, Any]) -> tuple[StateT, ...]:
        """Return the states before the current roll if the camera read it, else nothing.

        A roll typed by a person outranks the camera's and replaces it.
        """
        if any(game.awaits_roll(state) for state in self.states):
            return ()
        if not self.steps or self.steps[-1].kind != EventKind.ROLLED or not self.steps[-1].seen:
            return ()
        return self.steps[-2].states if len(self.steps) > 1 else self.start

    @property
    def last_played(self) -> int | None:
        """The index of the step that a take-back undoes: the last turn, roll or announcement."""
        return max((index for index, step in enumerate(self.steps) if step.kind != EventKind.CORRECTION), default=None)

    @property
    def corrections_since(self) -> tuple[FoldedStep[StateT], ...]:
        """The corrections after ``last_played``, which a take-back cancels too."""
        return () if self.last_played is None else self.steps[self.last_played + 1 :]


def fold(game: Game[StateT, TurnT], events: Sequence[tuple[int, Event]]) -> Folded[StateT]:
    """Fold one game's (number, event) pairs.

    The engine applies each turn, roll and announcement again. The result must equal the recorded state, which may also
    know more side faces, if they were seen at the same time. A correction sets the state; before the set-up, it serves
    as the set-up. ``take back`` undoes the last turn, roll or announcement that counts, and all corrections after it.
    Raises FoldError with the event's number.
    """
    steps = deque(fold_each(game, events), maxlen=1)
    return steps[0] if steps else Folded()


def fold_each(game: Game[StateT, TurnT], events: Iterable[tuple[int, Event]]) -> Iterator[Folded[StateT]]:
    """Yield the fold after each event; raises FoldError as ``fold`` does."""
    folded: Folded[StateT] = Folded()
    for number, event in events:
        folded = fold_next(game, folded, number, event)
        yield folded


def fold_next(
    game: Game[StateT, TurnT],
    folded: Folded[StateT],
    number: int,
    event: Event,
    states: tuple[StateT, ...] | None = None,
) -> Folded[StateT]:
    """Return the fold after one more event; raises FoldError as ``fold`` does.

    ``states`` are those after an event that was just made from them; it is then not read again.
    """
    try:
        after = _step(game, folded, event, states)
        clock = folded.clock.after(game, event, after.states)
    except EngineError as error:
        raise FoldError(
            "event {number} ({kind}) does not follow from those before it: {error}", number, event.kind, error
        ) from error
    except (FoldError, ClockError) as error:
        raise FoldError("event {number} ({kind}): {error}", number, event.kind, error) from error
    ends = event.kind == EventKind.END
    if event.kind in STATE_CHANGING or ends:
        hints = after.hints if ends else _hints_after(game, folded, event)
        after = replace(after, newest=event.kind, is_ended=ends, hints=hints)
    return replace(
        after,
        last_event=number,
        last_change=number if event.is_change else folded.last_change,
        clock=clock,
        intention=intention_after(folded.intention, event),
        offer=offer_after(folded.offer, event),
    )


def _hints_after(game: Game[StateT, Any], before: Folded[StateT], event: Event) -> Mapping[Player, Event]:
    """Return the hints that still hold after a change: those of the others, where several play at the same time."""
    if event.kind != EventKind.TURN or not all(len(game.rules.players_to_move(state)) > 1 for state in before.states):
        return {}
    return {player: hint for player, hint in before.hints.items() if player != event.data.get("player")}


def intention_after(before: Intention | None, event: Event) -> Intention | None:
    """Return the intention after an event. Turns that other players play at the same time don't change it."""
    if event.kind == EventKind.INTENTION:
        sentence = str(event.data.get("sentence", ""))
        return Intention(str(event.data["player"]), str(event.data["turn"]), sentence, event.texts("places"))
    if before is None or event.kind not in STATE_CHANGING:
        return before
    is_of_another = event.kind == EventKind.TURN and event.data.get("player") != before.player
    return before if is_of_another else None


_ENDS_OFFER = STATE_CHANGING - {EventKind.SET_UP, EventKind.ROLLED} | {EventKind.END}
"""The events that end a draw offer, except turns by the offering player."""


def offer_after(before: Offer | None, event: Event) -> Offer | None:
    """Return the open offer after an event."""
    if event.kind == EventKind.OFFER:
        if event.data["change"] != OFFER_MADE:
            return None
        about, words = event.text("about") or OFFERS_DRAW, event.text("sentence") or ""
        return Offer(str(event.data["player"]), about, words, (event.text(REQUEST) or "").partition(" ")[0])
    if before is None or (event.kind == EventKind.CORRECTION and event.data.get("why") == MISREAD):
        return before
    if before.about == ASKS_TAKE_BACK:
        return None if event.kind in STATE_CHANGING | {EventKind.END} else before
    is_own_turn = event.kind == EventKind.TURN and event.data.get("player") == before.player
    if is_own_turn or event.kind == EventKind.ROLLED:
        return replace(before, is_newest=False)
    return None if event.kind in _ENDS_OFFER else before


def _step(
    game: Game[StateT, TurnT], folded: Folded[StateT], event: Event, states: tuple[StateT, ...] | None
) -> Folded[StateT]:
    if not folded.game and event.kind != EventKind.NEW_GAME:
        raise FoldError("it came before any 'new game'")
    match event.kind:
        case EventKind.NEW_GAME:
            return _new_game(game, folded, event)
        case EventKind.SET_UP:
            return _start(game, folded, states or _states_of(game, event))
        case EventKind.TURN:
            return _played(game, folded, event, EventKind.TURN, str(event.data["turn"]), states)
        case EventKind.ROLLED:
            return _played(game, folded, event, EventKind.ROLLED, str(event.data["roll"]), states)
        case EventKind.ANNOUNCED:
            return _played(game, folded, event, EventKind.ANNOUNCED, str(event.data["announcement"]), states)
        case EventKind.CORRECTION:
            states = states or _states_of(game, event)
            if not folded.started:
                return _start(game, folded, states)
            reason = event.data.get("why")
            why = either(reason, "corrected by {by}: {reason}", "corrected by {by}", by=event.data["by"], reason=reason)
            places = event.texts("places")
            return _after(game, folded, FoldedStep(EventKind.CORRECTION, "", states, why, places=places))
        case EventKind.TAKE_BACK:
            last = folded.last_played
            if last is None:
                raise FoldError("there is no turn to take back")
            undone = replace(folded, steps=folded.steps[:last], fault=None)
            return replace(undone, outcome=_outcome(game, undone.states))
        case EventKind.ILLEGAL:
            return replace(folded, fault=event)
        case EventKind.PUT_RIGHT:
            return replace(folded, fault=None)
        case EventKind.END:
            return replace(folded, outcome=_recorded_outcome(event, folded.outcome))
        case EventKind.HINT_GIVEN:
            return replace(folded, hints={**folded.hints, str(event.data["player"]): event})
        case EventKind.QUESTION | EventKind.NOTE | EventKind.INTENTION | EventKind.CLOCK | EventKind.OFFER:
            return folded


def _new_game(game: Game[StateT, TurnT], folded: Folded[StateT], event: Event) -> Folded[StateT]:
    if folded.game:
        raise FoldError("a second 'new game' among one game's events; fold each game by itself")
    name = str(event.data["game"])
    if name != game.name:
        raise FoldError("it is a game of {name}; expected {expected}", name, game.name)
    options = event.data.get("options") or {}
    if not isinstance(options, dict) or not all(isinstance(value, str | int) for value in options.values()):
        raise FoldError("its options are {options!r}; expected names with texts, numbers, true or false", options)
    return replace(
        folded,
        game=name,
        options={key: value for key, value in options.items() if isinstance(value, str | int)},
        names=event.names,
        without_hints=event.data.get("hints") == "none",
    )


def _start(game: Game[StateT, TurnT], folded: Folded[StateT], states: tuple[StateT, ...]) -> Folded[StateT]:
    return replace(folded, start=states, steps=(), fault=None, outcome=_outcome(game, states))


def _played(
    game: Game[StateT, TurnT],
    folded: Folded[StateT],
    event: Event,
    kind: PlayedKind,
    text: str,
    states: tuple[StateT, ...] | None,
) -> Folded[StateT]:
    if not folded.states:
        raise FoldError("{name} before the set-up", _NAMES[kind])
    who = parse_announcement(text, game.players).player if kind == EventKind.ANNOUNCED else event.text("player")
    states = states or _checked_states(game, folded, event, kind, text, who)
    by, seen = str(event.data.get("by", "")), event.data.get("source") == SEEN
    return _after(game, folded, FoldedStep(kind, text, states, player=who, by=by, seen=seen))


def _checked_states(
    game: Game[StateT, TurnT], folded: Folded[StateT], event: Event, kind: PlayedKind, text: str, who: Player | None
) -> tuple[StateT, ...]:
    """Apply a step through the engine, check that the result is the recorded state, and return that."""
    reached: list[StateT] = []
    refusals: list[EngineError] = []
    for state in folded.states:
        try:
            reached.append(after_step(game, state, read_step(game, state, kind, text, who)))
        except EngineError as error:
            refusals.append(error)
    if not reached:
        raise refusals[0]
    recorded = _states_of(game, event)
    for state in recorded:
        if not any(agrees(game, state, after) for after in reached):
            raise FoldError(
                "after {text} the journal has {state!r}, the rules give {afters}",
                text,
                game.notation.format_state(state),
                " or ".join(repr(game.notation.format_state(after)) for after in reached),
            )
    return recorded


def _after(game: Game[StateT, TurnT], folded: Folded[StateT], step: FoldedStep[StateT]) -> Folded[StateT]:
    return replace(folded, steps=(*folded.steps, step), outcome=_outcome(game, step.states), fault=None)


def agrees(game: Game[StateT, TurnT], recorded: StateT, after: StateT) -> bool:
    """Whether the recorded state equals ``after``, or equals it except for more known side faces."""
    if recorded == after:
        return True
    if game.table.appearance(recorded) != game.table.appearance(after):
        return False
    if game.side_faces is None:
        return False
    possible = game.side_faces.facings(after)
    known = game.side_faces.facings(recorded)
    is_narrower = (
        bool(possible)
        and known.keys() == possible.keys()
        and all(facing in possible[place] for place, facings in known.items() for facing in facings)
    )
    return is_narrower and (
        recorded.to_move == after.to_move or _shows_who_is_blocked(game.side_faces, recorded, after)
    )


def _shows_who_is_blocked(side_faces: SideFaces[StateT], recorded: StateT, after: StateT) -> bool:
    """Whether the recorded state's side faces show that the player to move in ``after`` is blocked and must pass."""
    sightings = {
        place: dict(set.intersection(*(set(facing.items()) for facing in facings)))
        for place, facings in side_faces.facings(recorded).items()
    }
    try:
        return side_faces.narrow(after, sightings).to_move == recorded.to_move
    except ContradictionError:
        return False


def _states_of(game: Game[StateT, TurnT], event: Event) -> tuple[StateT, ...]:
    value: JsonValue = event.data["state"]
    texts = value if isinstance(value, list) else [value]
    if not texts or not all(isinstance(text, str) for text in texts):
        raise FoldError("its state is {value!r}; expected a state's text or a list of them", value)
    return tuple(game.notation.parse_state(str(text)) for text in texts)


def _recorded_outcome(event: Event, by_rules: Outcome | None) -> Outcome:
    """Return the outcome that an ``end`` event records: the rules' own, perhaps for another reason, if it agrees."""
    winner = None if event.data["winner"] is None else str(event.data["winner"])
    reason, shared_by = str(event.data["reason"]), event.texts("shared_by")
    if by_rules is not None and (by_rules.winner, by_rules.shared_by) == (winner, shared_by):
        return replace(by_rules, reason=reason)
    kind = OutcomeKind.STOPPED if reason == STOPPED else OutcomeKind.RESULT
    return Outcome(winner, reason, shared_by, kind)


def _outcome(game: Game[StateT, TurnT], states: tuple[StateT, ...]) -> Outcome | None:
    outcomes = [game.rules.outcome(state) for state in states]
    return outcomes[0] if all(outcome == outcomes[0] for outcome in outcomes) else None


def read_step(game: Game[Any, Any], state: Any, kind: PlayedKind, text: str, player: Player | None = None) -> Any:
    """Parse a turn, a Roll or an Announcement from an event of that kind; raises EngineError.

    ``player`` is the turn's player if several may play. Whether the player may play now is left to the rules.
    """
    match kind:
        case EventKind.TURN:
            who = player if player in game.rules.players_to_move(state) else None
            return game.notation.parse_turn(state, text, who)
        case EventKind.ROLLED:
            return game.dice_for(text).parse_roll(state, text)
        case EventKind.ANNOUNCED:
            return parse_announcement(text, game.players)


def after_step(game: Game[Any, Any], state: Any, step: Any) -> Any:
    """Return the state after a turn, a Roll or an Announcement; raises EngineError."""
    if isinstance(step, Roll):
        return game.dice_for(format_roll(step)).rolled(state, step)
    if isinstance(step, Announcement):
        return game.rules.announce(state, step)
    return game.rules.apply(state, step)
