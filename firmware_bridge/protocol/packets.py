"""Frames: how a packet and its checksum travel, so that a reader finds their boundaries. Pure.

The checksum is the CRC-32 of IEEE 802.3 (``zlib.crc32``). Frames are COBS (S. Cheshire, M. Baker, *Consistent Overhead
Byte Stuffing*, IEEE/ACM Transactions on Networking 7(2), 1999) between two zeros, so the next frame begins at the next
zero after any loss or noise.
"""

import zlib
from dataclasses import dataclass

from cobs import cobs

from firmware_bridge.errors import MessageError

CHECKSUM_BYTES = 4
SMALLEST_PACKET = 2
"""Bytes of the smallest packet, without its checksum: kind and version."""
LARGEST_PACKET = 1276
"""Bytes of the largest one: 300 lights of 3 bytes, and fields."""
LARGEST_ENCODED = LARGEST_PACKET + CHECKSUM_BYTES + (LARGEST_PACKET + CHECKSUM_BYTES) // 254 + 1
"""Bytes of the largest packet with its checksum once it is encoded, without the zeros around it."""
DELIMITER = b"\x00"


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


def encode_frame(packet: bytes) -> bytes:
    """Encode a packet as a frame, with its checksum and the zeros before and after it.

    Raises MessageError for one that is too long.
    """
    if len(packet) > LARGEST_PACKET:
        raise MessageError(f"a packet of {len(packet)} bytes; the largest has {LARGEST_PACKET}")
    encoded: bytes = cobs.encode(packet + zlib.crc32(packet).to_bytes(CHECKSUM_BYTES, "little"))
    return DELIMITER + encoded + DELIMITER


class PacketReader:
    """Extracts valid packets from a stream of bytes in any pieces; never raises.

    Bytes between two zeros that are not a frame are dropped and counted; at most one frame's bytes are buffered.
    """

    def __init__(self) -> None:
        self.packets = 0
        self._dropped = dict.fromkeys(("undecodable", "long", "short", "checksum"), 0)
        self._partial = bytearray()
        self._is_skipping = False

    def start_again(self) -> None:
        """Drop what has come of a frame: other bytes will follow."""
        self._partial.clear()
        self._is_skipping = False

    def feed(self, data: bytes) -> list[bytes]:
        """Process bytes, and return the packets of the frames they completed, in order, without their checksums."""
        packets: list[bytes] = []
        *closed, rest = data.split(DELIMITER)
        for piece in closed:
            self._append(piece)
            packet = self._close()
            if packet is not None:
                packets.append(packet)
        self._append(rest)
        self.packets += len(packets)
        return packets

    @property
    def dropped(self) -> DroppedFrames:
        """The frames dropped so far."""
        return DroppedFrames(**self._dropped)

    def _append(self, piece: bytes) -> None:
        if self._is_skipping:
            return
        if len(self._partial) + len(piece) > LARGEST_ENCODED:
            self._dropped["long"] += 1
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
            data: bytes = cobs.decode(encoded)
        except cobs.DecodeError:
            self._dropped["undecodable"] += 1
            return None
        packet, stated = data[:-CHECKSUM_BYTES], data[-CHECKSUM_BYTES:]
        if len(packet) < SMALLEST_PACKET:
            self._dropped["short"] += 1
        elif len(packet) > LARGEST_PACKET:
            self._dropped["long"] += 1
        elif zlib.crc32(packet) != int.from_bytes(stated, "little"):
            self._dropped["checksum"] += 1
        else:
            return packet
        return None
