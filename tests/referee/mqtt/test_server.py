"""Asking a broker whether it answers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from referee.errors import BrokerError
from referee.mqtt import table_link
from referee.mqtt.options import MqttOptions


def test_the_doctor_names_the_broker_that_a_hall_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    async def announced(options: MqttOptions) -> MqttOptions:
        return replace(options, address="127.0.0.1", port=1)

    monkeypatch.setattr(table_link, "resolve_broker", announced)
    with pytest.raises(BrokerError, match=r"127\.0\.0\.1, port 1"):
        table_link.ask_broker(MqttOptions("", 1883, "t1", "Table 1", hall="Club"))
