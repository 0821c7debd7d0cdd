"""COBS and CRC-32 as plainly as their definitions say, however slow; and packets cut with ``struct`` alone."""

import struct


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


def cut(data: bytes) -> tuple[list[tuple[int, int, int, int, bytes]], dict[str, int]]:
    """The valid packets in bytes that begin and end with the line at rest, and what is wrong with the others."""
    packets = []
    wrong: dict[str, int] = {}
    *closed, rest = data.split(b"\x00")
    for piece in closed:
        if not piece:
            continue
        body = cobs_decode(piece) if len(piece) <= 1040 else None
        if len(piece) > 1040 or (body is not None and len(body) > 1035):
            fault = "long"
        elif body is None:
            fault = "undecodable"
        elif len(body) < 11:
            fault = "short"
        elif struct.unpack("<I", body[-4:])[0] != crc32(body[:-4]):
            fault = "checksum"
        else:
            packets.append((*struct.unpack("<BHHH", body[:7]), body[7:-4]))
            continue
        wrong[fault] = wrong.get(fault, 0) + 1
    if len(rest) > 1040:
        wrong["long"] = wrong.get("long", 0) + 1
    return packets, wrong
