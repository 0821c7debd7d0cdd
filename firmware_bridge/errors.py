"""The bridge's errors. Each is also the built-in exception it resembles.

``pin_maps``, ``install`` and ``wled`` derive their own errors from ``BridgeError``.
"""

from common.phrases import SpokenError


class BridgeError(SpokenError):
    """Root of this package's errors; the message gives what was got, what was expected, and what to do."""


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
    """A board that answered and no longer does; the connection searches for it again."""


class MessageError(BridgeError, ValueError):
    """A packet that can't be decoded, or a message that can't be encoded; the message names what was expected."""
