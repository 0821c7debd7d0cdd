"""What came from the board and waits for its user: bounded. Not thread-safe: under the connection's lock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from firmware_bridge.connection_events import (
    BoardEvent,
    ButtonMoved,
    EventsDropped,
    LogLine,
    SensorsReported,
    SwitchChanged,
)

_MOST_EVENTS = 256
_MOST_CHANGES = 256


class EventQueue:
    """Events until somebody takes them, in order of arrival.

    When it is full, room is made by what is missed least: lines of the log, then older sensor reports, whose changes
    move into the next report, then other news, and presses last. What is dropped is counted and told by an
    ``EventsDropped`` in front of the next events taken.
    """

    def __init__(self, most: int = _MOST_EVENTS, most_changes: int = _MOST_CHANGES) -> None:
        if most < 2:
            raise ValueError(f"room for {most} events; expected 2 at least")
        self._most = most
        self._most_changes = most_changes
        self._events: list[BoardEvent] = []
        self._lost_presses = 0
        self._lost_others = 0

    def __len__(self) -> int:
        return len(self._events)

    def put(self, event: BoardEvent) -> None:
        """Add an event, and make room for it if there is none."""
        self._events.append(event)
        if len(self._events) > self._most:
            self._make_room()

    def take(self) -> tuple[BoardEvent, ...]:
        """Give all events since the last time, and forget them."""
        events, self._events = self._events, []
        if self._lost_presses or self._lost_others:
            events.insert(0, EventsDropped(events[0].time_s, self._lost_presses, self._lost_others))
            self._lost_presses = self._lost_others = 0
        return tuple(events)

    def _make_room(self) -> None:
        line = self._first(lambda event: isinstance(event, LogLine))
        if line is not None:
            self._lost_others += 1
            del self._events[line]
            return
        reports = [index for index, event in enumerate(self._events) if isinstance(event, SensorsReported)]
        if len(reports) > 1:
            self._merge(reports[0], reports[1])
            return
        other = self._first(lambda event: not isinstance(event, ButtonMoved | SensorsReported))
        if other is not None:
            self._lost_others += 1
            del self._events[other]
            return
        self._lost_presses += 1
        del self._events[self._first(lambda event: isinstance(event, ButtonMoved)) or 0]

    def _merge(self, older: int, newer: int) -> None:
        first, second = self._events[older], self._events[newer]
        if not isinstance(first, SensorsReported) or not isinstance(second, SensorsReported):
            raise AssertionError("only sensor reports are merged")
        self._events[newer] = replace(second, changes=self._cut(first.changes + second.changes))
        del self._events[older]

    def _cut(self, changes: tuple[SwitchChanged, ...]) -> tuple[SwitchChanged, ...]:
        # The report itself says how every switch is now, so what is cut is history only.
        return changes[-self._most_changes :]

    def _first(self, fits: Callable[[BoardEvent], bool]) -> int | None:
        return next((index for index, event in enumerate(self._events) if fits(event)), None)
