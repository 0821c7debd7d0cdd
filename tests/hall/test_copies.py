"""Copies of journals: every event once, even if messages are repeated, late or lost; and results of games."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from hall.copies import MOST_JOURNALS
from hall.hall import Incoming
from referee.journal.events import STOPPED, EventKind
from tests.effort import cases
from tests.hall.halls import Clock, event, hall_on, kept, online, replay, settle, state, table


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
