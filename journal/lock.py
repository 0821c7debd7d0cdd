"""The right to write a journal: one process has it, by a lock on the journal's own file.

So no other file can be removed to let a second writer in.
"""

import errno
import fcntl
import glob
import os
import struct
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from common.durable import is_other_than_database, make_private, open_private
from common.phrases import Phrase, either
from journal.database import LOG_FILES
from referee import errors

_COPIES = ("version", "before", "goes-on")
"""What the names of the copies that the referee keeps beside a journal say after the journal's own."""

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
        # What turns out to be no journal keeps its rights.
        is_other = is_other_than_database(file)
        descriptor = os.open(file, os.O_RDWR | os.O_CLOEXEC) if is_other else open_private(file, os.O_RDWR)
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
