"""The journal's file: tables, schema versions, upgrades, SQLite's errors, the writer's lock, and the write-ahead log.

The lock is on the journal's own file, so that no other file's removal lets a second writer in. The log is read without
SQLite: also what lies behind a damaged place, where SQLite stops. Each frame of it is a page of the database. Its
checksum continues that of the frame before it, whose stored value is enough to check it. So frames behind a damaged one
can be told from noise and from those of an earlier generation.
"""

import errno
import fcntl
import glob
import json
import operator
import os
import shutil
import sqlite3
import struct
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common.durable import make_private, open_private
from common.phrases import Phrase, either
from referee import errors

APPLICATION_ID = 0x54524546
"""``TREF`` in SQLite's header, which identifies a journal."""

_FIRST_TABLES = """
CREATE TABLE event (
    number INTEGER PRIMARY KEY,
    game INTEGER NOT NULL CHECK (game >= 1),
    kind TEXT NOT NULL,
    data TEXT NOT NULL CHECK (json_valid(data)),
    frame_time_s REAL,
    wall_time TEXT NOT NULL
) STRICT;
CREATE INDEX event_by_game ON event (game, number);
CREATE TRIGGER event_is_never_changed BEFORE UPDATE ON event
BEGIN SELECT RAISE(ABORT, 'a recorded event is never changed'); END;
CREATE TRIGGER event_is_never_removed BEFORE DELETE ON event
BEGIN SELECT RAISE(ABORT, 'a recorded event is never removed'); END;
CREATE TABLE evidence (
    number INTEGER PRIMARY KEY,
    event INTEGER NOT NULL REFERENCES event (number),
    name TEXT NOT NULL,
    media_type TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    left_out TEXT NOT NULL DEFAULT '' CHECK (left_out IN ('', 'too large', 'made room')),
    content BLOB,
    CHECK ((content IS NULL) = (left_out != ''))
) STRICT;
CREATE INDEX evidence_by_event ON evidence (event, number);
CREATE INDEX evidence_kept ON evidence (number) WHERE content IS NOT NULL;
"""

_MORE_KINDS = ""
"""The tables are unchanged, but programs of the previous version can't read the new kinds of event."""

_CHECKSUMS = "ALTER TABLE event ADD COLUMN checksum INTEGER;"
"""Events that an earlier version recorded have none."""

MIGRATIONS: tuple[str, ...] = (_FIRST_TABLES, _MORE_KINDS, _MORE_KINDS, _CHECKSUMS)
"""``MIGRATIONS[n]`` upgrades version ``n`` to ``n + 1``; version 0 is an empty file."""


COLUMNS = "number, game, kind, data, frame_time_s, wall_time, checksum"
"""The columns of an event's row."""

LAST_NUMBER = 2**53
"""No event has a higher number: JSON could not hold it, and SQLite would invent one after 2^63 - 1."""

LAST_RECORDED = "-last"
"""The ending of the file that names the last recorded event, while a journal is open for writing."""

LOG_FILES = ("-wal", "-shm")
"""The endings of SQLite's own files beside a journal: its log, and the log's index."""

_COPIES = ("version", "before", "damaged", "goes-on")
"""What the names of the copies that the referee keeps beside a journal say after the journal's own."""

Row = tuple[int, int, str, str, float | None, str]
"""An event's number, game, kind, data, frame time and wall time."""


def checksum_of(row: Row) -> int:
    """Return the checksum of an event: CRC-32 of its columns as a JSON array."""
    # A damaged file may have bytes in place of a text; no event that was recorded has their checksum.
    return zlib.crc32(json.dumps(row, default=repr).encode())


def check_row(row: Sequence[Any]) -> int:
    """Compare an event's ``COLUMNS`` with their checksum and return its number; raises JournalUnreadableError."""
    *columns, checksum = row
    number, *_ = columns
    if checksum is not None and checksum != checksum_of(tuple(columns)):
        raise errors.JournalUnreadableError("event {number} is not as it was recorded; the journal is damaged", number)
    return int(number)


Connect = Callable[[str], sqlite3.Connection]


def connect(target: str) -> sqlite3.Connection:
    """Open SQLite in autocommit mode, so that it begins no transactions by itself."""
    return sqlite3.connect(target, uri=True, isolation_level=None, timeout=2.0)


def version_of(connection: sqlite3.Connection) -> int:
    """Return the schema version of an open file, 0 for an empty one.

    Raises JournalUnreadableError when the database belongs to another application.
    """
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (objects,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application_id == APPLICATION_ID:
        return int(version)
    if application_id == 0 and version == 0 and objects == 0:
        return 0
    raise errors.JournalUnreadableError(
        "it is a database of another application (id {application_id}); expected a referee's "
        "journal. Move it elsewhere, or give another --journal",
        f"{application_id:#x}",
    )


def check_version(version: int, migrations: Sequence[str] = MIGRATIONS) -> None:
    """Raise JournalNewerError when a file's version is unknown to this program."""
    if version > len(migrations):
        raise errors.JournalNewerError(
            "it has version {version}, this referee knows up to {migrations}. Install the newer "
            "referee, or start a new journal with --journal",
            version,
            len(migrations),
        )


def upgrade(connection: sqlite3.Connection, migrations: Sequence[str] = MIGRATIONS) -> int:
    """Upgrade a file to the current version, one transaction per step; returns the version it had.

    Raises JournalNewerError or JournalUnreadableError and then leaves the file unchanged.
    """
    before = version_of(connection)
    check_version(before, migrations)
    for version, script in enumerate(migrations[before:], start=before + 1):
        # executescript commits by itself, so the transaction has to be part of the script
        try:
            connection.executescript(
                f"BEGIN IMMEDIATE; PRAGMA application_id = {APPLICATION_ID}; {script} "
                f"PRAGMA user_version = {version}; COMMIT;"
            )
        except sqlite3.Error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
    return before


def prepare(connection: sqlite3.Connection) -> None:
    """Make a file that was opened for writing ready for events: durable, and of the current version.

    Raises JournalNewerError or JournalUnreadableError before anything is written, so that another application's file
    stays unchanged.
    """
    check_version(version_of(connection))
    connection.execute("PRAGMA page_size = 4096")
    connection.execute("PRAGMA auto_vacuum = NONE")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    _empty_log(connection)
    upgrade(connection)


def drop_after(connection: sqlite3.Connection, number: int) -> None:
    """Remove the events after a number from a copy of a journal, with their pictures; raises sqlite3.Error."""
    (trigger,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'event_is_never_removed'").fetchone()
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("DROP TRIGGER event_is_never_removed")
    connection.execute("DELETE FROM evidence WHERE event > ?", (number,))
    connection.execute("DELETE FROM event WHERE number > ?", (number,))
    connection.execute(trigger)
    connection.execute("COMMIT")


def _empty_log(connection: sqlite3.Connection) -> None:
    """Checkpoint a log left by a power cut, so that new data doesn't share a block with it."""
    try:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.OperationalError as error:
        # On a full disk the events stay in the log. They are safe there unless a card corrupts neighbouring blocks.
        if error.sqlite_errorcode != sqlite3.SQLITE_FULL:
            raise


_PRIMARY_CODE_MASK = 0xFF


def primary_code(error: sqlite3.Error) -> int:
    """Return SQLite's error code without the details, 0 for an error of Python's module."""
    return int(getattr(error, "sqlite_errorcode", 0)) & _PRIMARY_CODE_MASK


def is_without_index(error: sqlite3.Error) -> bool:
    """Whether SQLite can't read a journal because it can't make the log's index: on a read-only or full disk."""
    return (
        primary_code(error) == sqlite3.SQLITE_CANTOPEN
        or getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_IOERR_SHMSIZE
    )


_NO_ROOM_BYTES = 64 * 1024
"""With less free space SQLite can't make its smallest files, the log's index of 32 KiB among them."""


def is_full(path: Path) -> bool:
    """Whether the disk of a journal has no room, whatever SQLite calls that."""
    try:
        return shutil.disk_usage(path.parent).free < _NO_ROOM_BYTES
    except OSError:
        return False


def shared(path: Path) -> errors.JournalDisplacedError:
    """Return the error for a journal that another program writes too."""
    return errors.JournalDisplacedError(
        "another program also writes the journal {path}, perhaps an earlier version of the referee; stop it", path
    )


def _translate(error: sqlite3.Error, path: Path) -> errors.JournalError:
    code = primary_code(error)
    if code == sqlite3.SQLITE_FULL or (code in {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN} and is_full(path)):
        return errors.JournalFullError(
            "no room on the disk for the journal {path}: free some space (the referee goes on once there is room)", path
        )
    if code in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM}:
        return errors.JournalReadOnlyError(
            "the journal {path} may not be written: check its permissions ({error})", path, error
        )
    if code in {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}:
        return errors.JournalUnreadableError(
            "{path} is not a journal or is damaged ({error}): move it elsewhere, or give another --journal", path, error
        )
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return errors.JournalBusyError(
            "another program holds the journal {path} ({error}): close it and try again", path, error
        )
    if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
        return shared(path)
    if code == sqlite3.SQLITE_CANTOPEN:
        return errors.JournalReadOnlyError(
            "cannot open the journal {path} ({error}): check that its folder exists and may be written", path, error
        )
    if code == sqlite3.SQLITE_IOERR:
        return errors.JournalFailedError("the journal {path} failed: {error}", path, error)
    return errors.JournalError("the journal {path} failed: {error}", path, error)


@contextmanager
def journal_faults(path: Path) -> Iterator[None]:
    """Convert SQLite's errors inside the block to JournalErrors that name ``path`` and say what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translate(error, path) from error
    except UnicodeDecodeError as error:
        raise errors.JournalUnreadableError(
            "{path} is damaged (a text in it is not UTF-8): move it elsewhere, or give another --journal", path
        ) from error
    except (errors.JournalNewerError, errors.JournalUnreadableError) as error:
        if str(path) in str(error):
            raise
        raise type(error)(Phrase("cannot use the journal {path}: {error}", path, error)) from error


_LOCKED_BYTE = 2**62
"""Beyond what a file can hold, and beyond the bytes that SQLite locks."""

_NOT_WRITABLE = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT, errno.ELOOP, errno.EISDIR})


class WriterLock:
    """The exclusive right to write one journal, held until ``release``.

    Closing any descriptor of a file drops SQLite's own locks on it. So its connections are closed before ``release``.
    """

    def __init__(self, journal: Path) -> None:
        """Acquire the lock, and create a missing file; raises JournalBusyError that names the holder, or JournalError.

        A file that cannot be opened for writing is a JournalReadOnlyError or JournalFullError. Nobody but the owner may
        use the journal's files from then on: whoever may open them may lock them, and so keep SQLite from writing.
        """
        check_kind(journal)
        # Unlike Path.resolve, this raises nothing for a link to itself.
        self._file = Path(os.path.realpath(journal))
        _check_own(journal, self._file)
        self._descriptors = [_opened_and_locked(journal, self._file)]
        while not self.is_in_place():
            # It was replaced between opening and locking.
            self.release()
            self._descriptors = [_opened_and_locked(journal, self._file)]
        try:
            self._drop_earlier_lock(journal)
        except errors.JournalError:
            self.release()
            raise
        for beside in self._beside():
            make_private(beside)

    def _beside(self) -> Iterator[Path]:
        """List the journal's other files, which an earlier version may have made for everybody."""
        yield from (self._file.with_name(self._file.name + ending) for ending in LOG_FILES)
        for word in _COPIES:
            yield from self._file.parent.glob(f"{glob.escape(self._file.stem)}-{word}-*")

    def _drop_earlier_lock(self, journal: Path) -> None:
        """Remove the file that earlier versions locked beside the journal; raises JournalBusyError while one does."""
        earlier = Path(f"{self._file}.lock")
        try:
            with earlier.open(encoding="utf-8", errors="replace") as opened:
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
                earlier.unlink()
        except BlockingIOError:
            holder = earlier.read_text(encoding="utf-8", errors="replace").strip()
            raise errors.JournalBusyError(
                "the journal {journal} is in use by {holder}, an earlier version of the referee; stop that one, or "
                "give another --journal",
                journal,
                holder if holder.isprintable() and holder else Phrase("another process"),
            ) from None
        except OSError:
            # Usually there is none. What can't be opened or removed is no lock of this user's referee.
            return

    def is_in_place(self) -> bool:
        """Whether the journal's name still leads to the locked file."""
        try:
            return os.path.samestat(os.fstat(self._descriptors[-1]), self._file.stat())
        except OSError:
            return False

    def extend_to(self, draft: Path) -> None:
        """Lock also the file that is about to replace the journal; raises JournalError."""
        self._descriptors.append(_opened_and_locked(draft, draft))

    def name_newest(self, journal: Path) -> None:
        """Hold only the lock of the file that replaced the journal, now named ``journal``."""
        self._file = Path(os.path.realpath(journal))
        while len(self._descriptors) > 1:
            os.close(self._descriptors.pop(0))

    def release(self) -> None:
        """Release the lock."""
        while self._descriptors:
            os.close(self._descriptors.pop())


def check_kind(journal: Path) -> None:
    """Raise JournalReadOnlyError for a folder, a pipe or a device, in which no journal can be kept."""
    # Opening some devices does something, and closing a pipe that somebody reads ends it.
    if journal.exists() and not journal.is_file():
        raise errors.JournalReadOnlyError(
            either(
                journal.is_dir(),
                "{path} is a folder; give the journal's file in it",
                "{path} is a pipe or a device; give a file as --journal",
                path=journal,
            )
        )


def lock_holder(journal: Path) -> str | None:
    """Name the process that writes the journal now, or ``None``."""
    file = Path(os.path.realpath(journal))
    if _has_locked(os.getpid(), file):
        return f"process {os.getpid()}"
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        found = fcntl.fcntl(descriptor, fcntl.F_OFD_GETLK, _request(fcntl.F_WRLCK))
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return None if struct.unpack_from("h", found)[0] == fcntl.F_UNLCK else _holder(file)


def _opened_and_locked(journal: Path, file: Path) -> int:
    try:
        descriptor = open_private(file, os.O_RDWR)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise errors.JournalFullError(
                "no room on the disk for the journal {journal}: free some space", journal
            ) from error
        if error.errno in _NOT_WRITABLE:
            raise errors.JournalReadOnlyError(
                "cannot write {file} ({strerror}); give a --journal that you may write", file, error.strerror
            ) from error
        raise errors.JournalError("cannot open the journal {journal}: {strerror}", journal, error.strerror) from error
    try:
        # flock would shut out SQLite's locks in a network folder; a plain fcntl lock ends with any close of the file.
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, _request(fcntl.F_WRLCK))
    except OSError as error:
        os.close(descriptor)
        if error.errno in {errno.EAGAIN, errno.EACCES}:
            raise _busy(journal, _holder(file)) from error
        raise errors.JournalError("cannot lock the journal {journal}: {strerror}", journal, error.strerror) from error
    return descriptor


def _request(kind: int) -> bytes:
    return struct.pack("hhqqi", kind, os.SEEK_SET, _LOCKED_BYTE, 1, 0)


def _busy(journal: Path, holder: str) -> errors.JournalBusyError:
    return errors.JournalBusyError(
        "the journal {journal} is in use by {holder}; stop that one, or give another --journal", journal, holder
    )


def _check_own(journal: Path, file: Path) -> None:
    """Refuse a second writer in this process before a descriptor of the file is opened, and so closed again."""
    if _has_locked(os.getpid(), file):
        raise _busy(journal, Phrase("process {number}", os.getpid()))


def _holder(file: Path) -> str:
    """Name the process that has locked a file, as far as this user may know."""
    processes = (int(each.name) for each in Path("/proc").iterdir() if each.name.isdecimal())
    found = next((process for process in processes if _has_locked(process, file)), None)
    return Phrase("another process") if found is None else Phrase("process {number}", found)


def _has_locked(process: int, file: Path) -> bool:
    """Whether a process has locked a file; ``False`` for another user's process."""
    with suppress(OSError):
        wanted = file.stat()
        return any(
            os.path.samestat(opened, wanted) and _is_locked(process, number) for number, opened in _open_files(process)
        )
    return False


def _open_files(process: int) -> Iterable[tuple[str, os.stat_result]]:
    for link in Path(f"/proc/{process}/fd").iterdir():
        with suppress(OSError):
            yield link.name, link.stat()


def _is_locked(process: int, descriptor: str) -> bool:
    return "OFDLCK" in Path(f"/proc/{process}/fdinfo/{descriptor}").read_text(encoding="ascii")


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
    behind: tuple[Frame | None, ...]
    """The frames behind the place where SQLite stops, ``None`` for each damaged one."""

    def transactions_lacking_in(self, file: bytes) -> int:
        """Count the transactions behind that place, as far as they can be counted, which the database hasn't got.

        A power cut just after all of the log was merged into the database may leave parts of that log.
        """
        is_merged = [
            frame is not None and file[(frame.number - 1) * self.page_bytes :][: self.page_bytes] == frame.content
            for frame in self.behind
        ]
        # What was recorded before something that was merged was merged too.
        later = self.behind[len(is_merged) - is_merged[::-1].index(True) :] if True in is_merged else self.behind
        return sum(1 for _ in _transactions(later))


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
    return Log(page_bytes, tuple(each for each in read if each), tuple(intact), tuple(frames[len(read) :]))


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
