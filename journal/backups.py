"""Backups of a journal: made while a referee writes it, kept for a few days, and restored."""

import errno
import glob
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import date, datetime
from pathlib import Path
from typing import Self

from common.durable import make_private, sync_file, sync_folder, touch_private
from common.phrases import Phrase
from journal import database
from journal.database import LOG_FILES, journal_faults, log_path
from journal.lock import WriterLock, lock_holder
from referee import errors

FOLDER = "backups"
"""The folder for daily copies, beside the journal."""

_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP})
"""The errors of file systems without links, such as FAT and exFAT."""

_CHECK_EVERY_S = 3600.0
"""How often, in seconds, to check whether a new day has begun."""


def back_up(journal: Path, target: Path, lock: WriterLock | None = None) -> None:
    """Copy a journal into a single file; the journal may be written meanwhile.

    ``target`` is replaced only after the copy has been checked and synced to the disk; ``lock`` is extended to it.
    Raises JournalMissingError, JournalUnreadableError, JournalNewerError, JournalFullError, JournalReadOnlyError,
    JournalFailedError or JournalError.
    """
    if not journal.is_file():
        raise errors.JournalMissingError("there is no journal {journal} to copy", journal)
    if not target.parent.is_dir():
        raise errors.JournalReadOnlyError("there is no folder {folder} for the copy; make it first", target.parent)

    def write(draft: Path) -> None:
        with closing(sqlite3.connect(f"{journal.absolute().as_uri()}?mode=ro", uri=True)) as source:
            try:
                database.check_version(database.version_of(source))
            except sqlite3.OperationalError as error:
                if not database.is_without_index(error):
                    raise
                copy_with_log(journal, draft)
                return
            copy_connection(source, draft, target)

    with journal_faults(journal):
        replace(target, write, lock=lock)


def copy_connection(source: sqlite3.Connection, draft: Path, target: Path) -> None:
    """Copy an open journal into ``draft``; errors in writing it name ``target``. Raises sqlite3.Error, JournalError."""
    with _copy_faults(target), closing(sqlite3.connect(draft)) as copied:
        source.backup(copied)


def drop_log(journal: Path) -> None:
    """Remove the log of a journal that ``back_up`` has just replaced; raises JournalReadOnlyError."""
    try:
        for ending in LOG_FILES:
            journal.with_name(journal.name + ending).unlink(missing_ok=True)
        sync_folder(journal.parent)
    except OSError as error:
        raise errors.JournalReadOnlyError(
            "the log of {journal} can't be removed: {reason}", journal, error.strerror
        ) from error


def restore(backup: Path, journal: Path, now: datetime) -> Path | None:
    """Replace a journal with a copy; returns the path of the previous journal, ``None`` if there was none.

    The events in a log beside the copy are restored too; both files stay unchanged. The copy is checked first. Raises
    JournalBusyError while a referee uses the journal or the copy, and the errors of ``back_up``.
    """
    if not backup.is_file():
        raise errors.JournalMissingError("there is no file {backup}", backup)
    # A link stays a link; the file that it names is replaced.
    target = journal.resolve()
    if backup.resolve() == target:
        raise errors.JournalError("{backup} is the journal itself; name a copy of it", backup)
    if not target.parent.is_dir():
        raise errors.JournalReadOnlyError("there is no folder {folder} for the journal; make it first", target.parent)
    holder = lock_holder(backup)
    if holder is not None:
        raise errors.JournalBusyError(
            "{backup} is in use by {holder}; stop that one, or copy it with `./run games backup`", backup, holder
        )
    kept = target.with_name(f"{target.stem}-before-{now:%Y%m%d-%H%M%S}{target.suffix}")
    lock = WriterLock(journal)
    try:
        with journal_faults(backup):
            return replace(target, lambda draft: copy_with_log(backup, draft), keep_as=kept, lock=lock)
    except errors.JournalUnreadableError as error:
        raise errors.JournalUnreadableError(
            "{backup} is damaged or not a copy of a journal; name one that `./run games backup` made", backup
        ) from error
    finally:
        with suppress(OSError):
            if not target.stat().st_size:
                # Locking a missing journal made it.
                target.unlink()
        lock.release()


def copy_with_log(journal: Path, target: Path) -> None:
    """Copy a journal that nobody writes, and its log, which SQLite merges once it opens the copy.

    Raises JournalError if they can't be read, and OSError.
    """
    for source, copy in ((journal, target), (log_path(journal), log_path(target))):
        try:
            content = source.read_bytes()
        except FileNotFoundError:
            # A journal that was closed has no log.
            continue
        except OSError as error:
            raise errors.JournalError("{journal} can't be read: {reason}", journal, error.strerror) from error
        touch_private(copy)
        copy.write_bytes(content)


@contextmanager
def _copy_faults(target: Path) -> Iterator[None]:
    """Convert SQLite's errors in writing ``target`` to JournalErrors; those in reading the original pass through."""
    try:
        yield
    except sqlite3.Error as error:
        code = database.primary_code(error)
        if code in {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN} and database.is_full(target):
            code = sqlite3.SQLITE_FULL
        match code:
            case sqlite3.SQLITE_FULL:
                raise errors.JournalFullError(
                    "no room on the disk for the copy {target}: free some space", target
                ) from error
            case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN:
                raise errors.JournalReadOnlyError(
                    "the copy {target} can't be written: {error}", target, error
                ) from error
            case sqlite3.SQLITE_IOERR if error.sqlite_errorcode != sqlite3.SQLITE_IOERR_READ:
                raise errors.JournalFailedError("the copy {target} can't be written: {error}", target, error) from error
        raise


def replace(
    target: Path, write: Callable[[Path], object], keep_as: Path | None = None, lock: WriterLock | None = None
) -> Path | None:
    """Let ``write`` write a database beside ``target``, check it, and rename it; raises sqlite3.Error or JournalError.

    An existing ``target`` is kept as ``keep_as``; returns that path, ``None`` if there was no target. ``lock`` is
    extended to the new file before it gets its name.
    """
    draft = target.with_name(f".{target.name}.draft")
    kept = None
    try:
        _remove(draft)
        touch_private(draft)
        write(draft)
        with _copy_faults(target), closing(sqlite3.connect(draft)) as written:
            # Without a log file beside it, so that it can be moved as a single file.
            written.execute("PRAGMA journal_mode = DELETE")
            _check(written)
        sync_file(draft)
        if keep_as is not None:
            kept = _keep(target, keep_as)
        if lock is not None:
            lock.extend_to(draft)
        draft.replace(target)
        sync_folder(target.parent)
    except errors.JournalError:
        raise
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise errors.JournalFullError(
                "no room on the disk for the copy {target}: free some space", target
            ) from error
        raise errors.JournalReadOnlyError(
            "the copy {target} can't be written: {reason}", target, error.strerror
        ) from error
    finally:
        with suppress(OSError):
            # the next copy replaces it
            _remove(draft)
    return kept


def _check(connection: sqlite3.Connection) -> None:
    version = database.version_of(connection)
    database.check_version(version)
    (said,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if said != "ok" or version == 0:
        raise errors.JournalUnreadableError(
            "it is damaged or empty ({said}): move it elsewhere, or give another --journal", said
        )


def _remove(draft: Path) -> None:
    for ending in ("", *LOG_FILES):
        draft.with_name(draft.name + ending).unlink(missing_ok=True)


def _keep(journal: Path, kept: Path) -> Path | None:
    """Give a journal a second name, or copy it, and move its log there. A power cut at any moment loses nothing.

    A log whose journal is missing is moved too, because SQLite would merge it into the next one. Returns ``kept``,
    ``None`` if there is no journal.
    """
    is_there = journal.exists() and journal.stat().st_size > 0
    if is_there:
        _give_second_name(journal, kept)
    for ending in (*LOG_FILES, database.LAST_RECORDED):
        log = journal.with_name(journal.name + ending)
        if log.exists():
            log.replace(kept.with_name(kept.name + ending))
    return kept if is_there else None


def _give_second_name(journal: Path, kept: Path) -> None:
    # A checkpoint of a damaged journal may fail; its log is kept as it is.
    with suppress(sqlite3.Error), closing(sqlite3.connect(journal)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    try:
        os.link(journal, kept)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        touch_private(kept)
        shutil.copyfile(journal, kept)
        sync_file(kept)


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
            folder.mkdir(mode=0o700, exist_ok=True)
            # Copies that an earlier version made are everybody's to read.
            make_private(folder)
            back_up(self._journal, target)
            days = folder.glob(f"{glob.escape(self._journal.stem)}-????-??-??{glob.escape(self._journal.suffix)}")
            # Today's copy stays even if the clock was ahead when the others were made.
            others = sorted(day for day in days if day != target)
            for old in others[: max(0, len(others) - self._keep + 1)]:
                old.unlink()
        except (errors.JournalError, OSError) as error:
            self._say(Phrase("Today's copy of the journal could not be made: {error}", error))
