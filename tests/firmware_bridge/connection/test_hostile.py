"""The connection against boards, cables and neighbours that do their worst, through real pseudo-terminals."""

import json
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from firmware_bridge.connection.connection import BoardConnection
from firmware_bridge.connection.events import (
    BoardEvent,
    ButtonPressed,
    ConnectionState,
    Linked,
    Lost,
    PressesDropped,
    SensorsReported,
)
from firmware_bridge.connection.mailbox import MOST_EVENTS
from firmware_bridge.errors import WrongDeviceError
from firmware_bridge.ports.port import Port, open_port
from firmware_bridge.ports.selection import WantedBoard
from firmware_bridge.protocol.messages import (
    BoardSettings,
    BoardState,
    ButtonState,
    HostState,
    decode_packet,
    encode_packet,
)
from firmware_bridge.protocol.packets import PacketReader, encode_frame
from simulator.microcontroller.microcontroller import VirtualMicrocontroller
from tests.guard import GUARD_S

Connect = Callable[..., BoardConnection]
Until = Callable[[BoardConnection, Callable[[list[BoardEvent]], bool]], list[BoardEvent]]

GREEN = b"\x00\xff\x00"
RESTARTED = encode_frame(encode_packet(BoardState(7, 0)))


def has(kind: type[Any]) -> Callable[[list[BoardEvent]], bool]:
    return lambda events: any(isinstance(event, kind) for event in events)


class NotedPort:
    """A real port that notes what is done with it."""

    def __init__(self, port: Port, noted: list[str]) -> None:
        self._port = port
        self._noted = noted

    def __getattr__(self, name: str) -> Any:
        if name in ("discard", "close"):
            self._noted.append(name)
        return getattr(self._port, name)


def test_closing_waits_for_no_device_that_takes_nothing(board: Any, ports: Any, said: Any, until: Until) -> None:
    """Linux waits up to 30 s for what was written and not sent; a state for a board that hangs is such a thing."""
    noted: list[str] = []

    def open_noted(name: str, baud: int) -> Any:
        return NotedPort(open_port(name, baud), noted)

    with BoardConnection(
        WantedBoard(),
        time.monotonic,
        said,
        list_ports=ports,
        open_port=open_noted,
    ) as connection:
        connection.show_lights(GREEN)
        until(connection, has(Linked))
        board.wait_for(lambda: board.shown == GREEN)
    # On a very busy computer the board may be lost before, and its port closed once more.
    assert noted[-2:] == ["discard", "close"]


def test_a_printer_beside_the_board_is_not_opened_when_the_board_goes(
    board: Any, make_terminal: Any, ports: Any, record: Any, said: Any, until: Until, stack: Any
) -> None:
    """Serial converters without serial numbers are all alike, and opening a printer's would end its print."""
    printer = make_terminal()
    converter = {"vid": 0x1A86, "pid": 0x7523, "serial_number": None}
    ports.records = [record(board.name, **converter), record(printer.name, **converter)]
    opened: list[str] = []

    def noted(name: str, baud: int) -> Port:
        opened.append(name)
        return open_port(name, baud)

    connection = stack.enter_context(
        BoardConnection(WantedBoard(board.name), time.monotonic, said, list_ports=ports, open_port=noted)
    )
    until(connection, has(Linked))
    ports.records = [record(printer.name, **converter)]
    board.unplug()
    assert connection.wait_for(lambda: connection.outage is not None and connection.outage.attempts > 2, GUARD_S)
    assert set(opened) == {board.name}


def test_a_board_whose_name_another_device_has_is_found_by_the_settings(
    board: Any, make_terminal: Any, ports: Any, record: Any, said: Any, until: Until, stack: Any, tmp_path: Path
) -> None:
    """Two converters without serial numbers swapped their names; the link in the settings leads to the right one."""
    first, second, link = "/dev/ttyUSB0", "/dev/ttyUSB1", tmp_path / "by-path"
    printer = make_terminal(lambda _: b"echo:busy: processing\n")
    ports.records = [record(name, vid=0x1A86, pid=0x7523, serial_number=None) for name in (first, second)]
    behind = {first: board.name, second: printer.name}
    link.symlink_to(first)
    skipped_s = 0.0
    connection = stack.enter_context(
        BoardConnection(
            WantedBoard(str(link)),
            lambda: time.monotonic() + skipped_s,
            said,
            list_ports=ports,
            open_port=lambda name, baud: open_port(behind[name], baud),
        )
    )
    until(connection, has(Linked))
    behind[first] = printer.name
    link.unlink()
    link.symlink_to(second)
    board.plug_in_again()
    behind[second] = board.name

    def is_wrong() -> bool:
        return connection.outage is not None and isinstance(connection.outage.error, WrongDeviceError)

    assert connection.wait_for(is_wrong, GUARD_S)
    skipped_s = 61.0
    connection.show_lights(GREEN)
    (linked,) = [event for event in until(connection, has(Linked)) if isinstance(event, Linked)]
    assert linked.port.device == second


def test_a_board_is_back_soon_after_another_one_beside_it_was_tried(
    board: Any, make_terminal: Any, ports: Any, record: Any, connect: Connect, said: Any, until: Until
) -> None:
    connection = connect()
    until(connection, has(Linked))
    first = board.name
    other = make_terminal(lambda _: b"echo:busy: processing\n")
    ports.records = [record(other.name, serial_number="E662")]
    board.plug_in_again()

    def is_wrong() -> bool:
        return connection.outage is not None and isinstance(connection.outage.error, WrongDeviceError)

    assert connection.wait_for(is_wrong, GUARD_S)
    gone_s = time.monotonic()
    ports.failures = 3
    ports.records.append(record(board.name))
    (linked,) = [event for event in until(connection, has(Linked)) if isinstance(event, Linked)]
    assert linked.port.device == board.name
    assert time.monotonic() - gone_s < 30.0
    assert said.sentences[1].startswith(f"the board that was on {first} is unplugged; {other.name} is a 3D printer")


def test_without_a_board_the_thread_sleeps_from_one_attempt_to_the_next(ports: Any) -> None:
    """And it holds no lock while it says something: who hears it may use the connection."""
    heard: list[str] = []
    connection: BoardConnection

    def say(sentence: str) -> None:
        connection.show_lights(GREEN)
        heard.append(f"{sentence} ({connection.state})")

    connection = BoardConnection(WantedBoard("/dev/ttyNONE"), time.monotonic, say, list_ports=ports)
    with connection:
        assert connection.wait_for(lambda: connection.outage is not None and connection.outage.attempts > 2, GUARD_S)
        wakeups = connection.statistics.wakeups
        # Once by itself before each attempt but the first, once for the order, and once for an attempt under way.
        assert connection.outage is not None
        assert wakeups <= connection.outage.attempts + 1
    assert len(heard) == 1


def test_unplugged_in_the_middle_of_a_write_it_is_found_under_another_name(
    board: Any, ports: Any, record: Any, connect: Connect, until: Until
) -> None:
    connection = connect()
    until(connection, has(Linked))
    board.terminal.stop_reading()
    written = connection.statistics.sent_bytes

    def is_full() -> bool:
        """Half a frame is written, and the rest waits for room."""
        nonlocal written
        before, written = written, connection.statistics.sent_bytes
        connection.show_lights(os.urandom(900))
        board.tell()
        return written == before > 4096

    until_s = time.monotonic() + GUARD_S
    while not connection.wait_for(is_full, 0.01):
        assert time.monotonic() < until_s, "it is never full"
    connection.show_lights(GREEN)
    board.plug_in_again()
    ports.records = [record(board.name)]
    until(connection, lambda events: has(Lost)(events) and has(Linked)(events))
    board.wait_for(lambda: board.shown == GREEN)


def test_a_board_that_restarts_again_and_again_while_it_is_greeted_is_linked_once(
    make_terminal: Any, ports: Any, record: Any, make_board: Any, connect: Connect, until: Until
) -> None:
    board = make_board()
    ports.records = [record(board.name)]
    hear, said_restarted = board._hear, list[bytes]()

    def restarting(terminal: Any, data: bytes) -> None:
        if len(said_restarted) < 5:
            said_restarted.append(data)
            terminal.say(RESTARTED)
        else:
            hear(terminal, data)

    board.terminal._heard = restarting
    events = until(connect(), has(Linked))
    assert len([event for event in events if isinstance(event, Linked)]) == 1
    assert not has(Lost)(events)


def test_a_talker_that_never_pauses_holds_up_neither_the_greeting_nor_the_end(
    make_terminal: Any, connect: Connect
) -> None:
    """Half frames, states of a board that does not welcome anybody, noise: as fast as they go, and never a welcome."""
    flood = encode_frame(encode_packet(BoardState(9, 0))) + os.urandom(3000) + b"\x05half a frame"
    heard = PacketReader()
    greetings: list[HostState] = []
    said_again = threading.Event()

    def listen(data: bytes) -> bytes:
        greetings.extend(state for state in map(decode_packet, heard.feed(data)) if isinstance(state, HostState))
        if len(greetings) > 1:
            said_again.set()
        return b""

    terminal = make_terminal(listen)
    stop = threading.Event()

    def talk() -> None:
        while not stop.is_set():
            # When it is full the connection is behind, and reads on.
            with suppress(BlockingIOError):
                terminal.say(flood)

    talker = threading.Thread(target=talk)
    talker.start()
    try:
        connection = connect(port=terminal.name)
        assert (said_again.wait(GUARD_S), connection.state) == (True, ConnectionState.HANDSHAKING)
        connection.close()
        assert connection.state is ConnectionState.CLOSED
        assert connection.statistics.link.packets > 0
    finally:
        stop.set()
        talker.join()


def test_a_board_that_floods_costs_no_memory_and_its_newest_state_counts(
    board: Any, connect: Connect, until: Until
) -> None:
    connection = connect()
    until(connection, has(Linked))
    before, count = connection.statistics.link.packets, 3000

    def has_read(packets: int) -> bool:
        return connection.statistics.link.packets >= packets

    for number in range(count):
        board.tell(closed=(number % 2 == 0, False, False, False))
        if number % 50 == 49:
            assert connection.wait_for(partial(has_read, before + number), GUARD_S)
    board.press(1)
    events = until(connection, has(ButtonPressed))
    assert len(events) <= 2 * MOST_EVENTS
    assert [event for event in events if isinstance(event, SensorsReported)][-1].closed[0] is False
    assert [event.button for event in events if isinstance(event, ButtonPressed)] == [1]


def test_a_board_cannot_invent_buttons_or_presses(board: Any, connect: Connect, until: Until) -> None:
    """States with other buttons than it has are ignored, and no finger presses a thousand times between two states."""
    connection = connect()
    until(connection, has(Linked))
    pressed = ButtonState(1, 0, 5)
    for buttons in ((pressed,), (pressed,) * 3, (pressed,) * 200):
        board.tell(buttons=buttons)
    board.tell(buttons=(pressed,) * 2, closed=(True,) * 500, doubtful=(False,) * 500)
    board.tell(buttons=(ButtonState(1000, 0, 5), ButtonState(65535, 0, 5)), closed=(False,) * 4, doubtful=(False,) * 4)
    events = until(connection, has(PressesDropped))
    assert [event.button for event in events if isinstance(event, ButtonPressed)] == [0] * 16
    assert [event.presses for event in events if isinstance(event, PressesDropped)] == [984]
    assert connection.statistics.link.invalid == 4


def test_a_press_of_long_ago_is_told_as_one_that_came_too_late(board: Any, connect: Connect, until: Until) -> None:
    board.press(0, before_ms=5001)
    connection = connect()
    assert not has(PressesDropped)(until(connection, has(SensorsReported)))
    board.press(1, before_ms=5001)
    (dropped,) = [event for event in until(connection, has(PressesDropped)) if isinstance(event, PressesDropped)]
    assert dropped.presses == 1


def test_a_board_that_says_everything_back_is_no_board(make_terminal: Any, connect: Connect, fail: Any) -> None:
    terminal = make_terminal(lambda data: data)
    assert "does not answer the greeting" in fail(connect(port=terminal.name))


def test_of_two_boards_that_nothing_tells_apart_the_port_is_asked_for(
    board: Any, make_board: Any, ports: Any, record: Any, connect: Connect, until: Until, fail: Any
) -> None:
    second = make_board(board="the other")
    ports.records = [record(board.name), record(second.name)]
    words = fail(connect())
    assert re.search(r"2 boards answer: .*; which one is it\? Name its port in the settings$", words)
    assert re.search(
        r"2 ports fit .* which one is it\? Name its port in the settings$", fail(connect(serial_number="E661"))
    )
    (linked,) = [event for event in until(connect(port=second.name), has(Linked)) if isinstance(event, Linked)]
    assert linked.port.device == second.name


def test_a_board_that_is_only_tried_is_not_told_that_its_press_was_taken(
    board: Any, make_board: Any, ports: Any, record: Any, connect: Connect, fail: Any
) -> None:
    second = make_board(board="the other")
    ports.records = [record(board.name), record(second.name)]
    for tried in (board, second):
        tried.press(0)
    assert "2 boards answer" in fail(connect())
    assert [tried.heard for tried in (board, second)] == [[], []]


def test_two_foreign_boards_are_opened_again_as_rarely_as_one(
    make_terminal: Any, ports: Any, record: Any, connect: Any, fail: Any
) -> None:
    foreign = [make_terminal(lambda _: b"echo:busy: processing\n") for _ in range(2)]
    ports.records = [
        record(each.name, vid=0x303A, pid=0x1001, serial_number=f"E{number}") for number, each in enumerate(foreign)
    ]
    connection = connect()
    assert "none of the 2 boards is the referee's" in fail(connection)
    assert type(connection.outage.error) is WrongDeviceError


# The connection to the firmware's own core, on the virtual board behind a real pseudo-terminal.

PIN_MAP = {
    "format": 1,
    "board": "pico",
    "name": "Raspberry Pi Pico",
    "link": "usb",
    "lights": {"pin": 28, "count": 8, "order": "GRB", "limit_ma": 2000, "brightness": 255},
    "matrix": {"rows": [2, 3], "columns": [4, 5], "diodes": True},
    "buttons": [10, 11],
    "buzzer": {"pin": 22, "kind": "passive"},
}
COLOURS = bytes(range(1, 25))


@pytest.fixture
def chip() -> Iterator[VirtualMicrocontroller]:
    with VirtualMicrocontroller(json.dumps(PIN_MAP).encode(), seed=5) as chip:
        yield chip


@pytest.fixture
def started_s() -> float:
    """When nothing had been asked of the board yet."""
    return time.monotonic()


@pytest.fixture
def connection(chip: VirtualMicrocontroller, said: Any, started_s: float) -> Iterator[BoardConnection]:
    with BoardConnection(WantedBoard(), time.monotonic, said, list_ports=chip.list_ports) as connection:
        yield connection


def shows(chip: VirtualMicrocontroller, colours: bytes) -> bool:
    return chip.wait_for(lambda: chip.lights().colours == colours, GUARD_S)


def test_lights_reach_the_strip_and_its_facts_the_host(
    chip: VirtualMicrocontroller, connection: BoardConnection, until: Until
) -> None:
    connection.show_lights(COLOURS)
    (linked,) = [event for event in until(connection, lambda events: len(events) > 0) if isinstance(event, Linked)]
    welcome = linked.welcome
    assert (welcome.lights, welcome.switches, welcome.buttons, welcome.buzzer) == (8, 4, 2, 2)
    assert welcome.board == "Raspberry Pi Pico"
    assert shows(chip, COLOURS)


def test_switches_and_presses_have_times_of_the_host(
    chip: VirtualMicrocontroller, connection: BoardConnection, started_s: float, until: Until
) -> None:
    connection.configure(BoardSettings(debounce_ms=5))
    # A board that has just started doubts its switches until they have rested.
    until(connection, lambda events: any(isinstance(e, SensorsReported) and not any(e.doubtful) for e in events))
    before_s = time.monotonic()
    chip.set_switch(3, True)
    events = until(connection, lambda events: any(isinstance(e, SensorsReported) and e.closed[3] for e in events))
    (change,) = [change for event in events if isinstance(event, SensorsReported) for change in event.changes]
    assert (change.switch, change.closed) == (3, True)
    chip.press(1)
    (pressed,) = [e for e in until(connection, has(ButtonPressed)) if isinstance(e, ButtonPressed)]
    assert pressed.button == 1
    # The clocks are matched to half of the quickest question's round trip, which on a busy computer may be anything
    # since the start; the board counts whole milliseconds.
    now_s = time.monotonic()
    off_s = (now_s - started_s) / 2 + 0.002
    assert all(before_s - off_s <= at_s <= now_s for at_s in (change.time_s, pressed.time_s))


def test_what_the_board_should_show_survives_everything(
    chip: VirtualMicrocontroller, connection: BoardConnection, until: Until
) -> None:
    def wait(kind: type[Any]) -> Any:
        return [
            e for e in until(connection, lambda events: any(isinstance(e, kind) for e in events)) if isinstance(e, kind)
        ]

    connection.show_lights(COLOURS)
    wait(Linked)
    assert shows(chip, COLOURS)
    chip.reset()
    assert wait(Linked)[-1].restarted
    assert shows(chip, COLOURS)
    first_name = chip.port_name
    chip.unplug()
    wait(Lost)
    connection.show_lights(COLOURS[::-1])
    chip.replug()
    assert wait(Linked)[-1].port.device == chip.port_name != first_name
    assert shows(chip, COLOURS[::-1])


def test_leaving_ends_at_the_bare_interpreter(
    chip: VirtualMicrocontroller, connection: BoardConnection, said: Any, until: Until
) -> None:
    until(connection, lambda events: any(isinstance(event, Linked) for event in events))
    connection.leave()
    assert connection.wait_for(lambda: connection.state is ConnectionState.RELEASED, GUARD_S)
    assert chip.wait_for(lambda: chip.is_in_interpreter, GUARD_S)
    assert said.sentences == []
