"""SQLite's errors as the journal's."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from referee.errors import (
    JournalBusyError,
    JournalError,
    JournalFullError,
    JournalNewerError,
    JournalReadOnlyError,
    JournalUnreadableError,
)

_PRIMARY_CODE_MASK = 0xFF


def _translate(error: sqlite3.Error, path: Path) -> JournalError:
    code = getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE_MASK
    if code == sqlite3.SQLITE_FULL:
        return JournalFullError(
            f"no room on the disk for the journal {path}: free some space (the referee goes on once there is room)"
        )
    if code in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM}:
        return JournalReadOnlyError(f"the journal {path} may not be written: check its permissions ({error})")
    if code in {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}:
        return JournalUnreadableError(
            f"{path} is no journal or is damaged ({error}): keep a copy, and give another --journal"
        )
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return JournalBusyError(f"another program holds the journal {path} ({error}): close it and try again")
    if code == sqlite3.SQLITE_CANTOPEN:
        return JournalReadOnlyError(
            f"cannot open the journal {path} ({error}): check that its folder exists and may be written"
        )
    return JournalError(f"the journal {path} failed: {error}")


@contextmanager
def journal_faults(path: Path) -> Iterator[None]:
    """Turn SQLite's errors inside the block into JournalErrors that name ``path`` and say what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translate(error, path) from error
    except (JournalNewerError, JournalUnreadableError) as error:
        if str(path) in str(error):
            raise
        raise type(error)(f"cannot use the journal {path}: {error}") from error
