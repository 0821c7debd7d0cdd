"""Lights on a WLED controller over the network, by DDP.

Facts are from WLED's documentation (kno.wled.ge) and its source, version 0.15. After 2.5 s without a frame it returns
to its own effect (``realtimeTimeoutMs``). It uses realtime values as they are, without gamma correction
(``arlsDisableGammaCorrection`` is set by default).

The DDP header is that of version 1 as specified by 3waylabs (www.3waylabs.com/ddp), without time codes, which WLED
ignores. UDP loses packets, so ``refresh_s`` requests each frame again.
"""

import errno
import socket
import struct
import threading
from collections.abc import Callable, Iterator

from common.srgb import linear_from_srgb
from firmware_bridge.errors import BridgeError

REFRESH_S = 1.0
"""Interval of repeated frames: two frames may be lost before WLED's 2.5 s have passed."""

CHANNELS = 3  # red, green, blue


class WledError(BridgeError, OSError):
    """A WLED controller that can't be reached; the message says why and what to do."""


class WledSettingError(BridgeError, ValueError):
    """An invalid name of a WLED controller; the message gives valid ones."""


def check_frame(colours: bytes, lights: int) -> bytes:
    """Return the frame; raises ValueError unless it has 3 bytes for each light."""
    if len(colours) != CHANNELS * lights:
        raise ValueError(f"a frame of {len(colours)} bytes for {lights} lights; expected {CHANNELS * lights}")
    return bytes(colours)


_LINEARIZED = bytes(round(255 * linear_from_srgb(encoded / 255)) for encoded in range(256))


def linearize(colours: bytes) -> bytes:
    """Convert an sRGB-encoded frame to linear light, byte by byte; encoded values below 7 are too dark for 8 bits."""
    return colours.translate(_LINEARIZED)


DDP_PORT = 4048  # of the Distributed Display Protocol, whose fields follow
MAX_DATA_BYTES = 1440
"""Bytes of data in one packet: 480 lights; with its header it fits an Ethernet frame."""

LOOK_UP_S = 4.0
"""Maximum time for looking up a name before it is reported as a fault."""

STEADY_S = 5.0
"""Time without errors after which a WLED counts as reachable.

Linux takes 3 seconds to report that nobody has an address.
"""

_VERSION_1 = 0x40  # flags
_PUSH = 0x01
_RGB_8_BIT = 0x0B  # type of the data
_DEFAULT_OUTPUT = 1  # id of the output
_HEADER = struct.Struct(">BBBBIH")
_SEQUENCES = 15  # numbers go from 1 to here

Resolve = Callable[[str, int], str]


def ddp_packets(data: bytes, sequence: int) -> Iterator[bytes]:
    """Split a frame into DDP packets, the last one with PUSH, which shows them all at once.

    The first packet has ``sequence`` (1 to 15; 0 would mean "unnumbered"), the others the numbers that follow.
    """
    for offset in range(0, len(data), MAX_DATA_BYTES):
        piece = data[offset : offset + MAX_DATA_BYTES]
        flags = _VERSION_1 | (_PUSH if offset + MAX_DATA_BYTES >= len(data) else 0)
        yield _HEADER.pack(flags, sequence, _RGB_8_BIT, _DEFAULT_OUTPUT, offset, len(piece)) + piece
        sequence = sequence % _SEQUENCES + 1


def resolve(host: str, port: int) -> str:
    """Return the IPv4 address of a name; may block as long as the system's resolver. Raises OSError."""
    found = socket.getaddrinfo(host, port, socket.AF_INET, socket.SOCK_DGRAM)
    return str(found[0][4][0])


def check_host(host: str) -> str:
    """Return the name or address of a WLED; raises WledSettingError if it can't be one."""
    if not host or any(letter.isspace() or letter in "/:@" for letter in host):
        raise WledSettingError(
            "{host!r} is not the name of a WLED controller; for example wled-board.local or "
            "192.168.1.40, without http:// and without a port",
            host,
        )
    return host


class WledNetwork:
    """A pixel output on the network, which never blocks; ``host`` is a name or an IPv4 address.

    A thread looks the name up by ``resolve`` and then ends; frames shown meanwhile are dropped, and sent again because
    of ``refresh_s``. A network error about a frame is raised with a later one, as WledError, within
    ``STEADY_S``. Raises WledSettingError if ``host`` can't be a name or an address.
    """

    def __init__(
        self,
        host: str,
        lights: int,
        clock: Callable[[], float],
        *,
        port: int = DDP_PORT,
        resolve: Resolve = resolve,
    ) -> None:
        self.lights = lights
        self.refresh_s: float | None = REFRESH_S
        self.host = check_host(host)
        self._port = port
        self._resolve = resolve
        self._sequence = 1
        self._socket: socket.socket | None = None
        self._address: str | None = None
        self._unresolved: OSError | UnicodeError | None = None
        self._resolved = threading.Event()
        self._clock = clock
        self._asked_s = clock()
        if _is_address(host):
            self._address = host
            self._resolved.set()
        else:
            # a daemon thread, so that a hanging resolver does not keep the service from ending
            threading.Thread(target=self._look_up, name=f"look up {host}", daemon=True).start()

    def show(self, colours: bytes) -> None:
        """Send a frame; raises WledError for an unknown name, and for network errors of earlier frames."""
        frame = check_frame(colours, self.lights)
        if not self._resolved.is_set():
            if self._clock() >= self._asked_s + LOOK_UP_S:
                raise WledError(
                    "the name {host!r} has not been resolved yet; is this computer in the network? An address "
                    "such as 192.168.1.40 needs no resolving",
                    self.host,
                )
            return
        if self._unresolved is not None or self._address is None:
            raise WledError(
                "no computer in this network is called {host!r} ({unresolved}); is the WLED controller on? "
                "Its address is shown in its app and in the router's list",
                self.host,
                self._unresolved,
            ) from self._unresolved
        try:
            self._send(self._address, linearize(frame))
        except BlockingIOError:
            # the network is slower than the lights just now: the next frame, or the refresh, replaces this one
            return
        except OSError as error:
            raise self._network_error(error) from error

    def close(self) -> None:
        """Close the socket; WLED returns to its own effect after 2.5 seconds."""
        used, self._socket = self._socket, None
        if used is not None:
            used.close()

    def _look_up(self) -> None:
        try:
            self._address = self._resolve(self.host, self._port)
        except (OSError, UnicodeError) as error:
            self._unresolved = error
        finally:
            self._resolved.set()

    def _send(self, address: str, frame: bytes) -> None:
        if self._socket is None:
            self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self._socket.setblocking(False)
            # connected, so that the error "nobody listens on that port" is reported
            self._socket.connect((address, self._port))
        for packet in ddp_packets(frame, self._sequence):
            self._sequence = self._sequence % _SEQUENCES + 1
            self._socket.send(packet)

    def _network_error(self, error: OSError) -> WledError:
        where = self.host if self.host == self._address else f"{self.host} ({self._address})"
        if isinstance(error, ConnectionRefusedError):
            return WledError(
                "{where} is there, but nothing takes lights on UDP port {port}; see whether it is the WLED "
                "controller, and has finished starting",
                where,
                self._port,
            )
        if error.errno in (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ENETDOWN, errno.EHOSTDOWN):
            return WledError(
                "{where} can't be reached ({strerror}); see whether WLED is on and in this network",
                where,
                error.strerror,
            )
        return WledError("{where} does not take lights: {reason}; run `./run doctor`", where, error.strerror or error)


def _is_address(host: str) -> bool:
    try:
        socket.inet_pton(socket.AF_INET, host)
    except OSError:
        return False
    return True
