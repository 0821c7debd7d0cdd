"""Numbers and texts in payloads: written and read one by one, so that an error can name the field. Pure."""

from __future__ import annotations

from firmware_bridge.protocol.errors import MessageError

LONGEST_TEXT = 200
"""Bytes of UTF-8 that a text is cut to."""


class FieldWriter:
    """Builds the payload of the message called ``name``, field by field."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._bytes = bytearray()

    def number(self, field: str, value: int, size: int) -> None:
        """Write an unsigned little-endian number of ``size`` bytes.

        Raises:
            MessageError: it doesn't fit.
        """
        if not 0 <= value < 1 << 8 * size:
            raise MessageError(f"{self._name}: {field} is {value}; expected 0 to {(1 << 8 * size) - 1}")
        self._bytes += value.to_bytes(size, "little")

    def raw(self, data: bytes) -> None:
        """Write bytes as they are."""
        self._bytes += data

    def bits(self, values: tuple[bool, ...]) -> None:
        """Write one bit each, the first into bit 0 of the first byte."""
        packed = sum(1 << index for index, value in enumerate(values) if value)
        self._bytes += packed.to_bytes((len(values) + 7) // 8, "little")

    def payload(self) -> bytes:
        """All that was written."""
        return bytes(self._bytes)


class FieldReader:
    """Takes the payload of the message called ``name`` apart, field by field; what is left over is nobody's fault."""

    def __init__(self, name: str, payload: bytes) -> None:
        self._name = name
        self._payload = payload
        self._at = 0

    def raw(self, field: str, size: int) -> bytes:
        """Read ``size`` bytes.

        Raises:
            MessageError: the payload ends before.
        """
        end = self._at + size
        if end > len(self._payload):
            raise MessageError(
                f"{self._name}: the payload ends after {len(self._payload)} bytes; {field} needs bytes up to {end}"
            )
        data = self._payload[self._at : end]
        self._at = end
        return data

    def number(self, field: str, size: int) -> int:
        """Read an unsigned little-endian number of ``size`` bytes; raises MessageError when the payload ends before."""
        return int.from_bytes(self.raw(field, size), "little")

    def bits(self, field: str, count: int) -> tuple[bool, ...]:
        """Read ``count`` bits, the first from bit 0 of the first byte; raises MessageError like ``raw``."""
        packed = int.from_bytes(self.raw(field, (count + 7) // 8), "little")
        return tuple(bool(packed >> index & 1) for index in range(count))

    def text(self) -> str:
        """Read the rest as UTF-8; what isn't UTF-8 becomes U+FFFD."""
        return self.raw("text", len(self._payload) - self._at).decode("utf-8", "replace")


def text_bytes(text: str, longest: int = LONGEST_TEXT) -> bytes:
    """Encode a text as UTF-8, cut to ``longest`` bytes between two characters."""
    # A lone surrogate has no UTF-8; it becomes a question mark.
    encoded = text.encode("utf-8", "replace")
    return encoded[:longest].decode("utf-8", "ignore").encode("utf-8")
