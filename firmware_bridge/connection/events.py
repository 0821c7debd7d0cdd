"""Events from the board in the host's own time, and the states of a connection."""

import enum
from dataclasses import dataclass

from firmware_bridge.ports.serial_ports import SerialPort
from firmware_bridge.protocol.messages import ButtonAction, Welcome


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
    """All switches as they were at ``time_s``, and the changes since the report before, in order of time.

    ``closed`` and ``doubtful`` have one value a switch; a doubtful switch is unreadable (a ghost, or chattering). If
    the report before was not taken, its changes are included, as far as there is room.
    """

    time_s: float
    closed: tuple[bool, ...]
    doubtful: tuple[bool, ...]
    changes: tuple[SwitchChanged, ...]


@dataclass(frozen=True)
class ButtonChanged:
    """Button number ``button`` was pressed, held or released at ``time_s``; ``held_s`` is how long it was down."""

    button: int
    action: ButtonAction
    time_s: float
    held_s: float


@dataclass(frozen=True)
class Linked:
    """The board answers on ``port``; its lights and settings are about to be sent again.

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
class FaultReported:
    """A fault reported by the board: its code and number as in docs/internals/protocol.md, and its text."""

    time_s: float
    code: int
    number: int
    text: str


@dataclass(frozen=True)
class LogLine:
    """A line of the board's log: ``level`` as in ``logging``; ``missed`` lines before it were lost."""

    time_s: float
    level: int
    text: str
    missed: int


@dataclass(frozen=True)
class EventsDropped:
    """``presses`` presses and ``others`` other events were dropped, because they were not polled in time."""

    time_s: float
    presses: int
    others: int


BoardEvent = SensorsReported | ButtonChanged | Linked | Lost | FaultReported | LogLine | EventsDropped
"""All times are monotonic seconds of the clock that the connection was given."""
