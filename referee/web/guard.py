"""Checks every request before a route handles it, and defines routes that require a role.

A session cookie alone proves little, since browsers send it by themselves. So each request that changes something also
needs the session's CSRF token. Requests caused by another site's page are refused, and so are requests that use another
host name (DNS rebinding). The routes of the API declare their input and output, for its OpenAPI description.

Connections are bounded, so that somebody without a code can take neither files nor places from others. A connection
counts for its address until a request on it proves a paired device. One too many displaces the oldest of the address or
device that holds the most. A connection that does not send a whole request in time is closed. Neither gets an answer.
"""

import asyncio
import re
import resource
import socket
import ssl
from asyncio import BaseTransport, TimerHandle, Transport
from asyncio.sslproto import SSLProtocol
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Self, cast
from urllib.parse import parse_qs

import uvicorn
from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import models_json_schema
from starlette.concurrency import run_in_threadpool
from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.datastructures import Headers, MutableHeaders, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from common.phrases import Phrase
from referee.web.access import (
    EVENT_STREAM,
    NOBODY,
    Access,
    AccessPolicy,
    PageSession,
    Places,
    RateLimit,
    RateLimiter,
    Role,
    address_group,
)
from referee.web.devices import MOST_DEVICES
from referee.web.documents import RefusalDocument

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
        self.doors = [door]
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
        self.hold()
        self._limit(self._bounds.limits.head_s)

    def hold(self) -> None:
        """Take a place as a stranger's connection."""
        client = self.transport.get_extra_info("peername")
        self._address = address_group(client[0] if client else "")
        self._take_place(Role.NOBODY, self._address, self._bounds.limits.of_address)

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the place back."""
        self.unlimit()
        self.leave()
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
        if session.is_paired and self.client:
            for door in self._bounds.doors:
                door.trust(self.client[0])
        if not session.is_paired:
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
        self.leave()
        displaced = places.take(self, group, share)
        self._held = (places, group)
        if displaced is not None:
            displaced._held = None
            displaced.transport.abort()

    def leave(self) -> None:
        """Give the place back."""
        if self._held is not None:
            places, group = self._held
            places.leave(self, group)
            self._held = None


class EncryptedConnection(SSLProtocol):
    """A connection by TLS, which has a place from its beginning: a handshake that never ends takes none from others."""

    def __init__(self, connection: BoundedConnection, context: ssl.SSLContext, head_s: float) -> None:
        loop = asyncio.get_running_loop()
        # Nobody waits for the handshake, and its time limit may be a fraction, which the types don't know.
        limit: Any = head_s
        nobody: Any = None
        super().__init__(loop, connection, context, nobody, server_side=True, ssl_handshake_timeout=limit)
        self._connection = connection

    def connection_made(self, transport: BaseTransport) -> None:
        """Take a place, and shake hands."""
        self._connection.transport = cast("Transport", transport)
        self._connection.hold()
        super().connection_made(transport)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Give the place back, also if no handshake was completed."""
        super().connection_lost(exc)
        self._connection.leave()


@dataclass(frozen=True)
class Upload:
    """A body that may be sent: how long it is at most, and how long, in seconds, it may take to arrive.

    More than the usual may only be sent by an owner's device, or one that films if it is ``by_camera``. Of those that
    are ``is_alone``, one at a time is handled.
    """

    most_bytes: int
    time_s: float
    by_camera: bool = False
    is_alone: bool = False


MOST_BODY_BYTES = 64 * 1024
BODY = Upload(MOST_BODY_BYTES, 10.0)
"""The usual body: a form, or a command."""
MOST_PHOTO_BYTES = 16 * 1024 * 1024
"""The largest photo, more than a phone's."""
PHOTO_S = 60.0
_MOST_UPLOADS = 4
"""How many large bodies of cameras are read at once, one of each device. More: more memory, fewer that wait for slow
ones.
"""
PERMISSIONS = "Permissions-Policy"
CSRF_HEADER, CSRF_FIELD = "x-csrf-token", "csrf"
_MOST_FIELDS, _MOST_FILES = 1000, 2
"""The most fields of a form; the largest of ours has one for each square."""
NO_UPLOADS: Mapping[str, Upload] = MappingProxyType({})
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
HEADERS: Mapping[str, str] = MappingProxyType(
    {
        "Content-Security-Policy": (
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self'; "
            "font-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; "
            "base-uri 'none'; frame-src 'self'; frame-ancestors 'self'"
        ),
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        PERMISSIONS: "camera=(), microphone=(), geolocation=()",
        # With no-referrer, browsers would send forms with the origin "null".
        "Referrer-Policy": "same-origin",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "SAMEORIGIN",
    }
)


class _NumberConvertor(IntegerConvertor):
    regex = "[0-9]{1,18}"


register_url_convertor("number", _NumberConvertor())
"""The type ``number`` of a route's parameters: an integer that SQLite can store."""


class Guarded(Route):
    """A route that requires a role, or a device that ``films``. An unsafe method also needs a CSRF token, except on a
    ``by_code`` route.

    What players and onlookers read is limited by device, except the time that a route that ``streams`` takes.
    """

    def __init__(
        self,
        path: str,
        endpoint: Callable[..., Any],
        role: Role,
        *,
        methods: Iterable[str] = ("GET",),
        by_code: bool = False,
        streams: bool = False,
        name: str | None = None,
        films: bool = False,
    ) -> None:
        super().__init__(path, endpoint, methods=list(methods), name=name)
        self.role = role
        self.films = films
        self.by_code = by_code
        self.streams = streams

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request; raises HTTPException if the session lacks the role or the CSRF token."""
        access, session = scope["state"]["access"], scope["state"]["session"]
        if session.role < self.role or (self.films and not session.films):
            if not session.is_paired:
                raise HTTPException(401, Phrase("This device is not paired with the referee yet."))
            # Roles aren't named: a hall's viewers have the one that plays at a table.
            raise HTTPException(403, Phrase("This device may not do that. Pair it with a code that allows it."))
        if scope["method"] not in _SAFE and not self.by_code:
            request = Request(scope, receive)
            access.check_csrf(session, await _csrf_in(request))
            receive = _replayed(await request.body(), receive)
        if not session.is_paired or session.role is Role.OWN or scope["method"] not in _SAFE:
            await super().handle(scope, receive, send)
            return
        access.count_read(session)
        if self.streams:
            connection: BoundedConnection | None = scope["state"].get("connection")
            if connection is not None:
                connection.unlimit()
            await super().handle(scope, receive, send)
            return
        async with access.reading.turn(session.id):
            # Nothing is worked out for a client that went while it waited.
            if not await Request(scope, receive).is_disconnected():
                await super().handle(scope, receive, send)


async def _csrf_in(request: Request) -> str:
    if CSRF_HEADER in request.headers:
        return request.headers[CSRF_HEADER]
    fields = await form_fields(request) or (await form_with_files(request))[0]
    return fields.get(CSRF_FIELD, [""])[0]


async def form_fields(request: Request) -> dict[str, list[str]]:
    """Return the fields of a URL-encoded form; empty for any other content type."""
    if not request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        return {}
    body = (await request.body()).decode("utf-8", "replace")
    try:
        return parse_qs(body, keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError as error:
        raise HTTPException(400, Phrase("The form has too many fields.")) from error


def number_in(text: str, most_digits: int) -> int | None:
    """Read a whole number from a form or a query; ``None`` for any other text and for a longer number."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= most_digits else None


async def form_with_files(request: Request) -> tuple[dict[str, list[str]], dict[str, bytes]]:
    """Return the fields and the files of a multipart form by name; none for any other content type."""
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        return {}, {}
    fields: dict[str, list[str]] = {}
    files: dict[str, bytes] = {}
    # Starlette keeps the body once it is read, so the route can read it again.
    await request.body()
    try:
        async with request.form(max_files=_MOST_FILES, max_fields=_MOST_FIELDS) as form:
            for name, value in form.multi_items():
                if isinstance(value, UploadFile):
                    files[name] = await value.read()
                else:
                    fields.setdefault(name, []).append(value)
    except UnicodeError as error:
        raise HTTPException(400, Phrase("The form's text can't be read. Send it again from its page.")) from error
    return fields, files


Refuse = Callable[[Request, HTTPException], Response]
"""Builds the response that tells a person why a request was refused."""


class Guard:
    """Middleware that refuses foreign requests, limits body sizes, reads sessions, and adds security headers.

    ``uploads`` maps paths to the larger bodies that may be sent there.
    """

    def __init__(
        self, app: ASGIApp, access: Access, refuse: Refuse, uploads: Mapping[str, Upload] = NO_UPLOADS
    ) -> None:
        self._app = app
        self._access = access
        self._refuse = refuse
        self._uploads = uploads
        # The owner waits for no other device's large body.
        self._uploading = {True: asyncio.Semaphore(1), False: asyncio.Semaphore(_MOST_UPLOADS)}
        self._handling = {is_owners: asyncio.Semaphore(1) for is_owners in (False, True)}
        self._sending = set[tuple[str, str]]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            # Besides HTTP, only lifespan messages are passed on; there are no web sockets.
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        scope.setdefault("state", {}).update(access=self._access, session=NOBODY)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                add_security_headers(MutableHeaders(scope=message))
            await send(message)

        session = self._access.session_of(headers)
        connection: BoundedConnection | None = scope["state"].get("connection")
        if connection is not None:
            connection.belongs_to(session)
        if not session.is_paired and not self._access.hears_stranger((scope.get("client") or ("",))[0]):
            await Response(status_code=429)(scope, receive, send_with_headers)
            return
        upload = self._uploads.get(scope["path"], BODY)
        if not (session.films if upload.by_camera else session.role is Role.OWN):
            upload = BODY
        is_owners = session.role is Role.OWN
        # So few large bodies are in memory; the others are not read yet. A slow one holds up no other device's.
        async with self._uploading[is_owners] if upload.is_alone else nullcontext():
            try:
                refuse_strangers(self._access.policy, headers)
                if scope["method"] not in _SAFE:
                    receive = _replayed(await self._body(Request(scope, receive), upload, session), receive)
            except HTTPException as error:
                await self._refuse(Request(scope), error)(scope, receive, send_with_headers)
                return
            except ClientDisconnect:
                return
            scope["state"]["session"] = session
            async with self._handling[is_owners] if upload.is_alone else nullcontext():
                await self._app(scope, receive, send_with_headers)
        await save_seen_times_if_due(self._access)

    async def _body(self, request: Request, upload: Upload, session: PageSession) -> bytes:
        """Read a request's body; a camera sends one at a time."""
        if not upload.by_camera:
            return await _whole_body(request, upload)
        sender = session.id, request.url.path
        if sender in self._sending:
            raise HTTPException(429, Phrase("Too many pictures at once. Wait a moment."))
        self._sending.add(sender)
        try:
            return await _whole_body(request, upload)
        finally:
            self._sending.remove(sender)


def add_security_headers(headers: MutableHeaders) -> None:
    """Add the security headers to a response's; only a response that says so may be cached, or use the camera."""
    permissions = headers.get(PERMISSIONS, HEADERS[PERMISSIONS])
    headers.update({**HEADERS, PERMISSIONS: permissions})
    headers.setdefault("Cache-Control", "no-store")


def refuse_strangers(policy: AccessPolicy, headers: Headers) -> None:
    """Raise HTTPException for a request to an unknown host name, or one caused by another site's page."""
    host = headers.get("host", "")
    if not policy.knows(host):
        raise HTTPException(
            421, Phrase("There is no page {host!r} here. Open the address that the referee shows.", host[:80])
        )
    origin = headers.get("origin")
    own = (f"http://{host}", f"https://{host}")
    # Without an Origin header, Sec-Fetch-Site shows where a request came from. Links from other sites are harmless.
    site, mode = headers.get("sec-fetch-site", "none"), headers.get("sec-fetch-mode", "")
    is_foreign = site in {"cross-site", "same-site"} and mode != "navigate"
    if is_foreign or (origin is not None and origin not in own):
        raise HTTPException(403, Phrase("Another site's page asked for this. Only the referee's own page may."))


async def save_seen_times_if_due(access: Access) -> None:
    """Save from time to time when devices were seen."""
    if access.devices.is_due:
        await run_in_threadpool(access.devices.save_seen_times)


async def _whole_body(request: Request, upload: Upload) -> bytes:
    most_bytes = upload.most_bytes
    too_long = HTTPException(413, Phrase("That is too long: more than {most_kb} kB.", most_bytes // 1024))
    announced = request.headers.get("content-length", "0")
    if announced.isdigit() and int(announced) > most_bytes:
        raise too_long
    body = bytearray()
    try:
        async with asyncio.timeout(upload.time_s):
            async for part in request.stream():
                body += part
                if len(body) > most_bytes:
                    raise too_long
    except TimeoutError as error:
        raise HTTPException(408, Phrase("The request was cut off. Try again.")) from error
    return bytes(body)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a receive function that delivers an already read body again."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return left.pop() if left else await receive()

    return again


_SCHEMAS = "#/components/schemas/{model}"
_PATH_PART = re.compile(r"\{(\w+)(?::\w+)?\}")


@dataclass(frozen=True)
class Endpoint:
    """A route of the API.

    ``gives`` is the response's model, or its media type if it isn't JSON. ``query`` describes optional integer
    parameters, ``texts`` optional text parameters. ``takes`` validates the body of a POST. ``by_code`` marks a route
    that needs a pairing code instead of a session. ``whom`` says who may use a route if that depends on the body.
    """

    path: str
    answer: Callable[..., Any]
    role: Role
    summary: str
    gives: type[BaseModel] | str
    query: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    takes: TypeAdapter[Any] | None = None
    by_code: bool = False
    whom: str = ""

    @property
    def method(self) -> str:
        """POST if the endpoint takes a body, else GET."""
        return "GET" if self.takes is None else "POST"

    @property
    def route(self) -> Guarded:
        """The Starlette route."""
        return Guarded(
            self.path,
            self.answer,
            self.role,
            methods=[self.method],
            by_code=self.by_code,
            streams=self.gives == EVENT_STREAM,
        )


def openapi(endpoints: Iterable[Endpoint]) -> dict[str, Any]:
    """Describe endpoints as an OpenAPI 3.1 document."""
    listed = list(endpoints)
    models = {each.gives: None for each in listed if isinstance(each.gives, type)} | {RefusalDocument: None}
    _, definitions = models_json_schema([(model, "serialization") for model in models], ref_template=_SCHEMAS)
    schemas: dict[str, Any] = dict(definitions.get("$defs", {}))
    paths: dict[str, Any] = {}
    for each in listed:
        if each.takes is not None:
            schemas |= each.takes.json_schema(ref_template=_SCHEMAS).get("$defs", {})
        path = _PATH_PART.sub(r"{\1}", each.path)
        paths.setdefault(path, {})[each.method.lower()] = _operation(each)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Tabletop Referee", "version": "1", "description": "The table, live, and commands to it."},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    parameters: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "integer" if kind == "number" else "string"}}
        for name, kind in re.findall(r"\{(\w+)(?::(\w+))?\}", endpoint.path)
    ]
    parameters += [
        {"name": name, "in": "query", "description": said, "schema": schema}
        for named, schema in ((endpoint.query, {"type": "integer", "minimum": 0}), (endpoint.texts, {"type": "string"}))
        for name, said in named.items()
    ]
    whom = f"For devices paired to {endpoint.role.name.lower()}." if endpoint.role else "For everybody."
    operation: dict[str, Any] = {
        "summary": endpoint.summary,
        "description": endpoint.whom or whom,
        "parameters": parameters,
        "responses": {
            "200": {"description": "Done.", "content": _content(endpoint.gives)},
            "default": {"description": "Refused, and why.", "content": _content(RefusalDocument)},
        },
    }
    if endpoint.takes is not None:
        schema = endpoint.takes.json_schema(ref_template=_SCHEMAS)
        schema.pop("$defs", None)
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
        if endpoint.by_code:
            operation["security"] = []
        else:
            said = "The session's token, for a browser with a cookie; a bearer needs none."
            parameters.append({"name": CSRF_HEADER, "in": "header", "description": said, "schema": {"type": "string"}})
    return operation


def _content(gives: type[BaseModel] | str) -> dict[str, Any]:
    if isinstance(gives, str):
        return {gives: {"schema": {"type": "string"}}}
    return {"application/json": {"schema": {"$ref": _SCHEMAS.format(model=gives.__name__)}}}
