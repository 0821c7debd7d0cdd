"""The host's end of the link: handshake, delivery and timeouts as one state machine. Pure: time is passed in.

The owner of the port calls ``receive`` with the bytes that arrived, then ``outgoing`` for those to write, and again at
``next_due_s`` at the latest. ``outgoing`` is only called when all earlier bytes are written, so that they are up to
date.
"""

import enum
from dataclasses import dataclass, field, replace

from firmware_bridge.errors import MessageError
from firmware_bridge.protocol.codec import decode_message, encode_message
from firmware_bridge.protocol.delivery import (
    ANSWER_BYTES,
    Arrival,
    Receiver,
    RetransmissionTimer,
    SendWindow,
    SentPacket,
    SerialLine,
)
from firmware_bridge.protocol.messages import (
    NEWEST_VERSION,
    OLDEST_VERSION,
    ButtonReport,
    HostMessage,
    Message,
    Ping,
    Pong,
    Refused,
    Welcome,
)
from firmware_bridge.protocol.packets import (
    DroppedFrames,
    Kind,
    Packet,
    PacketReader,
    is_sequenced,
    may_come_from_device,
    packet_frame,
)
from firmware_bridge.protocol.session import (
    DuplicatePressFilter,
    Handshake,
    Heartbeat,
    MessageSlot,
    Outbox,
    PingExchange,
    QueuedMessage,
    Sendable,
)


@dataclass
class Counts:
    """The counters of a link since it was created.

    ``sessions`` are handshakes begun, ``linked`` those answered; ``sent`` includes repeats, ``repeated`` were received
    again. ``after_gap`` arrived too early and were dropped; ``foreign`` are of another session, ``misdirected`` of
    kinds that only the host sends, so an echo.
    """

    sessions: int = 0
    linked: int = 0
    sent: int = 0
    resent: int = 0
    delivered: int = 0
    repeated: int = 0
    after_gap: int = 0
    foreign: int = 0
    misdirected: int = 0


@dataclass(frozen=True)
class LinkStatistics:
    """A link's figures at one moment.

    ``dropped`` are frames that were not valid packets, by reason, ``replaced`` messages replaced by newer ones before
    they were sent. ``round_trip_s`` is smoothed; ``None`` before the first measurement.
    """

    counts: Counts = field(default_factory=Counts)
    packets: int = 0
    dropped: DroppedFrames = field(default_factory=DroppedFrames)
    replaced: int = 0
    round_trip_s: float | None = None
    timeout_s: float = 0.0


class LinkState(enum.Enum):
    """The state of a link."""

    IDLE = "idle"
    """No session was begun yet."""
    HANDSHAKING = "handshaking"
    """HELLO is being sent."""
    LINKED = "linked"
    """The device answered."""
    REFUSED = "refused"
    """The device supports none of the host's versions; ``refusal`` has its own. Begin again after 10 s."""
    LOST = "lost"
    """Lost, for the reason ``lost_because``. Begin again, with another session."""


class LossCause(enum.Enum):
    """Why a link was lost."""

    RESTARTED = "restarted"
    """The device doesn't know the session: it has restarted."""
    UNACKNOWLEDGED = "unacknowledged"
    """Packets were not acknowledged for 3 s."""
    INCOMPLETE = "incomplete"
    """A packet of the device has been missing for 3 s, although later ones arrived."""
    SILENT = "silent"
    """Nothing arrived for 2 s."""
    NO_WELCOME = "no welcome"
    """HELLO was not answered for 2 s; the board may have another port by now."""


WINDOW = 8
"""Maximum number of the host's outstanding packets."""
LIGHT_FRAMES_OUTSTANDING = 2
"""The same for light frames, so that on a slow wire the newest frame waits for two old ones instead of eight."""
LIGHTS_AHEAD_S = 0.01
"""Seconds before a slow line is free at which the next light frame is sent; until then a newer one may replace it."""
SILENT_AFTER_S = 2.0  # without a packet for so long, the link is lost: four times PING_AFTER_S
UNACKNOWLEDGED_AFTER_S = 3.0  # so is one whose packets stay unacknowledged
INCOMPLETE_AFTER_S = 3.0  # or whose gap is not filled
REFUSED_RETRY_S = 10.0
"""Seconds after a REFUSED until the owner of the port tries again."""

_LIGHTS = (Kind.LIGHTS_ALL, Kind.LIGHTS_LIT)


class HostLink:
    """The host's end of a link to one device.

    ``lost_because`` says why a lost link was lost. ``welcome`` is the device's description of itself in its last
    answer. ``session`` is the newest one, 0 before the first; ``heard_s`` is when the last packet arrived.
    """

    def __init__(self) -> None:
        self.state = LinkState.IDLE
        self.lost_because: LossCause | None = None
        self.welcome: Welcome | None = None
        self.refusal: Refused | None = None
        self.last_exchange: PingExchange | None = None
        self._reader = PacketReader()
        self._outbox = Outbox()
        self._presses = DuplicatePressFilter()
        self._counts = Counts()
        self._timer = RetransmissionTimer()
        self._greeting = Handshake(0.0)
        self._heartbeat = Heartbeat()
        self._line = SerialLine()
        self.session = 0
        self.heard_s = 0.0
        self._start_session()

    @property
    def is_settled(self) -> bool:
        """Whether everything sent is acknowledged and nothing waits."""
        return self.undelivered == 0

    @property
    def undelivered(self) -> int:
        """Number of messages that wait or are unacknowledged."""
        return len(self._outbox) + len(self._window)

    @property
    def acknowledged(self) -> int:
        """Number of sequenced packets acknowledged in this session."""
        return self._window.acknowledged

    @property
    def statistics(self) -> LinkStatistics:
        """The statistics so far."""
        return LinkStatistics(
            counts=replace(self._counts),
            packets=self._reader.packets,
            dropped=self._reader.dropped,
            replaced=self._outbox.replaced,
            round_trip_s=self._timer.round_trip_s,
            timeout_s=self._timer.timeout_s,
        )

    def use_line(self, line: SerialLine) -> None:
        """Set the line of a newly opened port, whose buffer the timer takes into account."""
        self._line = line
        self._timer.allow_for_answer(line.transmission_s(ANSWER_BYTES))

    def begin(self, now_s: float, session: int) -> None:
        """Begin a new session by sending HELLO from now on.

        The newest lights and settings are sent once the device answers; other waiting messages are dropped. Raises
        ValueError for a session that is not 1 to 65535, or the same as before.
        """
        if not 1 <= session <= 0xFFFF or session == self.session:
            raise ValueError(f"session {session}; expected 1 to 65535, and not {self.session} again")
        self.session = session
        self._counts.sessions += 1
        self._outbox.begin_anew()
        self._start_session()
        self._greeting = Handshake(now_s)
        self.lost_because = None
        self.state = LinkState.HANDSHAKING

    def send(self, message: Sendable) -> None:
        """Send ``message`` as soon as possible; a newer one replaces an older one that still waits. Raises
        MessageError.
        """
        self._outbox.put(message)

    def receive(self, data: bytes, now_s: float) -> list[Message]:
        """Process bytes that arrived, and return their messages: each sequenced one in order, exactly once."""
        messages = [message for packet in self._reader.feed(data) for message in self._accept(packet, now_s)]
        self._counts.delivered += len(messages)
        return messages

    def outgoing(self, now_s: float) -> bytes:
        """Return the bytes to write now; also processes timeouts due at ``now_s``, such as losing the link."""
        packets: list[Packet] = []
        if self.state is LinkState.HANDSHAKING:
            self._greet(packets, now_s)
        if self.state is LinkState.LINKED:
            self._converse(packets, now_s)
        self._counts.sent += len(packets)
        return b"".join([self._encode(packet, now_s) for packet in packets])

    def next_due_s(self, now_s: float) -> float | None:
        """Return when ``outgoing`` is due, from ``now_s`` on, unless something else happens before; ``None``: never by
        itself.
        """
        if self.state is LinkState.HANDSHAKING:
            return max(now_s, self._greeting.due_s)
        if self.state is not LinkState.LINKED:
            return None
        if self._receiver.must_acknowledge or self._receiver.must_report_gap or self._window.must_resend:
            return now_s
        due_s = min(self._heartbeat.due_s, self.heard_s + SILENT_AFTER_S)
        if self._window.has_room and self._outbox.has_any(self._may_be_sent):
            due_s = min(due_s, now_s if self._outbox.has_any(self._is_other_than_lights) else self._lights_due_s)
        if self._window.due_s is not None:
            due_s = min(due_s, self._window.due_s)
        if self._window.stuck_since_s is not None:
            due_s = min(due_s, self._window.stuck_since_s + UNACKNOWLEDGED_AFTER_S)
        if self._receiver.gap_since_s is not None:
            due_s = min(due_s, self._receiver.gap_since_s + INCOMPLETE_AFTER_S)
        return max(now_s, due_s)

    # incoming packets

    def _accept(self, packet: Packet, now_s: float) -> list[Message]:
        if not may_come_from_device(packet.kind):
            self._counts.misdirected += 1
            return []
        if packet.kind == Kind.RESTARTED:
            return self._take_restarted(packet)
        if packet.kind == Kind.LOG and packet.session == 0:
            return self._decode(packet)
        is_open = self.state in (LinkState.HANDSHAKING, LinkState.LINKED)
        if not is_open or packet.session != self.session:
            self._counts.foreign += 1
            return []
        if self.state is LinkState.HANDSHAKING:
            return self._take_answer(packet, now_s)
        return self._take_linked(packet, now_s)

    def _take_restarted(self, packet: Packet) -> list[Message]:
        if self.state not in (LinkState.HANDSHAKING, LinkState.LINKED):
            return []
        messages = self._decode(packet)
        if not messages:
            return []
        if self.state is LinkState.LINKED:
            self._lose(LossCause.RESTARTED)
        else:
            self._greeting.device_started()
        return messages

    def _take_answer(self, packet: Packet, now_s: float) -> list[Message]:
        if packet.kind not in (Kind.WELCOME, Kind.REFUSED):
            return []
        messages = self._decode(packet)
        for message in messages:
            if isinstance(message, Refused):
                self._refuse(message)
            elif isinstance(message, Welcome):
                self.welcome = message
                if OLDEST_VERSION <= message.version <= NEWEST_VERSION:
                    self._link(message, now_s)
                else:
                    self._refuse(Refused(message.version, message.version))
        return messages

    def _take_linked(self, packet: Packet, now_s: float) -> list[Message]:
        self.heard_s = now_s
        if packet.kind in (Kind.WELCOME, Kind.REFUSED):
            self._take_late_answer(packet)
            return []
        if packet.kind == Kind.MISSING:
            self._window.missing(packet.acknowledged, now_s)
            return []
        self._window.acknowledge(packet.acknowledged, now_s)
        if packet.kind == Kind.ACKNOWLEDGED:
            return []
        if is_sequenced(packet.kind) and not self._is_next(packet, now_s):
            return []
        return [message for message in self._decode(packet) if self._is_news(message, now_s)]

    def _take_late_answer(self, packet: Packet) -> None:
        """Ignore a repeated WELCOME, unless a late HELLO reached a device that had restarted."""
        for message in self._decode(packet):
            if isinstance(message, Welcome) and self.welcome is not None and message.boot_id != self.welcome.boot_id:
                self._lose(LossCause.RESTARTED)

    def _is_next(self, packet: Packet, now_s: float) -> bool:
        arrival = self._receiver.take(packet.sequence, now_s)
        self._counts.repeated += arrival is Arrival.REPEATED
        self._counts.after_gap += arrival is Arrival.AFTER_GAP
        return arrival is Arrival.NEXT

    def _is_news(self, message: Message, now_s: float) -> bool:
        if isinstance(message, Pong):
            exchange = self._heartbeat.pong(message.token, message.time_ms, now_s)
            self.last_exchange = exchange or self.last_exchange
            return exchange is not None
        if isinstance(message, ButtonReport) and self.welcome is not None:
            return self._presses.is_new(self.welcome.boot_id, message.event)
        return True

    def _decode(self, packet: Packet) -> list[Message]:
        try:
            return [decode_message(packet.kind, packet.payload)]
        except MessageError:
            return []

    # outgoing packets

    def _greet(self, packets: list[Packet], now_s: float) -> None:
        if self._greeting.has_timed_out(now_s):
            self._lose(LossCause.NO_WELCOME)
        elif self._greeting.is_due(now_s):
            packets.append(self._packet(self._greeting.hello(now_s)))

    def _converse(self, packets: list[Packet], now_s: float) -> None:
        stuck_since_s, gap_since_s = self._window.stuck_since_s, self._receiver.gap_since_s
        if now_s >= self.heard_s + SILENT_AFTER_S:
            return self._lose(LossCause.SILENT)
        if stuck_since_s is not None and now_s >= stuck_since_s + UNACKNOWLEDGED_AFTER_S:
            return self._lose(LossCause.UNACKNOWLEDGED)
        if gap_since_s is not None and now_s >= gap_since_s + INCOMPLETE_AFTER_S:
            # for example, a device in a session of another host that happens to have the same number
            return self._lose(LossCause.INCOMPLETE)
        self._window.time_out(now_s)
        again = self._window.resend(now_s)
        self._counts.resent += len(again)
        packets += [self._sequenced(sent) for sent in again]
        may_be_sent = self._may_be_sent if now_s >= self._lights_due_s else self._is_other_than_lights
        while self._window.has_room and (queued := self._outbox.next(may_be_sent)) is not None:
            # what the device can't take is dropped
            if self.welcome is None or len(queued.payload) <= self.welcome.largest_payload:
                packets.append(self._sequenced(self._window.send(queued.kind, queued.payload, now_s)))
        if packets:
            self._heartbeat.sent(now_s)
        if now_s >= self._heartbeat.due_s:
            packets.append(self._packet(Ping(self._heartbeat.ping(now_s))))
        self._answer(packets)
        return None

    def _answer(self, packets: list[Packet]) -> None:
        """Acknowledge what arrived, with a separate packet if there is no other one."""
        if self._receiver.must_report_gap:
            packets.append(self._empty_packet(Kind.MISSING))
            self._receiver.gap_reported()
        elif self._receiver.must_acknowledge and not packets:
            packets.append(self._empty_packet(Kind.ACKNOWLEDGED))
        if packets:
            self._receiver.acknowledged()

    @property
    def _lights_due_s(self) -> float:
        return self._line.free_s - LIGHTS_AHEAD_S

    def _may_be_sent(self, queued: QueuedMessage) -> bool:
        return self._is_other_than_lights(queued) or self._window.outstanding_of(_LIGHTS) < LIGHT_FRAMES_OUTSTANDING

    @staticmethod
    def _is_other_than_lights(queued: QueuedMessage) -> bool:
        return queued.slot is not MessageSlot.LIGHTS

    def _encode(self, packet: Packet, now_s: float) -> bytes:
        frame = packet_frame(packet)
        at_s = self._line.arrival_s(len(frame), now_s)
        if at_s > now_s and is_sequenced(packet.kind):
            self._window.delivered_at(packet.sequence, at_s)
        return frame

    def _packet(self, message: HostMessage) -> Packet:
        kind, payload = encode_message(message)
        return Packet(kind, self.session, 0, self._receiver.expected, payload)

    def _empty_packet(self, kind: Kind) -> Packet:
        return Packet(kind, self.session, 0, self._receiver.expected)

    def _sequenced(self, sent: SentPacket) -> Packet:
        return Packet(sent.kind, self.session, sent.sequence, self._receiver.expected, sent.payload)

    # changes of state

    def _start_session(self, window: int = WINDOW) -> None:
        self._window = SendWindow(window, self._timer)
        self._receiver = Receiver()

    def _link(self, welcome: Welcome, now_s: float) -> None:
        round_trip_s = self._greeting.round_trip_s(now_s)
        if round_trip_s is not None:
            self._timer.acknowledged(round_trip_s, is_resent=False)
        self._start_session(max(1, min(WINDOW, welcome.window)))
        self._heartbeat.begin(now_s)
        self.heard_s = now_s
        self._counts.linked += 1
        self.state = LinkState.LINKED

    def _refuse(self, refusal: Refused) -> None:
        self.refusal = refusal
        self.state = LinkState.REFUSED

    def _lose(self, cause: LossCause) -> None:
        self.lost_because = cause
        self.state = LinkState.LOST
