"""Packets: kinds, header, checksum; and the reader that extracts them from a stream of bytes."""

import struct

from .framing import crc32, decode_in_place

HELLO = 0x01  # kinds of packets and their sizes are in the protocol
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

FIRST_SEQUENCED = 0x10  # kinds from here on are delivered once, in order

HEADER_BYTES = 7
CHECKSUM_BYTES = 4
LARGEST_PAYLOAD = 1024
SMALLEST_PACKET = HEADER_BYTES + CHECKSUM_BYTES
LARGEST_PACKET = SMALLEST_PACKET + LARGEST_PAYLOAD
LARGEST_ENCODED = 1040

_HEADER = "<BHHH"


def read_header(packet: memoryview) -> tuple[int, int, int, int]:
    """Return kind, session, sequence and acknowledged number."""
    kind, session, sequence, acknowledged = struct.unpack_from(_HEADER, packet, 0)
    return kind, session, sequence, acknowledged


def make_packet(kind: int, session: int, sequence: int, acknowledged: int, payload: "bytes | memoryview") -> bytes:
    """Encode a packet with its checksum."""
    packet = bytearray(SMALLEST_PACKET + len(payload))
    struct.pack_into(_HEADER, packet, 0, kind, session, sequence, acknowledged)
    end = HEADER_BYTES + len(payload)
    packet[HEADER_BYTES:end] = payload
    struct.pack_into("<I", packet, end, crc32(memoryview(packet)[:end]))
    return bytes(packet)


class PacketHandler:
    """The receiver of packets."""

    def handle_packet(self, packet: memoryview, now: int) -> None:
        """Process a packet with the right checksum, which is cut off. The packet is overwritten afterwards."""
        raise NotImplementedError


class PacketReader:
    """Extracts valid packets from a stream of bytes; everything else is dropped and counted.

    Attributes:
        accepted: valid packets.
        undecodable: frames that aren't COBS.
        too_short: frames shorter than the smallest packet.
        too_long: frames longer than the largest packet, up to the next zero.
        wrong_checksum: frames whose checksum doesn't match.
    """

    def __init__(self, taker: PacketHandler) -> None:
        self._handler = taker
        self._frame = memoryview(bytearray(LARGEST_ENCODED))
        self._length = 0
        self._overflowed = False
        self.accepted = 0
        self.undecodable = 0
        self.too_short = 0
        self.too_long = 0
        self.wrong_checksum = 0

    def feed(self, data: bytes, now: int) -> None:
        """Process bytes that have arrived."""
        start = 0
        while True:
            zero = data.find(b"\0", start)
            self._keep(data, start, len(data) if zero < 0 else zero)
            if zero < 0:
                return
            self._finish(now)
            start = zero + 1

    def _keep(self, data: bytes, start: int, end: int) -> None:
        length = self._length + end - start
        if self._overflowed:
            return
        if length > LARGEST_ENCODED:
            self._overflowed = True
            self.too_long += 1
        else:
            self._frame[self._length : length] = memoryview(data)[start:end]
            self._length = length

    def _finish(self, now: int) -> None:
        length, overflowed = self._length, self._overflowed
        self._length, self._overflowed = 0, False
        if length and not overflowed:
            self._take(decode_in_place(self._frame, length), now)

    def _take(self, length: int, now: int) -> None:
        end = length - CHECKSUM_BYTES
        if length < 0:
            self.undecodable += 1
        elif length < SMALLEST_PACKET:
            self.too_short += 1
        elif length > LARGEST_PACKET:
            self.too_long += 1
        elif struct.unpack_from("<I", self._frame, end)[0] != crc32(self._frame[:end]):
            self.wrong_checksum += 1
        else:
            self.accepted += 1
            self._handler.handle_packet(self._frame[:end], now)
