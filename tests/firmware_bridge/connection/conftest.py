"""Devices at the other end of a real pseudo-terminal, and connections to them. Nothing here waits for time to pass."""

from __future__ import annotations

import os
import select
import threading
import time
import tty
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from firmware_bridge.connection.connection import BoardConnection
from firmware_bridge.connection.events import BoardEvent, ConnectionState
from firmware_bridge.ports.selection import WantedBoard
from firmware_bridge.protocol.messages import (
    BoardState,
    ButtonState,
    HostState,
    Message,
    Wanted,
    Welcome,
    decode_packet,
    encode_packet,
)
from firmware_bridge.protocol.packets import PacketReader, encode_frame
from tests.guard import GUARD_S


class Terminal:
    """A pseudo-terminal whose other end a thread of ours serves; ``heard`` gets the bytes in that thread."""

    def __init__(self, heard: Callable[[Terminal, bytes], None]) -> None:
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self.name = os.ttyname(self._slave)
        self._wake_in, self._wake_out = os.pipe()
        self._heard = heard
        self._reading = threading.Event()
        self._reading.set()
        self._thread = threading.Thread(target=self._serve, name=f"device {self.name}")
        self._is_open = True
        self._thread.start()

    def say(self, data: bytes) -> None:
        """Send all of it; raises BlockingIOError when there is no room for the rest."""
        while data:
            data = data[os.write(self._master, data) :]

    def stop_reading(self) -> None:
        self._reading.clear()
        os.write(self._wake_out, b"!")

    def unplug(self) -> None:
        """Close the device's end, as pulling the plug does; harmless the second time."""
        if not self._is_open:
            return
        self._is_open = False
        os.write(self._wake_out, b".")
        self._thread.join(GUARD_S)
        assert not self._thread.is_alive()
        for file in (self._master, self._wake_in, self._wake_out):
            os.close(file)

    def close(self) -> None:
        """Unplug, and let go of the name: until then no terminal gets it, in this process or in another."""
        self.unplug()
        if self._slave >= 0:
            os.close(self._slave)
            self._slave = -1

    def _serve(self) -> None:
        while True:
            poll = select.poll()
            poll.register(self._wake_in, select.POLLIN)
            if self._reading.is_set():
                poll.register(self._master, select.POLLIN)
            ready = {file for file, _ in poll.poll()}
            if self._wake_in in ready and b"." in os.read(self._wake_in, 100):
                return
            if self._master in ready and self._reading.is_set():
                self._heard(self, os.read(self._master, 4096))


class PlainBoard:
    """A board that speaks the protocol in the simplest way: one thread, and a state in answer to each of the host's."""

    def __init__(self, boot_id: int = 1, board: str = "plain board", lights: int = 64) -> None:
        self.heard: list[HostState] = []
        self.state = BoardState(
            boot_id, 1000, buttons=(ButtonState(0, 0, 65535),) * 2, closed=(False,) * 4, doubtful=(False,) * 4
        )
        self.reset_cause = 0
        self.trouble = ""
        self.version = 2
        self.is_mute = False
        self.lights = lights
        self._board = board
        self._reader = PacketReader()
        self._changed = threading.Condition(threading.RLock())
        self.terminal = Terminal(self._hear)
        self._terminals = [self.terminal]

    @property
    def name(self) -> str:
        return self.terminal.name

    @property
    def wanted(self) -> list[Wanted]:
        """What the host wanted since the board started, each as often as it said so."""
        with self._changed:
            return [state.wanted for state in self.heard if state.wanted is not None]

    @property
    def shown(self) -> bytes | None:
        """The newest lights."""
        return next((wanted.colours for wanted in reversed(self.wanted) if wanted.colours is not None), None)

    def unplug(self) -> None:
        self.terminal.unplug()

    def close(self) -> None:
        for terminal in self._terminals:
            terminal.close()

    def plug_in_again(self) -> None:
        """Unplug, and plug in under another name, without power meanwhile."""
        self.terminal.unplug()
        self.restart_silently()
        self.terminal = Terminal(self._hear)
        self._terminals.append(self.terminal)

    def restart_silently(self) -> None:
        with self._changed:
            buttons = (ButtonState(0, 0, 65535),) * 2
            self.state = replace(self.state, boot_id=self.state.boot_id + 1, heard=0, shown=0, buttons=buttons)

    def press(self, button: int, before_ms: int = 20) -> None:
        """Press a button, and say so."""
        with self._changed:
            buttons = list(self.state.buttons)
            buttons[button] = replace(buttons[button], presses=buttons[button].presses + 1, before_ms=before_ms)
            self.tell(buttons=tuple(buttons))

    def tell(self, **changed: Any) -> None:
        """Change the state, and say it."""
        with self._changed:
            self.state = replace(self.state, **changed)
            self._say(self.state)

    def wait_for(self, fits: Callable[[], bool]) -> None:
        with self._changed:
            assert self._changed.wait_for(fits, GUARD_S), f"never came; there is {self.heard[-3:]}"

    def _hear(self, terminal: Terminal, data: bytes) -> None:
        with self._changed:
            for packet in self._reader.feed(data):
                message = decode_packet(packet)
                assert isinstance(message, HostState)
                if not self.is_mute:
                    self._take(message)
            self._changed.notify_all()

    def _take(self, said: HostState) -> None:
        if said.boot_id != self.state.boot_id:
            self.state = replace(self.state, shown=0)
            self.say_welcome()
        else:
            self.heard.append(said)
            if len(said.taken) == len(self.state.buttons):
                buttons = zip(self.state.buttons, said.taken, strict=True)
                self.state = replace(self.state, buttons=tuple(replace(one, taken=taken) for one, taken in buttons))
            if said.wanted is not None:
                self.state = replace(self.state, shown=said.wanted.number)
        self.tell(heard=said.number, is_leaving=said.leaves)

    def say_welcome(self) -> None:
        self._say(
            Welcome((1, 2, 3), self.state.boot_id, self.lights, 4, 2, 2, 0, self.reset_cause, self._board, self.trouble)
        )

    def _say(self, message: Message) -> None:
        packet = encode_packet(message)
        self.terminal.say(encode_frame(packet[:1] + bytes((self.version,)) + packet[2:]))


def record(device: str, vid: int | None = 0x2E8A, pid: int | None = 5, serial_number: str | None = "E661") -> Any:
    """A record as pyserial lists a port."""
    return SimpleNamespace(
        device=device, description="n/a", vid=vid, pid=pid, serial_number=serial_number, manufacturer=None
    )


class Ports:
    """The ports there are, as a test says; the next ``failures`` listings fail, as while a plug is put in."""

    def __init__(self) -> None:
        self.records: list[Any] = []
        self.failures = 0

    def __call__(self) -> Iterable[Any]:
        if self.failures:
            self.failures -= 1
            raise OSError
        return list(self.records)


class Said:
    """What a connection said, from its thread."""

    def __init__(self) -> None:
        self.sentences: list[str] = []

    def __call__(self, sentence: str) -> None:
        self.sentences.append(sentence)


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture(name="record")
def _record() -> Callable[..., Any]:
    return record


@pytest.fixture
def ports() -> Ports:
    return Ports()


@pytest.fixture
def said() -> Said:
    return Said()


@pytest.fixture
def make_terminal(stack: ExitStack) -> Callable[..., Terminal]:
    """Make a pseudo-terminal that answers with ``reply(data)``, once for each piece that it hears."""

    def make(reply: Callable[[bytes], bytes] = lambda _: b"") -> Terminal:
        terminal = Terminal(lambda terminal, data: terminal.say(reply(data)))
        stack.callback(terminal.close)
        return terminal

    return make


@pytest.fixture
def make_board(stack: ExitStack) -> Callable[..., PlainBoard]:
    def make(**values: Any) -> PlainBoard:
        board = PlainBoard(**values)
        stack.callback(board.close)
        return board

    return make


@pytest.fixture
def board(make_board: Callable[..., PlainBoard], ports: Ports) -> PlainBoard:
    """A board that is plugged in."""
    board = make_board()
    ports.records = [record(board.name)]
    return board


@pytest.fixture
def connect(stack: ExitStack, ports: Ports, said: Said) -> Callable[..., BoardConnection]:
    """Make a running connection; keyword arguments are those of ``WantedBoard``."""

    def make(**wanted: Any) -> BoardConnection:
        return stack.enter_context(BoardConnection(WantedBoard(**wanted), time.monotonic, said, list_ports=ports))

    return make


@pytest.fixture
def until() -> Callable[[BoardConnection, Callable[[list[BoardEvent]], bool]], list[BoardEvent]]:
    """Collect a connection's events until they fit."""

    def wait(connection: BoardConnection, fits: Callable[[list[BoardEvent]], bool]) -> list[BoardEvent]:
        events: list[BoardEvent] = []

        def grown() -> bool:
            events.extend(connection.poll())
            return fits(events)

        assert connection.wait_for(grown, GUARD_S), f"never came; there is {events}, {connection.outage}"
        return events

    return wait


@pytest.fixture
def reach() -> Callable[[BoardConnection, ConnectionState], None]:
    """Wait until a connection is in a state."""

    def wait(connection: BoardConnection, state: ConnectionState) -> None:
        reached = connection.wait_for(lambda: connection.state is state, GUARD_S)
        assert reached, f"it is {connection.state}, {connection.outage}"

    return wait


@pytest.fixture
def fail(stack: ExitStack) -> Callable[[BoardConnection], str]:
    """Wait until a connection is in trouble, and give the trouble's words."""

    def wait(connection: BoardConnection) -> str:
        assert connection.wait_for(lambda: connection.outage is not None, GUARD_S)
        return str(connection.outage)

    return wait
