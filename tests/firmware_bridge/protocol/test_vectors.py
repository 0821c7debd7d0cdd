"""The host's end keeps to the vectors, and the vectors to the oracle, which shares nothing with the host's end."""

import json
import struct
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from firmware_bridge.protocol.codec import decode_message, encode_message
from firmware_bridge.protocol.messages import SwitchChange, Tone
from firmware_bridge.protocol.packets import (
    FROM_DEVICE,
    Kind,
    Packet,
    PacketReader,
    decode_packet,
    encode_frame,
    encode_packet,
    may_come_from_device,
)
from tests.firmware_bridge.protocol import oracle

FILE = Path(__file__).parents[2] / "data" / "protocol-vectors.json"
VECTORS: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))


def named(entries: list[dict[str, Any]]) -> list[Any]:
    return [pytest.param(entry, id=entry["name"]) for entry in entries]


def test_checksums() -> None:
    assert len({entry["bytes"] for entry in VECTORS["checksums"]}) == len(VECTORS["checksums"])
    for entry in VECTORS["checksums"]:
        assert oracle.crc32(bytes.fromhex(entry["bytes"])) == entry["crc"]


@pytest.mark.parametrize("entry", named(VECTORS["framing"]))
def test_framing(entry: dict[str, Any]) -> None:
    packet, frame = bytes.fromhex(entry["packet"]), bytes.fromhex(entry["frame"])
    assert encode_frame(packet) == frame == b"\x00" + oracle.cobs_encode(packet) + b"\x00"
    assert oracle.cobs_decode(frame[1:-1]) == packet


def test_the_lengths_where_cobs_begins_another_block_are_there() -> None:
    lengths = {len(entry["packet"]) // 2 for entry in VECTORS["framing"]}
    assert {0, 1, 253, 254, 255, 508, 509, 1035} <= lengths


@pytest.mark.parametrize("entry", named(VECTORS["messages"]))
def test_messages(entry: dict[str, Any]) -> None:
    payload, data = bytes.fromhex(entry["payload"]), bytes.fromhex(entry["packet"])
    packet = Packet(entry["number"], entry["session"], entry["sequence"], entry["acknowledged"], payload)
    assert encode_packet(packet) == data
    assert decode_packet(data) == packet
    header = struct.pack("<BHHH", entry["number"], entry["session"], entry["sequence"], entry["acknowledged"])
    assert data == header + payload + oracle.crc32(header + payload).to_bytes(4, "little")
    assert bytes.fromhex(entry["frame"]) == encode_frame(data)
    assert Kind(entry["number"]).name == entry["kind"]
    assert (packet.kind not in FROM_DEVICE) == (entry["from"] in ("host", "both"))
    assert may_come_from_device(packet.kind) == (entry["from"] in ("device", "both"))
    if entry["message"] is not None:
        message = decode_message(packet.kind, payload)
        assert type(message).__name__ == entry["message"]
        assert {field.name: told(getattr(message, field.name)) for field in fields(message)} == entry["fields"]
        assert encode_message(message) == (packet.kind, payload)


def told(value: Any) -> Any:
    """A field's value as the file has it."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, tuple):
        return [told(item) for item in value]
    if isinstance(value, Tone | SwitchChange):
        return [told(getattr(value, field.name)) for field in fields(value)]
    return value


def test_every_kind_is_there() -> None:
    assert {entry["number"] for entry in VECTORS["messages"]} == set(Kind)


@pytest.mark.parametrize("entry", named(VECTORS["bad"]))
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_bad_bytes(entry: dict[str, Any], size: int) -> None:
    data = bytes.fromhex(entry["bytes"])
    reader = PacketReader()
    packets = [packet for at in range(0, len(data), size) for packet in reader.feed(data[at : at + size])]
    assert [encode_packet(packet).hex() for packet in packets] == entry["packets"]
    counted = {field.name: getattr(reader.dropped, field.name) for field in fields(reader.dropped)}
    assert {name: count for name, count in counted.items() if count} == entry["counted"]
    found, wrong = oracle.cut(data)
    assert len(found) == len(entry["packets"])
    assert wrong == entry["counted"]


def test_every_way_of_being_bad_is_there() -> None:
    assert {way for entry in VECTORS["bad"] for way in entry["counted"]} == {"undecodable", "long", "short", "checksum"}


@pytest.mark.parametrize("entry", named(VECTORS["conversations"]))
def test_conversations_are_well_formed(entry: dict[str, Any]) -> None:
    times = [step["at_ms"] for step in entry["steps"]]
    assert times == sorted(set(times))
    assert set().union(*entry["steps"]) <= {"at_ms", "arrives", "sends", "lights"}
    for step in entry["steps"]:
        for packet in step["sends"]:
            assert may_come_from_device(Kind[packet["kind"]])
            assert set(packet) == {"kind", "session", "sequence", "acknowledged", "fields"}
