"""Hardware's errors, each also the built-in exception it resembles, and the record of a device's faults.

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
    """Root of this package's errors."""


class PinError(HardwareError, ValueError):
    """A pin that cannot be used; the message names it and what to do."""


class SettingError(HardwareError, ValueError):
    """A setting with an invalid value; the message lists what is allowed."""


class MapFileError(HardwareError, OSError):
    """A file with a map of lights or switches that can't be read or written; the message says why and what to do."""


class DriverError(HardwareError, OSError):
    """A driver that failed."""


@dataclass(frozen=True)
class Fault:
    """A device's fault: the message, its beginning (monotonic seconds), and the number of failed attempts."""

    device: str
    message: str
    since_s: float
    attempts: int


@dataclass
class FaultRecord:
    """The faults of one device: the present one, if any, and when to try the device again."""

    device: str
    backoff: Backoff = field(default_factory=Backoff)
    fault: Fault | None = None

    def failed(self, message: str, time_s: float) -> None:
        """Note a failed attempt; a lasting fault keeps its beginning."""
        since_s = time_s if self.fault is None else self.fault.since_s
        self.backoff = self.backoff.failed(time_s)
        self.fault = Fault(self.device, message, since_s, self.backoff.failures)

    def worked(self, time_s: float) -> None:
        """Note that the device works again."""
        self.backoff = self.backoff.worked(time_s)
        self.fault = None
