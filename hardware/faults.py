"""What is wrong with a device that may come back: since when, and when it is tried again."""

from __future__ import annotations

from dataclasses import dataclass, field

from common.backoff import Backoff


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
