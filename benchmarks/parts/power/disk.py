"""A disk that loses power: what its files may hold after a cut, given what was asked of it and what was synced.

What is promised by a file system is little (POSIX): a file's content is there once it was synced, a name once its
folder was. Anything asked for since then is, each by itself, there, not there or there in part, in any order. A
sector (512 bytes) is written whole or not at all; ``Outcome.WRECKED`` takes that promise away too: the 4,096 bytes
around what was being written are then noise, as on cards that erase before they write.
"""

from __future__ import annotations

import enum
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

SECTOR_BYTES = 512
WRECKED_BYTES = 4096


@dataclass(frozen=True)
class Create:
    """A name that was not there now stands for a new, empty file."""

    name: str
    file: int


@dataclass(frozen=True)
class Delete:
    """A name stands for nothing any more."""

    name: str


@dataclass(frozen=True)
class Write:
    """Bytes were written into a file."""

    file: int
    offset: int
    content: bytes


@dataclass(frozen=True)
class Truncate:
    """A file was cut off, or grew by zeros."""

    file: int
    size: int


@dataclass(frozen=True)
class Sync:
    """A file's content was made durable."""

    file: int


@dataclass(frozen=True)
class SyncFolder:
    """The names in the folder were made durable."""


Request = Create | Delete | Write | Truncate | Sync | SyncFolder


class CutOutcome(enum.Enum):
    """What a cut makes of the requests that were not synced yet."""

    ALL_KEPT = "all kept"
    NONE_KEPT = "none kept"
    CUT_SHORT = "cut short"
    SHUFFLED = "shuffled"
    SECTORS = "each sector by itself"
    WRECKED = "sectors wrecked"


@dataclass
class _File:
    durable: bytes = b""
    since: list[Write | Truncate] = field(default_factory=list)


class Disk:
    """One folder on a disk: the requests in order, and what may be left of it after any of them."""

    def __init__(self, files: Mapping[str, bytes] | None = None) -> None:
        """Begin with durable files by name."""
        self.requests: list[Request] = []
        self._begun = dict(files or {})
        self._replay: _Replay | None = None

    def __len__(self) -> int:
        return len(self.requests)

    @property
    def sync_points(self) -> list[int]:
        """How many requests had been carried out before each sync, and after it."""
        points = {0, len(self.requests)}
        for index, request in enumerate(self.requests):
            if isinstance(request, Sync | SyncFolder):
                points |= {index, index + 1}
        return sorted(points)

    def number_of(self, name: str) -> int | None:
        """Give the number of a file that was there from the beginning."""
        names = sorted(self._begun)
        return names.index(name) if name in self._begun else None

    @property
    def next_number(self) -> int:
        """A number no file has yet."""
        return len(self._begun) + sum(isinstance(request, Create) for request in self.requests)

    def after_cut(self, requests_done: int, outcome: CutOutcome, rng: random.Random) -> dict[str, bytes]:
        """Give the files after the power went when that many requests had been carried out."""
        if self._replay is None or self._replay.done > requests_done:
            self._replay = _Replay(self._begun)
        self._replay.go_on(self.requests[self._replay.done : requests_done])
        files = self._replay.files
        names = dict(self._replay.names)
        _rename(names, _names_kept(self._replay.pending, outcome, rng))
        stale = [file.durable for file in files.values() if file.durable]
        return {name: _left_of(files[number], outcome, rng, stale) for name, number in sorted(names.items())}


class _Replay:
    """What is durable, and what was asked for since, after so many requests."""

    def __init__(self, begun: Mapping[str, bytes]) -> None:
        self.done = 0
        self.names = {name: number for number, name in enumerate(sorted(begun))}
        self.files = {number: _File(begun[name]) for name, number in self.names.items()}
        self.pending: list[Create | Delete] = []

    def go_on(self, requests: Sequence[Request]) -> None:
        self.done += len(requests)
        for request in requests:
            match request:
                case Create() | Delete():
                    self.pending.append(request)
                    if isinstance(request, Create):
                        self.files[request.file] = _File()
                case Write() | Truncate():
                    self.files[request.file].since.append(request)
                case Sync():
                    synced = self.files[request.file]
                    synced.durable = _carried_out(synced.durable, synced.since)
                    synced.since.clear()
                case SyncFolder():
                    _rename(self.names, self.pending)
                    self.pending.clear()


def _rename(names: dict[str, int], changes: Sequence[Create | Delete]) -> None:
    for change in changes:
        if isinstance(change, Create):
            names[change.name] = change.file
        else:
            names.pop(change.name, None)


def _names_kept(pending: Sequence[Create | Delete], outcome: CutOutcome, rng: random.Random) -> list[Create | Delete]:
    """The changes of names that reached the disk: of each name a first few, whatever became of other names."""
    if outcome is CutOutcome.ALL_KEPT:
        return list(pending)
    if outcome is CutOutcome.NONE_KEPT:
        return []
    kept: list[Create | Delete] = []
    for name in sorted({change.name for change in pending}):
        of_name = [change for change in pending if change.name == name]
        kept += of_name[: rng.randint(0, len(of_name))]
    return kept


def _left_of(file: _File, outcome: CutOutcome, rng: random.Random, stale: Sequence[bytes]) -> bytes:
    match outcome:
        case CutOutcome.ALL_KEPT:
            return _carried_out(file.durable, file.since)
        case CutOutcome.NONE_KEPT:
            return file.durable
        case CutOutcome.CUT_SHORT:
            done = rng.randint(0, len(file.since))
            torn = [_torn(request, rng) for request in file.since[done : done + 1]]
            return _carried_out(file.durable, [*file.since[:done], *torn])
        case CutOutcome.SHUFFLED:
            some = [_torn(request, rng) if rng.random() < 0.3 else request for request in file.since]
            some = rng.sample(some, rng.randint(0, len(some)))
            return _carried_out(file.durable, some)
        case CutOutcome.SECTORS:
            return _sector_by_sector(file, rng, stale)
        case CutOutcome.WRECKED:
            return _wrecked(file, rng)


def _carried_out(content: bytes, requests: Sequence[Write | Truncate]) -> bytes:
    if not requests:
        return content
    now = bytearray(content)
    for request in requests:
        if isinstance(request, Truncate):
            del now[request.size :]
            now.extend(bytes(request.size - len(now)))
        else:
            now.extend(bytes(max(0, request.offset - len(now))))
            now[request.offset : request.offset + len(request.content)] = request.content
    return bytes(now)


def _torn(request: Write | Truncate, rng: random.Random) -> Write | Truncate:
    """A run of sectors of a write, perhaps none; a truncation is done or not."""
    if isinstance(request, Truncate):
        return request
    end = request.offset + len(request.content)
    borders = [request.offset, *range(_up(request.offset + 1), end, SECTOR_BYTES), end]
    begin, stop = sorted(rng.choices(borders, k=2))
    return Write(request.file, begin, request.content[begin - request.offset : stop - request.offset])


def _up(offset: int) -> int:
    return -(-offset // SECTOR_BYTES) * SECTOR_BYTES


def _sector_by_sector(file: _File, rng: random.Random, stale: Sequence[bytes]) -> bytes:
    """Every sector as it was at some time since the sync, whatever the others are; never-written ones anything."""
    if not file.since:
        return file.durable
    versions = [file.durable]
    for request in file.since:
        versions.append(_carried_out(versions[-1], [request]))
    size = len(rng.choice(versions))
    filler = rng.choice((bytes(size), rng.randbytes(size), (rng.choice(stale) if stale else b"").ljust(size, b"\0")))
    sectors = []
    for begin in range(0, size, SECTOR_BYTES):
        end = min(begin + SECTOR_BYTES, size)
        version = rng.choice(versions)[begin:end]
        sectors.append(version + filler[begin + len(version) : end])
    return b"".join(sectors)


def _wrecked(file: _File, rng: random.Random) -> bytes:
    """Like a write cut short, and the surroundings of the write it fell on are noise."""
    if not file.since:
        return file.durable
    done = rng.randrange(len(file.since))
    content = bytearray(_carried_out(file.durable, file.since[:done]))
    under_way = file.since[done]
    if isinstance(under_way, Write) and under_way.content:
        at = rng.randrange(under_way.offset, under_way.offset + len(under_way.content))
        begin = at // WRECKED_BYTES * WRECKED_BYTES
        content.extend(bytes(max(0, begin - len(content))))
        # Beyond the end the file may have grown or not; what was there is noise in any case.
        end = begin + WRECKED_BYTES if rng.random() < 0.5 else min(begin + WRECKED_BYTES, max(len(content), begin))
        content[begin:end] = rng.randbytes(end - begin)
    return bytes(content)
