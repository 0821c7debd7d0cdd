"""What a damaged log has lost, and the recovery of what lies behind the damage.

While a journal is open for writing, a small file beside it names the last event that was recorded. It is written after
the event is on the disk, so it never names more than there was.
"""

import errno
import glob
import os
import shutil
import sqlite3
import zlib
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from common.durable import open_private, sync_file, sync_folder, touch_private
from common.phrases import Phrase, either
from referee.errors import JournalError, JournalFullError, JournalUnreadableError
from referee.journal import database
from referee.journal.backups import drop_log, replace
from referee.journal.database import Frame, Log, WriterLock, lock_holder, log_path, read_log, with_log

_COMPARE = Phrase("Compare the board with what `./run status` shows, and correct what differs.")

_DAMAGED = "-damaged-"
"""Stands before the time in the name of a copy of damaged files."""

_READ_EVENTS = f"SELECT {database.COLUMNS} FROM event ORDER BY number"


class LastRecorded:
    """The file that names the last recorded event, from the opening of a journal to its closing."""

    def __init__(self, journal: Path) -> None:
        """Begin; on a disk that refuses the file there is none."""
        self._path = _last_recorded_path(journal)
        self._descriptor: int | None = None
        with suppress(OSError):
            self._descriptor = open_private(self._path, os.O_WRONLY)

    def note(self, number: int) -> None:
        """Name an event that is on the disk."""
        if self._descriptor is not None:
            # Without it, less damage is noticed; the event itself is safe.
            with suppress(OSError):
                os.pwrite(self._descriptor, last_recorded_text(number), 0)

    def close(self) -> None:
        """End: the journal is one complete file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
            with suppress(OSError):
                self._path.unlink()


def last_recorded_text(number: int) -> bytes:
    """Return what that file holds: the number and its checksum."""
    text = f"{number}".encode()
    return text.ljust(20) + b"%08x\n" % zlib.crc32(text)


def _last_recorded_path(journal: Path) -> Path:
    file = journal.resolve()
    return file.with_name(file.name + database.LAST_RECORDED)


def _last_recorded(journal: Path) -> int:
    """Return the number of the last recorded event of a journal that was not closed, 0 if it is unknown."""
    with suppress(OSError, ValueError):
        text, checksum = _last_recorded_path(journal).read_bytes().split()
        if zlib.crc32(text) == int(checksum, 16):
            return int(text)
    return 0


@dataclass(frozen=True)
class Loss:
    """Events that SQLite can't read any more.

    ``read`` is the last event that can be read, after recovery; ``recorded`` the last that was recorded, exact if
    ``is_certain``. ``image`` is the database with the recovered events, ``None`` if there are none. ``pictured`` is the
    last event that has its pictures, if later ones are lost.
    """

    read: int
    recorded: int
    is_certain: bool
    image: bytes | None = None
    pictured: int | None = None

    def sentences(self, journal: Path) -> str:
        """Say what is missing, for a person; ``journal`` is only named."""
        missing = self.recorded - self.read
        if not missing:
            said = Phrase(
                "The log of {name} was damaged. All {read} events could be read nevertheless.", journal.name, self.read
            )
        elif self.is_certain:
            said = either(
                missing == 1,
                "The log of {name} was damaged: 1 event after event {read} is missing. {compare}",
                "The log of {name} was damaged: {missing} events after event {read} are missing. {compare}",
                name=journal.name,
                read=self.read,
                compare=_COMPARE,
                missing=missing,
            )
        else:
            said = either(
                missing == 1,
                "The log of {name} was damaged: 1 event after event {read} may be missing. {compare}",
                "The log of {name} was damaged: {missing} events after event {read} may be missing. {compare}",
                name=journal.name,
                read=self.read,
                compare=_COMPARE,
                missing=missing,
            )
        return (
            said
            if self.pictured is None
            else Phrase("{said} The pictures of events after {pictured} are lost.", said, self.pictured)
        )


def loss_of(journal: Path) -> Loss | None:
    """Return what a journal's log has lost, ``None`` if nothing. No connection of this process may be open to it."""
    try:
        content = log_path(journal).read_bytes()
    except OSError:
        content = b""
    log, recorded = read_log(content), _last_recorded(journal)
    if len(log.intact) <= len(log.read) and recorded <= (_last_by_sqlite(journal) if recorded else 0):
        return None
    try:
        file = journal.read_bytes()
    except OSError:
        return None
    return _loss(file, log, recorded)


def sentence_for_readers(journal: Path) -> str:
    """Say what the log of a journal has lost before the next start for writing repairs it; empty if nothing.

    A running referee has said it already.
    """
    lost = None if lock_holder(journal) else loss_of(journal)
    if lost is None:
        return ""
    if lost.image is None:
        return either(
            lost.is_certain,
            "The log of {name} is damaged. The next `./run watch` keeps a copy of the files. The "
            "events after number {read}, up to {recorded}, are missing.",
            "The log of {name} is damaged. The next `./run watch` keeps a copy of the files. The "
            "events after number {read}, up to {recorded}, may be missing.",
            journal.name,
            lost.read,
            lost.recorded,
        )
    return either(
        lost.recorded > lost.read,
        "The log of {name} is damaged. The next `./run watch` keeps a copy of the files and "
        "recovers the events up to number {read} of {recorded}.",
        "The log of {name} is damaged. The next `./run watch` keeps a copy of the files and "
        "recovers the events up to number {read}.",
        name=journal.name,
        read=lost.read,
        recorded=lost.recorded,
    )


def _loss(file: bytes, log: Log, recorded: int) -> Loss | None:
    plain, recovered = _checked(file, log, log.read), None
    if len(log.intact) > len(log.read):
        recovered = _checked(file, log, log.intact)
    read, pictured = (0 if plain is None else plain[0]), None
    if plain is not None and recovered is None:
        recovered, pictured = _events_alone(plain[1], with_log(file, log.page_bytes, log.intact)), read
    if recovered is not None and (plain is None or recovered[0] > read):
        last, image = recovered
        return Loss(last, max(recorded, last), is_certain=True, image=image, pictured=pictured)
    if plain is None:
        # Perhaps the journal was exchanged, and the log belongs to another. If not, opening it names the damage.
        alone = _checked(file, log, ())
        return None if alone is None else Loss(alone[0], max(recorded, alone[0]), is_certain=True, image=alone[1])
    # The last transaction may be one that a power cut interrupted.
    behind = 0 if recovered is not None else log.transactions_lacking_in(file) - 1
    supposed = max(recorded, read + behind)
    return Loss(read, supposed, is_certain=supposed == recorded) if supposed > read else None


def _last_by_sqlite(journal: Path) -> int:
    """Return the number of the last event that SQLite reads, 0 if it finds damage."""
    with suppress(sqlite3.Error), closing(database.connect(f"{journal.absolute().as_uri()}?mode=ro")) as connection:
        if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            return 0
        (number,) = connection.execute("SELECT coalesce(max(number), 0) FROM event").fetchone()
        return int(number)
    return 0


def _checked(file: bytes, log: Log, frames: tuple[Frame, ...]) -> tuple[int, bytes] | None:
    """Return the last event and the bytes of a database with these frames, ``None`` if anything in it is damaged."""
    image = with_log(file, log.page_bytes, frames)
    if not image:
        # The journal was removed, and its side files were not. SQLite deserializes no empty database.
        return None
    with closing(database.connect(":memory:")) as connection, suppress(sqlite3.Error, UnicodeDecodeError, JournalError):
        connection.deserialize(image)
        (finding,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        version = database.version_of(connection)
        if finding != "ok" or version == 0:
            return None
        if version == len(database.MIGRATIONS):
            numbers = [database.check_row(row) for row in connection.execute(_READ_EVENTS)]
        else:
            numbers = [number for (number,) in connection.execute("SELECT number FROM event ORDER BY number")]
        if _is_gapless(numbers):
            return (numbers[-1] if numbers else 0), image
    return None


def _is_gapless(numbers: Sequence[int]) -> bool:
    return not numbers or list(numbers) == list(range(numbers[0], numbers[-1] + 1))


def _events_alone(sound: bytes, damaged: bytes) -> tuple[int, bytes] | None:
    """Add the events of a damaged database to a sound one, if each is proven by its checksum and none is left out.

    Returns the last event's number and the bytes, ``None`` if there are no such events. Pictures have no checksum.
    """
    with (
        closing(database.connect(":memory:")) as source,
        closing(database.connect(":memory:")) as target,
        suppress(sqlite3.Error, UnicodeDecodeError, JournalError),
    ):
        source.deserialize(damaged)
        target.deserialize(sound)
        if database.version_of(target) < len(database.MIGRATIONS):
            return None
        before, after = (each.execute(_READ_EVENTS).fetchall() for each in (target, source))
        new = after[len(before) :]
        numbers = [database.check_row(row) for row in after]
        if not new or after[: len(before)] != before or not _is_gapless(numbers) or None in {row[-1] for row in new}:
            return None
        target.executemany(f"INSERT INTO event ({database.COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", new)
        return numbers[-1], target.serialize()
    return None


def kept_damaged(journal: Path) -> list[Path]:
    """List the copies that ``recover`` kept of a journal."""
    file = journal.resolve()
    return sorted(file.parent.glob(f"{glob.escape(file.stem)}{_DAMAGED}*{glob.escape(file.suffix)}"))


def recover(journal: Path, now: datetime, lock: WriterLock) -> str:
    """Recover what a damaged log has lost, before SQLite opens the journal for writing; returns what to say about it.

    A copy of the damaged files is kept. Raises JournalFullError if there is no room for it, and JournalError.
    """
    lost = loss_of(journal)
    if lost is None:
        return ""
    file = journal.resolve()
    kept = file.with_name(f"{file.stem}{_DAMAGED}{now:%Y%m%d-%H%M%S}{file.suffix}")
    try:
        for source, target in ((file, kept), (log_path(file), log_path(kept))):
            if source.exists():
                touch_private(target)
                shutil.copyfile(source, target)
                sync_file(target)
        sync_folder(kept.parent)
    except OSError as error:
        for unfinished in (kept, log_path(kept)):
            with suppress(OSError):
                unfinished.unlink()
        if error.errno == errno.ENOSPC:
            raise JournalFullError(
                "no room on the disk for a copy of the journal {journal}, whose log is damaged: free some space",
                journal,
            ) from error
        raise JournalUnreadableError(
            "the damaged journal {journal} can't be copied: {strerror}", journal, error.strerror
        ) from error
    image = lost.image
    if image is not None:
        replace(file, lambda draft: draft.write_bytes(image), lock=lock)
        lock.name_newest(file)
        drop_log(file)
    return Phrase("{sentences} The damaged files are kept in {name}.", lost.sentences(journal), kept.name)


def file_stamp(file: Path) -> tuple[int, int] | None:
    """Return a file's size in bytes and time in ns, which change when it is written; ``None`` without a file."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def close_unmerged(connection: sqlite3.Connection, journal: Path) -> None:
    """Close a connection whose file was exchanged, and remove its log, so that none of it gets into the other file."""
    # SQLite merges the log when the last connection is closed, unless that one may only read.
    with closing(database.connect(f"{journal.absolute().as_uri()}?mode=ro")) as reader:
        with suppress(sqlite3.Error):
            reader.execute("PRAGMA schema_version").fetchone()
        connection.close()
        drop_log(journal)
