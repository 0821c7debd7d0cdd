"""A session: what begins it and keeps it alive, what waits to be sent, and no button event delivered twice. Pure."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass

from firmware_bridge.protocol.codec import encode_message
from firmware_bridge.protocol.messages import Configure, Hello, Leave, LightFrame, Snapshot, Sound
from firmware_bridge.protocol.packets import Kind

PING_AFTER_S = 0.5
"""A PING is sent when nothing was sent for so long ..."""
PING_EVERY_S = 2.0
"""... and so often in any case, for the clock."""

_MAX_WAITING_PINGS = 8
_TOKENS = 1 << 32


@dataclass(frozen=True)
class PingExchange:
    """A PING and its PONG: the device's clock showed ``device_ms`` some time between the two, in monotonic seconds."""

    sent_s: float
    received_s: float
    device_ms: int


class Heartbeat:
    """Keeps the wire from falling silent, and measures the device's clock."""

    def __init__(self) -> None:
        self._next_token = 0
        self._sent_s = 0.0
        self._ping_due_s = 0.0
        self._waiting: dict[int, float] = {}

    def begin(self, now_s: float) -> None:
        """Begin anew, with a PING at once; tokens go on, so that an old PONG is taken for no new one."""
        self._waiting.clear()
        self._sent_s = self._ping_due_s = now_s

    @property
    def due_s(self) -> float:
        """When the next PING is due."""
        return min(self._sent_s + PING_AFTER_S, self._ping_due_s)

    def sent(self, now_s: float) -> None:
        """Take in that something was sent."""
        self._sent_s = now_s

    def ping(self, now_s: float) -> int:
        """Give the token of the PING that is sent now."""
        token = self._next_token
        self._next_token = (token + 1) % _TOKENS
        self._waiting[token] = now_s
        if len(self._waiting) > _MAX_WAITING_PINGS:
            del self._waiting[next(iter(self._waiting))]
        self._sent_s = now_s
        self._ping_due_s = now_s + PING_EVERY_S
        return token

    def pong(self, token: int, device_ms: int, now_s: float) -> PingExchange | None:
        """Give the exchange that this PONG completes; ``None`` for one that nothing asked for."""
        sent_s = self._waiting.pop(token, None)
        return None if sent_s is None else PingExchange(sent_s, now_s, device_ms)


HELLO_INTERVALS_S = (0.25, 0.5, 1.0)
"""How long after each HELLO the next one follows; the last goes on."""
MIN_HELLO_INTERVAL_S = 0.1
"""How soon HELLO is said again when the device tells that it has just started."""
WELCOME_TIMEOUT_S = 2.0


class Handshake:
    """One handshake, from ``now_s`` on."""

    def __init__(self, now_s: float) -> None:
        self._ends_s = now_s + WELCOME_TIMEOUT_S
        self._due_s = now_s
        self._sent_s: float | None = None
        self._sent = 0

    @property
    def due_s(self) -> float:
        """When HELLO is due, or giving up."""
        return min(self._due_s, self._ends_s)

    def has_timed_out(self, now_s: float) -> bool:
        """Whether it was tried for long enough."""
        return now_s >= self._ends_s

    def is_due(self, now_s: float) -> bool:
        """Whether HELLO is to be said now."""
        return now_s >= self._due_s

    def hello(self, now_s: float) -> Hello:
        """Give the HELLO to say now."""
        self._sent_s = now_s
        self._due_s = now_s + HELLO_INTERVALS_S[min(self._sent, len(HELLO_INTERVALS_S) - 1)]
        self._sent += 1
        return Hello()

    def device_started(self) -> None:
        """Take in that the device has just started, so that it may not have heard the last HELLO."""
        if self._sent_s is not None:
            self._due_s = min(self._due_s, self._sent_s + MIN_HELLO_INTERVAL_S)

    def round_trip_s(self, now_s: float) -> float | None:
        """How long the answer took that came now; ``None`` where it isn't clear which HELLO it answers (Karn)."""
        return now_s - self._sent_s if self._sent == 1 and self._sent_s is not None else None


_EVENTS = 1 << 16


class DuplicatePressFilter:
    """Remembers the last button event of the device's present start.

    The device tells events again that were never acknowledged when a session begins; the host may have had them.
    """

    def __init__(self) -> None:
        self._boot_id: int | None = None
        self._last_event = 0

    def is_new(self, boot_id: int, event: int) -> bool:
        """Say whether this event wasn't handed on yet, and remember it."""
        if boot_id == self._boot_id:
            ahead = (event - self._last_event) % _EVENTS
            if not 0 < ahead < _EVENTS // 2:
                return False
        self._boot_id = boot_id
        self._last_event = event
        return True


Sendable = LightFrame | Sound | Configure | Snapshot | Leave
"""What may be handed to the link; the rest it says by itself."""


class MessageSlot(enum.Enum):
    """The sorts of messages; of each only the newest matters, for each says all there is to say."""

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
    """A message as it will be sent."""

    slot: MessageSlot
    kind: Kind
    payload: bytes


class Outbox:
    """What waits, in the order it came; a newer message takes the place of an older of its sort.

    The newest lights and settings are remembered after they were sent, for the device forgets them when it restarts.
    """

    def __init__(self) -> None:
        self._waiting: dict[MessageSlot, QueuedMessage] = {}
        self._lasting: dict[MessageSlot, QueuedMessage] = {}
        self.replaced = 0

    def __len__(self) -> int:
        """How many messages wait."""
        return len(self._waiting)

    def put(self, message: Sendable) -> None:
        """Take a message; raises MessageError when it can't be written."""
        slot = _MESSAGE_SLOTS[type(message)]
        letter = QueuedMessage(slot, *encode_message(message))
        self.replaced += slot in self._waiting
        self._waiting[slot] = letter
        if slot in (MessageSlot.CONFIGURE, MessageSlot.LIGHTS):
            self._lasting[slot] = letter

    def begin_anew(self) -> None:
        """For a new session: the settings wait first, then the lights; everything else was for the one before."""
        self._waiting = {slot: self._lasting[slot] for slot in MessageSlot if slot in self._lasting}

    def has_any(self, may_go: Callable[[QueuedMessage], bool]) -> bool:
        """Say whether there is a message that may go."""
        return self._first(may_go) is not None

    def next(self, may_go: Callable[[QueuedMessage], bool]) -> QueuedMessage | None:
        """Take out the first message that may go; ``Leave`` goes when nothing else waits."""
        letter = self._first(may_go)
        return None if letter is None else self._waiting.pop(letter.slot)

    def _first(self, may_go: Callable[[QueuedMessage], bool]) -> QueuedMessage | None:
        for slot, letter in self._waiting.items():
            if (slot is not MessageSlot.LEAVE or len(self._waiting) == 1) and may_go(letter):
                return letter
        return None
