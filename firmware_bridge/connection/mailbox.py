"""The state shared by the connection's thread and its users, under one lock: requests in, events out.

The queue of events is bounded: the oldest make room, those that a link begins or ends with last, and presses among
them are counted.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from common.backoff import doubled_wait_s
from common.phrases import Phrase, either
from firmware_bridge.connection.events import (
    BoardEvent,
    ButtonPressed,
    ConnectionState,
    Linked,
    Lost,
    PressesDropped,
)
from firmware_bridge.errors import (
    BridgeError,
    ConnectionLostError,
    NoFirmwareError,
    PortDeniedError,
    PortGoneError,
    PortMissingError,
    PortTakenError,
    PortUnusableError,
    SilentDeviceError,
    VersionError,
    WrongDeviceError,
)
from firmware_bridge.ports.serial_ports import SerialPort
from firmware_bridge.protocol.messages import BoardSettings, ResetCause, Tone, Welcome

_ABSENT = (PortGoneError, PortMissingError, ConnectionLostError)
_TRANSIENT = (PortDeniedError, PortTakenError, PortUnusableError)
"""Errors that may pass by themselves.

A port that was just plugged in may not be ready, belongs to root until udev has changed that, and is opened by programs
that look for modems.
"""
_TRANSIENT_ATTEMPTS = 4
"""Number of attempts after which such an error is taken to stay: about two seconds. Set by hand."""
_ABSENT_LONGEST_S = 2.0  # longest wait for a device that is not there; looking is cheap
_FIRST_RETRY_S = 0.25  # first wait after a failure, doubled each time; set by hand
_LONGEST_RETRY_S = 10.0  # longest wait after a failure; set by hand
# Each opening may reset a foreign device, so one that is certainly not the board is rarely tried again.
_FOREIGN_RETRY_S = 60.0
_OTHER_VERSION_RETRY_S = 10.0  # a board of another version stays one until somebody installs; set by hand
_TRUSTED_AFTER_S = 60.0  # without a failure for so long, waits begin anew; set by hand
_REPORTED_AFTER_S = 5.0  # shorter outages are not reported; set by hand


@dataclass(frozen=True)
class Outage:
    """Why the board is away: the reason in words, its beginning (monotonic seconds), attempts, and last error."""

    message: str
    since_s: float
    attempts: int
    error: BridgeError

    def __str__(self) -> str:
        """The reason in words."""
        return self.message

    @property
    def may_pass(self) -> bool:
        """Whether this may pass by itself: a port may be taken, or not ready, for the first few attempts."""
        return isinstance(self.error, _TRANSIENT) and self.attempts < _TRANSIENT_ATTEMPTS


class OutageTracker:
    """Remembers the present fault, ``None`` while the board answers, and makes sure that it is reported once.

    Each kind of fault is reported once while it lasts. A board that disconnects repeatedly, like a loose contact, is
    reported the first time, and again only when it stays away for some seconds or had worked for a minute.
    """

    def __init__(self) -> None:
        self.current: Outage | None = None
        self._reported: set[str] = set()
        self._is_loss_reported = False
        self._has_worked = False
        self._failures = 0
        self._working_since_s: float | None = None
        self.retry_at_s = 0.0
        self._restart_reported_s: float | None = None

    @property
    def attempts(self) -> int:
        """Number of failed attempts since the board last answered."""
        return 0 if self.current is None else self.current.attempts

    def failed(self, error: BridgeError, now_s: float) -> str | None:
        """Note why an attempt failed or an answering board was lost; returns the message to show, if any."""
        if self._working_since_s is not None and now_s - self._working_since_s >= _TRUSTED_AFTER_S:
            self._failures = 0
            self._reported.clear()
        self._working_since_s = None
        self._failures += 1
        self.retry_at_s = now_s + _retry_after_s(error, self._failures)
        is_first = self.current is None or type(self.current.error) is not type(error)
        if self.current is None:
            self.current = Outage(str(error), now_s, 1, error)
        else:
            self.current = replace(self.current, message=str(error), attempts=self.current.attempts + 1, error=error)
        return None if is_first and isinstance(error, _TRANSIENT) else self._announcement(error, now_s)

    def worked(self, now_s: float, where: str, cause: int | None = None) -> str | None:
        """Note that the board answers on the port ``where``; returns the message to show, if any.

        ``cause`` is why it restarted meanwhile, if it did.
        """
        is_again, self._has_worked = self._has_worked, True
        self.current = None
        if self._working_since_s is None:
            self._working_since_s = now_s
        if not self._is_loss_reported:
            return None
        self._is_loss_reported = False
        if not is_again:
            return Phrase("the board answers now, on {where}", where)
        return either(
            cause == ResetCause.WATCHDOG,
            "the board answers again, on {where} (it had hung, and restarted itself); lights and "
            "settings are as before",
            "the board answers again, on {where}; lights and settings are as before",
            where,
        )

    def restarted(self, now_s: float, where: str, cause: int) -> str | None:
        """Note that the board restarted by itself; returns the message to show, if any."""
        if self._restart_reported_s is not None and now_s - self._restart_reported_s < _TRUSTED_AFTER_S:
            return None
        self._restart_reported_s = now_s
        return either(
            cause == ResetCause.WATCHDOG,
            "the board on {where} restarted by itself, because it had hung; lights and settings are as before",
            "the board on {where} restarted by itself; lights and settings are as before",
            where,
        )

    def _announcement(self, error: BridgeError, now_s: float) -> str | None:
        kind = "absent" if isinstance(error, _ABSENT) else str(error)
        is_long = (
            self.current is not None
            and now_s - self.current.since_s >= _REPORTED_AFTER_S
            and not self._is_loss_reported
        )
        if kind in self._reported and not is_long:
            return None
        self._reported.add(kind)
        self._is_loss_reported = True
        return str(error)


def is_foreign(error: BridgeError) -> bool:
    """Return whether a device is certainly not the board."""
    return isinstance(error, WrongDeviceError) and not isinstance(error, NoFirmwareError | SilentDeviceError)


def _retry_after_s(error: BridgeError, failures: int) -> float:
    if isinstance(error, VersionError):
        return _OTHER_VERSION_RETRY_S
    if is_foreign(error):
        return _FOREIGN_RETRY_S
    longest_s = _ABSENT_LONGEST_S if isinstance(error, _ABSENT) else _LONGEST_RETRY_S
    return doubled_wait_s(_FIRST_RETRY_S, longest_s, failures)


@dataclass(frozen=True)
class Requests:
    """The requests since the last call; ``None`` where there are none. Only the newest of each counts."""

    colours: bytes | None = None
    settings: BoardSettings | None = None
    tones: tuple[Tone, ...] | None = None
    leave: bool = False


@dataclass(frozen=True)
class ConnectionStatus:
    """The connection's state at one moment, as visible to users."""

    state: ConnectionState = ConnectionState.CLOSED
    port: SerialPort | None = None
    welcome: Welcome | None = None
    outage: Outage | None = None
    last_heard_s: float | None = None


MOST_EVENTS = 256
"""Most events that wait for a slow reader; set by hand."""


class Mailbox:
    """Passes requests from users to the thread, and events from the thread to users."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._requests = Requests()
        self._is_closing = False
        self._has_ended = False
        self._status = ConnectionStatus()
        self._events: deque[BoardEvent] = deque()
        self._dropped_presses = 0

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
            events = tuple(self._events)
            if self._dropped_presses:
                events = (PressesDropped(events[0].time_s, self._dropped_presses), *events)
            self._events.clear()
            self._dropped_presses = 0
            return events

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
                if len(self._events) == MOST_EVENTS:
                    self._make_room()
                self._events.append(event)
            self._status = status
            self._changed.notify_all()

    def _make_room(self) -> None:
        oldest = (at for at, event in enumerate(self._events) if not isinstance(event, Linked | Lost))
        at = next(oldest, 0)
        match self._events[at]:
            case ButtonPressed():
                self._dropped_presses += 1
            case PressesDropped(presses=presses):
                self._dropped_presses += presses
        del self._events[at]

    def end(self) -> None:
        """Note that the thread has ended."""
        with self._changed:
            self._has_ended = True
            self._status = replace(self._status, state=ConnectionState.CLOSED, port=None, welcome=None)
            self._changed.notify_all()
