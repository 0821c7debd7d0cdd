"""The page's server: the application, and the thread that serves it while the session runs."""

import asyncio
import errno
import io
import ipaddress
import logging
import os
import secrets
import socket
import ssl
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import uvicorn
from rich.console import Console
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from common.durable import write_durably
from common.phrases import Phrase, joined
from frontends.page import views
from frontends.page.access import (
    Access,
    AccessPolicy,
    RateLimit,
    RateLimiter,
    Role,
    host_names_of,
    load_or_make_key,
    new_code,
    new_codes,
)
from frontends.page.api import Api, PageServices
from frontends.page.camera import UPLOADS, CameraPage
from frontends.page.connections import Connection, Connections, EncryptedConnection, raise_file_limit
from frontends.page.devices import PairedDevices, devices_path
from frontends.page.documents import RefusalDocument
from frontends.page.files import page_files
from frontends.page.game_pages import GamePages
from frontends.page.guard import NO_UPLOADS, Guard, Upload, add_security_headers
from frontends.page.languages import Site, language_of
from frontends.page.new_game import NewGamePage
from frontends.page.settings import PageOptions
from frontends.page.views import OwnerPages, split_code
from frontends.table_port import TablePort
from referee.errors import PageError

LOOPBACK = "127.0.0.1"
FIRST_PORT = 8000
_PORTS_TRIED = 20
"""The page's usual port, and how many are tried from it while others use them."""
HTTPS_ABOVE = 443
"""How far above the page's port the encrypted one is, unless another is chosen: 8443 beside 8000."""
_COMPRESSED_BYTES = 1000
"""Shorter answers fit into one packet as they are."""
_GRACE_S = 2
"""How long, in seconds, open requests may take when the page stops."""
_KEEP_ALIVE_S = 5
"""How long, in seconds, an idle connection stays open for the page's next request."""
_UNHEARD_MS = 60_000
"""The time after which a connection ends whose other side confirms nothing: a phone that has left the network, perhaps.

Live updates send something every 15 s. By Linux's own limit, one keeps its place for 15 minutes.
"""
_ACCEPTED_AT_ONCE = 16
"""Connections accepted before the page's thread does anything else.

Each takes about three rounds to be counted and heard, so one with a good request is never closed before it is read.
"""
_WAITING = 4096
"""Connections that the system keeps until they are accepted, so that an owner's need not try again after a crowd's."""
_RENEWED_TICKS = 864_000
"""How often the certificate is looked at, in tenths of a second: once a day."""
_CLOCK_SET_S = 3600.0
"""By how many seconds the clock has to be set for the certificate to be looked at at once. Lower: for no reason."""
_SAME_ERROR = RateLimit(3, 1 / 60)
_LOG = logging.getLogger("uvicorn.error")
_NOWHERE = ("192.0.2.1", 9)
"""An address reserved for documentation (RFC 5737). Nothing is sent; it only reveals the outgoing interface."""


def create_app(port: TablePort, access: Access) -> Starlette:
    """Build the application that shows a running referee to the devices ``access`` admits."""
    services = PageServices.of(port, access)
    access.player_of = services.documents.player_of
    telling = services.documents.telling
    camera = None
    if port.phone is not None:
        camera = CameraPage(port.phone, access, {"game": port.game}, telling, lambda: port.is_over)
    return create_guarded_app(
        [
            *(() if camera is None else camera.routes()),
            *(endpoint.route for endpoint in Api(services).endpoints),
            *views.Pages(services).routes(),
            *NewGamePage(services).routes(),
            *GamePages(services).routes(),
            *OwnerPages(services, None if camera is None else camera.desk).routes(),
        ],
        access,
        {} if camera is None else UPLOADS,
        Site(films=camera is not None, telling=telling),
    )


def create_guarded_app(
    routes: Sequence[BaseRoute], access: Access, uploads: Mapping[str, Upload] = NO_UPLOADS, site: Site | None = None
) -> Starlette:
    """Build an application from these routes and the page's static files; for ``uploads``, see ``Guard``."""
    app = Starlette(
        routes=[*routes, page_files().mount()],
        middleware=[
            Middleware(Guard, access, refusal, uploads),
            # It leaves event streams and pictures as they are. Lengths may betray a CSRF token (BREACH), which alone is
            # worth nothing: Guard refuses what another site's page sends.
            Middleware(GZipMiddleware, minimum_size=_COMPRESSED_BYTES, compresslevel=6),
        ],
        exception_handlers={HTTPException: _handle_refusal, Exception: _handle_failure},
    )
    # Only clients that guess URLs need redirects between paths with and without a trailing slash.
    app.router.redirect_slashes = False
    app.state.site = site or Site()
    return app


def refusal(request: Request, error: HTTPException) -> Response:
    """Say why a request was refused: as a page if the client accepts HTML, else as JSON."""
    site: Site = request.app.state.site
    words = site.telling(language_of(request))(error.detail)
    error = HTTPException(error.status_code, words, error.headers)
    if "text/html" in request.headers.get("accept", ""):
        response = views.refusal(request, error)
    else:
        response = JSONResponse(RefusalDocument(words=error.detail).model_dump(), error.status_code)
    response.headers.update(error.headers or {})
    return response


def _handle_refusal(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    return refusal(request, error)


def _handle_failure(request: Request, _: Exception) -> Response:
    """Answer an internal error without details; the referee's terminal shows them."""
    error = HTTPException(500, "Something went wrong with the page; everything else goes on. Load it again.")
    response = refusal(request, error)
    # Starlette sends this response outside of Guard.
    add_security_headers(response.headers)
    return response


def listen(address: str, port: int | None) -> socket.socket:
    """Listen on an address and port; without a port, on the first free one from 8000 on.

    Raises PageError if no port can be opened.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    # The address that people are shown may be an IPv4 one.
    is_dual = address == "::" and socket.has_dualstack_ipv6()
    tried = range(FIRST_PORT, FIRST_PORT + _PORTS_TRIED) if port is None else (port,)
    reason = ""
    for number in tried:
        try:
            return socket.create_server((address, number), family=family, dualstack_ipv6=is_dual)
        except OSError as error:
            reason = error.strerror or str(error)
            if error.errno != errno.EADDRINUSE:
                break
    if port is None and reason == os.strerror(errno.EADDRINUSE):
        remedy = f"all ports from {tried[0]} to {tried[-1]} are taken; give a free one by --page-port"
    else:
        remedy = f"give another {'--page-address' if port is None else '--page-port'}"
    raise PageError(f"the page can't be opened at {address}, port {number} ({reason}); {remedy}")


class _ErrorForwarder(logging.Handler):
    """Forwards the server's errors to ``say``: the exception's type and message, without the traceback.

    The same error is said again only after a minute. ``clock`` returns monotonic seconds.
    """

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float]) -> None:
        super().__init__(logging.ERROR)
        self._say = say
        self._limit = RateLimiter(_SAME_ERROR, clock)

    def emit(self, record: logging.LogRecord) -> None:
        """Forward one log record."""
        cause = record.exc_info[1] if record.exc_info else None
        named = f" ({type(cause).__name__}: {str(cause)[:200]})" if cause else ""
        if self._limit.take(named):
            self._say(f"The page could not answer somebody{named}. Everything else goes on.")


def _clock_is_ahead_s() -> float:
    """Return how far the clock of the day is ahead of the one that nobody sets."""
    return time.time() - time.monotonic()


class _Encrypted:
    """Where the page is also served by TLS: the listening socket, the context, the fingerprint of its certificate.

    ``load`` returns the last two anew; ``tell`` is told of a new fingerprint, ``say`` why it can't be loaded.
    """

    def __init__(
        self, listening: socket.socket, load: Callable[[], tuple[ssl.SSLContext, str]], say: Callable[[str], None]
    ) -> None:
        self.listening, self._load, self._say = listening, load, say
        self.context, self.fingerprint = load()
        self.tell: Callable[[str], None] = lambda _: None
        self._ahead_s = _clock_is_ahead_s()

    def look(self, *, is_due: bool) -> None:
        """Renew the certificate if that is due, or as soon as the clock was set: a Pi starts with a wrong one."""
        ahead_s = _clock_is_ahead_s()
        if is_due or abs(ahead_s - self._ahead_s) > _CLOCK_SET_S:
            self._ahead_s = ahead_s
            self.renew()

    def renew(self) -> None:
        """Take another certificate for new connections, if there is one."""
        before = self.fingerprint
        try:
            self.context, self.fingerprint = self._load()
        except (OSError, ValueError) as error:
            self._say(Phrase("The page's certificate can't be renewed: {error}", error))
        if self.fingerprint != before:
            self.tell(self.fingerprint)


class _Server(uvicorn.Server):
    """Serves the page, also encrypted if that was opened; both share one event loop and one count of connections.

    Many may wait to be accepted, and a failed accept is one logged error, not a traceback.
    """

    def __init__(self, app: Starlette, connections: Connections, encrypted: _Encrypted | None) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=cast("type[Connection]", partial(Connection, connections)),
                log_config=None,
                access_log=False,
                lifespan="off",
                ws="none",
                server_header=False,
                proxy_headers=False,
                backlog=_ACCEPTED_AT_ONCE,
                timeout_keep_alive=_KEEP_ALIVE_S,
                timeout_graceful_shutdown=_GRACE_S,
            )
        )
        self._connections = connections
        self._encrypted = encrypted

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to serve."""
        await super().startup(sockets)
        loop, listening = asyncio.get_running_loop(), list(sockets or ())
        loop.set_exception_handler(lambda _, context: _LOG.error(context["message"], exc_info=context.get("exception")))
        if self._encrypted is not None:
            listening.append(self._encrypted.listening)
            self.servers.append(
                await loop.create_server(self._shake_hands, sock=listening[-1], backlog=_ACCEPTED_AT_ONCE)
            )
        for each in listening:
            # asyncio uses one number for how many wait and for how many are accepted at once.
            each.listen(_WAITING)
            # What it accepts inherits this.
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _UNHEARD_MS)

    async def on_tick(self, counter: int) -> bool:
        """Do what is due ten times a second; ``counter`` begins again each day."""
        if self._encrypted is not None:
            self._encrypted.look(is_due=counter % _RENEWED_TICKS == 0)
        return await super().on_tick(counter)

    def _shake_hands(self) -> EncryptedConnection:
        assert self._encrypted is not None
        connection = Connection(
            self._connections, config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        return EncryptedConnection(connection, self._encrypted.context)


@dataclass(frozen=True)
class OpenPage:
    """A served page: its ``address``, and the ``codes`` that pair devices (none if only this machine can open it).

    ``encrypted`` is its address by HTTPS, empty without one; ``fingerprint`` is that of the certificate there.
    ``camera_code`` pairs a phone as the camera, if that is one.
    """

    address: str
    codes: Mapping[Role, str]
    encrypted: str = ""
    fingerprint: str = ""
    camera_code: str = ""

    @property
    def words(self) -> str:
        """The text for people at the terminal."""
        if not self.codes:
            return Phrase(
                "The page: {address} (from this machine; --page-address 0.0.0.0 opens it to your network)", self.address
            )
        return joined((self._address_words, self._code_words))

    @property
    def _address_words(self) -> str:
        plain = Phrase("The page: {address}", self.address)
        if not self.encrypted:
            return plain
        safe = Phrase(
            "Encrypted: {address}; the fingerprint of its certificate is {fingerprint}",
            *(self.encrypted, self.fingerprint),
        )
        return joined((plain, safe))

    @property
    def _code_words(self) -> str:
        if not self.camera_code:
            return self._role_words
        film = Phrase("Pair a phone as the camera: {code}.", split_code(self.camera_code))
        return joined((film, self._role_words))

    @property
    def _role_words(self) -> str:
        own = split_code(self.codes[Role.OWN])
        if Role.PLAY not in self.codes:
            if Role.LOOK not in self.codes:
                return Phrase("Pair a device to own the table: {own}.", own)
            look = split_code(self.codes[Role.LOOK])
            return Phrase("Pair a device to look: {look}. Pair an arbiter's device: {own}.", look, own)
        play = split_code(self.codes[Role.PLAY])
        return Phrase("Pair a device to play: {play}. To own the table: {own}.", play, own)

    def words_on(self, console: Console, codes: Path | None) -> str:
        """Return the text for a console. One that isn't a terminal may be a log.

        The codes then go to the file ``codes`` instead, if there is one, which only its owner can read. Raises
        PageError if the file can't be written.
        """
        if console.is_terminal or codes is None or not self.codes:
            return self.words
        try:
            write_durably(codes, f"{self._code_words}\n", private=True)
        except OSError as error:
            raise PageError(f"the page's codes can't be kept in {codes} ({error.strerror})") from error
        said = Phrase("The codes that pair a device are in {file}.", codes)
        return joined((self._address_words, said))

    def qr(self, *, films: bool = False) -> str:
        """Draw what pairs a device as a QR code for a Unicode terminal, dark on light regardless of its colours.

        It holds the code of the camera, without which no game begins, or the code to play; where nobody plays, the only
        other one, or the lesser. ``films``: that phone may become the camera, for which it needs the encrypted
        page anyway.
        """
        drawn = io.StringIO()
        code = self.codes.get(Role.PLAY) or self.codes.get(Role.LOOK) or self.codes[Role.OWN]
        address = self.encrypted or self.address if self.camera_code or films else self.address
        views.qr_to_pair(address, self.camera_code or code).terminal(drawn, compact=True)
        return drawn.getvalue()


@dataclass(frozen=True)
class Entrance:
    """Where a site is found, and the codes that let devices in: kept while one site follows another.

    Who comes in between waits until the next one answers. ``encrypted`` listens for HTTPS; without one that was wanted,
    ``fault`` says why.
    """

    options: PageOptions
    listening: socket.socket
    codes: Mapping[Role, str]
    camera_code: str = ""
    encrypted: socket.socket | None = None
    fault: str = ""


@contextmanager
def open_entrance(
    options: PageOptions, roles: Collection[Role] = (Role.LOOK, Role.PLAY, Role.OWN)
) -> Iterator[Entrance]:
    """Listen inside the context, with a code for each of these roles; raises PageError if no port can be opened.

    One that other machines can open is also found by HTTPS, unless that port can't be opened.
    """
    with ExitStack() as stack:
        listening = stack.enter_context(listen(options.address or LOOPBACK, options.port))
        if options.address is None:
            yield Entrance(options, listening, {})
            return
        wanted, encrypted, fault = options.https_port, None, ""
        if wanted is None:
            wanted = listening.getsockname()[1] + HTTPS_ABOVE
        try:
            encrypted = stack.enter_context(listen(options.address, wanted)) if wanted else None
        except (PageError, OverflowError) as error:
            fault = Phrase(
                "The page is not served by HTTPS: {error}. https_port under [page] sets another port.", error
            )
        codes, camera_code = new_codes(roles, secrets.randbelow), new_code(secrets.randbelow)
        yield Entrance(options, listening, codes, camera_code, encrypted, fault)


@contextmanager
def open_page(
    port: TablePort,
    options: PageOptions,
    say: Callable[[str], None],
    connections: Connections | None = None,
    entrance: Entrance | None = None,
) -> Iterator[OpenPage]:
    """Serve a page inside the context, at an ``entrance`` if there is one. The page's thread reports errors to ``say``.

    Raises PageError if it can't be opened. Deleting the key beside the journal unpairs all devices.
    """
    key = None if port.journal is None else key_path(port.journal)
    with open_site(
        lambda access: create_app(port, access),
        options,
        say,
        key=key,
        close=port.snapshots.close,
        connections=connections,
        entrance=entrance,
        films=port.phone is not None,
    ) as page:
        yield page


@contextmanager
def open_site(
    make: Callable[[Access], Starlette],
    options: PageOptions,
    say: Callable[[str], None],
    *,
    key: Path | None,
    close: Callable[[], None] = lambda: None,
    roles: Collection[Role] = (Role.LOOK, Role.PLAY, Role.OWN),
    connections: Connections | None = None,
    entrance: Entrance | None = None,
    films: bool = False,
) -> Iterator[OpenPage]:
    """Serve the application that ``make`` builds inside the context; raises PageError if it can't be opened.

    ``key`` is the file with the key that signs sessions, ``close`` ends the viewers' streams, and ``roles`` are the
    roles that have a pairing code; with ``films``, the camera has one too.
    """
    with ExitStack() as stack:
        at = entrance or stack.enter_context(open_entrance(options, roles))
        listening = stack.enter_context(at.listening.dup())
        camera_code = at.camera_code if films else ""
        policy = AccessPolicy(host_names_of(socket.gethostname()), at.codes, options.owner, camera_code)
        try:
            kept = load_or_make_key(key)
        except OSError as error:
            raise PageError(f"the page's key can't be kept in {key}: {error.strerror}") from error
        devices = PairedDevices(None if key is None else devices_path(key), time.time)
        access = Access(policy, kept, time.time, time.monotonic, devices)
        app = make(access)
        app.state.house = options
        host, number = _visible_host(listening), listening.getsockname()[1]
        encrypted = _encrypted(at, host, key, say, stack)
        opened = OpenPage(_address("http", host, number), at.codes, camera_code=camera_code)
        if encrypted is not None:
            safe = _address("https", host, encrypted.listening.getsockname()[1])
            opened = replace(opened, encrypted=safe, fingerprint=encrypted.fingerprint)

            def tell(fingerprint: str) -> None:
                app.state.opened = replace(opened, fingerprint=fingerprint)
                say(Phrase("The page has a new certificate; its fingerprint is {fingerprint}", fingerprint))

            encrypted.tell = tell
        app.state.opened = opened
        raise_file_limit()
        with _serve(_Server(app, connections or Connections(), encrypted), listening, close, say):
            yield opened
        devices.save_seen_times()


def _encrypted(
    at: Entrance, host: str, key: Path | None, say: Callable[[str], None], stack: ExitStack
) -> _Encrypted | None:
    """Prepare to serve by HTTPS, if the entrance has a port for it; without one that was wanted, say why.

    A certificate that can't be kept beside a ``key`` lasts as long as the page. Raises PageError for one that can't be
    used.
    """
    if at.encrypted is None:
        if at.fault:
            say(at.fault)
        return None
    # Loaded only by a page that is open to the network.
    from frontends.page.certificate import load_certificate, load_or_make_certificate

    options = at.options
    own = options.certificate
    file = own or certificate_path(key or Path(stack.enter_context(TemporaryDirectory())) / "page-key")

    def load() -> tuple[ssl.SSLContext, str]:
        used = (
            load_or_make_certificate(file, host_names_of(socket.gethostname()), host, datetime.now(UTC))
            if own is None
            else load_certificate(own, options.certificate_key)
        )
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(used.file, used.key)
        return context, used.fingerprint

    try:
        return _Encrypted(stack.enter_context(at.encrypted.dup()), load, say)
    except (OSError, ValueError) as error:
        raise PageError(
            "the page's certificate can't be used: {error}; look at certificate under [page], or delete {file}",
            *(error, file),
        ) from error


def certificate_path(key: Path) -> Path:
    """Return the path of the certificate that belongs to a page's key file."""
    return key.with_name(f"{key.name.removesuffix('-key')}-certificate")


def key_path(journal: Path) -> Path:
    """Return the path of the key file for a journal's page."""
    return journal.with_name(f"{journal.name}.page-key")


def codes_path(beside: Path) -> Path:
    """Return the path of the file for the pairing codes, used if there is no terminal to show them.

    It lies beside the journal, or the file that a hall keeps.
    """
    return beside.with_name(f"{beside.name}.page-codes")


def _visible_host(listening: socket.socket) -> str:
    """Return the host to show people. When listening on all interfaces, it is the outgoing one's address."""
    host: str = listening.getsockname()[0]
    if ipaddress.ip_address(host).is_unspecified:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect(_NOWHERE)
                return str(probe.getsockname()[0])
            except OSError:
                return socket.gethostname()
    return host


def _address(scheme: str, host: str, number: int) -> str:
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{number}/"


@contextmanager
def _serve(
    server: _Server, listening: socket.socket, close: Callable[[], None], say: Callable[[str], None]
) -> Iterator[None]:
    """Serve in a thread of its own."""
    forwarder = _ErrorForwarder(say, time.monotonic)
    _LOG.addHandler(forwarder)
    _LOG.propagate = False
    # A malformed form is refused with a sentence; its parser's own words are for nobody at this terminal.
    logging.getLogger("python_multipart").setLevel(logging.ERROR)
    thread = threading.Thread(target=server.run, args=([listening],), name="page", daemon=True)
    thread.start()
    try:
        yield
    finally:
        close()
        server.should_exit = True
        thread.join()
        _LOG.removeHandler(forwarder)
