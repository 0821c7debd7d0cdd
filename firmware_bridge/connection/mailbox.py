"""The state shared by the connection's thread and its users, under one lock: requests in, events out.

The queue of events is bounded; the least important ones are dropped first and counted.
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
)
from firmware_bridge.connection.outages import Outage
from firmware_bridge.ports.serial_ports import SerialPort
from firmware_bridge.protocol.messages import Configure, LightFrame, Snapshot, Sound, Welcome


@dataclass(frozen=True)
class Requests:
    """The requests since the last call; ``None`` where there are none. Only the newest of each counts."""

    lights: LightFrame | None = None
    settings: Configure | None = None
    sound: Sound | None = None
    snapshot: Snapshot | None = None
    leave: bool = False


@dataclass(frozen=True)
class ConnectionStatus:
    """The connection's state at one moment, as visible to users."""

    state: ConnectionState = ConnectionState.CLOSED
    port: SerialPort | None = None
    welcome: Welcome | None = None
    outage: Outage | None = None
    last_heard_s: float | None = None


class Mailbox:
    """Passes requests from users to the thread, and events from the thread to users."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._requests = Requests()
        self._is_closing = False
        self._has_ended = False
        self._status = ConnectionStatus()
        self._events = EventQueue()

    # the users' side

    def request(self, amend: Callable[[Requests], Requests]) -> None:
        """Amend the requests."""
        with self._changed:
            self._requests = amend(self._requests)

    def ask_to_close(self) -> None:
        """Request the thread's end."""
        with self._changed:
            self._is_closing = True

    @property
    def status(self) -> ConnectionStatus:
        """The newest status."""
        with self._changed:
            return self._status

    def take_events(self) -> tuple[BoardEvent, ...]:
        """Return the events since the last call."""
        with self._changed:
            return self._events.take()

    @property
    def has_events(self) -> bool:
        """Whether there are events."""
        with self._changed:
            return len(self._events) > 0

    def wait_for(self, condition: Callable[[], bool], timeout_s: float) -> bool:
        """Wait until events make the condition true, or the thread ends; returns whether it is true."""
        # evaluated only once each time, since the condition may consume what it looks at
        holds = False

        def is_over() -> bool:
            nonlocal holds
            holds = condition()
            return holds or self._has_ended

        with self._changed:
            self._changed.wait_for(is_over, timeout_s)
        return holds

    # the thread's side

    @property
    def is_closing(self) -> bool:
        """Whether the thread should end."""
        with self._changed:
            return self._is_closing

    def take_requests(self) -> Requests:
        """Return the requests since the last call."""
        with self._changed:
            requests, self._requests = self._requests, Requests()
            return requests

    def publish(self, events: Iterable[BoardEvent], status: ConnectionStatus) -> None:
        """Add events, and set the status after them."""
        with self._changed:
            for event in events:
                self._events.put(event)
            self._status = status
            self._changed.notify_all()

    def end(self) -> None:
        """Note that the thread has ended."""
        with self._changed:
            self._has_ended = True
            self._status = replace(self._status, state=ConnectionState.CLOSED, port=None, welcome=None)
            self._changed.notify_all()


_MAX_EVENTS = 256
_MAX_CHANGES = 256


class EventQueue:
    """Events in order of arrival, until they are polled.

    When it is full, the least important ones make room: lines of the log, then older sensor reports, whose changes move
    into the next report, then other events, and presses last. Dropped events are counted in an ``EventsDropped`` before
    the next events.
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
        """Add an event, making room if necessary."""
        self._events.append(event)
        if len(self._events) > self._most:
            self._make_room()

    def take(self) -> tuple[BoardEvent, ...]:
        """Return and remove all events."""
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
        reports = [(index, event) for index, event in enumerate(self._events) if isinstance(event, SensorsReported)]
        if len(reports) > 1:
            (older, first), (newer, second) = reports[:2]
            # the newer report contains the state of every switch, so only history is cut
            changes = (first.changes + second.changes)[-self._most_changes :]
            self._events[newer] = replace(second, changes=changes)
            del self._events[older]
            return
        other = self._first(lambda event: not isinstance(event, ButtonChanged | SensorsReported))
        if other is not None:
            self._lost_others += 1
            del self._events[other]
            return
        self._lost_presses += 1
        del self._events[self._first(lambda event: isinstance(event, ButtonChanged)) or 0]

    def _first(self, fits: Callable[[BoardEvent], bool]) -> int | None:
        return next((index for index, event in enumerate(self._events) if fits(event)), None)
