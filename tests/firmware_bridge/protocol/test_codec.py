from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.errors import MessageError
from firmware_bridge.protocol.codec import decode_message, encode_message
from firmware_bridge.protocol.messages import (
    ButtonReport,
    Configure,
    FaultReport,
    Hello,
    LightFrame,
    Log,
    Message,
    Ping,
    Pong,
    Refused,
    SensorReport,
    Snapshot,
    Sound,
    SwitchChange,
    Tone,
    Welcome,
)
from firmware_bridge.protocol.packets import LARGEST_PAYLOAD, Kind
from tests.firmware_bridge.protocol import strategies

ENDING_IN_TEXT = (Kind.REFUSED, Kind.LOG, Kind.FAULT)


@given(strategies.messages)
def test_messages_come_back(message: Message) -> None:
    kind, payload = encode_message(message)
    assert len(payload) <= LARGEST_PAYLOAD
    assert decode_message(kind, payload) == message


@given(strategies.messages, st.binary(min_size=1, max_size=20))
def test_what_a_later_version_adds_is_ignored(message: Message, added: bytes) -> None:
    kind, payload = encode_message(message)
    if kind not in ENDING_IN_TEXT:
        assert decode_message(kind, payload + added) == message


@given(strategies.messages, st.data())
def test_a_payload_that_ends_early_is_told(message: Message, data: st.DataObject) -> None:
    kind, payload = encode_message(message)
    text = message.text if isinstance(message, Refused | Log | FaultReport) else ""
    needed = len(payload) - len(text.encode())
    if needed:
        with pytest.raises(MessageError, match=f"{kind.name}: the payload ends after"):
            decode_message(kind, payload[: data.draw(st.integers(0, needed - 1))])


@given(st.integers(0, 255), st.binary(max_size=200))
def test_any_payload_is_a_message_or_a_message_error(kind: int, payload: bytes) -> None:
    try:
        message = decode_message(kind, payload)
    except MessageError:
        return
    assert decode_message(*encode_message(message)) in (
        message,
        message.trimmed() if isinstance(message, LightFrame) else message,
        _cut(message),
    )


def _cut(message: Message) -> Message:
    """The message with its text or name as long as one may be."""
    match message:
        case Refused(oldest, newest, text):
            return Refused(oldest, newest, _cut_text(text))
        case Log(level, counter, time_ms, text):
            return Log(level, counter, time_ms, _cut_text(text))
        case FaultReport(code, number, text):
            return FaultReport(code, number, _cut_text(text))
        case Welcome():
            return Welcome(**{**vars(message), "board": _cut_text(message.board)})
    return message


def _cut_text(text: str) -> str:
    return text.encode()[:200].decode(errors="ignore")


def test_payloads_are_laid_out_as_described() -> None:
    assert encode_message(Hello(1, 2)) == (Kind.HELLO, b"\x01\x02")
    welcome = Welcome(1, (2, 3, 4), 5, 6, 7, 8, 9, 10, 11, 2, 12, 1, "Pico é")
    assert encode_message(welcome) == (
        Kind.WELCOME,
        struct.pack("<BBBBIIHBHHBBIBB", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 2, 12, 1, 7) + "Pico é".encode(),
    )
    assert encode_message(Refused(2, 3, "no")) == (Kind.REFUSED, b"\x02\x03no")
    assert encode_message(Ping(258)) == (Kind.PING, b"\x02\x01\x00\x00")
    assert encode_message(Pong(1, 2)) == (Kind.PONG, struct.pack("<II", 1, 2))
    assert encode_message(Log(30, 1, 2, "hm")) == (Kind.LOG, struct.pack("<BHI", 30, 1, 2) + b"hm")
    assert encode_message(Sound((Tone(440, 100), Tone(0, 1)))) == (
        Kind.SOUND,
        struct.pack("<BHHHH", 2, 440, 100, 0, 1),
    )
    assert encode_message(Configure(1, 2, 3, 4, 5, 6)) == (Kind.CONFIGURE, struct.pack("<HHHBHH", 1, 2, 3, 4, 5, 6))
    assert encode_message(Snapshot()) == (Kind.SNAPSHOT, b"")
    report = SensorReport(9, (True,) + (False,) * 8, (False,) * 8 + (True,), (SwitchChange(8, False, 7),))
    assert encode_message(report) == (
        Kind.SENSORS,
        struct.pack("<IH", 9, 9) + b"\x01\x00" + b"\x00\x01" + struct.pack("<BHBH", 1, 8, 0, 7),
    )
    assert encode_message(ButtonReport(1, 2, 3, 4, 5)) == (Kind.BUTTON, struct.pack("<HBBIH", 1, 2, 3, 4, 5))
    assert encode_message(FaultReport(1, 2, "oh")) == (Kind.FAULT, struct.pack("<BH", 1, 2) + b"oh")


def test_lights_are_written_the_shorter_way() -> None:
    few = bytes(297) + b"\x01\x02\x03"
    assert encode_message(LightFrame(few)) == (Kind.LIGHTS_LIT, struct.pack("<HH", 1, 99) + b"\x01\x02\x03")
    assert encode_message(LightFrame(b"\x01\x02\x03\x04\x05\x06")) == (
        Kind.LIGHTS_ALL,
        b"\x02\x00\x01\x02\x03\x04\x05\x06",
    )
    assert encode_message(LightFrame(bytes(300))) == (Kind.LIGHTS_ALL, b"\x00\x00")


@given(strategies.colours)
def test_lights_never_take_more_than_either_way(colours: bytes) -> None:
    kind, payload = encode_message(LightFrame(colours))
    lights = len(colours.rstrip(b"\x00")) + 2
    lit = sum(any(colours[at : at + 3]) for at in range(0, len(colours), 3))
    assert len(payload) == 2 + min(lights - lights % 3, 5 * lit)
    arrived = decode_message(kind, payload)
    assert isinstance(arrived, LightFrame)
    assert arrived.colours.ljust(len(colours), b"\x00") == colours


def test_as_many_lights_as_fit() -> None:
    most = (LARGEST_PAYLOAD - 2) // 3
    encode_message(LightFrame(b"\xff" * 3 * most))
    with pytest.raises(MessageError, match="LightFrame: 1025 bytes of payload; 1024 is the most"):
        encode_message(LightFrame(b"\xff" * 3 * most + b"\x01\x01\x01"))


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (Hello(256, 1), "Hello: oldest is 256; expected 0 to 255"),
        (Configure(silence_ms=-1), "Configure: silence_ms is -1; expected 0 to 65535"),
        (Ping(1 << 32), "Ping: token is 4294967296; expected 0 to 4294967295"),
        (LightFrame(b"\x01\x02"), "LightFrame: 2 bytes of colours; expected three a light"),
        (Sound((Tone(1, 1),) * 256), "Sound: count is 256; expected 0 to 255"),
        (Sound((Tone(70_000, 1),)), "Sound: frequency_hz is 70000; expected 0 to 65535"),
        (SensorReport(0, (True,), ()), "SensorReport: 1 switches closed or open, 0 doubtful or not; expected as many"),
    ],
)
def test_what_fits_no_field_is_told(message: Message, told: str) -> None:
    with pytest.raises(MessageError, match=f"^{told}"):
        encode_message(message)


def test_payloads_that_cannot_be_are_told() -> None:
    with pytest.raises(MessageError, match="LIGHTS_LIT: light 4 comes after light 4; expected rising"):
        decode_message(Kind.LIGHTS_LIT, struct.pack("<HH3sH3s", 2, 4, b"abc", 4, b"abc"))
    with pytest.raises(MessageError, match="SENSORS: switch 1 changed, but there are only 1, numbered from 0"):
        decode_message(Kind.SENSORS, struct.pack("<IHBBBHBH", 0, 1, 0, 0, 1, 1, 1, 0))
    with pytest.raises(MessageError, match="LIGHTS_ALL: the payload ends after 4 bytes; colours needs bytes up to 5"):
        decode_message(Kind.LIGHTS_ALL, b"\x01\x00\x01\x02")


@pytest.mark.parametrize("kind", [0, Kind.ACKNOWLEDGED, Kind.MISSING, 0x0A, 0x16, 0x23, 0x30, 0xFF])
def test_a_kind_without_a_message_is_told(kind: int) -> None:
    with pytest.raises(MessageError, match=f"a packet of kind 0x{kind:02X}; there is no such message"):
        decode_message(kind, b"")


def test_texts_are_cut_between_characters() -> None:
    _, payload = encode_message(FaultReport(1, 0, "é" * 150))
    assert payload[3:].decode() == "é" * 100
    _, payload = encode_message(FaultReport(1, 0, "x" + "é" * 150))
    assert payload[3:].decode() == "x" + "é" * 99
    assert decode_message(Kind.FAULT, b"\x01\x00\x00a\xffb") == FaultReport(1, 0, "a�b")
    assert encode_message(Refused(1, 1, "\ud800"))[1] == b"\x01\x01?"
