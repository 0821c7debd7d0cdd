"""Packets: a header, a payload and a checksum, framed so that a reader finds their boundaries. Pure.

The checksum is the CRC-32 of IEEE 802.3 (``zlib.crc32``). All numbers are little-endian. Frames are COBS (S. Cheshire,
M. Baker, *Consistent Overhead Byte Stuffing*, IEEE/ACM Transactions on Networking 7(2), 1999) between two zeros, so the
next frame begins at the next zero after any loss or noise.
"""

import enum
import struct
import zlib
from dataclasses import dataclass

from cobs import cobs

from firmware_bridge.errors import PacketChecksumError, PacketError, PacketLongError, PacketShortError

_HEADER = struct.Struct("<BHHH")
_CHECKSUM = struct.Struct("<I")

LARGEST_PAYLOAD = 1024  # bytes: 300 lights of 3 bytes, and fields
SMALLEST_PACKET = _HEADER.size + _CHECKSUM.size
LARGEST_PACKET = SMALLEST_PACKET + LARGEST_PAYLOAD
"""Bytes of the largest packet: header, payload, checksum."""
LARGEST_ENCODED = LARGEST_PACKET + LARGEST_PACKET // 254 + 1
"""Bytes of the largest packet once it is encoded, without the zeros around it."""
DELIMITER = b"\x00"
FIRST_SEQUENCED = 0x10  # kinds from here on are delivered once, in order
SEQUENCE_NUMBERS = 1 << 16
"""Number of sequence numbers; they count modulo this."""


class Kind(enum.IntEnum):
    """The kind of a packet. Kinds below 0x10 are unsequenced (never acknowledged, may be lost), others sequenced."""

    HELLO = 0x01
    WELCOME = 0x02
    REFUSED = 0x03
    RESTARTED = 0x04
    ACKNOWLEDGED = 0x05
    MISSING = 0x06
    PING = 0x07
    PONG = 0x08
    LOG = 0x09
    LIGHTS_ALL = 0x10
    LIGHTS_LIT = 0x11
    SOUND = 0x12
    CONFIGURE = 0x13
    SNAPSHOT = 0x14
    LEAVE = 0x15
    SENSORS = 0x20
    BUTTON = 0x21
    FAULT = 0x22


BOTH_WAYS = frozenset({Kind.ACKNOWLEDGED, Kind.MISSING})
FROM_HOST = frozenset(
    {
        Kind.HELLO,
        Kind.PING,
        Kind.LIGHTS_ALL,
        Kind.LIGHTS_LIT,
        Kind.SOUND,
        Kind.CONFIGURE,
        Kind.SNAPSHOT,
        Kind.LEAVE,
    }
)
FROM_DEVICE = frozenset(Kind) - FROM_HOST - BOTH_WAYS


def is_sequenced(kind: int) -> bool:
    """Return whether packets of this kind, known or not, are numbered and delivered in order, exactly once."""
    return kind >= FIRST_SEQUENCED


def may_come_from_device(kind: int) -> bool:
    """Return whether the device may send this kind; unknown kinds are judged by their range."""
    return not (kind in FROM_HOST or 0x10 <= kind <= 0x1F)


@dataclass(frozen=True)
class Packet:
    """A packet, without its checksum.

    ``kind`` is a ``Kind`` or an unknown number, ``session`` 1 to 65535, or 0 where there is none. ``sequence`` numbers
    sequenced kinds by direction; it is 0 otherwise. ``acknowledged`` is the number that its sender expects next. The
    payload has up to 1024 bytes.
    """

    kind: int
    session: int = 0
    sequence: int = 0
    acknowledged: int = 0
    payload: bytes = b""


def encode_packet(packet: Packet) -> bytes:
    """Encode ``packet`` with its checksum; raises PacketLongError for more than 1024 bytes, PacketError for a bad
    number.
    """
    if len(packet.payload) > LARGEST_PAYLOAD:
        raise PacketLongError(f"a payload of {len(packet.payload)} bytes; the largest has {LARGEST_PAYLOAD}")
    try:
        header = _HEADER.pack(packet.kind, packet.session, packet.sequence, packet.acknowledged)
    except struct.error as error:
        numbers = f"{packet.kind}, {packet.session}, {packet.sequence}, {packet.acknowledged}"
        raise PacketError(
            f"kind, session, sequence, acknowledged are {numbers}; expected 0 to 255, and 0 to 65535 each"
        ) from error
    body = header + packet.payload
    return body + _CHECKSUM.pack(zlib.crc32(body))


def decode_packet(data: bytes) -> Packet:
    """Decode a packet and check its checksum; raises PacketShortError, PacketLongError or PacketChecksumError."""
    if len(data) < SMALLEST_PACKET:
        raise PacketShortError(f"a packet of {len(data)} bytes; the smallest has {SMALLEST_PACKET}")
    if len(data) > LARGEST_PACKET:
        raise PacketLongError(f"a packet of {len(data)} bytes; the largest has {LARGEST_PACKET}")
    body = data[: -_CHECKSUM.size]
    (stated,) = _CHECKSUM.unpack_from(data, len(body))
    computed = zlib.crc32(body)
    if stated != computed:
        raise PacketChecksumError(f"a packet with the checksum {stated:08x}; that of its bytes is {computed:08x}")
    kind, session, sequence, acknowledged = _HEADER.unpack_from(body)
    return Packet(kind, session, sequence, acknowledged, body[_HEADER.size :])


def packet_frame(packet: Packet) -> bytes:
    """Encode ``packet`` as a frame for the wire."""
    return encode_frame(encode_packet(packet))


@dataclass(frozen=True)
class DroppedFrames:
    """Numbers of dropped frames by reason; a frame is counted once."""

    undecodable: int = 0
    long: int = 0
    short: int = 0
    checksum: int = 0

    @property
    def total(self) -> int:
        """The total number."""
        return self.undecodable + self.long + self.short + self.checksum


class PacketReader:
    """Extracts valid packets from a stream of bytes in any pieces; never raises."""

    def __init__(self) -> None:
        self.packets = 0
        self._frames = FrameReader()
        self._short = 0
        self._checksum = 0

    def feed(self, data: bytes) -> list[Packet]:
        """Process bytes, and return the valid packets of the frames they completed, in order."""
        packets = []
        for frame in self._frames.feed(data):
            try:
                packets.append(decode_packet(frame))
            except PacketShortError:
                self._short += 1
            except PacketChecksumError:
                self._checksum += 1
        self.packets += len(packets)
        return packets

    @property
    def dropped(self) -> DroppedFrames:
        """The frames dropped so far."""
        return DroppedFrames(self._frames.undecodable, self._frames.long, self._short, self._checksum)


def encode_frame(packet: bytes) -> bytes:
    """Encode ``packet`` as a frame, with the zeros before and after it; raises PacketLongError for one that is too
    long.
    """
    if len(packet) > LARGEST_PACKET:
        raise PacketLongError(f"a packet of {len(packet)} bytes; the largest has {LARGEST_PACKET}")
    encoded: bytes = cobs.encode(packet)
    return DELIMITER + encoded + DELIMITER


class FrameReader:
    """Extracts packets from a stream of bytes in any pieces; never raises.

    Bytes between two zeros that are not a frame are dropped and counted; at most one frame's bytes are buffered.
    """

    def __init__(self) -> None:
        self.undecodable = 0
        self.long = 0
        self._partial = bytearray()
        self._is_skipping = False

    def feed(self, data: bytes) -> list[bytes]:
        """Process bytes, and return the packets of the frames they completed, in order."""
        packets: list[bytes] = []
        *closed, rest = data.split(DELIMITER)
        for piece in closed:
            self._append(piece)
            packet = self._close()
            if packet is not None:
                packets.append(packet)
        self._append(rest)
        return packets

    def _append(self, piece: bytes) -> None:
        if self._is_skipping:
            return
        if len(self._partial) + len(piece) > LARGEST_ENCODED:
            self.long += 1
            self._is_skipping = True
            self._partial.clear()
        else:
            self._partial += piece

    def _close(self) -> bytes | None:
        """Return the packet of the frame that a zero just ended; ``None`` if it is invalid."""
        encoded = bytes(self._partial)
        self._partial.clear()
        self._is_skipping = False
        if not encoded:
            return None
        try:
            packet: bytes = cobs.decode(encoded)
        except cobs.DecodeError:
            self.undecodable += 1
            return None
        if len(packet) > LARGEST_PACKET:
            self.long += 1
            return None
        return packet
