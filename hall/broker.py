"""The hall's connection to the broker: stores incoming messages in batches, and sends the hall's requests."""

import asyncio
import errno
import ssl
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import aiomqtt
from paho.mqtt.packettypes import PacketTypes

from common.backoff import Backoff
from common.phrases import plain_reason
from frontends.mqtt.client import SILENT_LOGGER, properties
from hall.hall import MOST_PICTURE_BYTES, Hall, Incoming, Outgoing
from referee.errors import HallStoreError

_MIB = 1024 * 1024
MOST_WAITING_BYTES = 24 * _MIB
"""The most bytes that wait. The batch that is being stored takes up to 8 MiB and one message of up to 5 MiB more."""
_MOST_BATCH_BYTES = 8 * _MIB  # of one transaction; set by hand
_MOST_IN_BATCH = 1000  # messages of one transaction; set by hand
_RECORD_BYTES = 1024
"""The bytes that a message takes beside its topic and its content, rounded up."""


class MessageQueue(asyncio.Queue[aiomqtt.Message]):
    """A queue of at most ``most_bytes``: when it is full, the table with the most bytes in it loses its oldest message.

    ``table_of`` names the table that sends on a topic. ``say`` reports when the first messages are dropped.
    """

    def __init__(
        self, table_of: Callable[[str], str], say: Callable[[str], object], most_bytes: int = MOST_WAITING_BYTES
    ) -> None:
        self._table_of = table_of
        self._say = say
        self._most_bytes = most_bytes
        self.bytes_waiting = 0
        self.has_dropped = False
        super().__init__()

    def batch_from(self, first: aiomqtt.Message) -> list[aiomqtt.Message]:
        """Take messages that wait, after one that was taken, as many as may be stored at once."""
        batch, size = [first], _size(first)
        while len(batch) < _MOST_IN_BATCH and size < _MOST_BATCH_BYTES and not self.empty():
            batch.append(self.get_nowait())
            size += _size(batch[-1])
        return batch

    # The three methods that asyncio.Queue lets its subclasses replace.

    def _init(self, maxsize: int) -> None:
        del maxsize
        self._queue: OrderedDict[int, aiomqtt.Message] = OrderedDict()
        self._numbers: dict[str, deque[int]] = {}
        self._bytes: Counter[str] = Counter()
        self._arrived = 0

    def _put(self, item: aiomqtt.Message) -> None:
        table = self._table_of(str(item.topic))
        self._arrived += 1
        self._queue[self._arrived] = item
        self._numbers.setdefault(table, deque()).append(self._arrived)
        self._count(table, _size(item))
        while self.bytes_waiting > self._most_bytes:
            self._drop_oldest()

    def _get(self) -> aiomqtt.Message:
        number = next(iter(self._queue))
        return self._remove(self._table_of(str(self._queue[number].topic)))

    def _drop_oldest(self) -> None:
        """Drop the oldest message of the table with the most bytes; of equal ones, the one that waits longest."""
        self._remove(max(self._numbers, key=lambda table: (self._bytes[table], -self._numbers[table][0])))
        if not self.has_dropped:
            self._say(
                f"More than {self._most_bytes // _MIB} MiB of messages wait for the hall's store; the oldest are left "
                "out, and their tables will be asked again."
            )
        self.has_dropped = True

    def _remove(self, table: str) -> aiomqtt.Message:
        """Remove the oldest message of a table."""
        message = self._queue.pop(self._numbers[table].popleft())
        self._count(table, -_size(message))
        if not self._numbers[table]:
            del self._numbers[table], self._bytes[table]
        return message

    def _count(self, table: str, size: int) -> None:
        self._bytes[table] += size
        self.bytes_waiting += size


def _size(message: aiomqtt.Message) -> int:
    return _RECORD_BYTES + len(str(message.topic)) + len(message.payload or b"")


SESSION_S = 24 * 3600
"""How long, in seconds, the broker keeps messages for a hall that is away."""
_MOST_PACKET_BYTES = MOST_PICTURE_BYTES + 1024 * 1024
"""The longest message that the broker may pass on."""
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.5, 15.0  # after a failure, doubled each time
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
