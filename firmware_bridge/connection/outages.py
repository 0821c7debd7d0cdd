"""Why the board is away: which messages to show and when, and when to try again. Pure: time is passed in."""

from __future__ import annotations

from dataclasses import dataclass, replace

from common.backoff import doubled_wait_s
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
from firmware_bridge.protocol.link import REFUSED_RETRY_S
from firmware_bridge.protocol.messages import ResetCause

_ABSENT = (PortGoneError, PortMissingError, ConnectionLostError)
_TRANSIENT = (PortDeniedError, PortTakenError, PortUnusableError)
"""Errors that may pass by themselves.

A port that was just plugged in may not be ready, belongs to root until udev has changed that, and is opened by programs
that look for modems.
"""
_TRANSIENT_ATTEMPTS = 4
"""Number of attempts after which such an error is taken to stay: about two seconds. Set by hand."""
_ABSENT_LONGEST_S = 2.0
_FIRST_RETRY_S = 0.25
_LONGEST_RETRY_S = 10.0
# Each opening may reset a foreign device, so one that is certainly not the board is rarely tried again.
_FOREIGN_RETRY_S = 60.0
_TRUSTED_AFTER_S = 60.0
_REPORTED_AFTER_S = 5.0


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
    """Remembers the present fault, and makes sure that it is reported once.

    Each kind of fault is reported once while it lasts. A board that disconnects repeatedly, like a loose contact, is
    reported the first time, and again only when it stays away for some seconds or had worked for a minute.

    Attributes:
        current: the present fault; ``None`` while the board answers, or before the first attempt.
        retry_at_s: when to try again.
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
            return f"the board answers now, on {where}"
        meanwhile = " (it had hung, and restarted itself)" if cause == ResetCause.WATCHDOG else ""
        return f"the board answers again, on {where}{meanwhile}; lights and settings are as before"

    def restarted(self, now_s: float, where: str, cause: int) -> str | None:
        """Note that the board restarted by itself; returns the message to show, if any."""
        if self._restart_reported_s is not None and now_s - self._restart_reported_s < _TRUSTED_AFTER_S:
            return None
        self._restart_reported_s = now_s
        because = ", because it had hung" if cause == ResetCause.WATCHDOG else ""
        return f"the board on {where} restarted by itself{because}; lights and settings are as before"

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
        return REFUSED_RETRY_S
    if is_foreign(error):
        return _FOREIGN_RETRY_S
    longest_s = _ABSENT_LONGEST_S if isinstance(error, _ABSENT) else _LONGEST_RETRY_S
    return doubled_wait_s(_FIRST_RETRY_S, longest_s, failures)
