"""Old games are removed in small steps; results, rulings and tournaments stay; old events are not requested again."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta
from itertools import pairwise

import pytest

from hall.copies import _MOST_SWEPT
from hall.database import SCHEMA
from hall.hall import Hall, Incoming, Sweeper
from hall.tournament.director import Director
from hall.tournament.values import Score, System
from referee.errors import HallStoreError
from referee.journal.events import EventKind
from tests.guard import GUARD_S
from tests.hall.halls import Clock, event, hall_on, kept, online, opened, replay, settle, state, table

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
    hall, feed, director = hall_on(where, clock), table(), Director(opened(where), clock.utc)
    number = director.begin("Cup", System.ROUND_ROBIN, 0, "deblockle", [("Ann", 0), ("Bea", 0)])
    director.pair(number, [feed.table])
    feed.began += YEAR + timedelta(hours=1)
    feed.begin(("Ann", "Bea"), 1)
    while feed.ended_games < 3:
        feed.advance()
    feed.advance()
    hall.take([online(feed), state(feed), *(event(each) for each in feed.events)])
    hall.rule(feed.table, {"command": "take back"}, "arbiter")
    results, before = hall.copies.results(10), rows(where)
    assert director.get(number).tournament.pairings[0].score is not Score.OPEN

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
    assert director.get(number).tournament.pairings[0].score is not Score.OPEN
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
