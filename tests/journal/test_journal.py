"""The journal keeps events unchanged and durable, on a full disk and if it is removed, with bounded evidence."""

import itertools
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.settings.conversions import evidence_limits
from app.settings.settings import JournalSection
from journal import database
from journal.backups import back_up
from journal.database import connect, log_path
from journal.journal import BufferedJournal, Journal, _FileState
from journal.reader import GameSummary, read_journal
from referee.errors import EventError, JournalDisplacedError, JournalError, JournalFullError, JournalReadOnlyError
from referee.record.events import STOPPED, Event, EventKind, Evidence, EvidenceLimits, JsonValue, encode
from tests.journal.samples import NEW_GAME, START, TURN, picture, ticking_clock

WRITE_COUNTER_BYTES = [*range(24, 28), *range(92, 100)]
"""Header bytes that count writes and name SQLite's version."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a journal.sqlite"


def test_appended_events_are_read_back(path: Path) -> None:
    with Journal.open(path, wall_clock=ticking_clock()) as journal:
        assert journal.latest_game() is None
        assert journal.append(NEW_GAME) == 1
        assert journal.append(TURN, [picture("before-c3", 10), picture("after-c4", 20)]) == 2
    with Journal.open(path, wall_clock=ticking_clock()) as journal:
        (first, new_game), (second, turn) = journal.events()
        assert (first, second) == (1, 2)
        assert new_game.data == NEW_GAME.data
        assert (turn.kind, turn.data, turn.frame_time_s) == (TURN.kind, TURN.data, 12.25)
        assert turn.wall_time == "2026-05-01T18:30:01.000Z"
        assert [kept.evidence for kept in journal.evidence(2)] == [picture("before-c3", 10), picture("after-c4", 20)]
        assert journal.evidence(1) == []


def test_a_given_wall_time_is_kept(path: Path) -> None:
    with Journal.open(path, wall_clock=ticking_clock()) as journal:
        journal.append(Event(EventKind.NEW_GAME, {"game": "deblockle"}, wall_time="2020-01-01T00:00:00.000Z"))
        assert journal.events()[0][1].wall_time == "2020-01-01T00:00:00.000Z"


def test_games_are_kept_apart(path: Path) -> None:
    with Journal.open(path, wall_clock=ticking_clock()) as journal:
        for event in (NEW_GAME, TURN, Event(EventKind.END, {"winner": "gold", "reason": "done"}), NEW_GAME, TURN):
            journal.append(event)
        assert [number for number, _ in journal.events(1)] == [1, 2, 3]
        assert [number for number, _ in journal.events(2)] == [4, 5]
        begun = [GameSummary(1, "deblockle", "2026-05-01T18:30:00.000Z", 3, ended=True, winners=("gold",))]
        begun += [GameSummary(2, "deblockle", "2026-05-01T18:30:03.000Z", 2, ended=False)]
        assert journal.games() == begun
        assert journal.latest_game() == 2
        assert [journal.game_of(number) for number in (1, 3, 4, 6)] == [1, 1, 2, None]


def test_a_game_continues_after_its_end_is_taken_back(path: Path) -> None:
    with Journal.open(path, wall_clock=ticking_clock()) as journal:
        for event in (
            NEW_GAME,
            Event(EventKind.END, {"winner": None, "reason": "draw"}),
            Event(EventKind.TAKE_BACK, {"by": "Ann"}),
        ):
            journal.append(event)
        assert not journal.games()[0].ended


@pytest.mark.parametrize(
    "event",
    [
        TURN,
        Event(EventKind.ROLLED, {"roll": "4,1", "state": "s1"}),
        Event(EventKind.ANNOUNCED, {"announcement": "gold:resign", "state": "s1"}),
        Event(EventKind.SET_UP, {"state": "s1"}),
        Event(EventKind.CORRECTION, {"by": "Ann", "state": "s1"}),
    ],
    ids=lambda event: event.kind,
)
def test_a_stopped_game_has_not_ended_and_may_go_on(path: Path, event: Event) -> None:
    note = Event(EventKind.NOTE, {"sentence": "a remark"})
    with Journal.open(path, wall_clock=ticking_clock()) as journal:
        for each in (NEW_GAME, Event(EventKind.END, {"winner": None, "reason": STOPPED}), note):
            journal.append(each)
        (game,) = journal.games()
        assert (game.ended, game.stopped) == (False, True)
        journal.append(event)
        (game,) = journal.games()
        assert (game.ended, game.stopped) == (False, False)


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (Event(EventKind.TURN, {"turn": "c3-c4=stop"}), "needs state"),
        (Event("dance", {}), "no event of kind 'dance'"),  # type: ignore[arg-type]
        (Event(EventKind.NOTE, {"text": float("nan")}), "not JSON"),
        (Event(EventKind.NOTE, {"text": "\ud800"}), "not JSON"),
    ],
)
def test_an_invalid_event_is_refused(path: Path, event: Event, message: str) -> None:
    with Journal.open(path, wall_clock=ticking_clock()) as journal:
        journal.append(NEW_GAME)
        with pytest.raises(EventError, match=message):
            journal.append(event)
        assert len(journal.events()) == 1


def test_a_turn_before_any_game_is_refused(path: Path) -> None:
    with (
        Journal.open(path, wall_clock=ticking_clock()) as journal,
        pytest.raises(EventError, match="start a game first"),
    ):
        journal.append(TURN)


def test_several_events_appear_together(path: Path) -> None:
    opened: list[sqlite3.Connection] = []

    def remember(target: str) -> sqlite3.Connection:
        opened.append(connect(target))
        return opened[-1]

    with (
        Journal.open(path, wall_clock=ticking_clock(), connect=remember) as journal,
        read_journal(path) as reader,
    ):
        journal.append(NEW_GAME)
        seen: list[int] = []
        opened[0].set_trace_callback(lambda _: seen.append(reader.last_number))
        journal.append_all([NEW_GAME, TURN, TURN])
        assert seen
        assert set(seen) == {1, 4}
        assert [number for number, _ in reader.events(2)] == [2, 3, 4]


def test_no_event_is_recorded_if_one_of_several_fails(path: Path) -> None:
    with Journal.open(path, wall_clock=ticking_clock()) as journal:
        journal.append(NEW_GAME)
        with pytest.raises(EventError, match="needs state"):
            journal.append_all([NEW_GAME, Event(EventKind.TURN, {"turn": "c3-c4=stop"})])
        with closing(sqlite3.connect(path)) as file:
            file.execute(
                "CREATE TRIGGER fault BEFORE INSERT ON event WHEN NEW.kind = 'turn' BEGIN SELECT RAISE(ABORT, 'x'); END"
            )
            with pytest.raises(JournalError):
                journal.append_all([NEW_GAME, TURN])
            file.execute("DROP TRIGGER fault")
        assert journal.append(TURN) == 2
        assert [journal.game_of(number) for number in (1, 2, 3)] == [1, 1, None]


@given(
    data=st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**53), 2**53)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(codec="utf-8")),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3)
        ),
        max_leaves=8,
    ),
    time_s=st.none() | st.floats(allow_nan=False, allow_infinity=False),
)
def test_any_json_survives(data: object, time_s: float | None) -> None:
    event = Event(EventKind.NOTE, {"anything": data}, time_s)  # type: ignore[dict-item]
    with Journal.in_memory(wall_clock=ticking_clock()) as journal:
        journal.append(NEW_GAME)
        journal.append(event)
        kept = journal.events()[-1][1]
    assert (kept.data, kept.frame_time_s) == (event.data, event.frame_time_s)


@pytest.mark.parametrize(
    ("time_s", "kept"), [(-0.0, 0.0), (3, 3.0), (float("nan"), None), (float("inf"), float("inf"))]
)
def test_a_time_that_sqlite_changes_is_no_damage(time_s: float, kept: float | None) -> None:
    with Journal.in_memory(wall_clock=ticking_clock()) as journal:
        journal.append(Event(EventKind.NEW_GAME, {"game": "deblockle"}, time_s))
        journal.check()
        assert journal.events()[0][1].frame_time_s == kept


def test_equal_events_are_equal_bytes() -> None:
    said: dict[str, JsonValue] = {"text": "ä", "places": ["b1", "a1"], "by": "Ann"}
    texts = {encode(Event(EventKind.NOTE, dict(pairs))) for pairs in itertools.permutations(said.items())}
    assert texts == {'{"by":"Ann","places":["b1","a1"],"text":"ä"}'}


def test_an_event_is_durable_before_append_returns(path: Path, tmp_path: Path) -> None:
    with Journal.open(path, wall_clock=ticking_clock()) as journal:
        journal.append(NEW_GAME)
        copy = tmp_path / "copy.sqlite"
        shutil.copy(path, copy)
        shutil.copy(f"{path}-wal", f"{copy}-wal")
    with Journal.open(copy, wall_clock=ticking_clock()) as recovered:
        assert len(recovered.events()) == 1


def test_a_reader_sees_the_newest_events_through_a_link_too(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    link = folder / "link.sqlite"
    link.symlink_to(path)
    Journal.open(path, wall_clock=ticking_clock()).close()
    with Journal.open(path, wall_clock=ticking_clock()) as journal:
        journal.append(NEW_GAME)
        with read_journal(link) as reader:
            assert reader.events() == journal.events()


def test_the_database_uses_full_synchronisation_and_a_write_ahead_log(path: Path) -> None:
    opened: list[sqlite3.Connection] = []

    def remember(target: str) -> sqlite3.Connection:
        opened.append(connect(target))
        return opened[-1]

    with Journal.open(path, wall_clock=ticking_clock(), connect=remember):
        assert opened[0].execute("PRAGMA synchronous").fetchone() == (2,)
        assert opened[0].execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_the_file_has_the_application_id_of_every_version(path: Path) -> None:
    with Journal.open(path, wall_clock=ticking_clock()) as journal:
        journal.append(NEW_GAME)
    with closing(sqlite3.connect(path)) as file:
        assert file.execute("PRAGMA application_id").fetchone() == (int.from_bytes(b"TREF", "big"),)


def test_closing_leaves_a_single_complete_file(path: Path) -> None:
    with Journal.open(path, wall_clock=ticking_clock()) as journal:
        journal.append(NEW_GAME)
    assert sorted(file.name for file in path.parent.iterdir()) == [path.name]


def test_recorded_events_cannot_be_changed(path: Path) -> None:
    Journal.open(path, wall_clock=ticking_clock()).close()
    with Journal.open(path, wall_clock=ticking_clock()) as journal:
        journal.append(NEW_GAME)
    raw = sqlite3.connect(path)
    for statement in ("UPDATE event SET kind = 'note'", "DELETE FROM event"):
        with pytest.raises(sqlite3.IntegrityError, match="never"):
            raw.execute(statement)
    raw.close()


# Same events, same clock, same bytes
def masked(content: bytes) -> bytes:
    return bytes(0 if index in WRITE_COUNTER_BYTES else byte for index, byte in enumerate(content))


def play(path: Path, *, reopen_every: int) -> bytes:
    clock = ticking_clock()
    limits = EvidenceLimits(picture_bytes=3000, total_bytes=9000)
    events = [NEW_GAME, *[TURN] * 30]
    for start in range(0, len(events), reopen_every):
        with Journal.open(path, wall_clock=lambda: START, limits=limits) as journal:
            for event in events[start : start + reopen_every]:
                moment = clock().isoformat()
                journal.append(Event(event.kind, event.data, 1.0, moment), [picture("before", 1000), picture("x", 10)])
    return path.read_bytes()


def test_same_events_and_clock_give_the_same_bytes(tmp_path: Path) -> None:
    first = play(tmp_path / "first.sqlite", reopen_every=100)
    second = play(tmp_path / "second.sqlite", reopen_every=100)
    assert first == second
    interrupted = play(tmp_path / "third.sqlite", reopen_every=7)
    assert masked(interrupted) == masked(first)


# Evidence is bounded
def test_a_picture_over_the_limit_is_left_out_and_the_event_kept(path: Path) -> None:
    with Journal.open(path, wall_clock=ticking_clock(), limits=EvidenceLimits(picture_bytes=100)) as journal:
        number = journal.append(NEW_GAME, [picture("small", 100), picture("large", 101)])
        small, large = journal.evidence(number)
        assert (small.left_out, len(small.evidence.content)) == ("", 100)
        assert (large.left_out, large.evidence.content) == ("too large", b"")


@given(sizes=st.lists(st.lists(st.integers(0, 60), max_size=4), min_size=1, max_size=12))
def test_the_newest_pictures_that_fit_are_kept(sizes: list[list[int]]) -> None:
    total = 100
    with Journal.in_memory(
        wall_clock=ticking_clock(), limits=EvidenceLimits(picture_bytes=50, total_bytes=total)
    ) as journal:
        numbers = [
            journal.append(NEW_GAME, [picture(f"p{index}", size) for index, size in enumerate(group)])
            for group in sizes
        ]
        kept = [picture for number in numbers for picture in journal.evidence(number)]
    model: list[int] = []
    for group in sizes:
        model += [size for size in group if size <= 50]
        while sum(model) > total:
            model.pop(0)
    assert [len(entry.evidence.content) for entry in kept if not entry.left_out] == model
    too_large = [entry.left_out == "too large" for entry in kept]
    assert too_large == [size > 50 for group in sizes for size in group]


def test_only_as_many_pictures_are_removed_as_a_new_one_needs() -> None:
    limits = EvidenceLimits(picture_bytes=100, total_bytes=200)
    with Journal.in_memory(wall_clock=ticking_clock(), limits=limits) as journal:
        numbers = [journal.append(NEW_GAME, [picture("before", 100)]) for _ in range(3)]
        left_out = [one.left_out for number in numbers for one in journal.evidence(number)]
    assert left_out == ["made room", "", ""]


def test_omitted_pictures_take_no_room() -> None:
    limits = EvidenceLimits(picture_bytes=10, total_bytes=20)
    with Journal.in_memory(wall_clock=ticking_clock(), limits=limits) as journal:
        for size in (11, 11, 10, 10):
            journal.append(NEW_GAME, [picture("before", size)])
        assert journal.pictures(3) == {3: ("before",)}
        assert journal.pictures(4) == {4: ("before",)}


def test_the_default_limits_are_those_of_the_settings() -> None:
    assert EvidenceLimits() == evidence_limits(JournalSection())


def test_limits_below_zero_are_refused() -> None:
    with pytest.raises(ValueError, match="picture_bytes is -1"):
        EvidenceLimits(picture_bytes=-1)


def test_a_clock_without_a_time_zone_is_refused(path: Path) -> None:
    with (
        Journal.open(path, wall_clock=lambda: START.replace(tzinfo=None)) as journal,
        pytest.raises(ValueError, match="without a zone"),
    ):
        journal.append(NEW_GAME)


# Migrations
def test_migrations_run_in_order_and_all_or_nothing(path: Path) -> None:
    connection = connect(str(path))
    database.upgrade(connection, ["CREATE TABLE one (a);"])
    assert database.version_of(connection) == 1
    with pytest.raises(sqlite3.OperationalError):
        database.upgrade(connection, ["", "CREATE TABLE two (a); CREATE TABLE one (a);"])
    assert database.version_of(connection) == 1
    assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("one",)]
    assert database.upgrade(connection, ["", "CREATE TABLE two (a);", "DROP TABLE one;"]) == 1
    assert database.version_of(connection) == 3
    assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("two",)]
    connection.close()


# Look-ups
def test_events_are_read_from_a_given_number(path: Path) -> None:
    with Journal.open(path, wall_clock=ticking_clock()) as journal:
        for event in (NEW_GAME, TURN, NEW_GAME, TURN):
            journal.append(event)
        read = [(number, game, event.kind) for number, game, event in journal.events_after(1, 2)]
        assert read == [(2, 1, "turn"), (3, 2, "new game")]
        assert [number for number, _, _ in journal.events_after(0, 9)] == [1, 2, 3, 4]
        assert journal.events_after(4, 9) == []
        assert (journal.last_number, journal.latest_game()) == (4, 2)


def test_an_event_is_found_by_the_id_of_its_command(path: Path) -> None:
    with Journal.open(path, wall_clock=ticking_clock()) as journal:
        assert journal.event_of_request("ann-1") is None
        for request in ("ann-1", "ben-1", "ann-1"):
            journal.append(Event(EventKind.NEW_GAME, {"game": "deblockle", "request": request}))
        assert [journal.event_of_request(sent) for sent in ("ann-1", "ben-1", "cem-1")] == [3, 2, None]


def test_the_kept_pictures_of_a_game_are_listed_by_event(path: Path) -> None:
    limits = EvidenceLimits(picture_bytes=20, total_bytes=100)
    with Journal.open(path, wall_clock=ticking_clock(), limits=limits) as journal:
        journal.append(NEW_GAME, [picture("b", 20), picture("a", 20), picture("large", 21)])
        journal.append(TURN)
        journal.append(NEW_GAME, [picture("c", 20)])
        assert journal.pictures(1) == {1: ("b", "a")}
        assert journal.pictures(2) == {3: ("c",)}


def test_a_limit_of_zero_keeps_no_pictures() -> None:
    with Journal.in_memory(wall_clock=ticking_clock(), limits=EvidenceLimits(0, 0)) as journal:
        journal.append(NEW_GAME, [picture("small", 1)])
        assert [kept.left_out for kept in journal.evidence(1)] == ["too large"]


def test_a_finished_game_stays_finished_after_later_notes() -> None:
    end, note = Event(EventKind.END, {"winner": None, "reason": "draw"}), Event(EventKind.NOTE, {"text": "tea"})
    correction = Event(EventKind.CORRECTION, {"by": "Ann", "state": "s0"})
    with Journal.in_memory(wall_clock=ticking_clock()) as journal:
        for event in (NEW_GAME, end, note, NEW_GAME, note, NEW_GAME, end, correction):
            journal.append(event)
        assert [game.ended for game in journal.games()] == [True, False, False]


def test_a_journal_of_the_current_version_is_reopened_without_a_backup(path: Path) -> None:
    for _ in range(2):
        Journal.open(path, wall_clock=ticking_clock()).close()
    assert sorted(file.name for file in path.parent.iterdir()) == [path.name]


PLAIN_GAME = Event(EventKind.NEW_GAME, {"game": "deblockle"})
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
    assert disk.journal.append(PLAIN_GAME) == 1
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
    disk.journal.append(PLAIN_GAME)
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
    disk.journal.append(PLAIN_GAME)
    disk.fill()
    disk.journal.append(note("a"), BIG)
    disk.journal.close()
    assert disk.said[-1].startswith("1 event could not be saved, since the journal can't be written: ")


def test_a_new_game_can_begin_in_memory(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "journal.sqlite")
    disk.journal.append(PLAIN_GAME)
    disk.fill()
    disk.journal.append(PLAIN_GAME, BIG)
    disk.journal.append(note("in the second game"))
    assert disk.journal.latest_game() == 2
    assert [number for number, _ in disk.journal.events(2)] == [2, 3]
    assert [number for number, _ in disk.journal.events(1)] == [1]
    disk.journal.close()


def test_the_first_game_can_begin_in_memory(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "journal.sqlite")
    disk.fill()
    disk.journal.append(PLAIN_GAME, BIG)
    disk.journal.append(note("in the first game"))
    assert disk.journal.latest_game() == 1
    assert [number for number, _ in disk.journal.events(1)] == [1, 2]
    disk.make_room()
    disk.journal.close()


def test_an_invalid_event_is_refused_at_once(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "journal.sqlite")
    with pytest.raises(EventError, match="start a game first"):
        disk.journal.append(note("too early"))
    disk.journal.append(PLAIN_GAME)
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
    disk.journal.append(PLAIN_GAME)
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
    journal.append(PLAIN_GAME)

    def fail(path: Path) -> None:
        raise JournalReadOnlyError(f"the log of {path} can't be removed: Read-only file system")

    with monkeypatch.context() as broken:
        broken.setattr("journal.journal.drop_log", fail)
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
    journal.append(PLAIN_GAME)
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


@pytest.fixture
def plain_path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


def numbers(path: Path) -> list[int]:
    with read_journal(path) as journal:
        journal.check()
        return [number for number, _ in journal.events()]


def remove(path: Path, _: Path) -> None:
    path.unlink()


def remove_all(path: Path, _: Path) -> None:
    for each in path.parent.glob(f"{path.name}*"):
        each.unlink()


def move_away(path: Path, _: Path) -> None:
    path.rename(path.with_name("moved.sqlite"))


def move_over(path: Path, copy: Path) -> None:
    copy.rename(path)


def kinds(path: Path) -> list[EventKind]:
    with read_journal(path) as journal:
        return [event.kind for _, event in journal.events()]


def copy_over(path: Path, copy: Path) -> None:
    shutil.copyfile(copy, path)


def other_text(path: Path, _: Path) -> None:
    path.write_text("a shopping list " * 400)


def playing(path: Path, said: list[str]) -> tuple[BufferedJournal, Path]:
    """A journal with an older game, a copy from its beginning, and a game of three events in progress."""
    copy = path.with_name("copy.sqlite")
    with Journal.open(path, wall_clock=lambda: START) as older:
        older.append(NEW_GAME)
        back_up(path, copy)
        for _ in range(30):
            older.append(TURN, [picture("before", 5000)])
    journal = BufferedJournal(Journal.open(path, wall_clock=lambda: START), said.append)
    for event in (NEW_GAME, TURN, TURN):
        journal.append(event)
    return journal, copy


@pytest.mark.parametrize("go", [remove, remove_all, move_away])
def test_a_journal_that_is_removed_is_written_again(plain_path: Path, go: Callable[[Path, Path], None]) -> None:
    said: list[str] = []
    journal, copy = playing(plain_path, said)
    go(plain_path, copy)
    assert journal.append(TURN) == 35
    assert isinstance(journal.trouble, JournalDisplacedError)
    assert said == [
        f"The game goes on, but only in memory: the journal {plain_path} was removed while the referee used it"
    ]
    assert [number for number, _ in journal.events()] == list(range(1, 36))
    assert journal.retry()
    assert said[1:] == ["The journal can be written again. What was only in memory is now in it: 1 event."]
    assert journal.append(TURN) == 36
    assert numbers(plain_path) == list(range(1, 37))
    journal.close()
    assert numbers(plain_path) == list(range(1, 37))
    assert not log_path(plain_path).exists()


@pytest.mark.parametrize(
    ("go", "kept"),
    [(move_over, range(1, 37)), (copy_over, range(32, 37)), (other_text, range(32, 37))],
)
def test_a_journal_that_is_replaced_is_left_and_the_game_goes_on_beside_it(
    plain_path: Path, go: Callable[[Path, Path], None], kept: range
) -> None:
    said: list[str] = []
    journal, copy = playing(plain_path, said)
    go(plain_path, copy)
    now_there = plain_path.read_bytes()
    assert journal.append(TURN) == 35
    assert isinstance(journal.trouble, JournalDisplacedError)
    assert journal.retry()
    other = plain_path.with_name("journal-goes-on-20260501-183000.sqlite")
    assert said[2:] == [f"The game goes on in {other}. The referee writes nothing more to {plain_path}."]
    assert journal.append(TURN) == 36
    assert numbers(other) == list(kept)
    assert plain_path.read_bytes() == now_there
    assert not log_path(plain_path).exists()
    journal.close()
    assert numbers(other) == list(kept)
    assert plain_path.read_bytes() == now_there
    if go is not other_text:
        with Journal.open(plain_path, wall_clock=ticking_clock()) as restored:
            assert restored.append(TURN) == 2


@pytest.mark.parametrize("is_merged", [False, True])
def test_beside_a_program_that_writes_the_journal_too_the_game_goes_on_in_another_file(
    plain_path: Path, is_merged: bool
) -> None:
    said: list[str] = []
    journal, _ = playing(plain_path, said)
    kept_pictures = len(journal.journal.evidence(33)) + len(journal.journal.evidence(2))
    # As a version does whose lock this one doesn't know.
    with closing(connect(f"file:{plain_path}")) as foreign:
        for number in (35, 36):
            row = (number, 2, "note", '{"message": "not ours"}', None, "2026-05-01T18:30:00.000Z")
            columns = "number, game, kind, data, frame_time_s, wall_time"
            foreign.execute(f"INSERT INTO event ({columns}) VALUES (?, ?, ?, ?, ?, ?)", row)
            foreign.execute(
                "INSERT INTO evidence (event, name, media_type, size_bytes, content) "
                "VALUES (?, 'x', 'image/png', 1, x'00')",
                (number,),
            )
        if is_merged:
            foreign.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert journal.append(TURN) == 35
        assert isinstance(journal.trouble, JournalDisplacedError)
        assert said == [
            f"The game goes on, but only in memory: another program also writes the journal {plain_path}, perhaps an "
            "earlier version of the referee; stop it"
        ]
        assert journal.retry()
        other = plain_path.with_name("journal-goes-on-20260501-183000.sqlite")
        assert said[2:] == [f"The game goes on in {other}. The referee writes nothing more to {plain_path}."]
        assert journal.append(TURN) == 36
        assert numbers(plain_path) == numbers(other) == list(range(1, 37))
        foreign.execute("INSERT INTO event (game, kind, data, wall_time) VALUES (2, 'note', '{\"message\": \"\"}', '')")
    journal.close()
    assert kinds(other)[-2:] == [EventKind.TURN] * 2
    assert kinds(plain_path)[-3:] == [EventKind.NOTE] * 3
    with read_journal(other) as reader:
        reader.check()
        assert len(reader.evidence(33)) + len(reader.evidence(2)) == kept_pictures
        assert reader.evidence(36) == []
    with closing(sqlite3.connect(other)) as database, pytest.raises(sqlite3.Error, match="never removed"):
        database.execute("DELETE FROM event")


@pytest.mark.parametrize("go", [remove, move_over, copy_over])
def test_a_journal_that_is_displaced_before_it_is_closed_is_noticed_then(
    plain_path: Path, go: Callable[[Path, Path], None]
) -> None:
    said: list[str] = []
    journal, copy = playing(plain_path, said)
    go(plain_path, copy)
    journal.close()
    assert "only in memory: the journal" in said[0]
    other = plain_path.with_name("journal-goes-on-20260501-183000.sqlite")
    assert numbers(plain_path if go is remove else other)[-3:] == [32, 33, 34]


def test_what_another_program_may_do_to_a_journal_is_no_trouble(plain_path: Path) -> None:
    said: list[str] = []
    journal, _ = playing(plain_path, said)
    plain_path.touch()
    journal.append(TURN)
    with read_journal(plain_path) as reader:
        reader.check()
    back_up(plain_path, plain_path.with_name("another.sqlite"))
    journal.append(TURN)
    journal.close()
    assert said == []
    assert numbers(plain_path) == list(range(1, 37))
