"""The host's end of the link, step by step, against packets written by hand: what is sent, held and acknowledged."""

from __future__ import annotations

import pytest

from firmware_bridge.errors import MessageError
from firmware_bridge.protocol.codec import encode_message
from firmware_bridge.protocol.delivery import SerialLine
from firmware_bridge.protocol.link import LIGHTS_AHEAD_S
from firmware_bridge.protocol.messages import ButtonReport, Configure, Leave, LightFrame, Snapshot, Sound, Tone, Welcome
from firmware_bridge.protocol.packets import Kind, Packet
from tests.firmware_bridge.protocol.link_bench import RED, REPORT, SESSION, WELCOME, Bench


def test_a_newer_frame_replaces_one_that_waits_but_never_one_that_was_sent() -> None:
    bench = Bench()
    frames = [LightFrame(bytes((number, 0, 0))) for number in range(1, 7)]
    bench.link.send(frames[0])
    bench.packets()
    for frame in frames[1:]:
        bench.link.send(frame)
    first = [packet.payload for packet in bench.packets()]
    assert first == [encode_message(frames[5])[1]]
    for frame in frames[:3]:
        bench.link.send(frame)
    assert bench.packets() == []
    assert bench.link.undelivered == 3
    resent = [packet.payload for packet in bench.packets(0.3)]
    assert resent == [encode_message(frame)[1] for frame in (frames[0], frames[5])]
    bench.raw(Packet(Kind.ACKNOWLEDGED, SESSION, 0, 1))
    assert [packet.payload for packet in bench.packets()] == [encode_message(frames[2])[1]]
    assert bench.link.statistics.replaced == 6


def test_on_a_slow_line_the_newest_frame_goes_when_the_line_is_nearly_free() -> None:
    bench = Bench()
    bench.link.use_line(SerialLine(1000.0))
    first = LightFrame(bytes(range(1, 100)))
    bench.link.send(first)
    frame_s = len(bench.link.outgoing(bench.now_s)) / 1000
    assert frame_s > 0.1
    for number in range(5):
        bench.link.send(LightFrame(bytes((1, 1, 1 + number))))
    assert bench.due_in_s == pytest.approx(frame_s - LIGHTS_AHEAD_S)
    assert bench.packets(frame_s - LIGHTS_AHEAD_S - 0.001) == []
    # What is no light frame waits for nothing.
    bench.link.send(Sound((Tone(440, 1),)))
    assert bench.due_in_s == 0.0
    assert [kind for kind, _ in bench.kinds()] == [Kind.SOUND]
    due_in_s = bench.due_in_s
    assert due_in_s is not None
    (newest,) = bench.packets(due_in_s)
    assert newest.payload[-3:] == bytes((1, 1, 5))


def test_other_messages_do_not_wait_for_light_frames() -> None:
    bench = Bench()
    for number in range(3):
        bench.link.send(LightFrame(bytes((number + 1, 0, 0))))
        bench.packets()
    bench.link.send(Sound(()))
    assert bench.kinds() == [(Kind.SOUND, 2)]


def test_leave_is_the_last_word() -> None:
    bench = Bench()
    for number in range(2):
        bench.link.send(LightFrame(bytes((number + 1, 0, 0))))
        bench.packets()
    bench.link.send(Leave())
    bench.link.send(RED)
    bench.link.send(Sound(()))
    assert bench.kinds() == [(Kind.SOUND, 2)]
    bench.raw(Packet(Kind.ACKNOWLEDGED, SESSION, 0, 1))
    assert bench.kinds() == [(Kind.LIGHTS_ALL, 3), (Kind.LEAVE, 4)]
    bench.raw(Packet(Kind.ACKNOWLEDGED, SESSION, 0, 5))
    assert bench.link.is_settled


def test_ten_thousand_messages_at_once_take_no_more_room_than_one_each() -> None:
    bench = Bench(Welcome(**{**vars(WELCOME), "window": 255}))
    most = 0
    for number in range(10_000):
        bench.link.send(LightFrame(bytes((1 + number % 255, 0, 0)) * 300))
        bench.link.send(Sound((Tone(number, 1),)))
        bench.link.send(Configure(silence_ms=number))
        bench.link.send(Snapshot())
        if number % 100 == 0:
            most = max(most, len(bench.link.outgoing(bench.now_s)))
    assert bench.link.undelivered == 8 + 4
    assert most <= 8 * 1042
    assert bench.link.statistics.replaced > 39_000


@pytest.mark.parametrize(("window", "outstanding"), [(0, 1), (1, 1), (3, 3), (8, 8), (200, 8)])
def test_the_smaller_window_counts(window: int, outstanding: int) -> None:
    bench = Bench(Welcome(**{**vars(WELCOME), "window": window}))
    for number in range(20):
        bench.link.send(Sound((Tone(number, 1),)))
        bench.packets()
    assert bench.link.undelivered == outstanding + 1


def test_what_the_device_cannot_take_is_not_sent() -> None:
    bench = Bench(Welcome(**{**vars(WELCOME), "largest_payload": 11}))
    bench.link.send(LightFrame(b"\x01" * 9))
    bench.link.send(Configure())
    assert bench.kinds() == [(Kind.LIGHTS_ALL, 0), (Kind.CONFIGURE, 1), (Kind.PING, 0)]
    bench.link.send(LightFrame(b"\x01" * 12))
    assert bench.kinds() == []


def test_what_cannot_be_written_is_told_at_once() -> None:
    bench = Bench()
    with pytest.raises(MessageError, match="LightFrame: 4 bytes of colours"):
        bench.link.send(LightFrame(bytes(4)))
    assert bench.link.is_settled


def test_every_numbered_packet_is_acknowledged_and_handed_on_once() -> None:
    bench = Bench()
    bench.packets()
    assert bench.device(REPORT, 0) == [REPORT]
    assert bench.packets() == [Packet(Kind.ACKNOWLEDGED, SESSION, 0, 1)]
    assert bench.packets() == []
    assert bench.device(REPORT, 0) == []
    assert bench.packets() == [Packet(Kind.ACKNOWLEDGED, SESSION, 0, 1)]
    assert bench.device(REPORT, 2) == []
    assert bench.packets() == [Packet(Kind.MISSING, SESSION, 0, 1)]
    assert bench.device(REPORT, 3) == []
    assert bench.packets() == []
    assert bench.device(REPORT, 1) == [REPORT]
    bench.link.send(RED)
    assert [(packet.kind, packet.acknowledged) for packet in bench.packets()] == [(Kind.LIGHTS_ALL, 2)]
    counts = bench.link.statistics.counts
    assert (counts.repeated, counts.after_gap, counts.delivered) == (1, 2, 3)


def test_missing_brings_everything_again_at_once() -> None:
    bench = Bench()
    for number in range(4):
        bench.link.send(Sound((Tone(number, 1),)))
        bench.packets()
    bench.raw(Packet(Kind.MISSING, SESSION, 0, 2))
    assert bench.due_in_s == 0
    assert bench.kinds() == [(Kind.SOUND, 2), (Kind.SOUND, 3)]
    bench.raw(Packet(Kind.MISSING, SESSION, 0, 2))
    assert bench.kinds() == []
    assert bench.link.statistics.counts.resent == 2


def test_what_is_not_of_this_session_or_an_echo_changes_nothing() -> None:
    bench = Bench()
    bench.link.send(RED)
    bench.packets()
    assert bench.device(REPORT, session=SESSION + 1) == []
    bench.raw(Packet(Kind.ACKNOWLEDGED, SESSION + 1, 0, 1))
    bench.raw(Packet(Kind.ACKNOWLEDGED, 0, 0, 1))
    bench.raw(Packet(Kind.LIGHTS_ALL, SESSION, 0, 1, b"\x00\x00"))
    bench.raw(Packet(0x1F, SESSION, 0, 1))
    bench.raw(Packet(Kind.HELLO, SESSION, 0, 1, b"\x01\x01"))
    assert bench.link.acknowledged == 0
    assert bench.packets() == []
    counts = bench.link.statistics.counts
    assert (counts.foreign, counts.misdirected) == (3, 3)


def test_what_a_later_version_says_is_acknowledged_and_ignored() -> None:
    bench = Bench()
    bench.packets()
    assert bench.raw(Packet(0x0E, SESSION, 0, 0, b"?")) == []
    assert bench.packets() == []
    assert bench.raw(Packet(0x2F, SESSION, 0, 0, b"?")) == []
    assert bench.raw(Packet(0x80, SESSION, 1, 0, b"?")) == []
    assert bench.packets() == [Packet(Kind.ACKNOWLEDGED, SESSION, 0, 2)]


def test_a_payload_that_cannot_be_understood_is_acknowledged_and_ignored() -> None:
    bench = Bench()
    bench.packets()
    assert bench.raw(Packet(Kind.SENSORS, SESSION, 0, 0, b"?")) == []
    assert bench.device(REPORT, 1) == [REPORT]
    assert bench.packets() == [Packet(Kind.ACKNOWLEDGED, SESSION, 0, 2)]


def test_a_press_that_is_told_again_is_handed_on_once() -> None:
    bench = Bench()
    press = ButtonReport(3, 0, 1, 10)
    assert bench.device(press, 0) == [press]
    bench.link.begin(bench.now_s, 2)
    bench.packets()
    bench.device(WELCOME, session=2)
    assert bench.device(press, 0, session=2) == []
    assert bench.packets()[0].acknowledged == 1
    bench.link.begin(bench.now_s, 3)
    bench.packets()
    bench.device(Welcome(**{**vars(WELCOME), "boot_id": 8}), session=3)
    assert bench.device(press, 0, session=3) == [press]
