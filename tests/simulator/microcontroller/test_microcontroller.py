from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
import serial

from firmware_bridge.connection.connection import BoardConnection
from firmware_bridge.connection.events import (
    BoardEvent,
    ButtonChanged,
    FaultReported,
    Linked,
    SensorsReported,
)
from firmware_bridge.ports.selection import WantedBoard
from firmware_bridge.protocol.messages import ButtonAction, Configure
from simulator.microcontroller.board import ShownFrame
from simulator.microcontroller.microcontroller import PRODUCT_ID, VENDOR_ID, VirtualMicrocontroller
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
PRESS = [ButtonAction.PRESSED, ButtonAction.RELEASED]


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

    def moved(self) -> list[tuple[int, ButtonAction]]:
        self.events += self.connection.poll()
        return [(event.button, event.action) for event in self.events if isinstance(event, ButtonChanged)]


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
            at.wait_for(ButtonChanged, count=2 * (number + 1))
        assert at.moved() == [(number, action) for number in range(3) for action in PRESS]
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
        at.wait_for(FaultReported)
        assert at.board.boots == 2


def test_when_the_host_goes_the_lights_wait(pin_map: bytes) -> None:
    with table(pin_map) as at:
        at.connection.configure(Configure(silence_ms=300))
        colours = bytes([50, 0, 0] * 12)
        at.connection.show_lights(colours)
        at.wait_for_lights(colours)
        at.connection.close()
        assert at.board.wait_for(lambda: at.board.lights().is_waiting, GUARD_S)
        assert not any(frame.colours == colours and frame.is_waiting for frame in at.board.frames())


def test_silence_on_the_wire_makes_the_lights_wait_until_it_ends(pin_map: bytes) -> None:
    with table(pin_map, WireFaults(silences_at_s=(0.5,), silence_s=0.8)) as at:
        at.connection.configure(Configure(silence_ms=200))
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
