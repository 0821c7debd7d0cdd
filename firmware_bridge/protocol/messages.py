"""Messages: the meaning of packets' payloads, as frozen values; ``codec`` encodes and decodes them.

Times of the device (``time_ms``) are milliseconds since it started, modulo 2**32.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

OLDEST_VERSION = 1  # versions of the protocol that the host speaks
NEWEST_VERSION = 1
"""The supported versions of the protocol."""


class ResetCause(enum.IntEnum):
    """Why a device started; a firmware may have further causes."""

    POWER = 0
    WATCHDOG = 1
    SOFTWARE = 2
    UNKNOWN = 255


class ButtonAction(enum.IntEnum):
    """What a button did, after debouncing by the board."""

    PRESSED = 1
    HELD = 2
    RELEASED = 3


@dataclass(frozen=True)
class Hello:
    """The host begins a new session and lists its versions of the protocol."""

    oldest: int = OLDEST_VERSION
    newest: int = NEWEST_VERSION


@dataclass(frozen=True)
class Welcome:
    """The device's answer to ``Hello``: its description.

    ``version`` is the protocol's newest that both support. ``boot_id`` changes with each start, ``time_ms`` is the
    device's clock. It accepts ``largest_payload`` bytes and ``window`` unacknowledged packets. ``buzzer`` is 0 none, 1
    active (one tone of its own), 2 passive (any tone). ``pin_map_checksum`` is the CRC-32 of the pin map's file,
    ``reset_cause`` a ResetCause or an unknown number, ``board`` the board's name.
    """

    version: int
    firmware: tuple[int, int, int]
    boot_id: int
    time_ms: int
    largest_payload: int
    window: int
    lights: int
    switches: int
    buttons: int
    buzzer: int
    pin_map_checksum: int
    reset_cause: int
    board: str


@dataclass(frozen=True)
class Refused:
    """The device supports none of the host's versions, only these."""

    oldest: int
    newest: int
    text: str = ""


@dataclass(frozen=True)
class Restarted:
    """The device doesn't have this session: usually it has just started."""

    boot_id: int


@dataclass(frozen=True)
class Ping:
    """The host checks that the device is alive; ``token`` is returned."""

    token: int


@dataclass(frozen=True)
class Pong:
    """The answer to ``Ping``, with the device's clock."""

    token: int
    time_ms: int


@dataclass(frozen=True)
class Log:
    """A line of the device's log.

    ``level`` is as in ``logging``: 10 debug, 20 info, 30 warning, 40 error. ``counter`` counts lines since the start,
    modulo 65536, so that lost ones are noticed.
    """

    level: int
    counter: int
    time_ms: int
    text: str


@dataclass(frozen=True)
class LightFrame:
    """All lights, complete: three bytes (red, green, blue; sRGB encoded) a light; lights beyond are off."""

    colours: bytes

    def trimmed(self) -> LightFrame:
        """Return the same frame without the dark lights at its end."""
        lights = (len(self.colours.rstrip(b"\x00")) + 2) // 3
        return LightFrame(self.colours[: 3 * lights])


@dataclass(frozen=True)
class Tone:
    """A tone with a duration in milliseconds; a frequency of 0 is a rest."""

    frequency_hz: int
    milliseconds: int


@dataclass(frozen=True)
class Sound:
    """Tones to play in sequence, replacing the present ones; none: silence."""

    tones: tuple[Tone, ...]


@dataclass(frozen=True)
class Configure:
    """Settings of the device.

    The lights show the waiting state after ``silence_ms`` without the host. A contact must be stable for
    ``debounce_ms``; a press counts as held after ``long_press_ms``. ``brightness`` 255 is full. ``current_limit_ma`` is
    of all lights together, 0 as in the pin map. All switches are reported every ``snapshot_every_ms``, 0: only with
    changes.
    """

    silence_ms: int = 3000
    debounce_ms: int = 20
    long_press_ms: int = 1000
    brightness: int = 255
    current_limit_ma: int = 0
    snapshot_every_ms: int = 0


@dataclass(frozen=True)
class Snapshot:
    """The host requests a ``SensorReport``."""


@dataclass(frozen=True)
class Leave:
    """The device should turn its lights off and restart into the bare interpreter."""


@dataclass(frozen=True)
class SwitchChange:
    """A switch closed or opened, ``before_ms`` before the report's time."""

    switch: int
    closed: bool
    before_ms: int


@dataclass(frozen=True)
class SensorReport:
    """All switches as they are at ``time_ms``, and the changes since the report before.

    ``closed`` and ``doubtful`` have one value a switch; a doubtful switch is unreadable (a ghost, or chattering).
    """

    time_ms: int
    closed: tuple[bool, ...]
    doubtful: tuple[bool, ...]
    changes: tuple[SwitchChange, ...] = ()


@dataclass(frozen=True)
class ButtonReport:
    """A button event.

    ``event`` counts since the device started, modulo 65536. ``what`` is a ButtonAction, or an unknown number.
    ``time_ms`` is when the contact closed or opened, ``held_ms`` how long it was closed.
    """

    event: int
    button: int
    what: int
    time_ms: int
    held_ms: int = 0


@dataclass(frozen=True)
class FaultReport:
    """A fault of the device; docs/internals/protocol.md lists the codes and the meaning of ``number``."""

    code: int
    number: int
    text: str = ""


HostMessage = Hello | Ping | LightFrame | Sound | Configure | Snapshot | Leave
DeviceMessage = Welcome | Refused | Restarted | Pong | Log | SensorReport | ButtonReport | FaultReport
Message = HostMessage | DeviceMessage
