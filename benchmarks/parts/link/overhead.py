"""The connection to the virtual board beside bare pyserial and an echo, over pseudo-terminals, in turns.

The far ends run in processes of their own, as a microcontroller does; the near ends take turns here, so that whatever
else the machine does falls on both.
"""

from __future__ import annotations

import json
import select
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from statistics import median, quantiles

import serial
from serial.tools.list_ports_common import ListPortInfo

from firmware_bridge.connection.connection import BoardConnection
from firmware_bridge.connection.events import SensorsReported
from firmware_bridge.ports.selection import WantedBoard
from simulator.microcontroller.microcontroller import VirtualMicrocontroller
from simulator.microcontroller.terminal import PseudoTerminal

LIGHTS = 300
MOST_ADDED_S = 0.001
_GUARD_S = 10.0
_LOOK_EVERY_S = 50e-6
_WARM_UP = 20
_OUTSTANDING = 2


@dataclass
class Compared:
    """Round trips in seconds and throughput in bytes a second, of the connection and of the bare echo."""

    connection_s: list[float] = field(default_factory=list)
    echo_s: list[float] = field(default_factory=list)
    echo_bytes: int = 0
    connection_bytes_per_s: list[float] = field(default_factory=list)
    echo_bytes_per_s: list[float] = field(default_factory=list)
    light_frames_per_s: list[float] = field(default_factory=list)

    @property
    def added_s(self) -> float:
        """By how much the median round trip of the connection is longer."""
        return median(self.connection_s) - median(self.echo_s)

    @property
    def throughput_ratio(self) -> float:
        """The median of how many times the echo's bytes a second the connection carried, each beside its own."""
        pairs = zip(self.connection_bytes_per_s, self.echo_bytes_per_s, strict=True)
        return median(mine / theirs for mine, theirs in pairs)

    @property
    def met(self) -> bool:
        """Whether the line is met."""
        return self.added_s <= MOST_ADDED_S


def percentile_99_s(times_s: list[float]) -> float:
    """The time that 99 in 100 stay below."""
    return quantiles(times_s, n=100)[98]


def pin_map() -> bytes:
    """A board with 300 lights, 64 switches and three buttons."""
    form = {
        "format": 1,
        "board": "pico",
        "name": "benchmark",
        "link": "usb",
        "lights": {"pin": 28, "count": LIGHTS, "order": "GRB", "limit_ma": 500, "brightness": 255},
        "matrix": {"rows": list(range(2, 10)), "columns": list(range(10, 18)), "diodes": True},
        "buttons": [18, 19, 20],
    }
    return json.dumps(form).encode()


def compare(round_trips: int, seconds: float, rounds: int) -> Compared:
    """Measure both in turns: so many round trips each, then ``rounds`` times ``seconds`` of throughput each."""
    compared = Compared()
    with (
        _far_end(_be_board) as board,
        _far_end(_be_echo) as echo,
        _connected(board) as connection,
        serial.Serial(echo.device, timeout=_GUARD_S, exclusive=True) as port,
    ):
        asked_s, frame_bytes = _ask(connection)
        compared.echo_bytes = frame_bytes
        for number in range(_WARM_UP + round_trips):
            asked_s, _ = _ask(connection)
            echoed_s = _echo(port, bytes(frame_bytes))
            if number >= _WARM_UP:
                compared.connection_s.append(asked_s)
                compared.echo_s.append(echoed_s)
        for _ in range(rounds):
            sent, frames = _pour_lights(connection, seconds)
            compared.connection_bytes_per_s.append(sent / seconds)
            compared.light_frames_per_s.append(frames / seconds)
            compared.echo_bytes_per_s.append(_pour_echo(port, max(1, sent // max(1, frames)), seconds) / seconds)
    return compared


def _ask(connection: BoardConnection) -> tuple[float, int]:
    """Ask for the switches and wait for the answer; give how long it took, and how many bytes the answer had."""
    connection.poll()
    received = connection.statistics.received_bytes
    began_s = time.perf_counter()
    connection.ask_for_snapshot()
    while not any(isinstance(event, SensorsReported) for event in connection.poll()):
        if not connection.wait_for(lambda: connection.has_events, _GUARD_S):
            raise TimeoutError("the virtual board did not answer within 10 s")
    return time.perf_counter() - began_s, connection.statistics.received_bytes - received


def _echo(port: serial.Serial, data: bytes) -> float:
    began_s = time.perf_counter()
    port.write(data)
    if len(port.read(len(data))) != len(data):
        raise TimeoutError("the echo did not come back within 10 s")
    return time.perf_counter() - began_s


def _pour_lights(connection: BoardConnection, seconds: float) -> tuple[int, int]:
    """Show one full frame after the other; give bytes and packets that went out."""
    before = connection.statistics
    until_s = time.perf_counter() + seconds
    number = 0
    while time.perf_counter() < until_s:
        number += 1
        connection.show_lights(bytes([1 + number % 255]) * (3 * LIGHTS))
        time.sleep(_LOOK_EVERY_S)
    after = connection.statistics
    return after.sent_bytes - before.sent_bytes, after.link.counts.sent - before.link.counts.sent


def _pour_echo(port: serial.Serial, size: int, seconds: float) -> int:
    """Keep as many pieces on their way as the connection keeps light frames; give the bytes that came back."""
    piece = bytes(size)
    for _ in range(_OUTSTANDING):
        port.write(piece)
    back = 0
    until_s = time.perf_counter() + seconds
    while time.perf_counter() < until_s:
        back += len(port.read(size))
        port.write(piece)
    port.read(_OUTSTANDING * size)
    return back


# The far ends.


@contextmanager
def _connected(board: ListPortInfo) -> Iterator[BoardConnection]:
    wanted = WantedBoard(serial_number=board.serial_number)
    with BoardConnection(wanted, time.monotonic, lambda _: None, list_ports=lambda: [board]) as connection:
        if not connection.wait_for(lambda: connection.welcome is not None, _GUARD_S):
            raise TimeoutError(f"no link with the virtual board within 10 s: {connection.outage}")
        yield connection


@contextmanager
def _far_end(serve: Callable[[Connection], None]) -> Iterator[ListPortInfo]:
    """A process that serves a pseudo-terminal until it is let go; gives the record of its port."""
    context = get_context("spawn")
    near, far = context.Pipe()
    process = context.Process(target=serve, args=(far,))
    process.start()
    far.close()
    try:
        yield near.recv()
    finally:
        near.close()
        process.join()


def _be_board(told: Connection) -> None:
    with VirtualMicrocontroller(pin_map()) as board:
        told.send(board.list_ports()[0])
        # Nothing is sent any more: it becomes readable when the other end is closed.
        select.select([told], [], [])


def _be_echo(told: Connection) -> None:
    with PseudoTerminal() as terminal:
        told.send(ListPortInfo(terminal.name, skip_link_detection=True))
        while True:
            waiting = [terminal.fileno()] if terminal.is_waiting else []
            readable, _, _ = select.select([terminal.fileno(), told.fileno()], waiting, [])
            if told.fileno() in readable:
                return
            terminal.flush()
            if terminal.fileno() in readable:
                terminal.write(terminal.read())
