"""Searching for halls announced on the loopback network."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from zeroconf import IPVersion
from zeroconf.asyncio import AsyncZeroconf

from referee.errors import BrokerError
from referee.mqtt.hall_search import HallBroker, find_hall_broker
from referee.mqtt.options import MqttOptions, TlsOptions
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
