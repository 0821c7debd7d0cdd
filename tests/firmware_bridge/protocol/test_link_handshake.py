"""How the host's end of the link begins a session, and what ends the attempt."""

from __future__ import annotations

import pytest

from firmware_bridge.protocol.codec import decode_message
from firmware_bridge.protocol.link import LinkState, LossCause
from firmware_bridge.protocol.messages import Configure, Hello, Pong, Refused, Restarted, Snapshot, Sound, Tone, Welcome
from firmware_bridge.protocol.packets import Kind, Packet
from tests.firmware_bridge.protocol.link_bench import RED, REPORT, SESSION, WELCOME, Bench


def test_hello_is_said_until_it_is_in_vain() -> None:
    bench = Bench(None, now_s=0.0)
    assert (bench.due_in_s, bench.packets()) == (None, [])
    bench.link.begin(0.0, SESSION)
    said_s: list[float] = []
    while bench.link.state is LinkState.HANDSHAKING:
        due_in_s = bench.due_in_s
        assert due_in_s is not None
        for packet in bench.packets(due_in_s):
            assert packet == Packet(Kind.HELLO, SESSION, payload=b"\x01\x01")
            assert decode_message(packet.kind, packet.payload) == Hello(1, 1)
            said_s.append(bench.now_s)
    assert said_s == [0.0, 0.25, 0.75, 1.75]
    assert bench.now_s == 2.0
    assert bench.link.lost_because is LossCause.NO_WELCOME
    assert bench.due_in_s is None
    assert bench.packets() == []


@pytest.mark.parametrize("session", [0, -1, 65_536, SESSION])
def test_a_session_that_cannot_be_is_refused(session: int) -> None:
    bench = Bench()
    with pytest.raises(ValueError, match=f"session {session}; expected 1 to 65535, and not 4660 again"):
        bench.link.begin(bench.now_s, session)
    assert bench.link.session == SESSION


def test_settings_and_lights_come_first_after_every_welcome() -> None:
    bench = Bench(None)
    bench.link.send(RED)
    bench.link.send(Sound((Tone(440, 10),)))
    bench.link.send(Configure())
    for session in (SESSION, 1, 2):
        bench.link.begin(bench.now_s, session)
        assert bench.kinds() == [(Kind.HELLO, 0)]
        bench.device(WELCOME, session=session)
        assert bench.kinds() == [(Kind.CONFIGURE, 0), (Kind.LIGHTS_ALL, 1), (Kind.PING, 0)]


def test_what_waits_through_the_handshake_is_sent_after_it() -> None:
    bench = Bench(None)
    bench.link.begin(bench.now_s, SESSION)
    bench.link.send(Snapshot())
    bench.packets()
    bench.device(WELCOME)
    assert bench.kinds() == [(Kind.SNAPSHOT, 0), (Kind.PING, 0)]


def test_nothing_but_an_answer_is_taken_while_saying_hello() -> None:
    bench = Bench(None)
    bench.link.begin(bench.now_s, SESSION)
    bench.packets()
    assert bench.device(REPORT) == []
    assert bench.device(WELCOME, session=SESSION + 1) == []
    assert bench.device(Pong(0, 0)) == []
    assert (bench.link.state, bench.kinds()) == (LinkState.HANDSHAKING, [])
    assert bench.device(WELCOME) == [WELCOME]
    assert bench.link.state is LinkState.LINKED
    assert bench.link.welcome == WELCOME
    assert bench.device(WELCOME) == []
    assert bench.device(REPORT) == [REPORT]


def test_a_device_that_just_started_hears_hello_sooner() -> None:
    bench = Bench(None)
    bench.link.begin(bench.now_s, SESSION)
    assert bench.device(Restarted(1), session=0) == [Restarted(1)]
    assert bench.kinds() == [(Kind.HELLO, 0)]
    bench.now_s += 0.01
    assert bench.device(Restarted(1), session=0) == [Restarted(1)]
    assert bench.due_in_s == pytest.approx(0.09)
    assert bench.kinds(0.08) == []
    assert bench.kinds(0.011) == [(Kind.HELLO, 0)]


def test_a_device_that_restarts_ends_the_session() -> None:
    bench = Bench()
    assert bench.device(Restarted(8), session=0) == [Restarted(8)]
    assert (bench.link.state, bench.link.lost_because) == (LinkState.LOST, LossCause.RESTARTED)
    assert bench.packets() == []
    assert bench.device(REPORT) == []
    assert bench.device(Restarted(8), session=0) == []
    bench.link.begin(bench.now_s, 2)
    assert bench.link.lost_because is None
    assert bench.kinds() == [(Kind.HELLO, 0)]


def test_a_welcome_of_another_start_ends_the_session() -> None:
    bench = Bench()
    again = Welcome(**{**vars(WELCOME), "boot_id": 8})
    assert bench.device(again) == []
    assert bench.link.lost_because is LossCause.RESTARTED


def test_a_refusal_is_told() -> None:
    bench = Bench(None)
    bench.link.begin(bench.now_s, SESSION)
    refusal = Refused(2, 3, "too old")
    assert bench.device(refusal, session=9) == []
    assert bench.device(refusal) == [refusal]
    assert (bench.link.state, bench.link.refusal) == (LinkState.REFUSED, refusal)
    assert bench.due_in_s is None
    assert bench.packets(100.0) == []
    assert bench.device(WELCOME) == []
    bench.link.begin(bench.now_s, 2)
    assert bench.kinds() == [(Kind.HELLO, 0)]


def test_a_welcome_of_a_version_nobody_asked_for_is_a_refusal() -> None:
    bench = Bench(None)
    bench.link.begin(bench.now_s, SESSION)
    bench.device(Welcome(**{**vars(WELCOME), "version": 2}))
    assert (bench.link.state, bench.link.refusal) == (LinkState.REFUSED, Refused(2, 2))


def test_a_welcome_that_cannot_be_understood_is_none() -> None:
    bench = Bench(None)
    bench.link.begin(bench.now_s, SESSION)
    assert bench.raw(Packet(Kind.WELCOME, SESSION, payload=b"\x01")) == []
    assert bench.raw(Packet(Kind.RESTARTED, 0, payload=b"\x01")) == []
    assert bench.link.state is LinkState.HANDSHAKING


def test_the_handshake_is_the_first_measurement() -> None:
    bench = Bench(None)
    bench.link.begin(bench.now_s, SESSION)
    bench.packets()
    bench.now_s += 0.006
    bench.device(WELCOME)
    statistics = bench.link.statistics
    assert statistics.round_trip_s == pytest.approx(0.006)
    assert statistics.timeout_s == pytest.approx(0.02)
    bench.link.begin(bench.now_s, 2)
    bench.packets()
    bench.packets(0.25)
    bench.now_s += 0.1
    bench.device(WELCOME, session=2)
    assert bench.link.statistics.round_trip_s == pytest.approx(0.006)
