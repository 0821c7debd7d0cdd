"""A table without a configured broker finds its hall, and finds it again after it moved."""

import asyncio
import time
import uuid
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue

import pytest

from frontends.mqtt.hall_search import HallBroker
from frontends.mqtt.options import MqttOptions
from frontends.mqtt.table_link import connect_to_broker
from hall.announcement import announce
from hall.broker import Address, BrokerConnection
from hall.database import Database
from hall.hall import Hall
from hall.rulings import Rulings
from journal.reader import read_journal
from referee.commands.values import EnterTurn
from tests.guard import GUARD_S
from tests.system.mqtt.mosquitto import MISSING, MOSQUITTO, broker_in
from tests.system.page.served import session

pytestmark = pytest.mark.skipif(MOSQUITTO is None, reason=MISSING)
HERE = "127.0.0.1"
TAG = uuid.uuid4().hex[:8]
"""A tag that keeps the halls of parallel tests apart."""


def now() -> datetime:
    return datetime.now(UTC)


async def until_it_holds(hall: Hall, port: int, number: int) -> None:
    """Open a hall that announces its broker, until it has the table's event of this number."""
    changed, loop = asyncio.Event(), asyncio.get_running_loop()
    end = hall.floor.listen(lambda: loop.call_soon_threadsafe(changed.set))
    broker = HallBroker(f"Club {TAG}", "", port, TAG, is_encrypted=False)
    tasks = [
        asyncio.create_task(BrokerConnection(hall, Address(HERE, port), "hall", print).run()),
        asyncio.create_task(announce(broker, HERE, print)),
    ]
    try:
        async with asyncio.timeout(GUARD_S):
            while (table := hall.floor.seat("t1")) is None or table.held < number:
                await changed.wait()
                changed.clear()
    finally:
        end()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    assert table.name == "By the door"


def test_a_table_appears_in_the_hall_and_follows_it_to_another_broker(tmp_path: Path) -> None:
    options = MqttOptions("", 0, "t1", "By the door", prefix=TAG, discovery_prefix=None, hall="auto", own_address=HERE)
    said: SimpleQueue[str] = SimpleQueue()
    with ExitStack() as stack:
        running = stack.enter_context(session("diaballik", tmp_path))
        stack.enter_context(connect_to_broker(running.port(), options, said.put, now))
        assert "The game goes on; I keep trying." in said.get(timeout=GUARD_S)
        for place, turn in (("club", "b1-b2"), ("pub", "b7-b6")):
            assert not running.tell(EnterTurn(turn, "Ann")).refused
            with read_journal(running.journal) as journal:
                number = journal.last_number
            folder = tmp_path / place
            folder.mkdir()
            database = Database(str(folder / "hall.db"))
            stack.callback(database.close)
            hall = Hall(database, Rulings(database, lambda: "1", now), TAG, "one", time.monotonic, print)
            with broker_in(folder) as broker:
                asyncio.run(until_it_holds(hall, broker.port, number))
