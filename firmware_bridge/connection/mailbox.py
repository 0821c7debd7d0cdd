"""What the connection's thread and its users share, under one lock: requests in, events out.

Events that nobody takes are bounded; the least important are dropped first and counted.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from firmware_bridge.connection.events import (
    BoardEvent,
    ButtonChanged,
    ConnectionState,
    EventsDropped,
    LogLine,
    SensorsReported,
    SwitchChanged,
)
from firmware_bridge.connection.outages import Outage
from firmware_bridge.ports.serial_ports import SerialPort
from firmware_bridge.protocol.messages import Configure, LightFrame, Snapshot, Sound, Welcome


@dataclass(frozen=True)
class Requests:
    """What was asked for since the last time; ``None`` where nothing was. Of each only the newest counts."""

    lights: LightFrame | None = None
    settings: Configure | None = None
    sound: Sound | None = None
    snapshot: Snapshot | None = None
    leave: bool = False


@dataclass(frozen=True)
class ConnectionStatus:
    """How things stand: what a user may see of the connection at one moment."""

    state: ConnectionState = ConnectionState.CLOSED
    port: SerialPort | None = None
    welcome: Welcome | None = None
    outage: Outage | None = None
    last_heard_s: float | None = None


class Mailbox:
    """Takes requests from users and hands events to them; the thread takes the requests and brings the events."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._requests = Requests()
        self._is_closing = False
        self._has_ended = False
        self._status = ConnectionStatus()
        self._events = EventQueue()

    # The users' side.

    def request(self, amend: Callable[[Requests], Requests]) -> None:
        """Amend what is asked for."""
        with self._changed:
            self._requests = amend(self._requests)

    def ask_to_close(self) -> None:
        """Ask the thread to end."""
        with self._changed:
            self._is_closing = True

    @property
    def status(self) -> ConnectionStatus:
        """How things stand."""
        with self._changed:
            return self._status

    def take_events(self) -> tuple[BoardEvent, ...]:
        """Give the events since the last time."""
        with self._changed:
            return self._events.take()

    @property
    def has_events(self) -> bool:
        """Whether there are any."""
        with self._changed:
            return len(self._events) > 0

    def wait_for(self, condition: Callable[[], bool], timeout_s: float) -> bool:
        """Wait for events after which the condition holds, or for the thread's end; say whether it holds."""
        # Asked once each time, since it may take what it looks at.
        holds = False

        def is_over() -> bool:
            nonlocal holds
            holds = condition()
            return holds or self._has_ended

        with self._changed:
            self._changed.wait_for(is_over, timeout_s)
        return holds

    # The thread's side.

    @property
    def is_closing(self) -> bool:
        """Whether the thread is to end."""
        with self._changed:
            return self._is_closing

    def take_requests(self) -> Requests:
        """Give what was asked for since the last time."""
        with self._changed:
            requests, self._requests = self._requests, Requests()
            return requests

    def publish(self, events: Iterable[BoardEvent], status: ConnectionStatus) -> None:
        """Bring events, and how things stand after them."""
        with self._changed:
            for event in events:
                self._events.put(event)
            self._status = status
            self._changed.notify_all()

    def end(self) -> None:
        """Say that the thread has ended."""
        with self._changed:
            self._has_ended = True
            self._status = replace(self._status, state=ConnectionState.CLOSED, port=None, welcome=None)
            self._changed.notify_all()


_MAX_EVENTS = 256
_MAX_CHANGES = 256


class EventQueue:
    """Events until somebody takes them, in order of arrival.

    When it is full, room is made by what is missed least: lines of the log, then older sensor reports, whose changes
    move into the next report, then other news, and presses last. What is dropped is counted and told by an
    ``EventsDropped`` in front of the next events taken.
    """

    def __init__(self, most: int = _MAX_EVENTS, most_changes: int = _MAX_CHANGES) -> None:
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
        other = self._first(lambda event: not isinstance(event, ButtonChanged | SensorsReported))
        if other is not None:
            self._lost_others += 1
            del self._events[other]
            return
        self._lost_presses += 1
        del self._events[self._first(lambda event: isinstance(event, ButtonChanged)) or 0]

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
