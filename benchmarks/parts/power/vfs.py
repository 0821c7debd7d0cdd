"""An SQLite VFS (by APSW) that records all requests in a ``Disk``.

SQLite's own VFS carries the requests out on real files as well, so locking and shared memory are real.
``RecordingFiles.connect`` fits the parameter ``connect`` of ``Journal.open``.
"""

import itertools
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import apsw

from benchmarks.parts.power.disk import Create, Delete, Disk, Request, Sync, SyncFolder, Truncate, Write

_NEW_NAMES_ARE_SYNCED = apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_SUPER_JOURNAL
_numbers = itertools.count(1)


class RecordingFiles(apsw.VFS):
    """A VFS for one folder; ``numbers`` are its files by name."""

    def __init__(self, disk: Disk, numbers: Mapping[str, int]) -> None:
        """Wrap SQLite's VFS; ``disk`` holds the folder's files, and ``numbers`` those created before."""
        self.disk = disk
        self.numbers = dict(numbers)
        self.name = f"noting-{next(_numbers)}"
        super().__init__(self.name, "")

    def note(self, request: Request) -> None:
        """Record a request."""
        self.disk.requests.append(request)

    def number_of(self, name: str) -> int:
        """Give the file number of a name, a new one if it has none."""
        if name not in self.numbers:
            known = self.disk.number_of(name)
            if known is None:
                known = self.disk.next_number
                self.note(Create(name, known))
            self.numbers[name] = known
        return self.numbers[name]

    def sync_folder(self, folder: Path) -> None:  # noqa: ARG002 - there is only one
        """Record that the journal syncs the folder."""
        self.note(SyncFolder())

    def connect(self, target: str) -> sqlite3.Connection:
        """Open a database through this VFS, like ``sqlite3.connect``."""
        return cast("sqlite3.Connection", _Connection(target, self.name))

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - SQLite's name
        """Open a file and record its name."""
        if name is None:
            return super().xOpen(name, flags)
        return _RecordingFile(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802 - SQLite's name
        """Delete a file and record it."""
        super().xDelete(filename, syncdir)
        short = Path(filename).name
        self.number_of(short)
        del self.numbers[short]
        self.note(Delete(short))
        if syncdir:
            self.note(SyncFolder())


class _RecordingFile(apsw.VFSFile):
    """A file whose writes, truncations and syncs are recorded after SQLite's VFS has done them."""

    def __init__(self, files: RecordingFiles, name: Any, flags: list[int]) -> None:
        super().__init__("", name, flags)
        self._note = files.note
        path = name if isinstance(name, str) else name.filename()
        self._file = files.number_of(Path(path).name)
        # SQLite's Unix VFS syncs the folder with the first sync of a journal or log it created.
        self._syncs_folder = bool(flags[0] & apsw.SQLITE_OPEN_CREATE and flags[0] & _NEW_NAMES_ARE_SYNCED)

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802 - SQLite's name
        super().xWrite(data, offset)
        self._note(Write(self._file, offset, bytes(data)))

    def xTruncate(self, newsize: int) -> None:  # noqa: N802 - SQLite's name
        super().xTruncate(newsize)
        self._note(Truncate(self._file, newsize))

    def xSync(self, flags: int) -> None:  # noqa: ARG002, N802 - SQLite's name
        # The real files need no syncing: power cuts are simulated.
        self._note(Sync(self._file))
        if self._syncs_folder:
            self._syncs_folder = False
            self._note(SyncFolder())


class _Rows:
    """The part of ``sqlite3.Cursor`` that the journal uses."""

    def __init__(self, cursor: apsw.Cursor, lastrowid: int) -> None:
        self._cursor = cursor
        self.lastrowid = lastrowid

    def fetchone(self) -> Any:
        with _errors_of_sqlite3():
            return self._cursor.fetchone()

    def fetchall(self) -> list[Any]:
        with _errors_of_sqlite3():
            return list(self._cursor.fetchall())

    def __iter__(self) -> Iterator[Any]:
        with _errors_of_sqlite3():
            yield from self._cursor

    def close(self) -> None:
        self._cursor.close()


class _Connection:
    """The part of ``sqlite3.Connection`` that the journal uses, by APSW."""

    def __init__(self, target: str, vfs: str) -> None:
        flags = apsw.SQLITE_OPEN_URI | apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        with _errors_of_sqlite3():
            self._connection = apsw.Connection(target, flags=flags, vfs=vfs)

    @property
    def in_transaction(self) -> bool:
        return bool(self._connection.in_transaction)

    def execute(self, statement: str, arguments: Sequence[Any] = ()) -> _Rows:
        with _errors_of_sqlite3():
            cursor = self._connection.cursor()
            cursor.execute(statement, tuple(arguments))
            return _Rows(cursor, self._connection.last_insert_rowid())

    def executemany(self, statement: str, many: Iterable[Sequence[Any]]) -> None:
        with _errors_of_sqlite3():
            self._connection.cursor().executemany(statement, [tuple(one) for one in many])

    def executescript(self, script: str) -> None:
        with _errors_of_sqlite3():
            self._connection.cursor().execute(script)

    def close(self) -> None:
        with _errors_of_sqlite3():
            self._connection.close()


@contextmanager
def _errors_of_sqlite3() -> Iterator[None]:
    try:
        yield
    except apsw.Error as error:
        same = sqlite3.OperationalError(str(error))
        same.sqlite_errorcode = getattr(error, "extendedresult", 0)
        raise same from error


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Replace the folder's files with these."""
    for old in folder.iterdir():
        old.unlink()
    for name, content in files.items():
        (folder / name).write_bytes(content)


def scratch_folder() -> Path | None:
    """A folder in memory for temporary files, or ``None``."""
    shared = Path("/dev/shm")
    return shared if shared.is_dir() and os.access(shared, os.W_OK) else None
