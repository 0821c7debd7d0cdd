"""The connection against a plain board behind a real pseudo-terminal, through real pyserial."""

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from firmware_bridge.connection.connection import BoardConnection
from firmware_bridge.connection.events import (
    BoardEvent,
    ButtonPressed,
    ConnectionState,
    LightsLimited,
    Linked,
    Lost,
    SensorsReported,
)
from firmware_bridge.errors import MessageError
from firmware_bridge.ports.port import Port
from firmware_bridge.ports.selection import WantedBoard
from firmware_bridge.protocol import messages
from firmware_bridge.protocol.packets import encode_frame
from tests.guard import GUARD_S

Connect = Callable[..., BoardConnection]
Until = Callable[[BoardConnection, Callable[[list[BoardEvent]], bool]], list[BoardEvent]]
Reach = Callable[[BoardConnection, ConnectionState], None]

RED = b"\xff\x00\x00"
GREEN = b"\x00\xff\x00"


def has(kind: type[Any]) -> Callable[[list[BoardEvent]], bool]:
    return lambda events: any(isinstance(event, kind) for event in events)


def of(kind: type[Any], events: list[BoardEvent]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def test_a_board_is_greeted_and_shows_lights(board: Any, connect: Connect, until: Until, said: Any) -> None:
    connection = connect()
    connection.configure(messages.BoardSettings(brightness=100))
    connection.show_lights(RED)
    events = until(connection, has(SensorsReported))
    assert isinstance(events[0], Linked)
    assert events[0].welcome.board == "plain board"
    assert (events[0].port.device, events[0].restarted) == (board.name, False)
    board.wait_for(lambda: board.shown == RED)
    assert board.wanted[0].settings == messages.BoardSettings(brightness=100)
    assert connection.state is ConnectionState.LINKED
    assert connection.welcome == events[0].welcome
    assert connection.port == events[0].port
    assert connection.outage is None
    assert said.sentences == []


def test_the_newest_lights_are_shown_in_the_end(board: Any, connect: Connect, until: Until) -> None:
    connection = connect()
    until(connection, has(Linked))
    for level in range(200):
        connection.show_lights(bytes((level, 0, 0)))
    board.wait_for(lambda: board.shown == bytes((199, 0, 0)))


def test_a_sound_is_played_once(board: Any, connect: Connect, until: Until) -> None:
    connection = connect()
    until(connection, has(Linked))
    connection.play(((880.4, 0.1), (0, 0.05)))
    board.wait_for(lambda: any(wanted.tones for wanted in board.wanted))
    connection.show_lights(RED)
    board.wait_for(lambda: board.shown == RED)
    tones = {wanted.sound: wanted.tones for wanted in board.wanted if wanted.sound}
    assert list(tones.values()) == [(messages.Tone(880, 100), messages.Tone(0, 50))]


def test_states_have_the_hosts_time(board: Any, connect: Connect, until: Until) -> None:
    started_s = time.monotonic()
    connection = connect()
    until(connection, has(SensorsReported))
    board.state = replace(board.state, time_ms=6000)
    board.press(1, before_ms=30)
    board.tell(closed=(True, False, False, False), doubtful=(False, True, False, False), limited_ma=850)
    events = until(connection, lambda events: has(SensorsReported)(events) and has(LightsLimited)(events))
    (report,) = of(SensorsReported, events)
    assert report.closed == (True, False, False, False)
    assert report.doubtful == (False, True, False, False)
    (change,) = report.changes
    assert (change.switch, change.closed, change.time_s) == (0, True, report.time_s)
    (pressed,) = of(ButtonPressed, events)
    assert pressed.button == 1
    (limited,) = of(LightsLimited, events)
    assert (limited.wanted_ma, limited.is_dark) == (850, False)
    now_s = time.monotonic()
    # The board's clock leapt five seconds, but nothing can have happened after it was told; the press was 30 ms old.
    assert all(started_s - 0.03 <= event.time_s <= now_s for event in events)


def test_each_press_is_reported_once_whoever_restarts(
    board: Any, connect: Connect, until: Until, stack: Any, ports: Any, record: Any
) -> None:
    """The host is told of a press again and again, loses the board, and is itself replaced by another one."""
    board.press(0)
    with connect() as connection:
        until(connection, has(ButtonPressed))
        board.press(1)
        board.tell()
        (second,) = of(ButtonPressed, until(connection, has(ButtonPressed)))
        board.wait_for(lambda: [button.taken for button in board.state.buttons] == [1, 1])
        board.tell()
        assert second.button == 1
    board.press(1)
    connection = connect()
    (third,) = of(ButtonPressed, until(connection, has(ButtonPressed)))
    board.tell(limited_ma=1)
    assert of(ButtonPressed, until(connection, has(LightsLimited))) == []
    assert third.button == 1


def test_trouble_that_comes_later_is_told(board: Any, connect: Connect, until: Until) -> None:
    connection = connect()
    until(connection, has(Linked))
    board.trouble = "no memory"
    board.say_welcome()
    (linked,) = of(Linked, until(connection, has(Linked)))
    assert (linked.welcome.trouble, linked.restarted) == ("no memory", False)


def test_unplugged_and_plugged_in_under_another_name(
    board: Any, ports: Any, record: Any, connect: Connect, until: Until, said: Any
) -> None:
    connection = connect(port=board.name)
    connection.show_lights(GREEN)
    until(connection, has(Linked))
    board.wait_for(lambda: board.shown == GREEN)
    first_name = board.name
    ports.records = []
    board.terminal.unplug()
    (lost,) = of(Lost, until(connection, has(Lost)))
    assert f"{first_name} was unplugged" in lost.reason
    assert connection.welcome is None
    assert connection.port is None
    connection.show_lights(RED)
    board.heard.clear()
    board.plug_in_again()
    # Somebody else's board may have taken the first name meanwhile.
    ports.records = [record(first_name, serial_number="another"), record(board.name)]
    (linked,) = of(Linked, until(connection, has(Linked)))
    assert linked.port.device == board.name != first_name
    assert linked.restarted
    board.wait_for(lambda: board.shown == RED)
    assert [sentence.split(";")[0] for sentence in said.sentences] == [
        lost.reason.split(";")[0],
        f"the board answers again, on {board.name}",
    ]
    assert connection.outage is None


def test_a_board_that_restarts_by_itself_gets_everything_again(
    board: Any, connect: Connect, until: Until, said: Any
) -> None:
    connection = connect()
    connection.configure(messages.BoardSettings(brightness=7))
    connection.show_lights(RED)
    until(connection, has(Linked))
    board.wait_for(lambda: board.shown == RED)
    board.heard.clear()
    board.restart_silently()
    board.reset_cause = 1
    connection.show_lights(GREEN)
    events = until(connection, has(Linked))
    assert [event.restarted for event in of(Linked, events)] == [True]
    assert not of(Lost, events)
    board.wait_for(lambda: board.shown == GREEN)
    assert board.wanted[-1].settings == messages.BoardSettings(brightness=7)
    assert said.sentences == [
        f"the board on {board.name} restarted by itself, because it had hung; lights and settings are as before"
    ]


def test_a_cable_pulled_again_within_a_minute_is_no_restart_of_the_board(
    board: Any, ports: Any, record: Any, connect: Connect, until: Until, said: Any
) -> None:
    connection = connect(port=board.name)
    until(connection, has(Linked))
    for _ in range(2):
        ports.records = []
        board.terminal.unplug()
        until(connection, has(Lost))
        board.plug_in_again()
        ports.records = [record(board.name)]
        (linked,) = of(Linked, until(connection, has(Linked)))
        assert linked.restarted
    assert not [sentence for sentence in said.sentences if "restarted by itself" in sentence]


def test_a_board_that_falls_silent_is_lost_and_found_again(
    board: Any, connect: Connect, until: Until, said: Any
) -> None:
    connection = connect()
    until(connection, has(Linked))
    board.is_mute = True
    (lost,) = of(Lost, until(connection, has(Lost)))
    assert lost.reason == f"the board on {board.name} does not answer"
    assert connection.state is not ConnectionState.LINKED
    assert str(connection.outage) == lost.reason
    board.is_mute = False
    until(connection, has(Linked))
    assert len(said.sentences) == 2


def test_a_board_that_stops_reading_holds_nobody_up(board: Any, connect: Connect, until: Until) -> None:
    """The system's buffer fills and nothing more can be written; showing lights goes on at once, and so does time."""
    connection = connect()
    until(connection, has(Linked))
    board.terminal.stop_reading()
    events: list[BoardEvent] = []

    def is_lost() -> bool:
        events.extend(connection.poll())
        return has(Lost)(events)

    until_s = time.monotonic() + GUARD_S
    while not connection.wait_for(is_lost, 0.02):
        assert time.monotonic() < until_s, "it is never lost"
        connection.show_lights(os.urandom(900))
        board.tell()
    (lost,) = of(Lost, events)
    assert re.search(r"takes no more bytes|does not answer", lost.reason)


def test_another_program_that_has_the_port_open_without_a_lock_is_named(
    make_terminal: Any, connect: Connect, fail: Any
) -> None:
    terminal = make_terminal(lambda _: b"echo:busy: processing\n")
    program = f"import sys; file = open({terminal.name!r}); print('open', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline() == "open\n"
        words = fail(connect(port=terminal.name))
        other.stdin.close()
    assert re.search(rf" \(\S+ \(process {other.pid}\) has the port open, too, and may take its bytes\)$", words)


def test_garbage_at_the_start_does_no_harm(
    make_board: Any, ports: Any, record: Any, connect: Connect, until: Until
) -> None:
    board = make_board()
    ports.records = [record(board.name)]
    board.terminal.say(bytes(range(256)) * 3)
    connection = connect()
    until(connection, has(Linked))


def test_a_device_that_says_one_byte_at_a_time_is_understood(
    make_board: Any, ports: Any, record: Any, connect: Connect, until: Until
) -> None:
    board = make_board()
    ports.records = [record(board.name)]
    say = board.terminal.say
    board.terminal.say = lambda data: [say(bytes((byte,))) for byte in data]
    connection = connect()
    until(connection, has(Linked))
    board.press(1)
    until(connection, has(ButtonPressed))


def test_leaving_lets_go_of_the_port(board: Any, connect: Connect, until: Until, reach: Reach) -> None:
    connection = connect()
    until(connection, has(Linked))
    connection.leave()
    reach(connection, ConnectionState.RELEASED)
    assert board.heard[-1].leaves
    said = len(board.heard)
    # The port is free for whoever wants to change the board's files.
    other = connect(port=board.name)
    until(other, has(Linked))
    assert not any(state.leaves for state in board.heard[said:])
    assert connection.state is ConnectionState.RELEASED
    assert connection.outage is None


def test_leaving_is_done_once_the_board_answers(
    make_board: Any, ports: Any, record: Any, connect: Connect, reach: Reach, fail: Any
) -> None:
    connection = connect()
    connection.leave()
    fail(connection)
    board = make_board()
    ports.records = [record(board.name)]
    reach(connection, ConnectionState.RELEASED)
    assert board.heard[-1].leaves


def test_the_last_lights_are_sent_before_closing(board: Any, connect: Connect, until: Until) -> None:
    connection = connect()
    until(connection, has(Linked))
    connection.show_lights(GREEN)
    connection.close()
    assert board.shown == GREEN
    assert connection.state is ConnectionState.CLOSED


def test_closing_ends_the_thread_and_closes_every_file(board: Any, ports: Any) -> None:
    def open_files() -> set[str]:
        return {file.name for file in Path("/proc/self/fd").iterdir()}

    before = open_files()
    threads = set(threading.enumerate())
    with BoardConnection(WantedBoard(), time.monotonic, pytest.fail, list_ports=ports) as connection:
        assert connection.wait_for(lambda: connection.state is ConnectionState.LINKED, GUARD_S)
        assert set(threading.enumerate()) > threads
    assert set(threading.enumerate()) == threads
    assert open_files() == before
    # Late orders are harmless.
    connection.show_lights(RED)
    connection.close()


def test_a_mistake_in_the_thread_is_not_hidden(board: Any, ports: Any) -> None:
    def mistaken(name: str, baud: int) -> Port:
        raise ZeroDivisionError("a mistake")

    connection = BoardConnection(WantedBoard(), time.monotonic, pytest.fail, list_ports=ports, open_port=mistaken)
    with pytest.raises(ZeroDivisionError, match="a mistake"), connection:
        connection.wait_for(lambda: False, GUARD_S)
    with pytest.raises(ZeroDivisionError):
        connection.poll()
    with pytest.raises(ZeroDivisionError):
        connection.show_lights(RED)


def test_lights_that_no_message_can_hold_are_refused_at_once(board: Any, connect: Connect) -> None:
    connection = connect()
    with pytest.raises(MessageError, match="3072"):
        connection.show_lights(b"\x01" * 3072)
    with pytest.raises(MessageError):
        connection.play(((100_000, 1),))


def test_several_threads_may_use_it_at_once(board: Any, connect: Connect, until: Until) -> None:
    connection = connect()
    until(connection, has(Linked))

    def show(level: int) -> None:
        for _ in range(100):
            connection.show_lights(bytes((level, 0, 0)))
            connection.poll()

    threads = [threading.Thread(target=show, args=(level,)) for level in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    connection.show_lights(GREEN)
    board.wait_for(lambda: board.shown == GREEN)


def test_a_quiet_connection_sleeps(board: Any, connect: Connect, until: Until) -> None:
    """An idle connection wakes to say its state and for the answer, and hardly for anything else."""
    connection = connect()
    until(connection, has(Linked))
    heard = [connection.last_heard_s]

    def three_answers() -> bool:
        if connection.last_heard_s != heard[-1]:
            heard.append(connection.last_heard_s)
        return len(heard) > 3

    before = connection.statistics
    assert connection.wait_for(three_answers, GUARD_S)
    after = connection.statistics
    packets = after.link.packets - before.link.packets + after.link.sent - before.link.sent
    assert after.wakeups - before.wakeups <= 2 * packets


@pytest.mark.parametrize(
    ("version", "words"),
    [
        (1, "speaks version 1 of the protocol, and this program version 2; its firmware is older than this program"),
        (3, "speaks version 3 of the protocol, and this program version 2; its firmware is newer than this program"),
    ],
)
def test_a_board_of_another_version_is_named_with_what_to_do(
    board: Any, connect: Connect, fail: Any, version: int, words: str
) -> None:
    board.version = version
    told = fail(connect())
    assert words in told
    assert "`./run hardware firmware install`" in told


def test_a_board_with_the_first_firmware_is_named(make_terminal: Any, connect: Connect, fail: Any) -> None:
    """Version 1 answered any frame that it did not know by RESTARTED: kind 4, no session, and its boot id."""
    body = bytes((4, 0, 0, 0, 0, 0, 0)) + (77).to_bytes(4, "little")
    terminal = make_terminal(lambda _: encode_frame(body))
    assert "speaks version 1 of the protocol" in fail(connect(port=terminal.name))


def test_of_two_boards_that_answer_one_is_asked_for(
    board: Any, make_board: Any, ports: Any, record: Any, connect: Connect, until: Until, fail: Any
) -> None:
    second = make_board(board="the other")
    ports.records = [record(board.name, serial_number="one"), record(second.name, serial_number="two")]
    words = fail(connect())
    assert re.search(r"2 boards answer: .*\(plain board\); .*\(the other\); which one is it\? Give its serial", words)
    (linked,) = of(Linked, until(connect(serial_number="two"), has(Linked)))
    assert linked.port.device == second.name
