"""Hardware's errors, each also the builtin it resembles, and what is wrong with a device that may come back.

HardwareError
├── PinError     (ValueError)   a pin that does not exist, is taken, or is named twice
├── SettingError (ValueError)   a setting that names something there is not
├── MapFileError (OSError)      a light or switch map that can't be read or written
└── DriverError  (OSError)      a driver that could not show a signal or read a button
"""

from __future__ import annotations

from dataclasses import dataclass, field

from common.backoff import Backoff


class HardwareError(Exception):
    """Root of every error of this package."""


class PinError(HardwareError, ValueError):
    """A pin that cannot be used; the message names it and what to do."""


class SettingError(HardwareError, ValueError):
    """A setting that names something there is not; the message lists what is allowed."""


class MapFileError(HardwareError, OSError):
    """A file with a map of lights or switches that can't be read or written; the message says why and what to do."""


class DriverError(HardwareError, OSError):
    """A driver that could not do what it was asked."""


@dataclass(frozen=True)
class Fault:
    """What is wrong with which device, since when (monotonic seconds), and how many attempts failed so far."""

    device: str
    message: str
    since_s: float
    attempts: int


@dataclass
class FaultRecord:
    """The faults of one device: the one that lasts, if any, and when the device may be tried again."""

    device: str
    backoff: Backoff = field(default_factory=Backoff)
    fault: Fault | None = None

    def failed(self, message: str, time_s: float) -> None:
        """Note a failed attempt; a fault that lasts keeps its beginning."""
        since_s = time_s if self.fault is None else self.fault.since_s
        self.backoff = self.backoff.failed(time_s)
        self.fault = Fault(self.device, message, since_s, self.backoff.failures)

    def worked(self, time_s: float) -> None:
        """Note that it works again: there is no fault any more."""
        self.backoff = self.backoff.worked(time_s)
        self.fault = None
