"""When to send a PING, and what came of it. Pure."""

from __future__ import annotations

from dataclasses import dataclass

PING_AFTER_S = 0.5
"""A PING is sent when nothing was sent for so long ..."""
PING_EVERY_S = 2.0
"""... and so often in any case, for the clock."""

_REMEMBERED = 8
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
        if len(self._waiting) > _REMEMBERED:
            del self._waiting[next(iter(self._waiting))]
        self._sent_s = now_s
        self._ping_due_s = now_s + PING_EVERY_S
        return token

    def pong(self, token: int, device_ms: int, now_s: float) -> PingExchange | None:
        """Give the exchange that this PONG completes; ``None`` for one that nothing asked for."""
        sent_s = self._waiting.pop(token, None)
        return None if sent_s is None else PingExchange(sent_s, now_s, device_ms)
