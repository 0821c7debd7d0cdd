"""Events from the board in the host's own time, and the states of a connection."""

import enum
from dataclasses import dataclass

from firmware_bridge.ports.serial_ports import SerialPort
from firmware_bridge.protocol.messages import Welcome


class ConnectionState(enum.Enum):
    """The state of a connection."""

    FINDING = "finding"
    """Searching for the board, or waiting to search again."""
    HANDSHAKING = "handshaking"
    """A port is open; the board on it hasn't answered yet."""
    LINKED = "linked"
    """The board answers."""
    RELEASED = "released"
    """The board was switched to its bare interpreter, and the port released."""
    CLOSED = "closed"
    """The connection was closed, or not opened yet."""


@dataclass(frozen=True)
class SwitchChanged:
    """Switch number ``switch`` closed or opened at ``time_s``."""

    switch: int
    closed: bool
    time_s: float


@dataclass(frozen=True)
class SensorsReported:
    """All switches as they were at ``time_s``, and the changes since the report before, in order of their numbers.

    ``closed`` and ``doubtful`` have one value a switch; a doubtful switch is unreadable (a ghost, or chattering).
    """

    time_s: float
    closed: tuple[bool, ...]
    doubtful: tuple[bool, ...]
    changes: tuple[SwitchChanged, ...]


@dataclass(frozen=True)
class ButtonPressed:
    """Button number ``button`` was pressed at ``time_s``."""

    button: int
    time_s: float


@dataclass(frozen=True)
class Linked:
    """The board answers on ``port``, or describes itself anew; its lights and settings are about to be sent again.

    ``restarted``: it has restarted.
    """

    time_s: float
    port: SerialPort
    welcome: Welcome
    restarted: bool


@dataclass(frozen=True)
class Lost:
    """The linked board no longer answers, because of ``reason``; the connection searches for it again."""

    time_s: float
    reason: str


@dataclass(frozen=True)
class LightsLimited:
    """The lights would draw ``wanted_ma``, so that the current limit dims them; ``is_dark``: to nothing."""

    time_s: float
    wanted_ma: int
    is_dark: bool


@dataclass(frozen=True)
class PressesDropped:
    """``presses`` presses came too late or too fast, and are not reported."""

    time_s: float
    presses: int


BoardEvent = SensorsReported | ButtonPressed | Linked | Lost | LightsLimited | PressesDropped
"""All times are monotonic seconds of the clock that the connection was given."""
