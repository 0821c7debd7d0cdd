"""A session: its handshake, its heartbeat, the messages to send, and a filter of repeated button events. Pure."""

import enum
from collections.abc import Callable
from dataclasses import dataclass

from firmware_bridge.protocol.codec import encode_message
from firmware_bridge.protocol.messages import Configure, Hello, Leave, LightFrame, Snapshot, Sound
from firmware_bridge.protocol.packets import Kind

PING_AFTER_S = 0.5
"""Seconds without anything sent after which a PING is sent."""
PING_EVERY_S = 2.0
"""Longest time between two PINGs, in seconds: they keep the clocks together."""

_MAX_WAITING_PINGS = 8  # older ones are given up; set by hand
_TOKENS = 1 << 32  # 32 bits (protocol)


@dataclass(frozen=True)
class PingExchange:
    """A PING and its PONG: the device's clock showed ``device_ms`` between the two times, in monotonic seconds."""

    sent_s: float
    received_s: float
    device_ms: int


class Heartbeat:
    """Keeps the link alive by PINGs, and measures the device's clock."""

    def __init__(self) -> None:
        self._next_token = 0
        self._sent_s = 0.0
        self._ping_due_s = 0.0
        self._waiting: dict[int, float] = {}

    def begin(self, now_s: float) -> None:
        """Start again, with a PING at once; tokens continue, so that an old PONG is recognised."""
        self._waiting.clear()
        self._sent_s = self._ping_due_s = now_s

    @property
    def due_s(self) -> float:
        """When the next PING is due."""
        return min(self._sent_s + PING_AFTER_S, self._ping_due_s)

    def sent(self, now_s: float) -> None:
        """Note that something was sent."""
        self._sent_s = now_s

    def ping(self, now_s: float) -> int:
        """Return the token of the PING to send now."""
        token = self._next_token
        self._next_token = (token + 1) % _TOKENS
        self._waiting[token] = now_s
        if len(self._waiting) > _MAX_WAITING_PINGS:
            del self._waiting[next(iter(self._waiting))]
        self._sent_s = now_s
        self._ping_due_s = now_s + PING_EVERY_S
        return token

    def pong(self, token: int, device_ms: int, now_s: float) -> PingExchange | None:
        """Return the exchange that this PONG completes; ``None`` for an unexpected one."""
        sent_s = self._waiting.pop(token, None)
        return None if sent_s is None else PingExchange(sent_s, now_s, device_ms)


HELLO_INTERVALS_S = (0.25, 0.5, 1.0)
"""Intervals between HELLOs; the last one is repeated."""
MIN_HELLO_INTERVAL_S = 0.1
"""Delay of the next HELLO after the device reports that it has just started."""
WELCOME_TIMEOUT_S = 2.0  # for an answer to hello; set by hand


class Handshake:
    """One handshake, starting at ``now_s``."""

    def __init__(self, now_s: float) -> None:
        self._ends_s = now_s + WELCOME_TIMEOUT_S
        self._due_s = now_s
        self._sent_s: float | None = None
        self._sent = 0

    @property
    def due_s(self) -> float:
        """When the next HELLO or the timeout is due."""
        return min(self._due_s, self._ends_s)

    def has_timed_out(self, now_s: float) -> bool:
        """Return whether the handshake has timed out."""
        return now_s >= self._ends_s

    def is_due(self, now_s: float) -> bool:
        """Return whether to send HELLO now."""
        return now_s >= self._due_s

    def hello(self, now_s: float) -> Hello:
        """Return the HELLO to send now."""
        self._sent_s = now_s
        self._due_s = now_s + HELLO_INTERVALS_S[min(self._sent, len(HELLO_INTERVALS_S) - 1)]
        self._sent += 1
        return Hello()

    def device_started(self) -> None:
        """Note that the device has just started, so that it may have missed the last HELLO."""
        if self._sent_s is not None:
            self._due_s = min(self._due_s, self._sent_s + MIN_HELLO_INTERVAL_S)

    def round_trip_s(self, now_s: float) -> float | None:
        """Return the round-trip time of an answer that arrives now; ``None`` if it may answer several HELLOs (Karn)."""
        return now_s - self._sent_s if self._sent == 1 and self._sent_s is not None else None


_EVENTS = 1 << 16  # 16 bits (protocol)


class DuplicatePressFilter:
    """Remembers the last button event since the device's start.

    When a session begins, the device repeats events that were never acknowledged; the host may have received them.
    """

    def __init__(self) -> None:
        self._boot_id: int | None = None
        self._last_event = 0

    def is_new(self, boot_id: int, event: int) -> bool:
        """Return whether this event is new; remembers it."""
        if boot_id == self._boot_id:
            ahead = (event - self._last_event) % _EVENTS
            if not 0 < ahead < _EVENTS // 2:
                return False
        self._boot_id = boot_id
        self._last_event = event
        return True


Sendable = LightFrame | Sound | Configure | Snapshot | Leave
"""Messages that may be passed to the link; it sends the others by itself."""


class MessageSlot(enum.Enum):
    """The categories of messages; only the newest of each matters, because each is complete."""

    CONFIGURE = "configure"
    LIGHTS = "lights"
    SOUND = "sound"
    SNAPSHOT = "snapshot"
    LEAVE = "leave"


_MESSAGE_SLOTS = {
    Configure: MessageSlot.CONFIGURE,
    LightFrame: MessageSlot.LIGHTS,
    Sound: MessageSlot.SOUND,
    Snapshot: MessageSlot.SNAPSHOT,
    Leave: MessageSlot.LEAVE,
}


@dataclass(frozen=True)
class QueuedMessage:
    """An encoded message."""

    slot: MessageSlot
    kind: Kind
    payload: bytes


class Outbox:
    """The waiting messages, in order; a newer message replaces an older one of its category.

    The newest lights and settings are kept after they were sent, because the device loses them when it restarts.
    """

    def __init__(self) -> None:
        self._waiting: dict[MessageSlot, QueuedMessage] = {}
        self._lasting: dict[MessageSlot, QueuedMessage] = {}
        self.replaced = 0

    def __len__(self) -> int:
        """Number of waiting messages."""
        return len(self._waiting)

    def put(self, message: Sendable) -> None:
        """Add a message; raises MessageError when it can't be encoded."""
        slot = _MESSAGE_SLOTS[type(message)]
        queued = QueuedMessage(slot, *encode_message(message))
        self.replaced += slot in self._waiting
        self._waiting[slot] = queued
        if slot in (MessageSlot.CONFIGURE, MessageSlot.LIGHTS):
            self._lasting[slot] = queued

    def begin_anew(self) -> None:
        """Start a new session: the settings come first, then the lights; all other messages are dropped."""
        self._waiting = {slot: self._lasting[slot] for slot in MessageSlot if slot in self._lasting}

    def has_any(self, may_be_sent: Callable[[QueuedMessage], bool]) -> bool:
        """Return whether there is a message that may be sent."""
        return self._first(may_be_sent) is not None

    def next(self, may_be_sent: Callable[[QueuedMessage], bool]) -> QueuedMessage | None:
        """Remove and return the first message that may be sent; ``Leave`` is sent when nothing else waits."""
        queued = self._first(may_be_sent)
        return None if queued is None else self._waiting.pop(queued.slot)

    def _first(self, may_be_sent: Callable[[QueuedMessage], bool]) -> QueuedMessage | None:
        for slot, queued in self._waiting.items():
            if (slot is not MessageSlot.LEAVE or len(self._waiting) == 1) and may_be_sent(queued):
                return queued
        return None
