"""The page's connections, so that somebody without a code can take neither files nor the page from others.

A connection counts for its address until a request on it proves a paired device, then for that device. One too many
closes the oldest of the same, so the newest is always heard. One without a whole head of a request in time is closed,
too, as is one by TLS of an address that opens them too fast. None of these gets an answer.
"""

from __future__ import annotations

import asyncio
import resource
import ssl
import time
from asyncio import BaseTransport, TimerHandle, Transport
from asyncio.sslproto import SSLProtocol
from typing import Any, cast

from uvicorn.protocols.http.h11_impl import H11Protocol

from frontends.page.access import PageSession, RateLimit, RateLimiter, address_group

HEAD_S = 10.0
"""How long, in seconds, a handshake by TLS or the head of a request may take."""
OF_ONE = 64
"""Connections of one address or device: 16 live updates, and six at once for each of a few screens."""
OF_STRANGERS = 512
"""Connections without a paired device. A newcomer is heard long before as many others have come."""
HANDSHAKES = RateLimit(64, 4)
"""Handshakes by TLS of one address. Each takes 1.6 ms of the referee's time, so 600 a second would fill a core."""
_MOST_FILES = 8192
"""Files that the process may open, where the system allows it: far more than a house's devices need."""
_STRANGERS = "strangers"


def raise_file_limit() -> None:
    """Let this process open more files than the usual 1,024, as far as the system allows it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MOST_FILES if hard == resource.RLIM_INFINITY else min(_MOST_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


class Connections:
    """The open connections, the oldest first in each group that they count for."""

    def __init__(
        self,
        of_one: int = OF_ONE,
        of_strangers: int = OF_STRANGERS,
        head_s: float = HEAD_S,
        handshakes: RateLimit = HANDSHAKES,
    ) -> None:
        self.head_s = head_s
        self.handshakes = RateLimiter(handshakes, time.monotonic)
        self._of_one, self._of_strangers = of_one, of_strangers
        self._groups: dict[str, dict[Connection, None]] = {}

    def add(self, connection: Connection, *groups: str) -> None:
        """Count a connection for these groups alone, and close the oldest of each that is full."""
        self.forget(connection)
        for group in groups:
            members = self._groups.get(group, {})
            if len(members) >= (self._of_strangers if group == _STRANGERS else self._of_one):
                oldest = next(iter(members))
                self.forget(oldest)
                oldest.transport.abort()
        for group in groups:
            self._groups.setdefault(group, {})[connection] = None
        connection.groups = groups

    def forget(self, connection: Connection) -> None:
        """Count a connection no more."""
        for group in connection.groups:
            del self._groups[group][connection]
            if not self._groups[group]:
                del self._groups[group]
        connection.groups = ()


class Connection(H11Protocol):
    """A connection that is counted and has a time for each head. Requests find it in their ASGI state."""

    def __init__(self, all_open: Connections, *, app_state: dict[str, Any], **given: Any) -> None:
        super().__init__(app_state={**app_state, "connection": self}, **given)
        self.groups: tuple[str, ...] = ()
        self.all_open = all_open
        self._timer: TimerHandle | None = None
        self._timed: object = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Count for the address, and wait for a request."""
        super().connection_made(transport)
        self.count_as_stranger()
        self._wait_for_head()

    @property
    def address(self) -> str:
        """The address that it counts for."""
        client = self.transport.get_extra_info("peername")
        return address_group(client[0] if client else "")

    def count_as_stranger(self) -> None:
        """Count for the address."""
        self.all_open.add(self, self.address, _STRANGERS)

    def connection_lost(self, exc: Exception | None) -> None:
        """Count no more."""
        self._stop_waiting()
        self.all_open.forget(self)
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Handle what was received; once a request has begun, nothing is waited for."""
        super().handle_events()
        if self.cycle is not self._timed:
            self._timed = self.cycle
            self._stop_waiting()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._wait_for_head()
        super().on_response_complete()

    def belongs_to(self, session: PageSession) -> None:
        """Note whose request came last. On a page for this machine alone, nobody's are counted."""
        if self.transport.is_closing():
            return
        if not session.is_paired:
            self.count_as_stranger()
        elif session.is_everybody:
            self.all_open.forget(self)
        else:
            self.all_open.add(self, f"device {session.id}")

    def _wait_for_head(self) -> None:
        self._stop_waiting()
        self._timer = self.loop.call_later(self.all_open.head_s, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class EncryptedConnection(SSLProtocol):
    """A connection by TLS, counted from its beginning: one that never shakes hands takes nothing from others."""

    def __init__(self, connection: Connection, context: ssl.SSLContext) -> None:
        # Nobody waits for the handshake, and its time limit may be a fraction, which the types don't know.
        nobody, limit = cast("tuple[Any, Any]", (None, connection.all_open.head_s))
        loop = asyncio.get_running_loop()
        super().__init__(loop, connection, context, nobody, server_side=True, ssl_handshake_timeout=limit)
        self._connection = connection

    def connection_made(self, transport: BaseTransport) -> None:
        """Count for the address, and shake hands."""
        self._connection.transport = cast("Transport", transport)
        self._connection.count_as_stranger()
        if self._connection.all_open.handshakes.take(self._connection.address):
            super().connection_made(transport)
        else:
            self._connection.transport.abort()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Count no more, also if no handshake was completed."""
        super().connection_lost(exc)
        self._connection.all_open.forget(self._connection)
