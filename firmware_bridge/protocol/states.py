"""Where a link stands, and why it was lost."""

from __future__ import annotations

import enum


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
