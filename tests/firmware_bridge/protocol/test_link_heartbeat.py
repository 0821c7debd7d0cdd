"""When the host's end of the link takes the device for lost, its pings, and what they measure."""

from __future__ import annotations

import pytest

from firmware_bridge.protocol.codec import decode_message
from firmware_bridge.protocol.link import LinkState, LossCause
from firmware_bridge.protocol.messages import LightFrame, Log, Ping, Pong, Sound, Tone
from firmware_bridge.protocol.packets import Kind, Packet
from firmware_bridge.protocol.session import PingExchange
from tests.firmware_bridge.protocol.link_bench import RED, REPORT, SESSION, WELCOME, Bench


def test_a_silent_device_is_lost_after_two_seconds() -> None:
    bench = Bench()
    times = 0
    while bench.link.state is LinkState.LINKED:
        due_in_s = bench.due_in_s
        assert due_in_s is not None
        assert set(bench.kinds(due_in_s)) <= {(Kind.PING, 0)}
        times += 1
    assert bench.link.lost_because is LossCause.SILENT
    assert bench.now_s == pytest.approx(52.0)
    assert times < 10


def test_a_device_that_acknowledges_nothing_is_lost_after_three_seconds() -> None:
    bench = Bench()
    bench.link.send(RED)
    bench.packets()
    for _ in range(29):
        bench.device(Log(20, 0, 0, "still here"))
        bench.packets(0.1)
        assert bench.link.state is LinkState.LINKED
    bench.device(Log(20, 0, 0, "still here"))
    assert bench.packets(0.11) == []
    assert bench.link.lost_because is LossCause.UNACKNOWLEDGED


def test_a_gap_that_nothing_fills_ends_the_session_after_three_seconds() -> None:
    bench = Bench()
    for number in range(1, 30):
        bench.device(REPORT, number)
        bench.packets(0.1)
        assert bench.link.state is LinkState.LINKED
    bench.device(REPORT, 30)
    # A repeat fills nothing.
    assert bench.due_in_s is not None
    assert bench.packets(0.11) == []
    assert bench.link.lost_because is LossCause.INCOMPLETE


def test_a_gap_that_is_filled_is_forgotten() -> None:
    bench = Bench()
    for wait_s in (1.5, 1.4):
        bench.device(REPORT, 1)
        bench.packets(wait_s)
    assert bench.device(REPORT, 0) == [REPORT]
    bench.device(REPORT, 2)
    bench.packets(0.2)
    assert bench.link.state is LinkState.LINKED


def test_a_slow_device_is_not_lost_while_it_moves_on() -> None:
    bench = Bench()
    for number in range(8):
        bench.link.send(Sound((Tone(number, 1),)))
        bench.packets()
    for number in range(1, 9):
        for _ in range(28):
            bench.packets(0.1)
            bench.device(Log(20, 0, 0, "working"))
        bench.raw(Packet(Kind.ACKNOWLEDGED, SESSION, 0, number))
    assert bench.link.state is LinkState.LINKED
    assert bench.link.is_settled


def test_pings_keep_the_wire_from_falling_silent() -> None:
    bench = Bench()
    assert bench.packets() == [Packet(Kind.PING, SESSION, payload=bytes(4))]
    assert bench.due_in_s == pytest.approx(0.5)
    bench.link.send(RED)
    assert bench.kinds(0.3) == [(Kind.LIGHTS_ALL, 0)]
    bench.raw(Packet(Kind.ACKNOWLEDGED, SESSION, 0, 1))
    assert bench.due_in_s == pytest.approx(0.5)
    assert bench.kinds(0.499) == []
    assert bench.kinds(0.002) == [(Kind.PING, 0)]


def test_pings_come_for_the_clock_even_when_much_is_said() -> None:
    bench = Bench()
    bench.packets()
    pinged_s = []
    for number in range(50):
        bench.link.send(LightFrame(bytes((number + 1, 0, 0))))
        packets = bench.packets(0.1)
        bench.raw(Packet(Kind.ACKNOWLEDGED, SESSION, 0, number + 1))
        pinged_s += [round(bench.now_s - 50.0, 3) for packet in packets if packet.kind == Kind.PING]
    assert pinged_s == [2.0, 4.0]


def test_a_pong_gives_the_exchange_of_its_ping() -> None:
    bench = Bench()
    (ping,) = bench.packets()
    message = decode_message(ping.kind, ping.payload)
    assert isinstance(message, Ping)
    bench.now_s += 0.004
    assert (bench.device(Pong(message.token + 1, 9)), bench.link.last_exchange) == ([], None)
    assert bench.device(Pong(message.token, 1234)) == [Pong(message.token, 1234)]
    assert bench.link.last_exchange == PingExchange(50.0, 50.004, 1234)
    assert bench.device(Pong(message.token, 1234)) == []


def test_a_pong_of_another_session_is_none_of_this_one() -> None:
    bench = Bench()
    (ping,) = bench.packets()
    bench.link.begin(bench.now_s, 2)
    bench.packets()
    bench.device(WELCOME, session=2)
    (other,) = bench.packets()
    assert other.payload != ping.payload
    assert bench.raw(Packet(Kind.PONG, 2, payload=ping.payload + bytes(4))) == []


def test_a_log_line_may_be_of_no_session() -> None:
    line = Log(20, 0, 0, "hello")
    bench = Bench(None)
    assert bench.device(line, session=0) == [line]
    assert bench.device(line) == []
    bench = Bench()
    assert bench.device(line, session=0) == [line]
    assert bench.device(line) == [line]


def test_statistics_are_of_their_moment() -> None:
    bench = Bench()
    before = bench.link.statistics
    bench.link.receive(b"\x00\x05\x00", bench.now_s)
    bench.packets()
    after = bench.link.statistics
    assert (before.dropped.total, after.dropped.total, after.dropped.undecodable) == (0, 1, 1)
    assert (before.counts.sent, after.counts.sent) == (1, 2)
    assert (after.counts.sessions, after.counts.linked, after.packets) == (1, 1, 1)
