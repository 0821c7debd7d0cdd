"""The table's answers to messages that it can't carry out."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from typing import Any, cast

import aiomqtt
import pytest

from referee.mqtt.client import Received
from referee.mqtt.options import MqttOptions
from referee.mqtt.table_link import TableLink
from tests.referee.web.page_table import port_of

OPTIONS = MqttOptions("broker.lan", 1883, "t1", "Table 1")


@pytest.mark.parametrize(
    ("payload", "request_id"), [(b'{"after": -1, "request_id": "r"}', "r"), (b'{"after": -1}', ""), (b"[", "")]
)
def test_an_invalid_request_for_events_is_refused_by_its_id(payload: bytes, request_id: str) -> None:
    said: list[dict[str, Any]] = []

    class Client:
        async def publish(self, topic: str, payload: str, **_: object) -> None:
            said.append(json.loads(payload))

    async def ask() -> None:
        link = TableLink(port_of(), OPTIONS, lambda _: None, lambda: datetime.now(UTC))
        await link._replay(cast("aiomqtt.Client", Client()), Received(OPTIONS.topics.replay, payload))

    asyncio.run(ask())
    assert [(answer["request_id"], answer["refused"]) for answer in said] == [(request_id, True)]
