"""The benchmark of the link finds each kind of violation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.parts.link import parser_fuzz
from benchmarks.parts.link.exchange import TO_DEVICE, TO_HOST, Exchange, wire_faults
from benchmarks.parts.link.ledger import Ledger, number_in, numbered_fault, numbered_lights, numbered_sound
from benchmarks.parts.link.parser_fuzz import Fuzzed, FuzzSource, HostParser, fuzz
from benchmarks.parts.link.whole_firmware import Pressed, SlowLine, press_buttons, show_lights
from firmware_bridge.firmware.core.packets import PacketReader as DeviceReader
from firmware_bridge.protocol.codec import encode_message
from firmware_bridge.protocol.delivery import Arrival, Receiver, SendWindow
from firmware_bridge.protocol.link import HostLink
from firmware_bridge.protocol.packets import Kind, Packet, packet_frame
from simulator.microcontroller.stepped import IDLE_LOOP_S
from tests.effort import cases

NUMBERS = st.integers(0, 2**32 - 1)
# Session 7 with the device of boot 1.
HERE = (7, 1)


@given(NUMBERS, st.binary(max_size=100))
def test_numbered_messages_carry_their_number(number: int, filler: bytes) -> None:
    messages = (numbered_sound(number), numbered_lights(number, filler), numbered_fault(number, filler.hex()[:40]))
    for message in messages:
        assert number_in(*encode_message(message)) == number


@given(NUMBERS, st.integers(0, 7), st.data())
def test_a_flipped_bit_in_a_numbered_message_is_noticed(number: int, bit: int, data: st.DataObject) -> None:
    kind, payload = encode_message(numbered_sound(number))
    at = data.draw(st.integers(1, len(payload) - 1))
    spoilt = bytes([*payload[:at], payload[at] ^ 1 << bit, *payload[at + 1 :]])
    assert number_in(kind, spoilt) == -1


class Desk:
    """Two ledgers, and packets written by hand."""

    def __init__(self) -> None:
        self.there, self.back = Ledger("there"), Ledger("back")
        self.there.begin((7, 0), HERE)

    def write(self, sequence: int, number: int, acknowledged: int = 0) -> tuple[int, bytes]:
        kind, payload = encode_message(numbered_sound(number))
        frame = packet_frame(Packet(kind, 7, sequence, acknowledged, payload))
        self.there.note_written(frame, 0, self.back, 1)
        return kind, payload


def test_messages_that_arrive_unaltered_are_right() -> None:
    desk, count = Desk(), cases(70_000)
    for number in range(count):
        desk.there.give(*desk.write(number % 65536, number))
    desk.there.note_acknowledgement(HERE, count % 65536)
    desk.there.check_acknowledged(HERE, count)
    desk.there.check_everything_given((7, 0), HERE)
    assert desk.there.wrong == []
    assert desk.there.delivered == count


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ([1, 0], "where .* was sent"),
        ([0, 0], "where .* was sent"),
        ([0, 1, 2, 2], "that nobody sent"),
        ([0, 2], "where .* was sent"),
    ],
)
def test_duplicated_and_reordered_messages_are_noticed(order: list[int], words: str) -> None:
    desk = Desk()
    packets = [desk.write(number, number) for number in range(3)]
    for number in order:
        desk.there.give(*packets[number])
    assert desk.there.wrong_count > 0
    with pytest.raises(AssertionError, match=words):
        raise AssertionError(desk.there.wrong[0])


def test_an_acknowledged_but_undelivered_message_is_noticed() -> None:
    desk = Desk()
    desk.there.give(*desk.write(0, 0))
    desk.write(1, 1)
    desk.there.note_acknowledgement(HERE, 1)
    desk.there.check_acknowledged(HERE, 1)
    assert desk.there.wrong == []
    desk.there.note_acknowledgement(HERE, 2)
    desk.there.check_acknowledged(HERE, 2)
    desk.there.check_everything_given((7, 0), HERE)
    assert desk.there.wrong == [
        "there: acknowledged up to 2, given 1 (session, boot (7, 1))",
        "there: 2 acknowledged, only 1 given (session, boot (7, 1))",
        "there: 1 messages never came (session, boot (7, 1))",
    ]


def test_a_number_written_with_two_payloads_is_noticed() -> None:
    desk = Desk()
    desk.write(0, 5)
    desk.write(0, 5)
    assert (desk.there.resent, desk.there.wrong_count) == (1, 0)
    desk.write(0, 6)
    assert desk.there.wrong == ["there: number 0 was written with two payloads (session, boot (7, 0))"]


def test_messages_before_a_restart_do_not_count_for_the_restarted_device() -> None:
    desk = Desk()
    kind, payload = encode_message(numbered_fault(1, ""))
    newer_kind, newer_payload = encode_message(numbered_fault(2, ""))
    for boot, sent in ((1, payload), (2, newer_payload)):
        desk.back.note_written(packet_frame(Packet(kind, 7, 0, 0, sent)), boot, desk.there, boot)
    desk.back.begin((7, 2), (7, 2))
    desk.back.give(newer_kind, newer_payload)
    assert desk.back.wrong == []
    desk.back.check_acknowledged((7, 1), 1)
    assert desk.back.wrong == ["back: 1 acknowledged, only 0 given (session, boot (7, 1))"]


def test_an_exchange_over_a_faulty_wire_is_right_and_deterministic() -> None:
    first, second = (Exchange(wire_faults(0.05), 3).run(2000) for _ in range(2))
    assert first.wrong == []
    assert sum(first.delivered.values()) >= 2000
    assert min(first.delivered[TO_DEVICE], first.delivered[TO_HOST]) > 400
    assert first.resent > 0
    assert (first.frames, first.delivered, first.struck, first.lasted_s) == (
        second.frames,
        second.delivered,
        second.struck,
        second.lasted_s,
    )


def test_a_receiver_that_accepts_everything_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    take = Receiver.take

    def take_anything(self: Receiver, sequence: int, now_s: float) -> Arrival:
        take(self, sequence, now_s)
        return Arrival.NEXT

    monkeypatch.setattr(Receiver, "take", take_anything)
    assert Exchange(wire_faults(0.05), 3).run(500).wrong_count > 0


def test_a_sender_that_does_not_retransmit_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def forget(self: SendWindow, now_s: float) -> tuple[()]:
        while self._outstanding:
            self._outstanding.popleft()
        return ()

    monkeypatch.setattr(SendWindow, "resend", forget)
    never = property(lambda self: False, lambda self, value: None)
    monkeypatch.setattr(SendWindow, "must_resend", never, raising=False)
    assert Exchange(wire_faults(0.05), 3).run(500).wrong_count > 0


@pytest.mark.parametrize("parser", parser_fuzz.PARSERS)
def test_the_parsers_accept_only_intact_frames(parser: str) -> None:
    result = fuzz(parser, 100_000, 1)
    assert result.met
    assert result.byte_count >= 100_000
    assert result.accepted == result.whole_sent > 100
    assert result.compared > result.whole_sent
    assert 0 < result.expected_unsent < 1e-6


def test_a_parser_without_checksum_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def take(self: DeviceReader, length: int, now: int) -> None:
        if length >= 11:
            self._handler.handle_packet(self._frame[: length - 4], now)

    monkeypatch.setattr(DeviceReader, "_take", take)
    result = fuzz("device", 50_000, 1)
    assert result.accepted_unsent > 0
    assert not result.met


@pytest.mark.parametrize("error", [IndexError("beyond"), MemoryError()])
def test_a_parser_that_fails_is_found_out(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def feed(self: HostParser, data: bytes) -> list[bytes]:
        raise error

    monkeypatch.setattr(HostParser, "feed", feed)
    result = fuzz("host", 50_000, 1)
    assert result.crash is not None
    assert type(error).__name__ in result.crash
    assert not result.met


def test_a_parser_that_misses_something_is_found_out() -> None:
    total = Fuzzed("host")
    total.add(Fuzzed("host", whole_sent=2, accepted=1, whole_missed=1))
    assert not total.met


def test_the_same_seed_gives_the_same_bytes() -> None:
    assert FuzzSource(4).stream(5000) == FuzzSource(4).stream(5000)
    assert FuzzSource(4).stream(5000) != FuzzSource(5).stream(5000)


def test_other_messages_carry_no_number() -> None:
    assert number_in(Kind.SNAPSHOT, b"") is None


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_each_press_is_reported_once(share: float) -> None:
    result = press_buttons(2, 25, share)
    assert len(result.pressed) == 50
    assert result.met
    assert len(result.took_s) == 25
    # The contact must rest for 20 ms, counted from the round of the idle loop before the touch.
    assert min(result.took_s) >= 0.02 - IDLE_LOOP_S


def test_a_press_reported_twice_is_found_out() -> None:
    assert Pressed(1, [(0, 1), (0, 3)], [(0, 1), (0, 3)]).met
    assert not Pressed(1, [(0, 1), (0, 3)], [(0, 1), (0, 1), (0, 3)]).met


@pytest.mark.parametrize(("baud", "lights", "shown"), [(9_600, 300, 4), (38_400, 64, 50), (115_200, 64, 61)])
def test_slow_lines_show_the_newest_lights_without_retransmission(baud: int, lights: int, shown: int) -> None:
    result = show_lights(baud, lights, 3.0)
    assert result.met
    assert result.sent in (60, 61)
    assert shown <= result.shown <= result.sent
    assert len(result.took_s) == result.shown
    # The bits of a frame of lights, ten a byte, three bytes a light.
    assert min(result.took_s) >= 30 * lights / baud


def test_a_retransmission_on_a_slow_line_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HostLink, "use_line", lambda *_: None)
    result = show_lights(38_400, 300, 3.0)
    assert result.again > 0
    assert not result.met


def test_missing_lights_and_ended_sessions_are_noticed() -> None:
    assert SlowLine(1, 1, sessions=1, is_last_shown=True).met
    assert not SlowLine(1, 1, sessions=2, is_last_shown=True).met
    assert not SlowLine(1, 1, sessions=1, is_last_shown=False).met
