"""Backups of journals: made beside a writer, kept for a few days, restored, and made before an upgrade."""

import errno
import os
import resource
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from journal import database
from journal.backups import FOLDER, DailyBackups, back_up, restore
from journal.database import connect, log_path
from journal.journal import Journal
from journal.reader import read_journal
from referee.errors import (
    JournalBusyError,
    JournalError,
    JournalFailedError,
    JournalFullError,
    JournalMissingError,
    JournalUnreadableError,
)
from referee.record.events import Event, EventKind
from tests.journal.samples import NEW_GAME, TURN, kept_back, picture, ticking_clock

NOW = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)
SET_UP = Event(EventKind.SET_UP, {"state": "s0"})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


def opened(path: Path) -> Journal:
    return Journal.open(path, wall_clock=ticking_clock())


def kinds(path: Path) -> list[str]:
    with read_journal(path) as journal:
        return [event.kind for _, event in journal.events()]


def test_a_backup_holds_every_event_while_the_writer_continues(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite"
    with opened(path) as journal:
        journal.append(NEW_GAME)
        number = journal.append(SET_UP, [picture("a", 100)])
        back_up(path, copy)
        journal.append(TURN)
        assert kinds(copy) == ["new game", "set up"]
    assert kinds(path) == ["new game", "set up", "turn"]
    with read_journal(copy) as copied:
        assert len(copied.evidence(number)) == 1
    assert sorted(each.name for each in tmp_path.iterdir() if each.name.startswith("copy")) == ["copy.sqlite"]


@pytest.mark.parametrize("has_links", [True, False], ids=["ext4", "FAT"])
def test_a_backup_is_restored_and_the_replaced_journal_is_kept(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_links: bool
) -> None:
    def link(source: Path, target: Path) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    if not has_links:
        monkeypatch.setattr(os, "link", link)
    copy = tmp_path / "copy.sqlite"
    with opened(path) as journal:
        journal.append(NEW_GAME)
        back_up(path, copy)
        journal.append(SET_UP)
    kept = restore(copy, path, NOW)
    assert kept == tmp_path / "journal-before-20260501-183000.sqlite"
    assert kinds(path) == ["new game"]
    assert kinds(kept) == ["new game", "set up"]
    with opened(path) as journal:
        journal.append(SET_UP)
    assert kinds(path) == ["new game", "set up"]


def test_a_damaged_journal_is_replaced_and_kept_unchanged(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite"
    with opened(path) as journal:
        journal.append(NEW_GAME)
    back_up(path, copy)
    path.write_bytes(b"wrecked" * 1000)
    kept = restore(copy, path, NOW)
    assert kept is not None
    assert kept.read_bytes() == b"wrecked" * 1000
    assert kinds(path) == ["new game"]


def test_a_backup_is_restored_without_an_existing_journal(path: Path, tmp_path: Path) -> None:
    with opened(path) as journal:
        journal.append(NEW_GAME)
    elsewhere = tmp_path / "new" / "journal.sqlite"
    elsewhere.parent.mkdir()
    assert restore(path, elsewhere, NOW) is None
    assert kinds(elsewhere) == ["new game"]


def test_no_journal_is_replaced_while_a_referee_runs(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite"
    with opened(path) as journal:
        journal.append(NEW_GAME)
        back_up(path, copy)
        with pytest.raises(JournalBusyError):
            restore(copy, path, NOW)
        journal.append(SET_UP)
    assert kinds(path) == ["new game", "set up"]


@pytest.mark.parametrize("merged", [0, 1], ids=["never merged", "merged before"])
def test_a_journal_is_restored_with_the_log_that_a_power_cut_left(path: Path, tmp_path: Path, merged: int) -> None:
    card = tmp_path / "card"
    card.mkdir()
    copy = card / "games.sqlite"
    if merged:
        with opened(path) as journal:
            journal.append(NEW_GAME)
    with kept_back(path) as journal:
        journal.append(TURN if merged else NEW_GAME)
        journal.append(SET_UP)
        for file in (path, log_path(path)):
            shutil.copy(file, card / file.name.replace(path.name, copy.name))
    before = {each.name: each.read_bytes() for each in card.iterdir()}
    card.chmod(0o500)
    restore(copy, path, NOW)
    card.chmod(0o700)
    assert kinds(path) == ["new game", "turn" if merged else "set up", "set up"][: 2 + merged]
    assert {each.name: each.read_bytes() for each in card.iterdir()} == before
    assert list(tmp_path.glob(".*")) == []


def test_a_journal_that_another_referee_writes_is_not_restored(path: Path, tmp_path: Path) -> None:
    with opened(path) as journal:
        journal.append(NEW_GAME)
        with pytest.raises(JournalBusyError, match=r"journal\.sqlite is in use by process .*`\./run games backup`"):
            restore(path, tmp_path / "other.sqlite", NOW)
    assert not (tmp_path / "other.sqlite").exists()


def test_the_log_of_a_deleted_journal_is_not_merged_into_the_restored_one(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite"
    with opened(path) as journal:
        journal.append(NEW_GAME)
    back_up(path, copy)
    with kept_back(path) as journal:
        journal.append(SET_UP)
        shutil.copy(log_path(path), tmp_path / "log")
    path.unlink()
    (tmp_path / "log").rename(log_path(path))
    assert restore(copy, path, NOW) is None
    assert kinds(path) == ["new game"]
    assert log_path(tmp_path / "journal-before-20260501-183000.sqlite").exists()


def test_a_journal_that_is_a_link_stays_one_when_its_games_are_replaced(path: Path, tmp_path: Path) -> None:
    copy, stick = tmp_path / "copy.sqlite", tmp_path / "stick"
    stick.mkdir()
    path.symlink_to(stick / "games.sqlite")
    with opened(path) as journal:
        journal.append(NEW_GAME)
        back_up(path, copy)
        journal.append(SET_UP)
    kept = restore(copy, path, NOW)
    assert path.is_symlink()
    assert kinds(stick / "games.sqlite") == ["new game"]
    assert kept == stick / "games-before-20260501-183000.sqlite"
    assert not kept.is_symlink()
    assert kinds(kept) == ["new game", "set up"]
    with pytest.raises(JournalError, match="the journal itself"):
        restore(stick / "games.sqlite", path, NOW)


def _without_index(journal: Path) -> None:
    """Keep SQLite from making the log's index, as a read-only disk does."""
    journal.with_name(f"{journal.name}-shm").symlink_to("nowhere")


@pytest.mark.parametrize("has_log", [False, True])
def test_a_journal_on_a_read_only_disk_is_read_and_copied(path: Path, tmp_path: Path, has_log: bool) -> None:
    card = tmp_path / "card" / "games.sqlite"
    card.parent.mkdir()
    with kept_back(path) as journal:
        journal.append(NEW_GAME)
        if has_log:
            for name in (card, log_path(card)):
                shutil.copy(path.with_name(name.name.replace("games", "journal")), name)
    if not has_log:
        shutil.copy(path, card)
    _without_index(card)
    assert kinds(card) == ["new game"]
    copy = tmp_path / "copy.sqlite"
    back_up(card, copy)
    assert kinds(copy) == ["new game"]


def test_a_copy_without_room_is_named(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect_to = sqlite3.connect

    def small(target: str | Path, *, uri: bool = False) -> sqlite3.Connection:
        connection = connect_to(target, uri=uri)
        if "draft" in str(target):
            connection.execute("PRAGMA max_page_count = 2")
        return connection

    with opened(path) as journal:
        journal.append(NEW_GAME, [picture("a", 10_000)])
    monkeypatch.setattr(sqlite3, "connect", small)
    with pytest.raises(JournalFullError, match=r"no room on the disk for the copy .*copy\.sqlite: free some space"):
        back_up(path, tmp_path / "copy.sqlite")
    assert list(tmp_path.glob("*copy*")) == []


def test_a_copy_that_the_disk_refuses_is_named(path: Path, tmp_path: Path) -> None:
    with opened(path) as journal:
        journal.append(NEW_GAME, [picture("a", 40_000)])
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Room for the journal's index, which is 32 KiB.
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, limits[1]))
    try:
        with pytest.raises(JournalFailedError, match=r"the copy .*copy\.sqlite can't be written: disk I/O error"):
            back_up(path, tmp_path / "copy.sqlite")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def _cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-4096])


def _of_another_program(path: Path) -> None:
    path.unlink()
    raw = sqlite3.connect(path)
    raw.execute("CREATE TABLE cake (slices)")
    raw.close()


@pytest.mark.parametrize("spoil", [_cut_off, _of_another_program, lambda path: path.write_bytes(b"")])
def test_a_damaged_backup_is_not_restored(path: Path, tmp_path: Path, spoil: Callable[[Path], object]) -> None:
    copy = tmp_path / "copy.sqlite"
    with opened(path) as journal:
        journal.append(NEW_GAME)
        journal.append(SET_UP, [picture("a", 40_000)])
    back_up(path, copy)
    spoil(copy)
    before = path.read_bytes()
    with pytest.raises(JournalUnreadableError, match=r"copy\.sqlite is damaged or not a copy of a journal; name one"):
        restore(copy, path, NOW)
    assert path.read_bytes() == before
    assert kinds(path) == ["new game", "set up"]


def test_a_damaged_journal_is_not_copied(path: Path, tmp_path: Path) -> None:
    with opened(path) as journal:
        for event in (NEW_GAME, *[TURN] * 200):
            journal.append(event)
    content = path.read_bytes()
    path.write_bytes(content[:-4096] + b"\xff" * 4096)
    with pytest.raises(JournalUnreadableError, match=r"journal\.sqlite.* is damaged"):
        back_up(path, tmp_path / "copy.sqlite")
    assert not (tmp_path / "copy.sqlite").exists()


def test_a_journal_that_cannot_be_copied_is_named(path: Path, tmp_path: Path) -> None:
    with pytest.raises(JournalMissingError, match=r"journal\.sqlite"):
        back_up(path, tmp_path / "copy.sqlite")
    opened(path).close()
    with pytest.raises(JournalError, match="make it first"):
        back_up(path, tmp_path / "nowhere" / "copy.sqlite")
    with pytest.raises(JournalError, match="the journal itself"):
        restore(path, path, NOW)


@pytest.mark.parametrize("name", ["journal", "games [club]"])
def test_the_backups_of_the_newest_days_are_kept(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"{name}.sqlite"
    opened(path).close()
    day = date(2026, 2, 27)
    said: list[str] = []
    copies = DailyBackups(path, 2, lambda: day, said.append)
    for _ in range(4):
        copies.back_up_today()
        copies.back_up_today()
        day += timedelta(days=1)
    left = sorted(each.name for each in path.with_name(FOLDER).iterdir())
    assert left == [f"{name}-2026-03-01.sqlite", f"{name}-2026-03-02.sqlite"]
    assert said == []


def test_todays_backup_stays_if_the_clock_was_ahead_before(path: Path) -> None:
    opened(path).close()
    days = iter((date(2031, 1, 1), date(2031, 1, 2), date(2026, 5, 1), date(2026, 5, 2)))
    copies = DailyBackups(path, 2, lambda: next(days), pytest.fail)
    for _ in range(4):
        copies.back_up_today()
    left = sorted(each.name for each in path.with_name(FOLDER).iterdir())
    assert left == ["journal-2026-05-02.sqlite", "journal-2031-01-02.sqlite"]


def test_todays_backup_is_made_beside_a_running_referee(path: Path) -> None:
    with opened(path) as journal:
        journal.append(NEW_GAME)
        with DailyBackups(path, 3, NOW.date, pytest.fail):
            journal.append(SET_UP)
    (copy,) = path.with_name(FOLDER).iterdir()
    assert kinds(copy)[0] == "new game"


@pytest.mark.parametrize("keep", [0, 1])
def test_backups_are_made_unless_none_are_to_be_kept(path: Path, keep: int) -> None:
    with opened(path) as journal:
        journal.append(NEW_GAME)
        with DailyBackups(path, keep, NOW.date, pytest.fail):
            journal.append(SET_UP)
    assert path.with_name(FOLDER).exists() is bool(keep)


def test_a_failed_backup_is_reported_and_the_game_goes_on(path: Path) -> None:
    opened(path).close()
    path.with_name(FOLDER).write_text("a file where the folder should be")
    said: list[str] = []
    DailyBackups(path, 3, NOW.date, said.append).back_up_today()
    assert len(said) == 1
    assert said[0].startswith("Today's copy of the journal could not be made")


def test_an_upgrade_keeps_a_backup_of_the_previous_version(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(path) as journal:
        journal.append(NEW_GAME)
    newer = (*database.MIGRATIONS, "CREATE TABLE later (a TEXT) STRICT;")
    monkeypatch.setattr(database, "MIGRATIONS", newer)
    monkeypatch.setattr(database.upgrade, "__defaults__", (newer,))
    monkeypatch.setattr(database.check_version, "__defaults__", (newer,))
    with opened(path) as journal:
        journal.append(SET_UP)
    monkeypatch.undo()
    kept = path.with_name(f"journal-version-{len(database.MIGRATIONS)}.sqlite")
    assert kinds(kept) == ["new game"]


def test_an_upgrade_from_the_first_version_keeps_a_backup(path: Path) -> None:
    with closing(connect(str(path))) as first:
        database.upgrade(first, database.MIGRATIONS[:1])
        first.execute("INSERT INTO event (game, kind, data, wall_time) VALUES (1, 'new game', '{\"game\": \"x\"}', '')")
    with opened(path) as journal:
        journal.append(SET_UP)
    assert kinds(path) == ["new game", "set up"]
    kept = path.with_name("journal-version-1.sqlite")
    with closing(sqlite3.connect(kept)) as file:
        assert database.version_of(file) == 1
    assert kinds(kept) == ["new game"]
