"""The bridge's errors, each also the builtin it resembles.

BridgeError
├── PortError (OSError)                     a serial port that can't be used
│   ├── PortMissingError (FileNotFoundError)    there is no such port, or no board on any
│   ├── PortAmbiguousError                      several boards could be the one that is wanted
│   ├── PortDeniedError (PermissionError)       this user may not open it
│   ├── PortTakenError                          another program has it
│   ├── PortUnusableError                       it can't be opened or set up for another reason
│   └── PortGoneError (ConnectionError)         it was unplugged, or failed, while open
├── WrongDeviceError (ConnectionError)      a device answers that isn't the referee's board
│   ├── NoFirmwareError                         a board that could be, without the referee's firmware
│   └── SilentDeviceError                       nothing answers at all
├── VersionError (ConnectionError)          the referee's firmware, of a version this program doesn't speak
└── ConnectionLostError (ConnectionError)   the board answered, and does no more

Modules of this room that have errors of their own (the protocol, the pin map, installing) derive them from the root.
"""

from __future__ import annotations


class BridgeError(Exception):
    """Root of every error of this package; the message names what was got, what was expected, and what to do."""


class PortError(BridgeError, OSError):
    """A serial port that can't be used; the message names it, says why, and what to do."""


class PortMissingError(PortError, FileNotFoundError):
    """There is no such port, or no board on any port; the message lists the ports there are."""


class PortAmbiguousError(PortError):
    """Several boards could be the one that is wanted; the message lists them and asks which."""


class PortDeniedError(PortError, PermissionError):
    """The user may not open the port; the message names the group that may."""


class PortTakenError(PortError):
    """Another program has the port; the message names it where that is known."""


class PortUnusableError(PortError):
    """The port can't be opened or set up, for a reason the message gives."""


class PortGoneError(PortError, ConnectionError):
    """The port was unplugged, or failed, while it was open."""


class WrongDeviceError(BridgeError, ConnectionError):
    """A device answers that isn't the referee's board; the message names what it seems to be."""


class NoFirmwareError(WrongDeviceError):
    """A microcontroller without the referee's firmware; the message says how to install it."""


class SilentDeviceError(WrongDeviceError):
    """Nothing answers on a port that can be opened."""


class VersionError(BridgeError, ConnectionError):
    """The referee's firmware, of a version of the protocol not spoken here; the message says which is older."""


class ConnectionLostError(BridgeError, ConnectionError):
    """A board that answered and does no more; it is looked for again."""
