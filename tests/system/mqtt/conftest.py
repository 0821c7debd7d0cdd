"""A session on a real broker. Skipped without Mosquitto."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from frontends.mqtt.options import MqttOptions
from frontends.mqtt.table_link import connect_to_broker
from referee.commands.values import Role
from tests.system.mqtt.mosquitto import MISSING, MOSQUITTO, Broker, Client, broker_in, client_of
from tests.system.page.served import Session, session


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip every test here without a broker."""
    for item in items:
        if MOSQUITTO is None and Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.skip(reason=MISSING))


class Table:
    """A session with its journal, which can be connected to a broker and disconnected."""

    def __init__(self, running: Session, broker: Broker, **options: Any) -> None:
        self.running = running
        options.setdefault("allows", Role.OWN)
        self.options = MqttOptions("127.0.0.1", broker.port, "t1", "Table 1", **options)
        self.said: list[str] = []

    @contextmanager
    def on(self) -> Iterator[None]:
        """Connect it to the broker."""
        with connect_to_broker(self.running.port(), self.options, self.said.append, lambda: datetime.now(UTC)):
            yield


class House:
    """A broker and its tables."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self._stack = stack
        self._folder = folder

    def broker(self, *settings: str) -> Broker:
        return self._stack.enter_context(broker_in(self._folder, *settings))

    def client(self, broker: Broker, **settings: Any) -> Client:
        return self._stack.enter_context(client_of(broker, **settings))

    def session(self, name: str = "diaballik", **rules: Any) -> Session:
        return self._stack.enter_context(session(name, self._folder, rules))

    def table(self, broker: Broker, running: Session | None = None, **options: Any) -> Table:
        """A table connected to the broker until the end of the test."""
        table = Table(running or self.session(), broker, **options)
        self._stack.enter_context(table.on())
        return table


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with ExitStack() as stack:
        yield House(stack, tmp_path)
