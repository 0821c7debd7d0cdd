"""Journals that cannot be used: damaged, foreign, locked, or on a disk that cannot be written."""

import errno
import fcntl
import json
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest

from common.phrases import Phrase
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
from referee.journal import events
from referee.journal.backups import back_up, restore
from referee.journal.database import check_row, connect, lock_holder
from referee.journal.journal import Journal
from referee.journal.reader import read_journal
from tests.referee.journal.samples import NEW_GAME, START, TURN, picture, ticking_clock

ROOT = Path(__file__).resolve().parents[3]


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


def test_the_lock_file_of_an_earlier_version_is_ignored_and_removed(path: Path) -> None:
    left = path.with_name(f"{path.name}.lock")
    left.write_text("process 1 on elsewhere since long ago\n")
    with left.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        Journal.open(path, wall_clock=ticking_clock()).close()
    assert not left.exists()


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
    script = "import sys, pathlib\nfrom referee.journal.database import WriterLock\n"
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
    """SQLite's connection on a disk whose commits fail while ``fails`` is set."""

    def __init__(self) -> None:
        self.fails = False
        self.opened = 0

    def connect(self, target: str) -> sqlite3.Connection:
        self.opened += 1
        return cast("sqlite3.Connection", _FailingCommits(self, connect(target)))


class _FailingCommits:
    def __init__(self, disk: FailingOnce, connection: sqlite3.Connection) -> None:
        self._disk = disk
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, statement: str, *arguments: Any) -> sqlite3.Cursor:
        if statement == "COMMIT" and self._disk.fails:
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
