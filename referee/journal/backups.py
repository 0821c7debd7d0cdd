"""Backups of a journal: made while a referee writes it, kept for a few days, and restored."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import date, datetime
from pathlib import Path
from typing import Self

from common.durable import sync_folder
from referee.errors import JournalError, JournalMissingError, JournalReadOnlyError, JournalUnreadableError
from referee.journal import database
from referee.journal.database import WriterLock, journal_faults

FOLDER = "backups"
"""The folder for daily copies, beside the journal."""

_LOG_FILES = ("-wal", "-shm")
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP})
"""The errors of file systems without links, such as FAT and exFAT."""

_CHECK_EVERY_S = 3600.0
"""How often, in seconds, to check whether a new day has begun."""


def back_up(journal: Path, target: Path) -> None:
    """Copy a journal into a single file; the journal may be written meanwhile.

    ``target`` is replaced only after the copy has been checked and synced to the disk. Raises JournalMissingError,
    JournalUnreadableError, JournalFullError, JournalReadOnlyError or JournalError.
    """
    if not journal.is_file():
        raise JournalMissingError(f"there is no journal {journal} to copy")
    if not target.parent.is_dir():
        raise JournalReadOnlyError(f"there is no folder {target.parent} for the copy; make it first")
    with (
        journal_faults(journal),
        closing(sqlite3.connect(f"{journal.absolute().as_uri()}?mode=ro", uri=True)) as source,
    ):
        database.check_version(database.version_of(source))
        _copy(source, target)


def drop_log(journal: Path) -> None:
    """Remove the log of a journal that ``back_up`` has just replaced; raises JournalReadOnlyError."""
    try:
        for ending in _LOG_FILES:
            journal.with_name(journal.name + ending).unlink(missing_ok=True)
        sync_folder(journal.parent)
    except OSError as error:
        raise JournalReadOnlyError(f"the log of {journal} can't be removed: {error.strerror}") from error


def restore(backup: Path, journal: Path, now: datetime) -> Path | None:
    """Replace a journal with a copy; returns the path of the previous journal, ``None`` if there was none.

    The copy is checked first. Raises JournalBusyError while a referee uses the journal, and the errors of ``back_up``.
    """
    if not backup.is_file():
        raise JournalMissingError(f"there is no file {backup}")
    if backup.absolute() == journal.absolute():
        raise JournalError(f"{backup} is the journal itself; name a copy of it")
    if not journal.parent.is_dir():
        raise JournalReadOnlyError(f"there is no folder {journal.parent} for the journal; make it first")
    kept = journal.with_name(f"{journal.stem}-before-{now:%Y%m%d-%H%M%S}{journal.suffix}")
    lock = WriterLock(journal, now)
    try:
        with (
            journal_faults(backup),
            closing(sqlite3.connect(f"{backup.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as source,
        ):
            database.check_version(database.version_of(source))
            _check(source, backup)
            return _copy(source, journal, keep_as=kept)
    except JournalUnreadableError as error:
        raise JournalUnreadableError(
            f"{backup} is damaged or not a copy of a journal; name one that `./run games backup` made"
        ) from error
    finally:
        lock.release()


def _check(connection: sqlite3.Connection, path: Path) -> None:
    (said,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if said != "ok" or database.version_of(connection) == 0:
        raise JournalUnreadableError(f"{path} is damaged or empty ({said}); take another copy")


def _copy(source: sqlite3.Connection, target: Path, keep_as: Path | None = None) -> Path | None:
    """Copy a database beside ``target``, check it, and rename it; raises sqlite3.Error or JournalError.

    An existing ``target`` is kept as ``keep_as``; returns that path, ``None`` if there was no target.
    """
    draft = target.with_name(f".{target.name}.draft")
    kept = None
    try:
        draft.unlink(missing_ok=True)
        with closing(sqlite3.connect(draft)) as copied:
            source.backup(copied)
            # Without a log file beside it, so that the copy can be moved as a single file.
            copied.execute("PRAGMA journal_mode = DELETE")
            _check(copied, draft)
        with draft.open("rb") as written:
            os.fsync(written.fileno())
        if keep_as is not None and target.exists():
            kept = _keep(target, keep_as)
        draft.replace(target)
        sync_folder(target.parent)
    except OSError as error:
        raise JournalReadOnlyError(f"the copy {target} can't be written: {error.strerror}") from error
    finally:
        with suppress(OSError):
            # the next copy replaces it
            draft.unlink(missing_ok=True)
    return kept


def _keep(journal: Path, kept: Path) -> Path:
    """Give a journal a second name, or copy it, and move its log there. A power cut at any moment loses nothing."""
    # A checkpoint of a damaged journal may fail; its log is kept as it is.
    with suppress(sqlite3.Error), closing(sqlite3.connect(journal)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    try:
        os.link(journal, kept)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        shutil.copy2(journal, kept)
        with kept.open("rb") as copied:
            os.fsync(copied.fileno())
    for ending in _LOG_FILES:
        log = journal.with_name(journal.name + ending)
        if log.exists():
            log.replace(kept.with_name(kept.name + ending))
    return kept


class DailyBackups:
    """Copies a journal once a day into a folder beside it, inside the context, and keeps the newest ``keep`` copies.

    ``today`` returns the date. The copies are made in a separate thread, so that they don't delay the game. That thread
    calls ``say`` with the reason if a copy fails.
    """

    def __init__(self, journal: Path, keep: int, today: Callable[[], date], say: Callable[[str], None]) -> None:
        self._journal, self._keep, self._today, self._say = journal, keep, today, say
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="backups", daemon=True)

    def __enter__(self) -> Self:
        """Start with today's copy."""
        if self._keep > 0:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop, after finishing a copy in progress."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        self.back_up_today()
        while not self._stop.wait(_CHECK_EVERY_S):
            self.back_up_today()

    def back_up_today(self) -> None:
        """Make today's copy unless it exists, and remove surplus copies."""
        folder = self._journal.with_name(FOLDER)
        target = folder / f"{self._journal.stem}-{self._today().isoformat()}{self._journal.suffix}"
        if target.exists():
            return
        try:
            folder.mkdir(exist_ok=True)
            back_up(self._journal, target)
            for old in sorted(folder.glob(f"{self._journal.stem}-????-??-??{self._journal.suffix}"))[: -self._keep]:
                old.unlink()
        except (JournalError, OSError) as error:
            self._say(f"Today's copy of the journal could not be made: {error}")
