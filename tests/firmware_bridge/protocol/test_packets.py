import random
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.errors import (
    BridgeError,
    MessageError,
    PacketChecksumError,
    PacketError,
    PacketLongError,
    PacketShortError,
    ProtocolError,
)
from firmware_bridge.protocol import messages
from firmware_bridge.protocol.codec import decode_message, encode_message
from firmware_bridge.protocol.packets import (
    BOTH_WAYS,
    FROM_DEVICE,
    FROM_HOST,
    LARGEST_ENCODED,
    LARGEST_PACKET,
    LARGEST_PAYLOAD,
    FrameReader,
    Kind,
    Packet,
    PacketReader,
    decode_packet,
    encode_frame,
    encode_packet,
    is_sequenced,
    may_come_from_device,
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
        assert may_come_from_device(kind) == (kind in FROM_DEVICE | BOTH_WAYS)
        if is_sequenced(kind):
            assert (kind in FROM_HOST) == (0x10 <= kind <= 0x1F)
            assert (kind in FROM_DEVICE) == (0x20 <= kind <= 0x2F)


@pytest.mark.parametrize(
    ("kind", "sequenced", "device"),
    [
        (0x00, False, True),
        (0x0F, False, True),
        (0x1F, True, False),
        (0x2F, True, True),
        (0x30, True, True),
        (0xFF, True, True),
    ],
)
def test_unknown_kinds_are_judged_by_their_range(kind: int, sequenced: bool, device: bool) -> None:
    assert (is_sequenced(kind), may_come_from_device(kind)) == (sequenced, device)


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


ENDING_IN_TEXT = (Kind.REFUSED, Kind.LOG, Kind.FAULT)


@given(strategies.messages)
def test_messages_come_back(message: messages.Message) -> None:
    kind, payload = encode_message(message)
    assert len(payload) <= LARGEST_PAYLOAD
    assert decode_message(kind, payload) == message


@given(strategies.messages, st.binary(min_size=1, max_size=20))
def test_what_a_later_version_adds_is_ignored(message: messages.Message, added: bytes) -> None:
    kind, payload = encode_message(message)
    if kind not in ENDING_IN_TEXT:
        assert decode_message(kind, payload + added) == message


@given(strategies.messages, st.data())
def test_a_payload_that_ends_early_is_told(message: messages.Message, data: st.DataObject) -> None:
    kind, payload = encode_message(message)
    text = message.text if isinstance(message, messages.Refused | messages.Log | messages.FaultReport) else ""
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
        message.trimmed() if isinstance(message, messages.LightFrame) else message,
        _cut(message),
    )


def _cut(message: messages.Message) -> messages.Message:
    """The message with its text or name as long as one may be."""
    match message:
        case messages.Refused(oldest, newest, text):
            return messages.Refused(oldest, newest, _cut_text(text))
        case messages.Log(level, counter, time_ms, text):
            return messages.Log(level, counter, time_ms, _cut_text(text))
        case messages.FaultReport(code, number, text):
            return messages.FaultReport(code, number, _cut_text(text))
        case messages.Welcome():
            return messages.Welcome(**{**vars(message), "board": _cut_text(message.board)})
    return message


def _cut_text(text: str) -> str:
    return text.encode()[:200].decode(errors="ignore")


def test_payloads_are_laid_out_as_described() -> None:
    assert encode_message(messages.Hello(1, 2)) == (Kind.HELLO, b"\x01\x02")
    welcome = messages.Welcome(1, (2, 3, 4), 5, 6, 7, 8, 9, 10, 11, 2, 12, 1, "Pico é")
    assert encode_message(welcome) == (
        Kind.WELCOME,
        struct.pack("<BBBBIIHBHHBBIBB", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 2, 12, 1, 7) + "Pico é".encode(),
    )
    assert encode_message(messages.Refused(2, 3, "no")) == (Kind.REFUSED, b"\x02\x03no")
    assert encode_message(messages.Ping(258)) == (Kind.PING, b"\x02\x01\x00\x00")
    assert encode_message(messages.Pong(1, 2)) == (Kind.PONG, struct.pack("<II", 1, 2))
    assert encode_message(messages.Log(30, 1, 2, "hm")) == (Kind.LOG, struct.pack("<BHI", 30, 1, 2) + b"hm")
    assert encode_message(messages.Sound((messages.Tone(440, 100), messages.Tone(0, 1)))) == (
        Kind.SOUND,
        struct.pack("<BHHHH", 2, 440, 100, 0, 1),
    )
    assert encode_message(messages.Configure(1, 2, 3, 4, 5, 6)) == (
        Kind.CONFIGURE,
        struct.pack("<HHHBHH", 1, 2, 3, 4, 5, 6),
    )
    assert encode_message(messages.Snapshot()) == (Kind.SNAPSHOT, b"")
    report = messages.SensorReport(
        9, (True,) + (False,) * 8, (False,) * 8 + (True,), (messages.SwitchChange(8, False, 7),)
    )
    assert encode_message(report) == (
        Kind.SENSORS,
        struct.pack("<IH", 9, 9) + b"\x01\x00" + b"\x00\x01" + struct.pack("<BHBH", 1, 8, 0, 7),
    )
    assert encode_message(messages.ButtonReport(1, 2, 3, 4, 5)) == (Kind.BUTTON, struct.pack("<HBBIH", 1, 2, 3, 4, 5))
    assert encode_message(messages.FaultReport(1, 2, "oh")) == (Kind.FAULT, struct.pack("<BH", 1, 2) + b"oh")


def test_lights_are_written_the_shorter_way() -> None:
    few = bytes(297) + b"\x01\x02\x03"
    assert encode_message(messages.LightFrame(few)) == (Kind.LIGHTS_LIT, struct.pack("<HH", 1, 99) + b"\x01\x02\x03")
    assert encode_message(messages.LightFrame(b"\x01\x02\x03\x04\x05\x06")) == (
        Kind.LIGHTS_ALL,
        b"\x02\x00\x01\x02\x03\x04\x05\x06",
    )
    assert encode_message(messages.LightFrame(bytes(300))) == (Kind.LIGHTS_ALL, b"\x00\x00")


@given(strategies.colours)
def test_lights_never_take_more_than_either_way(colours: bytes) -> None:
    kind, payload = encode_message(messages.LightFrame(colours))
    lights = len(colours.rstrip(b"\x00")) + 2
    lit = sum(any(colours[at : at + 3]) for at in range(0, len(colours), 3))
    assert len(payload) == 2 + min(lights - lights % 3, 5 * lit)
    arrived = decode_message(kind, payload)
    assert isinstance(arrived, messages.LightFrame)
    assert arrived.colours.ljust(len(colours), b"\x00") == colours


def test_as_many_lights_as_fit() -> None:
    most = (LARGEST_PAYLOAD - 2) // 3
    encode_message(messages.LightFrame(b"\xff" * 3 * most))
    with pytest.raises(MessageError, match="LightFrame: 1025 bytes of payload; 1024 is the most"):
        encode_message(messages.LightFrame(b"\xff" * 3 * most + b"\x01\x01\x01"))


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (messages.Hello(256, 1), "Hello: oldest is 256; expected 0 to 255"),
        (messages.Configure(silence_ms=-1), "Configure: silence_ms is -1; expected 0 to 65535"),
        (messages.Ping(1 << 32), "Ping: token is 4294967296; expected 0 to 4294967295"),
        (messages.LightFrame(b"\x01\x02"), "LightFrame: 2 bytes of colours; expected three a light"),
        (messages.Sound((messages.Tone(1, 1),) * 256), "Sound: count is 256; expected 0 to 255"),
        (messages.Sound((messages.Tone(70_000, 1),)), "Sound: frequency_hz is 70000; expected 0 to 65535"),
        (
            messages.SensorReport(0, (True,), ()),
            "SensorReport: 1 switches closed or open, 0 doubtful or not; expected as many",
        ),
    ],
)
def test_what_fits_no_field_is_told(message: messages.Message, told: str) -> None:
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
    _, payload = encode_message(messages.FaultReport(1, 0, "é" * 150))
    assert payload[3:].decode() == "é" * 100
    _, payload = encode_message(messages.FaultReport(1, 0, "x" + "é" * 150))
    assert payload[3:].decode() == "x" + "é" * 99
    assert decode_message(Kind.FAULT, b"\x01\x00\x00a\xffb") == messages.FaultReport(1, 0, "a�b")
    assert encode_message(messages.Refused(1, 1, "\ud800"))[1] == b"\x01\x01?"
