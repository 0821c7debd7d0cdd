"""The virtual table publishes its game on a broker."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console

from referee.demo.run import run_demo
from referee.demo.table import DemoOptions
from referee.journal.reader import read_journal
from referee.mqtt.options import MqttOptions
from referee.mqtt.topics import TableEvent, TableState
from tests.system.mqtt.conftest import House


def test_a_game_of_the_virtual_table_is_published_to_its_end(house: House, tmp_path: Path) -> None:
    broker = house.broker()
    client = house.client(broker)
    path = tmp_path / "demo.sqlite"
    options = DemoOptions(
        "diaballik",
        turns=2,
        fast=True,
        lights="none",
        journal=path,
        mqtt=MqttOptions("127.0.0.1", broker.port, "t1", "Table 1"),
    )
    assert run_demo(options, Console(file=io.StringIO())) == 0
    client.until(lambda heard: heard.payload == b"offline")
    with read_journal(path) as journal:
        last = journal.last_number
    client.until(lambda heard: heard.topic == "referee/t1/events" and heard.json["number"] == last)
    told = [TableEvent.model_validate_json(each.payload) for each in client.heard if each.topic == "referee/t1/events"]
    assert sorted({event.number for event in told}) == list(range(1, last + 1))
    states = [TableState.model_validate_json(each.payload) for each in client.heard if each.topic == "referee/t1/state"]
    assert (states[-1].turns, states[-1].event_number) == (2, last)
