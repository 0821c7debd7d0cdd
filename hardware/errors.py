"""Hardware's errors, each also the built-in exception it resembles."""

from common.phrases import SpokenError


class HardwareError(SpokenError):
    """Root of this package's errors."""


class PinError(HardwareError, ValueError):
    """A pin that cannot be used; the message names it and what to do."""


class SettingError(HardwareError, ValueError):
    """A setting with an invalid value; the message lists what is allowed."""


class MapFileError(HardwareError, OSError):
    """A light map whose file can't be read or written; the message says why and what to do."""


class DriverError(HardwareError, OSError):
    """A driver that failed."""


def part_and_reason(name: str, fault: str) -> tuple[str, str]:
    """Return the part that failed and why; a fault of a pin begins with the part's name and its pins."""
    part, _, reason = fault.partition(": ")
    return (part, reason) if reason and part.startswith(name) else (name, fault)
