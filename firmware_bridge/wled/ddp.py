"""Lights of a WLED controller over the network: DDP, the Distributed Display Protocol, over UDP.

The header is that of DDP version 1 as specified by 3waylabs (www.3waylabs.com/ddp), without time codes, which WLED
does not read. UDP loses packets, so ``refresh_s`` asks for each frame again.
"""

from __future__ import annotations

import errno
import socket
import struct
import threading
from collections.abc import Callable, Iterator

from firmware_bridge.wled import frames
from firmware_bridge.wled.frames import WledError, WledSettingError

DDP_PORT = 4048
MAX_DATA_BYTES = 1440
"""Bytes of data in one packet: 480 lights; with its header it fits an Ethernet frame."""

LOOK_UP_S = 4.0
"""How long looking up a name may take before that is a fault."""

STEADY_S = 5.0
"""How long frames must go out without complaint until somebody can be taken to listen.

Linux needs 3 seconds to say that nobody has an address.
"""

_VERSION_1 = 0x40
_PUSH = 0x01
_RGB_8_BIT = 0x0B
_DEFAULT_OUTPUT = 1
_HEADER = struct.Struct(">BBBBIH")
_SEQUENCES = 15

Resolve = Callable[[str, int], str]


def ddp_packets(data: bytes, sequence: int) -> Iterator[bytes]:
    """Cut a frame into DDP packets, the last one with PUSH, which shows them all at once.

    The first packet has ``sequence`` (1 to 15, 0 would mean "unnumbered"), the others those that follow.
    """
    for offset in range(0, len(data), MAX_DATA_BYTES):
        piece = data[offset : offset + MAX_DATA_BYTES]
        flags = _VERSION_1 | (_PUSH if offset + MAX_DATA_BYTES >= len(data) else 0)
        yield _HEADER.pack(flags, sequence, _RGB_8_BIT, _DEFAULT_OUTPUT, offset, len(piece)) + piece
        sequence = sequence % _SEQUENCES + 1


def resolve(host: str, port: int) -> str:
    """Give the IPv4 address of a name; may take as long as the system's resolver does. Raises OSError."""
    found = socket.getaddrinfo(host, port, socket.AF_INET, socket.SOCK_DGRAM)
    return str(found[0][4][0])


class WledNetwork:
    """A pixel output on the network: sends frames, never waits for anything.

    A name is looked up by a thread that ends with it; frames shown meanwhile are left out, which ``refresh_s`` makes
    good. What the network said of a frame is raised with a later one, as WledError: within ``STEADY_S`` it is known.

    Args:
        host: a name or an IPv4 address.
        lights: how many the strip has.
        clock: monotonic seconds.
        port: WLED's is 4048.
        corrected: whether WLED corrects gamma by itself (not by default); if not, frames are sent as light.
        resolve: looks a name up; may wait.
    """

    def __init__(
        self,
        host: str,
        lights: int,
        clock: Callable[[], float],
        *,
        port: int = DDP_PORT,
        corrected: bool = False,
        resolve: Resolve = resolve,
    ) -> None:
        self.lights = frames.check_lights(lights)
        self.refresh_s: float | None = frames.REFRESH_S
        if not host or any(letter.isspace() or letter in "/:@" for letter in host):
            raise WledSettingError(
                f"{host!r} is no name of a WLED controller; expected one such as wled-board.local or 192.168.1.40, "
                "without http:// and without a port"
            )
        if not 1 <= port <= 65535:
            raise WledSettingError(f"there is no UDP port {port}; expected 1 to 65535, and WLED's is {DDP_PORT}")
        self.host = host
        self._port = port
        self._corrected = corrected
        self._resolve = resolve
        self._sequence = 1
        self._socket: socket.socket | None = None
        self._address: str | None = None
        self._unknown: OSError | UnicodeError | None = None
        self._resolved = threading.Event()
        self._clock = clock
        self._asked_s = clock()
        if _is_address(host):
            self._address = host
            self._resolved.set()
        else:
            # A daemon, since a resolver that hangs must not keep the service from ending.
            threading.Thread(target=self._look_up, name=f"look up {host}", daemon=True).start()

    def show(self, colours: bytes) -> None:
        """Send a frame; raises WledError for a name that is not known, and for what the network told."""
        frame = frames.checked_frame(colours, self.lights)
        if not self._resolved.is_set():
            if self._clock() >= self._asked_s + LOOK_UP_S:
                raise WledError(
                    f"nobody has said yet which computer {self.host!r} is; is this computer in the network? An address "
                    "such as 192.168.1.40 needs no asking"
                )
            return
        if self._unknown is not None or self._address is None:
            raise WledError(
                f"no computer in this network is called {self.host!r} ({self._unknown}); is the WLED controller on? "
                "Its address stands in its app and in the router's list"
            ) from self._unknown
        try:
            self._send(self._address, frame if self._corrected else frames.linearized(frame))
        except BlockingIOError:
            # The network is slower than the lights just now: the frame after this one, or the refresh, makes it good.
            return
        except OSError as error:
            raise self._explained(error) from error

    def close(self) -> None:
        """Let go of the socket; WLED goes back to its own effect after 2.5 seconds."""
        used, self._socket = self._socket, None
        if used is not None:
            used.close()

    def wait_until_resolved(self, timeout_s: float) -> bool:
        """Wait until the name has been looked up, whatever came of it; for ``referee doctor``, not for a game."""
        return self._resolved.wait(timeout_s)

    def _look_up(self) -> None:
        try:
            self._address = self._resolve(self.host, self._port)
        except (OSError, UnicodeError) as error:
            self._unknown = error
        finally:
            self._resolved.set()

    def _send(self, address: str, frame: bytes) -> None:
        if self._socket is None:
            self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self._socket.setblocking(False)
            # Connected, so that "nobody listens on that port" comes back to us.
            self._socket.connect((address, self._port))
        for packet in ddp_packets(frame, self._sequence):
            self._sequence = self._sequence % _SEQUENCES + 1
            self._socket.send(packet)

    def _explained(self, error: OSError) -> WledError:
        where = self.host if self.host == self._address else f"{self.host} ({self._address})"
        if isinstance(error, ConnectionRefusedError):
            return WledError(
                f"{where} is there, but nothing takes lights on UDP port {self._port}; see whether it is "
                "the WLED controller, and has finished starting"
            )
        if error.errno in (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ENETDOWN, errno.EHOSTDOWN):
            return WledError(f"{where} can't be reached ({error.strerror}); see whether WLED is on and in this network")
        return WledError(f"{where} does not take lights: {error.strerror or error}; run `referee doctor`")


def _is_address(host: str) -> bool:
    try:
        socket.inet_pton(socket.AF_INET, host)
    except OSError:
        return False
    return True
