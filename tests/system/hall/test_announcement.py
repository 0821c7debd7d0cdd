"""The hall's broker, announced in the loopback's network."""

from __future__ import annotations

import asyncio
import socket
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from hall.announcement import announce
from referee.mqtt.hall_search import HallBroker, find_hall_broker
from referee.mqtt.options import MqttOptions
from tests.guard import GUARD_S

HERE = "127.0.0.1"
TAG = uuid.uuid4().hex[:8]
"""A tag that keeps the halls of parallel tests apart."""


class Announced:
    """A hall's running announcement, and its messages."""

    def __init__(self, broker: HallBroker, address: str = HERE, name_check_s: float = 0.1) -> None:
        self.said: asyncio.Queue[str] = asyncio.Queue()
        self._task = asyncio.create_task(announce(broker, address, self.said.put_nowait, name_check_s=name_check_s))

    async def says(self) -> str:
        async with asyncio.timeout(GUARD_S):
            return await self.said.get()

    async def end(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


@asynccontextmanager
async def announced(broker: HallBroker, **more: float) -> AsyncIterator[Announced]:
    made = Announced(broker, **more)  # type: ignore[arg-type]
    try:
        yield made
    finally:
        await made.end()


def test_a_table_finds_the_broker_that_is_announced() -> None:
    async def evening(port: int) -> tuple[str, MqttOptions]:
        async with announced(HallBroker(f"Club {TAG}", "", port, TAG, is_encrypted=False)) as hall:
            said = await hall.says()
            options = MqttOptions("", 1, "t1", "Table 1", prefix=TAG, hall="auto", own_address=HERE)
            found = await find_hall_broker(options, search_s=GUARD_S, settle_s=0.0)
            return said, found

    with socket.create_server((HERE, 0)) as broker:
        port = broker.getsockname()[1]
        said, found = asyncio.run(evening(port))
    assert said == f"Tables find this hall as 'Club {TAG}'."
    assert (found.address, found.port) == (HERE, port)


def test_a_broker_that_listens_only_locally_is_reported() -> None:
    with socket.create_server((HERE, 0)) as closed:
        port = closed.getsockname()[1]

    async def evening() -> list[str]:
        async with announced(HallBroker(f"Deaf {TAG}", "", port, TAG, is_encrypted=False)) as hall:
            return [await hall.says(), await hall.says()]

    assert f"No broker answers at {HERE}, port {port}" in asyncio.run(evening())[1]


def test_a_name_in_use_is_reported_and_taken_once_it_is_free() -> None:
    broker = HallBroker(f"Twin {TAG}", "broker.local", 1883, TAG, is_encrypted=False)

    async def evening() -> None:
        async with announced(broker) as first:
            assert "Tables find" in await first.says()
            # It answers as soon as it gets the processor.
            async with announced(broker, name_check_s=GUARD_S) as second:
                assert await second.says() == (
                    f"The hall is not announced: another hall in this network is called 'Twin {TAG}'; "
                    "give this one another name."
                )

    asyncio.run(evening())


def test_a_missing_network_is_reported_once() -> None:
    async def evening() -> None:
        broker = HallBroker(f"Lost {TAG}", "", 1883, TAG, is_encrypted=False)
        hall = Announced(broker, address="192.0.2.7")
        assert "192.0.2.7 is no address of this machine" in await hall.says()
        await hall.end()

    asyncio.run(evening())
