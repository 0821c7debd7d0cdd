"""The hall's connection to the broker: stores incoming messages in batches, and sends the hall's requests."""

from __future__ import annotations

import asyncio
import errno
import ssl
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import aiomqtt
from paho.mqtt.packettypes import PacketTypes

from common.backoff import Backoff
from common.phrases import plain_reason
from hall.hall import MOST_PICTURE_BYTES, Hall, Incoming, Outgoing
from hall.message_queue import MOST_WAITING_BYTES, MessageQueue
from referee.errors import HallStoreError
from referee.mqtt.client import SILENT_LOGGER, properties

SESSION_S = 24 * 3600
"""How long, in seconds, the broker keeps messages for a hall that is away."""
_MOST_PACKET_BYTES = MOST_PICTURE_BYTES + 1024 * 1024
"""The longest message that the broker may pass on."""
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.5, 15.0
_CHECK_EVERY_S = 1.0
"""How often, in seconds, to check for unanswered requests."""


@dataclass(frozen=True)
class Address:
    """The broker's address and login. Without a ``tls`` context, the connection isn't encrypted."""

    host: str
    port: int = 1883
    user: str | None = None
    password: str | None = None
    tls: ssl.SSLContext | None = None


def end_if_cancelled() -> None:
    """Raise CancelledError if this task was cancelled and went on.

    A task group forgets that it was cancelled if one of its tasks fails; before Python 3.12, so does a wait with a
    limit, such as the client's for an acknowledgement, if it ends at the same moment.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


class BrokerConnection:
    """Keeps the connection: ``run`` it in an event loop of its own, until it is cancelled.

    ``client_id`` identifies the session that the broker keeps. ``say`` reports when the broker is lost and found (once
    for a connection that breaks again and again), and when messages that wait for the database take
    ``most_waiting_bytes``.
    """

    def __init__(
        self,
        hall: Hall,
        address: Address,
        client_id: str,
        say: Callable[[str], object],
        most_waiting_bytes: int = MOST_WAITING_BYTES,
    ) -> None:
        self._hall = hall
        self._address = address
        self._client_id = client_id
        self._say = say
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake: asyncio.Event | None = None
        self._most_waiting_bytes = most_waiting_bytes
        self._queue = self._new_queue(0)
        self._has_lost_messages = False
        self._backoff = Backoff(_FIRST_WAIT_S, _LONGEST_WAIT_S)
        self.is_connected = False

    def send_now(self) -> None:
        """Send what is due, such as a ruling, without waiting; any thread may call this."""
        loop, wake = self._loop, self._wake
        if loop is not None and wake is not None:
            loop.call_soon_threadsafe(wake.set)

    async def run(self) -> None:
        """Connect, and reconnect whenever the connection is lost."""
        self._loop, self._wake = asyncio.get_running_loop(), asyncio.Event()
        self._loop.set_exception_handler(_without_lost_connections)
        is_lost = True
        while True:
            try:
                async with self._client() as client:
                    for topic in self._hall.topics:
                        await client.subscribe(topic, qos=1)
                    end_if_cancelled()
                    self._backoff = self._backoff.worked(time.monotonic())
                    # The broker sends new subscribers every table's state, which shows what is missing.
                    self._has_lost_messages = False
                    self.is_connected = True
                    if is_lost:
                        self._say(f"Connected to the broker {self._address.host}.")
                    is_lost = False
                    await self._serve(client)
            # A host such as "a..b" can't be encoded.
            except* (aiomqtt.MqttError, OSError, UnicodeError) as errors:
                if self._backoff.is_news(time.monotonic()):
                    is_lost = True
                    reason = plain_reason(errors.exceptions[0])
                    self._say(f"The broker {self._address.host} can't be reached ({reason}); trying again.")
            finally:
                self.is_connected = False
                self._hall.note_disconnected()
            end_if_cancelled()
            now_s = time.monotonic()
            self._backoff = self._backoff.failed(now_s)
            await asyncio.sleep((self._backoff.retry_at_s or now_s) - now_s)

    def _client(self) -> aiomqtt.Client:
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
            properties=properties(
                PacketTypes.CONNECT, SessionExpiryInterval=SESSION_S, MaximumPacketSize=_MOST_PACKET_BYTES
            ),
            max_inflight_messages=200,
            queue_type=self._new_queue,  # type: ignore[arg-type]
            logger=SILENT_LOGGER,
        )

    def _new_queue(self, maxsize: int) -> MessageQueue:
        """Give the client, which wants a class, a queue that is limited by bytes instead of messages."""
        del maxsize
        self._queue = MessageQueue(self._hall.seat_of, self._say, self._most_waiting_bytes)
        return self._queue

    async def _serve(self, client: aiomqtt.Client) -> None:
        async with asyncio.TaskGroup() as tasks:
            asking = tasks.create_task(self._ask_again(client))
            try:
                async for message in client.messages:
                    end_if_cancelled()
                    await self._keep(client, self._queue.batch_from(message))
            finally:
                asking.cancel()

    async def _keep(self, client: aiomqtt.Client, messages: Sequence[aiomqtt.Message]) -> None:
        """Store messages that have arrived, in one transaction."""
        batch = [
            Incoming(str(each.topic), each.payload, each.retain) for each in messages if isinstance(each.payload, bytes)
        ]
        try:
            await self._send(client, await asyncio.to_thread(self._hall.take, batch))
        except HallStoreError as error:
            self._has_lost_messages = True
            self._hall.database.tell_outage(error, self._say)

    async def _ask_again(self, client: aiomqtt.Client) -> None:
        assert self._wake is not None
        while True:
            # Another thread waits for the hall, so that a slow database keeps nobody from reading what arrives.
            await self._send(client, await asyncio.to_thread(self._hall.due_messages))
            end_if_cancelled()
            if self._queue.empty() and (self._queue.has_dropped or self._has_lost_messages):
                await self._ask_for_states(client)
            try:
                async with asyncio.timeout(_CHECK_EVERY_S):
                    await self._wake.wait()
            except TimeoutError:
                continue
            self._wake.clear()

    async def _ask_for_states(self, client: aiomqtt.Client) -> None:
        """Have the broker repeat every table's state; ``due_messages`` then asks for the events that are missing."""
        self._queue.has_dropped = self._has_lost_messages = False
        for topic in self._hall.retained_topics:
            await client.subscribe(topic, qos=1)
            end_if_cancelled()

    @staticmethod
    async def _send(client: aiomqtt.Client, messages: Sequence[Outgoing]) -> None:
        for message in messages:
            response = {"ResponseTopic": message.response} if message.response else {}
            asked = properties(PacketTypes.PUBLISH, **response)
            await client.publish(message.topic, message.payload, qos=1, properties=asked)


def _without_lost_connections(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Ignore the errors of the client's own futures about a lost connection."""
    error = context.get("exception")
    is_closed = isinstance(error, OSError) and error.errno == errno.EBADF
    if not (is_closed or isinstance(error, aiomqtt.MqttError)):
        loop.default_exception_handler(context)
