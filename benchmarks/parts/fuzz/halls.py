"""Parser of a hall: tables' messages from the broker."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from random import Random

from benchmarks.hall.feeds import Feed
from benchmarks.parts.fuzz.run import Parser
from frontends.documents import ClockDocument, VerdictDocument
from frontends.mqtt.topics import ONLINE, Answer, Topics
from hall.database import Database
from hall.hall import Hall, Incoming
from hall.rulings import Rulings
from hall.web.support import drawn, look_of
from journal.journal import utc_text

_TABLE, _PREFIX = "table-1", "referee"
_NOW = datetime(2026, 1, 1, tzinfo=UTC)


class _Strict(Hall):
    """Raises the error for which a hall would skip a message."""

    def _complain(self, topic: str, error: Exception) -> None:
        super()._complain(topic, error)
        raise error


def _table_messages() -> Sequence[bytes]:
    """Give messages of every topic, each as topic, newline and payload."""
    feed = Feed(_TABLE, _PREFIX, Random(1))
    for _ in range(40):
        feed.advance()
    topics = Topics(_PREFIX, _TABLE)
    clock = ClockDocument(
        control="5+3", mode="fischer", remaining_s={"gold": 9.0}, delay_s={"gold": 5.0}, running=("gold",)
    )
    verdict = VerdictDocument(kind="illegal", sentence="No.", places=("b7",), candidates=("c1-c2",), evidence=3)
    state = feed.state().model_copy(
        update={"clock": clock, "wall_time": utc_text(_NOW), "verdict": verdict, "needs_person": True}
    )
    answer = Answer(table=_TABLE, request_id="one", refused=False, words="Done.", event_number=2)
    events = [event.model_dump_json().encode() for event in (*feed.events[:3], feed.events[-1])]
    messages = [
        (topics.availability, ONLINE.encode()),
        (topics.state, state.model_dump_json().encode()),
        *((topics.events, event) for event in events),
        (f"{topics.base}/replayed", events[0]),
        (topics.answers, answer.model_dump_json().encode()),
        (topics.evidence(3, "before-c3"), b"\xff\xd8\xff"),
        (f"{_PREFIX}/answers/hall/{_TABLE}", events[0]),
        (f"{_PREFIX}/answers/hall/{_TABLE}", answer.model_dump_json().encode()),
    ]
    return [topic.encode() + b"\n" + payload for topic, payload in messages]


@cache
def _database() -> Database:
    """Make the one database of all inputs; making one takes longer than processing a message."""
    return Database(":memory:")


def _empty(database: Database) -> None:
    """Delete all that is stored."""
    with database.transaction() as work:
        tables = work.rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'hall_version'")
        for (table,) in tables:
            work.run(f"DELETE FROM {table}")


def _process(data: bytes) -> None:
    """Process a message in a hall that has stored nothing, and draw every board it stored."""
    topic, _, payload = data.partition(b"\n")
    database = _database()
    try:
        rulings = Rulings(database, lambda: "one", lambda: _NOW)
        hall = _Strict(database, rulings, _PREFIX, "hall", lambda: 0.0, lambda _: None)
        rulings.give(_TABLE, {"command": "take back"}, "Ann")
        hall.take([Incoming(topic.decode("utf-8", "replace"), payload)])
        for seat in hall.floor.seats():
            hall.copies.newest(seat.id, "" if seat.state is None else seat.state.journal, 10)
            look = look_of(seat)
            if look is not None:
                drawn(look, "en", is_image=False)
        hall.copies.results(10)
        hall.due_messages()
    finally:
        _empty(database)


PARSERS = (Parser("table's message to a hall", _table_messages, _process, (ValueError, RecursionError)),)
