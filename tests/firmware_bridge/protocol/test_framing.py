from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.errors import PacketLongError
from firmware_bridge.protocol.packets import LARGEST_ENCODED, LARGEST_PACKET, FrameReader, PacketReader, encode_frame
from tests.firmware_bridge.protocol import oracle, strategies


def read(*pieces: bytes) -> tuple[list[bytes], int, int]:
    reader = FrameReader()
    packets = [packet for piece in pieces for packet in reader.feed(piece)]
    return packets, reader.undecodable, reader.long


@given(st.one_of(st.binary(max_size=LARGEST_PACKET), strategies.zeroish), st.data())
def test_what_is_framed_is_read_again_in_whatever_pieces(packet: bytes, data: st.DataObject) -> None:
    frame = encode_frame(packet)
    assert frame[:1] == frame[-1:] == b"\x00"
    assert 0 not in frame[1:-1]
    assert read(*data.draw(strategies.chunks(frame))) == ([packet], 0, 0)


def test_frames_are_as_the_definition_of_cobs_has_them() -> None:
    chance = random.Random(1)
    for _ in range(3000):
        length = chance.choice((0, 1, 2, 253, 254, 255, 507, 508, 509, chance.randrange(600), LARGEST_PACKET))
        values = chance.choice((range(256), (0, 1), (1, 255), (0,), (7,)))
        packet = bytes(chance.choices(values, k=length))
        assert encode_frame(packet) == b"\x00" + oracle.cobs_encode(packet) + b"\x00"


def test_any_bytes_are_decoded_as_the_definition_of_cobs_has_them() -> None:
    chance = random.Random(2)
    decoded = 0
    for _ in range(20_000):
        encoded = bytes(chance.choices((1, 2, 3, 4, 7, 255, chance.randrange(1, 256)), k=chance.randrange(1, 20)))
        packets, undecodable, _ = read(encoded + b"\x00")
        expected = oracle.cobs_decode(encoded)
        assert packets == ([] if expected is None else [expected])
        assert undecodable == (expected is None)
        decoded += expected is not None
    assert 1000 < decoded < 19_000


def test_the_longest_packet_just_fits() -> None:
    for packet in (b"\xff" * LARGEST_PACKET, bytes(LARGEST_PACKET)):
        assert read(encode_frame(packet)) == ([packet], 0, 0)
    assert len(encode_frame(b"\x01" * LARGEST_PACKET)) == LARGEST_ENCODED + 2
    with pytest.raises(PacketLongError, match=r"1036 bytes; the largest has 1035"):
        encode_frame(bytes(LARGEST_PACKET + 1))


def test_what_is_too_long_costs_no_more_than_itself() -> None:
    good = encode_frame(b"good")
    assert read(good, b"\x01" * 100_000, good) == ([b"good", b"good"], 0, 1)
    assert read(*[b"\x01"] * 3000, good) == ([b"good"], 0, 1)
    assert read(b"\x00" + b"\x01" * LARGEST_ENCODED + b"\x00", good) == ([b"good"], 0, 1)


@given(strategies.damaged_streams(), st.data())
def test_damaged_bytes_give_what_the_oracle_gives_however_they_are_cut(stream: bytes, data: st.DataObject) -> None:
    reader = PacketReader()
    packets = [packet for piece in data.draw(strategies.chunks(stream)) for packet in reader.feed(piece)]
    expected, wrong = oracle.cut(stream)
    assert [(p.kind, p.session, p.sequence, p.acknowledged, p.payload) for p in packets] == expected
    dropped = reader.dropped
    told = {name: getattr(dropped, name) for name in ("undecodable", "long", "short", "checksum")}
    assert {name: count for name, count in told.items() if count} == wrong
    assert dropped.total == sum(wrong.values())
    assert reader.packets == len(expected)


@given(st.binary(max_size=4000), st.data())
def test_any_bytes_are_taken_without_a_complaint_however_they_are_cut(stream: bytes, data: st.DataObject) -> None:
    reader = PacketReader()
    pieces = data.draw(strategies.chunks(stream))
    count = sum(len(reader.feed(piece)) for piece in pieces)
    expected, wrong = oracle.cut(stream)
    assert count == len(expected)
    assert reader.dropped.total == sum(wrong.values())


@pytest.mark.long
def test_megabytes_of_chance_hold_no_packet() -> None:
    chance = random.Random(3)
    reader = PacketReader()
    for _ in range(100):
        assert reader.feed(chance.randbytes(100_000)) == []
    # 10,000,000 bytes have a zero every 256, and two zeros side by side hold nothing.
    assert 38_000 < reader.dropped.total < 40_000
