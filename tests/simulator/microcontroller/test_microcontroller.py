import select
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from random import Random
from typing import Any

import pytest
import serial
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.connection.connection import BoardConnection
from firmware_bridge.connection.events import (
    BoardEvent,
    ButtonPressed,
    Linked,
    SensorsReported,
)
from firmware_bridge.ports.selection import WantedBoard
from firmware_bridge.protocol.messages import BoardSettings, ResetCause
from simulator.microcontroller.board import MOST_BOUNCE_S, Contact, ShownFrame, columns_read
from simulator.microcontroller.microcontroller import PRODUCT_ID, VENDOR_ID, PseudoTerminal, VirtualMicrocontroller
from simulator.microcontroller.wire import FRAME_FAULTS, WireFaults
from tests.guard import GUARD_S
from tests.simulator.microcontroller.wires import faulty

SERIAL_NUMBER = "virtual 1"
EVERYTHING = replace(WireFaults.every_kind(0.05), garbage_bytes=200, latency_s=0.001)
WIRES = {
    "good": WireFaults(),
    **{fault: faulty(**{fault: 0.25}) for fault in FRAME_FAULTS},
    "garbage": WireFaults(garbage_bytes=2000),
    "slow": WireFaults(bytes_per_s=3000.0, latency_s=0.005),
    "silence": WireFaults(silences_at_s=(0.2,), silence_s=0.3),
    "all": replace(EVERYTHING, bytes_per_s=11520.0, silences_at_s=(0.2,), silence_s=0.2),
}


class Table:
    """The virtual board and the service's end of its link."""

    def __init__(self, board: VirtualMicrocontroller, connection: BoardConnection) -> None:
        self.board = board
        self.connection = connection
        self.events: list[BoardEvent] = []

    def wait_for(self, *kinds: type[BoardEvent], count: int = 1) -> None:
        """Wait for a number of events of a kind."""

        def has_come() -> bool:
            self.events += self.connection.poll()
            return sum(isinstance(event, kinds) for event in self.events) >= count

        assert self.board.wait_for(has_come, GUARD_S), f"waited in vain for {count} {kinds}; came: {self.events}"

    def wait_for_lights(self, colours: bytes, since_s: float = 0.0) -> None:
        """Wait until a frame since then showed these colours."""
        self._wait_for_frame(lambda frame: frame.colours == colours and frame.time_s >= since_s)

    def wait_for_waiting(self, since_s: float) -> None:
        """Wait until a frame since then was of the waiting animation."""
        self._wait_for_frame(lambda frame: frame.is_waiting and frame.time_s >= since_s)

    def _wait_for_frame(self, fits: Callable[[ShownFrame], bool]) -> None:
        came = self.board.wait_for(lambda: any(map(fits, self.board.frames())), GUARD_S)
        assert came, f"the lights show {self.board.lights()}"

    def pressed(self) -> list[int]:
        self.events += self.connection.poll()
        return [event.button for event in self.events if isinstance(event, ButtonPressed)]


@contextmanager
def table(pin_map: bytes, faults: WireFaults | None = None, seed: int = 1, **knobs: Any) -> Iterator[Table]:
    said: list[str] = []
    wanted = WantedBoard(vendor_id=VENDOR_ID, product_id=PRODUCT_ID, serial_number=SERIAL_NUMBER)
    with (
        VirtualMicrocontroller(pin_map, faults, seed, serial_number=SERIAL_NUMBER, **knobs) as board,
        BoardConnection(wanted, time.monotonic, said.append, list_ports=board.list_ports) as connection,
    ):
        yield Table(board, connection)
    assert "virtual microcontroller" not in [thread.name for thread in threading.enumerate()]


@pytest.mark.parametrize("wire", WIRES)
def test_lights_and_presses_arrive_under_each_fault(pin_map: bytes, wire: str) -> None:
    with table(pin_map, WIRES[wire]) as at:
        at.wait_for(Linked)
        for number in range(3):
            colours = bytes([number + 1, 20, 30] * 12)
            at.connection.show_lights(colours)
            at.wait_for_lights(colours)
            at.board.press(number, held_s=0.04)
            at.wait_for(ButtonPressed, count=number + 1)
        assert at.pressed() == [0, 1, 2]
        assert at.board.boots == 1
        if wire in FRAME_FAULTS:
            assert at.board.fault_counts().get(wire, 0) > 0


@pytest.mark.parametrize("faults", [WireFaults(), EVERYTHING], ids=["good wire", "bad wire"])
def test_plugged_in_again_under_another_name_it_is_found_and_lit_again(pin_map: bytes, faults: WireFaults) -> None:
    with table(pin_map, faults) as at:
        colours = bytes([9, 8, 7] * 12)
        at.connection.show_lights(colours)
        at.wait_for_lights(colours)
        at.wait_for(Linked)
        before = at.board.port_name
        at.board.unplug()
        assert at.board.list_ports() == []
        dark = at.board.lights()
        assert (dark.duty, dark.is_waiting) == (bytes(36), False)
        with pytest.raises(RuntimeError, match="has no port"):
            _ = at.board.port_name
        plugged_s = time.monotonic()
        at.board.replug()
        assert at.board.port_name != before
        at.wait_for_lights(colours, plugged_s)

        def is_linked_there() -> bool:
            at.events += at.connection.poll()
            linked = [event for event in at.events if isinstance(event, Linked)]
            return linked[-1].port.device == at.board.port_name

        assert at.board.wait_for(is_linked_there, GUARD_S)


def test_lights_come_back_after_the_board_reset_itself(pin_map: bytes) -> None:
    with table(pin_map, EVERYTHING) as at:
        colours = bytes([1, 2, 3] * 12)
        at.connection.show_lights(colours)
        at.wait_for_lights(colours)
        reset_s = time.monotonic()
        at.board.reset()
        at.wait_for_waiting(reset_s)
        at.wait_for_lights(colours, reset_s)
        assert at.board.boots == 2


def test_a_hang_ends_with_the_watchdog_and_the_host_hears_of_it(pin_map: bytes) -> None:
    with table(pin_map, watchdog_s=0.3) as at:
        at.wait_for(Linked)
        at.board.hang()
        at.wait_for(Linked, count=2)
        linked = [event for event in at.events if isinstance(event, Linked)]
        assert linked[-1].welcome.reset_cause == ResetCause.WATCHDOG
        assert at.board.boots == 2


def test_when_the_host_goes_the_lights_wait(pin_map: bytes) -> None:
    with table(pin_map) as at:
        at.connection.configure(BoardSettings(silence_ms=300))
        colours = bytes([50, 0, 0] * 12)
        at.connection.show_lights(colours)
        at.wait_for_lights(colours)
        at.connection.close()
        assert at.board.wait_for(lambda: at.board.lights().is_waiting, GUARD_S)
        assert not any(frame.colours == colours and frame.is_waiting for frame in at.board.frames())


def test_silence_on_the_wire_makes_the_lights_wait_until_it_ends(pin_map: bytes) -> None:
    with table(pin_map, WireFaults(silences_at_s=(0.5,), silence_s=0.8)) as at:
        at.connection.configure(BoardSettings(silence_ms=200))
        colours = bytes([0, 50, 0] * 12)
        at.connection.show_lights(colours)
        at.wait_for_lights(colours)
        shown_s = next(frame.time_s for frame in at.board.frames() if frame.colours == colours)
        at.wait_for_waiting(shown_s)
        newer = bytes([0, 0, 50] * 12)
        at.connection.show_lights(newer)
        at.wait_for_lights(newer)


def test_switches_are_sensed(pin_map: bytes) -> None:
    with table(pin_map) as at:
        at.wait_for(Linked)
        at.board.set_switch(6, True)

        def is_felt() -> bool:
            at.events += at.connection.poll()
            reports = [event for event in at.events if isinstance(event, SensorsReported)]
            return bool(reports) and reports[-1].closed[6]

        assert at.board.wait_for(is_felt, GUARD_S)


def test_it_is_listed_as_pyserial_lists_ports(pin_map: bytes) -> None:
    with VirtualMicrocontroller(pin_map, serial_number="1234") as board:
        (record,) = board.list_ports()
        assert record.device == board.port_name
        assert (record.vid, record.pid, record.serial_number) == (VENDOR_ID, PRODUCT_ID, "1234")
        with serial.Serial(record.device, exclusive=True, timeout=GUARD_S) as port:
            # Opening a port throws away what came before, so it starts anew to say something.
            board.reset()
            assert port.read(1) == b"\0"


def test_a_port_that_nobody_reads_does_not_stop_the_board(pin_map: bytes) -> None:
    with VirtualMicrocontroller(pin_map, WireFaults(garbage_bytes=65536)) as board, serial.Serial(board.port_name):
        for _ in range(4):
            board.reset()
        rounds = board.rounds
        assert board.wait_for(lambda: board.rounds > rounds + 20, GUARD_S)


def test_a_slow_wire_fills_the_hosts_buffer(pin_map: bytes) -> None:
    with (
        VirtualMicrocontroller(pin_map, WireFaults(bytes_per_s=1000.0)) as board,
        serial.Serial(board.port_name, write_timeout=0.05) as port,
        pytest.raises(serial.SerialTimeoutException),
    ):
        # 4 kB are on the wire, and about as many fit into the buffer.
        port.write(b"\1" * 40_000)


def test_an_exception_in_its_thread_is_raised(pin_map: bytes) -> None:
    times = iter([0.0] * 12)

    def clock() -> float:
        try:
            return next(times)
        except StopIteration:
            raise ZeroDivisionError("the clock stopped") from None

    board = VirtualMicrocontroller(pin_map, clock=clock)
    with pytest.raises(ZeroDivisionError, match="the clock stopped"), board:
        board.wait_for(lambda: False)
    board.close()


def test_outside_of_a_with_statement_it_names_the_remedy(pin_map: bytes) -> None:
    board = VirtualMicrocontroller(pin_map)
    for ask in (board.lights, board.unplug, board.fault_counts):
        with pytest.raises(RuntimeError, match="use it in a with statement"):
            ask()
    board.close()


CELLS = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)))


@given(st.integers(0, 10_000), st.lists(st.booleans(), min_size=1, max_size=6))
def test_a_contact_settles_at_the_level_it_was_moved_to(seed: int, moves: list[bool]) -> None:
    contact = Contact(Random(seed))
    for number, closed in enumerate(moves):
        contact.move(closed, number * 1.0)
        assert (contact.settles_s or 0.0) <= number + MOST_BOUNCE_S
        assert contact.is_closed(number + MOST_BOUNCE_S) is closed
        assert contact.settles_s is None


@given(st.integers(0, 10_000))
def test_a_contact_moved_while_it_bounces_settles_at_the_last_level(seed: int) -> None:
    contact = Contact(Random(seed))
    contact.move(True, 0.0)
    contact.move(False, MOST_BOUNCE_S / 3)
    assert not contact.is_closed(1.0)


def test_contacts_bounce_unless_they_are_ideal() -> None:
    def edges(bounce_s: float) -> int:
        contact = Contact(Random(4), bounce_s)
        contact.move(True, 0.0)
        levels = [contact.is_closed(microseconds / 1e6) for microseconds in range(8000)]
        return sum(one != other for one, other in zip([False, *levels], levels, strict=False))

    assert edges(MOST_BOUNCE_S) > 1
    assert edges(0.0) == 1


@given(CELLS)
def test_with_diodes_a_row_reads_its_own_contacts(closed: set[tuple[int, int]]) -> None:
    for row in range(5):
        assert columns_read(row, closed, diodes=True) == {column for at, column in closed if at == row}


@given(CELLS)
def test_without_diodes_a_column_reads_closed_when_a_path_leads_there(closed: set[tuple[int, int]]) -> None:
    # Warshall's transitive closure over rows and columns as nodes of one graph: plain, slow, written apart.
    nodes = [("row", number) for number in range(5)] + [("column", number) for number in range(5)]
    path = {(one, one) for one in nodes}
    path |= {(("row", row), ("column", column)) for row, column in closed}
    path |= {(two, one) for one, two in path}
    for middle, one, two in product(nodes, nodes, nodes):
        if (one, middle) in path and (middle, two) in path:
            path.add((one, two))
    for row in range(5):
        expected = {column for column in range(5) if (("row", row), ("column", column)) in path}
        assert columns_read(row, closed, diodes=False) == expected


@pytest.mark.parametrize("missing", list(product((0, 1), (0, 1))))
def test_three_corners_close_the_fourth(missing: tuple[int, int]) -> None:
    corners = set(product((0, 1), (0, 1))) - {missing}
    row, column = missing
    assert column in columns_read(row, corners, diodes=False)
    assert column not in columns_read(row, corners, diodes=True)


@pytest.fixture
def terminal() -> Iterator[PseudoTerminal]:
    with PseudoTerminal() as one:
        yield one


def arrived(terminal: PseudoTerminal, count: int) -> bytes:
    data = b""
    while len(data) < count:
        assert select.select([terminal], [], [], GUARD_S)[0]
        data += terminal.read()
    return data


def test_every_byte_goes_through_unchanged_both_ways(terminal: PseudoTerminal) -> None:
    every_byte = bytes(range(256))
    with serial.Serial(terminal.name, timeout=GUARD_S, exclusive=True) as port:
        port.write(every_byte)
        assert arrived(terminal, 256) == every_byte
        terminal.write(every_byte)
        assert port.read(256) == every_byte
    assert terminal.read() == b""


def test_it_can_be_opened_again_and_again(terminal: PseudoTerminal) -> None:
    for text in (b"once", b"twice"):
        with serial.Serial(terminal.name, timeout=GUARD_S, exclusive=True) as port:
            port.write(text)
            assert arrived(terminal, len(text)) == text


def test_unread_data_is_buffered_and_then_lost(terminal: PseudoTerminal) -> None:
    with serial.Serial(terminal.name, timeout=GUARD_S) as port:
        pieces = [bytes([number]) * 1000 for number in range(100)]
        for piece in pieces:
            terminal.write(piece)
        received = b""
        while terminal.is_waiting:
            received += port.read(max(1, port.in_waiting))
            terminal.flush()
        terminal.write(b"end")
        received += port.read_until(b"end")
        kept = b"".join(pieces)[: len(received) - 3]
        assert received == kept + b"end"
        assert 50_000 < len(kept) < 100_000


def test_a_host_that_has_it_open_finds_it_gone() -> None:
    terminal = PseudoTerminal()
    with serial.Serial(terminal.name, timeout=GUARD_S) as port:
        terminal.close()
        with pytest.raises((serial.SerialException, OSError)):
            port.read(1)
    terminal.close()
    with pytest.raises(serial.SerialException):
        serial.Serial(terminal.name)
