"""The device's ears against the host's mouth: packets and pin maps, right and wrong."""

from __future__ import annotations

import json
import zlib

import pytest
from cobs import cobs
from hypothesis import example, given
from hypothesis import strategies as st

from firmware_bridge.firmware.core import packets
from firmware_bridge.firmware.core.device import truncated_utf8
from firmware_bridge.firmware.core.packets import decode_in_place, encode_into, max_encoded_size
from firmware_bridge.firmware.core.pin_map import ACTIVE_BUZZER, NO_BUZZER, PASSIVE_BUZZER, PinMap, read_pin_map
from firmware_bridge.protocol.packets import PacketReader, encode_frame

few_values = st.lists(st.sampled_from([0, 0, 1, 255, 77]), max_size=1035).map(bytes)
packet_bytes = st.one_of(st.binary(max_size=1035), few_values, st.integers(0, 1035).map(lambda n: b"\7" * n))
any_packet = st.binary(min_size=2, max_size=80)


@given(packet_bytes)
def test_frames_are_those_of_the_library(data):
    target = bytearray(max_encoded_size(len(data)) + 1)
    end = encode_into(data, target, 1)
    assert target[1:end] == cobs.encode(data)
    frame = target[1:end]
    length = decode_in_place(memoryview(frame), len(frame))
    assert frame[:length] == data


@given(st.binary(max_size=300))
def test_checksums_are_those_of_the_library(data):
    assert packets.crc32(data) == packets.crc32_by_nibbles(memoryview(data)) == zlib.crc32(data)


@given(any_packet)
def test_packets_are_those_of_the_host(packet):
    assert packets.frame_of(bytearray(packet + bytes(packets.CHECKSUM_BYTES))) == encode_frame(packet)


class Collecting(packets.PacketHandler):
    def __init__(self):
        self.taken = []

    def handle_packet(self, packet, now):
        self.taken.append(bytes(packet))


def read(pieces):
    """What the device's reader makes of it: packets, and counts of what was dropped."""
    taker = Collecting()
    reader = packets.PacketReader(taker)
    for piece in pieces:
        reader.feed(piece, 0)
    assert reader.accepted == len(taker.taken)
    return taker.taken, (reader.undecodable, reader.too_long, reader.too_short, reader.wrong_checksum)


def flipped(frame, at, bits):
    """The frame with some bits of a byte turned over."""
    turned = bytearray(frame)
    turned[at % len(frame)] ^= bits
    return bytes(turned)


good = any_packet.map(encode_frame)
spoilt = st.builds(flipped, good, st.integers(0, 120), st.integers(1, 255))
stream = st.lists(
    st.one_of(good, spoilt, st.binary(max_size=40), st.binary(min_size=1, max_size=3).map(lambda data: data * 500)),
    max_size=8,
).map(b"".join)


@given(stream, st.lists(st.integers(1, 300), max_size=40))
def test_any_bytes_in_any_pieces_give_what_the_host_would_read(data, sizes):
    pieces, at = [], 0
    for size in sizes:
        pieces.append(data[at : at + size])
        at += size
    pieces.append(data[at:])
    host = PacketReader()
    expected = host.feed(data)
    taken, counted = read(pieces)
    assert taken == expected
    dropped = host.dropped
    assert counted == (dropped.undecodable, dropped.long, dropped.short, dropped.checksum)


def test_what_is_sent_after_garbage_is_read():
    frame = encode_frame(b"H\2" + bytes(range(30)))
    taken, counted = read([b"MicroPython v1.27\r\n>>> ", frame, b"\xff" * 3000, frame])
    assert len(taken) == 2
    assert counted == (1, 1, 0, 0)


WHOLE = {
    "format": 1,
    "board": "pico",
    "name": "my board",
    "link": {"uart": 0, "tx": 0, "rx": 1, "baud": 115200},
    "lights": {"pin": 28, "count": 64, "order": "RGB", "limit_ma": 2000, "brightness": 100},
    "matrix": {"rows": [2, 3], "columns": [4, 5, 6], "diodes": True},
    "switches": [7, 8],
    "buttons": [10, 11],
    "buzzer": {"pin": 22, "kind": "active"},
}


def as_read(form):
    return read_pin_map(json.dumps(form).encode())


def test_a_whole_pin_map():
    data = json.dumps(WHOLE).encode()
    pins = read_pin_map(data)
    assert pins.faults == []
    assert pins.checksum == zlib.crc32(data)
    assert (pins.board, pins.uart, pins.light_pin, pins.lights) == ("my board", (0, 0, 1, 115200), 28, 64)
    assert (pins.light_order, pins.limit_ma, pins.brightness) == ("RGB", 2000, 100)
    assert (pins.rows, pins.columns, pins.diodes, pins.singles) == ([2, 3], [4, 5, 6], True, [7, 8])
    assert (pins.buttons, pins.buzzer_pin, pins.buzzer, pins.switches) == ([10, 11], 22, ACTIVE_BUZZER, 8)


def test_a_small_pin_map_and_none():
    pins = as_read({"format": 1, "board": "pico", "buttons": [5], "buzzer": {"pin": 6}})
    assert pins.faults == []
    assert (pins.board, pins.uart, pins.lights, pins.switches, pins.buzzer) == ("pico", None, 0, 0, PASSIVE_BUZZER)
    assert (PinMap().checksum, PinMap().buzzer, PinMap().faults) == (0, NO_BUZZER, [])


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"format": 2}, "format"),
        ({"buttons": [28]}, "pin 28 is used twice: lights and button 0"),
        ({"switches": [2]}, "pin 2 is used twice"),
        ({"buttons": [99]}, "0 to 48"),
        ({"buttons": [True]}, "button 0"),
        ({"buttons": "12"}, "a list"),
        ({"buttons": list(range(30, 39))}, "at most 8"),
        ({"lights": {"pin": 28, "count": 301}}, "1 to 300"),
        ({"lights": {"pin": 28, "count": 0}}, "1 to 300"),
        ({"lights": {"pin": 28, "count": 3, "order": "RGBW"}}, "RGBW"),
        ({"lights": 7}, "lights: expected an object"),
        ({"lights": {"pin": 28, "count": 3, "limit_ma": "lots"}}, "lots"),
        ({"matrix": {"rows": [2], "columns": []}}, "rows and columns"),
        ({"buzzer": {"pin": 22, "kind": "loud"}}, "loud"),
        ({"link": {"uart": 0, "tx": 0}}, "link rx"),
        ({"link": "wireless"}, "link: expected an object"),
    ],
)
def test_a_pin_map_with_a_fault_drives_nothing(change, told):
    pins = as_read({**WHOLE, **change})
    assert told in "; ".join(pins.faults)
    assert (pins.lights, pins.switches, pins.buttons, pins.buzzer) == (0, 0, [], NO_BUZZER)
    assert pins.uart == (None if "link" in change or "format" in change else (0, 0, 1, 115200))


@given(st.one_of(st.binary(max_size=200), st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 400), st.text(max_size=4)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(
        ["format", "board", "name", "link", "lights", "matrix", "switches", "buttons", "buzzer", "pin", "count", "rows",
         "columns", "kind", "uart", "tx", "rx", "baud", "order", "limit_ma"]), inner, max_size=8)),
    max_leaves=20,
).map(lambda form: json.dumps({**form, "format": 1} if isinstance(form, dict) else form).encode())))  # fmt: skip
@example(b'{"format": 1, "name": ' + b"[" * 30_000)
def test_no_pin_map_at_all_stops_the_device(data):
    pins = read_pin_map(data)
    used = [*pins.rows, *pins.columns, *pins.singles, *pins.buttons]
    assert len(used) == len(set(used))
    assert not pins.faults or not used


@given(st.text(max_size=60) | st.text(min_size=60, max_size=201))
def test_texts_are_cut_between_characters(text):
    cut = truncated_utf8(text, 200)
    assert len(cut) <= 200
    assert text.startswith(cut.decode())
    left_out = text[len(cut.decode()) :]
    assert not left_out or len(cut) + len(left_out[0].encode()) > 200
