"""Frames: where a packet begins and ends among the bytes of a serial line. Pure.

A packet is written with COBS (S. Cheshire, M. Baker, *Consistent Overhead Byte Stuffing*, IEEE/ACM Transactions on
Networking 7(2), 1999), which leaves no zero in it, and stands between two zeros. So whatever was lost or added, the
next frame begins at the next zero.
"""

from __future__ import annotations

from cobs import cobs

from firmware_bridge.protocol.errors import PacketLongError

DELIMITER = b"\x00"
LARGEST_PACKET = 7 + 1024 + 4
"""Bytes of the largest packet: header, payload, checksum."""
LARGEST_ENCODED = LARGEST_PACKET + LARGEST_PACKET // 254 + 1
"""Bytes of the largest packet once it is encoded, without the zeros around it."""


def encode_frame(packet: bytes) -> bytes:
    """Encode ``packet`` as a frame, with the zeros before and after it.

    Raises:
        PacketLongError: the packet is longer than the largest there is.
    """
    if len(packet) > LARGEST_PACKET:
        raise PacketLongError(f"a packet of {len(packet)} bytes; the largest has {LARGEST_PACKET}")
    encoded: bytes = cobs.encode(packet)
    return DELIMITER + encoded + DELIMITER


class FrameReader:
    """Bytes in, in whatever pieces they come; packets out. Nothing that comes in makes it fail.

    What is between two zeros and no frame is dropped and counted; never more than one frame's bytes are kept.

    Attributes:
        undecodable: frames dropped because they aren't COBS.
        long: frames dropped because they are longer than any packet.
    """

    def __init__(self) -> None:
        self.undecodable = 0
        self.long = 0
        self._partial = bytearray()
        self._is_skipping = False

    def feed(self, data: bytes) -> list[bytes]:
        """Take in bytes as they came, and give the packets whose frames they completed, in order."""
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
        """The packet of the frame that a zero just ended; ``None`` where there is none."""
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
