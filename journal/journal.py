"""The journal file: events and their pictures, each durable before ``append`` returns.

A ``BufferedJournal`` continues in memory while the file can't be written, and writes the events later.
"""

import dataclasses
import sqlite3
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime
from enum import Enum
from math import isnan
from pathlib import Path
from typing import Any, Self

from common.closeable import Closeable
from common.durable import sync_folder
from common.phrases import Phrase, counted
from journal import database
from journal.backups import back_up, copy_connection, drop_log, replace
from journal.database import COLUMNS, LAST_NUMBER, Connect, check_row, checksum_of, connect, journal_faults
from journal.last_recorded import LastRecorded, last_recorded, missing_events
from journal.lock import WriterLock, check_kind
from journal.reader import JournalReader, check_beginning, check_present
from referee import errors
from referee.record.events import (
    Event,
    EventKind,
    Evidence,
    EvidenceLimits,
    encode,
)

WallClock = Callable[[], datetime]
SyncFolder = Callable[[Path], None]

MEMORY = Path(":memory:")
"""The path of a journal kept in memory, which is lost on closing."""

_KEPT_BYTES = "SELECT coalesce(sum(size_bytes), 0) FROM evidence WHERE content IS NOT NULL"


class _FileState(Enum):
    """What happened to an open journal's file."""

    IN_PLACE = "in place"
    FAILED = "failed"
    """Something could not be written, so the file must be written again."""
    CUT_OFF = "cut off"
    """So it must, and the connection was closed meanwhile."""
    REMOVED = "removed"
    REPLACED = "replaced"
    OVERWRITTEN = "overwritten"
    SHARED = "shared"
    """Another program writes it too, which knows nothing of the lock."""


def utc_text(moment: datetime) -> str:
    """Format a time as ISO 8601 UTC with milliseconds: ``2026-05-01T18:30:00.250Z``."""
    if moment.tzinfo is None:
        raise ValueError("the wall clock gave a time without a zone; expected one in UTC")
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Journal(JournalReader):
    """An open journal. One process at a time may write it; any number may read it."""

    def __init__(
        self,
        path: Path,
        connection: sqlite3.Connection,
        wall_clock: WallClock,
        limits: EvidenceLimits | None,
        lock: WriterLock | None,
        reopen: Callable[[Path], sqlite3.Connection] | None = None,
    ) -> None:
        """Wrap an open connection; callers use ``open`` or ``in_memory``. ``reopen`` opens a file for writing."""
        super().__init__(path, connection)
        self.remark = ""
        """Which events were missing when it was opened; usually empty."""
        self._reopen = reopen
        self._state = _FileState.IN_PLACE
        self._wall_clock = wall_clock
        self._limits = limits or EvidenceLimits()
        self._lock = lock
        self._game = self.latest_game() or 0
        self._kept_bytes: int = self._value(_KEPT_BYTES)
        self._newest_game: list[database.Row] = []
        if lock is not None:
            rows = self._rows(f"SELECT {COLUMNS} FROM event WHERE game = ? ORDER BY number", self._game)
            self._newest_game = [tuple(columns) for *columns, _ in rows]
        self._last_recorded: LastRecorded | None = None
        self._begin_recorded()

    def _rows(self, query: str, *arguments: object) -> list[Any]:
        if self._state is _FileState.CUT_OFF:
            with journal_faults(self.path):
                self._connect_again()
        return super()._rows(query, *arguments)

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        wall_clock: WallClock,
        limits: EvidenceLimits | None = None,
        create: bool = True,
        connect: Connect = connect,
        sync_folder: SyncFolder = sync_folder,
    ) -> Self:
        """Open a journal for writing. A missing one is created, unless ``create`` is false.

        Raises JournalMissingError, JournalUnreadableError, JournalNewerError, JournalBusyError (another process
        writes it), JournalFullError or JournalReadOnlyError.
        """
        check_kind(path)
        if not create:
            check_present(path)
        if not path.parent.is_dir():
            raise errors.JournalReadOnlyError("there is no folder {parent} for the journal; make it first", path.parent)
        with ExitStack() as on_failure:
            lock = WriterLock(path)
            on_failure.callback(lock.release)
            recorded = last_recorded(path)

            def reopen(file: Path, mode: str = "rw") -> sqlite3.Connection:
                # In a power cut, a card may corrupt data next to the bytes it was writing. With psow=0, SQLite starts
                # each transaction in a new block of the log, so that committed transactions share no block with it.
                return connect(f"{file.absolute().as_uri()}?mode={mode}&psow=0")

            with journal_faults(path):
                connection = reopen(path, "rwc")
                on_failure.callback(connection.close)
                version = database.version_of(connection)
                check_beginning(path, version)
                if 0 < version < len(database.MIGRATIONS):
                    # Keep the file as it was, for owners who go back to the previous version.
                    back_up(path, path.with_name(f"{path.stem}-version-{version}{path.suffix}"))
                database.prepare(connection)
                # Always sync: the process that created the file may have been killed before it could.
                try:
                    sync_folder(path.parent)
                except OSError as error:
                    raise errors.JournalFailedError(
                        "the journal {path} failed: {strerror}", path, error.strerror
                    ) from error
                journal = cls(path, connection, wall_clock, limits, lock, reopen)
                remark = journal.remark = missing_events(path.name, journal.last_number, recorded)
            on_failure.pop_all()
        if remark and journal.latest_game() is not None:
            # Said again whenever the game is shown; if the disk is full, it was said once.
            with suppress(errors.JournalError):
                journal.append(Event(EventKind.NOTE, {"sentence": remark}))
        return journal

    @classmethod
    def in_memory(cls, *, wall_clock: WallClock, limits: EvidenceLimits | None = None) -> Self:
        """Return a journal that exists only in memory, for a game that isn't kept."""
        connection = connect(str(MEMORY))
        database.prepare(connection)
        return cls(MEMORY, connection, wall_clock, limits, None)

    def append(self, event: Event, evidence: Sequence[Evidence] = ()) -> int:
        """Record an event with its pictures and return its number. On return, it is on the disk.

        An empty ``wall_time`` is filled in from the wall clock. Raises EventError, JournalFullError,
        JournalReadOnlyError or JournalError; then no part of the event was recorded.
        """
        (number,) = self._record([(event, evidence)])
        return number

    def append_all(self, events: Iterable[Event]) -> None:
        """Record several events without pictures: all of them or, if one fails, none. Otherwise like ``append``."""
        self._record([(event, ()) for event in events])

    def _record(self, entries: Iterable[tuple[Event, Sequence[Evidence]]]) -> list[int]:
        """Record events with their pictures in one transaction; returns their numbers."""
        game = self._game
        rows: list[tuple[database.Row, Sequence[Evidence]]] = []
        for given, evidence in entries:
            event = self.stamped(given)
            data = encode(event)
            game += event.kind == EventKind.NEW_GAME
            if game == 0:
                raise errors.EventError("a '{kind}' event came before any 'new game'; start a game first", event.kind)
            number = self._last + len(rows) + 1
            if number > LAST_NUMBER:
                raise errors.JournalUnreadableError(
                    "the journal {path} is damaged: it has an event {last}, which no referee numbers so high. "
                    "Move it elsewhere, or give another --journal",
                    self.path,
                    self._last,
                )
            # As SQLite gives it back, which knows no NaN and no negative zero.
            time_s = None if event.frame_time_s is None or isnan(event.frame_time_s) else event.frame_time_s + 0.0
            rows.append(((number, game, str(event.kind), data, time_s, event.wall_time), evidence))
        kept_bytes = self._kept_bytes
        self.keep_in_place()
        with self._noting_failure():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                for row, evidence in rows:
                    _insert(self._connection, row)
                    for picture in evidence:
                        kept_bytes += self._insert_picture(row[0], picture)
                if kept_bytes > self._limits.total_bytes:
                    kept_bytes -= self._make_room(kept_bytes - self._limits.total_bytes)
                self._connection.execute("COMMIT")
            finally:
                # after any error, no half-recorded event stays behind
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
        self._game = game
        self._kept_bytes = kept_bytes
        numbers = [row[0] for row, _ in rows]
        self._newest_game = [row for row in (*self._newest_game, *(row for row, _ in rows)) if row[1] == game]
        # The events are recorded; if they can't be merged into the file, the next ones are written to a new file.
        with suppress(errors.JournalError), self._noting_failure():
            database.empty_log(self._connection)
        self._note_recorded()
        return numbers

    @property
    def _last(self) -> int:
        """The number of the last event that this journal wrote or found, whatever its file holds now."""
        return self._newest_game[-1][0] if self._newest_game else 0

    def _begin_recorded(self) -> None:
        if self._last_recorded is not None:
            self._last_recorded.close()
        self._last_recorded = None if self._lock is None else LastRecorded(self.path)
        self._note_recorded()

    def _note_recorded(self) -> None:
        if self._last_recorded is not None:
            self._last_recorded.note(self._last)
            self._stamp = _file_stamp(self.path)

    @contextmanager
    def _noting_failure(self) -> Iterator[None]:
        try:
            with journal_faults(self.path):
                yield
        except errors.JournalFailedError:
            if self._state is not _FileState.CUT_OFF:
                self._state = _FileState.FAILED
            raise
        except errors.JournalDisplacedError:
            self._state = _FileState.SHARED
            raise

    def keep_in_place(self) -> None:
        """Check that the file is still where it was; raises JournalDisplacedError, once, if it is not.

        The next call mends that, or an earlier failed write: all events are written to a file that can be used. It
        raises JournalError if it can't be done.
        """
        if self._reopen is None or self._lock is None:
            return
        match self._state:
            case _FileState.IN_PLACE:
                if (displaced := self._displacement(self._lock)) is not None:
                    raise displaced
            case _FileState.REPLACED | _FileState.OVERWRITTEN | _FileState.SHARED:
                self._write_elsewhere(self._lock)
            case _FileState.REMOVED | _FileState.FAILED | _FileState.CUT_OFF:
                self._rewrite_file(self._lock)

    def _displacement(self, lock: WriterLock) -> errors.JournalDisplacedError | None:
        """Note what happened to the file, and return it as an error; ``None`` if it is in place."""
        if lock.is_in_place():
            if _file_stamp(self.path) == self._stamp:
                return None
            self._state = self._state_of_changed_file()
            if self._state is _FileState.IN_PLACE:
                return None
            if self._state is _FileState.SHARED:
                return database.shared(self.path)
            return errors.JournalDisplacedError(
                "the journal {path} was overwritten while the referee used it", self.path
            )
        if self.path.exists():
            self._state = _FileState.REPLACED
            return errors.JournalDisplacedError("the journal {path} was replaced while the referee used it", self.path)
        self._state = _FileState.REMOVED
        return errors.JournalDisplacedError("the journal {path} was removed while the referee used it", self.path)

    def _state_of_changed_file(self) -> _FileState:
        """Say what another program wrote into the file: is it still as it was, has it more events, or others?"""
        assert self._reopen is not None
        with suppress(errors.JournalError), journal_faults(self.path), closing(self._reopen(self.path)) as other:
            (finding,) = other.execute("PRAGMA integrity_check(1)").fetchone()
            rows = other.execute(f"SELECT {COLUMNS} FROM event ORDER BY number").fetchall()
            (kept_bytes,) = other.execute(_KEPT_BYTES).fetchone()
            found = max(map(check_row, rows), default=0)
            if (finding, found, kept_bytes) == ("ok", self._last, self._kept_bytes):
                self._stamp = _file_stamp(self.path)
                return _FileState.IN_PLACE
            newest = [tuple(columns) for *columns, _ in rows if columns[0] == self._last]
            if finding == "ok" and found > self._last and newest == self._newest_game[-1:]:
                return _FileState.SHARED
        return _FileState.OVERWRITTEN

    def _write_elsewhere(self, lock: WriterLock) -> None:
        """Go on in a new file beside the one that has the journal's name, which is left as it is.

        Of an overwritten journal only the newest game is left, in memory; of a shared one, all that this one wrote.
        """
        assert self._reopen is not None
        old, now = self.path.resolve(), self._wall_clock()
        new = old.with_name(f"{old.stem}-goes-on-{now:%Y%m%d-%H%M%S}{old.suffix}")
        with journal_faults(new), ExitStack() as on_failure:
            own = WriterLock(new)
            on_failure.callback(own.release)
            if self._state is not _FileState.OVERWRITTEN:
                replace(new, lambda draft: self._copy_own(draft, new), lock=own)
                own.name_newest(new)
            connection = self._reopen(new)
            on_failure.callback(connection.close)
            database.prepare(connection)
            if self._state is _FileState.OVERWRITTEN:
                connection.execute("BEGIN IMMEDIATE")
                for row in self._newest_game:
                    _insert(connection, row)
                connection.execute("COMMIT")
            on_failure.pop_all()
        with suppress(errors.JournalError, sqlite3.Error):
            self._connection.close()
            if self._state is not _FileState.SHARED:
                # What a reader kept in it would get into the other file.
                drop_log(old)
        lock.release()
        self.path, self._lock, self._connection, self._state = new, own, connection, _FileState.IN_PLACE
        self._begin_recorded()

    def _copy_own(self, draft: Path, target: Path) -> None:
        """Copy the journal into ``draft`` without what another program recorded after this one's last event."""
        copy_connection(self._connection, draft, target)
        with closing(sqlite3.connect(draft, isolation_level=None)) as copied:
            database.drop_after(copied, self._last)

    def _rewrite_file(self, lock: WriterLock) -> None:
        """Write a complete copy to the journal's name, after a failed write or a removal; raises JournalError.

        Blocks that could not be written may stay unwritten: ext4 reports success when asked again, and after the next
        start reads zeros from them.
        """
        # Where the journal is a link, the file that it names.
        file = self.path.resolve()
        if self._state is _FileState.REMOVED:
            with journal_faults(file):
                replace(file, lambda draft: copy_connection(self._connection, draft, file), lock=lock)
            # Until all of it is done, the next attempt writes the file again.
            self._state = _FileState.FAILED
        else:
            back_up(file, file, lock)
        with self._noting_failure():
            self._connection.close()
            self._state = _FileState.CUT_OFF
            lock.name_newest(file)
            # The copy contains what is in the log, so a log that a power cut leaves behind changes nothing.
            try:
                drop_log(file)
            finally:
                # The events must stay readable; the next attempt replaces the file again.
                self._connect_again()
            database.prepare(self._connection)
        self._state = _FileState.IN_PLACE
        self._begin_recorded()

    def _connect_again(self) -> None:
        """Open the file again after it was closed to be replaced; raises sqlite3.Error while that is impossible."""
        if self._reopen is not None:
            self._connection = self._reopen(self.path)
            self._state = _FileState.FAILED

    def _insert_picture(self, event_number: int, picture: Evidence) -> int:
        size = len(picture.content)
        too_large = size > min(self._limits.picture_bytes, self._limits.total_bytes)
        self._connection.execute(
            "INSERT INTO evidence (event, name, media_type, size_bytes, left_out, content) VALUES (?, ?, ?, ?, ?, ?)",
            (
                event_number,
                picture.name,
                picture.media_type,
                size,
                "too large" if too_large else "",
                None if too_large else picture.content,
            ),
        )
        return 0 if too_large else size

    def _make_room(self, bytes_needed: int) -> int:
        freed = 0
        oldest_first = self._connection.execute(
            "SELECT number, size_bytes FROM evidence WHERE content IS NOT NULL ORDER BY number"
        )
        dropped: list[tuple[int]] = []
        for number, size in oldest_first:
            if freed >= bytes_needed:
                break
            dropped.append((number,))
            freed += size
        oldest_first.close()
        self._connection.executemany(
            "UPDATE evidence SET content = NULL, left_out = 'made room' WHERE number = ?", dropped
        )
        return freed

    def stamped(self, event: Event) -> Event:
        """Return the event with its wall time filled in."""
        return event if event.wall_time else dataclasses.replace(event, wall_time=utc_text(self._wall_clock()))

    def close(self) -> None:
        """Checkpoint the log and close the file; closing twice is fine."""
        try:
            self._connection.close()
            if self._last_recorded is not None:
                self._last_recorded.close()
        finally:
            if self._lock is not None:
                self._lock.release()
                self._lock = None


def _insert(connection: sqlite3.Connection, row: database.Row) -> None:
    connection.execute(f"INSERT INTO event ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, checksum_of(row)))


def _file_stamp(file: Path) -> tuple[int, int] | None:
    """Return a file's size in bytes and time in ns, which change when it is written; ``None`` without a file."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


class BufferedJournal(Closeable):
    """Wraps a Journal so that no accepted event is lost while the process runs.

    An event that the file cannot take (full disk, read-only, failing card) is kept in memory. ``append`` still returns
    its number, which is final because no other process writes. ``say`` is called once when the trouble begins and once
    when it ends. Kept events are written first and in order, at every ``append`` and ``retry``.
    """

    def __init__(self, journal: Journal, say: Callable[[str], None]) -> None:
        """Wrap an open, writable journal; ``say`` is called with sentences for a person."""
        self.journal = journal
        self._say = say
        self._pending: deque[tuple[Event, tuple[Evidence, ...]]] = deque()
        self._written = journal.last_number
        self._caught_up = 0
        self._game = journal.latest_game() or 0
        if journal.remark:
            say(journal.remark)
        self.trouble: errors.JournalError | None = None
        """Why the file cannot be written; ``None`` if it can."""

    @property
    def pending(self) -> tuple[Event, ...]:
        """The accepted events that are only in memory, oldest first."""
        return tuple(event for event, _ in self._pending)

    def append(self, event: Event, evidence: Sequence[Evidence] = ()) -> int:
        """Accept an event and return its number; it is durable on return unless ``trouble`` is set.

        Raises EventError for an invalid event.
        """
        event = self.journal.stamped(event)
        encode(event)
        if self._game == 0 and event.kind != EventKind.NEW_GAME:
            raise errors.EventError("a '{kind}' event came before any 'new game'; start a game first", event.kind)
        self._game += event.kind == EventKind.NEW_GAME
        self._pending.append((event, tuple(evidence)))
        number = self._written + len(self._pending)
        self.retry()
        return number

    def retry(self) -> bool:
        """Try to write the events that are only in memory; returns whether everything is on the disk now."""
        path = self.journal.path
        try:
            self.journal.keep_in_place()
            while self._pending:
                event, evidence = self._pending[0]
                self._written = self.journal.append(event, evidence)
                self._pending.popleft()
                self._caught_up += 1
        except errors.JournalError as error:
            if self.trouble is None:
                self._caught_up = 0
                self._say(Phrase("The game goes on, but only in memory: {error}", error))
            self.trouble = error
            return False
        if self.trouble is not None:
            self.trouble = None
            events = counted(self._caught_up, "event")
            self._say(
                Phrase("The journal can be written again. What was only in memory is now in it: {events}.", events)
            )
            if self.journal.path != path:
                self._say(
                    Phrase(
                        "The game goes on in {path}. The referee writes nothing more to {before}.",
                        self.journal.path,
                        path,
                    )
                )
        return True

    def events(self, game: int | None = None) -> list[tuple[int, Event]]:
        """List (number, event) in order, including those only in memory."""
        events = self.journal.events(game)
        current = self.journal.latest_game() or 0
        for number, (event, _) in enumerate(self._pending, start=self._written + 1):
            current += event.kind == EventKind.NEW_GAME
            if game in {None, current}:
                events.append((number, event))
        return events

    def beginnings(self) -> list[Event]:
        """List how the newest games in the file that were played or have names began, the newest first."""
        return self.journal.beginnings()

    def latest_game(self) -> int | None:
        """Return the number of the latest game, ``None`` if there is none."""
        return self._game or None

    def close(self) -> None:
        """Try once more to write everything, report what is lost if that fails, and close the file."""
        # The first attempt only says that the file is no longer in its place.
        if not self.retry() and not self.retry():
            self._say(
                Phrase(
                    "{pending} could not be saved, since the journal can't be written: {trouble}",
                    counted(len(self._pending), "event"),
                    self.trouble,
                )
            )
        self.journal.close()
