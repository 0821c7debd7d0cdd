"""The exchange with the device on a port: handshake, messages, and identifying other devices. Pure.

It converts messages to events in the host's time, limits the waiting time for an answer, and gives the reason for
abandoning a port. ``ClockSync`` converts the board's milliseconds to the host's monotonic seconds, using answered
requests (like NTP, RFC 5905, section 8): the answer with the narrowest bounds counts, and bounds widen as clocks drift.
"""

import enum
import secrets
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from common.phrases import Phrase
from firmware_bridge.connection.events import (
    BoardEvent,
    ButtonChanged,
    FaultReported,
    Linked,
    LogLine,
    Lost,
    SensorsReported,
    SwitchChanged,
)
from firmware_bridge.errors import BridgeError, ConnectionLostError, VersionError
from firmware_bridge.ports.serial_ports import (
    PROBE,
    SerialPort,
    certain_foreign_device,
    foreign_device_error,
    is_known_device,
)
from firmware_bridge.protocol import messages
from firmware_bridge.protocol.codec import encode_message
from firmware_bridge.protocol.delivery import SerialLine
from firmware_bridge.protocol.link import HostLink, LinkState, LossCause
from firmware_bridge.protocol.packets import Kind, Packet, packet_frame

_HEARD_BYTES = 4096  # bytes kept to name a foreign device by; many times the longest start-up line
_ANSWER_S = 0.5  # how long a device may take to answer a probe; set by hand
_COUNTER = 1 << 16  # log counters wrap here (protocol)
_INTERRUPT = 0x03  # Ctrl-C, which would stop a MicroPython prompt
_RESTART_IT = Phrase("press its reset button, or unplug it and plug it in again")
_KNOWN_ACTIONS = frozenset(messages.ButtonAction)


class _Stage(enum.Enum):
    HANDSHAKING = enum.auto()
    PROBING = enum.auto()
    LINKED = enum.auto()
    RECOVERING = enum.auto()


class BoardConversation:
    """The exchange on one port after another; requested lights and settings are carried over to the next.

    Call ``received`` with the bytes that arrived, then ``outgoing``, then check ``failure``, which says why to close
    the port; again at ``due_s`` at the latest. ``welcome`` is ``None`` while the board doesn't answer.
    """

    def __init__(self, link: HostLink, random_session: Callable[[], int]) -> None:
        self.link = link
        self.welcome: messages.Welcome | None = None
        self.last_heard_s: float | None = None
        self._random_session = random_session
        self._session = 0
        self._port = SerialPort("")
        self._baud = 0
        self._stage = _Stage.HANDSHAKING
        self._attempts_left = 0
        self._handshake_s = 0.0
        self._probed_s = 0.0
        self._must_probe = False
        self._heard = b""
        self._is_ours = False
        self._clock = ClockSync()
        self._boot_id: int | None = None
        self._log_counter: int | None = None
        self._is_leaving = False
        self.has_left = False
        self.failure: BridgeError | None = None
        self._events: list[BoardEvent] = []

    @property
    def is_linked(self) -> bool:
        """Whether the board answers."""
        return self._stage is _Stage.LINKED

    def opened(self, port: SerialPort, baud: int, attempts: int, now_s: float, line: SerialLine) -> None:
        """Start on a port that was just opened, with that many handshake attempts."""
        self._port, self._baud = port, baud
        self.link.use_line(line)
        self._stage = _Stage.HANDSHAKING
        self._attempts_left = attempts
        self._must_probe = False
        self.failure = None
        self._heard = b""
        self._is_ours = False
        self._start_handshake(now_s)

    def closed(self, reason: str, now_s: float) -> None:
        """Note that the port was closed or disappeared."""
        self.has_left = self.has_left or (self._is_leaving and self.is_linked)
        self._lose(reason, now_s)
        self.welcome = None
        self._stage = _Stage.HANDSHAKING

    def send(self, message: messages.LightFrame | messages.Configure) -> None:
        """Request lights or settings from now on; they are sent again when the board was lost and is back."""
        self.link.send(message)

    def send_once(self, message: messages.Sound | messages.Snapshot) -> None:
        """Request something short-lived, which is dropped if the board doesn't answer."""
        if self.is_linked:
            self.link.send(message)

    def leave(self) -> None:
        """Switch the board to its bare interpreter as soon as it answers."""
        self._is_leaving = True
        if self.is_linked:
            self.link.send(messages.Leave())

    def received(self, data: bytes, now_s: float) -> None:
        """Process bytes that arrived."""
        if self._stage is not _Stage.LINKED:
            self._heard = (self._heard + data)[-_HEARD_BYTES:]
        for message in self.link.receive(data, now_s):
            self.last_heard_s = now_s
            self._is_ours = True
            self._take(message, now_s)
        if self.is_linked:
            # while lights are shown, the board may send nothing but acknowledgements for two seconds
            self.last_heard_s = self.link.heard_s

    def outgoing(self, now_s: float) -> bytes:
        """Return the bytes to write now, and check for failure; call it again when they are written."""
        data = self.link.outgoing(now_s)
        if self.link.state in (LinkState.LOST, LinkState.REFUSED):
            self._recover(now_s)
            if self.failure is None:
                data += self.link.outgoing(now_s)
        if self._stage is _Stage.PROBING and now_s >= self._probed_s + _ANSWER_S:
            self.failure = self._no_board_error()
        if self._is_leaving and self.is_linked and self.link.is_settled:
            self.has_left = True
        if self._must_probe:
            self._must_probe = False
            return PROBE + data
        return data

    def due_s(self, now_s: float) -> float | None:
        """Return when ``outgoing`` must be called next if nothing arrives before; ``None`` if never."""
        due_s = self.link.next_due_s(now_s)
        if self._stage is not _Stage.PROBING:
            return due_s
        answer_s = self._probed_s + _ANSWER_S
        return answer_s if due_s is None else min(due_s, answer_s)

    def take_events(self) -> list[BoardEvent]:
        """Return the events since the last call, in order."""
        events, self._events = self._events, []
        return events

    def _start_handshake(self, now_s: float) -> None:
        self._handshake_s = now_s
        self._session = session_without_interrupt(self._random_session, self._session)
        self.link.begin(now_s, self._session)

    def _recover(self, now_s: float) -> None:
        """Recover after the link was lost or never established."""
        if self.link.state is LinkState.REFUSED:
            self.failure = _version_error(self._port, self.link.refusal)
            return
        if self._is_leaving and self.is_linked:
            self.has_left = True
            return
        because = self.link.lost_because
        if because is not LossCause.NO_WELCOME:
            self._interrupted(because, now_s)
        elif self._stage is _Stage.RECOVERING or certain_foreign_device(self._heard) is not None:
            self.failure = self._no_board_error()
        elif self._attempts_left > 1:
            self._attempts_left -= 1
            self._start_handshake(now_s)
        else:
            self._stage = _Stage.PROBING
            self._probed_s = now_s
            self._must_probe = True
            self._start_handshake(now_s)

    def _interrupted(self, because: LossCause | None, now_s: float) -> None:
        if because is not LossCause.RESTARTED:
            self._lose(Phrase("the board on {device} does not answer", self._port.device), now_s)
        self._stage = _Stage.RECOVERING
        self._heard = b""
        self._start_handshake(now_s)

    def _lose(self, reason: str, now_s: float) -> None:
        if self._stage in (_Stage.LINKED, _Stage.RECOVERING) and self.welcome is not None:
            self.welcome = None
            self._events.append(Lost(now_s, reason))

    def _no_board_error(self) -> BridgeError:
        if not self._is_ours or is_known_device(self._heard):
            return foreign_device_error(self._port.device, self._heard, self._baud)
        if self._stage is _Stage.RECOVERING:
            return ConnectionLostError(
                "the board on {device} has stopped answering; {restart_it}", self._port.device, _RESTART_IT
            )
        return ConnectionLostError(
            "the board on {device} runs the referee's firmware, but does not answer the greeting; {restart_it}",
            self._port.device,
            _RESTART_IT,
        )

    def _take(self, message: messages.Message, now_s: float) -> None:
        match message:
            case messages.Welcome() if messages.OLDEST_VERSION <= message.version <= messages.NEWEST_VERSION:
                self._take_welcome(message, now_s)
            case messages.Pong():
                exchange = self.link.last_exchange
                if exchange is not None:
                    self._clock.answered(exchange.sent_s, exchange.received_s, exchange.device_ms)
            case messages.SensorReport():
                self._events.append(self._sensors(message, now_s))
            case messages.ButtonReport() if message.what in _KNOWN_ACTIONS:
                time_s = self._clock.host_s(message.time_ms, now_s)
                held_s = message.held_ms / 1000
                self._events.append(ButtonChanged(message.button, messages.ButtonAction(message.what), time_s, held_s))
            case messages.FaultReport():
                self._events.append(FaultReported(now_s, message.code, message.number, message.text))
            case messages.Log():
                self._events.append(self._line(message, now_s))

    def _take_welcome(self, welcome: messages.Welcome, now_s: float) -> None:
        restarted = self._boot_id is not None and welcome.boot_id != self._boot_id
        if welcome.boot_id != self._boot_id:
            self._clock = ClockSync()
            self._log_counter = None
        self._boot_id = welcome.boot_id
        self._clock.answered(self._handshake_s, now_s, welcome.time_ms)
        self.welcome = welcome
        self._stage = _Stage.LINKED
        self._heard = b""
        if self._is_leaving:
            self.link.send(messages.Leave())
        self._events.append(Linked(now_s, self._port, welcome, restarted))

    def _sensors(self, report: messages.SensorReport, now_s: float) -> SensorsReported:
        time_s = self._clock.host_s(report.time_ms, now_s)
        changes = [
            SwitchChanged(change.switch, change.closed, time_s - change.before_ms / 1000) for change in report.changes
        ]
        return SensorsReported(
            time_s=time_s,
            closed=report.closed,
            doubtful=report.doubtful,
            changes=tuple(sorted(changes, key=lambda change: change.time_s)),
        )

    def _line(self, log: messages.Log, now_s: float) -> LogLine:
        missed = 0 if self._log_counter is None else (log.counter - self._log_counter - 1) % _COUNTER
        self._log_counter = log.counter
        return LogLine(self._clock.host_s(log.time_ms, now_s), log.level, log.text, missed)


def random_session() -> int:
    """Draw a session number, 1 to 65535."""
    return secrets.randbelow(0xFFFF) + 1


def session_without_interrupt(random_session: Callable[[], int], before: int) -> int:
    """Draw a session other than the one ``before`` whose greeting does not contain Ctrl-C.

    A starting board listens for Ctrl-C during its first two seconds, and would stop at its prompt.
    """
    _, payload = encode_message(messages.Hello())
    while True:
        session = random_session()
        if session != before and _INTERRUPT not in packet_frame(Packet(Kind.HELLO, session, payload=payload)):
            return session


def _version_error(port: SerialPort, refused: messages.Refused | None) -> VersionError:
    if refused is None:
        raise AssertionError("a link that was refused knows by whom")
    theirs = _versions(refused.oldest, refused.newest)
    ours = _versions(messages.OLDEST_VERSION, messages.NEWEST_VERSION)
    if refused.newest < messages.OLDEST_VERSION:
        advice = Phrase("its firmware is older than this program: `./run hardware firmware install` updates it")
    elif refused.oldest <= messages.NEWEST_VERSION:
        advice = Phrase("it still refuses, so its firmware is damaged: `./run hardware firmware install` reinstalls it")
    else:
        advice = Phrase(
            "its firmware is newer than this program: update the referee, or `./run hardware firmware "
            "install` puts the firmware that fits on the board"
        )
    return VersionError(
        "the board on {device} speaks {theirs} of the protocol, and this program {ours}; {advice}",
        port.device,
        theirs,
        ours,
        advice,
    )


def _versions(oldest: int, newest: int) -> str:
    return (
        Phrase("version {oldest}", oldest)
        if oldest == newest
        else Phrase("versions {oldest} to {newest}", oldest, newest)
    )


_WRAP_MS = 2**32  # the device's clock wraps here (protocol)
_KEPT = 16  # newest answers, of which the fastest sets the clock; set by hand
# twice 50 ppm: ordinary crystals at both ends
_DRIFT = 1e-4


@dataclass(frozen=True)
class _ClockSample:
    sent_s: float
    received_s: float
    device_ms: int

    def uncertainty_s(self, now_s: float) -> float:
        return (self.received_s - self.sent_s) / 2 + (now_s - self.received_s) * _DRIFT


class ClockSync:
    """The offset between the board's clock and the host's; a new one for each start of the board."""

    def __init__(self) -> None:
        self._answers: deque[_ClockSample] = deque(maxlen=_KEPT)

    def answered(self, sent_s: float, received_s: float, device_ms: int) -> None:
        """Note that a request sent at ``sent_s`` was answered by ``received_s`` with the board's milliseconds."""
        if received_s < sent_s:
            raise ValueError(f"an answer at {received_s} s to a question at {sent_s} s; expected it to come later")
        self._answers.append(_ClockSample(sent_s, received_s, device_ms))

    def host_s(self, device_ms: int, now_s: float) -> float:
        """Convert a time of the board that arrived at ``now_s``, and so can't be later than that, to the host's time.

        The board's counter wraps at 2**32; a time is assumed to be within 24 days of the last answer. Without any
        answer it is ``now_s``.
        """
        if not self._answers:
            return now_s
        best = self._best(now_s)
        elapsed_ms = (device_ms - best.device_ms + _WRAP_MS // 2) % _WRAP_MS - _WRAP_MS // 2
        return min(now_s, (best.sent_s + best.received_s) / 2 + elapsed_ms / 1000)

    def _best(self, now_s: float) -> _ClockSample:
        return min(self._answers, key=lambda answer: answer.uncertainty_s(now_s))
