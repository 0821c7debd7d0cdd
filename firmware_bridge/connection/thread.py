"""The connection's thread: find the board, open its port, communicate until that fails, try again."""

from __future__ import annotations

import math
import os
import re
import select
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from common.moments import earliest
from common.phrases import Phrase, either, joined
from firmware_bridge.connection.conversation import BoardConversation
from firmware_bridge.connection.events import BoardEvent, ConnectionState, Linked, Lost
from firmware_bridge.connection.mailbox import ConnectionStatus, Mailbox, OutageTracker, is_foreign
from firmware_bridge.errors import (
    BridgeError,
    ConnectionLostError,
    PortAmbiguousError,
    PortMissingError,
    SilentDeviceError,
    WrongDeviceError,
)
from firmware_bridge.ports.port import Port
from firmware_bridge.ports.selection import (
    WantedBoard,
    ask_which_port,
    candidates,
    is_same_board,
    returned_ports,
    similar_ports,
)
from firmware_bridge.ports.serial_ports import SerialPort, port_holders, serial_ports
from firmware_bridge.protocol.link import HostLink, LinkStatistics, SerialLine

# rounds take 2 s each: the firmware waits 2 s before it answers; a device reset by opening its port takes longer
_FIRST_ATTEMPTS = 3
_LATER_ATTEMPTS = 4  # attempts per round after the first failure; set by hand
_BLOCKED_S = 3.0  # a port that takes nothing for so long is lost; set by hand
# how often to look for the board among the ports while another device is not to be opened again
_LOOKING_S = 2.0
# maximum time for the board to confirm the last lights when closing
_CLOSING_S = 0.5
_BITS_A_BYTE = 10  # with start and stop bit
# Linux's names of USB converters and of a computer's own UARTs; ports that are USB all the way are called ttyACM
_UART = re.compile(r"tty(USB|AMA|S)\d+")


class ConnectionThread:
    """The connection's own thread; ``run``, its main function, ends soon after the mailbox is asked to close."""

    def __init__(
        self,
        wanted: WantedBoard,
        mailbox: Mailbox,
        poll: WakeablePoll,
        clock: Callable[[], float],
        say: Callable[[str], None],
        open_port: Callable[[str, int], Port],
        list_ports: Callable[[], Iterable[Any]],
    ) -> None:
        self.received_bytes = 0
        self.sent_bytes = 0
        self._wanted = wanted
        self._mailbox = mailbox
        self._poll = poll
        self._clock = clock
        self._say = say
        self._open_port = open_port
        self._list_ports = list_ports
        self._link = HostLink()
        self._conversation = BoardConversation(self._link)
        self._outages = OutageTracker()
        self._known: SerialPort | None = None
        self._tried: SerialPort | None = None
        self._listed: tuple[SerialPort, ...] = ()
        self._lookalikes: frozenset[str] = frozenset()
        self._state = ConnectionState.FINDING
        self._closing_deadline_s: float | None = None

    @property
    def link_statistics(self) -> LinkStatistics:
        """The protocol's statistics."""
        return self._link.statistics

    def run(self) -> None:
        """Maintain the connection until the mailbox is asked to close."""
        try:
            while not self._mailbox.is_closing:
                try:
                    self._converse(self._choose())
                except BridgeError as error:
                    self._failed(error)
                self._wait_for_retry()
        finally:
            self._mailbox.end()

    # finding the board

    def _choose(self) -> SerialPort:
        self._enter(ConnectionState.FINDING)
        self._tried = None
        self._listed = serial_ports(self._list_ports)
        found = candidates(self._wanted, self._listed, self._known, self._lookalikes)
        return found[0] if len(found) == 1 else self._only_one_answering(found)

    def _only_one_answering(self, found: Sequence[SerialPort]) -> SerialPort:
        """Try one port after another, and return that of the only board that answers.

        A board that does not answer just then, such as one that is starting, is passed over: of two, the other is used.
        Raises PortAmbiguousError if several answer, and PortMissingError if every port was tried in vain, or
        WrongDeviceError if none of them is a board's.
        """
        self._enter(ConnectionState.HANDSHAKING)
        answering: list[str] = []
        failed: list[BridgeError] = []
        chosen = found[0]
        for port in found:
            conversation = BoardConversation(HostLink())
            try:
                self._open_and_converse(
                    conversation, port, _FIRST_ATTEMPTS, lambda tried: tried.is_linked or self._mailbox.is_closing
                )
            except BridgeError as error:
                failed.append(error)
            if conversation.link.welcome is not None:
                chosen = port
                answering.append(f"{port} ({conversation.link.welcome.board})")
        if len(answering) > 1:
            raise PortAmbiguousError(
                "{answering} boards answer: {names}; {ask_which_port}",
                len(answering),
                joined(answering, "; "),
                ask_which_port(found),
            )
        if not answering and failed:
            kind = WrongDeviceError if all(map(is_foreign, failed)) else PortMissingError
            raise kind(
                Phrase(
                    "none of the {found} boards is the referee's: {names}", len(found), joined(map(str, failed), "; ")
                )
            )
        return chosen

    # communicating

    def _converse(self, port: SerialPort) -> None:
        if self._mailbox.is_closing:
            return
        self._enter(ConnectionState.HANDSHAKING)
        attempts = _LATER_ATTEMPTS if self._outages.attempts else _FIRST_ATTEMPTS
        self._open_and_converse(self._conversation, port, attempts, self._is_over)

    def _open_and_converse(
        self,
        conversation: BoardConversation,
        port: SerialPort,
        attempts: int,
        is_over: Callable[[BoardConversation], bool],
    ) -> None:
        self._tried = port
        opened = self._open_port(port.device, self._wanted.baud)
        try:
            conversation.opened(
                port, self._wanted.baud, attempts, self._clock(), line_of(port.device, self._wanted.baud)
            )
            self._pump(conversation, opened, is_over)
        except (WrongDeviceError, ConnectionLostError) as error:
            explained = type(error)(f"{error}{self._other_programs(port)}")
            conversation.closed(str(explained), self._clock())
            raise explained from error
        except BridgeError as error:
            conversation.closed(str(error), self._clock())
            raise
        finally:
            # waiting bytes are obsolete, and closing would wait for a device that accepts nothing
            opened.discard()
            opened.close()

    def _other_programs(self, port: SerialPort) -> str:
        """Name other programs that have the port open without a lock, and may take the board's messages."""
        others = [str(holder) for holder in port_holders(port.device) if holder.pid != os.getpid()]
        return (
            either(
                len(others) == 1,
                " ({names} has the port open, too, and may take its bytes)",
                " ({names} have the port open, too, and may take its bytes)",
                joined(others, " and "),
            )
            if others
            else ""
        )

    def _pump(self, conversation: BoardConversation, port: Port, is_over: Callable[[BoardConversation], bool]) -> None:
        """Read and write until ``is_over``, or until an error is raised that gives the reason."""
        unsent = b""
        moved_on_s = self._clock()
        while True:
            self._take_requests()
            now_s = self._clock()
            # a board that only has to answer a greeting must not hear that its presses were taken
            if not unsent and not is_over(conversation):
                unsent = conversation.outgoing(now_s)
                moved_on_s = now_s
            if unsent and (count := port.write(unsent)):
                self.sent_bytes += count
                unsent = unsent[count:]
                moved_on_s = now_s
            if conversation is self._conversation:
                self._report(conversation)
            if conversation.failure is not None:
                raise conversation.failure
            if is_over(conversation):
                return
            if unsent and now_s - moved_on_s >= _BLOCKED_S:
                raise ConnectionLostError(
                    "the device on {name} takes no more bytes; press its reset button, or unplug it and plug "
                    "it in again",
                    port.name,
                )
            due_s = moved_on_s + _BLOCKED_S if unsent else conversation.due_s(now_s)
            until_s = earliest((due_s, self._closing_deadline_s))
            self._poll.wait(until_s, port.fileno(), for_room=bool(unsent))
            data = port.read()
            if data:
                self.received_bytes += len(data)
                conversation.received(data, self._clock())

    def _take_requests(self) -> None:
        requests = self._mailbox.take_requests()
        if requests.settings is not None:
            self._link.configure(requests.settings)
        if requests.colours is not None:
            self._link.show(requests.colours)
        if requests.tones is not None:
            self._conversation.play(requests.tones)
        if requests.leave:
            self._conversation.leave()

    def _is_over(self, conversation: BoardConversation) -> bool:
        if conversation.has_left:
            return True
        if not self._mailbox.is_closing:
            return False
        if self._closing_deadline_s is None:
            self._closing_deadline_s = self._clock() + _CLOSING_S
        return not conversation.is_linked or conversation.link.is_settled or self._clock() >= self._closing_deadline_s

    # publishing

    def _enter(self, state: ConnectionState) -> None:
        self._state = state
        self._publish([])

    def _report(self, conversation: BoardConversation) -> None:
        events = conversation.take_events()
        if not events:
            if conversation.last_heard_s != self._mailbox.status.last_heard_s:
                self._publish([])
            return
        for event in events:
            if isinstance(event, Linked):
                self._linked(event)
            elif isinstance(event, Lost) and conversation.failure is None:
                self._state = ConnectionState.HANDSHAKING
                self._say_once(self._outages.failed(ConnectionLostError(event.reason), event.time_s))
        self._publish(events)

    def _linked(self, event: Linked) -> None:
        self._state = ConnectionState.LINKED
        self._known = event.port
        self._lookalikes = similar_ports(event.port, self._listed)
        was_away = self._outages.current is not None
        cause = event.welcome.reset_cause if event.restarted else None
        sentence = self._outages.worked(event.time_s, event.port.device, cause)
        if event.restarted and not was_away:
            sentence = self._outages.restarted(event.time_s, event.port.device, event.welcome.reset_cause)
        self._say_once(sentence)

    def _failed(self, error: BridgeError) -> None:
        if self._mailbox.is_closing:
            return
        self._state = ConnectionState.FINDING
        if isinstance(error, WrongDeviceError):
            missed = self._missed_board()
            if missed is not None:
                error = type(error)(
                    Phrase("the board that was on {device} is unplugged; {error}", missed.device, error)
                )
            elif not isinstance(error, SilentDeviceError):
                # another device has the name by which the board was known: the settings decide again
                self._known, self._lookalikes = None, frozenset()
        events = self._conversation.take_events()
        if not self._conversation.has_left:
            self._say_once(self._outages.failed(error, self._clock()))
        self._publish(events)

    def _missed_board(self) -> SerialPort | None:
        """Return the port of the board that answered before, if another one was tried in its place."""
        if self._known is None or self._tried is None or is_same_board(self._tried, self._known):
            return None
        return self._known

    def _say_once(self, sentence: str | None) -> None:
        if sentence is not None:
            self._say(sentence)

    def _publish(self, events: Sequence[BoardEvent]) -> None:
        is_linked = self._state is ConnectionState.LINKED
        self._mailbox.publish(
            events,
            ConnectionStatus(
                state=self._state,
                port=self._known if is_linked else None,
                welcome=self._conversation.welcome if is_linked else None,
                outage=self._outages.current,
                last_heard_s=self._conversation.last_heard_s,
            ),
        )

    def _wait_for_retry(self) -> None:
        """Wait for the next attempt or, once the board has left, for the end."""
        if self._conversation.has_left:
            self._enter(ConnectionState.RELEASED)
        missed = self._missed_board()
        look_at_s = None if missed is None else self._clock() + _LOOKING_S
        while not self._mailbox.is_closing:
            if self._conversation.has_left:
                self._poll.wait(None)
            elif self._clock() >= self._outages.retry_at_s:
                return
            elif missed is not None and look_at_s is not None and self._clock() >= look_at_s:
                if self._is_back(missed):
                    return
                look_at_s = self._clock() + _LOOKING_S
            else:
                self._poll.wait(earliest((self._outages.retry_at_s, look_at_s)))

    def _is_back(self, missed: SerialPort) -> bool:
        """Return whether the board is among the ports again; opens nothing."""
        try:
            return bool(returned_ports(serial_ports(self._list_ports), missed, self._lookalikes))
        except BridgeError:
            # The ports change just now; the next look may succeed.
            return False


def line_of(name: str, baud: int) -> SerialLine:
    """Return the line behind a port: a UART's rate, at 10 bits a byte (8N1); unlimited for any other port."""
    return SerialLine(baud / _BITS_A_BYTE if _UART.fullmatch(Path(name).resolve().name) else None)


_WAKE = b"!"
# maximum time of a single sleep; far below the limit of poll(2)
_LONGEST_MS = 3_600_000


class WakeablePoll:
    """Lets one thread sleep without busy waiting; any thread may wake it. ``wakeups`` counts the sleeps that ended."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.wakeups = 0
        self._clock = clock
        # a thread that wakes must not write to a closed pipe, whose number may belong to another file by then
        self._closing = threading.Lock()
        self._is_open = True
        self._wake_in, self._wake_out = os.pipe()
        os.set_blocking(self._wake_in, False)
        os.set_blocking(self._wake_out, False)

    def wake(self) -> None:
        """End the present sleep, or else the next one; harmless after the end."""
        # with a full pipe the thread wakes up as well
        with self._closing, suppress(BlockingIOError):
            if self._is_open:
                os.write(self._wake_out, _WAKE)

    def wait(self, until_s: float | None, port: int | None = None, *, for_room: bool = False) -> None:
        """Sleep until that time of the clock (``None``: no limit), or until it is woken by ``wake`` or by the ``port``.

        ``port`` is a file descriptor; its bytes or its end wake, and with ``for_room`` also room for writing.
        """
        poll = select.poll()
        poll.register(self._wake_in, select.POLLIN)
        if port is not None:
            poll.register(port, select.POLLIN | (select.POLLOUT if for_room else 0))
        ready = poll.poll(self._timeout_ms(until_s))
        self.wakeups += 1
        if any(file == self._wake_in for file, _ in ready):
            with suppress(BlockingIOError):
                os.read(self._wake_in, 4096)

    def close(self) -> None:
        """Close the pipe; no thread may sleep then."""
        with self._closing:
            if self._is_open:
                self._is_open = False
                os.close(self._wake_in)
                os.close(self._wake_out)

    def _timeout_ms(self, until_s: float | None) -> int | None:
        if until_s is None:
            return None
        # rounded up: waking slightly early would mean waking twice
        return min(_LONGEST_MS, max(0, math.ceil((until_s - self._clock()) * 1000)))
