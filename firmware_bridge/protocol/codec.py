"""Encodes messages as payloads and decodes them; the tables are in docs/internals/protocol.md. Pure.

Most messages are a sequence of numbers, described by a table; the others have functions of their own. Bytes after the
described ones are for later versions and ignored. Fields are read one by one, so that an error can name the field.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from firmware_bridge.errors import MessageError
from firmware_bridge.protocol import messages
from firmware_bridge.protocol.packets import LARGEST_PAYLOAD, Kind

Field = tuple[str, int]

# name and bytes of each number, in order; a message that also has a ``text`` ends with it
_NUMBERS: Mapping[Kind, tuple[type[Any], tuple[Field, ...]]] = MappingProxyType(
    {
        Kind.HELLO: (messages.Hello, (("oldest", 1), ("newest", 1))),
        Kind.REFUSED: (messages.Refused, (("oldest", 1), ("newest", 1))),
        Kind.RESTARTED: (messages.Restarted, (("boot_id", 4),)),
        Kind.PING: (messages.Ping, (("token", 4),)),
        Kind.PONG: (messages.Pong, (("token", 4), ("time_ms", 4))),
        Kind.LOG: (messages.Log, (("level", 1), ("counter", 2), ("time_ms", 4))),
        Kind.CONFIGURE: (
            messages.Configure,
            (
                ("silence_ms", 2),
                ("debounce_ms", 2),
                ("long_press_ms", 2),
                ("brightness", 1),
                ("current_limit_ma", 2),
                ("snapshot_every_ms", 2),
            ),
        ),
        Kind.SNAPSHOT: (messages.Snapshot, ()),
        Kind.LEAVE: (messages.Leave, ()),
        Kind.BUTTON: (
            messages.ButtonReport,
            (("event", 2), ("button", 1), ("what", 1), ("time_ms", 4), ("held_ms", 2)),
        ),
        Kind.FAULT: (messages.FaultReport, (("code", 1), ("number", 2))),
    }
)
_ENDING_IN_TEXT = frozenset({Kind.REFUSED, Kind.LOG, Kind.FAULT})
_KINDS: Mapping[type[Any], Kind] = MappingProxyType({message: kind for kind, (message, _) in _NUMBERS.items()})

_DARK = bytes(3)

_WELCOME_FIRST: tuple[Field, ...] = (("version", 1),)
_WELCOME_THEN: tuple[Field, ...] = (
    ("boot_id", 4),
    ("time_ms", 4),
    ("largest_payload", 2),
    ("window", 1),
    ("lights", 2),
    ("switches", 2),
    ("buttons", 1),
    ("buzzer", 1),
    ("pin_map_checksum", 4),
    ("reset_cause", 1),
)


def encode_message(message: messages.Message) -> tuple[Kind, bytes]:
    """Return the kind and the payload of a message; a ``LightFrame`` becomes the shorter of its two kinds.

    Texts are cut to 200 bytes. Raises MessageError for a value that doesn't fit its field, or more than 1024 bytes.
    """
    name = type(message).__name__
    writer = FieldWriter(name)
    match message:
        case messages.LightFrame():
            kind = _write_lights(writer, message)
        case messages.Sound():
            kind = _write_sound(writer, message)
        case messages.SensorReport():
            kind = _write_sensors(writer, message)
        case messages.Welcome():
            kind = _write_welcome(writer, message)
        case _:
            kind = _KINDS[type(message)]
            _write_numbers(writer, message, _NUMBERS[kind][1])
            if isinstance(message, messages.Refused | messages.Log | messages.FaultReport):
                writer.raw(text_bytes(message.text))
    payload = writer.payload()
    if len(payload) > LARGEST_PAYLOAD:
        raise MessageError(f"{name}: {len(payload)} bytes of payload; {LARGEST_PAYLOAD} is the most")
    return kind, payload


def decode_message(kind: int, payload: bytes) -> messages.Message:
    """Return the message in the payload of a packet.

    Raises MessageError for a kind that has no message (such as ``ACKNOWLEDGED``), and for an invalid payload.
    """
    read = _READERS.get(kind)
    if read is not None:
        return read(FieldReader(Kind(kind).name, payload))
    if kind not in _NUMBERS:
        raise MessageError(f"a packet of kind 0x{kind:02X}; there is no such message")
    known = Kind(kind)
    make, fields = _NUMBERS[known]
    reader = FieldReader(known.name, payload)
    values: dict[str, Any] = _read_numbers(reader, fields)
    if known in _ENDING_IN_TEXT:
        values["text"] = reader.text()
    message: messages.Message = make(**values)
    return message


def _write_numbers(writer: FieldWriter, message: messages.Message, fields: tuple[Field, ...]) -> None:
    for field, size in fields:
        writer.number(field, getattr(message, field), size)


def _read_numbers(reader: FieldReader, fields: tuple[Field, ...]) -> dict[str, int]:
    return {field: reader.number(field, size) for field, size in fields}


def _write_lights(writer: FieldWriter, message: messages.LightFrame) -> Kind:
    if len(message.colours) % 3:
        raise MessageError(f"LightFrame: {len(message.colours)} bytes of colours; expected three a light")
    colours = message.trimmed().colours
    count = len(colours) // 3
    # a dark light is three zeros, so most frames need no check of every light
    lit_at_least = count - colours.count(0) // 3
    lit: list[int] = []
    if 5 * lit_at_least < len(colours):
        lit = [light for light in range(count) if colours[3 * light : 3 * light + 3] != _DARK]
    if 5 * max(lit_at_least, len(lit)) >= len(colours):
        writer.number("count", count, 2)
        writer.raw(colours)
        return Kind.LIGHTS_ALL
    writer.number("count", len(lit), 2)
    for light in lit:
        writer.number("light", light, 2)
        writer.raw(colours[3 * light : 3 * light + 3])
    return Kind.LIGHTS_LIT


def _read_all_lights(reader: FieldReader) -> messages.LightFrame:
    return messages.LightFrame(reader.raw("colours", 3 * reader.number("count", 2)))


def _read_lit_lights(reader: FieldReader) -> messages.LightFrame:
    colours = bytearray()
    for _ in range(reader.number("count", 2)):
        light = reader.number("light", 2)
        if 3 * light < len(colours):
            raise MessageError(f"LIGHTS_LIT: light {light} comes after light {len(colours) // 3 - 1}; expected rising")
        colours += bytes(3 * light - len(colours)) + reader.raw("colour", 3)
    return messages.LightFrame(bytes(colours))


def _write_sound(writer: FieldWriter, message: messages.Sound) -> Kind:
    writer.number("count", len(message.tones), 1)
    for tone in message.tones:
        writer.number("frequency_hz", tone.frequency_hz, 2)
        writer.number("milliseconds", tone.milliseconds, 2)
    return Kind.SOUND


def _read_sound(reader: FieldReader) -> messages.Sound:
    count = reader.number("count", 1)
    return messages.Sound(
        tuple(messages.Tone(reader.number("frequency_hz", 2), reader.number("milliseconds", 2)) for _ in range(count))
    )


def _write_sensors(writer: FieldWriter, message: messages.SensorReport) -> Kind:
    if len(message.closed) != len(message.doubtful):
        raise MessageError(
            f"SensorReport: {len(message.closed)} switches closed or open, {len(message.doubtful)} doubtful or not; "
            "expected as many"
        )
    writer.number("time_ms", message.time_ms, 4)
    writer.number("count", len(message.closed), 2)
    writer.bits(message.closed)
    writer.bits(message.doubtful)
    writer.number("changes", len(message.changes), 1)
    for change in message.changes:
        writer.number("switch", change.switch, 2)
        writer.number("closed", change.closed, 1)
        writer.number("before_ms", change.before_ms, 2)
    return Kind.SENSORS


def _read_sensors(reader: FieldReader) -> messages.SensorReport:
    time_ms = reader.number("time_ms", 4)
    count = reader.number("count", 2)
    closed = reader.bits("closed", count)
    doubtful = reader.bits("doubtful", count)
    changes = []
    for _ in range(reader.number("changes", 1)):
        switch = reader.number("switch", 2)
        if switch >= count:
            raise MessageError(f"SENSORS: switch {switch} changed, but there are only {count}, numbered from 0")
        changes.append(messages.SwitchChange(switch, bool(reader.number("closed", 1)), reader.number("before_ms", 2)))
    return messages.SensorReport(time_ms, closed, doubtful, tuple(changes))


def _write_welcome(writer: FieldWriter, message: messages.Welcome) -> Kind:
    _write_numbers(writer, message, _WELCOME_FIRST)
    for number in message.firmware:
        writer.number("firmware", number, 1)
    _write_numbers(writer, message, _WELCOME_THEN)
    board = text_bytes(message.board)
    writer.number("length of the board's name", len(board), 1)
    writer.raw(board)
    return Kind.WELCOME


def _read_welcome(reader: FieldReader) -> messages.Welcome:
    first = _read_numbers(reader, _WELCOME_FIRST)
    major, minor, patch = (reader.number("firmware", 1) for _ in range(3))
    then = _read_numbers(reader, _WELCOME_THEN)
    board = reader.raw("board", reader.number("length of the board's name", 1)).decode("utf-8", "replace")
    return messages.Welcome(**first, **then, firmware=(major, minor, patch), board=board)


_READERS: Mapping[int, Callable[[FieldReader], messages.Message]] = MappingProxyType(
    {
        Kind.WELCOME: _read_welcome,
        Kind.LIGHTS_ALL: _read_all_lights,
        Kind.LIGHTS_LIT: _read_lit_lights,
        Kind.SOUND: _read_sound,
        Kind.SENSORS: _read_sensors,
    }
)


LONGEST_TEXT = 200
"""Maximum length of a text, in bytes of UTF-8."""


class FieldWriter:
    """Builds the payload of the message ``name``, field by field."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._bytes = bytearray()

    def number(self, field: str, value: int, size: int) -> None:
        """Write an unsigned little-endian number of ``size`` bytes; raises MessageError if it doesn't fit."""
        if not 0 <= value < 1 << 8 * size:
            raise MessageError(f"{self._name}: {field} is {value}; expected 0 to {(1 << 8 * size) - 1}")
        self._bytes += value.to_bytes(size, "little")

    def raw(self, data: bytes) -> None:
        """Write bytes as they are."""
        self._bytes += data

    def bits(self, values: tuple[bool, ...]) -> None:
        """Write one bit each, the first into bit 0 of the first byte."""
        packed = sum(1 << index for index, value in enumerate(values) if value)
        self._bytes += packed.to_bytes((len(values) + 7) // 8, "little")

    def payload(self) -> bytes:
        """Return the payload so far."""
        return bytes(self._bytes)


class FieldReader:
    """Parses the payload of the message ``name``, field by field; remaining bytes are ignored."""

    def __init__(self, name: str, payload: bytes) -> None:
        self._name = name
        self._payload = payload
        self._at = 0

    def raw(self, field: str, size: int) -> bytes:
        """Read ``size`` bytes; raises MessageError if the payload is too short."""
        end = self._at + size
        if end > len(self._payload):
            raise MessageError(
                f"{self._name}: the payload ends after {len(self._payload)} bytes; {field} needs bytes up to {end}"
            )
        data = self._payload[self._at : end]
        self._at = end
        return data

    def number(self, field: str, size: int) -> int:
        """Read an unsigned little-endian number of ``size`` bytes; raises MessageError if the payload is too short."""
        return int.from_bytes(self.raw(field, size), "little")

    def bits(self, field: str, count: int) -> tuple[bool, ...]:
        """Read ``count`` bits, the first from bit 0 of the first byte; raises MessageError like ``raw``."""
        packed = int.from_bytes(self.raw(field, (count + 7) // 8), "little")
        return tuple(bool(packed >> index & 1) for index in range(count))

    def text(self) -> str:
        """Read the rest as UTF-8; what isn't UTF-8 becomes U+FFFD."""
        return self.raw("text", len(self._payload) - self._at).decode("utf-8", "replace")


def text_bytes(text: str) -> bytes:
    """Encode a text as UTF-8, cut to ``LONGEST_TEXT`` bytes between two characters."""
    # A lone surrogate has no UTF-8; it becomes a question mark.
    encoded = text.encode("utf-8", "replace")
    return encoded[:LONGEST_TEXT].decode("utf-8", "ignore").encode("utf-8")
