"""A model of a disk that loses power: what its files may hold after a cut, given its requests and syncs.

POSIX guarantees little: a file's content is durable once the file was synced, a name once its folder was. Each later
request may be carried out, lost or carried out in part, in any order. A sector (512 bytes) is written atomically,
except with ``CutOutcome.WRECKED``: then the 4,096 bytes around an interrupted write are noise, as on cards that erase
first.
"""

import enum
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

SECTOR_BYTES = 512
WRECKED_BYTES = 4096


@dataclass(frozen=True)
class Create:
    """A new, empty file with this name."""

    name: str
    file: int


@dataclass(frozen=True)
class Delete:
    """A name is removed."""

    name: str


@dataclass(frozen=True)
class Write:
    """Bytes are written into a file."""

    file: int
    offset: int
    content: bytes


@dataclass(frozen=True)
class Truncate:
    """A file is truncated, or extended by zeros."""

    file: int
    size: int


@dataclass(frozen=True)
class Sync:
    """A file's content is made durable."""

    file: int


@dataclass(frozen=True)
class SyncFolder:
    """The names in the folder are made durable."""


Request = Create | Delete | Write | Truncate | Sync | SyncFolder


class CutOutcome(enum.Enum):
    """What happens to unsynced requests in a cut."""

    ALL_KEPT = "all kept"
    NONE_KEPT = "none kept"
    CUT_SHORT = "cut short"
    SHUFFLED = "shuffled"
    SECTORS = "each sector by itself"
    WRECKED = "sectors wrecked"


@dataclass
class _File:
    durable: bytes = b""
    unsynced: list[Write | Truncate] = field(default_factory=list)


class Disk:
    """A folder on a disk: its requests in order, and its possible contents after a cut."""

    def __init__(self, files: Mapping[str, bytes] | None = None) -> None:
        """Start with durable files by name."""
        self.requests: list[Request] = []
        self._initial = dict(files or {})
        self._replay: _Replay | None = None

    def __len__(self) -> int:
        return len(self.requests)

    @property
    def sync_points(self) -> list[int]:
        """Numbers of requests before and after each sync."""
        points = {0, len(self.requests)}
        for index, request in enumerate(self.requests):
            if isinstance(request, Sync | SyncFolder):
                points |= {index, index + 1}
        return sorted(points)

    def number_of(self, name: str) -> int | None:
        """Give the number of an initial file."""
        names = sorted(self._initial)
        return names.index(name) if name in self._initial else None

    @property
    def next_number(self) -> int:
        """The first unused file number."""
        return len(self._initial) + sum(isinstance(request, Create) for request in self.requests)

    def after_cut(self, requests_done: int, outcome: CutOutcome, rng: random.Random) -> dict[str, bytes]:
        """Give the files after a power cut that follows so many requests."""
        if self._replay is None or self._replay.done > requests_done:
            self._replay = _Replay(self._initial)
        self._replay.advance(self.requests[self._replay.done : requests_done])
        files = self._replay.files
        names = dict(self._replay.names)
        _rename(names, _names_kept(self._replay.pending, outcome, rng))
        stale = [file.durable for file in files.values() if file.durable]
        return {name: _after_cut(files[number], outcome, rng, stale) for name, number in sorted(names.items())}


class _Replay:
    """The durable content and the unsynced requests after the first ``done`` requests."""

    def __init__(self, initial: Mapping[str, bytes]) -> None:
        self.done = 0
        self.names = {name: number for number, name in enumerate(sorted(initial))}
        self.files = {number: _File(initial[name]) for name, number in self.names.items()}
        self.pending: list[Create | Delete] = []

    def advance(self, requests: Sequence[Request]) -> None:
        self.done += len(requests)
        for request in requests:
            match request:
                case Create() | Delete():
                    self.pending.append(request)
                    if isinstance(request, Create):
                        self.files[request.file] = _File()
                case Write() | Truncate():
                    self.files[request.file].unsynced.append(request)
                case Sync():
                    synced = self.files[request.file]
                    synced.durable = _applied(synced.durable, synced.unsynced)
                    synced.unsynced.clear()
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
    """The changes of names that reach the disk: the first few of each name, independently."""
    if outcome is CutOutcome.ALL_KEPT:
        return list(pending)
    if outcome is CutOutcome.NONE_KEPT:
        return []
    kept: list[Create | Delete] = []
    for name in sorted({change.name for change in pending}):
        of_name = [change for change in pending if change.name == name]
        kept += of_name[: rng.randint(0, len(of_name))]
    return kept


def _after_cut(file: _File, outcome: CutOutcome, rng: random.Random, stale: Sequence[bytes]) -> bytes:
    match outcome:
        case CutOutcome.ALL_KEPT:
            return _applied(file.durable, file.unsynced)
        case CutOutcome.NONE_KEPT:
            return file.durable
        case CutOutcome.CUT_SHORT:
            done = rng.randint(0, len(file.unsynced))
            torn = [_torn(request, rng) for request in file.unsynced[done : done + 1]]
            return _applied(file.durable, [*file.unsynced[:done], *torn])
        case CutOutcome.SHUFFLED:
            some = [_torn(request, rng) if rng.random() < 0.3 else request for request in file.unsynced]
            some = rng.sample(some, rng.randint(0, len(some)))
            return _applied(file.durable, some)
        case CutOutcome.SECTORS:
            return _sector_by_sector(file, rng, stale)
        case CutOutcome.WRECKED:
            return _wrecked(file, rng)


def _applied(content: bytes, requests: Sequence[Write | Truncate]) -> bytes:
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
    """A random run of sectors of a write, perhaps none; a truncation unchanged."""
    if isinstance(request, Truncate):
        return request
    end = request.offset + len(request.content)
    borders = [request.offset, *range(_up(request.offset + 1), end, SECTOR_BYTES), end]
    begin, stop = sorted(rng.choices(borders, k=2))
    return Write(request.file, begin, request.content[begin - request.offset : stop - request.offset])


def _up(offset: int) -> int:
    return -(-offset // SECTOR_BYTES) * SECTOR_BYTES


def _sector_by_sector(file: _File, rng: random.Random, stale: Sequence[bytes]) -> bytes:
    """Each sector as it was at a random time unsynced the sync; never-written ones hold a filler."""
    if not file.unsynced:
        return file.durable
    versions = [file.durable]
    for request in file.unsynced:
        versions.append(_applied(versions[-1], [request]))
    size = len(rng.choice(versions))
    filler = rng.choice((bytes(size), rng.randbytes(size), (rng.choice(stale) if stale else b"").ljust(size, b"\0")))
    sectors = []
    for begin in range(0, size, SECTOR_BYTES):
        end = min(begin + SECTOR_BYTES, size)
        version = rng.choice(versions)[begin:end]
        sectors.append(version + filler[begin + len(version) : end])
    return b"".join(sectors)


def _wrecked(file: _File, rng: random.Random) -> bytes:
    """All requests before a random one, with noise around that one."""
    if not file.unsynced:
        return file.durable
    done = rng.randrange(len(file.unsynced))
    content = bytearray(_applied(file.durable, file.unsynced[:done]))
    under_way = file.unsynced[done]
    if isinstance(under_way, Write) and under_way.content:
        at = rng.randrange(under_way.offset, under_way.offset + len(under_way.content))
        begin = at // WRECKED_BYTES * WRECKED_BYTES
        content.extend(bytes(max(0, begin - len(content))))
        # The file may grow beyond its end or not; its old content there is noise in any case.
        end = begin + WRECKED_BYTES if rng.random() < 0.5 else min(begin + WRECKED_BYTES, max(len(content), begin))
        content[begin:end] = rng.randbytes(end - begin)
    return bytes(content)
