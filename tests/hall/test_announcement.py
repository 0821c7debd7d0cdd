"""The announcement of a hall's broker: why it fails."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest
import zeroconf
from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

from hall.announcement import _announce
from referee.errors import BrokerError
from referee.mqtt.hall_search import HallBroker


@pytest.mark.parametrize("is_noticed_first", [True, False])
def test_a_name_in_use_is_named(is_noticed_first: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    class Taken:
        zeroconf = None

        async def async_register_service(self, service: AsyncServiceInfo) -> None:
            raise zeroconf.NonUniqueNameException

    async def request(*_: Any) -> bool:
        return is_noticed_first

    monkeypatch.setattr(AsyncServiceInfo, "async_request", request)
    broker = HallBroker("Twin", "broker.local", 1883, "club", is_encrypted=False)
    with pytest.raises(BrokerError, match="another hall in this network is called 'Twin'"):
        asyncio.run(_announce(cast("AsyncZeroconf", Taken()), broker, "127.0.0.1", 0.1))
