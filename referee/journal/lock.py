"""One writer a journal: a lock file beside it that says who holds it.

The lock is the kernel's (flock), so it is gone the moment its holder is, however it died; the file's text only
tells a person who that is. It is a file of its own because closing a second handle on a database file would drop
SQLite's locks on it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import socket
from datetime import datetime
from pathlib import Path

from referee.errors import JournalBusyError, JournalError, JournalReadOnlyError


def lock_path(journal: Path) -> Path:
    """Give the path of a journal's lock file."""
    return journal.with_name(journal.name + ".lock")


class WriterLock:
    """The right to write one journal, held until ``release``."""

    def __init__(self, journal: Path, now: datetime) -> None:
        """Take the lock; raises JournalBusyError that names the holder, or JournalReadOnlyError."""
        path = lock_path(journal)
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
                raise JournalReadOnlyError(
                    f"cannot write in {journal.parent} ({error.strerror}); give a --journal in a folder you may write"
                ) from error
            raise JournalError(f"cannot open the journal's lock {path}: {error.strerror}") from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.read(self._descriptor, 1024).decode("utf-8", "replace").strip() or "an unnamed process"
            os.close(self._descriptor)
            raise JournalBusyError(
                f"the journal {journal} is in use by {holder}; stop that one, or give another --journal"
            ) from error
        text = f"process {os.getpid()} on {socket.gethostname()} since {now.isoformat(timespec='seconds')}\n"
        try:
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, text.encode("utf-8"), 0)
        except OSError as error:
            # The lock itself holds; without room for its text only the holder's name is missing.
            if error.errno != errno.ENOSPC:
                os.close(self._descriptor)
                raise JournalError(f"cannot write the journal's lock {path}: {error.strerror}") from error

    def release(self) -> None:
        """Let another process write."""
        # The file stays: removing it would let two processes hold locks on two files of the same name.
        os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)


def holder(journal: Path) -> str | None:
    """Say who writes the journal now, or ``None`` when nobody does."""
    try:
        descriptor = os.open(lock_path(journal), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return os.read(descriptor, 1024).decode("utf-8", "replace").strip() or "an unnamed process"
    else:
        return None
    finally:
        os.close(descriptor)
