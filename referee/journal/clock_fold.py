"""A game's clock as a fold over its events, and the events that change it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from common.phrases import Phrase, capitalized
from engine.api import Game
from engine.support.players import who_plays
from engine.values import Player
from referee.clocks.clock import Clock, ClockFace, PauseReason
from referee.clocks.control import TimeControl, recorded_control
from referee.errors import ClockError
from referee.journal.events import STATE_CHANGING, Event, EventKind, JsonValue

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
        raise ClockError(f"the journal sets the clock to {value!r}; expected seconds by player")
    return {player: float(str(left)) for player, left in value.items()}
