"""A hall without a network, and simulated tables."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import count
from random import Random

from benchmarks.hall.feeds import Feed
from frontends.mqtt.topics import ONLINE, ReplayRequest, TableEvent, Topics
from hall.copies import MOST_TABLE_BYTES
from hall.database import Database
from hall.hall import Hall, Incoming, Outgoing
from hall.rulings import Rulings

PREFIX = "club"
OPENED: list[Database] = []
"""Databases opened by the current test, to be closed after it."""
_IDS = count(1)


class Clock:
    """A clock that is advanced by hand."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s

    def utc(self) -> datetime:
        return datetime(2027, 1, 1, tzinfo=UTC) + timedelta(seconds=self.now_s)


def close_opened() -> None:
    """Close the opened databases."""
    for database in OPENED:
        database.close()
    OPENED.clear()


def opened(where: str) -> Database:
    """Open a database until the test is over."""
    OPENED.append(Database(where))
    return OPENED[-1]


def hall_on(
    where: str,
    clock: Clock | None = None,
    said: list[str] | None = None,
    listed: Iterable[str] = (),
    most_table_bytes: int = MOST_TABLE_BYTES,
    prefix: str = PREFIX,
) -> Hall:
    """Open a hall on a database."""
    database, ticks = opened(where), clock or Clock()
    rulings = Rulings(database, lambda: f"ruling-{next(_IDS)}", ticks.utc)
    heard = [] if said is None else said
    return Hall(database, rulings, prefix, "one", ticks, heard.append, tuple(listed), most_table_bytes)


def table(name: str = "table-1", events: int = 0) -> Feed:
    """A table with some recorded events."""
    feed = Feed(name, PREFIX, Random(name))
    for _ in range(events):
        feed.advance()
    return feed


def online(feed: Feed) -> Incoming:
    return Incoming(Topics(PREFIX, feed.table).availability, ONLINE.encode())


def state(feed: Feed) -> Incoming:
    return Incoming(Topics(PREFIX, feed.table).state, feed.state().model_dump_json().encode())


def event(told: TableEvent) -> Incoming:
    return Incoming(Topics(PREFIX, told.table).events, told.model_dump_json().encode())


def replay(feed: Feed, asked: Outgoing) -> list[Incoming]:
    """A table's reply to a request for events."""
    wanted = ReplayRequest.model_validate_json(asked.payload)
    told = feed.events[wanted.after : wanted.after + wanted.most]
    return [Incoming(asked.response, each.model_dump_json().encode()) for each in told]


def settle(hall: Hall, clock: Clock, feeds: Iterable[Feed]) -> None:
    """Let the tables answer until the hall has no more requests."""
    by_id = {feed.table: feed for feed in feeds}
    for feed in by_id.values():
        hall.take([online(feed), state(feed)])
    for _ in range(20):
        clock.now_s += 6.0
        asked = hall.due_messages()
        for question in asked:
            seat = question.topic.split("/")[1]
            if question.topic.endswith("/replay"):
                hall.take(replay(by_id[seat], question))
        if not asked and not any(seat.is_behind for seat in hall.floor.seats()):
            return
    raise AssertionError("the hall never stopped asking")


def kept(hall: Hall, feed: Feed) -> list[TableEvent]:
    """The hall's copy of a table's journal."""
    return hall.copies.newest(feed.table, feed.journal, 10_000)[::-1]
