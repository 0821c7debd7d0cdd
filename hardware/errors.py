"""Hardware's errors, each also the builtin it resembles.

HardwareError
├── PinError     (ValueError)   a pin that does not exist, is taken, or is named twice
├── SettingError (ValueError)   a setting that names something there is not
├── MapFileError (OSError)      a light or switch map that can't be read or written
└── DriverError  (OSError)      a driver that could not show a signal or read a button
"""

from __future__ import annotations


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
