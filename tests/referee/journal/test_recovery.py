"""A damaged log: what can be read is recovered, what is missing is named, and the damaged files are kept."""

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from referee.errors import JournalFullError, JournalUnreadableError
from referee.journal import recovery
from referee.journal.events import Event, EventKind
from referee.journal.journal import Journal
from referee.journal.log import log_path, read_log
from referee.journal.reader import read_journal
from referee.journal.recovery import loss_of
from tests.effort import cases
from tests.referee.journal.samples import NEW_GAME, START, TURN, picture, ticking_clock

FRAME_BYTES = 24 + 4096
EVENTS = 100


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A journal as a power cut leaves it: of its 100 events, 90 are only in the log."""
    played, left = tmp_path / "played" / "journal.sqlite", tmp_path / "left" / "journal.sqlite"
    for each in (played, left):
        each.parent.mkdir()
    with Journal.open(played, wall_clock=ticking_clock()) as journal:
        for event in (NEW_GAME, *[TURN] * 9):
            journal.append(event)
    with Journal.open(played, wall_clock=ticking_clock()) as journal:
        for index in range(10, EVENTS):
            journal.append(TURN, [picture("before", 9000)] if index % 3 else [])
        for ending in ("", "-wal", "-last"):
            shutil.copy(f"{played}{ending}", f"{left}{ending}")
    return left


def damage(path: Path, at: int, size: int = 512, fill: bytes = b"\xff") -> None:
    log = log_path(path)
    content = bytearray(log.read_bytes())
    content[at : at + size] = fill * size
    log.write_bytes(content)


def forget_the_last(path: Path) -> None:
    path.with_name(f"{path.name}-last").unlink()


def opened(path: Path) -> Journal:
    return Journal.open(path, wall_clock=lambda: START)


def test_a_log_without_damage_is_merged_without_a_word(path: Path) -> None:
    assert loss_of(path) is None
    with opened(path) as journal:
        assert journal.remark == ""
        assert journal.last_number == EVENTS
    assert [each.name for each in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("is_named", [True, False])
def test_the_events_behind_a_damaged_place_are_recovered(path: Path, is_named: bool) -> None:
    if not is_named:
        forget_the_last(path)
    damage(path, 32 + 5 * FRAME_BYTES + 1024)
    before = {each.name: each.read_bytes() for each in path.parent.iterdir()}
    with read_journal(path) as reader:
        assert reader.last_number < 20
    with opened(path) as journal:
        assert journal.remark == (
            "The log of journal.sqlite was damaged. All 100 events could be read nevertheless. "
            "The damaged files are kept in journal-damaged-20260501-183000.sqlite."
        )
        journal.check()
        events = journal.events()
        assert [number for number, _ in events] == [*range(1, EVENTS + 2)]
        assert events[-1][1] == Event(EventKind.NOTE, {"sentence": journal.remark}, None, events[-1][1].wall_time)
    for ending in ("", "-wal"):
        kept = path.with_name(f"journal-damaged-20260501-183000.sqlite{ending}")
        assert kept.read_bytes() == before[f"{path.name}{ending}"]


def damage_a_page_written_once(path: Path, *, of_a_picture: bool) -> None:
    """Damage a page that no later frame holds."""
    frames = read_log(log_path(path).read_bytes()).read
    for index, frame in enumerate(frames):
        is_leaf_of_events = frame.content[0] == 0x0D and b"c3-c4=stop" in frame.content
        is_wanted = frame.content[0] == 0 if of_a_picture else is_leaf_of_events
        if is_wanted and index > 20 and all(frame.number != later.number for later in frames[index + 1 :]):
            damage(path, 32 + index * FRAME_BYTES + 1024)
            return
    pytest.fail("there is no such page")


def test_events_that_cannot_be_recovered_are_named(path: Path) -> None:
    damage_a_page_written_once(path, of_a_picture=False)
    with opened(path) as journal:
        left = journal.last_number - 1
        assert 9 < left < EVENTS
        assert journal.remark.startswith(
            f"The log of journal.sqlite was damaged: {EVENTS - left} events after event {left} are missing. "
            "Compare the board with what `./run status` shows, and correct what differs. The damaged files are kept in "
        )
        journal.check()


def test_without_the_last_event_named_it_is_said_how_many_may_be_missing(path: Path) -> None:
    forget_the_last(path)
    damage_a_page_written_once(path, of_a_picture=False)
    found = loss_of(path)
    assert found is not None
    assert not found.is_certain
    assert found.recorded in {EVENTS - 1, EVENTS}
    events = f"{found.recorded - found.read} events after event {found.read}"
    assert f": {events} may be missing." in found.sentences(path)


def test_if_a_picture_is_damaged_all_events_are_recovered(path: Path) -> None:
    damage_a_page_written_once(path, of_a_picture=True)
    with opened(path) as journal:
        assert "All 100 events could be read nevertheless. The pictures of events after " in journal.remark
        assert journal.last_number == EVENTS + 1
        journal.check()


def test_a_log_with_a_damaged_head_is_recovered(path: Path) -> None:
    damage(path, 0)
    with opened(path) as journal:
        assert journal.last_number == EVENTS + 1
        assert "All 100 events could be read nevertheless" in journal.remark


@pytest.mark.parametrize("size", [0, 32, 20 * FRAME_BYTES + 700])
def test_a_log_that_was_cut_off_is_noticed(path: Path, size: int) -> None:
    log_path(path).write_bytes(log_path(path).read_bytes()[:size])
    with opened(path) as journal:
        left = journal.last_number - 1
        assert f": {EVENTS - left} events after event {left} are missing." in journal.remark


def test_a_log_that_was_removed_is_noticed(path: Path) -> None:
    log_path(path).unlink()
    with opened(path) as journal:
        assert ": 90 events after event 10 are missing." in journal.remark


def test_a_journal_begins_anew_where_only_the_name_of_the_last_event_is_left(path: Path) -> None:
    path.unlink()
    log_path(path).unlink()
    assert loss_of(path) is None
    with opened(path) as journal:
        assert (journal.remark, journal.events()) == ("", [])


def test_a_log_of_another_journal_does_not_spoil_the_one_that_took_its_place(tmp_path: Path) -> None:
    path, other = tmp_path / "journal.sqlite", tmp_path / "other.sqlite"
    with Journal.open(other, wall_clock=ticking_clock()) as journal:
        for _ in range(20):
            journal.append(NEW_GAME)
        events = journal.events()
    for count in (60, 5):
        with Journal.open(path, wall_clock=ticking_clock()) as journal:
            for _ in range(count):
                journal.append(NEW_GAME, [picture("after", 30_000)])
            left = {each.name: each.read_bytes() for each in tmp_path.glob("journal.sqlite-*")}
    other.rename(path)
    for name, content in left.items():
        path.with_name(name).write_bytes(content)
    with opened(path) as journal:
        assert ": 45 events after event 20 are missing." in journal.remark
        assert journal.events()[:20] == events
        journal.check()
    with opened(path) as journal:
        assert journal.append(TURN) == 22


def test_a_last_transaction_that_a_power_cut_tore_is_no_damage(path: Path) -> None:
    # It was not confirmed, so the file does not name it.
    name = path.with_name(f"{path.name}-last")
    recorder = recovery.LastRecorded(path)
    recorder.note(EVENTS - 1)
    last = len(read_log(log_path(path).read_bytes()).read) - 1
    for at in (last - 1, last - 2, last - 3):
        damage(path, 32 + at * FRAME_BYTES + 512)
        assert name.exists()
        assert loss_of(path) is None
    with opened(path) as journal:
        assert journal.remark == ""
        assert journal.last_number == EVENTS - 1


def test_frames_of_an_earlier_generation_are_no_damage(tmp_path: Path) -> None:
    played, left = tmp_path / "journal.sqlite", tmp_path / "left.sqlite"
    with Journal.open(played, wall_clock=ticking_clock()) as journal:
        journal.append(NEW_GAME)
        for _ in range(20):
            journal.append(TURN)
        journal._connection.execute("PRAGMA wal_checkpoint(RESTART)")
        journal.append(TURN)
        for ending in ("", "-wal", "-last"):
            shutil.copy(f"{played}{ending}", f"{left}{ending}")
    assert len(log_path(left).read_bytes()) > 20 * FRAME_BYTES
    assert len(read_log(log_path(left).read_bytes()).read) < 10
    assert loss_of(left) is None
    # Torn at its head, the log begins with the earlier generation, all of which is in the database.
    forget_the_last(left)
    damage(left, 0, 4096)
    with opened(left) as journal:
        assert journal.remark == ""
        assert journal.last_number >= 21


def test_without_room_for_a_copy_nothing_is_changed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    damage(path, 32 + 5 * FRAME_BYTES + 1024)
    before = {each.name: each.read_bytes() for each in path.parent.iterdir()}

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfile", full)
    with pytest.raises(JournalFullError, match=r"no room on the disk for a copy of the journal .*: free some"):
        opened(path)
    assert {each.name: each.read_bytes() for each in path.parent.iterdir() if "-shm" not in each.name} == before


@pytest.mark.parametrize("seed", range(cases(6, 2)))
def test_any_noise_as_a_log_is_read(path: Path, seed: int) -> None:
    rng = random.Random(seed)
    content = bytearray(log_path(path).read_bytes())
    for _ in range(rng.randint(1, 40)):
        at = rng.randrange(len(content) - 512)
        content[at : at + 512] = rng.randbytes(512)
    log_path(path).write_bytes(content)
    with opened(path) as journal:
        journal.check()
        assert journal.last_number > EVENTS or ("missing" in journal.remark)


def test_an_event_whose_text_was_changed_is_named(path: Path) -> None:
    opened(path).close()
    content = path.read_bytes()
    path.write_bytes(content.replace(b"c3-c4=stop", b"c3-c5=stop", 1))
    with (
        read_journal(path) as journal,
        pytest.raises(JournalUnreadableError, match=r"event \d+ is not as it was recorded; the journal is damaged"),
    ):
        journal.events()


def test_an_event_numbered_too_high_by_hand_is_refused(path: Path) -> None:
    with opened(path) as journal, closing(sqlite3.connect(path)) as file:
        journal.append(TURN)
        file.execute(
            "INSERT INTO event (number, game, kind, data, wall_time) VALUES (?, 1, 'note', '{}', '')", (2**63 - 1,)
        )
        file.commit()
    with opened(path) as journal, pytest.raises(JournalUnreadableError, match="an event 9223372036854775807"):
        journal.append(TURN)
