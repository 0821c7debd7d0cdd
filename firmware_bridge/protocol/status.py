"""The state of a link, why it was lost, and its counters. Pure."""

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
        delivered: messages delivered.
        repeated: sequenced packets received again.
        after_gap: sequenced packets that arrived too early and were dropped.
        foreign: packets of another session.
        misdirected: packets that only the host sends, so an echo.
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

    Attributes:
        counts: the counters.
        packets: valid packets received.
        dropped: frames that were not valid packets, by reason.
        replaced: messages replaced by newer ones before they were sent.
        round_trip_s: the smoothed round-trip time; ``None`` before the first measurement.
        timeout_s: the present retransmission timeout.
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
