"""COBS and CRC-32 as plainly as their definitions say, however slow."""


def crc32(data: bytes) -> int:
    """CRC-32 of IEEE 802.3, bit by bit: the polynomial 0x04C11DB7 read backwards, all ones before and after."""
    register = 0xFFFFFFFF
    for byte in data:
        register ^= byte
        for _ in range(8):
            register = register >> 1 ^ 0xEDB88320 if register & 1 else register >> 1
    return register ^ 0xFFFFFFFF


def cobs_encode(data: bytes) -> bytes:
    """Cut what stands between zeros into blocks of 254 bytes; each begins with its length and one.

    A block of 254 means no zero after it, so one is only closed by a shorter block where data or a zero follow.
    """
    encoded = b""
    pieces = data.split(b"\x00")
    for number, piece in enumerate(pieces):
        while len(piece) >= 254:
            encoded += b"\xff" + piece[:254]
            piece = piece[254:]
            if not piece and number == len(pieces) - 1:
                return encoded
        encoded += bytes([len(piece) + 1]) + piece
    return encoded


def cobs_decode(encoded: bytes) -> bytes | None:
    """The other way round; ``None`` for what is no COBS."""
    data = b""
    at = 0
    while at < len(encoded):
        length = encoded[at] - 1
        block = encoded[at + 1 : at + 1 + length]
        if length < 0 or len(block) < length or 0 in block:
            return None
        at += 1 + length
        data += block
        if length < 254 and at < len(encoded):
            data += b"\x00"
    return data
