"""A hall whose database hangs: the queue is bounded, and dropped events are fetched later."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from pathlib import Path

import aiomqtt
import pytest

from benchmarks.hall.feeds import Feed
from hall.broker import Address, BrokerConnection
from hall.hall import Hall, Incoming, Outgoing
from tests.guard import GUARD_S
from tests.hall.conftest import close_databases
from tests.hall.halls import Clock, event, hall_on, kept, table
from tests.system.mqtt.mosquitto import MISSING, MOSQUITTO, broker_in

__all__ = ["close_databases"]

pytestmark = pytest.mark.skipif(MOSQUITTO is None, reason=MISSING)
MOST_BYTES = 60_000
NEVER_S = 1e6


class RealClock(Clock):
    """The real clock: only it can tell that a request is late."""

    def __call__(self) -> float:
        return time.monotonic()


class Evening:
    """A hall at a real broker, with one table that answers but no longer plays."""

    def __init__(self, hall: Hall, feed: Feed, port: int) -> None:
        self.hall = hall
        self.feed = feed
        self.said: list[str] = []
        self._port = port
        self._changed = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        hall.floor.listen(lambda: self._loop.call_soon_threadsafe(self._changed.set))

    def say(self, words: str) -> None:
        self.said.append(words)
        self._loop.call_soon_threadsafe(self._changed.set)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds."""
        async with asyncio.timeout(GUARD_S):
            while not holds():
                self._changed.clear()
                await self._changed.wait()

    def is_whole(self) -> bool:
        """Whether the hall shows the table's current state and has every event."""
        seat = self.hall.floor.seat(self.feed.table)
        return seat is not None and seat.state is not None and bool(seat.is_online) and not seat.is_behind

    async def played(self, during: Callable[[Evening], Awaitable[None]]) -> None:
        """Run hall and table while something happens."""
        is_over = asyncio.Event()
        line = BrokerConnection(self.hall, Address("127.0.0.1", self._port), "hall", self.say, MOST_BYTES)
        running = asyncio.create_task(line.run())
        playing = asyncio.create_task(
            self.feed.run("127.0.0.1", self._port, NEVER_S, asyncio.get_running_loop().time, is_over)
        )
        try:
            await during(self)
        finally:
            running.cancel()
            is_over.set()
            await asyncio.gather(running, playing, return_exceptions=True)

    async def tell(self) -> None:
        """Send all events of the table once."""
        client = aiomqtt.Client("127.0.0.1", self._port, protocol=aiomqtt.ProtocolVersion.V5)
        async with client:
            for each in self.feed.events:
                told = event(each)
                await client.publish(told.topic, told.payload, qos=1)


def play(hall: Hall, feed: Feed, folder: Path, during: Callable[[Evening], Awaitable[None]]) -> None:
    """Run hall and table at a broker of their own while something happens."""

    async def run(port: int) -> None:
        await Evening(hall, feed, port).played(during)

    with broker_in(folder) as broker:
        asyncio.run(run(broker.port))


def test_a_hanging_database_bounds_the_queue_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hall, feed, answers = hall_on(str(tmp_path / "hall.db"), RealClock()), table(events=150), threading.Event()
    take = hall.take

    async def during(evening: Evening) -> None:
        def take_late(messages: Sequence[Incoming]) -> list[Outgoing]:
            evening.say("asked")
            assert answers.wait(GUARD_S)
            return take(messages)

        monkeypatch.setattr(hall, "take", take_late)
        try:
            await evening.until(lambda: "asked" in evening.said)
            await evening.tell()
            await evening.until(lambda: any("wait for the hall's store" in words for words in evening.said))
        finally:
            answers.set()
        await evening.until(evening.is_whole)

    play(hall, feed, tmp_path, during)
    assert kept(hall, feed) == feed.events


def test_events_a_locked_database_did_not_take_are_requested_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hall.database._BUSY_S", 0.01)
    hall, feed = hall_on(str(tmp_path / "hall.db"), RealClock()), table(events=30)

    async def during(evening: Evening) -> None:
        with closing(sqlite3.connect(tmp_path / "hall.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            await evening.until(lambda: any("database is locked" in words for words in evening.said))
        await evening.until(evening.is_whole)

    play(hall, feed, tmp_path, during)
    assert kept(hall, feed) == feed.events
