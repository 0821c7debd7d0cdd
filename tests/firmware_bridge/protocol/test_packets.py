from __future__ import annotations

import random
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.errors import (
    BridgeError,
    PacketChecksumError,
    PacketError,
    PacketLongError,
    PacketShortError,
    ProtocolError,
)
from firmware_bridge.protocol.packets import (
    BOTH_WAYS,
    FROM_DEVICE,
    FROM_HOST,
    Kind,
    Packet,
    decode_packet,
    encode_packet,
    is_sequenced,
    may_come_from_device,
    may_come_from_host,
)
from tests.firmware_bridge.protocol import oracle, strategies


@given(strategies.packets)
def test_packets_come_back(packet: Packet) -> None:
    assert decode_packet(encode_packet(packet)) == packet


def test_a_packet_is_laid_out_as_described() -> None:
    data = encode_packet(Packet(Kind.PING, 0x1234, 0x5678, 0x9ABC, b"\x01\x02\x03\x04"))
    assert data[:11] == bytes.fromhex("07 3412 7856 bc9a 01020304")
    assert data[11:] == oracle.crc32(data[:11]).to_bytes(4, "little")


def test_the_checksum_is_the_one_of_the_definition() -> None:
    assert oracle.crc32(b"123456789") == 0xCBF43926
    chance = random.Random(4)
    for _ in range(2000):
        data = chance.randbytes(chance.randrange(60))
        assert zlib.crc32(data) == oracle.crc32(data)


@given(st.binary(max_size=1100))
def test_any_bytes_are_a_packet_or_a_packet_error(data: bytes) -> None:
    try:
        packet = decode_packet(data)
    except PacketError:
        return
    assert encode_packet(packet) == data


@given(strategies.packets, st.data())
def test_a_burst_of_up_to_32_bits_is_always_noticed(packet: Packet, data: st.DataObject) -> None:
    """What a CRC of 32 bits promises of any generator: no error burst of its length or less passes."""
    encoded = encode_packet(packet)
    value = int.from_bytes(encoded, "little")
    burst = data.draw(st.integers(1, 0xFFFFFFFF)) << data.draw(st.integers(0, 8 * len(encoded) - 32))
    with pytest.raises(PacketChecksumError, match="a packet with the checksum"):
        decode_packet((value ^ burst).to_bytes(len(encoded), "little"))


def test_wrong_lengths_are_told() -> None:
    with pytest.raises(PacketShortError, match="a packet of 10 bytes; the smallest has 11"):
        decode_packet(bytes(10))
    with pytest.raises(PacketLongError, match="a packet of 1036 bytes; the largest has 1035"):
        decode_packet(bytes(1036))
    with pytest.raises(PacketLongError, match="a payload of 1025 bytes; the largest has 1024"):
        encode_packet(Packet(Kind.PING, payload=bytes(1025)))


def test_numbers_that_fit_no_field_are_told() -> None:
    with pytest.raises(
        PacketError, match="sequence, acknowledged are 7, 65536, 0, 0; expected 0 to 255, and 0 to 65535"
    ):
        encode_packet(Packet(Kind.PING, 65_536))


def test_errors_are_the_rooms_and_a_value_error() -> None:
    for error in (PacketShortError, PacketLongError, PacketChecksumError):
        assert issubclass(error, PacketError)
    assert issubclass(PacketError, ProtocolError)
    assert issubclass(ProtocolError, BridgeError)
    assert issubclass(ProtocolError, ValueError)


def test_every_kind_has_a_direction() -> None:
    assert set(Kind) == FROM_HOST | FROM_DEVICE | BOTH_WAYS
    assert not FROM_HOST & FROM_DEVICE
    for kind in Kind:
        assert may_come_from_host(kind) == (kind in FROM_HOST | BOTH_WAYS)
        assert may_come_from_device(kind) == (kind in FROM_DEVICE | BOTH_WAYS)
        if is_sequenced(kind):
            assert (kind in FROM_HOST) == (0x10 <= kind <= 0x1F)
            assert (kind in FROM_DEVICE) == (0x20 <= kind <= 0x2F)


@pytest.mark.parametrize(
    ("kind", "sequenced", "host", "device"),
    [
        (0x00, False, True, True),
        (0x0F, False, True, True),
        (0x1F, True, True, False),
        (0x2F, True, False, True),
        (0x30, True, True, True),
        (0xFF, True, True, True),
    ],
)
def test_unknown_kinds_are_judged_by_their_range(kind: int, sequenced: bool, host: bool, device: bool) -> None:
    assert (is_sequenced(kind), may_come_from_host(kind), may_come_from_device(kind)) == (sequenced, host, device)
