"""The talk on a port in virtual time, against the protocol's own packets: patience, clocks, leaving, waking up."""

from typing import Any

import pytest

from firmware_bridge.connection.conversation import BoardConversation
from firmware_bridge.connection.events import BoardEvent, Linked, Lost, SensorsReported
from firmware_bridge.errors import ConnectionLostError, NoFirmwareError, SilentDeviceError, WrongDeviceError
from firmware_bridge.ports.serial_ports import PROBE, SerialPort
from firmware_bridge.protocol.link import HostLink, SerialLine
from firmware_bridge.protocol.messages import (
    BoardState,
    HostState,
    Message,
    Tone,
    Wanted,
    Welcome,
    decode_packet,
    encode_packet,
)
from firmware_bridge.protocol.packets import PacketReader, encode_frame

PORT = SerialPort("/dev/ttyACM0", "", 0x2E8A, 5, "one")


class Table:
    """A talk, a simple board, and a clock that leaps from one moment to the next at which something is due."""

    def __init__(self, rounds: int = 2) -> None:
        self.now_s = 1000.0
        self.answers = True
        self.obeys = True
        self.boot_id = 1
        self.round_trip_s = 0.002
        self.clock_ahead_ms = 5000
        self.switches = 2
        self.events: list[BoardEvent] = []
        self.taken: list[Wanted] = []
        self.raw = b""
        self.wakeups = 0
        self._shown = 0
        self._reader = PacketReader()
        self.link = HostLink()
        self.talk = BoardConversation(self.link)
        self.talk.opened(PORT, 115200, rounds, self.now_s, SerialLine())

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
            if due_s > until_s:
                self.now_s = until_s
                return
            assert due_s >= self.now_s
            self.now_s = due_s

    def say(self, *messages: Message) -> None:
        self.talk.received(b"".join(encode_frame(encode_packet(message)) for message in messages), self.now_s)
        self.events += self.talk.take_events()

    def state(self, **how: Any) -> BoardState:
        """The board's state, half a round trip ago."""
        time_ms = int((self.now_s + self.round_trip_s / 2) * 1000) + self.clock_ahead_ms
        switches = {"closed": (False,) * self.switches, "doubtful": (False,) * self.switches}
        every = {"time_ms": time_ms % 2**32, "shown": self._shown, **switches}
        return BoardState(**{"boot_id": self.boot_id, **every, **how})

    def restart(self) -> None:
        self.boot_id += 1
        self.clock_ahead_ms -= 900_000
        self._shown = 0

    def _answer(self, packet: bytes) -> bytes:
        if not self.answers:
            return b""
        said = decode_packet(packet)
        assert isinstance(said, HostState)
        answers: list[Message] = []
        if said.boot_id != self.boot_id:
            self._shown = 0
            answers.append(Welcome((2, 0, 0), self.boot_id, 64, self.switches, 0, 0, 0, 0, "virtual"))
        elif self.obeys and said.wanted is not None:
            self._shown = said.wanted.number
            self.taken.append(said.wanted)
        answers.append(self.state(heard=said.number, is_leaving=self.obeys and said.leaves))
        return b"".join(encode_frame(encode_packet(answer)) for answer in answers)


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
    table.say(table.state(time_ms=int(happened_s * 1000) + table.clock_ahead_ms, closed=(True, False)))
    report = table.events[-1]
    assert isinstance(report, SensorsReported)
    assert report.time_s == pytest.approx(happened_s, abs=0.002)
    assert [(change.switch, change.time_s) for change in report.changes] == [(0, report.time_s)]


def test_a_switch_that_was_in_doubt_is_compared_with_what_it_was_before(table: Table) -> None:
    table.run(1.0)
    for closed, doubtful in (
        ((True, False), (False, False)),
        ((False, False), (True, True)),
        ((True, True), (False,) * 2),
    ):
        table.say(table.state(closed=closed, doubtful=doubtful))
    first, certain, doubted, again = (event for event in table.events if isinstance(event, SensorsReported))
    assert (first.changes, doubted.changes) == ((), ())
    assert [(change.switch, change.closed) for change in certain.changes] == [(0, True)]
    assert [(change.switch, change.closed) for change in again.changes] == [(1, True)]


def test_a_state_that_says_nothing_new_is_no_event(table: Table) -> None:
    table.run(60.0)
    assert [type(event) for event in table.events] == [Linked, SensorsReported]


def test_a_board_without_switches_reports_that_once(table: Table) -> None:
    table.switches = 0
    table.run(10.0)
    assert [type(event) for event in table.events] == [Linked, SensorsReported]


def test_a_board_that_restarted_has_another_clock(table: Table) -> None:
    table.run(5.0)
    table.restart()
    # Were answers of before the restart kept, they would count: they were quicker.
    table.round_trip_s *= 2
    table.run(5.0)
    assert [event.restarted for event in table.events if isinstance(event, Linked)] == [False, True]
    happened_s = table.now_s - 0.1
    table.say(table.state(time_ms=(int(happened_s * 1000) + table.clock_ahead_ms) % 2**32, closed=(True, False)))
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
    table.say(table.state(boot_id=7))
    table.run(100.0)
    assert isinstance(table.talk.failure, ConnectionLostError)
    assert "runs the referee's firmware, but does not answer the greeting; press its reset" in str(table.talk.failure)


def test_a_board_that_falls_silent_is_lost_once_and_given_up_after_one_round(table: Table) -> None:
    table.run(3.0)
    table.answers = False
    silent_s = table.now_s
    table.run(100.0)
    assert [type(event) for event in table.events] == [Linked, SensorsReported, Lost]
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


def test_what_is_never_shown_is_said_again_ten_times_a_second(table: Table) -> None:
    table.run(1.0)
    table.obeys = False
    table.link.show(b"\x01\x02\x03")
    before = table.link.statistics
    table.run(4.0)
    after = table.link.statistics
    assert 35 <= after.sent - before.sent <= 41
    assert after.again - before.again == after.sent - before.sent - 1
    table.obeys = True
    table.run(0.11)
    assert [wanted.colours for wanted in table.taken] == [b"\x01\x02\x03"]


def test_sounds_of_before_are_not_played_late() -> None:
    table = Table()
    table.talk.play((Tone(440, 100),))
    table.link.show(b"\x09\x09\x09")
    table.run(3.0)
    assert [(wanted.colours, wanted.sound) for wanted in table.taken] == [(b"\x09\x09\x09", 0)]
    table.talk.play((Tone(440, 100),))
    table.run(1.0)
    assert table.taken[-1].tones == (Tone(440, 100),)
    table.restart()
    table.run(1.0)
    assert (table.taken[-1].colours, table.taken[-1].sound) == (b"\x09\x09\x09", 0)


def test_leaving_is_over_when_the_board_says_that_it_leaves(table: Table) -> None:
    table.talk.leave()
    table.run(10.0)
    assert table.talk.has_left
    assert table.now_s < 1001


def test_a_board_that_has_left_before_it_could_say_so_has_left(table: Table) -> None:
    table.run(1.0)
    table.obeys = False
    table.talk.leave()
    table.run(0.5)
    assert not table.talk.has_left
    table.restart()
    table.run(5.0)
    assert table.talk.has_left


def test_a_board_that_falls_silent_when_it_should_leave_has_left(table: Table) -> None:
    table.run(1.0)
    table.obeys = False
    table.talk.leave()
    table.run(0.05)
    table.answers = False
    table.run(5.0)
    assert table.talk.has_left


def test_a_port_that_vanishes_while_leaving_has_left(table: Table) -> None:
    table.run(1.0)
    table.talk.leave()
    table.talk.closed("unplugged", table.now_s)
    assert table.talk.has_left
