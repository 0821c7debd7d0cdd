"""Lights on a WLED controller: by USB as Adalight frames, or over the network by DDP.

Facts are from WLED's documentation (kno.wled.ge) and its source, version 0.15. After 2.5 s without a frame it returns
to its own effect (``realtimeTimeoutMs``). It uses realtime values as they are, without gamma correction
(``arlsDisableGammaCorrection`` is set by default).

An Adalight frame is ``Ada``, the number of lights minus one (2 bytes, high byte first), a check byte (both XORed with
0x55), then red, green and blue of each light. Between frames WLED interprets single bytes as commands (its
wled_serial.cpp): ``v`` requests its version, 0xB0 to 0xB7 change the baud rate permanently. If it starts in the middle
of a frame, as after a reset, it would interpret colours as commands, so those bytes are never sent as colours.

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
from firmware_bridge.ports.port import DEFAULT_BAUD, Port, open_port
from firmware_bridge.ports.serial_ports import WLED, certain_foreign_device

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


BAUDS = (115_200, 230_400, 460_800, 500_000, 576_000, 921_600, 1_000_000, 1_500_000)
"""Baud rates supported by WLED; 115200 unless changed in *Sync settings*."""

_COMMANDS = frozenset(b"AIvXlLoO^{\xc9") | frozenset(range(0xB0, 0xB8))
_BITS_A_BYTE = 10  # with start and stop bit
_STUCK_S = 5.0  # a port that takes nothing for so long is lost; set by hand
_HEARD_BYTES = 512  # kept to name a foreign device by
SERIAL_STEADY_S = _STUCK_S + 1.0
"""Time without errors after which a WLED counts as connected: a full buffer is only noticed late."""

_SOONEST_S = 0.005  # between two frames; set by hand
_PAUSE_S = 0.005  # after a frame, in which WLED shows it; set by hand
_LIGHT_S = 30e-6
"""A WS2812 takes 24 bits of 1.25 µs."""


def _nearest_colour(value: int) -> int:
    return min((other for other in range(256) if other not in _COMMANDS), key=lambda other: abs(other - value))


_REPLACEMENTS = bytes(_nearest_colour(value) for value in range(256))


def replace_commands(colours: bytes) -> bytes:
    """Replace each byte that WLED could interpret as a command by the nearest other one: at most 4 of 255 away."""
    return colours.translate(_REPLACEMENTS)


def adalight_frame(colours: bytes) -> bytes:
    """Encode a frame for the serial line: header and colours."""
    high, low = divmod(len(colours) // CHANNELS - 1, 256)
    return b"Ada" + bytes((high, low, high ^ low ^ 0x55)) + colours


def frame_s(lights: int, bytes_a_second: float) -> float:
    """Return the total time of a frame with that many lights: on the line, on the strip, and the pause after it."""
    line_s = len(adalight_frame(bytes(CHANNELS * lights))) / bytes_a_second
    return line_s + lights * _LIGHT_S + _PAUSE_S


class WledSerial:
    """A pixel output on a serial port, which writes as much as there is room for and never blocks.

    A frame waits while the line is busy with the one before; a newer one replaces it. ``refresh_s`` then requests a
    call as soon as the line is free, so frames are sent as fast as the line allows. After each frame the line pauses
    for as long as the strip takes to show it and 5 ms more: WLED up to 0.14 restarts when bytes arrive without a pause
    (github.com/wled/WLED/issues/2618 and 3409). ``baud`` is as set in WLED, one of ``BAUDS``; ``clock`` is the
    driver's.

    Raises PortError, with what to do, for a port that can't be used.
    """

    def __init__(
        self,
        port: str,
        lights: int,
        clock: Callable[[], float],
        *,
        baud: int = DEFAULT_BAUD,
        open_port: Callable[[str, int], Port] = open_port,
    ) -> None:
        self.lights = lights
        self._clock = clock
        self._bytes_a_second = baud / _BITS_A_BYTE
        self._heard = b""
        self._rest = b""
        self._waiting: bytes | None = None
        self._free_at_s = self._progress_s = self._shown_s = clock()
        self._port = open_port(port, baud)

    @property
    def refresh_s(self) -> float | None:
        """Seconds until the next call: until the line is free, if a frame waits; a second otherwise."""
        if self._waiting is None and not self._rest:
            return REFRESH_S
        return max(_SOONEST_S, self._free_at_s - self._shown_s)

    def show(self, colours: bytes) -> None:
        """Send a frame, or keep it until the line is free.

        Raises PortGoneError when the cable is unplugged, WledError when the port has accepted nothing for 5 seconds or
        when the device's output proves that it is not a WLED.
        """
        frame = check_frame(colours, self.lights)
        self._waiting = adalight_frame(replace_commands(linearize(frame)))
        self._shown_s = self._clock()
        self._listen()
        self._write(self._shown_s)

    def close(self) -> None:
        """Send what may be sent now and release the port; WLED returns to its own effect after 2.5 s."""
        now_s = self._clock()
        is_stuck = self._is_stuck(now_s)
        try:
            if not is_stuck:
                self._write(now_s)
        finally:
            if is_stuck:
                # closing would wait for a device that accepts nothing, on Linux up to 30 s
                self._port.discard()
            self._port.close()

    def _listen(self) -> None:
        """Read the device's output, which detects an unplugged cable and other devices; WLED's own is ignored."""
        received = self._port.read()
        if not received:
            return
        self._heard = (self._heard + received)[-_HEARD_BYTES:]
        device = certain_foreign_device(self._heard)
        if device not in (None, WLED):
            raise WledError(
                "{name} is {device} and not WLED; name the port of the WLED in the settings", self._port.name, device
            )

    def _is_stuck(self, now_s: float) -> bool:
        return bool(self._rest) and now_s >= self._progress_s + _STUCK_S

    def _write(self, now_s: float) -> None:
        if not self._rest and self._waiting is not None and now_s >= self._free_at_s:
            self._rest, self._waiting = self._waiting, None
            self._free_at_s = now_s + frame_s(self.lights, self._bytes_a_second)
            self._progress_s = now_s
        if not self._rest:
            return
        written = self._port.write(self._rest)
        self._rest = self._rest[written:]
        if written:
            self._progress_s = now_s
        elif self._is_stuck(now_s):
            raise WledError(
                "{name} has taken no light for {stuck_s} seconds; is it the WLED controller's port? Unplug "
                "it and plug it in again",
                self._port.name,
                f"{_STUCK_S:.0f}",
            )


DDP_PORT = 4048  # of the Distributed Display Protocol, whose fields follow
MAX_DATA_BYTES = 1440
"""Bytes of data in one packet: 480 lights; with its header it fits an Ethernet frame."""

LOOK_UP_S = 4.0
"""Maximum time for looking up a name before it is reported as a fault."""

NETWORK_STEADY_S = 5.0
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
    ``NETWORK_STEADY_S``. Raises WledSettingError if ``host`` can't be a name or an address.
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
