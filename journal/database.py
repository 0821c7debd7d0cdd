"""The journal's file: its tables, their versions and upgrades, and SQLite's errors in words."""

import json
import shutil
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from common.phrases import Phrase
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

LONGEST_WAIT_MS = 100
"""How long a referee waits for others that use its journal, at each event: a light is late by no more than that.

With one and with three readers that read for 50 ms of each 60, no event was missing in the file after the wait
(``benchmarks/machine/journal_sync.py``).
"""

LOG_FILES = ("-wal", "-shm")
"""The endings of SQLite's own files beside a journal: its log, and the log's index."""

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


def log_path(journal: Path) -> Path:
    """Return the path of a journal's log; SQLite keeps it beside the file itself, not beside a link to it."""
    file = journal.resolve()
    return file.with_name(file.name + "-wal")


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
    empty_log(connection)
    upgrade(connection)
    connection.execute(f"PRAGMA busy_timeout = {LONGEST_WAIT_MS}")


def drop_after(connection: sqlite3.Connection, number: int) -> None:
    """Remove the events after a number from a copy of a journal, with their pictures; raises sqlite3.Error."""
    (trigger,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'event_is_never_removed'").fetchone()
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("DROP TRIGGER event_is_never_removed")
    connection.execute("DELETE FROM evidence WHERE event > ?", (number,))
    connection.execute("DELETE FROM event WHERE number > ?", (number,))
    connection.execute(trigger)
    connection.execute("COMMIT")


def empty_log(connection: sqlite3.Connection) -> None:
    """Merge the log into the file, so that the events are all in the file; raises sqlite3.Error.

    While others read, some may stay in the log; it waits for them no longer than the connection's busy time.
    """
    try:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.OperationalError as error:
        # On a full disk the events stay in the log, where they are safe.
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
