"""The talk on a port in virtual time, against the protocol's own packets: patience, clocks, leaving, waking up."""

import pytest

from firmware_bridge.connection.conversation import BoardConversation
from firmware_bridge.connection.events import BoardEvent, Linked, Lost, SensorsReported
from firmware_bridge.errors import ConnectionLostError, NoFirmwareError, SilentDeviceError, WrongDeviceError
from firmware_bridge.ports.serial_ports import PROBE, SerialPort
from firmware_bridge.protocol.codec import decode_message, encode_message
from firmware_bridge.protocol.delivery import SerialLine
from firmware_bridge.protocol.link import HostLink
from firmware_bridge.protocol.messages import (
    DeviceMessage,
    Leave,
    LightFrame,
    Log,
    Message,
    Ping,
    Pong,
    Restarted,
    SensorReport,
    Snapshot,
    Sound,
    SwitchChange,
    Welcome,
)
from firmware_bridge.protocol.packets import Kind, Packet, PacketReader, is_sequenced, packet_frame

PORT = SerialPort("/dev/ttyACM0", "", 0x2E8A, 5, "one")


class Table:
    """A talk, a simple board, and a clock that leaps from one moment to the next at which something is due."""

    def __init__(self, attempts: int = 2) -> None:
        self.now_s = 1000.0
        self.answers = True
        self.acknowledges = True
        self.boot_id = 1
        self.round_trip_s = 0.002
        self.clock_ahead_ms = 5000
        self.events: list[BoardEvent] = []
        self.taken: list[Message] = []
        self.raw = b""
        self.wakeups = 0
        self._sessions = iter(range(1, 60000))
        self._reader = PacketReader()
        self._session = 0
        self._expected = 0
        self._next = 0
        self.talk = BoardConversation(HostLink(), lambda: next(self._sessions))
        self.talk.opened(PORT, 115200, attempts, self.now_s, SerialLine())

    def run(self, seconds: float) -> None:
        """Let so much time pass, or less if the talk ends before."""
        until_s = self.now_s + seconds
        while True:
            out = self.talk.outgoing(self.now_s)
            self.raw += out
            back = b"".join(self._answer(packet) for packet in self._reader.feed(out))
            self.events += self.talk.take_events()
            if self.talk.failure is not None or self.talk.has_left:
                return
            self.wakeups += 1
            if back:
                self.now_s += self.round_trip_s
                self.talk.received(back, self.now_s)
                continue
            due_s = self.talk.due_s(self.now_s)
            if due_s is None or due_s > until_s:
                self.now_s = until_s
                return
            assert due_s >= self.now_s
            self.now_s = due_s

    def say(self, *messages: DeviceMessage) -> None:
        self.talk.received(b"".join(self._frame(message) for message in messages), self.now_s)
        self.events += self.talk.take_events()

    def time_ms(self) -> int:
        """The board's clock half a round trip ago."""
        return int((self.now_s + self.round_trip_s / 2) * 1000) + self.clock_ahead_ms

    def restart(self) -> None:
        self.boot_id += 1
        self.clock_ahead_ms -= 900_000
        self._session = 0

    def _frame(self, message: DeviceMessage) -> bytes:
        kind, payload = encode_message(message)
        sequence = 0
        if is_sequenced(kind):
            sequence, self._next = self._next, self._next + 1
        session = 0 if kind is Kind.RESTARTED else self._session
        return packet_frame(Packet(kind, session, sequence, self._expected, payload))

    def _answer(self, packet: Packet) -> bytes:
        if not self.answers:
            return b""
        if packet.kind == Kind.HELLO:
            self._session, self._expected, self._next = packet.session, 0, 0
            return self._frame(
                Welcome(1, (1, 0, 0), self.boot_id, self.time_ms() % 2**32, 1024, 8, 64, 4, 2, 0, 0, 0, "virtual")
            )
        if packet.session != self._session:
            return self._frame(Restarted(self.boot_id))
        if is_sequenced(packet.kind):
            if not self.acknowledges:
                return b""
            if packet.sequence == self._expected:
                self._expected += 1
                self.taken.append(decode_message(packet.kind, packet.payload))
            return packet_frame(Packet(Kind.ACKNOWLEDGED, self._session, 0, self._expected))
        message = decode_message(packet.kind, packet.payload) if packet.kind == Kind.PING else None
        return self._frame(Pong(message.token, self.time_ms() % 2**32)) if isinstance(message, Ping) else b""


@pytest.fixture
def table() -> Table:
    return Table()


def test_an_idle_hour_wakes_four_times_a_second(table: Table) -> None:
    table.run(1.0)
    assert table.talk.is_linked
    before = table.wakeups
    table.run(3600.0)
    assert table.talk.is_linked
    assert 3600 <= table.wakeups - before <= 4.2 * 3600


def test_times_of_the_board_become_times_of_the_host(table: Table) -> None:
    table.round_trip_s = 0.010
    table.run(10.0)
    happened_s = table.now_s - 0.2
    time_ms = int(happened_s * 1000) + table.clock_ahead_ms
    table.say(SensorReport(time_ms, (True,), (False,), (SwitchChange(0, True, 50),)))
    (report,) = [event for event in table.events if isinstance(event, SensorsReported)]
    assert report.time_s == pytest.approx(happened_s, abs=0.002)
    assert report.changes[0].time_s == pytest.approx(happened_s - 0.05, abs=0.002)


def test_a_board_that_restarted_has_another_clock(table: Table) -> None:
    table.run(5.0)
    table.restart()
    # Were answers of before the restart kept, they would count: they were quicker.
    table.round_trip_s *= 2
    table.run(5.0)
    assert [event.restarted for event in table.events if isinstance(event, Linked)] == [False, True]
    happened_s = table.now_s - 0.1
    table.say(SensorReport((int(happened_s * 1000) + table.clock_ahead_ms) % 2**32, (True,), (False,)))
    report = table.events[-1]
    assert isinstance(report, SensorsReported)
    assert report.time_s == pytest.approx(happened_s, abs=0.003)


def test_patience_lasts_for_its_rounds_then_a_question_is_asked() -> None:
    for attempts in (1, 2, 4):
        table = Table(attempts)
        table.answers = False
        table.run(100.0)
        assert isinstance(table.talk.failure, SilentDeviceError)
        assert table.now_s == pytest.approx(1000 + 2 * attempts + 0.5)
        assert table.raw.count(PROBE) == 1


def test_a_board_that_starts_late_is_still_welcome() -> None:
    for late_s in (1.9, 2.5, 3.9, 4.2):
        table = Table()
        table.answers = False
        table.run(late_s)
        table.answers = True
        table.run(1.5)
        assert table.talk.is_linked, late_s


def test_a_certain_stranger_is_named_after_the_first_round() -> None:
    table = Table(4)
    table.answers = False
    table.talk.received(b"echo:SD init fail\n", table.now_s)
    table.run(100.0)
    assert isinstance(table.talk.failure, WrongDeviceError)
    assert table.now_s == pytest.approx(1002.0)
    assert PROBE not in table.raw


def test_a_board_with_the_firmware_that_does_not_greet_is_not_called_silent(table: Table) -> None:
    table.answers = False
    table.say(Restarted(7))
    table.run(100.0)
    assert isinstance(table.talk.failure, ConnectionLostError)
    assert "runs the referee's firmware, but does not answer the greeting; press its reset" in str(table.talk.failure)


def test_a_board_that_falls_silent_is_lost_once_and_given_up_after_one_round(table: Table) -> None:
    table.run(3.0)
    table.answers = False
    silent_s = table.now_s
    table.run(100.0)
    assert [type(event) for event in table.events] == [Linked, Lost]
    assert isinstance(table.talk.failure, ConnectionLostError)
    assert "has stopped answering; press its reset button" in str(table.talk.failure)
    assert table.now_s - silent_s <= 4.5
    table.talk.closed(str(table.talk.failure), table.now_s)
    assert table.talk.take_events() == []
    assert table.talk.welcome is None


def test_a_board_that_fell_back_to_its_prompt_is_named_so(table: Table) -> None:
    table.run(3.0)
    table.answers = False
    table.run(2.1)
    table.talk.received(b"Traceback (most recent call last):\r\nMicroPython v1.24.1; Pico\r\n>>> ", table.now_s)
    table.run(100.0)
    assert isinstance(table.talk.failure, NoFirmwareError)


def test_what_is_never_acknowledged_ends_the_session(table: Table) -> None:
    table.run(1.0)
    table.acknowledges = False
    table.talk.send(LightFrame(b"\x01\x02\x03"))
    table.run(4.0)
    assert [type(event) for event in table.events] == [Linked, Lost, Linked]
    table.acknowledges = True
    table.run(10.0)
    assert LightFrame(b"\x01\x02\x03") in table.taken


def test_sounds_and_questions_of_before_are_not_sent_late() -> None:
    table = Table()
    table.talk.send_once(Sound(()))
    table.talk.send_once(Snapshot())
    table.talk.send(LightFrame(b"\x09\x09\x09"))
    table.run(3.0)
    assert table.taken == [LightFrame(b"\x09\x09\x09")]
    table.talk.send_once(Snapshot())
    table.run(1.0)
    assert table.taken[-1] == Snapshot()


def test_leaving_is_over_when_it_is_acknowledged(table: Table) -> None:
    table.talk.leave()
    table.run(10.0)
    assert table.talk.has_left
    assert table.taken == [Leave()]
    assert table.now_s < 1001


def test_a_board_that_has_left_before_it_could_acknowledge_has_left(table: Table) -> None:
    table.run(1.0)
    table.acknowledges = False
    table.talk.leave()
    table.run(0.5)
    assert not table.talk.has_left
    table.restart()
    table.run(5.0)
    assert table.talk.has_left


def test_a_port_that_vanishes_while_leaving_has_left(table: Table) -> None:
    table.run(1.0)
    table.talk.leave()
    table.talk.closed("unplugged", table.now_s)
    assert table.talk.has_left


def test_lines_of_the_log_may_come_before_the_greeting(table: Table) -> None:
    table.say(Log(40, 0, 5, "OSError: fault before the last start"))
    assert [getattr(event, "text", None) for event in table.events] == ["OSError: fault before the last start"]


def test_a_board_that_only_acknowledges_lights_is_heard_all_the_same() -> None:
    table = Table()
    table.run(1.0)
    for step in range(60):
        table.talk.send(LightFrame(bytes((step, 0, 0))))
        table.run(0.05)
        heard_s = table.talk.last_heard_s
        assert heard_s is not None
        assert table.now_s - heard_s <= 0.05
