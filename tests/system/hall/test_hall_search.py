"""A hall that is announced on the loopback network is found, and found again after it moved."""

import asyncio
import socket
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from zeroconf import IPVersion
from zeroconf.asyncio import AsyncZeroconf

from frontends.mqtt.hall_search import HallBroker, find_hall_broker
from frontends.mqtt.options import MqttOptions, TlsOptions
from hall.announcement import announce
from referee.errors import BrokerError
from tests.guard import GUARD_S

HERE = "127.0.0.1"
TAG = uuid.uuid4().hex[:8]
"""A tag that keeps the halls of parallel tests apart."""


def club(name: str = f"Club {TAG}", **changes: Any) -> HallBroker:
    fields: dict[str, Any] = {"host": "", "port": 1883, "prefix": TAG, "is_encrypted": False, **changes}
    return HallBroker(name, **fields)


def table(hall: str = "auto", tls: TlsOptions | None = None) -> MqttOptions:
    return MqttOptions("", 1, "t1", "Table 1", prefix=TAG, hall=hall, own_address=HERE, tls=tls)


@asynccontextmanager
async def announced(*brokers: HallBroker) -> AsyncIterator[None]:
    """Announce brokers, as their halls do."""
    dns = AsyncZeroconf(interfaces=[HERE], ip_version=IPVersion.V4Only)
    try:
        for broker in brokers:
            await (await dns.async_register_service(broker.service(HERE)))
        yield
    finally:
        await dns.async_close()


def found(*brokers: HallBroker, options: MqttOptions, settle_s: float = 0.0) -> MqttOptions:
    """Search for a hall while these are announced, waiting for a second one as long as needed or not at all."""

    async def look() -> MqttOptions:
        async with announced(*brokers):
            return await find_hall_broker(options, search_s=GUARD_S, settle_s=settle_s)

    return asyncio.run(look())


def test_the_only_hall_is_found() -> None:
    options = found(club(port=1884), options=table())
    assert options == replace(table(), address=HERE, port=1884)


def test_a_named_hall_is_found_at_its_announced_broker() -> None:
    saal = club(f"Tübingen, Saal 2 {TAG}", host="broker.local", is_encrypted=True, port=8883)
    options = found(club(), saal, options=table(saal.hall, TlsOptions()))
    assert (options.address, options.port) == ("broker.local", 8883)


def test_of_several_halls_none_is_chosen() -> None:
    with pytest.raises(BrokerError, match=rf"several halls .* \('Club {TAG}', 'Pub {TAG}'\); name one as hall"):
        found(club(), club(f"Pub {TAG}"), options=table(), settle_s=GUARD_S)


def test_a_hall_of_another_topic_is_ignored() -> None:
    async def look() -> None:
        async with announced(club(prefix="other")):
            await find_hall_broker(table(), search_s=0.5)

    with pytest.raises(BrokerError, match=r"no hall is announced|is the one wanted"):
        asyncio.run(look())


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
async def broker_announced(broker: HallBroker, **more: float) -> AsyncIterator[Announced]:
    made = Announced(broker, **more)  # type: ignore[arg-type]
    try:
        yield made
    finally:
        await made.end()


def test_a_table_finds_the_broker_that_is_announced() -> None:
    async def evening(port: int) -> tuple[str, MqttOptions]:
        async with broker_announced(HallBroker(f"Club {TAG}", "", port, TAG, is_encrypted=False)) as hall:
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
        async with broker_announced(HallBroker(f"Deaf {TAG}", "", port, TAG, is_encrypted=False)) as hall:
            return [await hall.says(), await hall.says()]

    assert f"No broker answers at {HERE}, port {port}" in asyncio.run(evening())[1]


def test_a_name_in_use_is_reported_and_taken_once_it_is_free() -> None:
    broker = HallBroker(f"Twin {TAG}", "broker.local", 1883, TAG, is_encrypted=False)

    async def evening() -> None:
        async with broker_announced(broker) as first:
            assert "Tables find" in await first.says()
            # It answers as soon as it gets the processor.
            async with broker_announced(broker, name_check_s=GUARD_S) as second:
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
