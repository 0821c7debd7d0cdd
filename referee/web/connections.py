"""Bounds the page's connections, so that somebody without a code can take neither files nor places from others.

A connection counts for its address until a request on it proves a paired device. One too many displaces the oldest of
the address or device that holds the most. A connection that does not send a whole request in time is closed. Neither
gets an answer.
"""

import asyncio
import resource
import socket
from asyncio import TimerHandle, Transport
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, cast

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from referee.web.access import NOBODY, PageSession, Places, RateLimit, RateLimiter, Role, address_group
from referee.web.devices import MOST_DEVICES

RESERVED_FILES = 224
"""Files left to the referee: about 20 for camera, journal and sockets, 3 for each of 40 threads that read a journal."""
ACCEPTED_AT_ONCE = 16
"""Connections accepted before the page's thread does anything else.

Each takes about three rounds to be counted and heard, so one with a good request is never displaced before it is read.
"""
_UNCOUNTED = 4 * ACCEPTED_AT_ONCE
_COMING = RateLimit(64, 4)
"""New connections of an address without a paired device: a page's, a few times; then what a person needs."""
_CLOSED_AT_ONCE = 64
"""Unwelcome connections closed before the page's thread does anything else; a millisecond's work."""
_KEEP_ALIVE_S = 5
"""How long, in seconds, an idle connection stays open for the page's next request."""
_UNHEARD_MS = 60_000
"""The time after which a connection ends whose other side confirms nothing: a phone that has left the network, perhaps.

Live updates send something every 15 s. By Linux's own limit, one keeps its place for 15 minutes.
"""


@dataclass(frozen=True)
class ConnectionLimits:
    """How many connections may be open: without a paired device, of players and onlookers, and of owners.

    ``of_address`` and ``of_device`` are shares of the first and of the others. A request's head has to come within
    ``head_s``; if it is not the owner's, it has to be answered, and the answer read, within ``whole_s``.
    """

    strangers: int = 128
    others: int = 304
    owners: int = 304
    of_address: int = 64
    of_device: int = 32
    head_s: float = 10.0
    whole_s: float = 60.0

    @classmethod
    def within(cls, files: int) -> Self:
        """Return the limits for a process that may open so many files."""
        whole = cls()
        if files == resource.RLIM_INFINITY:
            return whole
        free = files - min(RESERVED_FILES, files // 2) - _UNCOUNTED
        part = min(1.0, max(0, free) / (whole.strangers + whole.others + whole.owners))

        def reduced(most: int) -> int:
            return max(1, int(part * most))

        return cls(reduced(whole.strangers), reduced(whole.others), reduced(whole.owners))


class Door(socket.socket):
    """A listening socket that closes what comes too often from one address, before it costs more than that.

    An address is ``trusted`` for as long as it is one of the last from which a paired device asked.
    """

    def __init__(self, listening: socket.socket, clock: Callable[[], float]) -> None:
        super().__init__(listening.family, listening.type, listening.proto, fileno=listening.detach())
        # What it accepts inherits this.
        self.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _UNHEARD_MS)
        self._coming = RateLimiter(_COMING, clock)
        self._trusted: OrderedDict[str, None] = OrderedDict()

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept the next welcome connection; raises OSError, also if many others wait before it."""
        for _ in range(_CLOSED_AT_ONCE):
            connection, address = super().accept()
            if address[0] in self._trusted or self._coming.take(address[0]):
                return connection, address
            connection.close()
        raise BlockingIOError

    def trust(self, host: str) -> None:
        """Note that a paired device asked from an address."""
        self._trusted[host] = None
        self._trusted.move_to_end(host)
        if len(self._trusted) > MOST_DEVICES:
            self._trusted.popitem(last=False)


class PageConfig(uvicorn.Config):
    """The server's settings, and the places of its connections."""

    def __init__(self, app: ASGIApp, door: Door, limits: ConnectionLimits, grace_s: int) -> None:
        super().__init__(
            app,
            http=BoundedConnection,
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            server_header=False,
            proxy_headers=False,
            backlog=ACCEPTED_AT_ONCE,
            timeout_keep_alive=_KEEP_ALIVE_S,
            timeout_graceful_shutdown=grace_s,
        )
        self.door = door
        self.limits = limits
        self.places = {
            Role.NOBODY: Places[BoundedConnection](limits.strangers),
            Role.PLAY: Places[BoundedConnection](limits.others),
            Role.OWN: Places[BoundedConnection](limits.owners),
        }


class BoundedConnection(H11Protocol):
    """A connection that has a place for as long as it keeps its times. Requests find it in their ASGI state."""

    def __init__(
        self,
        config: uvicorn.Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, {**app_state, "connection": self}, _loop)
        self._bounds = cast("PageConfig", config)
        self._address = ""
        self._held: tuple[Places[BoundedConnection], str] | None = None
        self._timer: TimerHandle | None = None
        self._timed: object = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Take a place, and wait for a request."""
        super().connection_made(transport)
        self._address = address_group(self.client[0] if self.client else "")
        self.belongs_to(NOBODY)
        self._limit(self._bounds.limits.head_s)

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the place back."""
        self.unlimit()
        self._leave_place()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Handle what was received; a request that has begun limits the time until its answer is read."""
        super().handle_events()
        if self.cycle is not self._timed:
            self._timed = self.cycle
            self._limit(self._bounds.limits.whole_s)

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._limit(self._bounds.limits.head_s)
        super().on_response_complete()

    def belongs_to(self, session: PageSession) -> None:
        """Note whose request came last: the connection now counts for that device. The owner's have any time."""
        limits = self._bounds.limits
        if session.role is not Role.NOBODY and self.client:
            self._bounds.door.trust(self.client[0])
        if session.role is Role.NOBODY:
            self._take_place(Role.NOBODY, self._address, limits.of_address)
        elif session.role < Role.OWN:
            self._take_place(Role.PLAY, session.id, limits.of_device)
        else:
            self._take_place(Role.OWN, session.id, limits.owners if session.is_everybody else limits.of_device)
            self.unlimit()

    def unlimit(self) -> None:
        """Let the request take any time."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _limit(self, time_s: float) -> None:
        self.unlimit()
        self._timer = self.loop.call_later(time_s, self.transport.abort)

    def _take_place(self, kind: Role, group: str, share: int) -> None:
        places = self._bounds.places[kind]
        if self._held == (places, group) or self.transport.is_closing():
            return
        self._leave_place()
        displaced = places.take(self, group, share)
        self._held = (places, group)
        if displaced is not None:
            displaced._held = None
            displaced.transport.abort()

    def _leave_place(self) -> None:
        if self._held is not None:
            places, group = self._held
            places.leave(self, group)
            self._held = None
