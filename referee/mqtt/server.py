"""The thread that keeps a table on its broker beside the session."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime

from referee.mqtt.options import MqttOptions
from referee.mqtt.table_link import TableLink
from referee.session.table_port import TablePort

_LONGEST_END_S = 10.0
"""How long the end waits for a broker that hangs."""


@contextmanager
def on_broker(
    port: TablePort, options: MqttOptions, say: Callable[[str], None], wall_clock: Callable[[], datetime]
) -> Iterator[None]:
    """Keep a table on its broker while this is entered; the session never waits for it.

    ``say`` hears from another thread when the broker is away, and when it is back. Raises BrokerError where the
    options' files can't be read.
    """
    link = TableLink(port, options, say, wall_clock)
    started, is_ending = threading.Event(), threading.Event()
    stop: list[Callable[[], object]] = []

    async def serve() -> None:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        stop.append(lambda: loop.call_soon_threadsafe(task.cancel))
        started.set()
        with suppress(asyncio.CancelledError):
            await link.run()

    def run() -> None:
        try:
            asyncio.run(serve())
        finally:
            started.set()
            if not is_ending.is_set():
                say("The table is no longer on the broker; a restart puts it there again.")

    thread = threading.Thread(target=run, name="mqtt", daemon=True)
    thread.start()
    started.wait()
    try:
        yield
    finally:
        is_ending.set()
        for each in stop:
            with suppress(RuntimeError):
                each()
        thread.join(_LONGEST_END_S)
