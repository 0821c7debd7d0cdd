"""Journals that cannot be used: damaged, foreign, locked, on a bad disk; what can be read is recovered."""

import errno
import fcntl
import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, cast

import pytest

from common.phrases import Phrase
from journal.backups import DailyBackups, back_up, restore
from journal.database import check_row, connect, journal_faults, log_path
from journal.journal import Journal
from journal.last_recorded import missing_for_readers
from journal.lock import WriterLock, lock_holder
from journal.reader import read_journal
from referee.errors import (
    JournalBusyError,
    JournalError,
    JournalFailedError,
    JournalFullError,
    JournalMissingError,
    JournalNewerError,
    JournalReadOnlyError,
    JournalUnreadableError,
)
from referee.record import events
from referee.record.events import Event, EventKind
from tests.journal.samples import NEW_GAME, START, TURN, kept_back, picture, ticking_clock

ROOT = Path(__file__).resolve().parents[2]


def open_to_write(path: Path) -> Journal:
    return Journal.open(path, wall_clock=ticking_clock())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a journal.sqlite"


def test_a_journal_of_a_newer_version_is_refused(path: Path) -> None:
    Journal.open(path, wall_clock=ticking_clock()).close()
    raw = sqlite3.connect(path)
    raw.execute("PRAGMA user_version = 99")
    raw.close()
    before = path.read_bytes()
    for open_journal in (open_to_write, read_journal):
        with pytest.raises(JournalNewerError, match=r"a journal\.sqlite.*version 99.*up to 4"):
            open_journal(path)
    assert path.read_bytes() == before
    assert lock_holder(path) is None


@pytest.mark.parametrize("open_journal", [open_to_write, read_journal])
@pytest.mark.parametrize("content", [b"x", b"not a database at all, just text " * 10, b"\x89PNG\r\n" + bytes(4096)])
def test_a_file_that_is_no_database_is_refused(
    path: Path, content: bytes, open_journal: Callable[[Path], object]
) -> None:
    path.write_bytes(content)
    with pytest.raises(JournalUnreadableError, match=r"a journal\.sqlite"):
        open_journal(path)
    assert path.read_bytes() == content


def test_a_database_of_another_application_is_refused(path: Path) -> None:
    raw = sqlite3.connect(path)
    raw.execute("CREATE TABLE cake (slices)")
    raw.close()
    before = path.read_bytes()
    with pytest.raises(JournalUnreadableError, match="another application"):
        Journal.open(path, wall_clock=ticking_clock())
    assert path.read_bytes() == before


def test_a_damaged_page_is_found(path: Path) -> None:
    with Journal.open(path, wall_clock=ticking_clock()) as journal:
        for event in (NEW_GAME, *[TURN] * 200):
            journal.append(event)
    content = bytearray(path.read_bytes())
    content[-4096:] = b"\xff" * 4096
    path.write_bytes(content)
    with (
        read_journal(path) as journal,
        pytest.raises(JournalUnreadableError),
    ):
        journal.check()


def test_a_game_that_does_not_begin_is_reported_as_damage(path: Path) -> None:
    Journal.open(path, wall_clock=ticking_clock()).close()
    with closing(sqlite3.connect(path)) as database:
        database.execute(
            "INSERT INTO event (game, kind, data, wall_time) VALUES (1, ?, ?, '')", (TURN.kind, json.dumps(TURN.data))
        )
        database.commit()
    with (
        read_journal(path) as journal,
        pytest.raises(JournalUnreadableError, match="game 1 has no beginning; the journal is damaged"),
    ):
        journal.games()


def test_a_schema_that_is_no_text_is_reported_as_damage(path: Path) -> None:
    Journal.open(path, wall_clock=ticking_clock()).close()
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE evidence", b"CREAT\xc3 TABLE evidence"))
    with pytest.raises(JournalUnreadableError, match=r"is damaged \(a text in it is not UTF-8\)"):
        read_journal(path)


@pytest.mark.parametrize("version", [1, 3])
def test_no_connection_stays_open_to_a_journal_that_cannot_be_read(path: Path, version: int) -> None:
    Journal.open(path, wall_clock=ticking_clock()).close()
    with closing(sqlite3.connect(path)) as database:
        database.execute("DROP TABLE evidence")
        database.execute("DROP TABLE event")
        database.execute(f"PRAGMA user_version = {version}")
    opened: list[sqlite3.Connection] = []

    def remember(target: str) -> sqlite3.Connection:
        opened.append(connect(target))
        return opened[-1]

    with pytest.raises(JournalError):
        read_journal(path, connect=remember)
    assert opened
    for connection in opened:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("SELECT 1")


def test_an_undamaged_journal_passes_the_check(path: Path) -> None:
    with Journal.open(path, wall_clock=ticking_clock()) as journal:
        journal.append(NEW_GAME)
        journal.check()


@pytest.mark.parametrize(("kind", "data"), [("dance", "{}"), ("note", "[]"), ("turn", '{"turn":"a1-a2"}')])
def test_an_unreadable_event_is_named(path: Path, kind: str, data: str) -> None:
    Journal.open(path, wall_clock=ticking_clock()).close()
    raw = sqlite3.connect(path)
    raw.execute("INSERT INTO event (game, kind, data, wall_time) VALUES (1, ?, ?, '')", (kind, data))
    raw.commit()
    raw.close()
    with (
        Journal.open(path, wall_clock=ticking_clock()) as journal,
        pytest.raises(JournalUnreadableError, match="event 1"),
    ):
        journal.events()


def test_bytes_in_place_of_a_text_are_reported_as_damage() -> None:
    with pytest.raises(JournalUnreadableError, match="event 1 is not as it was recorded"):
        check_row((1, 1, "note", b"{}", None, "", 5))


def test_an_event_without_valid_json_is_named() -> None:
    with pytest.raises(JournalUnreadableError, match="event 3 cannot be read"):
        events.decode(3, "note", "{", None, "")


def test_reading_a_missing_journal_is_an_error(path: Path) -> None:
    with pytest.raises(JournalMissingError, match="there is no journal"):
        read_journal(path)
    assert not path.exists()


def test_a_missing_journal_that_must_exist_is_named(path: Path) -> None:
    with pytest.raises(JournalMissingError, match="there is no journal"):
        Journal.open(path, wall_clock=ticking_clock(), create=False)
    assert list(path.parent.iterdir()) == []
    Journal.open(path, wall_clock=ticking_clock()).close()
    with Journal.open(path, wall_clock=ticking_clock(), create=False) as journal:
        assert journal.append(NEW_GAME) == 1


def test_a_folder_is_refused_as_a_journal(tmp_path: Path) -> None:
    with pytest.raises(JournalReadOnlyError, match="is a folder"):
        Journal.open(tmp_path, wall_clock=ticking_clock())
    with pytest.raises(JournalReadOnlyError, match="there is no folder"):
        Journal.open(tmp_path / "nowhere" / "journal.sqlite", wall_clock=ticking_clock())


@pytest.mark.parametrize(("target", "said"), [("nowhere/j.sqlite", "cannot write .*nowhere"), ("link", "link")])
def test_a_link_that_leads_nowhere_is_refused_as_a_journal(tmp_path: Path, target: str, said: str) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / target)
    assert lock_holder(link) is None
    with pytest.raises(JournalReadOnlyError, match=said):
        Journal.open(link, wall_clock=ticking_clock())


def test_reading_leaves_no_files_behind(path: Path) -> None:
    with Journal.open(path, wall_clock=ticking_clock()) as journal:
        journal.append(NEW_GAME)
    before = sorted(path.parent.iterdir())
    with read_journal(path) as journal:
        assert len(journal.events()) == 1
    assert sorted(path.parent.iterdir()) == before


def test_an_empty_file_becomes_a_journal(path: Path) -> None:
    path.touch()
    with Journal.open(path, wall_clock=ticking_clock()) as journal:
        assert journal.append(NEW_GAME) == 1


def test_an_empty_file_reads_as_an_empty_journal(path: Path) -> None:
    path.touch()
    with read_journal(path) as journal:
        assert journal.events() == []
    assert path.read_bytes() == b""


# One writer
def test_a_second_writer_is_told_who_has_the_journal(path: Path) -> None:
    with Journal.open(path, wall_clock=lambda: START) as journal:
        journal.append(NEW_GAME)
        with pytest.raises(JournalBusyError, match=f"in use by process {os.getpid()};"):
            Journal.open(path, wall_clock=ticking_clock())
        assert f"process {os.getpid()}" in str(lock_holder(path))
        with read_journal(path) as reader:
            assert len(reader.events()) == 1
            journal.append(TURN)
            assert len(reader.events()) == 2
    assert lock_holder(path) is None
    Journal.open(path, wall_clock=ticking_clock()).close()


@pytest.mark.parametrize("linked_first", [True, False])
def test_a_journal_reached_through_a_link_has_one_writer_too(path: Path, linked_first: bool) -> None:
    link = path.with_name("link.sqlite")
    link.symlink_to(path)
    Journal.open(path, wall_clock=ticking_clock()).close()
    copy = path.with_name("copy.sqlite")
    back_up(path, copy)
    first, second = (link, path) if linked_first else (path, link)
    with Journal.open(first, wall_clock=ticking_clock()):
        with pytest.raises(JournalBusyError, match=f"process {os.getpid()}"):
            Journal.open(second, wall_clock=ticking_clock())
        with pytest.raises(JournalBusyError, match=f"process {os.getpid()}"):
            restore(copy, second, START)
        assert lock_holder(second) is not None
    Journal.open(second, wall_clock=ticking_clock()).close()


@pytest.mark.parametrize(
    ("named", "shown"),
    [
        ("process 1 on elsewhere since long ago\n", "process 1 on elsewhere since long ago"),
        ("", "another process"),
        ("\x1b[2J", "another process"),
    ],
)
def test_a_journal_that_an_earlier_version_writes_is_refused(path: Path, named: str, shown: str) -> None:
    Journal.open(path, wall_clock=ticking_clock()).close()
    before = path.read_bytes()
    left = path.with_name(f"{path.name}.lock")
    left.write_text(named)
    with left.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(JournalBusyError, match=f"is in use by {shown}, an earlier version of the referee; stop"):
            Journal.open(path, wall_clock=ticking_clock())
    assert path.read_bytes() == before
    assert lock_holder(path) is None
    # It was left by a power cut.
    Journal.open(path, wall_clock=ticking_clock()).close()
    assert not left.exists()


def modes(folder: Path) -> dict[str, int]:
    return {each.name: stat.S_IMODE(each.stat().st_mode) for each in folder.rglob("*")}


@pytest.fixture
def no_mask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("no_mask")
def test_nobody_else_may_open_a_journal_or_what_lies_beside_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Journal.open(path, wall_clock=ticking_clock()) as journal:
        journal.append(NEW_GAME)
        DailyBackups(path, 3, lambda: date(2026, 5, 1), lambda _: None).back_up_today()
        back_up(path, path.with_name("copy.sqlite"))
        beside = {path.name, f"{path.name}-wal", f"{path.name}-shm", f"{path.name}-last", "copy.sqlite"}
        assert modes(path.parent) == {
            **dict.fromkeys(beside, 0o600),
            "backups": 0o700,
            "a journal-2026-05-01.sqlite": 0o600,
        }
    restore(path.with_name("copy.sqlite"), path, START)

    def no_links(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    # As on a stick with FAT.
    monkeypatch.setattr(os, "link", no_links)
    restore(path.with_name("copy.sqlite"), path, START.replace(hour=20))
    assert set(modes(path.parent).values()) == {0o600, 0o700}
    assert len(list(path.parent.glob("a journal-before-*"))) == 2


def test_the_files_of_an_earlier_version_are_closed_to_others(path: Path) -> None:
    with Journal.open(path, wall_clock=ticking_clock()) as journal:
        journal.append(NEW_GAME)
        left = path.with_name("left.sqlite")
        beside = ["", "-wal", "-shm", "-last"]
        for ending in beside:
            shutil.copyfile(f"{path}{ending}", f"{left}{ending}")
    copies = ["left-before-20260501-183000.sqlite", "left-version-3.sqlite"]
    others = ["another.sqlite", "leftover.txt"]
    (path.parent / "backups").mkdir()
    for name in (*copies, *others, "backups/left-2026-04-30.sqlite"):
        (path.parent / name).touch()
    for each in path.parent.rglob("*"):
        each.chmod(0o666 if each.is_file() else 0o755)
    with Journal.open(left, wall_clock=ticking_clock()) as journal:
        DailyBackups(left, 3, lambda: date(2026, 5, 1), lambda _: None).back_up_today()
        found = modes(path.parent)
        assert [found[f"{left.name}{ending}"] for ending in beside] == [0o600] * 4
        assert [found[name] for name in copies] == [0o600] * 2
        assert found["backups"] == 0o700
        assert [found[name] for name in others] == [0o666] * 2
        assert len(journal.events()) == 1


@pytest.mark.parametrize("make", [os.mkfifo, lambda file: file.symlink_to("/dev/null")])
def test_a_pipe_or_a_device_is_refused_as_a_journal(path: Path, make: Callable[[Path], object]) -> None:
    make(path)
    before = stat.S_IMODE(path.stat().st_mode)
    for open_journal in (open_to_write, read_journal):
        with pytest.raises(
            JournalReadOnlyError, match=r"a journal\.sqlite is a pipe or a device; give a file as --jou"
        ):
            open_journal(path)
    assert stat.S_IMODE(path.stat().st_mode) == before


def test_no_file_beside_the_journal_can_be_removed_to_let_a_second_writer_in(path: Path) -> None:
    with Journal.open(path, wall_clock=ticking_clock()) as journal:
        journal.append(NEW_GAME)
        for beside in path.parent.iterdir():
            if beside.name.rpartition("-")[2] not in {"wal", "shm"} and beside != path:
                beside.unlink()
        with pytest.raises(JournalBusyError):
            Journal.open(path, wall_clock=ticking_clock())
        # The failed attempt, and whoever asks, must not drop the locks of SQLite.
        assert lock_holder(path) == f"process {os.getpid()}"
        locked = f"POSIX  ADVISORY  READ {os.getpid()} "
        assert any(locked in line and f":{path.stat().st_ino} " in line for line in _locks())


def _locks() -> list[str]:
    return Path("/proc/locks").read_text().splitlines()


def test_another_process_is_named_as_the_writer(path: Path) -> None:
    script = "import sys, pathlib\nfrom journal.lock import WriterLock\n"
    script += "lock = WriterLock(pathlib.Path(sys.argv[1]))\nprint('has it', flush=True)\nsys.stdin.read()\n"
    command = [sys.executable, "-c", script, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"has it\n"
        assert lock_holder(path) == f"process {other.pid}"
        with pytest.raises(JournalBusyError, match=f"in use by process {other.pid};"):
            Journal.open(path, wall_clock=ticking_clock())
        other.communicate()
    assert lock_holder(path) is None


# Disks that are full or cannot be written
def small_disk(pages: int) -> Callable[[str], sqlite3.Connection]:
    def open_small(target: str) -> sqlite3.Connection:
        connection = connect(target)
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    return open_small


def test_a_full_disk_is_reported_and_no_event_is_half_written(path: Path) -> None:
    with Journal.open(path, wall_clock=ticking_clock(), connect=small_disk(24)) as journal:
        journal.append(NEW_GAME)
        for _ in range(4):
            journal.append(TURN, [picture("before", 5000)])
        with pytest.raises(JournalFullError, match="no room on the disk"):
            journal.append(TURN, [picture(f"p{index}", 5000) for index in range(20)])
        written = journal.events()
    with Journal.open(path, wall_clock=ticking_clock()) as journal:
        assert journal.events() == written
        assert len(written) == 5
        journal.check()


def test_a_disk_too_full_for_a_new_journal_is_reported(path: Path) -> None:
    with pytest.raises(JournalFullError):
        Journal.open(path, wall_clock=ticking_clock(), connect=small_disk(1))
    assert lock_holder(path) is None
    Journal.open(path, wall_clock=ticking_clock()).close()


def test_a_read_only_file_is_reported(path: Path) -> None:
    Journal.open(path, wall_clock=ticking_clock()).close()

    def only_reading(target: str) -> sqlite3.Connection:
        return connect(target.replace("mode=rwc", "mode=ro"))

    with (
        Journal.open(path, wall_clock=ticking_clock(), connect=only_reading) as journal,
        pytest.raises(JournalReadOnlyError, match="may not be written"),
    ):
        journal.append(NEW_GAME)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_reported(path: Path) -> None:
    path.parent.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        with pytest.raises(JournalReadOnlyError):
            Journal.open(path, wall_clock=ticking_clock())
    finally:
        path.parent.chmod(stat.S_IRWXU)


class FailingOnce:
    """SQLite's connection on a disk on which one kind of statement fails while ``fails`` is set."""

    def __init__(self, statement: str = "COMMIT") -> None:
        self.statement = statement
        self.fails = False
        self.opened = 0

    def connect(self, target: str) -> sqlite3.Connection:
        self.opened += 1
        return cast("sqlite3.Connection", _FailingStatements(self, connect(target)))


class _FailingStatements:
    def __init__(self, disk: FailingOnce, connection: sqlite3.Connection) -> None:
        self._disk = disk
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, statement: str, *arguments: Any) -> sqlite3.Cursor:
        if statement == self._disk.statement and self._disk.fails:
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = sqlite3.SQLITE_IOERR_FSYNC
            raise error
        return self._connection.execute(statement, *arguments)


def test_after_a_failed_write_all_events_are_written_again(path: Path) -> None:
    disk = FailingOnce()
    with Journal.open(path, wall_clock=ticking_clock(), connect=disk.connect) as journal:
        journal.append(NEW_GAME)
        journal.append(TURN, [picture("before", 40)])
        first = os.open(path, os.O_RDONLY)
        disk.fails = True
        for _ in range(2):
            with pytest.raises(JournalFailedError, match=r"a journal\.sqlite failed: disk I/O error"):
                journal.append(TURN)
        assert len(journal.events()) == 2
        disk.fails = False
        assert journal.append(TURN) == 3
        assert not os.path.samestat(path.stat(), os.fstat(first))
        opened = disk.opened
        assert journal.append(TURN) == 4
        assert disk.opened == opened
        with read_journal(path) as reader:
            assert reader.events() == journal.events()
        assert lock_holder(path) is not None
    os.close(first)
    assert sorted(each.name for each in path.parent.iterdir()) == [path.name]
    with Journal.open(path, wall_clock=ticking_clock()) as kept:
        kept.check()
        assert [event.kind for _, event in kept.events()] == ["new game", "turn", "turn", "turn"]
        assert [one.evidence.name for one in kept.evidence(2)] == ["before"]


def test_a_journal_that_is_a_link_stays_one_after_a_failed_write(path: Path, tmp_path: Path) -> None:
    disk, file = FailingOnce(), tmp_path / "stick" / "games.sqlite"
    file.parent.mkdir()
    path.symlink_to(file)
    with Journal.open(path, wall_clock=ticking_clock(), connect=disk.connect) as journal:
        journal.append(NEW_GAME)
        disk.fails = True
        with pytest.raises(JournalFailedError):
            journal.append(TURN)
        disk.fails = False
        assert journal.append(TURN) == 2
    assert path.is_symlink()
    assert sorted(each.name for each in file.parent.iterdir()) == [file.name]


def test_if_events_cannot_be_written_again_the_journal_stays_unchanged(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = FailingOnce()
    with Journal.open(path, wall_clock=ticking_clock(), connect=disk.connect) as journal:
        journal.append(NEW_GAME)
        disk.fails = True
        with pytest.raises(JournalFailedError):
            journal.append(TURN)
        disk.fails = False
        with monkeypatch.context() as failing:
            failing.setattr(os, "fsync", _fail)
            with pytest.raises(JournalReadOnlyError, match="can't be written"):
                journal.append(TURN)
        assert [event.kind for _, event in journal.events()] == ["new game"]
        assert journal.append(TURN) == 2


def _fail(*_: object) -> None:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def test_a_disk_that_fails_at_the_start_is_reported_in_words(path: Path) -> None:
    with pytest.raises(JournalFailedError, match=r"a journal\.sqlite failed: Input/output error"):
        Journal.open(path, wall_clock=ticking_clock(), sync_folder=_fail)
    assert lock_holder(path) is None


def test_a_journal_is_closed_on_a_disk_that_has_become_read_only(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal.open(path, wall_clock=ticking_clock())
    journal.append(NEW_GAME)
    monkeypatch.setattr(os, "ftruncate", _fail)
    journal.close()
    assert lock_holder(path) is None


def test_a_phrase_in_an_event_is_still_one_when_it_is_read() -> None:
    said = Phrase("The dice show {roll}, as before. Press the button if they were rolled again.", "1,3")
    text = events.encode(events.Event(events.EventKind.NOTE, {"sentence": said, "by": "Ann"}))
    kept = events.decode(3, "note", text, None, "").data
    assert kept == {"sentence": said, "by": "Ann"}
    assert isinstance(kept["sentence"], Phrase)
    assert kept["sentence"].parts == {"roll": "1,3"}


@pytest.mark.parametrize("beside", ["7", "[]", '{"by":["{a}",{}]}', '{"by":["Bob"]}', '{"other":["Ann"]}'])
def test_an_event_whose_phrases_are_damaged_is_read_without_them(beside: str) -> None:
    read = events.decode(3, "note", f'{{"by":"Ann","phrases":{beside}}}', None, "")
    assert read.data == {"by": "Ann"}
    assert type(read.data["by"]) is str


FRAME_BYTES = 24 + 4096
EVENTS = 100


def left(played: Path, to: Path) -> Path:
    """Copy an open journal as a kill leaves it."""
    to.parent.mkdir(exist_ok=True)
    for ending in ("", "-wal", "-last"):
        shutil.copy(f"{played}{ending}", f"{to}{ending}")
    return to


@pytest.fixture
def left_path(tmp_path: Path) -> Path:
    """A journal of 100 events as a kill leaves it."""
    played = tmp_path / "journal.sqlite"
    with Journal.open(played, wall_clock=ticking_clock()) as journal:
        for index, event in enumerate((NEW_GAME, *[TURN] * (EVENTS - 1))):
            journal.append(event, [picture("before", 9000)] if index % 3 else [])
        return left(played, tmp_path / "left" / "journal.sqlite")


def opened(path: Path) -> Journal:
    return Journal.open(path, wall_clock=lambda: START)


@pytest.mark.parametrize("content", [None, b"", b"\xff" * 50_000, bytes(50_000)])
def test_every_event_is_in_the_file_whatever_becomes_of_the_log(left_path: Path, content: bytes | None) -> None:
    log_path(left_path).unlink()
    if content is not None:
        log_path(left_path).write_bytes(content)
    with opened(left_path) as journal:
        assert (journal.remark, journal.last_number) == ("", EVENTS)
        journal.check()
    assert [each.name for each in left_path.parent.iterdir()] == [left_path.name]


def test_the_file_alone_is_a_whole_journal_while_a_referee_writes_it(path: Path, tmp_path: Path) -> None:
    alone = tmp_path / "alone.sqlite"
    with Journal.open(path, wall_clock=ticking_clock()) as journal:
        for number, event in enumerate((NEW_GAME, TURN, TURN), start=1):
            journal.append(event, [picture("before", 9000)])
            shutil.copy(path, alone)
            with read_journal(alone) as reader:
                reader.check()
                assert reader.last_number == number


def test_what_was_recorded_while_somebody_read_is_named_if_the_log_is_lost(path: Path, tmp_path: Path) -> None:
    with Journal.open(path, wall_clock=ticking_clock()) as journal:
        journal.append(NEW_GAME)
    with kept_back(path) as journal:
        journal.append(TURN)
        journal.append(TURN)
        without_log = left(path, tmp_path / "left" / "journal.sqlite")
        with opened(left(path, tmp_path / "whole" / "journal.sqlite")) as whole:
            assert (whole.remark, whole.last_number) == ("", 3)
    with Journal.open(path, wall_clock=ticking_clock()) as journal:
        journal.append(TURN)
        with opened(left(path, tmp_path / "later" / "journal.sqlite")) as whole:
            assert (whole.remark, whole.last_number) == ("", 4)
    log_path(without_log).unlink()
    said = (
        "journal.sqlite was damaged: 2 events after event 1 are missing. Compare the board with what "
        "`./run status` shows, and correct what differs."
    )
    with read_journal(without_log) as reader:
        assert missing_for_readers(reader) == said
    with opened(without_log) as journal:
        assert journal.remark == said
        journal.check()
        assert [event.kind for _, event in journal.events()] == ["new game", "note"]
        assert journal.events()[-1][1].data["sentence"] == said
    with opened(without_log) as journal:
        assert journal.remark == ""


def test_a_reader_keeps_the_referee_waiting_for_a_tenth_of_a_second_at_most(path: Path) -> None:
    with Journal.open(path, wall_clock=ticking_clock()) as journal:
        assert journal._connection.execute("PRAGMA busy_timeout").fetchone() == (100,)


def test_after_a_failed_merge_the_event_is_there_once_and_the_next_goes_to_a_new_file(path: Path) -> None:
    disk = FailingOnce("PRAGMA wal_checkpoint(TRUNCATE)")
    with Journal.open(path, wall_clock=ticking_clock(), connect=disk.connect) as journal:
        journal.append(NEW_GAME)
        first = path.stat()
        disk.fails = True
        assert journal.append(TURN) == 2
        disk.fails = False
        assert journal.append(TURN) == 3
        assert not os.path.samestat(path.stat(), first)
    with read_journal(path) as reader:
        reader.check()
        assert [event.kind for _, event in reader.events()] == ["new game", "turn", "turn"]


def test_a_journal_begins_anew_where_only_the_name_of_the_last_event_is_left(left_path: Path) -> None:
    left_path.unlink()
    log_path(left_path).unlink()
    with opened(left_path) as journal:
        assert (journal.remark, journal.events()) == ("", [])


def test_what_a_kill_left_beside_a_journal_does_not_spoil_the_one_that_takes_its_place(
    left_path: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.sqlite"
    with Journal.open(other, wall_clock=ticking_clock()) as journal:
        for _ in range(20):
            journal.append(NEW_GAME)
        events = journal.events()
    other.rename(left_path)
    with opened(left_path) as journal:
        journal.check()
        assert journal.events()[:20] == events
        assert ": 80 events after event 20 are missing." in journal.remark
        assert journal.append(TURN) == 22


def test_an_event_whose_text_was_changed_is_named(left_path: Path) -> None:
    opened(left_path).close()
    content = left_path.read_bytes()
    left_path.write_bytes(content.replace(b"c3-c4=stop", b"c3-c5=stop", 1))
    with (
        read_journal(left_path) as journal,
        pytest.raises(JournalUnreadableError, match=r"event \d+ is not as it was recorded; the journal is damaged"),
    ):
        journal.events()


def test_an_event_that_was_removed_by_hand_is_named(left_path: Path) -> None:
    opened(left_path).close()
    with closing(sqlite3.connect(left_path, isolation_level=None)) as database:
        database.execute("DROP TRIGGER event_is_never_removed")
        database.execute("DELETE FROM event WHERE number = 17")
    with read_journal(left_path) as journal:
        for game in (None, 1):
            with pytest.raises(JournalUnreadableError, match="event 17 is missing; the journal is damaged"):
                journal.events(game)


def test_an_event_numbered_too_high_by_hand_is_refused(left_path: Path) -> None:
    with opened(left_path) as journal, closing(sqlite3.connect(left_path)) as file:
        journal.append(TURN)
        file.execute(
            "INSERT INTO event (number, game, kind, data, wall_time) VALUES (?, 1, 'note', '{}', '')", (2**63 - 1,)
        )
        file.commit()
    with opened(left_path) as journal, pytest.raises(JournalUnreadableError, match="an event 9223372036854775807"):
        journal.append(TURN)


NOW = datetime(2026, 5, 1, tzinfo=UTC)
PLAIN_GAME = Event(EventKind.NEW_GAME, {"game": "deblockle"})


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
    with kept_back(path) as journal:
        for _ in range(3):
            journal.append(PLAIN_GAME)
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
    with kept_back(path) as journal:
        for _ in range(3):
            journal.append(PLAIN_GAME)
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
            assert journal.append(PLAIN_GAME) == 4
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
            assert journal.append(PLAIN_GAME) == 4
        assert len(reader.events()) == 4


def test_the_folder_of_a_new_or_existing_journal_is_synced(tmp_path: Path) -> None:
    path, synced = tmp_path / "journal.sqlite", list[Path]()
    for _ in range(2):
        with Journal.open(path, wall_clock=lambda: NOW, sync_folder=synced.append):
            assert path.exists()
    assert synced == [tmp_path, tmp_path]


def test_a_file_that_is_no_journal_keeps_its_content_and_rights(tmp_path: Path) -> None:
    passwords = tmp_path / "passwd"
    passwords.write_text("root:x:0:0::/root:/bin/sh\n", encoding="utf-8")
    passwords.chmod(0o644)
    with pytest.raises(JournalUnreadableError):
        Journal.open(passwords, wall_clock=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    assert stat.S_IMODE(passwords.stat().st_mode) == 0o644
    assert passwords.read_text(encoding="utf-8").startswith("root:x")
