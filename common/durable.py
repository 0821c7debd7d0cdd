"""Writes files so that a power cut leaves either the old content or the new."""

import os
import stat
from contextlib import suppress
from pathlib import Path

_DATABASE = b"SQLite format 3\0"
"""What a database of SQLite begins with."""


def write_durably(path: Path, data: str | bytes, *, private: bool = False) -> None:
    """Replace a file atomically; on return it is on the disk. Text is written as UTF-8.

    A power cut at any moment leaves either the old file or the new one. Only the owner can read a ``private`` file; any
    other keeps the permissions of the file that it replaces.
    Raises an OSError that names the file, and UnicodeEncodeError for text that isn't valid Unicode.
    """
    content = data.encode() if isinstance(data, str) else data
    if path.exists() and not path.is_file():
        # A pipe or a terminal can't be replaced, and a pipe's link in /proc leads to no path.
        try:
            path.write_bytes(content)
        except OSError as error:
            error.filename = str(path)
            raise
        return
    target = path.resolve()
    draft = target.with_name(f".{target.name}.draft")
    try:
        # A leftover draft would keep its own permissions.
        draft.unlink(missing_ok=True)
        keeps_mode = not private and target.exists()
        mode = stat.S_IMODE(target.stat().st_mode) if keeps_mode else 0o600 if private else 0o666
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        with os.fdopen(descriptor, "wb") as file:
            if keeps_mode:
                # The umask may have removed some.
                os.fchmod(descriptor, mode)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        error.filename = str(path)
        raise
    sync_folder(target.parent)


def is_other_than_database(path: Path) -> bool:
    """Whether a file has content, and is no database of SQLite; false if it can't be read."""
    with suppress(OSError), path.open("rb") as file:
        return file.read(len(_DATABASE)) not in (b"", _DATABASE)
    return False


def open_private(path: Path, flags: int) -> int:
    """Open a file that only its owner may read and write, whatever the umask; a missing one is made.

    One that others may use is closed to them, if it is this user's. Returns the descriptor; raises OSError.
    """
    descriptor = os.open(path, flags | os.O_CREAT | os.O_CLOEXEC, 0o600)
    make_private(path)
    return descriptor


def touch_private(path: Path) -> None:
    """Make a missing file, empty and private, for what will be written by its name; raises OSError."""
    os.close(open_private(path, os.O_WRONLY))


def make_private(path: Path) -> None:
    """Leave rights to a file or folder to its owner only, if it is there and this user's."""
    # Some file systems keep no rights.
    with suppress(OSError):
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & 0o077:
            path.chmod(mode & 0o700)


def sync_file(path: Path) -> None:
    """Sync a file's content to the disk. Raises OSError."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Sync a folder to the disk, so that the names of new files survive a power cut. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
