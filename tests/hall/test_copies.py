"""Copies of journals in the hall: every event once, whole transactions, and old games removed in small steps."""

import asyncio
import os
import stat
from collections import Counter
from datetime import timedelta
from itertools import islice, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from app.cli.root import root
from hall.copies import _MOST_SWEPT, MOST_JOURNALS
from hall.database import SCHEMA, VERSION, Database, names_password, stored_text, text_to_store
from hall.hall import Hall, Incoming, Sweeper
from referee.errors import HallStoreError
from referee.record.events import STOPPED, EventKind
from tests.effort import cases
from tests.guard import GUARD_S
from tests.hall.halls import Clock, event, hall_on, kept, online, opened, replay, settle, state, table


def test_events_are_kept_once_and_in_order(where: str) -> None:
    hall, feed = hall_on(where), table(events=40)
    told = [event(each) for each in feed.events]
    hall.take(told[:20])
    hall.take(told[10:])
    hall.take(told)
    assert kept(hall, feed) == feed.events
    assert kept(hall_on(where), feed) == feed.events


def test_missing_events_are_requested_and_added(where: str) -> None:
    clock = Clock()
    hall, feed = hall_on(where, clock), table(events=30)
    (asked,) = hall.take([event(feed.events[0]), event(feed.events[5])])
    assert asked.topic == "club/table-1/replay"
    assert kept(hall, feed) == feed.events[:1]
    assert hall.take([event(feed.events[6])]) == [], "it is already requested"
    assert hall.take(replay(feed, asked)) == []
    assert kept(hall, feed) == feed.events


def test_events_that_a_hall_missed_are_requested_after_the_next_state(where: str) -> None:
    clock = Clock()
    hall, feed = hall_on(where, clock), table(events=2500)
    settle(hall, clock, [feed])
    assert kept(hall, feed) == feed.events


def test_a_table_that_sends_too_many_events_does_not_affect_the_others(where: str) -> None:
    clock, said = Clock(), list[str]()
    hall, liar, feed = hall_on(where, clock, said, most_table_bytes=30_000), table("liar", events=200), table(events=9)
    hall.take([online(liar), state(liar), *(event(each) for each in liar.events)])
    hall.take([event(each) for each in feed.events])
    held = hall.copies.held("liar", liar.journal)
    assert 10 < held < 100
    assert kept(hall, liar) == liar.events[:held]
    assert kept(hall, feed) == feed.events
    clock.now_s += 10.0
    hall.due_messages()
    clock.now_s += 10.0
    assert hall.due_messages() == [], "it is no longer requested"
    assert [line for line in said if "a hall keeps no more of one table's events" in line] == said[:1]

    again = hall_on(where, clock, most_table_bytes=30_000)
    again.take([event(each) for each in liar.events[held:]])
    assert kept(again, liar) == liar.events[:held]
    again = hall_on(where, clock, most_table_bytes=200_000)
    again.take([event(each) for each in liar.events[held:]])
    assert kept(again, liar) == liar.events


def test_events_that_the_table_replaced_take_no_room(tmp_path: Path) -> None:
    clock = Clock()
    hall, feed = hall_on(str(tmp_path / "hall.db"), clock, most_table_bytes=30_000), table(events=20)
    for attempt in range(12):
        clock.now_s += 10.0
        later = [each.model_copy(update={"wall_time": f"{each.wall_time}{attempt}"}) for each in feed.events[1:]]
        if asked := hall.take([event(each) for each in [feed.events[0], *later]]):
            hall.take([Incoming(asked[0].response, each.model_dump_json().encode()) for each in later])
        assert kept(hall, feed) == [feed.events[0], *later]


def test_the_number_of_journals_of_a_table_is_limited(tmp_path: Path) -> None:
    said: list[str] = []
    hall, feed = hall_on(str(tmp_path / "hall.db"), said=said), table(events=2)
    first, second = feed.events
    begun = [first.model_copy(update={"journal": f"journal {number}"}) for number in range(MOST_JOURNALS + 5)]
    hall.take([event(each) for each in begun[:20]])
    hall.take([event(each) for each in begun[20:]])
    assert len(said) == 1
    held = [hall.copies.held(feed.table, each.journal) for each in begun]
    assert held == [1] * MOST_JOURNALS + [0] * 5
    hall.take([event(second.model_copy(update={"journal": "journal 7"}))])
    assert hall.copies.held(feed.table, "journal 7") == 2


def test_a_table_that_is_offline_gets_no_requests(tmp_path: Path) -> None:
    clock = Clock()
    hall, feed = hall_on(str(tmp_path / "hall.db"), clock), table(events=3)
    hall.take([state(feed)])
    hall.due_messages()
    clock.now_s += 10.0
    assert hall.due_messages() == []
    hall.take([online(feed)])
    hall.due_messages()
    clock.now_s += 10.0
    assert [each.topic for each in hall.due_messages()] == ["club/table-1/replay"]


@settings(max_examples=cases(40, 10))
@given(st.data())
def test_the_copy_becomes_complete_whatever_is_lost_repeated_or_reordered(data: st.DataObject) -> None:
    clock, feeds = Clock(), [table(f"table-{number}", events=25) for number in (1, 2)]
    told = [event(each) for feed in feeds for each in feed.events]
    order = data.draw(st.lists(st.integers(0, len(told) - 1), max_size=120))
    with TemporaryDirectory() as folder:
        where = f"{folder}/hall.db"
        hall = hall_on(where, clock)
        for at, index in enumerate(order):
            for asked in hall.take([told[index]]):
                answers = replay(feeds[int(asked.topic[-8]) - 1], asked)
                # Only a part of an answer may arrive.
                hall.take(list(islice(answers, data.draw(st.integers(0, len(answers))))))
            if at % 40 == 39:
                hall = hall_on(where, clock)
        settle(hall, clock, feeds)
        assert [kept(hall, feed) for feed in feeds] == [feed.events for feed in feeds]


def test_a_table_with_a_restored_journal_is_believed_after_a_request(where: str) -> None:
    hall, feed = hall_on(where), table(events=45)
    hall.take([event(each) for each in feed.events])
    ended = feed.ended_games
    assert len(hall.copies.results(10)) == ended > 0
    old = list(feed.events)
    feed.events = [
        each.model_copy(update={"wall_time": f"2026-02-{each.number:02}"}) if each.number > 20 else each
        for each in old[:22]
    ]
    (asked,) = hall.take([event(feed.events[20])])
    assert kept(hall, feed) == old, "a single message may be old"
    hall.take(replay(feed, asked))
    assert kept(hall, feed) == feed.events
    assert hall.copies.results(10) == []


def test_a_game_has_a_result_from_its_end_until_it_is_resumed(where: str) -> None:
    hall, feed = hall_on(where), table()
    while not feed.ended_games:
        feed.advance()
    hall.take([event(each) for each in feed.events])
    (result,) = hall.copies.results(10)
    assert result.players == feed.events[0].data["players"]
    assert result.winners == (feed.events[-1].data["winner"],)
    hall.take([event(feed.append(EventKind.TAKE_BACK, {"by": "Ann"}))])
    assert hall.copies.results(10) == []
    hall.take([event(feed.append(EventKind.END, {"winner": None, "reason": STOPPED}))])
    assert hall.copies.results(10) == [], "a game that was stopped has no result"
    hall.take([event(feed.append(EventKind.END, {"winner": None, "reason": "draw agreed"}))])
    assert [each.winners for each in hall.copies.results(10)] == [()]
    hall.take([event(feed.append(EventKind.END, {"winner": "gold", "shared_by": 5}))])
    assert [each.winners for each in hall.copies.results(10)] == [("gold",)]


def test_journals_of_the_same_table_are_kept_apart(where: str) -> None:
    hall, first, second = hall_on(where), table(events=5), table(events=9)
    second.began = first.began.replace(year=2027)
    second.events = [each.model_copy(update={"journal": second.journal}) for each in second.events]
    hall.take([event(each) for each in [*first.events, *second.events]])
    assert (kept(hall, first), kept(hall, second)) == (first.events, second.events)


YEAR = timedelta(days=365)
"""The tables play at the beginning of 2026, and the hall's clock shows the beginning of 2027."""
SHORT, LONG = timedelta(days=300), timedelta(days=400)
DAY_S = 24 * 3600.0


def swept(hall: Hall, keep: timedelta, clock: Clock) -> Sweeper:
    """Run a hall's sweeper once."""
    sweeper = Sweeper(hall, keep, clock.utc, print)
    finish(sweeper)
    return sweeper


def finish(sweeper: Sweeper) -> int:
    """Let a sweeper finish its current run; returns the number of steps."""
    steps = 1
    while sweeper.step():
        steps += 1
    return steps


def rows(where: str) -> Counter[str]:
    """Count the rows of each table of the database."""
    names = [statement.split("(")[0].split()[-1] for statement in SCHEMA if statement.startswith("CREATE TABLE")]
    with opened(where).transaction() as work:
        return Counter({name: work.rows(f"SELECT count(*) FROM {name}")[0][0] for name in names})


def test_old_games_are_removed_and_their_results_stay(where: str) -> None:
    clock = Clock()
    hall, feed = hall_on(where, clock), table()
    feed.began += YEAR + timedelta(hours=1)
    feed.begin(("Ann", "Bea"), 1)
    while feed.ended_games < 3:
        feed.advance()
    feed.advance()
    hall.take([online(feed), state(feed), *(event(each) for each in feed.events)])
    hall.rule(feed.table, {"command": "take back"}, "arbiter")
    results, before = hall.copies.results(10), rows(where)

    sweeper = Sweeper(hall, SHORT, clock.utc, print)
    finish(sweeper)
    assert kept(hall, feed) == feed.events, "the games are not old"
    clock.now_s += (SHORT.days + 2) * DAY_S
    finish(sweeper)
    assert kept(hall, feed) == feed.events[-1:], "the last game of a journal in use stays"
    after = rows(where)
    assert (after.pop("event"), after.pop("swept")) == (1, 1)
    assert after == Counter({name: n for name, n in before.items() if name not in ("event", "swept")})
    assert hall.copies.results(10) == results
    assert len(hall.rulings.waiting()) == 1


def test_removed_events_are_not_requested_and_do_not_come_back(where: str) -> None:
    clock = Clock()
    hall, feed = hall_on(where, clock), table(events=90)
    hall.take([online(feed), state(feed), *(event(each) for each in feed.events)])
    swept(hall, SHORT, clock)
    left = kept(hall, feed)
    assert 0 < len(left) < 40
    assert len({each.game_number for each in left}) == 1
    for is_restarted in (False, True):
        again = hall_on(where, clock) if is_restarted else hall
        assert again.take([online(feed), state(feed), *(event(each) for each in feed.events)]) == []
        clock.now_s += 10.0
        again.due_messages()
        clock.now_s += 10.0
        assert again.due_messages() == []
        assert kept(again, feed) == left
        again.take([event(feed.advance())])
        left.append(feed.events[-1])
        assert kept(again, feed) == left


def test_a_journal_restored_from_before_the_removed_events_is_requested_completely(where: str) -> None:
    clock = Clock()
    hall, feed = hall_on(where, clock), table(events=90)
    hall.take([event(each) for each in feed.events])
    hall.take([online(feed), state(feed)])
    swept(hall, SHORT, clock)
    feed.events = [
        each.model_copy(update={"wall_time": f"2027-01-02-{each.number:02}"}) if each.number > 20 else each
        for each in feed.events[:25]
    ]
    (asked,) = hall.take([event(feed.events[20])])
    hall.take(replay(feed, asked))
    settle(hall, clock, [feed])
    assert kept(hall, feed) == feed.events
    assert kept(hall_on(where, clock), feed) == feed.events


def test_an_unused_journal_is_removed_and_makes_room(where: str) -> None:
    clock = Clock()
    hall, old, new = hall_on(where, clock, most_table_bytes=30_000), table(events=60), table(events=9)
    new.began = old.began + YEAR
    new.events = [each.model_copy(update={"journal": new.journal}) for each in new.events]
    new.events = [each.model_copy(update={"wall_time": f"2027-01-01-{each.number}"}) for each in new.events]
    hall.take([online(old), state(old), *(event(each) for each in old.events)])
    hall.take([state(new), *(event(each) for each in new.events)])
    assert kept(hall, new) == [], "the old journal takes all the room"
    seat = hall.floor.seat(new.table)
    assert seat is not None
    assert seat.is_full
    swept(hall, SHORT, clock)
    assert (kept(hall, old), hall.copies.held(old.table, old.journal)) == ([], 0)
    seat = hall.floor.seat(new.table)
    assert seat is not None
    assert not seat.is_full
    assert hall.copies.journals() == []
    settle(hall, clock, [new])
    assert kept(hall, new) == new.events
    counted = rows(where)
    assert (counted["event"], counted["swept"]) == (len(new.events), 0)


def test_a_long_game_is_removed_in_small_steps_with_messages_in_between(where: str) -> None:
    clock = Clock()
    hall, feed = hall_on(where, clock), table(events=1)
    while len(feed.events) <= 2 * _MOST_SWEPT:
        feed.append(EventKind.NOTE, {})
    hall.take([event(each) for each in feed.events])
    sweeper = Sweeper(hall, SHORT, clock.utc, print)
    held = [len(kept(hall, feed))]
    while sweeper.step():
        hall.take([event(feed.append(EventKind.NOTE, {}))])
        held.append(len(kept(hall, feed)))
    assert held[-1] == 0
    assert min(now - before for before, now in pairwise(held)) >= -_MOST_SWEPT


def test_the_sweeper_runs_at_the_start_and_then_once_a_day(where: str) -> None:
    clock = Clock()
    hall, feed = hall_on(where, clock), table(events=90)
    hall.take([online(feed), state(feed), *(event(each) for each in feed.events)])
    sweeper = swept(hall, LONG, clock)
    assert kept(hall, feed) == feed.events
    clock.now_s += 0.9 * DAY_S
    assert finish(sweeper) == 1
    for _ in range(36):
        clock.now_s += DAY_S
        assert finish(sweeper) > 1
    assert 0 < len(kept(hall, feed)) < 40
    clock.now_s -= 1000 * DAY_S
    assert finish(sweeper) > 1, "setting the clock back delays no run"


def test_a_failing_database_is_reported_and_tried_again(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hall.hall._LOOK_EVERY_S", 0.001)
    clock = Clock()
    hall, feed = hall_on(where, clock), table(events=90)
    hall.take([online(feed), state(feed), *(event(each) for each in feed.events)])
    whole, said = hall.copies.sweep, list[str]()

    def fail(*_: object, **__: object) -> bool:
        monkeypatch.setattr(hall.copies, "sweep", whole)
        raise HallStoreError("the disk is full")

    monkeypatch.setattr(hall.copies, "sweep", fail)

    async def run() -> None:
        looked = asyncio.Event()
        sweeper = Sweeper(hall, SHORT, clock.utc, said.append)
        step, loop = sweeper.step, asyncio.get_running_loop()

        def noticed() -> bool:
            is_more = step()
            if not is_more:
                loop.call_soon_threadsafe(looked.set)
            return is_more

        monkeypatch.setattr(sweeper, "step", noticed)
        running = asyncio.create_task(sweeper.run())
        async with asyncio.timeout(GUARD_S):
            await looked.wait()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    asyncio.run(run())
    assert said == ["the disk is full."]
    assert 0 < len(kept(hall, feed)) < 40


def test_a_removed_journal_that_sends_again_is_requested_from_its_beginning(where: str) -> None:
    clock = Clock()
    hall, feed = hall_on(where, clock), table(events=40)
    hall.take([event(each) for each in feed.events])
    results = hall.copies.results(10)
    swept(hall, SHORT, clock)
    assert kept(hall, feed) == []
    (asked,) = hall.take([Incoming(event(feed.advance()).topic, feed.events[-1].model_dump_json().encode())])
    hall.take(replay(feed, asked))
    assert kept(hall, feed) == feed.events
    assert hall.copies.results(10) == results


INSERT = "INSERT INTO seat (id, state) VALUES (?, ?)"


def seats(database: Database) -> list[tuple[str, str]]:
    with database.transaction() as work:
        return [(name, text) for name, text in work.rows("SELECT id, state FROM seat ORDER BY id")]


def test_rows_are_still_there_after_the_database_is_reopened(where: str) -> None:
    database = opened(where)
    with database.transaction() as work:
        work.run_all(INSERT, [("b", "{}"), ("a", "½ “ü”")])
    database.close()
    assert seats(opened(where)) == [("a", "½ “ü”"), ("b", "{}")]


def test_a_hall_keeps_its_id(where: str, tmp_path: Path) -> None:
    ids = iter(("one", "two", "three"))
    assert [opened(where).hall_id(lambda: next(ids)) for _ in range(2)] == ["one", "one"]
    assert opened(str(tmp_path / "other.db")).hall_id(lambda: next(ids)) == "two"


def test_a_failed_transaction_leaves_no_rows(where: str) -> None:
    database = opened(where)
    with pytest.raises(HallStoreError, match="failed"):
        put(database, "a", "a")
    assert seats(database) == []
    put(database, "b")
    assert seats(database) == [("b", "{}")]


def put(database: Database, *names: str) -> None:
    with database.transaction() as work:
        for name in names:
            work.run(INSERT, name, "{}")


def test_a_database_of_a_newer_version_is_left_unchanged(where: str) -> None:
    database = opened(where)
    with database.transaction() as work:
        work.run("INSERT INTO hall_version (version) VALUES (?)", VERSION + 1)
    database.close()
    with pytest.raises(HallStoreError, match="install the newer one"):
        Database(where)


def test_what_an_older_version_kept_beside_is_left_alone(where: str) -> None:
    database = opened(where)
    with database.transaction() as work:
        work.run("CREATE TABLE tournament (id BIGINT PRIMARY KEY, name TEXT NOT NULL)")
        work.run("INSERT INTO tournament (id, name) VALUES (1, 'Cup')")
    database.close()
    with opened(where).transaction() as work:
        assert work.rows("SELECT id, name FROM tournament") == [(1, "Cup")]


def test_every_sql_table_has_a_primary_key() -> None:
    assert all("PRIMARY KEY" in statement for statement in SCHEMA if statement.startswith("CREATE TABLE"))


def test_a_stored_hall_is_its_owners_alone(tmp_path: Path) -> None:
    left, made = tmp_path / "left.db", tmp_path / "made.db"
    left.touch()
    left.chmod(0o666)
    before = os.umask(0)
    try:
        for file in (left, made):
            database = Database(str(file))
            put(database, "x")
            assert {stat.S_IMODE(each.stat().st_mode) for each in tmp_path.glob(f"{file.name}*")} == {0o600}
            database.close()
    finally:
        os.umask(before)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(HallStoreError, match="nowhere"):
        Database(str(tmp_path / "nowhere" / "hall.db"))


@pytest.mark.parametrize(
    "address",
    [
        "hall:secret@127.0.0.1:1/hall",
        "hall:secret:secret@127.0.0.1:1/hall",
        "hall@127.0.0.1:1/hall?password=secret&user=a",
    ],
)
def test_a_password_is_not_shown(address: str) -> None:
    with pytest.raises(HallStoreError) as caught:
        Database(f"postgresql://{address}")
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_outage_is_told_once_until_the_store_works_again(where: str) -> None:
    database, said = opened(where), list[str]()
    away = HallStoreError("the disk is full")
    for _ in range(3):
        database.tell_outage(away, said.append)
    assert said == ["the disk is full."]
    with database.transaction() as work:
        work.rows("SELECT id FROM seat")
    database.tell_outage(away, said.append)
    assert len(said) == 2


@pytest.mark.parametrize(
    ("where", "names"),
    [
        ("postgresql://hall:secret@localhost/hall", True),
        ("postgresql://localhost/hall?user=hall&password=secret", True),
        ("postgresql://hall@localhost:5432/hall", False),
        ("hall:secret@x.db", False),
    ],
)
def test_a_password_in_an_address_is_noticed(where: str, names: bool) -> None:
    assert names_password(where) is names


def test_the_command_refuses_a_password_that_everybody_could_read() -> None:
    words = ["tools", "hall", "--broker", "localhost", "--store", "postgresql://hall:secret@localhost/hall"]
    done = CliRunner().invoke(root, words)
    assert done.exit_code == 2
    assert "~/.pgpass" in done.stderr
    assert "secret" not in done.output


def test_a_text_with_the_mark_that_separates_phrases_is_read_back_without_it() -> None:
    hostile = f"x\x1f{'[' * 100_000}"
    assert stored_text(hostile) == "x"
    assert stored_text(text_to_store(hostile)) == hostile.replace("\x1f", " ")


def test_a_file_that_is_no_database_keeps_its_rights(tmp_path: Path) -> None:
    passwords = tmp_path / "passwd"
    passwords.write_text("root:x:0:0::/root:/bin/sh\n", encoding="utf-8")
    passwords.chmod(0o644)
    with pytest.raises(HallStoreError):
        opened(str(passwords))
    assert stat.S_IMODE(passwords.stat().st_mode) == 0o644
