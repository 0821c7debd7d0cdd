"""The broker of a running session, if there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from referee.session.table_port import TablePort

if TYPE_CHECKING:
    from referee.mqtt.options import MqttOptions


@contextmanager
def told_broker(
    port: TablePort, options: MqttOptions | None, page: str | None, say: Callable[[str], None]
) -> Iterator[None]:
    """Keep the table on its broker while this is entered; ``page`` is the address of its page, for links.

    Does nothing without ``options``. Raises BrokerError.
    """
    if options is None:
        yield
        return
    # the client of MQTT is only loaded if there is a broker
    from referee.mqtt.server import on_broker

    with on_broker(port, replace(options, page=page), say, lambda: datetime.now(UTC)):
        yield
