"""CRC-32 as of IEEE 802.3, the one of zlib: by the interpreter's own routine where it has a right one."""

# The remainders of the sixteen nibbles for the reflected polynomial 0xEDB88320.
_NIBBLES = (
    0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
    0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C, 0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
)  # fmt: skip

# What every CRC-32 of this kind gives for the digits 1 to 9.
_CHECK_DATA = b"123456789"
_CHECK_VALUE = 0xCBF43926


def crc32_by_nibbles(data: "bytes | bytearray | memoryview") -> int:
    """Give the CRC-32, half a byte at a time with a table of 64 bytes."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        crc = (crc >> 4) ^ _NIBBLES[crc & 15]
        crc = (crc >> 4) ^ _NIBBLES[crc & 15]
    return crc ^ 0xFFFFFFFF


try:
    import binascii

    _INTERPRETER_KNOWS = binascii.crc32(_CHECK_DATA) == _CHECK_VALUE
except (ImportError, AttributeError):
    _INTERPRETER_KNOWS = False


def crc32(data: "bytes | bytearray | memoryview") -> int:
    """Give the CRC-32, as quickly as the interpreter can."""
    if _INTERPRETER_KNOWS:
        return binascii.crc32(data)
    return crc32_by_nibbles(data)
