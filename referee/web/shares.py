"""Fair shares of what the page has little of: connections, streams, and turns at reading the journal."""

from __future__ import annotations

import asyncio
import ipaddress
from collections import Counter
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from common.phrases import Phrase
from referee.commands.values import Role

if TYPE_CHECKING:
    from referee.web.access import PageSession

EVENT_STREAM = "text/event-stream"
MOST_VIEWERS = 256
"""Streams open at once; the load of more is not measured."""
VIEWERS_OF_DEVICE = 16
"""Streams of one device; a browser opens six connections, and one device may have several browsers."""
_Holder = TypeVar("_Holder", bound=Hashable)
_NETWORK_BITS = 64
"""An IPv6 host chooses the rest of its address itself, as often as it likes."""


def address_group(host: str) -> str:
    """Return whom an address counts as: an IPv4 address itself, an IPv6 address its /64 network."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((int(address), _NETWORK_BITS), strict=False))


class Places(Generic[_Holder]):
    """A number of places, held in groups. Whoever comes when all are taken displaces somebody; nobody is refused.

    The displaced one is the oldest of the same group if that has its share, else the oldest of the largest group. So a
    group that holds few places keeps them, however many others come.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._groups: dict[str, dict[_Holder, None]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def take(self, holder: _Holder, group: str, share: int) -> _Holder | None:
        """Give a place to a holder that has none; returns the holder that has lost its place for it."""
        held = self._groups.get(group, {})
        displaced, of = None, group
        if len(held) >= share or self._count >= self._most:
            if len(held) < share:
                of = max(self._groups, key=lambda each: len(self._groups[each]))
            displaced = next(iter(self._groups[of]))
            self.leave(displaced, of)
        self._groups.setdefault(group, {})[holder] = None
        self._count += 1
        return displaced

    def leave(self, holder: _Holder, group: str) -> None:
        """Give a place back; nothing happens if the holder has lost it already."""
        held = self._groups.get(group, {})
        if holder in held:
            del held[holder]
            self._count -= 1
        if not held:
            self._groups.pop(group, None)


class Turns:
    """Lets so many work at once, in all and by device; the others wait for their turn."""

    def __init__(self, most: int, share: int) -> None:
        self._share = share
        self._all = asyncio.Semaphore(most)
        self._devices: dict[str, asyncio.Semaphore] = {}
        self._here: Counter[str] = Counter()

    @asynccontextmanager
    async def turn(self, device: str) -> AsyncIterator[None]:
        """Wait for a turn, and hold it inside the context."""
        own = self._devices.setdefault(device, asyncio.Semaphore(self._share))
        self._here[device] += 1
        try:
            async with own, self._all:
                yield
        finally:
            self._here[device] -= 1
            if not self._here[device]:
                del self._here[device], self._devices[device]


class Viewers:
    """Counts the streams that are open, in all and by device."""

    def __init__(self) -> None:
        self._open: Counter[str] = Counter()

    def stream(self, session: PageSession, changes: AsyncIterator[bytes]) -> Response:
        """Return a response that streams changes; raises HTTPException if too many are open.

        An owner gets one however many others look, and this machine, where everybody is the owner, has no share.
        """
        if not session.is_everybody and self._open[session.id] >= VIEWERS_OF_DEVICE:
            raise HTTPException(
                429,
                Phrase(
                    "This device looks {viewers_of_device} times already. Close one of its screens.", VIEWERS_OF_DEVICE
                ),
            )
        is_bound = session.is_everybody or session.role < Role.OWN
        if is_bound and self._open.total() >= MOST_VIEWERS:
            raise HTTPException(
                503, Phrase("{most_viewers} screens are looking already. Close one of them.", MOST_VIEWERS)
            )
        self._open[session.id] += 1
        return _ViewersStream(changes, partial(self._end, session.id))

    def _end(self, device: str) -> None:
        self._open[device] -= 1
        if not self._open[device]:
            del self._open[device]


class _ViewersStream(StreamingResponse):
    """A stream that says when it has ended, even if it ended before its first part."""

    def __init__(self, changes: AsyncIterator[bytes], ended: Callable[[], None]) -> None:
        super().__init__(changes, media_type=EVENT_STREAM)
        self._ended = ended

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._ended()
