"""Checks every request before a route handles it, and defines routes that require a role.

A session cookie alone proves little, since browsers send it by themselves. So each request that changes something also
needs the session's CSRF token. Requests caused by another site's page are refused, and so are requests that use another
host name (DNS rebinding).
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool
from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.datastructures import Headers, MutableHeaders, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from common.phrases import Phrase
from frontends.page.access import (
    NOBODY,
    Access,
    AccessPolicy,
    PageSession,
    Role,
)
from frontends.page.connections import Connection


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

    What players and onlookers read is limited by device; a route that ``streams`` needs no turn.
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
        connection: Connection | None = scope["state"].get("connection")
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
