"""The state of a link, why it was lost, and its counters: for the log and ``./run doctor``. Pure."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from firmware_bridge.protocol.packets import DroppedFrames


@dataclass
class Counts:
    """The counters of a link since it was created.

    Attributes:
        sessions: handshakes begun.
        linked: handshakes that were answered.
        sent: packets sent, including repeats.
        resent: sequenced packets sent again.
        timeouts: times the retransmission timer expired.
        delivered: messages delivered.
        repeated: sequenced packets received again.
        after_gap: sequenced packets that arrived too early and were dropped.
        foreign: packets of another session.
        misdirected: packets that only the host sends, so an echo.
        unknown: packets of an unknown kind.
        malformed: packets whose payload can't be decoded.
        too_long: messages longer than the device accepts, not sent.
        presses_repeated: repeated button events.
    """

    sessions: int = 0
    linked: int = 0
    sent: int = 0
    resent: int = 0
    timeouts: int = 0
    delivered: int = 0
    repeated: int = 0
    after_gap: int = 0
    foreign: int = 0
    misdirected: int = 0
    unknown: int = 0
    malformed: int = 0
    too_long: int = 0
    presses_repeated: int = 0


@dataclass(frozen=True)
class LinkStatistics:
    """A link's figures at one moment.

    Attributes:
        counts: what was counted.
        packets: valid packets that came in.
        dropped: frames that were no packets, by why.
        replaced: messages replaced by newer ones before they were sent.
        round_trip_s: the smoothed round-trip time; ``None`` before the first measurement.
        timeout_s: how long the link now waits for an acknowledgement.
    """

    counts: Counts = field(default_factory=Counts)
    packets: int = 0
    dropped: DroppedFrames = field(default_factory=DroppedFrames)
    replaced: int = 0
    round_trip_s: float | None = None
    timeout_s: float = 0.0


class LinkState(enum.Enum):
    """Where the link stands."""

    IDLE = "idle"
    """Nothing was begun yet."""
    HANDSHAKING = "handshaking"
    """HELLO is being said."""
    LINKED = "linked"
    """The device answered."""
    REFUSED = "refused"
    """The device speaks no version that we do; ``refusal`` says which. Begin again after 10 s."""
    LOST = "lost"
    """``lost_because`` says why. Begin again, with another session."""


class LossCause(enum.Enum):
    """Why a link was lost."""

    RESTARTED = "restarted"
    """The device doesn't know the session: it has started anew."""
    UNACKNOWLEDGED = "unacknowledged"
    """What was sent was not acknowledged for 3 s."""
    INCOMPLETE = "incomplete"
    """Something that the device sent has been missing for 3 s, though later things came."""
    SILENT = "silent"
    """Nothing came for 2 s."""
    NO_WELCOME = "no welcome"
    """HELLO was not answered for 2 s; the port may be another by now."""
