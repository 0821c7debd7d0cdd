"""SQLite's write-ahead log, read without SQLite: also what lies behind a damaged place, where SQLite stops.

Each frame of the log is a page of the database. Its checksum continues that of the frame before it, whose stored value
is enough to check it. So frames behind a damaged one can be told from noise and from those of an earlier generation.
"""

import operator
import struct
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_MAGIC = 0x377F0682
"""Of a log with little-endian checksums; the last bit is set in those with big-endian ones."""
_HEADER_BYTES = 32
_FRAME_HEADER = struct.Struct(">6I")
_USUAL_PAGE_BYTES = 4096
"""The size of a journal's pages, for a log whose header is lost."""
_PAGE_BYTES = frozenset(2**power for power in range(9, 17))
_MASK = 0xFFFFFFFF
_READ_WRITE_VERSIONS = slice(18, 20)
"""Where a database says that a log belongs to it."""


@dataclass(frozen=True)
class Frame:
    """A page of the database as a transaction left it; ``pages`` is the database's size if it ends the transaction."""

    number: int
    pages: int
    content: bytes


@dataclass(frozen=True)
class Log:
    """The frames of a log.

    ``read`` are those that SQLite reads. ``intact`` are those of all transactions except the last ones if a frame of
    theirs is damaged: a power cut leaves such a transaction too, which nobody was told of.
    """

    page_bytes: int
    read: tuple[Frame, ...]
    intact: tuple[Frame, ...]
    transactions_behind: int
    """The transactions behind the place where SQLite stops, as far as they can be counted."""


def log_path(journal: Path) -> Path:
    """Return the path of a journal's log; SQLite keeps it beside the file itself, not beside a link to it."""
    file = journal.resolve()
    return file.with_name(file.name + "-wal")


def read_log(content: bytes) -> Log:
    """Read a log's bytes, whatever they are."""
    header = struct.unpack(">8I", content[:_HEADER_BYTES].ljust(_HEADER_BYTES, b"\0"))
    magic, _, page_bytes, _, *salts_and_sums = header
    salts, sums = tuple(salts_and_sums[:2]), (salts_and_sums[2], salts_and_sums[3])
    order = ">" if magic & 1 else "<"
    is_whole = (
        len(content) > _HEADER_BYTES
        and magic & ~1 == _MAGIC
        and page_bytes in _PAGE_BYTES
        and _Checksums(order, 24).of((0, 0), content[:24]) == sums
    )
    if not is_whole:
        salts, page_bytes, order = (), _USUAL_PAGE_BYTES, ">" if sys.byteorder == "big" else "<"
    checksums = _Checksums(order, 8 + page_bytes)
    frames: list[Frame | None] = []
    for fields, page in _raw_frames(content, page_bytes):
        number, pages, salt_1, salt_2, *stored = fields
        frame = None
        if not salts or salts == (salt_1, salt_2):
            data = _FRAME_HEADER.pack(*fields)[:8] + page
            if number and checksums.of(sums, data) == (stored[0], stored[1]):
                frame, salts = Frame(number, pages, page), (salt_1, salt_2)
        frames.append(frame)
        sums = (stored[0], stored[1])
    read = _ended(frames[: frames.index(None)] if None in frames else frames) if is_whole else []
    transactions = list(_transactions(frames))
    while transactions and None in transactions[-1]:
        transactions.pop()
    intact = [frame for each in transactions for frame in each if frame is not None]
    behind = sum(1 for _ in _transactions(frames[len(read) :]))
    return Log(page_bytes, tuple(each for each in read if each), tuple(intact), behind)


def with_log(database: bytes, page_bytes: int, frames: Sequence[Frame]) -> bytes:
    """Return a database's bytes with the pages of a log in it, so that it needs no log.

    A page that is in neither stays zero.
    """
    image = bytearray(database)
    for frame in frames:
        end = frame.number * page_bytes
        image.extend(bytes(max(0, end - len(image))))
        image[end - page_bytes : end] = frame.content
    if frames:
        size = frames[-1].pages * page_bytes
        image.extend(bytes(max(0, size - len(image))))
        del image[size:]
    if image:
        image[_READ_WRITE_VERSIONS] = b"\1\1"
    return bytes(image)


def _raw_frames(content: bytes, page_bytes: int) -> Iterator[tuple[tuple[int, ...], bytes]]:
    frame_bytes = _FRAME_HEADER.size + page_bytes
    for begin in range(_HEADER_BYTES, len(content) - frame_bytes + 1, frame_bytes):
        page = begin + _FRAME_HEADER.size
        yield _FRAME_HEADER.unpack_from(content, begin), content[page : page + page_bytes]


def _ended(frames: Sequence[Frame | None]) -> list[Frame | None]:
    """Leave out the frames of an unfinished transaction at the end."""
    ends = [index for index, frame in enumerate(frames, start=1) if frame is not None and frame.pages]
    return list(frames[: ends[-1]]) if ends else []


def _transactions(frames: Sequence[Frame | None]) -> Iterator[list[Frame | None]]:
    """Split frames at each end of a transaction; the frames that pad it, copies of its last one, belong to it."""
    one: list[Frame | None] = []
    for index, frame in enumerate(frames):
        one.append(frame)
        following = frames[index + 1] if index + 1 < len(frames) else None
        if frame is not None and frame.pages and frame != following:
            yield one
            one = []


class _Checksums:
    """SQLite's checksum of a fixed number of bytes: a sum of their 32-bit words, weighted by Fibonacci's numbers."""

    def __init__(self, order: str, size_bytes: int) -> None:
        words = size_bytes // 4
        self._words = struct.Struct(f"{order}{words}I")
        numbers = [0, 1]
        while len(numbers) <= words:
            numbers.append((numbers[-2] + numbers[-1]) & _MASK)
        self._first, self._second = numbers[words - 1 :: -1], numbers[words:0:-1]
        self._ends = numbers[words - 1], numbers[words]

    def of(self, before: tuple[int, int], data: bytes) -> tuple[int, int]:
        """Continue the checksum ``before`` with the data."""
        words = self._words.unpack(data)
        s1, s2 = before
        near, far = self._ends
        following = near + far & _MASK
        return (
            (near * s1 + far * s2 + sum(map(operator.mul, words, self._first))) & _MASK,
            (far * s1 + following * s2 + sum(map(operator.mul, words, self._second))) & _MASK,
        )
