"""The connection's thread: find the board, open its port, converse until something ends it, try again."""

from __future__ import annotations

import math
import os
import select
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

from common.moments import earliest
from firmware_bridge.connection.conversation import BoardConversation
from firmware_bridge.connection.events import BoardEvent, ConnectionState, Linked, Lost
from firmware_bridge.connection.mailbox import ConnectionStatus, Mailbox
from firmware_bridge.connection.outages import OutageTracker
from firmware_bridge.errors import (
    BridgeError,
    ConnectionLostError,
    PortAmbiguousError,
    PortMissingError,
    WrongDeviceError,
)
from firmware_bridge.ports.port import Port, line_of
from firmware_bridge.ports.selection import WantedBoard, candidates, others_like, which_one
from firmware_bridge.ports.serial_ports import PortHolder, SerialPort, port_holders, serial_ports
from firmware_bridge.protocol.link import HostLink
from firmware_bridge.protocol.status import LinkStatistics

# Rounds of greeting, 2 s each: the firmware waits 2 s before it speaks; what opening its port resets takes longer.
_FIRST_ROUNDS = 3
_LATER_ROUNDS = 4
_BLOCKED_S = 3.0
# How long closing waits for the board to acknowledge what was sent last.
_FAREWELL_S = 0.5
_LISTING_ATTEMPTS = 3


class ConnectionThread:
    """The connection's own thread; ``run`` is all of it, and ends soon after the desk is asked to close.

    Attributes:
        received_bytes: bytes read from ports so far.
        sent_bytes: bytes written to ports so far.
    """

    def __init__(
        self,
        wanted: WantedBoard,
        desk: Mailbox,
        waiter: WakeablePoll,
        clock: Callable[[], float],
        say: Callable[[str], None],
        open_port: Callable[[str, int], Port],
        list_ports: Callable[[], Iterable[Any]],
        random_session: Callable[[], int],
        find_holders: Callable[[str], Sequence[PortHolder]] = port_holders,
    ) -> None:
        self.received_bytes = 0
        self.sent_bytes = 0
        self._wanted = wanted
        self._desk = desk
        self._waiter = waiter
        self._clock = clock
        self._say = say
        self._open_port = open_port
        self._list_ports = list_ports
        self._random_session = random_session
        self._find_holders = find_holders
        self._link = HostLink()
        self._talk = BoardConversation(self._link, random_session)
        self._troubles = OutageTracker()
        self._known: SerialPort | None = None
        self._listed: tuple[SerialPort, ...] = ()
        self._beside: frozenset[str] = frozenset()
        self._state = ConnectionState.FINDING
        self._farewell_s: float | None = None

    @property
    def link_statistics(self) -> LinkStatistics:
        """What the protocol counts."""
        return self._link.statistics

    def run(self) -> None:
        """Keep the connection up until the desk is asked to close."""
        try:
            while not self._desk.is_closing:
                try:
                    self._serve(self._choose())
                except BridgeError as error:
                    self._failed(error)
                self._rest()
        finally:
            self._desk.end()

    # Finding.

    def _choose(self) -> SerialPort:
        self._enter(ConnectionState.FINDING)
        self._listed = self._ports()
        found = candidates(self._wanted, self._listed, self._known, self._beside)
        return found[0] if len(found) == 1 else self._only_one_answering(found)

    def _ports(self) -> tuple[SerialPort, ...]:
        for _ in range(_LISTING_ATTEMPTS):
            try:
                return serial_ports(self._list_ports)
            except (OSError, TypeError):
                # pyserial 3.5 stumbles over a USB port that vanishes while it is being looked at.
                continue
        raise PortMissingError("the serial ports change while they are listed; is a plug or a cable loose?")

    def _only_one_answering(self, found: Sequence[SerialPort]) -> SerialPort:
        self._enter(ConnectionState.GREETING)
        answering: list[str] = []
        silent: list[str] = []
        chosen = found[0]
        for port in found:
            talk = BoardConversation(HostLink(), self._random_session)
            try:
                self._open_and_talk(talk, port, _FIRST_ROUNDS, _is_linked_or_closing(self._desk))
            except BridgeError as error:
                silent.append(str(error))
            if talk.link.welcome is not None:
                chosen = port
                answering.append(f"{port} ({talk.link.welcome.board})")
        if len(answering) > 1:
            raise PortAmbiguousError(f"{len(answering)} boards answer: {'; '.join(answering)}; {which_one(found)}")
        if not answering and silent:
            raise PortMissingError(f"none of {len(found)} boards is the referee's: {'; '.join(silent)}")
        return chosen

    # Talking.

    def _serve(self, port: SerialPort) -> None:
        if self._desk.is_closing:
            return
        self._enter(ConnectionState.GREETING)
        rounds = _LATER_ROUNDS if self._troubles.attempts else _FIRST_ROUNDS
        self._open_and_talk(self._talk, port, rounds, self._is_over)

    def _open_and_talk(
        self, talk: BoardConversation, port: SerialPort, rounds: int, is_over: Callable[[BoardConversation], bool]
    ) -> None:
        opened = self._open_port(port.device, self._wanted.baud)
        try:
            talk.opened(port, self._wanted.baud, rounds, self._clock(), line_of(port.device, self._wanted.baud))
            self._pump(talk, opened, is_over)
        except (WrongDeviceError, ConnectionLostError) as error:
            told = type(error)(f"{error}{self._others(port)}")
            talk.closed(str(told), self._clock())
            raise told from error
        except BridgeError as error:
            talk.closed(str(error), self._clock())
            raise
        finally:
            # What still waits is of no use any more, and closing would wait for a device that takes nothing.
            opened.discard()
            opened.close()

    def _others(self, port: SerialPort) -> str:
        """Who else has the port open: programs that ask for no lock may take what the board says."""
        others = [str(holder) for holder in self._find_holders(port.device) if holder.pid != os.getpid()]
        return f" ({' and '.join(others)} has the port open, too, and may take its bytes)" if others else ""

    def _pump(self, talk: BoardConversation, port: Port, is_over: Callable[[BoardConversation], bool]) -> None:
        """Read and write until it is over, or until an error is raised that says why."""
        unsent = b""
        moved_on_s = self._clock()
        while True:
            self._take_orders()
            now_s = self._clock()
            if not unsent:
                unsent = talk.outgoing(now_s)
                moved_on_s = now_s
            if unsent and (count := port.write(unsent)):
                self.sent_bytes += count
                unsent = unsent[count:]
                moved_on_s = now_s
            if talk is self._talk:
                self._report(talk)
            if talk.ended is not None:
                raise talk.ended
            if is_over(talk):
                return
            if unsent and now_s - moved_on_s >= _BLOCKED_S:
                raise ConnectionLostError(
                    f"the device on {port.name} takes no more bytes; press its reset button, or unplug it and plug it "
                    "in again"
                )
            until_s = earliest((moved_on_s + _BLOCKED_S if unsent else talk.due_s(now_s), self._farewell_s))
            self._waiter.wait(until_s, port.fileno(), for_room=bool(unsent))
            data = port.read()
            if data:
                self.received_bytes += len(data)
                talk.received(data, self._clock())

    def _take_orders(self) -> None:
        orders = self._desk.take_orders()
        for lasting in (orders.settings, orders.lights):
            if lasting is not None:
                self._talk.send(lasting)
        for passing in (orders.sound, orders.snapshot):
            if passing is not None:
                self._talk.send_once(passing)
        if orders.leave:
            self._talk.leave()

    def _is_over(self, talk: BoardConversation) -> bool:
        if talk.has_left:
            return True
        if not self._desk.is_closing:
            return False
        if self._farewell_s is None:
            self._farewell_s = self._clock() + _FAREWELL_S
        return not talk.is_linked or talk.link.is_settled or self._clock() >= self._farewell_s

    # Telling.

    def _enter(self, state: ConnectionState) -> None:
        self._state = state
        self._tell([])

    def _report(self, talk: BoardConversation) -> None:
        events = talk.take_events()
        if not events:
            if talk.last_heard_s != self._desk.standing.last_heard_s:
                self._tell([])
            return
        for event in events:
            if isinstance(event, Linked):
                self._linked(event)
            elif isinstance(event, Lost) and talk.ended is None:
                self._state = ConnectionState.GREETING
                self._word(self._troubles.failed(ConnectionLostError(event.reason), event.time_s))
        self._tell(events)

    def _linked(self, event: Linked) -> None:
        self._state = ConnectionState.LINKED
        self._known = event.port
        self._beside = others_like(event.port, self._listed)
        cause = event.welcome.reset_cause if event.restarted else None
        word = self._troubles.worked(event.time_s, event.port.device, cause)
        if word is None and event.restarted:
            word = self._troubles.restarted(event.time_s, event.port.device, event.welcome.reset_cause)
        self._word(word)

    def _failed(self, error: BridgeError) -> None:
        if self._desk.is_closing:
            return
        self._state = ConnectionState.FINDING
        events = self._talk.take_events()
        if not self._talk.has_left:
            self._word(self._troubles.failed(error, self._clock()))
        self._tell(events)

    def _word(self, sentence: str | None) -> None:
        if sentence is not None:
            self._say(sentence)

    def _tell(self, events: Sequence[BoardEvent]) -> None:
        is_linked = self._state is ConnectionState.LINKED
        self._desk.tell(
            events,
            ConnectionStatus(
                state=self._state,
                port=self._known if is_linked else None,
                welcome=self._talk.welcome if is_linked else None,
                trouble=self._troubles.now,
                last_heard_s=self._talk.last_heard_s,
            ),
        )

    def _rest(self) -> None:
        """Wait for the next attempt, or, once the board has left, for the end."""
        if self._talk.has_left:
            self._enter(ConnectionState.LEFT)
        while not self._desk.is_closing:
            if self._talk.has_left:
                self._waiter.wait(None)
            elif self._clock() < self._troubles.retry_at_s:
                self._waiter.wait(self._troubles.retry_at_s)
            else:
                return


def _is_linked_or_closing(desk: Mailbox) -> Callable[[BoardConversation], bool]:
    return lambda talk: talk.is_linked or desk.is_closing


_WAKE = b"!"
# What a thread may at most sleep at a stretch; far below what poll(2) takes.
_LONGEST_MS = 3_600_000


class WakeablePoll:
    """Lets one thread sleep without turning in circles; any thread may wake it.

    Attributes:
        returns: how often a sleep ended so far.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.returns = 0
        self._clock = clock
        # Whoever wakes must not write into what has been closed, and may be another file by then.
        self._closing = threading.Lock()
        self._is_open = True
        self._wake_in, self._wake_out = os.pipe()
        os.set_blocking(self._wake_in, False)
        os.set_blocking(self._wake_out, False)

    def wake(self) -> None:
        """End the sleep of now, or else the next one; harmless after the end."""
        # A full pipe wakes as well.
        with self._closing, suppress(BlockingIOError):
            if self._is_open:
                os.write(self._wake_out, _WAKE)

    def wait(self, until_s: float | None, port: int | None = None, *, for_room: bool = False) -> None:
        """Sleep until something is to be done.

        Args:
            until_s: the clock's time at which to wake; ``None``: never by time.
            port: the file descriptor of a port, whose bytes (or end) wake.
            for_room: whether room for writing to the port wakes, too.
        """
        poll = select.poll()
        poll.register(self._wake_in, select.POLLIN)
        if port is not None:
            poll.register(port, select.POLLIN | (select.POLLOUT if for_room else 0))
        ready = poll.poll(self._timeout_ms(until_s))
        self.returns += 1
        if any(file == self._wake_in for file, _ in ready):
            with suppress(BlockingIOError):
                os.read(self._wake_in, 4096)

    def close(self) -> None:
        """Let go of the pipe; nobody may sleep any more."""
        with self._closing:
            if self._is_open:
                self._is_open = False
                os.close(self._wake_in)
                os.close(self._wake_out)

    def _timeout_ms(self, until_s: float | None) -> int | None:
        if until_s is None:
            return None
        # Rounded up: waking a little early would mean waking twice.
        return min(_LONGEST_MS, max(0, math.ceil((until_s - self._clock()) * 1000)))
