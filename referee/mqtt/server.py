"""Connects a running session to its broker, in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime

import aiomqtt

from referee.errors import BrokerError
from referee.mqtt.client import broker_client, explain_failure, resolve_broker
from referee.mqtt.options import MqttOptions
from referee.mqtt.table_link import TableLink
from referee.session.table_port import TablePort

_LONGEST_END_S = 10.0
"""How long, in seconds, leaving may take if the broker hangs."""


def ask_broker(options: MqttOptions) -> None:
    """Connect to a broker and leave it again, even if the table is connected; raises BrokerError with the reason."""
    found = options

    async def ask() -> None:
        nonlocal found
        found = await resolve_broker(options)
        client = broker_client(found, None if options.tls is None else options.tls.context(), suffix="-doctor")
        async with client:
            pass

    try:
        asyncio.run(ask())
    except (aiomqtt.MqttError, OSError, UnicodeError) as error:
        if isinstance(error, BrokerError):
            raise
        raise BrokerError(explain_failure(error, found)) from error


@contextmanager
def connect_to_broker(
    port: TablePort, options: MqttOptions, say: Callable[[str], None], wall_clock: Callable[[], datetime]
) -> Iterator[None]:
    """Keep a table connected to its broker inside the context; the session never waits for it.

    ``say`` is called from another thread when the broker is away, and when it is back. Raises BrokerError if the
    options' files can't be read.
    """
    link = TableLink(port, options, say, wall_clock)
    started, has_ended = threading.Event(), threading.Event()
    stop: list[Callable[[], object]] = []

    async def serve() -> None:
        loop = asyncio.get_running_loop()
        stop.append(lambda: loop.call_soon_threadsafe(link.stop))
        started.set()
        await link.run()
        has_ended.set()

    def run() -> None:
        try:
            asyncio.run(serve())
        finally:
            started.set()
            if not has_ended.is_set():
                say("The table is no longer on the broker; a restart puts it there again.")

    thread = threading.Thread(target=run, name="mqtt", daemon=True)
    thread.start()
    started.wait()
    try:
        yield
    finally:
        for each in stop:
            with suppress(RuntimeError):
                each()
        thread.join(_LONGEST_END_S)
