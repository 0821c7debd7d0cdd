import errno
import os
import shutil
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest

from referee.errors import (
    JournalBusyError,
    JournalError,
    JournalFailedError,
    JournalFullError,
    JournalReadOnlyError,
    JournalUnreadableError,
)
from referee.journal.database import WriterLock, journal_faults
from referee.journal.events import Event, EventKind
from referee.journal.journal import Journal
from referee.journal.reader import read_journal

NOW = datetime(2026, 5, 1, tzinfo=UTC)
FRAME_BYTES = 24 + 4096
NEW_GAME = Event(EventKind.NEW_GAME, {"game": "deblockle"})


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (sqlite3.SQLITE_FULL, JournalFullError),
        (sqlite3.SQLITE_READONLY, JournalReadOnlyError),
        (sqlite3.SQLITE_READONLY_DIRECTORY, JournalReadOnlyError),
        (sqlite3.SQLITE_PERM, JournalReadOnlyError),
        (sqlite3.SQLITE_CANTOPEN, JournalReadOnlyError),
        (sqlite3.SQLITE_NOTADB, JournalUnreadableError),
        (sqlite3.SQLITE_CORRUPT, JournalUnreadableError),
        (sqlite3.SQLITE_BUSY, JournalBusyError),
        (sqlite3.SQLITE_LOCKED, JournalBusyError),
        (sqlite3.SQLITE_IOERR_WRITE, JournalFailedError),
    ],
)
def test_each_sqlite_error_becomes_a_journal_error_that_names_the_file(code: int, kind: type[JournalError]) -> None:
    def fail() -> None:
        error = sqlite3.OperationalError("it failed")
        error.sqlite_errorcode = code
        with journal_faults(Path("/club/journal.sqlite")):
            raise error

    with pytest.raises(kind, match=r"/club/journal\.sqlite") as caught:
        fail()
    assert type(caught.value) is kind
    assert isinstance(caught.value, OSError)


@pytest.mark.parametrize("code", [sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_CANTOPEN])
def test_whatever_sqlite_calls_it_a_full_disk_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = code
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(2**30, 2**30 - 4096, 4096))
    with (
        pytest.raises(JournalFullError, match=r"no room on the disk for the journal .*: free some space"),
        journal_faults(tmp_path / "journal.sqlite"),
    ):
        raise error


def test_a_file_locked_by_another_program_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")

    def impatient(target: str) -> sqlite3.Connection:
        return sqlite3.connect(target, uri=True, isolation_level=None, timeout=0.05)

    with pytest.raises(JournalBusyError, match="another program holds"):
        Journal.open(path, wall_clock=lambda: NOW, connect=impatient)
    other.close()


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.EROFS, JournalReadOnlyError),
        (errno.EACCES, JournalReadOnlyError),
        (errno.ENOSPC, JournalFullError),
        (errno.EIO, JournalError),
    ],
)
def test_a_lock_that_cannot_be_made_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, kind: type[JournalError]
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(kind) as caught:
        WriterLock(tmp_path / "journal.sqlite")
    assert type(caught.value) is kind


def test_a_journal_with_a_torn_log_can_be_read_unchanged(tmp_path: Path) -> None:
    path, copy = tmp_path / "journal.sqlite", tmp_path / "copy.sqlite"
    with Journal.open(path, wall_clock=lambda: NOW) as journal:
        for _ in range(3):
            journal.append(NEW_GAME)
        for suffix in ("", "-wal"):
            shutil.copy(f"{path}{suffix}", f"{copy}{suffix}")
    before = copy.read_bytes()
    with read_journal(copy) as reader:
        assert len(reader.events()) == 3
    assert copy.read_bytes() == before
    torn = Path(f"{copy}-wal")
    # The log's last frame only pads its block, so the one before it must be torn to damage an event.
    torn.write_bytes(torn.read_bytes()[: -FRAME_BYTES - 700])
    with Journal.open(copy, wall_clock=lambda: NOW) as journal:
        journal.check()
        assert len(journal.events()) == 2, "the torn transaction is missing completely"


def journal_after_power_cut(path: Path) -> Path:
    """A journal of three events that are still in its log, as a power cut leaves it."""
    copy = path.with_name("copy.sqlite")
    with Journal.open(path, wall_clock=lambda: NOW) as journal:
        for _ in range(3):
            journal.append(NEW_GAME)
        for suffix in ("", "-wal"):
            shutil.copy(f"{path}{suffix}", f"{copy}{suffix}")
    return copy


def log_of(journal: Path) -> Path:
    return journal.with_name(journal.name + "-wal")


def test_the_log_left_by_a_power_cut_is_merged_before_anything_is_written(tmp_path: Path) -> None:
    copy = journal_after_power_cut(tmp_path / "journal.sqlite")
    assert log_of(copy).stat().st_size > 3 * FRAME_BYTES
    with Journal.open(copy, wall_clock=lambda: NOW) as journal:
        assert log_of(copy).stat().st_size == 0
        assert len(journal.events()) == 3


@pytest.mark.parametrize("code", [sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE])
def test_without_room_to_merge_the_log_its_events_stay_there(tmp_path: Path, code: int) -> None:
    class Failing(sqlite3.Connection):
        def execute(self, statement: str, /, *arguments: object) -> sqlite3.Cursor:
            if "wal_checkpoint" in statement:
                error = sqlite3.OperationalError("it failed")
                error.sqlite_errorcode = code
                raise error
            return super().execute(statement, *arguments)  # type: ignore[arg-type]

    def fail(target: str) -> sqlite3.Connection:
        return sqlite3.connect(target, uri=True, isolation_level=None, factory=Failing)

    copy = journal_after_power_cut(tmp_path / "journal.sqlite")
    if code == sqlite3.SQLITE_FULL:
        with Journal.open(copy, wall_clock=lambda: NOW, connect=fail) as journal:
            assert journal.append(NEW_GAME) == 4
    else:
        with pytest.raises(JournalError, match="it failed"):
            Journal.open(copy, wall_clock=lambda: NOW, connect=fail)
    with Journal.open(copy, wall_clock=lambda: NOW) as journal:
        journal.check()
        assert len(journal.events()) >= 3


def test_a_reader_does_not_keep_the_journal_from_being_opened(tmp_path: Path) -> None:
    copy = journal_after_power_cut(tmp_path / "journal.sqlite")
    with read_journal(copy) as reader:
        assert len(reader.events()) == 3
        with Journal.open(copy, wall_clock=lambda: NOW) as journal:
            assert journal.append(NEW_GAME) == 4
        assert len(reader.events()) == 4


def test_the_folder_of_a_new_or_existing_journal_is_synced(tmp_path: Path) -> None:
    path, synced = tmp_path / "journal.sqlite", list[Path]()
    for _ in range(2):
        with Journal.open(path, wall_clock=lambda: NOW, sync_folder=synced.append):
            assert path.exists()
    assert synced == [tmp_path, tmp_path]
