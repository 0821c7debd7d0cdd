"""Access to the page: codes that pair a device, sessions with a role, and fair shares of what it has little of.

A session is a signed cookie, or the same token in an ``Authorization: Bearer`` header for programs. Streams and turns
at reading the journal are shared.
"""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import secrets
import stat
import string
import threading
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from itsdangerous import BadSignature, URLSafeSerializer
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import cookie_parser
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from common.durable import write_durably
from common.phrases import Phrase, as_sentence
from engine.values import Player
from frontends.page.devices import Claim, Device, PairedDevices
from referee.commands.values import Role as Role  # noqa: PLC0414 - re-exported
from referee.errors import DevicesBusyError, DevicesFullError, PageError

EVENT_STREAM = "text/event-stream"
MOST_VIEWERS = 256
"""Streams open at once; the load of more is not measured."""
VIEWERS_OF_DEVICE = 16
"""Streams of one device; a browser opens six connections, and one device may have several browsers."""
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


_KEY_BYTES = 32
_CODE_DIGITS = 8
_OTHERS_MAY = 0o077
"""The length of the signing key and of a code; the file modes that the key's file must not have."""
_LOCAL_NAMES = frozenset({"localhost"})
_LOCAL_ENDINGS = ("", ".local", ".lan", ".home.arpa", ".internal")
"""The suffixes that home networks append to a machine's name. Nobody can register a public name with one of them."""


@dataclass(frozen=True)
class PageSession:
    """A paired device, or the browser on this machine; ``name`` is the person's name for the journal.

    ``player`` is the player of the current game whose device it is, ``None`` if it is everybody's. ``csrf`` proves that
    a request came from one of our pages. A bearer session needs no such proof. One that ``films`` may be the
    camera, a power of its own beside the role.
    """

    id: str
    role: Role
    name: str = ""
    csrf: str = ""
    is_bearer: bool = False
    player: Player | None = None
    films: bool = False

    @property
    def is_paired(self) -> bool:
        """Whether this is a paired device, or the browser on this machine; a camera is one without a role."""
        return bool(self.id)

    @property
    def speaks_for(self) -> Player | None:
        """The only player for whom the device may speak; ``None`` if it may speak for all, as an owner's may."""
        return self.player if self.role < Role.OWN else None

    @property
    def is_everybody(self) -> bool:
        """Whether this is the session of all who can connect: the page is open to this machine only."""
        return self.id == _AT_THE_MACHINE


_AT_THE_MACHINE = "machine"
NOBODY = PageSession("", Role.NOBODY)


@dataclass(frozen=True)
class RateLimit:
    """A rate limit: ``burst`` times at once, then ``per_s`` times a second."""

    burst: float
    per_s: float


PAIRING_FROM_ONE, PAIRING_FROM_ALL = RateLimit(5, 1 / 12), RateLimit(30, 1 / 60)
"""Attempts at a pairing code: from one address, and from all that have used up their free failures."""
FREE_FAILURES, ALL_FREE_FAILURES = 5, 10_000
"""Wrong codes that an address may try whatever others do, and how many such tries there are in all until a restart.

With four codes among a hundred million, the chance to guess one is 1 in 2,500 by the free tries, and 1 in 17,000 for
each day of the others.
"""
FRAMES = RateLimit(15, 15)
"""The limit on a camera's pictures; it is asked for six a second."""
COMMANDS = RateLimit(20, 4)
"""The limit on one session's commands: more than a person can tap."""
READS = RateLimit(120, 10)
"""The limit on what one device reads: a page with its pictures at once, then camera and replay at full speed."""
STRANGERS = RateLimit(120, 10)
"""The limit on the requests of one address without a paired device: the pairing page with its files, a few times."""
_READS_AT_ONCE, _READS_OF_DEVICE = 16, 2
"""Reading requests worked on at once, in all and by device; the owner's need no turn. The server has 40 threads."""
_MOST_KEYS = 1000
"""Addresses and devices whose limits are kept; the oldest is forgotten first."""
_NOT_KEPT = Phrase("The referee can't keep this device on its disk. The owner's `./run doctor` says why.")


class RateLimiter:
    """Applies a rate limit to each key (a token bucket). ``clock`` returns monotonic seconds."""

    def __init__(self, limit: RateLimit, clock: Callable[[], float]) -> None:
        self._limit = limit
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str = "") -> bool:
        """Count one attempt; returns whether it is allowed."""
        now_s = self._clock()
        left, since_s = self._left.pop(key, (self._limit.burst, now_s))
        left = min(self._limit.burst, left + (now_s - since_s) * self._limit.per_s)
        allowed = left >= 1
        self._left[key] = (left - allowed, now_s)
        if len(self._left) > _MOST_KEYS:
            self._left.popitem(last=False)
        return allowed


@dataclass(frozen=True)
class AccessPolicy:
    """Who may connect: ``names`` are the host names a browser may use, ``codes`` pair devices.

    Without ``codes``, only this machine can connect, and the person at it owns the table under the name ``owner``.
    ``camera_code`` pairs a device that may only be the camera, or lets a paired one be it; empty if the camera is none.
    """

    names: frozenset[str] = _LOCAL_NAMES
    codes: Mapping[Role, str] = field(default_factory=dict)
    owner: str = "owner"
    camera_code: str = ""

    @property
    def is_open(self) -> bool:
        """Whether other machines may connect."""
        return bool(self.codes)

    def knows(self, host: str) -> bool:
        """Whether a ``Host`` header is acceptable. Names are checked because of DNS rebinding; addresses are safe."""
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
        try:
            address = ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            # Whoever answers the network's DNS chooses where its other names lead, also to this machine.
            return name.lower().removesuffix(".") in (self.names if self.is_open else _LOCAL_NAMES)
        return self.is_open or address.is_loopback


def host_names_of(machine: str) -> frozenset[str]:
    """Return the host names this machine may have in a home network."""
    name = machine.lower().partition(".")[0]
    return _LOCAL_NAMES | {name + ending for ending in _LOCAL_ENDINGS if name}


def new_codes(roles: Iterable[Role], below: Callable[[int], int]) -> dict[Role, str]:
    """Generate a pairing code for each role; ``below(n)`` draws a random number below ``n``."""
    return {role: new_code(below) for role in roles}


def new_code(below: Callable[[int], int]) -> str:
    """Generate a pairing code; ``below(n)`` draws a random number below ``n``."""
    return f"{below(10**_CODE_DIGITS):0{_CODE_DIGITS}d}"


def load_or_make_key(path: Path | None) -> bytes:
    """Return the key that signs sessions. A new key is made if there is none, or if other users could read it.

    Raises OSError if it can't be saved.
    """
    if path is not None and path.is_file():
        with path.open("rb") as file:
            kept = file.read(_KEY_BYTES + 1)
        if stat.S_IMODE(path.stat().st_mode) & _OTHERS_MAY == 0 and len(kept) == _KEY_BYTES:
            return kept
    key = secrets.token_bytes(_KEY_BYTES)
    if path is not None:
        write_durably(path, key, private=True)
    return key


class Access:
    """Creates and checks sessions. ``now_s`` returns seconds since 1970, ``clock`` monotonic seconds.

    A session ends when its device is unpaired, at the latest after ``PAIRED_S``. ``devices`` holds each device's role.
    ``player_of`` returns the player of the current game to whom a claim belongs.
    """

    def __init__(
        self,
        policy: AccessPolicy,
        key: bytes,
        now_s: Callable[[], float],
        clock: Callable[[], float],
        devices: PairedDevices | None = None,
    ) -> None:
        self.policy = policy
        self.devices = devices or PairedDevices(None, now_s)
        self.cookie = f"referee-{hashlib.sha256(key).hexdigest()[:8]}"
        # Cookies don't know ports, and a browser lets no plain page replace a cookie of an encrypted one.
        self.encrypted_cookie = f"{self.cookie}-encrypted"
        self._tokens = URLSafeSerializer(key, salt="session")
        self._csrf = URLSafeSerializer(key, salt="csrf")
        self._tries = RateLimiter(PAIRING_FROM_ONE, clock)
        self._all_tries = RateLimiter(PAIRING_FROM_ALL, clock)
        self._failures: Counter[str] = Counter()
        self._guessing = threading.Lock()
        self._commands = RateLimiter(COMMANDS, clock)
        self._frames = RateLimiter(FRAMES, clock)
        self._reads = RateLimiter(READS, clock)
        self._strangers = RateLimiter(STRANGERS, clock)
        self.reading = Turns(_READS_AT_ONCE, _READS_OF_DEVICE)
        self.player_of: Callable[[Claim], Player | None] = lambda _: None

    def session_of(self, headers: Headers) -> PageSession:
        """Return a request's session; without one, ``NOBODY``, or the owner if only this machine can connect."""
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return self._read(bearer.strip(), is_bearer=True) or NOBODY
        cookies = cookie_parser(headers.get("cookie", ""))
        for name in (self.encrypted_cookie, self.cookie):
            if (known := self._read(cookies.get(name, ""))) is not None:
                return known
        return NOBODY if self.policy.is_open else self._session(self._at_the_machine)

    def pair(
        self, code: str, name: str, wanted: Role, client: str, before: PageSession = NOBODY
    ) -> tuple[PageSession, str]:
        """Pair a device and return its session and token. ``wanted`` may be a lesser role than the code allows.

        The camera's code lets the device of the session ``before``, if it is paired, film as well.
        Raises HTTPException for a wrong code, for too many attempts, if only this machine can connect, and if the
        device can't be saved.
        """
        if not self.policy.is_open:
            raise HTTPException(403, Phrase("Only this machine can open the page, so no device needs pairing."))
        origin = address_group(client)
        with self._guessing:
            allowed = self._role_of_code(code, origin)
        with _keeping_devices():
            # The camera's code gives no role.
            known = self.devices.let_film(before.id) if allowed is Role.NOBODY and before.is_paired else None
            if known is not None:
                device = replace(known, films=True)
            else:
                device = self.devices.add(name, min(allowed, wanted), films=allowed is Role.NOBODY)
        return self._begin(device, origin)

    def _role_of_code(self, code: str, origin: str) -> Role:
        """Count a try, and return the role that the code gives, ``NOBODY`` for the camera's; raises HTTPException."""
        is_free = self._failures[origin] < FREE_FAILURES and self._failures.total() < ALL_FREE_FAILURES
        if not (self._tries.take(origin) and (is_free or self._all_tries.take())):
            raise HTTPException(429, Phrase("Too many tries. Wait a minute, then type the code again."))
        digits = "".join(character for character in code if character in string.digits)
        for role, right in self.policy.codes.items():
            if secrets.compare_digest(digits, right):
                return role
        if self.policy.camera_code and secrets.compare_digest(digits, self.policy.camera_code):
            return Role.NOBODY
        if is_free:
            self._failures[origin] += 1
        raise HTTPException(403, Phrase("That is not the code. The referee's terminal shows it."))

    def _begin(self, device: Device, origin: str) -> tuple[PageSession, str]:
        with self._guessing:
            self._failures.pop(origin, None)
        return self._session(device), str(self._tokens.dumps([device.id]))

    def claim(self, session: PageSession, claim: Claim | None) -> tuple[PageSession, str]:
        """Give a session's device to a player, or to everybody; returns its session and token from then on.

        A browser on this machine becomes a device of its own by that: one of the owner's, like the others here. Raises
        HTTPException if that can't be saved.
        """
        device = self._at_the_machine if session.is_everybody else self._find_device(session.id)
        with _keeping_devices():
            if session.is_everybody and claim is not None:
                device = self.devices.add(self.policy.owner, Role.OWN)
            if device is None:
                raise HTTPException(401, Phrase("This device is not paired with the referee yet."))
            self.devices.claim(device.id, claim)
        found = replace(device, claim=claim)
        return self._session(found, is_bearer=session.is_bearer), str(self._tokens.dumps([device.id]))

    def count_read(self, session: PageSession) -> None:
        """Raise HTTPException if a device other than the owner's reads more than a page needs."""
        if session.role < Role.OWN and not self._reads.take(session.id):
            raise HTTPException(429, Phrase("Too many requests at once. Wait a moment, then load the page again."))

    def count_frame(self, session: PageSession) -> None:
        """Raise HTTPException if a camera sends more pictures than it was asked for."""
        if not self._frames.take(session.id):
            raise HTTPException(429, Phrase("Too many pictures at once. Wait a moment."))

    def hears_stranger(self, client: str) -> bool:
        """Count a request from an address without a paired device; returns whether it is to be answered."""
        return self._strangers.take(address_group(client))

    def count_command(self, session: PageSession) -> None:
        """Raise HTTPException if a session sends more commands than a person can."""
        if not self._commands.take(session.id):
            raise HTTPException(429, Phrase("Too many commands at once. Wait a moment, then repeat the last one."))

    def check_csrf(self, session: PageSession, token: str) -> None:
        """Raise HTTPException unless the token belongs to the session."""
        if session.is_bearer:
            return
        try:
            named = self._csrf.loads(token)
        except BadSignature:
            named = None
        if named != session.id:
            raise HTTPException(403, Phrase("This page is out of date. Load it again, then repeat what you did."))

    def renewed(self, session: PageSession) -> PageSession | None:
        """Return a session as it is now, ``None`` if its device was unpaired since. A paired one counts as seen."""
        if session.is_everybody:
            return session
        device = self._find_device(session.id)
        if device is None:
            return None
        self.devices.note_seen(device.id)
        return self._session(device, is_bearer=session.is_bearer)

    def _read(self, token: str, *, is_bearer: bool = False) -> PageSession | None:
        try:
            identity, *_ = self._tokens.loads(token)
        except (BadSignature, ValueError):
            return None
        device = self._find_device(identity)
        if device is None:
            return None
        self.devices.note_seen(identity)
        return self._session(device, is_bearer=is_bearer)

    def _find_device(self, identity: str) -> Device | None:
        try:
            return self.devices.find(identity)
        except PageError:
            # If the list can't be read, nobody gets in.
            return None

    @property
    def _at_the_machine(self) -> Device:
        return Device(_AT_THE_MACHINE, self.policy.owner, Role.OWN, 0.0, 0.0)

    def _session(self, device: Device, *, is_bearer: bool = False) -> PageSession:
        plays = device.role >= Role.PLAY
        player = None if device.claim is None or not plays else self.player_of(device.claim)
        csrf = str(self._csrf.dumps(device.id))
        films = device.films or device.role is Role.OWN
        return PageSession(device.id, device.role, device.name, csrf, is_bearer, player, films)


@contextmanager
def _keeping_devices() -> Iterator[None]:
    """Raise HTTPException if the list of devices is full, or can't be written, inside the context."""
    try:
        yield
    except (DevicesFullError, DevicesBusyError) as error:
        raise HTTPException(503, as_sentence(str(error))) from error
    except PageError as error:
        # The reason names a path of this machine.
        raise HTTPException(503, _NOT_KEPT) from error
