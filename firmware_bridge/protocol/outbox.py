"""What waits to be sent to the device: at most one message of each sort, the newest. Pure."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass

from firmware_bridge.protocol.codec import encode_message
from firmware_bridge.protocol.messages import Configure, Leave, LightFrame, Snapshot, Sound
from firmware_bridge.protocol.packets import Kind

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
