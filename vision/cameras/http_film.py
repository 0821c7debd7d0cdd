"""Films and single pictures that a camera in the network sends by HTTP, within limits of bytes and of time.

Cameras surround the JPEGs of a film in many ways, and often wrongly: without a first boundary, as ``image/jpg``, with
wrong lengths, with nothing at all. So pictures are found by their own markers, whatever stands between them. An address
that gives one picture is asked again and again.
"""

import contextlib
import hashlib
import http.client
import io
import re
import socket
import ssl
import time
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast
from urllib.parse import SplitResult, quote, unquote, urljoin, urlsplit
from urllib.request import HTTPDigestAuthHandler, HTTPPasswordMgrWithDefaultRealm, Request
from urllib.request import parse_http_list as words_of
from urllib.request import parse_keqv_list as values_of

from common.phrases import Phrase
from common.shown_text import one_line
from vision.cameras.live import Shot
from vision.errors import CameraError, FrameError
from vision.images import decode_photo

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

PORTS = {"http": 80, "https": 443}
MOST_PICTURE_BYTES = 16 << 20
"""The most bytes of a picture; one of 12 million pixels takes about 6 MiB. Higher: more memory for a faulty one."""
MOST_PIXELS = 25_000_000
"""The most pixels of a picture; a 4K camera has 8 million. Higher: a faulty camera fills more memory."""
_CHUNK_BYTES = 1 << 16
_MOST_REQUESTS = 5
"""How often one picture or film is asked for: redirects, and what the camera wants to know of the password."""
_LONGEST_KIND = 60
"""The most characters of what a camera calls its answer."""
_SNAPSHOT_S = 0.2
"""Least time, in seconds, between two single pictures. Shorter: a smoother film, more work for camera and network."""
_PIN = re.compile(r"sha256=(?P<fingerprint>[0-9a-f:]+)", re.IGNORECASE)
"""The part of an address behind ``#``, which is sent nowhere: the certificate to expect."""
_UNAUTHORIZED, _OK, _REDIRECTS = 401, range(200, 300), (301, 302, 303, 307, 308)
_MEANINGS = {
    _UNAUTHORIZED: Phrase("it wants another user or password"),
    403: Phrase("it refuses access"),
    404: Phrase("it knows no such path"),
    503: Phrase("it is busy, perhaps with another viewer"),
}
_UNKNOWN_QUESTION = Phrase("it asks for the password in a way that the referee does not know")
_DIGESTS = {"MD5": hashlib.md5, "SHA": hashlib.sha1, "SHA-256": hashlib.sha256}

_JPEG_START, _START, _END = b"\xff\xd8", 0xD8, 0xD9
_MARKER = re.compile(rb"\xff[^\x00\x01\xd0-\xd7\xff]")
"""What begins a JPEG, ends it, or begins one of its segments: nothing among its pixels looks so."""


class _TimedBytes(io.RawIOBase):
    """What a connection receives until a deadline, however slowly it comes."""

    def __init__(self, connection: socket.socket, deadline_s: float) -> None:
        self._connection, self.deadline_s = connection, deadline_s

    def readable(self) -> bool:
        return True

    def readinto(self, into: "WriteableBuffer") -> int:
        left_s = self.deadline_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        self._connection.settimeout(left_s)
        return self._connection.recv_into(into)


class JpegStream:
    """Finds whole JPEGs in bytes that come piece by piece, whatever stands between them."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._at = 0
        """Where the next marker is looked for, once the data begins with a picture."""

    def add(self, more: bytes) -> None:
        """Add what came."""
        self._data += more

    @property
    def waiting_bytes(self) -> int:
        """How much is kept of a picture that isn't whole yet."""
        return len(self._data)

    def take(self) -> bytes | None:
        """Return the next whole picture; ``None`` if there is none yet."""
        data = self._data
        if not data.startswith(_JPEG_START):
            start = data.find(_JPEG_START)
            del data[: start if start >= 0 else max(len(data) - 1, 0)]
            self._at = 0
            if start < 0:
                return None
        self._at = max(self._at, len(_JPEG_START))
        while (marker := _MARKER.search(data, self._at)) is not None:
            begins, ends = marker.span()
            kind = data[ends - 1]
            if kind == _END:
                picture = bytes(data[:ends])
                del data[:ends]
                self._at = 0
                return picture
            if kind == _START:
                # The picture before has no end.
                del data[:begins]
                self._at = len(_JPEG_START)
            elif ends + 2 > len(data):
                self._at = begins
                return None
            else:
                # A segment may hold a whole small picture.
                self._at = ends + int.from_bytes(data[ends : ends + 2])
        self._at = max(self._at, len(data) - 1)
        return None


@dataclass(frozen=True)
class _Received:
    """The part of a socket that ``http.client`` uses for an answer."""

    file: "io.BufferedReader[_TimedBytes]"

    def makefile(self, _mode: str) -> "io.BufferedReader[_TimedBytes]":
        return self.file


class _DigestAnswers(HTTPDigestAuthHandler):
    """Answers a digest challenge also by SHA-256, and with a password beyond ASCII."""

    def get_algorithm_impls(self, algorithm: str) -> tuple[Callable[..., str], Callable[..., str]]:
        """Return the digest of a text, and of a secret with data; raises ValueError for an unknown algorithm."""
        digest = _DIGESTS.get(algorithm.upper())
        if digest is None:
            raise ValueError(algorithm)

        def digest_of(*parts: str) -> str:
            return digest(":".join(parts).encode()).hexdigest()

        return digest_of, digest_of


class HttpFilm:
    """A film, or single pictures, from an address; ``name`` stands for it in messages.

    Only the address's own host is asked, directly. If ``is_secret``, it holds a password; by HTTPS it is then sent only
    to a host that proves who it is, by a certificate that the system trusts, or the one whose SHA-256 stands behind
    ``#sha256=`` in the address. Raises CameraError with the cause if no picture comes within ``open_s``; each later one
    has ``read_s``, both in seconds.
    """

    def __init__(self, address: SplitResult, name: str, *, is_secret: bool, open_s: float, read_s: float) -> None:
        self._address, self._name, self._is_secret = address, name, is_secret
        self._open_s, self._read_s = open_s, read_s
        self._connection: socket.socket | None = None
        deadline_s = time.monotonic() + open_s
        try:
            self._ask(deadline_s)
            self._first = self._next(deadline_s)
        except CameraError:
            self.release()
            raise
        if self._first is None:
            self.release()
            raise CameraError(
                "camera {name} answers, but sends no whole picture (JPEG); it sends {kind}. Is the path in its address "
                "right?",
                name,
                self._kind,
            )

    def read(self) -> Shot | None:
        """Wait for the next picture; ``None`` when none comes. Raises CameraError where the cause is known."""
        first, self._first = self._first, None
        return first or self._next(time.monotonic() + self._read_s)

    def lock(self, locked: bool) -> None:
        """Do nothing: the camera's own settings can't be reached."""

    def release(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()

    def _next(self, deadline_s: float) -> Shot | None:
        trouble: FrameError | None = None
        while True:
            self._bytes.deadline_s = deadline_s
            try:
                picture = self._picture()
            except CameraError:
                raise
            except (OSError, http.client.HTTPException):
                picture = None
                self._pictures = 0
            if picture is None and self._pictures == 1 and time.monotonic() + _SNAPSHOT_S < deadline_s:
                time.sleep(max(0.0, self._asked_s + _SNAPSHOT_S - time.monotonic()))
                self._ask(min(deadline_s, time.monotonic() + self._open_s))
                continue
            if picture is None and trouble is not None:
                raise CameraError("camera {name}: {trouble}", self._name, trouble.args[0]) from trouble
            if picture is None:
                return None
            try:
                return Shot(decode_photo(picture, Phrase("the picture"), most_pixels=MOST_PIXELS))
            except FrameError as error:
                # The next one may be whole.
                trouble = error

    def _picture(self) -> bytes | None:
        """Return the next whole picture; ``None`` at the end of the answer. Raises OSError and HTTPException."""
        while (picture := self._stream.take()) is None:
            if self._stream.waiting_bytes > MOST_PICTURE_BYTES:
                raise CameraError(
                    "camera {name} sends a picture without an end: more than {most_mib} MiB",
                    self._name,
                    MOST_PICTURE_BYTES >> 20,
                )
            more = self._body.read1(_CHUNK_BYTES)
            if not more:
                return None
            self._stream.add(more)
        self._pictures += 1
        return picture

    def _ask(self, deadline_s: float) -> None:
        """Ask for the film; raises CameraError with the reason if it isn't given."""
        self._stream, self._pictures = JpegStream(), 0
        self._asked_s = time.monotonic()
        address, authorization = self._address, ""
        for _ in range(_MOST_REQUESTS):
            status, headers = self._request(address, authorization, deadline_s)
            if status in _OK:
                kind = one_line(headers.get_content_type())[:_LONGEST_KIND] if headers else ""
                self._kind = kind or Phrase("something unnamed")
                return
            if status in _REDIRECTS:
                address = self._led_to(address, headers.get("Location", ""))
            elif status != _UNAUTHORIZED or authorization:
                break
            else:
                authorization = self._authorization(address, headers.get_all("WWW-Authenticate", []))
                if not authorization:
                    break
        meaning = _MEANINGS.get(status)
        if status == _UNAUTHORIZED and not authorization:
            has_password = self._address.username or self._address.password
            meaning = _UNKNOWN_QUESTION if has_password else Phrase("it wants a user and a password")
        said = str(status) if meaning is None else Phrase("{status}: {meaning}", status, meaning)
        raise CameraError("camera {name} sends no film ({said})", self._name, said)

    def _request(
        self, address: SplitResult, authorization: str, deadline_s: float
    ) -> tuple[int, http.client.HTTPMessage]:
        """Send a request; returns the status and the headers of the answer, whose body is read from then on."""
        self.release()
        self._connection = self._connect(address, deadline_s)
        path = quote(address.path or "/", safe="/%:=&+!$,;'@()*~") + (f"?{address.query}" if address.query else "")
        lines = [
            f"GET {path} HTTP/1.1",
            f"Host: {address.netloc.rpartition('@')[2]}",
            "User-Agent: tabletop-referee",
            "Accept: */*",
            "Connection: close",
            *([f"Authorization: {authorization}"] if authorization else []),
        ]
        self._bytes = _TimedBytes(self._connection, deadline_s)
        received = io.BufferedReader(self._bytes, _CHUNK_BYTES)
        try:
            self._connection.sendall("\r\n".join([*lines, "", ""]).encode())
            if received.peek(1)[:1] not in (b"H", b""):
                # Some small cameras leave out the whole head.
                self._body: io.BufferedIOBase = received
                return _OK[0], http.client.HTTPMessage()
            response = http.client.HTTPResponse(cast(socket.socket, _Received(received)))
            response.begin()
        except TimeoutError as error:
            raise CameraError(
                "camera {name} does not answer within {open_s} s", self._name, f"{self._open_s:g}"
            ) from error
        except (OSError, http.client.HTTPException) as error:
            raise CameraError("camera {name} sends an answer that can't be read", self._name) from error
        self._body = response
        return response.status, response.headers

    def _connect(self, address: SplitResult, deadline_s: float) -> socket.socket:
        host, port = address.hostname or "", address.port or PORTS[address.scheme]
        connection = connected(host, port, max(deadline_s - time.monotonic(), 0.001), self._name)
        if address.scheme == "http":
            return connection
        pin = _PIN.fullmatch(self._address.fragment)
        context = ssl.create_default_context()
        if pin is not None or not self._is_secret:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        try:
            encrypted = context.wrap_socket(connection, server_hostname=host)
        except ssl.SSLCertVerificationError as error:
            connection.close()
            raise CameraError(
                "camera {name} shows a certificate that nobody vouches for, so it does not get the password; if it is "
                "the camera's own, put {pin} at the end of its address",
                self._name,
                f"#sha256={self._fingerprint(host, port)}",
            ) from error
        except OSError as error:
            connection.close()
            raise CameraError("camera {name} can't be reached by HTTPS ({reason})", self._name, str(error)) from error
        shown = hashlib.sha256(encrypted.getpeercert(binary_form=True) or b"").hexdigest()
        if pin is not None and shown != pin["fingerprint"].replace(":", "").lower():
            encrypted.close()
            raise CameraError(
                "camera {name} shows another certificate than the one in its address; its SHA-256 is {shown}",
                self._name,
                shown,
            )
        return encrypted

    def _fingerprint(self, host: str, port: int) -> str:
        with contextlib.suppress(OSError, ValueError):
            shown = ssl.get_server_certificate((host, port), timeout=self._open_s)
            return hashlib.sha256(ssl.PEM_cert_to_DER_cert(shown)).hexdigest()
        return "…"

    def _led_to(self, address: SplitResult, location: str) -> SplitResult:
        """Return where an answer leads; raises CameraError if that is another host, or less safe."""
        with contextlib.suppress(ValueError):
            target = urlsplit(urljoin(address.geturl(), location))
            is_safe = target.scheme in PORTS and (target.scheme == "https" or address.scheme == "http")
            if location and is_safe and target.hostname == address.hostname and target.port != 0:
                return target
        raise CameraError(
            "camera {name} leads to another machine, or away from HTTPS; give the address of the film itself",
            self._name,
        )

    def _authorization(self, address: SplitResult, challenges: list[str]) -> str:
        """Answer what a camera asks for a user and a password; empty without them, or for an unknown question."""
        user, password = unquote(self._address.username or ""), unquote(self._address.password or "")
        if not (user or password):
            return ""
        url = address._replace(netloc=address.netloc.rpartition("@")[2], fragment="").geturl()
        known = HTTPPasswordMgrWithDefaultRealm()
        known.add_password(None, url, user, password)
        asked = [(kind.lower(), values) for kind, _, values in (each.strip().partition(" ") for each in challenges)]
        for values in (values for kind, values in asked if kind == "digest"):
            # A digest that isn't known, or no proper one; the camera may offer another one.
            with contextlib.suppress(ValueError, OSError):
                answer = _DigestAnswers(known).get_authorization(Request(url), values_of(words_of(values)))
                if answer:
                    return f"Digest {answer}"
        if any(kind == "basic" for kind, _ in asked):
            return f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"
        return ""


def connected(host: str, port: int, timeout_s: float, name: str) -> socket.socket:
    """Connect to a camera; raises CameraError if that takes longer than ``timeout_s``, or can't be."""
    try:
        return socket.create_connection((host, port), timeout_s)
    except (OSError, UnicodeError) as error:
        raise CameraError(
            "camera {name} cannot be reached ({reason}); is it switched on and in this network, and is its "
            "address right?",
            name,
            getattr(error, "strerror", None) or str(error),
        ) from error
