"""Compares the connection to the virtual board with bare pyserial and an echo, over pseudo-terminals.

The far ends run in their own processes. The near ends alternate here, so that other load on the machine affects both.
"""

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
from firmware_bridge.ports.selection import WantedBoard
from simulator.microcontroller.microcontroller import PseudoTerminal, VirtualMicrocontroller

LIGHTS = 300
MOST_ADDED_S = 0.001
_TIMEOUT_S = 10.0
_POLL_S = 50e-6
_WARM_UP = 20
_OUTSTANDING = 1


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
        """The extra time of the connection's median round trip."""
        return median(self.connection_s) - median(self.echo_s)

    @property
    def throughput_ratio(self) -> float:
        """The median ratio of the connection's throughput to the echo's, round by round."""
        pairs = zip(self.connection_bytes_per_s, self.echo_bytes_per_s, strict=True)
        return median(mine / theirs for mine, theirs in pairs)

    @property
    def met(self) -> bool:
        """Whether the target is met."""
        return self.added_s <= MOST_ADDED_S


def percentile_99_s(times_s: list[float]) -> float:
    """The 99th percentile."""
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
    """Measure both alternately: round trips, then the throughput in ``rounds`` of ``seconds`` each."""
    compared = Compared()
    with (
        _far_end(_serve_board) as board,
        _far_end(_serve_echo) as echo,
        _connected(board) as connection,
        serial.Serial(echo.device, timeout=_TIMEOUT_S, exclusive=True) as port,
    ):
        asked_s, frame_bytes = _ask(connection, 0)
        compared.echo_bytes = frame_bytes
        for number in range(_WARM_UP + round_trips):
            asked_s, _ = _ask(connection, number + 1)
            echoed_s = _echo(port, bytes(frame_bytes))
            if number >= _WARM_UP:
                compared.connection_s.append(asked_s)
                compared.echo_s.append(echoed_s)
        for _ in range(rounds):
            sent, frames = _stream_lights(connection, seconds)
            compared.connection_bytes_per_s.append(sent / seconds)
            compared.light_frames_per_s.append(frames / seconds)
            compared.echo_bytes_per_s.append(_stream_echo(port, max(1, sent // max(1, frames)), seconds) / seconds)
    return compared


def _ask(connection: BoardConnection, number: int) -> tuple[float, int]:
    """Change a light and wait until the board shows it; give the time, and the answer's size in bytes."""
    before = connection.statistics
    began_s = time.perf_counter()
    connection.show_lights(bytes((1 + number % 255, 0, 0)))
    if not connection.wait_for(lambda: connection.statistics.link.shown > before.link.shown, _TIMEOUT_S):
        raise TimeoutError("the virtual board did not answer within 10 s")
    return time.perf_counter() - began_s, connection.statistics.received_bytes - before.received_bytes


def _echo(port: serial.Serial, data: bytes) -> float:
    began_s = time.perf_counter()
    port.write(data)
    if len(port.read(len(data))) != len(data):
        raise TimeoutError("the echo did not come back within 10 s")
    return time.perf_counter() - began_s


def _stream_lights(connection: BoardConnection, seconds: float) -> tuple[int, int]:
    """Send full light frames as fast as possible; give the bytes sent and the frames shown."""
    before = connection.statistics
    until_s = time.perf_counter() + seconds
    number = 0
    while time.perf_counter() < until_s:
        number += 1
        connection.show_lights(bytes([1 + number % 255]) * (3 * LIGHTS))
        time.sleep(_POLL_S)
    after = connection.statistics
    return after.sent_bytes - before.sent_bytes, after.link.shown - before.link.shown


def _stream_echo(port: serial.Serial, size: int, seconds: float) -> int:
    """Echo with as many messages outstanding as the connection has light frames; give the bytes echoed."""
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
        if not connection.wait_for(lambda: connection.welcome is not None, _TIMEOUT_S):
            raise TimeoutError(f"no link with the virtual board within 10 s: {connection.outage}")
        yield connection


@contextmanager
def _far_end(serve: Callable[[Connection], None]) -> Iterator[ListPortInfo]:
    """Run a process that serves a pseudo-terminal; give its port."""
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


def _serve_board(link: Connection) -> None:
    with VirtualMicrocontroller(pin_map()) as board:
        link.send(board.list_ports()[0])
        # Becomes readable when the other end closes.
        select.select([link], [], [])


def _serve_echo(link: Connection) -> None:
    with PseudoTerminal() as terminal:
        link.send(ListPortInfo(terminal.name, skip_link_detection=True))
        while True:
            waiting = [terminal.fileno()] if terminal.is_waiting else []
            readable, _, _ = select.select([terminal.fileno(), link.fileno()], waiting, [])
            if link.fileno() in readable:
                return
            terminal.flush()
            if terminal.fileno() in readable:
                terminal.write(terminal.read())
