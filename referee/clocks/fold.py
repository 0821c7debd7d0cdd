"""Computes a game's clock from its events, both live and after a restart."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
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


class ClockFold:
    """Follows one game's clock, event by event; ``clock`` is ``None`` before the set-up and in a game without one.

    Time passes only while the referee runs: the time between its last event and a ``restarted`` event counts for no
    player. An event without a time takes none.
    """

    def __init__(self, game: Game[Any, Any]) -> None:
        self._game = game
        self._control: TimeControl | None = None
        self._before: list[Clock] = []
        self._switched: Clock | None = None
        """The clock after the newest of the ``_SWITCHING`` events; its own changes since then are ``_changes``."""
        self._changes: list[tuple[Event, float]] = []
        self.clock: Clock | None = None
        self.latest_s = -math.inf
        """The newest time of any event so far."""

    @classmethod
    def of(cls, game: Game[Any, Any], events: Iterable[tuple[int, Event]]) -> ClockFold:
        """Fold one game's (number, event) pairs."""
        folded = cls(game)
        for _, event in events:
            folded.take(event)
        return folded

    @property
    def is_agreed(self) -> bool:
        """Whether this game is played with a clock."""
        return self._control is not None

    def face(self, time_s: float) -> ClockFace | None:
        """Return what the clock shows at a time, or at the newest event if that is later."""
        return None if self.clock is None else self.clock.face(max(time_s, self.latest_s))

    def take(self, event: Event) -> None:
        """Process the game's next event; raises ClockError for a clock that can't be read."""
        if event.kind == EventKind.NEW_GAME:
            self._control, self.clock, self._before = recorded_control(event.data), None, []
            self.latest_s = -math.inf
        if self._control is None:
            return
        if event.data.get("change") == ClockChange.RESTARTED and event.frame_time_s is not None:
            # Let time pass until the newest event before the restart, and again from this one.
            if self.clock is not None:
                self.clock = replace(self.clock.at(self.latest_s), since_s=event.frame_time_s)
            self.latest_s = event.frame_time_s
            self._switched, self._changes = self.clock, []
            return
        time_s = event.frame_time_s
        if time_s is None or (self.clock is not None and time_s < self.clock.since_s):
            # Entered while no referee ran, or before the first frame after a restart: it takes no time.
            time_s = max(self.latest_s, 0.0 if self.clock is None else self.clock.since_s)
        if event.kind == EventKind.CLOCK:
            self._changed(event, time_s)
            self._changes.append((event, time_s))
        elif "state" in event.data:
            self._switch_clock(event, time_s, self._control)
        elif event.kind == EventKind.TAKE_BACK and self._before and self.clock is not None:
            self.clock = replace(self._before.pop(), since_s=time_s, pauses=self.clock.pauses)
        elif event.kind == EventKind.END and self.clock is not None:
            self.clock = self.clock.switch(time_s, ())
        if event.kind in _SWITCHING:
            self._switched, self._changes = self.clock, []
        self.latest_s = max(self.latest_s, time_s)

    def _switch_clock(self, event: Event, time_s: float, control: TimeControl) -> None:
        states = [self._game.notation.parse_state(text) for text in _texts(event.data["state"])]
        later: list[tuple[Event, float]] = []
        if self.clock is None or event.kind == EventKind.SET_UP:
            self.clock, self._before = Clock.full(control, who_plays(self._game, states[0]), time_s), []
        elif event.kind != EventKind.CORRECTION:
            complete_s = event.data.get(COMPLETE_S)
            time_s = min(float(complete_s), time_s) if isinstance(complete_s, int | float) else time_s
            later = self._rewind(time_s)
            self._before.append(self.clock.at(time_s))
        finished = str(event.data.get("player")) if event.kind == EventKind.TURN else None
        clock = self.clock.switch(time_s, self._whose_time(states), finished)
        self.clock = replace(clock, retired=self._retired(clock, states))
        for change, changed_s in later:
            self._changed(change, changed_s)

    def _rewind(self, time_s: float) -> list[tuple[Event, float]]:
        """Return to the clock at a time since the last turn. Returns the changes after it, to be made again."""
        later = [(change, changed_s) for change, changed_s in self._changes if changed_s > time_s]
        if later:
            self.clock = self._switched
            for change, changed_s in self._changes[: -len(later)]:
                self._changed(change, changed_s)
        return later

    def _whose_time(self, states: list[Any]) -> tuple[Player, ...]:
        """Return the players whose time runs: none while it is open who starts, and none after the end."""
        rules = self._game.rules
        movers = {tuple(rules.players_to_move(state)) for state in states if rules.outcome(state) is None}
        return movers.pop() if len(movers) == 1 else ()

    def _retired(self, clock: Clock, states: list[Any]) -> tuple[Player, ...]:
        """Return the players who can't even resign any more; nobody after the end."""
        playing = {player for state in states for player in who_plays(self._game, state)} | {*clock.running}
        return tuple(player for player in clock.remaining_s if player not in playing)

    def _changed(self, event: Event, time_s: float) -> None:
        """Process a ``clock`` event."""
        clock, data = self.clock, event.data
        if clock is None:
            return
        match ClockChange(str(data["change"])):
            case ClockChange.PAUSED:
                self.clock = replace(clock.at(time_s), pauses=clock.pauses | {PauseReason(str(data["why"]))})
            case ClockChange.WENT_ON:
                self.clock = replace(clock.at(time_s), pauses=clock.pauses - {PauseReason(str(data["why"]))})
            case ClockChange.FLAG_FELL:
                self.clock = replace(clock.at(time_s), fallen=(*clock.fallen, str(data["player"])))
            case ClockChange.SET:
                left = _seconds(data["remaining_s"])
                fallen = tuple(player for player in left if left[player] <= 0)
                self.clock = replace(clock.at(time_s), remaining_s=left, fallen=fallen)
                # Taking back a turn from before gives nobody more than this.
                self._before = [replace(earlier, remaining_s=left, fallen=fallen) for earlier in self._before]
            case ClockChange.RAN | ClockChange.RESTARTED:
                pass


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


def _texts(value: JsonValue) -> list[str]:
    return [str(text) for text in value] if isinstance(value, list) else [str(value)]


def _seconds(value: JsonValue) -> dict[Player, float]:
    if not isinstance(value, dict) or not all(isinstance(left, int | float) for left in value.values()):
        raise ClockError(f"the journal sets the clock to {value!r}; expected seconds by player")
    return {player: float(str(left)) for player, left in value.items()}
