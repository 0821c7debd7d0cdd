"""The exchange with the device on a port: greeting, states, and identifying other devices. Pure.

It converts a board's states to events in the host's time, limits the waiting time for an answer, and gives the reason
for abandoning a port. ``ClockSync`` converts the board's milliseconds to the host's monotonic seconds, using answered
states (like NTP, RFC 5905, section 8): the answer with the narrowest bounds counts, and bounds widen as clocks drift.
"""

import enum
from collections import deque
from dataclasses import dataclass

from common.phrases import Phrase
from firmware_bridge.connection.events import (
    BoardEvent,
    ButtonPressed,
    LightsLimited,
    Linked,
    Lost,
    PressesDropped,
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
from firmware_bridge.protocol.link import Exchange, HostLink, News, Pressed, PressesLost, SerialLine
from firmware_bridge.protocol.messages import PROTOCOL, BoardState, Tone, Welcome

ROUND_S = 2.0
"""How long a board is greeted before it counts as one more round without an answer. Set by hand."""
LOST_AFTER_S = 2.0
"""Seconds without the board's state after which it is lost: four times what it takes between two."""

_HEARD_BYTES = 4096  # bytes kept to name a foreign device by; many times the longest start-up line
_ANSWER_S = 0.5  # how long a device may take to answer a probe; set by hand
_RESTART_IT = Phrase("press its reset button, or unplug it and plug it in again")


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

    def __init__(self, link: HostLink) -> None:
        self.link = link
        self.welcome: Welcome | None = None
        self.last_heard_s: float | None = None
        self._port = SerialPort("")
        self._baud = 0
        self._stage = _Stage.HANDSHAKING
        self._rounds_left = 0
        self._round_ends_s = 0.0
        self._must_probe = False
        self._heard = b""
        self._packets_before = 0
        self._clock = ClockSync()
        self._exchange: Exchange | None = None
        self._boot_id: int | None = None
        self._known: list[bool | None] | None = None
        self._doubtful: tuple[bool, ...] = ()
        self._limit = (0, False)
        self._is_leaving = False
        self.has_left = False
        self.failure: BridgeError | None = None
        self._events: list[BoardEvent] = []

    @property
    def is_linked(self) -> bool:
        """Whether the board answers."""
        return self._stage is _Stage.LINKED

    def opened(self, port: SerialPort, baud: int, rounds: int, now_s: float, line: SerialLine) -> None:
        """Start on a port that was just opened, with that many rounds of greetings."""
        self._port, self._baud = port, baud
        self.link.open(line)
        self._stage = _Stage.HANDSHAKING
        self._rounds_left = rounds
        self._round_ends_s = now_s + ROUND_S
        self._must_probe = False
        self.failure = None
        self._heard = b""
        self._packets_before = self.link.statistics.packets

    def closed(self, reason: str, now_s: float) -> None:
        """Note that the port was closed or disappeared."""
        self.has_left = self.has_left or (self._is_leaving and self.is_linked)
        self._lose(reason, now_s)
        self.welcome = None
        self._stage = _Stage.HANDSHAKING

    def play(self, tones: tuple[Tone, ...]) -> None:
        """Play tones, which are dropped if the board doesn't answer."""
        if self.is_linked:
            self.link.play(tones)

    def leave(self) -> None:
        """Switch the board to its bare interpreter as soon as it answers."""
        self._is_leaving = True
        self.link.leave()

    def received(self, data: bytes, now_s: float) -> None:
        """Process bytes that arrived."""
        if self._stage is not _Stage.LINKED:
            self._heard = (self._heard + data)[-_HEARD_BYTES:]
        for news in self.link.receive(data, now_s):
            self._take(news, now_s)
        if self.is_linked:
            self.last_heard_s = self.link.heard_s
            self.has_left = self.has_left or (self._is_leaving and self.link.is_leaving)

    def outgoing(self, now_s: float) -> bytes:
        """Return the bytes to write now, and check for failure; call it again when they are written."""
        if self.is_linked:
            if now_s >= self.link.heard_s + LOST_AFTER_S:
                self._fell_silent(now_s)
        elif self.link.other_version is not None:
            self.failure = _version_error(self._port, self.link.other_version)
        elif now_s >= self._round_ends_s:
            self._end_round(now_s)
        data = self.link.outgoing(now_s)
        if self._must_probe:
            self._must_probe = False
            return PROBE + data
        return data

    def due_s(self, now_s: float) -> float:
        """Return when ``outgoing`` must be called next if nothing arrives before."""
        limit_s = self.link.heard_s + LOST_AFTER_S if self.is_linked else self._round_ends_s
        return max(now_s, min(limit_s, self.link.next_due_s(now_s)))

    def take_events(self) -> list[BoardEvent]:
        """Return the events since the last call, in order."""
        events, self._events = self._events, []
        return events

    def _fell_silent(self, now_s: float) -> None:
        if self._is_leaving and self.link.has_told_to_leave:
            self.has_left = True
            return
        self._lose(Phrase("the board on {device} does not answer", self._port.device), now_s)
        self._stage = _Stage.RECOVERING
        self._heard = b""
        self._round_ends_s = now_s + ROUND_S
        self.link.forget()

    def _end_round(self, now_s: float) -> None:
        is_named = certain_foreign_device(self._heard) is not None
        if is_named or self._stage in (_Stage.RECOVERING, _Stage.PROBING):
            self.failure = self._no_board_error()
        elif self._rounds_left > 1:
            self._rounds_left -= 1
            self._round_ends_s = now_s + ROUND_S
        else:
            self._stage = _Stage.PROBING
            self._must_probe = True
            self._round_ends_s = now_s + _ANSWER_S

    def _lose(self, reason: str, now_s: float) -> None:
        if self.welcome is not None:
            self.welcome = None
            self._events.append(Lost(now_s, reason))

    def _no_board_error(self) -> BridgeError:
        is_ours = self._stage is _Stage.RECOVERING or self.link.statistics.packets > self._packets_before
        if not is_ours or is_known_device(self._heard):
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

    def _take(self, news: News, now_s: float) -> None:
        match news:
            case Welcome():
                self._take_welcome(news, now_s)
            case BoardState():
                self._take_state(news, now_s)
            case Pressed():
                self._events.append(ButtonPressed(news.button, self._clock.host_s(news.time_ms, now_s)))
            case PressesLost():
                self._events.append(PressesDropped(now_s, news.count))

    def _take_welcome(self, welcome: Welcome, now_s: float) -> None:
        restarted = self._boot_id is not None and welcome.boot_id != self._boot_id
        if welcome.boot_id != self._boot_id:
            self._clock = ClockSync()
            self._limit = (0, False)
        self._boot_id = welcome.boot_id
        if restarted and self.is_linked and self.link.has_told_to_leave:
            self.has_left = True
        self.welcome = welcome
        self._stage = _Stage.LINKED
        self._heard = b""
        self._known, self._doubtful = None, ()
        self._events.append(Linked(now_s, self._port, welcome, restarted))

    def _take_state(self, state: BoardState, now_s: float) -> None:
        exchange = self.link.last_exchange
        if exchange is not None and exchange is not self._exchange:
            self._exchange = exchange
            self._clock.answered(exchange.sent_s, exchange.received_s, exchange.device_ms)
        limit = (state.limited_ma, state.is_dark)
        if limit != self._limit:
            self._limit = limit
            if state.limited_ma:
                self._events.append(LightsLimited(now_s, state.limited_ma, is_dark=state.is_dark))
        self._take_switches(state, now_s)

    def _take_switches(self, state: BoardState, now_s: float) -> None:
        """Report the switches at first, and when one of them moved or became doubtful or certain."""
        is_first = self._known is None
        known = self._known = [None] * len(state.closed) if self._known is None else self._known
        time_s = self._clock.host_s(state.time_ms, now_s)
        changes = []
        for switch, (closed, doubtful) in enumerate(zip(state.closed, state.doubtful, strict=True)):
            if not doubtful and closed != known[switch]:
                if known[switch] is not None:
                    changes.append(SwitchChanged(switch, closed, time_s))
                known[switch] = closed
        if is_first or changes or state.doubtful != self._doubtful:
            self._doubtful = state.doubtful
            self._events.append(SensorsReported(time_s, state.closed, state.doubtful, tuple(changes)))


def _version_error(port: SerialPort, theirs: int) -> VersionError:
    if theirs < PROTOCOL:
        advice = Phrase("its firmware is older than this program: `./run hardware firmware install` updates it")
    else:
        advice = Phrase(
            "its firmware is newer than this program: update the referee, or `./run hardware firmware "
            "install` puts the firmware that fits on the board"
        )
    return VersionError(
        "the board on {device} speaks version {theirs} of the protocol, and this program version {ours}; {advice}",
        port.device,
        theirs,
        PROTOCOL,
        advice,
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
