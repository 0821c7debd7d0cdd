"""The host's end of the link, step by step, against packets written by hand: what is sent, held and acknowledged."""

import math
import random
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.errors import MessageError
from firmware_bridge.protocol import messages
from firmware_bridge.protocol.codec import decode_message, encode_message
from firmware_bridge.protocol.delivery import SerialLine
from firmware_bridge.protocol.link import LIGHTS_AHEAD_S, HostLink, LinkState, LossCause
from firmware_bridge.protocol.packets import Kind, Packet, is_sequenced
from firmware_bridge.protocol.session import PingExchange
from simulator.microcontroller.wire import FaultyWire, WireFaults
from tests.effort import cases, some
from tests.firmware_bridge.protocol.link_bench import RED, REPORT, SESSION, WELCOME, Bench
from tests.firmware_bridge.protocol.page_peer import PageDevice, Parser, frame


def test_a_newer_frame_replaces_one_that_waits_but_never_one_that_was_sent() -> None:
    bench = Bench()
    frames = [messages.LightFrame(bytes((number, 0, 0))) for number in range(1, 7)]
    bench.link.send(frames[0])
    bench.packets()
    for newer in frames[1:]:
        bench.link.send(newer)
    first = [packet.payload for packet in bench.packets()]
    assert first == [encode_message(frames[5])[1]]
    for newer in frames[:3]:
        bench.link.send(newer)
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
    first = messages.LightFrame(bytes(range(1, 100)))
    bench.link.send(first)
    frame_s = len(bench.link.outgoing(bench.now_s)) / 1000
    assert frame_s > 0.1
    for number in range(5):
        bench.link.send(messages.LightFrame(bytes((1, 1, 1 + number))))
    assert bench.due_in_s == pytest.approx(frame_s - LIGHTS_AHEAD_S)
    assert bench.packets(frame_s - LIGHTS_AHEAD_S - 0.001) == []
    # What is no light frame waits for nothing.
    bench.link.send(messages.Sound((messages.Tone(440, 1),)))
    assert bench.due_in_s == 0.0
    assert [kind for kind, _ in bench.kinds()] == [Kind.SOUND]
    due_in_s = bench.due_in_s
    assert due_in_s is not None
    (newest,) = bench.packets(due_in_s)
    assert newest.payload[-3:] == bytes((1, 1, 5))


def test_other_messages_do_not_wait_for_light_frames() -> None:
    bench = Bench()
    for number in range(3):
        bench.link.send(messages.LightFrame(bytes((number + 1, 0, 0))))
        bench.packets()
    bench.link.send(messages.Sound(()))
    assert bench.kinds() == [(Kind.SOUND, 2)]


def test_leave_is_the_last_word() -> None:
    bench = Bench()
    for number in range(2):
        bench.link.send(messages.LightFrame(bytes((number + 1, 0, 0))))
        bench.packets()
    bench.link.send(messages.Leave())
    bench.link.send(RED)
    bench.link.send(messages.Sound(()))
    assert bench.kinds() == [(Kind.SOUND, 2)]
    bench.raw(Packet(Kind.ACKNOWLEDGED, SESSION, 0, 1))
    assert bench.kinds() == [(Kind.LIGHTS_ALL, 3), (Kind.LEAVE, 4)]
    bench.raw(Packet(Kind.ACKNOWLEDGED, SESSION, 0, 5))
    assert bench.link.is_settled


def test_ten_thousand_messages_at_once_take_no_more_room_than_one_each() -> None:
    bench = Bench(messages.Welcome(**{**vars(WELCOME), "window": 255}))
    most = 0
    for number in range(10_000):
        bench.link.send(messages.LightFrame(bytes((1 + number % 255, 0, 0)) * 300))
        bench.link.send(messages.Sound((messages.Tone(number, 1),)))
        bench.link.send(messages.Configure(silence_ms=number))
        bench.link.send(messages.Snapshot())
        if number % 100 == 0:
            most = max(most, len(bench.link.outgoing(bench.now_s)))
    assert bench.link.undelivered == 8 + 4
    assert most <= 8 * 1042
    assert bench.link.statistics.replaced > 39_000


@pytest.mark.parametrize(("window", "outstanding"), [(0, 1), (1, 1), (3, 3), (8, 8), (200, 8)])
def test_the_smaller_window_counts(window: int, outstanding: int) -> None:
    bench = Bench(messages.Welcome(**{**vars(WELCOME), "window": window}))
    for number in range(20):
        bench.link.send(messages.Sound((messages.Tone(number, 1),)))
        bench.packets()
    assert bench.link.undelivered == outstanding + 1


def test_what_the_device_cannot_take_is_not_sent() -> None:
    bench = Bench(messages.Welcome(**{**vars(WELCOME), "largest_payload": 11}))
    bench.link.send(messages.LightFrame(b"\x01" * 9))
    bench.link.send(messages.Configure())
    assert bench.kinds() == [(Kind.LIGHTS_ALL, 0), (Kind.CONFIGURE, 1), (Kind.PING, 0)]
    bench.link.send(messages.LightFrame(b"\x01" * 12))
    assert bench.kinds() == []


def test_what_cannot_be_written_is_told_at_once() -> None:
    bench = Bench()
    with pytest.raises(MessageError, match="LightFrame: 4 bytes of colours"):
        bench.link.send(messages.LightFrame(bytes(4)))
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
        bench.link.send(messages.Sound((messages.Tone(number, 1),)))
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
    press = messages.ButtonReport(3, 0, 1, 10)
    assert bench.device(press, 0) == [press]
    bench.link.begin(bench.now_s, 2)
    bench.packets()
    bench.device(WELCOME, session=2)
    assert bench.device(press, 0, session=2) == []
    assert bench.packets()[0].acknowledged == 1
    bench.link.begin(bench.now_s, 3)
    bench.packets()
    bench.device(messages.Welcome(**{**vars(WELCOME), "boot_id": 8}), session=3)
    assert bench.device(press, 0, session=3) == [press]


# How the host's end of the link begins a session, and what ends the attempt.


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
            assert decode_message(packet.kind, packet.payload) == messages.Hello(1, 1)
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
    bench.link.send(messages.Sound((messages.Tone(440, 10),)))
    bench.link.send(messages.Configure())
    for session in (SESSION, 1, 2):
        bench.link.begin(bench.now_s, session)
        assert bench.kinds() == [(Kind.HELLO, 0)]
        bench.device(WELCOME, session=session)
        assert bench.kinds() == [(Kind.CONFIGURE, 0), (Kind.LIGHTS_ALL, 1), (Kind.PING, 0)]


def test_what_waits_through_the_handshake_is_sent_after_it() -> None:
    bench = Bench(None)
    bench.link.begin(bench.now_s, SESSION)
    bench.link.send(messages.Snapshot())
    bench.packets()
    bench.device(WELCOME)
    assert bench.kinds() == [(Kind.SNAPSHOT, 0), (Kind.PING, 0)]


def test_nothing_but_an_answer_is_taken_while_saying_hello() -> None:
    bench = Bench(None)
    bench.link.begin(bench.now_s, SESSION)
    bench.packets()
    assert bench.device(REPORT) == []
    assert bench.device(WELCOME, session=SESSION + 1) == []
    assert bench.device(messages.Pong(0, 0)) == []
    assert (bench.link.state, bench.kinds()) == (LinkState.HANDSHAKING, [])
    assert bench.device(WELCOME) == [WELCOME]
    assert bench.link.state is LinkState.LINKED
    assert bench.link.welcome == WELCOME
    assert bench.device(WELCOME) == []
    assert bench.device(REPORT) == [REPORT]


def test_a_device_that_just_started_hears_hello_sooner() -> None:
    bench = Bench(None)
    bench.link.begin(bench.now_s, SESSION)
    assert bench.device(messages.Restarted(1), session=0) == [messages.Restarted(1)]
    assert bench.kinds() == [(Kind.HELLO, 0)]
    bench.now_s += 0.01
    assert bench.device(messages.Restarted(1), session=0) == [messages.Restarted(1)]
    assert bench.due_in_s == pytest.approx(0.09)
    assert bench.kinds(0.08) == []
    assert bench.kinds(0.011) == [(Kind.HELLO, 0)]


def test_a_device_that_restarts_ends_the_session() -> None:
    bench = Bench()
    assert bench.device(messages.Restarted(8), session=0) == [messages.Restarted(8)]
    assert (bench.link.state, bench.link.lost_because) == (LinkState.LOST, LossCause.RESTARTED)
    assert bench.packets() == []
    assert bench.device(REPORT) == []
    assert bench.device(messages.Restarted(8), session=0) == []
    bench.link.begin(bench.now_s, 2)
    assert bench.link.lost_because is None
    assert bench.kinds() == [(Kind.HELLO, 0)]


def test_a_welcome_of_another_start_ends_the_session() -> None:
    bench = Bench()
    again = messages.Welcome(**{**vars(WELCOME), "boot_id": 8})
    assert bench.device(again) == []
    assert bench.link.lost_because is LossCause.RESTARTED


def test_a_refusal_is_told() -> None:
    bench = Bench(None)
    bench.link.begin(bench.now_s, SESSION)
    refusal = messages.Refused(2, 3, "too old")
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
    bench.device(messages.Welcome(**{**vars(WELCOME), "version": 2}))
    assert (bench.link.state, bench.link.refusal) == (LinkState.REFUSED, messages.Refused(2, 2))


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


# When the host's end of the link takes the device for lost, its pings, and what they measure.


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
        bench.device(messages.Log(20, 0, 0, "still here"))
        bench.packets(0.1)
        assert bench.link.state is LinkState.LINKED
    bench.device(messages.Log(20, 0, 0, "still here"))
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
        bench.link.send(messages.Sound((messages.Tone(number, 1),)))
        bench.packets()
    for number in range(1, 9):
        for _ in range(28):
            bench.packets(0.1)
            bench.device(messages.Log(20, 0, 0, "working"))
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
        bench.link.send(messages.LightFrame(bytes((number + 1, 0, 0))))
        packets = bench.packets(0.1)
        bench.raw(Packet(Kind.ACKNOWLEDGED, SESSION, 0, number + 1))
        pinged_s += [round(bench.now_s - 50.0, 3) for packet in packets if packet.kind == Kind.PING]
    assert pinged_s == [2.0, 4.0]


def test_a_pong_gives_the_exchange_of_its_ping() -> None:
    bench = Bench()
    (ping,) = bench.packets()
    message = decode_message(ping.kind, ping.payload)
    assert isinstance(message, messages.Ping)
    bench.now_s += 0.004
    assert (bench.device(messages.Pong(message.token + 1, 9)), bench.link.last_exchange) == ([], None)
    assert bench.device(messages.Pong(message.token, 1234)) == [messages.Pong(message.token, 1234)]
    assert bench.link.last_exchange == PingExchange(50.0, 50.004, 1234)
    assert bench.device(messages.Pong(message.token, 1234)) == []


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
    line = messages.Log(20, 0, 0, "hello")
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


# The link over a wire that loses, flips, repeats, delays, splits and joins: in virtual time, from a seed.

EVERYTHING = WireFaults(0.05, 0.05, 0.05, 0.05, 0.05, 0.05, delay_s=0.02, overtakes=True)
ONE_EACH = {
    "lose": WireFaults(lose=0.3),
    "flip": WireFaults(flip=0.3),
    "repeat": WireFaults(repeat=0.5, delay_s=0.05, overtakes=True),
    "split": WireFaults(split=0.7, split_s=0.01),
    "join": WireFaults(join=0.5),
    "delay": WireFaults(delay=0.3, delay_s=0.1),
    "everything": EVERYTHING,
}


class Line:
    """A host, a device and the wire between them; whoever is due acts, and nothing else takes time."""

    def __init__(self, faults: WireFaults, seed: int = 0, back: WireFaults | None = None) -> None:
        self.now_s = 100.0
        self.host = HostLink()
        self.to_device = FaultyWire(faults, f"{seed} to the device")
        self.to_host = FaultyWire(faults if back is None else back, f"{seed} to the host")
        self.received: list[messages.Message] = []
        self._boots = 0
        self._sent: dict[int, list[tuple[int, bytes]]] = {}
        self._checked = (0, 0)
        self._chance = random.Random(seed)
        self._watch = Parser()
        self.start_device()
        self.begin()

    def start_device(self) -> None:
        """Switch the device on, or off and on again."""
        self._boots += 1
        self._started_s = self.now_s
        self.device = PageDevice(self._boots, lights=300, switches=1, buttons=1)
        self.to_device.drop()

    def press(self) -> None:
        """Let the button be pressed now."""
        self._wake_device()
        self.device.press(0)

    def begin(self) -> None:
        """Begin a session, as whoever owns the port does."""
        session = self._chance.randrange(1, 65_536)
        self.host.begin(self.now_s, session + (session == self.host.session))

    def run(self, seconds: float) -> None:
        """Let so much time pass."""
        until_s = self.now_s + seconds
        for _ in range(20_000):
            device_ms = self.device.due_ms
            due = [
                None if device_ms is None else self._started_s + device_ms / 1000,
                self.host.next_due_s(self.now_s),
                self.to_host.next_due_s,
                self.to_device.next_due_s,
            ]
            next_s = min((moment for moment in due if moment is not None), default=until_s)
            if next_s >= until_s:
                self.now_s = until_s
                return
            self.now_s = max(self.now_s, next_s)
            self._act()
        raise AssertionError("the time does not pass: somebody is always due")

    def _wake_device(self) -> None:
        self.device.at_ms = round((self.now_s - self._started_s) * 1000)

    def _act(self) -> None:
        self._wake_device()
        for piece in self.to_device.read(self.now_s):
            self.device.receive(piece)
        for body in self.device.step():
            self.to_host.write(frame(body), self.now_s)
        for piece in self.to_host.read(self.now_s):
            self.received += self.host.receive(piece, self.now_s)
        data = self.host.outgoing(self.now_s)
        for body in self._watch.feed(data):
            kind, session, sequence, _ = struct.unpack_from("<BHHH", body)
            told = self._sent.setdefault(session, [])
            if is_sequenced(kind) and sequence == len(told) % 65_536:
                told.append((kind, body[7:-4]))
        self.to_device.write(data, self.now_s)
        if self.host.state is LinkState.LOST:
            self.begin()
        self._check()

    def _check(self) -> None:
        """What must hold at every moment, whatever the wire does."""
        session, arrived = self.device.session, self.device.told
        if session == self.host.session:
            before = self._checked[1] if self._checked[0] == session else 0
            assert arrived[before:] == self._sent.get(session, [])[before : len(arrived)], "wrong, or out of order"
            assert self.host.acknowledged <= len(arrived), "acknowledged, but not delivered"
            self._checked = session, len(arrived)

    def calm(self) -> None:
        """Let the wire be good for a while: whatever happened, the link is there, and nothing waits."""
        for wire in (self.to_host, self.to_device):
            wire.mend()
        self.run(12.0)
        assert self.host.state is LinkState.LINKED
        assert self.host.is_settled

    @property
    def shown(self) -> messages.LightFrame:
        return messages.LightFrame(self.device.shown or b"")

    def presses(self) -> list[tuple[int, int]]:
        """The presses that the host was told: the device's start, and the number of the press since."""
        boot, told = 0, []
        for message in self.received:
            if isinstance(message, messages.Welcome):
                boot = message.boot_id
            elif isinstance(message, messages.ButtonReport):
                told.append((boot, message.event))
        return told


def lights(number: int) -> messages.LightFrame:
    return messages.LightFrame((1 + number).to_bytes(3, "big") * 20)


def check_the_end(line: Line, presses: int, last: messages.LightFrame) -> None:
    """After the wire has been good for a while: all presses told once, in order; the newest lights shown."""
    line.calm()
    assert line.shown == last
    check_presses(line, presses)


def check_presses(line: Line, presses: int) -> None:
    """None is told twice or out of order; those that nobody heard of for two seconds may be forgotten."""
    told = line.presses()
    assert told == sorted(set(told))
    if line.host.statistics.counts.sessions == 1:
        assert told == [(1, event) for event in range(presses)]


@pytest.mark.parametrize("fault", ONE_EACH)
@pytest.mark.parametrize("seed", range(cases(3)))
def test_everything_arrives_once_and_in_order_under(fault: str, seed: int) -> None:
    line = Line(ONE_EACH[fault], seed)
    for number in range(60):
        line.host.send(lights(number))
        line.host.send(messages.Sound((messages.Tone(number, 1),)))
        line.press()
        line.run(0.05)
    check_the_end(line, 60, lights(59))
    statistics = line.host.statistics
    if fault in ("lose", "flip", "everything"):
        assert statistics.counts.resent > 0
    if fault in ("flip", "everything"):
        assert statistics.dropped.total > 0


@given(
    st.builds(
        WireFaults,
        lose=st.floats(0, 0.4),
        flip=st.floats(0, 0.3),
        repeat=st.floats(0, 0.4),
        delay=st.floats(0, 0.5),
        split=st.floats(0, 0.5),
        join=st.floats(0, 0.3),
        delay_s=st.floats(0, 0.2),
    ),
    st.integers(0, 1 << 32),
    st.lists(
        st.sampled_from(["lights", "press", "snapshot", "configure", "sound", "reset", "cut", "mend", "wait"]),
        max_size=40,
    ),
)
def test_whatever_happens_nothing_is_wrong_and_all_is_well_in_the_end(
    faults: WireFaults, seed: int, happenings: list[str]
) -> None:
    line = Line(faults, seed)
    shown = messages.LightFrame(b"")
    line.host.send(shown)
    for number, happening in enumerate(happenings):
        match happening:
            case "lights":
                shown = lights(number)
                line.host.send(shown)
            case "press":
                line.press()
            case "snapshot":
                line.host.send(messages.Snapshot())
            case "configure":
                line.host.send(messages.Configure(silence_ms=3000 + number))
            case "sound":
                line.host.send(messages.Sound((messages.Tone(number, 1),)))
            case "reset":
                line.start_device()
            case "cut":
                for wire in (line.to_host, line.to_device):
                    wire.cut()
                    wire.be_silent(math.inf)
            case "mend":
                for wire in (line.to_host, line.to_device):
                    wire.cut()
            case _:
                line.run(0.5)
        line.run(0.03)
    line.calm()
    assert line.shown == shown
    if "reset" not in happenings:
        check_presses(line, happenings.count("press"))


@pytest.mark.parametrize(
    ("baud", "count"), some([(9600, 20), (9600, 64), (38_400, 64), (38_400, 300), (57_600, 64), (115_200, 300)])
)
def test_a_slow_wire_is_measured_and_not_flooded(baud: int, count: int) -> None:
    """Frames of lights as fast as they go, where the handshake was much quicker than a frame is."""
    line = Line(WireFaults(bytes_per_s=baud / 10))
    for number in range(100):
        line.host.send(messages.LightFrame(bytes((1 + number, 7, 7)) * count))
        line.run(0.1)
    before = line.host.statistics.counts
    for number in range(100):
        line.host.send(messages.LightFrame(bytes((1 + number, 9, 9)) * count))
        line.run(0.1)
    after = line.host.statistics.counts
    assert after.sessions == 1
    assert after.resent - before.resent <= 2
    line.run(5.0)
    assert line.shown == messages.LightFrame(bytes((100, 9, 9)) * count)


@pytest.mark.parametrize("count", [64, 300])
def test_a_device_that_is_slow_with_large_frames_gets_none_twice(count: int) -> None:
    """USB is fast; the microcontroller takes 50 ms over 300 lights, and a millisecond over what came before them."""
    line = Line(WireFaults(bytes_per_s=920 / 0.05), back=WireFaults())
    for number in range(50):
        for tone in range(3):
            line.host.send(messages.Sound((messages.Tone(440 + tone, 100),)))
            line.run(0.2)
        line.host.send(messages.LightFrame(bytes((1 + number, 7, 7)) * count))
        line.run(0.5)
    counts = line.host.statistics.counts
    assert (counts.sessions, counts.resent) == (1, 0)


@pytest.mark.parametrize("baud", [9600, 115_200])
def test_a_slow_line_that_loses_brings_everything(baud: int) -> None:
    line = Line(WireFaults(lose=0.2, bytes_per_s=baud / 10))
    line.host.use_line(SerialLine(baud / 10))
    for number in range(200):
        line.host.send(lights(number))
        line.press()
        line.run(0.1)
    check_the_end(line, 200, lights(199))
