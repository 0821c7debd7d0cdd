"""The packets as frozen values, and their encoding; the tables are in docs/internals/protocol.md. Pure.

Times of the board (``time_ms``) are milliseconds since it started, modulo 2**32. Bytes after the described ones are for
later firmware and ignored.
"""

from __future__ import annotations

import enum
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from firmware_bridge.errors import MessageError
from firmware_bridge.protocol.packets import LARGEST_PACKET

PROTOCOL = 2
"""The version of the protocol that is spoken here."""
MOST_TONES = 32
"""Most tones that a board takes at once."""
LARGEST_LIGHTS = 1080
"""Most bytes of colours in a packet: 360 lights, or 216 lit ones of more."""
MOST_SWITCHES = 1024
"""Most switches of a board, more than three times our firmware's. Set by hand: if all of 1024 flap and nobody takes the
events, these hold 37 MB."""


class Kind(enum.IntEnum):
    """The first byte of a packet."""

    HOST_STATE = 0x48
    BOARD_STATE = 0x53
    WELCOME = 0x57


class ResetCause(enum.IntEnum):
    """Why a board started; a firmware may have further causes."""

    POWER = 0
    WATCHDOG = 1
    SOFTWARE = 2
    UNKNOWN = 255


@dataclass(frozen=True)
class BoardSettings:
    """Settings of the board.

    The lights show the waiting state after ``silence_ms`` without the host. A contact must be stable for
    ``debounce_ms``. ``brightness`` 255 is full. ``current_limit_ma`` is of all lights together, 0 as in the pin map.
    """

    silence_ms: int = 3000
    debounce_ms: int = 20
    brightness: int = 255
    current_limit_ma: int = 0


@dataclass(frozen=True)
class Tone:
    """A tone with a duration in milliseconds; a frequency of 0 is a rest."""

    frequency_hz: int
    milliseconds: int


@dataclass(frozen=True)
class Wanted:
    """What the board should do, complete; ``number`` tells it from the one before, and is never 0.

    ``colours`` are three bytes (red, green, blue; sRGB encoded) a light, and lights beyond are off; ``None`` leaves the
    lights as they are. ``tones`` replace the present ones once for each new ``sound`` number; 0 is no new sound.
    """

    number: int = 1
    settings: BoardSettings = BoardSettings()
    colours: bytes | None = None
    sound: int = 0
    tones: tuple[Tone, ...] = ()


@dataclass(frozen=True)
class HostState:
    """What the host says: to the board of that ``boot_id``, which is 0 while it doesn't know any.

    ``number`` counts states. ``taken`` are the presses of each button that the host has, none before the board's first
    state. ``leaves``: the board should turn its lights off and restart into the bare interpreter.
    """

    boot_id: int
    number: int
    taken: tuple[int, ...] = ()
    leaves: bool = False
    wanted: Wanted | None = None


@dataclass(frozen=True)
class ButtonState:
    """The presses of a button since the board started, and those that a host has taken, both modulo 65536.

    The last one was ``before_ms`` before the state's time; 65535 is any longer time.
    """

    presses: int
    taken: int
    before_ms: int


@dataclass(frozen=True)
class BoardState:
    """What the board says.

    ``heard`` and ``shown`` are the numbers of the last HostState and the last Wanted of a host that knows it, or 0. The
    lights would draw ``limited_ma`` without the current limit, which dims them, to nothing if ``is_dark``; 0 if it does
    not. ``closed`` and ``doubtful`` have one value a switch; a doubtful switch is unreadable (a ghost, or chattering).
    """

    boot_id: int
    time_ms: int
    heard: int = 0
    shown: int = 0
    limited_ma: int = 0
    is_dark: bool = False
    is_leaving: bool = False
    buttons: tuple[ButtonState, ...] = ()
    closed: tuple[bool, ...] = ()
    doubtful: tuple[bool, ...] = ()


@dataclass(frozen=True)
class Welcome:
    """The board's description of itself, for a host that doesn't know it.

    ``boot_id`` changes with each start. ``buzzer`` is 0 none, 1 active (one tone of its own), 2 passive (any tone).
    ``pin_map_checksum`` is the CRC-32 of the pin map's file, ``reset_cause`` a ResetCause or an unknown number,
    ``board`` the board's name, ``trouble`` what is wrong with it, in words.
    """

    firmware: tuple[int, int, int]
    boot_id: int
    lights: int
    switches: int
    buttons: int
    buzzer: int
    pin_map_checksum: int
    reset_cause: int
    board: str
    trouble: str = ""


Message = HostState | BoardState | Welcome

_HEAD = struct.Struct("<BB")
_HOST = struct.Struct("<HIBB")
_WANTED = struct.Struct("<HHHBHHB")
_TONE = struct.Struct("<HH")
_LIGHTS = struct.Struct("<BH")
_LIGHT = struct.Struct("<H3s")
_BOARD = struct.Struct("<IIHHHBB")
_BUTTON = struct.Struct("<HHH")
_SWITCHES = struct.Struct("<H")
_WELCOME = struct.Struct("<IHHBBIB3s")
_HAS_WANTED, _LEAVES = 1, 2
_IS_LEAVING, _IS_DARK = 1, 2
_NO_LIGHTS, _ALL_LIGHTS, _LIT_LIGHTS = 0, 1, 2
_DARK = bytes(3)
_LONGEST_TEXT = 200  # bytes of UTF-8


def encode_packet(message: Message) -> bytes:
    """Encode a message as a packet; texts are cut to 200 bytes.

    Raises MessageError for a number that doesn't fit its field, too many tones, or a packet that is too long.
    """
    try:
        match message:
            case HostState():
                packet = _HEAD.pack(Kind.HOST_STATE, PROTOCOL) + b"".join(_host_parts(message))
            case BoardState():
                packet = _HEAD.pack(Kind.BOARD_STATE, PROTOCOL) + b"".join(_board_parts(message))
            case Welcome():
                packet = _HEAD.pack(Kind.WELCOME, PROTOCOL) + b"".join(_welcome_parts(message))
    except struct.error as error:
        raise MessageError(f"{type(message).__name__}: {error}") from error
    if len(packet) > LARGEST_PACKET:
        raise MessageError(f"{type(message).__name__}: a packet of {len(packet)} bytes; {LARGEST_PACKET} is the most")
    return packet


def decode_packet(packet: bytes) -> Message:
    """Decode a packet of this version; raises MessageError for any other one, and for one that is too short."""
    fields = _Fields(packet)
    kind, version = fields.take(_HEAD)
    if version != PROTOCOL:
        raise MessageError(f"a packet of version {version}; expected {PROTOCOL}")
    match kind:
        case Kind.HOST_STATE:
            return _read_host_state(fields)
        case Kind.BOARD_STATE:
            return _read_board_state(fields)
        case Kind.WELCOME:
            return _read_welcome(fields)
    raise MessageError(f"a packet of kind 0x{kind:02X}; there is no such message")


class _Fields:
    """The bytes of a packet, taken one after the other."""

    def __init__(self, packet: bytes) -> None:
        self._packet = packet
        self._at = 0

    def raw(self, size: int) -> bytes:
        end = self._at + size
        if end > len(self._packet):
            raise MessageError(f"a packet of {len(self._packet)} bytes; expected {end} at least")
        data = self._packet[self._at : end]
        self._at = end
        return data

    def take(self, form: struct.Struct) -> tuple[int, ...]:
        return form.unpack(self.raw(form.size))

    def bits(self, count: int) -> tuple[bool, ...]:
        packed = int.from_bytes(self.raw((count + 7) // 8), "little")
        return tuple(bool(packed >> index & 1) for index in range(count))

    def text(self) -> str:
        (length,) = self.raw(1)
        return self.raw(length).decode("utf-8", "replace")


def _host_parts(state: HostState) -> Iterator[bytes]:
    flags = (_HAS_WANTED if state.wanted else 0) | (_LEAVES if state.leaves else 0)
    yield _HOST.pack(state.number, state.boot_id, flags, len(state.taken))
    yield struct.pack(f"<{len(state.taken)}H", *state.taken)
    if state.wanted is not None:
        yield from _wanted_parts(state.wanted)


def _wanted_parts(wanted: Wanted) -> Iterator[bytes]:
    if len(wanted.tones) > MOST_TONES:
        raise MessageError(f"Wanted: {len(wanted.tones)} tones; {MOST_TONES} are the most")
    settings = wanted.settings
    yield _WANTED.pack(
        wanted.number,
        settings.silence_ms,
        settings.debounce_ms,
        settings.brightness,
        settings.current_limit_ma,
        wanted.sound,
        len(wanted.tones),
    )
    for tone in wanted.tones:
        yield _TONE.pack(tone.frequency_hz, tone.milliseconds)
    if wanted.colours is None:
        yield _LIGHTS.pack(_NO_LIGHTS, 0)
        return
    if len(wanted.colours) % 3:
        raise MessageError(f"Wanted: {len(wanted.colours)} bytes of colours; expected three a light")
    count = (len(wanted.colours.rstrip(b"\x00")) + 2) // 3
    colours = wanted.colours[: 3 * count]
    lit = [light for light in range(count) if colours[3 * light : 3 * light + 3] != _DARK]
    size = min(_LIGHT.size * len(lit), len(colours))
    if size > LARGEST_LIGHTS:
        raise MessageError(f"Wanted: {size} bytes of colours; {LARGEST_LIGHTS} are the most")
    if _LIGHT.size * len(lit) >= len(colours):
        yield _LIGHTS.pack(_ALL_LIGHTS, count) + colours
        return
    yield _LIGHTS.pack(_LIT_LIGHTS, len(lit))
    for light in lit:
        yield _LIGHT.pack(light, colours[3 * light : 3 * light + 3])


def _read_host_state(fields: _Fields) -> HostState:
    number, boot_id, flags, buttons = fields.take(_HOST)
    taken = fields.take(struct.Struct(f"<{buttons}H"))
    wanted = _read_wanted(fields) if flags & _HAS_WANTED else None
    return HostState(boot_id, number, taken, bool(flags & _LEAVES), wanted)


def _read_wanted(fields: _Fields) -> Wanted:
    number, silence_ms, debounce_ms, brightness, limit_ma, sound, tones = fields.take(_WANTED)
    return Wanted(
        number,
        BoardSettings(silence_ms, debounce_ms, brightness, limit_ma),
        sound=sound,
        tones=tuple(Tone(*fields.take(_TONE)) for _ in range(tones)),
        colours=_read_colours(fields),
    )


def _read_colours(fields: _Fields) -> bytes | None:
    form, count = fields.take(_LIGHTS)
    if form == _NO_LIGHTS:
        return None
    if form == _ALL_LIGHTS:
        return fields.raw(3 * count)
    if form != _LIT_LIGHTS:
        raise MessageError(f"lights of form {form}; expected 0 to {_LIT_LIGHTS}")
    colours = bytearray()
    for _ in range(count):
        light, colour = _LIGHT.unpack(fields.raw(_LIGHT.size))
        if 3 * light < len(colours):
            raise MessageError(f"light {light} comes after light {len(colours) // 3 - 1}; expected rising numbers")
        colours += bytes(3 * light - len(colours)) + colour
    return bytes(colours)


def _board_parts(state: BoardState) -> Iterator[bytes]:
    if len(state.closed) != len(state.doubtful):
        raise MessageError(f"BoardState: {len(state.closed)} switches, {len(state.doubtful)} doubtful or not")
    flags = (_IS_LEAVING if state.is_leaving else 0) | (_IS_DARK if state.is_dark else 0)
    numbers = (state.boot_id, state.time_ms, state.heard, state.shown, state.limited_ma)
    yield _BOARD.pack(*numbers, flags, len(state.buttons))
    for button in state.buttons:
        yield _BUTTON.pack(button.presses, button.taken, button.before_ms)
    yield _SWITCHES.pack(len(state.closed))
    for values in (state.closed, state.doubtful):
        packed = sum(1 << index for index, value in enumerate(values) if value)
        yield packed.to_bytes((len(values) + 7) // 8, "little")


def _read_board_state(fields: _Fields) -> BoardState:
    boot_id, time_ms, heard, shown, limited_ma, flags, count = fields.take(_BOARD)
    buttons = tuple(ButtonState(*fields.take(_BUTTON)) for _ in range(count))
    (switches,) = fields.take(_SWITCHES)
    return BoardState(
        boot_id,
        time_ms,
        heard,
        shown,
        limited_ma,
        is_dark=bool(flags & _IS_DARK),
        is_leaving=bool(flags & _IS_LEAVING),
        buttons=buttons,
        closed=fields.bits(switches),
        doubtful=fields.bits(switches),
    )


def _welcome_parts(welcome: Welcome) -> Iterator[bytes]:
    counts = (welcome.lights, welcome.switches, welcome.buttons, welcome.buzzer)
    if not all(0 <= number < 256 for number in welcome.firmware):
        raise MessageError(f"Welcome: firmware {welcome.firmware}; expected numbers up to 255")
    yield _WELCOME.pack(
        welcome.boot_id, *counts, welcome.pin_map_checksum, welcome.reset_cause, bytes(welcome.firmware)
    )
    for text in (welcome.board, welcome.trouble):
        encoded = text.encode("utf-8", "replace")[:_LONGEST_TEXT].decode("utf-8", "ignore").encode()
        yield bytes((len(encoded),)) + encoded


def _read_welcome(fields: _Fields) -> Welcome:
    *numbers, firmware = _WELCOME.unpack(fields.raw(_WELCOME.size))
    boot_id, lights, switches, buttons, buzzer, pin_map_checksum, reset_cause = numbers
    if switches > MOST_SWITCHES:
        raise MessageError(f"a welcome of {switches} switches; {MOST_SWITCHES} are the most")
    major, minor, patch = firmware
    return Welcome(
        firmware=(major, minor, patch),
        boot_id=boot_id,
        lights=lights,
        switches=switches,
        buttons=buttons,
        buzzer=buzzer,
        pin_map_checksum=pin_map_checksum,
        reset_cause=reset_cause,
        board=fields.text(),
        trouble=fields.text(),
    )
