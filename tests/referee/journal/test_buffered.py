import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.errors import EventError, JournalFullError, JournalReadOnlyError
from referee.journal.database import connect
from referee.journal.events import Event, EventKind, Evidence
from referee.journal.journal import BufferedJournal, Journal, _FileState
from referee.journal.reader import read_journal

START = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)
NEW_GAME = Event(EventKind.NEW_GAME, {"game": "deblockle"})
BIG = [Evidence("before", "image/png", bytes(60_000))]


def note(text: str) -> Event:
    return Event(EventKind.NOTE, {"text": text})


class Disk:
    """A disk whose room can be changed; its journal is real SQLite, which reports a full disk itself."""

    def __init__(self, path: Path) -> None:
        self.said: list[str] = []
        self.journal = BufferedJournal(
            Journal.open(path, wall_clock=lambda: START, connect=self.connect), self.said.append
        )

    def connect(self, target: str) -> sqlite3.Connection:
        self.connection = connect(target)
        return self.connection

    def fill(self) -> None:
        pages = self.connection.execute("PRAGMA page_count").fetchone()[0]
        self.connection.execute(f"PRAGMA max_page_count = {pages}")

    def make_room(self) -> None:
        self.connection.execute("PRAGMA max_page_count = 100000")


def test_events_are_kept_in_memory_while_the_disk_is_full_and_then_written_in_order(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "journal.sqlite")
    assert disk.journal.append(NEW_GAME) == 1
    disk.fill()
    assert disk.journal.append(note("a"), BIG) == 2
    assert disk.journal.append(note("b"), BIG) == 3
    trouble, pending = disk.journal.trouble, disk.journal.pending
    assert isinstance(trouble, JournalFullError)
    assert [event.data["text"] for event in pending] == ["a", "b"]
    assert [number for number, _ in disk.journal.events(1)] == [1, 2, 3]
    assert len(disk.said) == 1
    assert "only in memory" in disk.said[0]
    assert not disk.journal.retry()
    disk.make_room()
    assert disk.journal.append(note("c")) == 4
    assert disk.journal.pending == ()
    assert disk.journal.trouble is None
    assert len(disk.said) == 2
    assert disk.said[1] == "The journal can be written again. What was only in memory is now in it: 3 events."
    disk.journal.close()
    with read_journal(tmp_path / "journal.sqlite") as journal:
        assert [event.data.get("text") for _, event in journal.events()] == [None, "a", "b", "c"]
        assert journal.evidence(3)[0].evidence == BIG[0]


def test_all_events_since_the_trouble_began_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(tmp_path / "journal.sqlite")
    disk.journal.append(NEW_GAME)
    append, refused = disk.journal.journal.append, {"a", "b", "c"}

    def append_some(event: Event, evidence: Sequence[Evidence] = ()) -> int:
        if event.data.get("text") in refused:
            raise JournalFullError("no room")
        return append(event, evidence)

    monkeypatch.setattr(disk.journal.journal, "append", append_some)
    for text in "abc":
        disk.journal.append(note(text))
    refused.remove("a")
    assert not disk.journal.retry()
    refused.clear()
    assert disk.journal.retry()
    assert disk.said[-1].endswith("now in it: 3 events.")
    refused.add("d")
    disk.journal.append(note("d"))
    refused.clear()
    assert disk.journal.retry()
    assert disk.said[-1].endswith("now in it: 1 event.")
    disk.journal.close()


def test_closing_with_unwritten_events_reports_the_loss(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "journal.sqlite")
    disk.journal.append(NEW_GAME)
    disk.fill()
    disk.journal.append(note("a"), BIG)
    disk.journal.close()
    assert disk.said[-1].startswith("1 event could not be saved, since the journal can't be written: ")


def test_a_new_game_can_begin_in_memory(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "journal.sqlite")
    disk.journal.append(NEW_GAME)
    disk.fill()
    disk.journal.append(NEW_GAME, BIG)
    disk.journal.append(note("in the second game"))
    assert disk.journal.latest_game() == 2
    assert [number for number, _ in disk.journal.events(2)] == [2, 3]
    assert [number for number, _ in disk.journal.events(1)] == [1]
    disk.journal.close()


def test_the_first_game_can_begin_in_memory(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "journal.sqlite")
    disk.fill()
    disk.journal.append(NEW_GAME, BIG)
    disk.journal.append(note("in the first game"))
    assert disk.journal.latest_game() == 1
    assert [number for number, _ in disk.journal.events(1)] == [1, 2]
    disk.make_room()
    disk.journal.close()


def test_an_invalid_event_is_refused_at_once(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "journal.sqlite")
    with pytest.raises(EventError, match="start a game first"):
        disk.journal.append(note("too early"))
    disk.journal.append(NEW_GAME)
    with pytest.raises(EventError, match="needs turn, state"):
        disk.journal.append(Event(EventKind.TURN, {}))
    assert disk.journal.pending == ()
    disk.journal.close()


@given(steps=st.lists(st.sampled_from(["append", "append", "append big", "fill", "make room", "retry"]), max_size=25))
def test_no_event_is_lost_or_reordered_whatever_the_disk_does(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str]
) -> None:
    path = tmp_path_factory.mktemp("disk") / "journal.sqlite"
    disk = Disk(path)
    disk.journal.append(NEW_GAME)
    accepted = []
    for index, step in enumerate(steps):
        if step.startswith("append"):
            number = disk.journal.append(note(str(index)), BIG if step == "append big" else ())
            accepted.append((number, str(index)))
        elif step == "fill":
            disk.fill()
        elif step == "make room":
            disk.make_room()
        else:
            disk.journal.retry()
        seen = [(number, event.data["text"]) for number, event in disk.journal.events()[1:]]
        assert seen == accepted
    disk.make_room()
    disk.journal.close()
    with read_journal(path) as journal:
        assert [(number, event.data["text"]) for number, event in journal.events()[1:]] == accepted


def test_the_events_stay_readable_when_the_log_of_a_broken_file_cannot_be_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Journal.open(tmp_path / "journal.sqlite", wall_clock=lambda: START)
    journal = BufferedJournal(kept, lambda _: None)
    journal.append(NEW_GAME)

    def fail(path: Path) -> None:
        raise JournalReadOnlyError(f"the log of {path} can't be removed: Read-only file system")

    with monkeypatch.context() as broken:
        broken.setattr("referee.journal.journal.drop_log", fail)
        broken.setattr(kept, "_state", _FileState.FAILED)
        journal.append(note("a"))
        assert journal.pending
        assert len(journal.events()) == 2
    journal.retry()
    assert not journal.pending
    assert len(journal.events()) == 2


def test_a_file_that_could_not_be_opened_again_is_read_and_written_as_soon_as_it_can(tmp_path: Path) -> None:
    path, away = tmp_path / "journal.sqlite", tmp_path / "away.sqlite"

    goes_away = False

    def open_file(target: str) -> sqlite3.Connection:
        if goes_away:
            path.rename(away)
        return connect(target)

    kept = Journal.open(path, wall_clock=lambda: START, connect=open_file)
    journal = BufferedJournal(kept, lambda _: None)
    journal.append(NEW_GAME)
    kept._state, goes_away = _FileState.FAILED, True
    assert journal.append(note("a")) == 2
    assert isinstance(journal.trouble, JournalReadOnlyError)
    assert not path.exists(), "an empty file must not take its place"
    goes_away = False
    away.rename(path)
    assert [number for number, _ in journal.events()] == [1, 2]
    assert journal.retry()
    journal.close()
    with read_journal(path) as read:
        assert [event.data.get("text") for _, event in read.events()] == [None, "a"]
