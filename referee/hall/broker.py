"""The hall's connection to the broker: what comes is kept in batches, and what is to be asked is sent."""

from __future__ import annotations

import asyncio
import errno
import logging
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import aiomqtt
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from common.backoff import doubled_wait_s
from referee.errors import HallStoreError
from referee.hall.hall import Hall, Incoming, Outgoing

SESSION_S = 24 * 3600
"""How long the broker keeps for a hall that is away what it may not miss."""
_MOST_IN_BATCH = 1000
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.5, 15.0
_LOOK_S = 1.0
"""How often unanswered questions are looked for."""

_SILENT_LOGGER = logging.Logger("broker")
_SILENT_LOGGER.addHandler(logging.NullHandler())
"""What the client says of each lost connection; ours says it once."""


@dataclass(frozen=True)
class Address:
    """Where the broker is. Without a ``tls`` context the connection is open to whoever listens in the network."""

    host: str
    port: int = 1883
    user: str | None = None
    password: str | None = None
    tls: ssl.SSLContext | None = None


def end_if_cancelled() -> None:
    """Raise CancelledError if this task was cancelled: a task group forgets that when a task of its own fails too."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


class Line:
    """Runs the connection: ``run`` in an event loop of its own, until it is cancelled.

    ``client_id`` tells the broker whose session it keeps. ``say`` hears when the broker is lost and found.
    """

    def __init__(self, hall: Hall, address: Address, client_id: str, say: Callable[[str], object]) -> None:
        self._hall = hall
        self._address = address
        self._client_id = client_id
        self._say = say
        self._loop: asyncio.AbstractEventLoop | None = None
        self._look: asyncio.Event | None = None
        self.is_connected = False

    def look(self) -> None:
        """Look at once for what is to be sent, such as a ruling; any thread may ask."""
        loop, look = self._loop, self._look
        if loop is not None and look is not None:
            loop.call_soon_threadsafe(look.set)

    async def run(self) -> None:
        """Keep the connection, and begin it anew whenever it is lost."""
        self._loop, self._look = asyncio.get_running_loop(), asyncio.Event()
        self._loop.set_exception_handler(_without_lost_connections)
        failures = 0
        while True:
            try:
                async with self._client() as client:
                    for topic in self._hall.topics:
                        await client.subscribe(topic, qos=1)
                    failures = 0
                    self.is_connected = True
                    self._say(f"Connected to the broker {self._address.host}.")
                    await self._serve(client)
            except* (aiomqtt.MqttError, OSError) as errors:
                if not failures:
                    said = errors.exceptions[0]
                    self._say(f"The broker {self._address.host} can't be reached ({said}); trying again.")
            finally:
                self.is_connected = False
                self._hall.lost_broker()
            end_if_cancelled()
            failures += 1
            await asyncio.sleep(doubled_wait_s(_FIRST_WAIT_S, _LONGEST_WAIT_S, failures))

    def _client(self) -> aiomqtt.Client:
        kept = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
        kept.SessionExpiryInterval = SESSION_S
        address = self._address
        return aiomqtt.Client(
            address.host,
            address.port,
            username=address.user,
            password=address.password,
            tls_context=address.tls,
            protocol=aiomqtt.ProtocolVersion.V5,
            identifier=self._client_id,
            clean_start=False,
            properties=kept,
            max_inflight_messages=200,
            logger=_SILENT_LOGGER,
        )

    async def _serve(self, client: aiomqtt.Client) -> None:
        arrived: asyncio.Queue[Incoming] = asyncio.Queue(10 * _MOST_IN_BATCH)
        async with asyncio.TaskGroup() as tasks:
            keeping = tasks.create_task(self._keep(client, arrived))
            looking = tasks.create_task(self._ask_again(client))
            try:
                async for message in client.messages:
                    if isinstance(message.payload, bytes):
                        await arrived.put(Incoming(str(message.topic), message.payload))
            finally:
                keeping.cancel()
                looking.cancel()

    async def _keep(self, client: aiomqtt.Client, arrived: asyncio.Queue[Incoming]) -> None:
        """Keep what has come, all of it together: the disk is asked once for many messages."""
        while True:
            batch = [await arrived.get()]
            while len(batch) < _MOST_IN_BATCH and not arrived.empty():
                batch.append(arrived.get_nowait())
            try:
                await self._send(client, await asyncio.to_thread(self._hall.take, batch))
            except HallStoreError as error:
                self._say(f"{error}.")

    async def _ask_again(self, client: aiomqtt.Client) -> None:
        assert self._look is not None
        while True:
            await self._send(client, self._hall.due())
            try:
                async with asyncio.timeout(_LOOK_S):
                    await self._look.wait()
            except TimeoutError:
                continue
            self._look.clear()

    @staticmethod
    async def _send(client: aiomqtt.Client, messages: Sequence[Outgoing]) -> None:
        for message in messages:
            asked = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
            if message.response:
                asked.ResponseTopic = message.response
            await client.publish(message.topic, message.payload, qos=1, properties=asked)


def _without_lost_connections(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Leave out what the client's own futures say of a connection that is lost."""
    error = context.get("exception")
    is_closed = isinstance(error, OSError) and error.errno == errno.EBADF
    if not (is_closed or isinstance(error, aiomqtt.MqttError)):
        loop.default_exception_handler(context)
