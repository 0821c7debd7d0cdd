"""The connection to the referee's board. Start it with ``with``; any thread may use it.

Callers need not care whether the cable is plugged in. The newest lights and settings are kept, and sent again when the
board is back. Events are queued until they are polled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from serial.tools import list_ports as pyserial_list

from firmware_bridge.connection.events import BoardEvent, ConnectionState
from firmware_bridge.connection.mailbox import Mailbox, Outage, Requests
from firmware_bridge.connection.thread import ConnectionThread, WakeablePoll
from firmware_bridge.ports.port import Port
from firmware_bridge.ports.port import open_port as open_serial_port
from firmware_bridge.ports.selection import WantedBoard
from firmware_bridge.ports.serial_ports import SerialPort
from firmware_bridge.protocol.link import LinkStatistics
from firmware_bridge.protocol.messages import (
    BoardSettings,
    HostState,
    Tone,
    Wanted,
    Welcome,
    encode_packet,
)


@dataclass(frozen=True)
class ConnectionStatistics:
    """Statistics of a connection at one moment; ``wakeups`` counts how often its thread woke up."""

    link: LinkStatistics
    wakeups: int
    received_bytes: int
    sent_bytes: int


class BoardConnection:
    """A connection that reconnects by itself. Start it with ``with``; any thread may use it then.

    ``say`` is called from the thread with a sentence, once when a fault begins and once when it ends.
    An unexpected exception in the thread (a bug) is raised by the next call, and at the end.
    """

    def __init__(
        self,
        wanted: WantedBoard,
        clock: Callable[[], float],
        say: Callable[[str], None],
        *,
        open_port: Callable[[str, int], Port] | None = None,
        list_ports: Callable[[], Iterable[Any]] = pyserial_list.comports,
    ) -> None:
        self._mailbox = Mailbox()
        self._poll = WakeablePoll(clock)
        open_it = open_port or partial(open_serial_port, list_records=list_ports)
        self._thread = ConnectionThread(wanted, self._mailbox, self._poll, clock, say, open_it, list_ports)
        self._threads = ThreadPoolExecutor(max_workers=1, thread_name_prefix="board")
        self._running: Future[None] | None = None

    @property
    def state(self) -> ConnectionState:
        """The state of the connection."""
        return self._mailbox.status.state

    @property
    def welcome(self) -> Welcome | None:
        """The board's description of itself; ``None`` while it doesn't answer."""
        return self._mailbox.status.welcome

    @property
    def port(self) -> SerialPort | None:
        """The port the board answers on; ``None`` while it doesn't."""
        return self._mailbox.status.port

    @property
    def outage(self) -> Outage | None:
        """Why the board doesn't answer; ``None`` while it does, or before the first fault."""
        return self._mailbox.status.outage

    @property
    def last_heard_s(self) -> float | None:
        """When the board last sent anything: its earlier reports were valid until then. ``None`` before the first."""
        return self._mailbox.status.last_heard_s

    @property
    def statistics(self) -> ConnectionStatistics:
        """The statistics so far."""
        thread = self._thread
        return ConnectionStatistics(
            thread.link_statistics, self._poll.wakeups, thread.received_bytes, thread.sent_bytes
        )

    def show_lights(self, colours: bytes) -> None:
        """Show these colours from now on, three bytes (red, green, blue; sRGB) a light; lights beyond are off.

        A board that is away gets the newest frame when it is back. Raises MessageError for colours that no message
        holds.
        """
        wanted = bytes(colours)
        self._request(Wanted(colours=wanted), lambda requests: replace(requests, colours=wanted))

    def play(self, tones: Sequence[tuple[float, float]]) -> None:
        """Play tones, each a frequency in Hz (0: a rest) and seconds, replacing the present ones; none: silence.

        A board that is away doesn't play them later. Raises MessageError for tones that no message holds.
        """
        whole = tuple(Tone(round(frequency_hz), round(seconds * 1000)) for frequency_hz, seconds in tones)
        self._request(Wanted(tones=whole), lambda requests: replace(requests, tones=whole))

    def configure(self, settings: BoardSettings) -> None:
        """Configure the board now, and again whenever it was away; raises MessageError for a setting out of range."""
        self._request(Wanted(settings=settings), lambda requests: replace(requests, settings=settings))

    def leave(self) -> None:
        """Switch the board to its bare interpreter and release the port, so that its files can be changed.

        The state then becomes ``RELEASED``; the connection does not search for the board again.
        """
        self._request(Wanted(), lambda requests: replace(requests, leave=True))

    def poll(self) -> tuple[BoardEvent, ...]:
        """Return the events since the last call, in order, without waiting."""
        self._raise_if_ended()
        return self._mailbox.take_events()

    @property
    def has_events(self) -> bool:
        """Whether ``poll`` would return anything."""
        return self._mailbox.has_events

    def wait_for(self, condition: Callable[[], bool], timeout_s: float) -> bool:
        """Wait until the condition is true, checked at each event and change of state; returns whether it is.

        For commands that have nothing else to do. The condition may inspect the connection but must not block.
        """
        holds = self._mailbox.wait_for(condition, timeout_s)
        self._raise_if_ended()
        return holds

    def wait_for_answer(self, timeout_s: float) -> None:
        """Wait until the board has answered, or an outage that does not pass by itself prevents it."""
        self.wait_for(
            lambda: self.welcome is not None or (self.outage is not None and not self.outage.may_pass), timeout_s
        )

    def close(self) -> None:
        """Send what is waiting, if the board accepts it immediately; end the thread and release the port."""
        self._mailbox.ask_to_close()
        self._poll.wake()
        self._threads.shutdown()
        self._poll.close()

    def __enter__(self) -> BoardConnection:
        self._running = self._threads.submit(self._thread.run)
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.close()
        if kind is None:
            self._raise_if_ended()

    def _request(self, wanted: Wanted, amend: Callable[[Requests], Requests]) -> None:
        encode_packet(HostState(0, 0, wanted=wanted))
        self._raise_if_ended()
        self._mailbox.request(amend)
        self._poll.wake()

    def _raise_if_ended(self) -> None:
        if self._running is not None and self._running.done():
            self._running.result()
