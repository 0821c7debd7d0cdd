"""The journal's file: tables, schema versions and upgrades, SQLite's errors, and the writer's lock."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from referee.errors import (
    JournalBusyError,
    JournalError,
    JournalFailedError,
    JournalFullError,
    JournalNewerError,
    JournalReadOnlyError,
    JournalUnreadableError,
)

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

MIGRATIONS: tuple[str, ...] = (_FIRST_TABLES, _MORE_KINDS, _MORE_KINDS)
"""``MIGRATIONS[n]`` upgrades version ``n`` to ``n + 1``; version 0 is an empty file."""


def connect(target: str) -> sqlite3.Connection:
    """Open SQLite in autocommit mode, so that it begins no transactions by itself."""
    return sqlite3.connect(target, uri=True, isolation_level=None, timeout=2.0)


def log_path(journal: Path) -> Path:
    """Return the path of a journal's log; SQLite keeps it beside the file itself, not beside a link to it."""
    file = journal.resolve()
    return file.with_name(file.name + "-wal")


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
    raise JournalUnreadableError(
        f"it is a database of another application (id {application_id:#x}); expected a referee's journal. "
        "Give another path to --journal"
    )


def check_version(version: int, migrations: Sequence[str] = MIGRATIONS) -> None:
    """Raise JournalNewerError when a file's version is unknown to this program."""
    if version > len(migrations):
        raise JournalNewerError(
            f"it has version {version}, this referee knows up to {len(migrations)}. "
            "Install the newer referee, or start a new journal with --journal"
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
    """Whether SQLite can't read a journal because it can't make the log's index beside it, as on a read-only disk."""
    return primary_code(error) == sqlite3.SQLITE_CANTOPEN


def _translate(error: sqlite3.Error, path: Path) -> JournalError:
    code = primary_code(error)
    if code == sqlite3.SQLITE_FULL:
        return JournalFullError(
            f"no room on the disk for the journal {path}: free some space (the referee goes on once there is room)"
        )
    if code in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM}:
        return JournalReadOnlyError(f"the journal {path} may not be written: check its permissions ({error})")
    if code in {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}:
        return JournalUnreadableError(
            f"{path} is not a journal or is damaged ({error}): keep a copy, and give another --journal"
        )
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return JournalBusyError(f"another program holds the journal {path} ({error}): close it and try again")
    if code == sqlite3.SQLITE_CANTOPEN:
        return JournalReadOnlyError(
            f"cannot open the journal {path} ({error}): check that its folder exists and may be written"
        )
    if code == sqlite3.SQLITE_IOERR:
        return JournalFailedError(f"the journal {path} failed: {error}")
    return JournalError(f"the journal {path} failed: {error}")


@contextmanager
def journal_faults(path: Path) -> Iterator[None]:
    """Convert SQLite's errors inside the block to JournalErrors that name ``path`` and say what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translate(error, path) from error
    except UnicodeDecodeError as error:
        raise JournalUnreadableError(
            f"{path} is damaged (a text in it is not UTF-8): keep a copy, and give another --journal"
        ) from error
    except (JournalNewerError, JournalUnreadableError) as error:
        if str(path) in str(error):
            raise
        raise type(error)(f"cannot use the journal {path}: {error}") from error


def lock_path(journal: Path) -> Path:
    """Return the path of a journal's lock file: beside the file itself, so that a link to it leads to the same lock."""
    # Unlike Path.resolve, this raises nothing for a link to itself.
    return Path(os.path.realpath(journal) + ".lock")


_ASKING_S = 0.02
"""How long to wait, in seconds, for those who only ask who holds a lock; they have it for far less."""


def _lock(descriptor: int) -> None:
    """Lock a file for writing; raises OSError if another process holds the lock."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        time.sleep(_ASKING_S)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


class WriterLock:
    """The exclusive right to write one journal, held until ``release``."""

    def __init__(self, journal: Path, now: datetime) -> None:
        """Acquire the lock; raises JournalBusyError that names the holder, or JournalReadOnlyError."""
        path = lock_path(journal)
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT}:
                raise JournalReadOnlyError(
                    f"cannot write in {path.parent} ({error.strerror}); give a --journal in a folder you may write"
                ) from error
            raise JournalError(f"cannot open the journal's lock {path}: {error.strerror}") from error
        try:
            _lock(self._descriptor)
        except OSError as error:
            os.close(self._descriptor)
            raise JournalBusyError(
                f"the journal {journal} is in use by {_holder_in(path)}; stop that one, or give another --journal"
            ) from error
        text = f"process {os.getpid()} on {socket.gethostname()} since {now.isoformat(timespec='seconds')}\n"
        try:
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, text.encode("utf-8"), 0)
        except OSError as error:
            # the lock itself is held; without disk space only the holder's name is missing
            if error.errno != errno.ENOSPC:
                os.close(self._descriptor)
                raise JournalError(f"cannot write the journal's lock {path}: {error.strerror}") from error

    def release(self) -> None:
        """Release the lock."""
        # the file stays: removing it would let two processes hold locks on two files of the same name
        with suppress(OSError):
            # on a disk that can't be written any more the holder's name stays, but not the lock
            os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)


def lock_holder(journal: Path) -> str | None:
    """Name the process that writes the journal now, or ``None``."""
    try:
        descriptor = os.open(lock_path(journal), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return _holder_in(lock_path(journal))
    else:
        return None
    finally:
        os.close(descriptor)


def _holder_in(lock: Path) -> str:
    return lock.read_text(encoding="utf-8", errors="replace").strip() or "an unnamed process"
