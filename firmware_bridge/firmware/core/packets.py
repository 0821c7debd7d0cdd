"""Packets: kinds, checksum, framing; and the reader that extracts them from a stream of bytes.

COBS keeps zeros out of packets, and a CRC-32 detects corruption.
Consistent overhead byte stuffing is Cheshire and Baker's (IEEE/ACM ToN 7(2), 1999); whole runs are copied at once,
because a loop over bytes is slow on a microcontroller. The CRC-32 is that of IEEE 802.3 and zlib, computed by the
interpreter if it has a correct one.
"""

import struct

HOST_STATE = 0x48  # kinds of packets; the protocol has their fields
BOARD_STATE = 0x53
WELCOME = 0x57

CHECKSUM_BYTES = 4
SMALLEST_PACKET = 2 + CHECKSUM_BYTES  # kind and version
LARGEST_PACKET = 1280
LARGEST_ENCODED = 1286


def frame_of(packet: bytearray) -> bytearray:
    """Return the frame of a packet that has room for its checksum at its end."""
    end = len(packet) - CHECKSUM_BYTES
    struct.pack_into("<I", packet, end, crc32(memoryview(packet)[:end]))
    frame = bytearray(max_encoded_size(len(packet)) + 2)
    end = encode_into(bytes(packet), frame, 1)
    return frame[: end + 1]


class PacketHandler:
    """The receiver of packets."""

    def handle_packet(self, packet: memoryview, now: int) -> None:
        """Process a packet with the right checksum, which is cut off. The packet is overwritten afterwards."""
        raise NotImplementedError


class PacketReader:
    """Extracts valid packets from a stream of bytes; everything else is dropped and counted by its reason."""

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


_LONGEST_RUN = 254  # bytes after one COBS code


def max_encoded_size(length: int) -> int:
    """Return the maximum encoded size of a packet of ``length`` bytes."""
    return length + length // _LONGEST_RUN + 1


def encode_into(packet: bytes, target: bytearray, start: int) -> int:
    """Write the encoded packet into ``target`` from ``start``, and return its end."""
    at, done, length = start, 0, len(packet)
    while True:
        zero = packet.find(b"\0", done)
        end = length if zero < 0 else zero
        while end - done >= _LONGEST_RUN:
            target[at] = _LONGEST_RUN + 1
            target[at + 1 : at + 1 + _LONGEST_RUN] = packet[done : done + _LONGEST_RUN]
            at += 1 + _LONGEST_RUN
            done += _LONGEST_RUN
            if done == length:
                return at
        run = end - done
        target[at] = run + 1
        target[at + 1 : at + 1 + run] = packet[done:end]
        at += 1 + run
        if zero < 0:
            return at
        done = zero + 1


def decode_in_place(frame: memoryview, length: int) -> int:
    """Decode the first ``length`` bytes, none of which is zero, in place; return the packet's length.

    It is -1 if the last run ends beyond the frame.
    """
    read = written = 0
    while read < length:
        code = frame[read]
        end = read + code
        if end > length:
            return -1
        frame[written : written + code - 1] = frame[read + 1 : end]
        written += code - 1
        read = end
        if code <= _LONGEST_RUN and read < length:
            frame[written] = 0
            written += 1
    return written


# The remainders of the sixteen nibbles for the reflected polynomial 0xEDB88320.
_NIBBLES = (
    0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
    0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C, 0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
)  # fmt: skip

# The CRC-32 of the digits 1 to 9.
_CHECK_DATA = b"123456789"
_CHECK_VALUE = 0xCBF43926  # of CRC-32 over "123456789"


def crc32_by_nibbles(data: "bytes | bytearray | memoryview") -> int:
    """Compute the CRC-32, half a byte at a time with a table of 64 bytes."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        crc = (crc >> 4) ^ _NIBBLES[crc & 15]
        crc = (crc >> 4) ^ _NIBBLES[crc & 15]
    return crc ^ 0xFFFFFFFF


try:
    import binascii

    _HAS_BUILT_IN = binascii.crc32(_CHECK_DATA) == _CHECK_VALUE
except (ImportError, AttributeError):
    _HAS_BUILT_IN = False


def crc32(data: "bytes | bytearray | memoryview") -> int:
    """Compute the CRC-32, as fast as the interpreter can."""
    if _HAS_BUILT_IN:
        return binascii.crc32(data)
    return crc32_by_nibbles(data)
