"""When to say HELLO, and for how long. Pure."""

from __future__ import annotations

from firmware_bridge.protocol.messages import Hello

HELLO_AGAIN_S = (0.25, 0.5, 1.0)
"""How long after each HELLO the next one follows; the last goes on."""
HELLO_NOT_SOONER_S = 0.1
"""How soon HELLO is said again when the device tells that it has just started."""
WELCOME_WITHIN_S = 2.0


class Greeting:
    """One handshake, from ``now_s`` on."""

    def __init__(self, now_s: float) -> None:
        self._ends_s = now_s + WELCOME_WITHIN_S
        self._due_s = now_s
        self._said_s: float | None = None
        self._said = 0

    @property
    def due_s(self) -> float:
        """When HELLO is due, or giving up."""
        return min(self._due_s, self._ends_s)

    def is_in_vain(self, now_s: float) -> bool:
        """Whether it was tried for long enough."""
        return now_s >= self._ends_s

    def is_due(self, now_s: float) -> bool:
        """Whether HELLO is to be said now."""
        return now_s >= self._due_s

    def hello(self, now_s: float) -> Hello:
        """Give the HELLO to say now."""
        self._said_s = now_s
        self._due_s = now_s + HELLO_AGAIN_S[min(self._said, len(HELLO_AGAIN_S) - 1)]
        self._said += 1
        return Hello()

    def device_started(self) -> None:
        """Take in that the device has just started, so that it may not have heard the last HELLO."""
        if self._said_s is not None:
            self._due_s = min(self._due_s, self._said_s + HELLO_NOT_SOONER_S)

    def round_trip_s(self, now_s: float) -> float | None:
        """How long the answer took that came now; ``None`` where it isn't clear which HELLO it answers (Karn)."""
        return now_s - self._said_s if self._said == 1 and self._said_s is not None else None
