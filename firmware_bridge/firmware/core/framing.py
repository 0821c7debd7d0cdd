"""Framing of packets: COBS keeps zeros out of them, and a CRC-32 detects corruption.

Consistent overhead byte stuffing is Cheshire and Baker's (IEEE/ACM ToN 7(2), 1999); whole runs are copied at once,
because a loop over bytes is slow on a microcontroller. The CRC-32 is that of IEEE 802.3 and zlib, computed by the
interpreter if it has a correct one.
"""

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
    """Decode the first ``length`` bytes, none of which is zero, in place.

    Returns:
        The length of the packet, or -1 when the last run ends beyond the frame.
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
