"""The pictures that tables have sent, kept in memory within a limit for each table."""

from __future__ import annotations

from collections import OrderedDict

_MIB = 1024 * 1024
_RECORD_BYTES = 1024
"""The bytes that a picture takes beside its content and its name, rounded up."""


class Pictures:
    """The newest pictures, at most ``most_bytes`` of all tables and ``most_table_bytes`` of each.

    A table's oldest pictures make room for its new one, and then the oldest of all.
    """

    def __init__(self, most_bytes: int = 64 * _MIB, most_table_bytes: int = 8 * _MIB) -> None:
        self._most_bytes = most_bytes
        self._most_table_bytes = most_table_bytes
        self._kept: OrderedDict[tuple[str, int, str], bytes] = OrderedDict()
        self._table_bytes: dict[str, int] = {}

    @property
    def bytes_kept(self) -> int:
        """The bytes that all pictures take."""
        return sum(self._table_bytes.values())

    def get(self, seat: str, number: int, name: str) -> bytes | None:
        """Return a picture of a table's event, ``None`` if it isn't kept."""
        return self._kept.get((seat, number, name))

    def keep(self, seat: str, number: int, name: str, content: bytes) -> None:
        """Store a picture, replacing an older one of the same name."""
        key = (seat, number, name)
        if key in self._kept:
            self._drop(key)
        self._kept[key] = content
        self._table_bytes[seat] = self._table_bytes.get(seat, 0) + _size(key, content)
        while self._table_bytes.get(seat, 0) > self._most_table_bytes:
            self._drop(next(each for each in self._kept if each[0] == seat))
        while self.bytes_kept > self._most_bytes:
            self._drop(next(iter(self._kept)))

    def drop(self, seat: str, first: int = 0) -> None:
        """Forget a table's pictures of the events from ``first`` on."""
        for key in [each for each in self._kept if each[0] == seat and each[1] >= first]:
            self._drop(key)

    def _drop(self, key: tuple[str, int, str]) -> None:
        seat = key[0]
        self._table_bytes[seat] -= _size(key, self._kept.pop(key))
        if not self._table_bytes[seat]:
            del self._table_bytes[seat]


def _size(key: tuple[str, int, str], content: bytes) -> int:
    _, _, name = key
    return _RECORD_BYTES + len(name.encode("utf-8", "replace")) + len(content)
