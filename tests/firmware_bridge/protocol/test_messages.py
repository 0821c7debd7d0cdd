"""Packets and frames: they come back as they were, and whatever comes, nothing fails and nothing grows."""

import contextlib
import json
import re
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from cobs import cobs
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.errors import BridgeError, MessageError
from firmware_bridge.firmware.core import device, packets, version
from firmware_bridge.protocol import messages
from firmware_bridge.protocol.messages import (
    BoardSettings,
    BoardState,
    HostState,
    Kind,
    Message,
    Tone,
    Wanted,
    Welcome,
    decode_packet,
    encode_packet,
)
from firmware_bridge.protocol.packets import LARGEST_ENCODED, LARGEST_PACKET, PacketReader, encode_frame
from tests.firmware_bridge.protocol import oracle, strategies

FILE = Path(__file__).parents[2] / "data" / "protocol-vectors.json"
VECTORS: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
PAGE = (Path(__file__).resolve().parents[3] / "docs" / "internals" / "protocol.md").read_text(encoding="utf-8")


def named(entries: list[dict[str, Any]]) -> list[Any]:
    return [pytest.param(entry, id=entry["name"]) for entry in entries]


def test_checksums() -> None:
    for entry in VECTORS["checksums"]:
        assert oracle.crc32(bytes.fromhex(entry["bytes"])) == entry["crc"]


@pytest.mark.parametrize("entry", named(VECTORS["framing"]))
def test_framing(entry: dict[str, Any]) -> None:
    data, frame = bytes.fromhex(entry["packet"]), bytes.fromhex(entry["frame"])
    assert frame == b"\x00" + oracle.cobs_encode(data) + b"\x00"
    assert oracle.cobs_decode(frame[1:-1]) == data
    assert cobs.encode(data) == frame[1:-1]


def told(value: Any) -> Any:
    """A field's value as the file has it."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict):
        return {name: told(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [told(item) for item in value]
    return value


@pytest.mark.parametrize("entry", named(VECTORS["messages"]))
def test_messages(entry: dict[str, Any]) -> None:
    packet, frame = bytes.fromhex(entry["packet"]), bytes.fromhex(entry["frame"])
    assert frame == b"\x00" + oracle.cobs_encode(packet + oracle.crc32(packet).to_bytes(4, "little")) + b"\x00"
    assert encode_frame(packet) == frame
    message = decode_packet(packet)
    assert type(message).__name__ == entry["message"]
    assert told(asdict(message)) == entry["fields"]
    assert encode_packet(message) == packet


@pytest.mark.parametrize("entry", named(VECTORS["bad"]))
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_bad_frames(entry: dict[str, Any], size: int) -> None:
    reader, data = PacketReader(), bytes.fromhex(entry["bytes"])
    got = [packet.hex() for at in range(0, len(data), size) for packet in reader.feed(data[at : at + size])]
    assert got == entry["packets"]
    assert {why: count for why, count in asdict(reader.dropped).items() if count} == entry["counted"]


@given(strategies.messages)
def test_a_message_comes_back_as_it_was(message: Message) -> None:
    (packet,) = PacketReader().feed(encode_frame(encode_packet(message)))
    assert decode_packet(packet) == message


@given(strategies.messages, st.binary(max_size=20))
def test_bytes_of_later_versions_are_ignored_and_missing_ones_refused(message: Message, more: bytes) -> None:
    packet = encode_packet(message)
    assert decode_packet(packet + more) == message
    for length in range(min(len(packet), 40)):
        with pytest.raises(MessageError):
            decode_packet(packet[:length])


@given(st.binary(max_size=300))
def test_whatever_comes_is_a_message_or_a_message_error(data: bytes) -> None:
    for kind in Kind:
        with contextlib.suppress(MessageError):
            decode_packet(bytes((kind, messages.PROTOCOL)) + data)
    with contextlib.suppress(MessageError):
        decode_packet(data)


@given(strategies.damaged_streams(), st.integers(1, 50))
def test_what_a_bad_cable_makes_of_it_is_counted_and_its_pieces_do_not_matter(data: bytes, size: int) -> None:
    whole, pieces = PacketReader(), PacketReader()
    expected = whole.feed(data)
    assert [packet for at in range(0, len(data), size) for packet in pieces.feed(data[at : at + size])] == expected
    assert whole.dropped == pieces.dropped
    assert whole.packets == len(expected)
    assert len(pieces._partial) <= LARGEST_ENCODED


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (HostState(0, 65536), "HostState"),
        (HostState(0, 1, wanted=Wanted(settings=BoardSettings(brightness=256))), "HostState"),
        (HostState(0, 1, wanted=Wanted(colours=b"\1\2")), "2 bytes of colours; expected three a light"),
        (HostState(0, 1, wanted=Wanted(colours=b"\1" * 1083)), "1083 bytes of colours; 1080 are the most"),
        (HostState(0, 1, wanted=Wanted(tones=(Tone(1, 1),) * 33)), "33 tones; 32 are the most"),
        (BoardState(1, 2, closed=(True,)), "1 switches, 0 doubtful or not"),
        (BoardState(1, 2, closed=(True,) * 6000, doubtful=(True,) * 6000), f"{LARGEST_PACKET} is the most"),
        (Welcome((1, 2, 256), 0, 0, 0, 0, 0, 0, 0, ""), "expected numbers up to 255"),
    ],
)
def test_what_no_packet_holds_is_refused(message: Message, words: str) -> None:
    with pytest.raises(MessageError, match=re.escape(words)):
        encode_packet(message)
    assert issubclass(MessageError, BridgeError)
    assert issubclass(MessageError, ValueError)


def test_the_largest_lights_and_tones_fit_into_one_packet() -> None:
    largest = Wanted(colours=b"\1" * 1080, tones=(Tone(1, 1),) * 32)
    assert len(encode_packet(HostState(1, 1, (1,) * 8, wanted=largest))) <= LARGEST_PACKET
    sparse = Wanted(colours=bytes(60_000) + b"\1\2\3")
    assert decode_packet(encode_packet(HostState(1, 1, wanted=sparse))) == HostState(1, 1, wanted=sparse)


@pytest.mark.parametrize(
    "lights",
    [b"\3\0\0", b"\2\2\0" + b"\3\0abc\2\0abc", b"\2\2\0" + b"\3\0abc\3\0abc", b"\1\2\0abc"],
)
def test_impossible_lights_are_refused(lights: bytes) -> None:
    packet = encode_packet(HostState(1, 1, wanted=Wanted()))
    with pytest.raises(MessageError):
        decode_packet(packet[:-3] + lights)


def test_a_welcome_of_more_switches_than_any_board_has_is_refused() -> None:
    most = Welcome((1, 2, 3), 0, 0, messages.MOST_SWITCHES, 0, 0, 0, 0, "")
    assert decode_packet(encode_packet(most)) == most
    with pytest.raises(MessageError, match="1025 switches; 1024 are the most"):
        decode_packet(encode_packet(replace(most, switches=messages.MOST_SWITCHES + 1)))


def test_long_texts_are_cut_between_characters() -> None:
    welcome = decode_packet(encode_packet(Welcome((1, 2, 3), 0, 0, 0, 0, 0, 0, 0, "x" + "ä" * 300, "\ud800")))
    assert isinstance(welcome, Welcome)
    assert (welcome.board, welcome.trouble) == ("x" + "ä" * 99, "?")


def test_both_ends_and_the_page_have_the_same_numbers() -> None:
    assert tuple(Kind) == (packets.HOST_STATE, packets.BOARD_STATE, packets.WELCOME)
    assert LARGEST_PACKET + packets.CHECKSUM_BYTES == packets.LARGEST_PACKET
    assert packets.LARGEST_ENCODED == LARGEST_ENCODED
    assert version.PROTOCOL == messages.PROTOCOL == VECTORS["protocol"]
    assert device.MOST_TONES == messages.MOST_TONES
    for kind in Kind:
        assert f"`0x{kind:02X}` {kind.name}" in PAGE
    assert f"version {messages.PROTOCOL} of the protocol" in PAGE
    assert f"at most {LARGEST_PACKET} bytes" in PAGE
    assert f"{LARGEST_ENCODED} encoded bytes" in PAGE
    assert f"their number, at most {messages.MOST_SWITCHES}" in PAGE


BITS = re.compile(r"^\| u(8|16|32) \| `?(\w+)`? \|", re.MULTILINE)


@pytest.mark.parametrize(
    ("heading", "form"),
    [
        ("The host's state", messages._HOST),
        ("What is wanted", messages._WANTED),
        ("The board's state", messages._BOARD),
        ("Welcome", messages._WELCOME),
    ],
)
def test_the_pages_tables_have_the_sizes_of_the_code(heading: str, form: Any) -> None:
    found = re.search(rf"^#+ {heading}\n(.*?)(?=^#|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found, heading
    fixed = found[1].split("\n\n", 2)[1] if "|" not in found[1].split("\n\n")[0] else found[1].split("\n\n")[0]
    bits = [int(size) for size, _ in BITS.findall(fixed)]
    assert sum(bits) == 8 * form.size
