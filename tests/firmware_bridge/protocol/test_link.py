"""The host's end of the link, step by step, against packets written by hand."""

from __future__ import annotations

import pytest

from firmware_bridge.protocol.codec import decode_message, encode_message
from firmware_bridge.protocol.errors import MessageError
from firmware_bridge.protocol.heartbeat import PingExchange
from firmware_bridge.protocol.link import HostLink
from firmware_bridge.protocol.messages import (
    ButtonReport,
    Configure,
    Hello,
    Leave,
    LightFrame,
    Log,
    Message,
    Ping,
    Pong,
    Refused,
    Restarted,
    SensorReport,
    Snapshot,
    Sound,
    Tone,
    Welcome,
)
from firmware_bridge.protocol.packets import Kind, Packet, PacketReader, packet_frame
from firmware_bridge.protocol.states import LinkState, LossCause

SESSION = 4660
WELCOME = Welcome(1, (1, 0, 0), 7, 0, 1024, 8, 64, 64, 1, 0, 0, 0, "a board")
REPORT = SensorReport(5, (True,), (False,))
RED = LightFrame(b"\xff\x00\x00" * 3)


class Bench:
    """A link, and a hand that plays the device."""

    def __init__(self, welcome: Welcome | None = WELCOME, *, now_s: float = 50.0) -> None:
        self.link = HostLink()
        self.now_s = now_s
        self._reader = PacketReader()
        if welcome is not None:
            self.link.begin(now_s, SESSION)
            self.packets()
            assert self.device(welcome) == [welcome]

    def device(self, message: Message, sequence: int = 0, expected: int = 0, session: int = SESSION) -> list[Message]:
        """The device says something."""
        kind, payload = encode_message(message)
        return self.raw(Packet(kind, session, sequence, expected, payload))

    def raw(self, packet: Packet) -> list[Message]:
        """Any packet comes."""
        return self.link.receive(packet_frame(packet), self.now_s)

    def packets(self, wait_s: float = 0.0) -> list[Packet]:
        """What the link sends after so much time."""
        self.now_s += wait_s
        return self._reader.feed(self.link.outgoing(self.now_s))

    def kinds(self, wait_s: float = 0.0) -> list[tuple[Kind, int]]:
        """The kinds and sequence numbers of it."""
        return [(Kind(packet.kind), packet.sequence) for packet in self.packets(wait_s)]

    @property
    def due_in_s(self) -> float | None:
        due_s = self.link.next_due_s(self.now_s)
        return None if due_s is None else due_s - self.now_s


def test_hello_is_said_until_it_is_in_vain() -> None:
    bench = Bench(None, now_s=0.0)
    assert bench.due_in_s is None
    assert bench.packets() == []
    bench.link.begin(0.0, SESSION)
    said_s = []
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
    assert bench.link.state is LinkState.HANDSHAKING
    assert bench.kinds() == []
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
    assert bench.device(Pong(message.token + 1, 9)) == []
    assert bench.link.last_exchange is None
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
    assert bench.link.statistics.counts.too_long == 1


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
    assert bench.link.statistics.counts.unknown == 3


def test_a_payload_that_cannot_be_understood_is_acknowledged_and_counted() -> None:
    bench = Bench()
    bench.packets()
    assert bench.raw(Packet(Kind.SENSORS, SESSION, 0, 0, b"?")) == []
    assert bench.device(REPORT, 1) == [REPORT]
    assert bench.packets() == [Packet(Kind.ACKNOWLEDGED, SESSION, 0, 2)]
    assert bench.link.statistics.counts.malformed == 1


def test_a_welcome_that_cannot_be_understood_is_none() -> None:
    bench = Bench(None)
    bench.link.begin(bench.now_s, SESSION)
    assert bench.raw(Packet(Kind.WELCOME, SESSION, payload=b"\x01")) == []
    assert bench.raw(Packet(Kind.RESTARTED, 0, payload=b"\x01")) == []
    assert bench.link.state is LinkState.HANDSHAKING


def test_a_press_that_is_told_again_is_handed_on_once() -> None:
    bench = Bench()
    press = ButtonReport(3, 0, 1, 10)
    assert bench.device(press, 0) == [press]
    bench.link.begin(bench.now_s, 2)
    bench.packets()
    bench.device(WELCOME, session=2)
    assert bench.device(press, 0, session=2) == []
    assert bench.packets()[0].acknowledged == 1
    assert bench.link.statistics.counts.presses_repeated == 1
    bench.link.begin(bench.now_s, 3)
    bench.packets()
    bench.device(Welcome(**{**vars(WELCOME), "boot_id": 8}), session=3)
    assert bench.device(press, 0, session=3) == [press]


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


def test_statistics_are_of_their_moment() -> None:
    bench = Bench()
    before = bench.link.statistics
    bench.link.receive(b"\x00\x05\x00", bench.now_s)
    bench.packets()
    after = bench.link.statistics
    assert (before.dropped.total, after.dropped.total, after.dropped.undecodable) == (0, 1, 1)
    assert (before.counts.sent, after.counts.sent) == (1, 2)
    assert (after.counts.sessions, after.counts.linked, after.packets) == (1, 1, 1)
