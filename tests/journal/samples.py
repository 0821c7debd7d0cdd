"""Events, pictures and a clock for tests of the journal."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from journal.database import connect
from journal.journal import Journal
from referee.record.events import Event, EventKind, Evidence

START = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)
NEW_GAME = Event(EventKind.NEW_GAME, {"game": "deblockle", "options": {"blocks_gold": 2}})
TURN = Event(EventKind.TURN, {"turn": "c3-c4=stop", "state": "s1"}, frame_time_s=12.25)


def ticking_clock() -> Callable[[], datetime]:
    ticks = itertools.count()
    return lambda: START + timedelta(seconds=next(ticks))


def picture(name: str, size: int) -> Evidence:
    return Evidence(name, "image/png", bytes([len(name)]) * size)


@contextmanager
def kept_back(path: Path) -> Iterator[Journal]:
    """Open a journal whose events stay in the log, because somebody reads all the time."""
    with Journal.open(path, wall_clock=ticking_clock()) as journal, closing(connect(path.as_uri())) as reading:
        reading.execute("BEGIN")
        reading.execute("SELECT count(*) FROM event").fetchone()
        yield journal
        reading.execute("ROLLBACK")
