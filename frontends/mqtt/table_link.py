"""The table's link to its broker: publishes states and events, and carries out commands, while the referee runs.

It runs in a thread of its own.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any

import aiomqtt
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.subscribeoptions import SubscribeOptions
from pydantic import ValidationError

from common.backoff import Backoff
from common.phrases import Phrase, joined
from frontends.mqtt.client import (
    EvidenceRequest,
    Received,
    Sender,
    broker_client,
    explain_failure,
    parse_fields,
    parse_picture_request,
    properties,
    read_message,
    request_id_of,
    resolve_broker,
    role_of,
)
from frontends.mqtt.journal_feed import JournalFeed
from frontends.mqtt.options import MqttOptions
from frontends.mqtt.payloads import BIRTH, discovery_message, discovery_topic, status_topic, table_state
from frontends.mqtt.topics import OFFLINE, ONLINE, Answer, ReplayRequest
from frontends.table_port import (
    CameraPictures,
    CommandError,
    CommandFault,
    CommandHandler,
    ReplyDocument,
    TablePort,
    VersionedSnapshot,
)
from referee.errors import BrokerError, JournalError

_GOODBYE_S = 2.0  # for the last message to leave
_MOST_AT_WORK = 64  # commands at once; more are dropped
_LATE_EVENTS_S = 5.0
"""How often, in seconds, the journal is read even if nothing was shown: the disk may have been full for a while."""
_FORBIDDEN = Phrase(
    'That is not allowed on this topic; it needs command/{needs}, and commands = "{needs}" under [mqtt].'
)


class TableLink:
    """Publishes a table on a broker, and carries out the commands that come from it.

    ``say`` is called when the broker is away and when it is back. All methods belong to one event loop. Raises
    BrokerError if the options' files can't be read.
    """

    def __init__(
        self,
        port: TablePort,
        options: MqttOptions,
        say: Callable[[str], None],
        wall_clock: Callable[[], datetime],
    ) -> None:
        self._port = port
        self._options = options
        self._resolved = options
        self._topics = options.topics
        self._say = say
        self._wall_clock = wall_clock
        self._context = None if options.tls is None else options.tls.context()
        self._feed = None if port.journal is None else JournalFeed(port.journal, options)
        self._handler = CommandHandler(port, "MQTT", _FORBIDDEN, shares_requests=True)
        self._pictures = CameraPictures(port)
        self._sent: int | None = None
        """The number of the newest event that the broker has, ``None`` before it was looked up."""
        self._backoff = Backoff()
        self._is_away = False
        self._at_work: set[asyncio.Task[Any]] = set()
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """Leave the broker, and end ``run``."""
        self._stopping.set()

    async def run(self) -> None:
        """Keep the connection up until ``stop``."""
        while not self._stopping.is_set():
            try:
                await self._connect_and_serve()
            except (aiomqtt.MqttError, OSError, UnicodeError) as error:
                self._note_disconnected(error)
            now_s = time.monotonic()
            self._backoff = self._backoff.failed(now_s)
            with suppress(TimeoutError):
                async with asyncio.timeout((self._backoff.retry_at_s or now_s) - now_s):
                    await self._stopping.wait()

    async def _connect_and_serve(self) -> None:
        """Connect, and serve the connection until it breaks, which raises MqttError, or until ``stop``."""
        will = aiomqtt.Will(self._topics.availability, OFFLINE, qos=1, retain=True)
        options = await self._find_broker()
        if options is None:
            return
        self._resolved = options
        client = broker_client(options, self._context, will)
        await client.__aenter__()
        try:
            await self._serve(client)
        finally:
            with suppress(aiomqtt.MqttError, JournalError, OSError):
                async with asyncio.timeout(_GOODBYE_S):
                    await self._leave(client)
            with suppress(aiomqtt.MqttError):
                await client.__aexit__(None, None, None)

    async def _find_broker(self) -> MqttOptions | None:
        """Return the options with the broker's address, ``None`` if ``stop`` is called during the search."""
        looking = asyncio.create_task(resolve_broker(self._options))
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait({looking, stopping}, return_when=asyncio.FIRST_COMPLETED)
            return looking.result() if looking.done() else None
        finally:
            # Cancelled only once, because the search has sockets to close.
            looking.cancel()
            stopping.cancel()
            await asyncio.gather(looking, stopping, return_exceptions=True)

    async def _leave(self, client: aiomqtt.Client) -> None:
        """Send the newest state and events, such as the end of the game, and say that the table leaves."""
        newest = self._port.snapshots.newest
        if newest is not None:
            await client.publish(self._topics.state, await self._state(newest), qos=1, retain=True)
        await client.publish(self._topics.availability, OFFLINE, qos=1, retain=True)
        await self._send_events(client)

    async def _serve(self, client: aiomqtt.Client) -> None:
        subscribed = [self._topics.replay]
        if self._options.allows:
            subscribed += [self._topics.play, self._topics.own]
        if self._options.discovery_prefix is not None:
            subscribed.append(status_topic(self._options))
        for topic in subscribed:
            # Without this option, the broker hides from a subscriber that a new message is to be retained.
            await client.subscribe(topic, options=SubscribeOptions(qos=1, retainAsPublished=True))
        await self._introduce(client)
        self._note_connected()
        tasks = {
            asyncio.create_task(each)
            for each in (
                self._publish_states(client),
                self._publish_events(client),
                self._listen(client),
                self._stopping.wait(),
            )
        }
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _cancel(tasks | self._at_work)
        for task in done:
            task.result()

    async def _introduce(self, client: aiomqtt.Client) -> None:
        if self._options.discovery_prefix is not None:
            await client.publish(discovery_topic(self._options), discovery_message(self._options), qos=1, retain=True)
        await client.publish(self._topics.availability, ONLINE, qos=1, retain=True)

    async def _publish_states(self, client: aiomqtt.Client) -> None:
        """Send the newest state after every change; ends once no more will come."""
        newest = self._port.snapshots.newest
        while True:
            if newest is not None:
                await client.publish(self._topics.state, await self._state(newest), qos=1, retain=True)
            newest = await self._port.snapshots.after(0 if newest is None else newest.version)
            if newest is None:
                self.stop()
                return

    async def _state(self, versioned: VersionedSnapshot) -> str:
        journal = "" if self._feed is None else await asyncio.to_thread(_identity, self._feed)
        port, now = self._port, self._wall_clock()
        age_s = port.snapshots.clock() - versioned.taken_s
        return table_state(
            self._options, port.game, versioned.snapshot, journal, age_s, now, hints_allowed=port.hints_allowed
        ).model_dump_json()

    async def _publish_events(self, client: aiomqtt.Client) -> None:
        """Send the journal's events as they come; ends once no more will."""
        version = 0
        while True:
            # The session reports problems with the journal; the events are sent once it can be read.
            with suppress(JournalError, OSError):
                await self._send_events(client)
            with suppress(TimeoutError):
                async with asyncio.timeout(_LATE_EVENTS_S):
                    newest = await self._port.snapshots.after(version)
                    if newest is None:
                        return
                    version = newest.version

    async def _send_events(self, client: aiomqtt.Client) -> None:
        """Send the events that the broker doesn't have, each after it has received the previous one."""
        if self._feed is None:
            return
        if self._sent is None:
            self._sent = await asyncio.to_thread(self._feed.start)
        while events := await asyncio.to_thread(self._feed.after, self._sent):
            for event in events:
                await client.publish(self._topics.events, event.model_dump_json(), qos=1)
                self._sent = event.number
            await asyncio.to_thread(self._feed.keep_cursor, self._sent)

    async def _listen(self, client: aiomqtt.Client) -> None:
        async for message in client.messages:
            topic = str(message.topic)
            if self._options.discovery_prefix is not None and topic == status_topic(self._options):
                if message.payload == BIRTH.encode():
                    await self._introduce(client)
            elif not message.retain and len(self._at_work) < _MOST_AT_WORK:
                # A retained command would be carried out at every start.
                task = asyncio.create_task(self._carry_out(client, read_message(message, self._topics)))
                self._at_work.add(task)
                task.add_done_callback(self._at_work.discard)

    async def _carry_out(self, client: aiomqtt.Client, message: Received) -> None:
        with suppress(aiomqtt.MqttError):
            if message.topic == self._topics.replay:
                await self._replay(client, message)
                return
            fields: object = None
            try:
                fields = parse_fields(message.payload)
                reply = await self._reply(client, fields, message)
            except CommandError as error:
                if error.fault is CommandFault.UNANSWERED:
                    # It is queued or waits for the table, so there is no result yet; repeating it returns the result.
                    return
                reply = self._reply_document(str(error), refused=True)
            except ValueError as error:
                reply = self._reply_document(str(error), refused=True)
            await self._answer(client, message, request_id_of(fields), reply)

    async def _reply(self, client: aiomqtt.Client, fields: dict[str, object], message: Received) -> ReplyDocument:
        sender = Sender(role_of(message.topic, self._topics, self._options.allows))
        picture_order = parse_picture_request(fields)
        if picture_order is None:
            return await self._handler.take(sender, fields)
        if sender.role < picture_order.needs:
            return self._reply_document(Phrase("Pictures are not allowed on this topic."), refused=True)
        if isinstance(picture_order, EvidenceRequest):
            return await self._send_evidence(client, picture_order.event)
        content = await asyncio.to_thread(self._pictures.jpeg, overlay=False)
        if content is None:
            return self._reply_document(Phrase("There is no picture: no camera is on."), refused=True)
        await client.publish(self._topics.picture, content, qos=1)
        return self._reply_document(Phrase("The picture is sent."))

    async def _send_evidence(self, client: aiomqtt.Client, event: int) -> ReplyDocument:
        try:
            pictures = [] if self._feed is None else await asyncio.to_thread(self._feed.pictures, event)
        except JournalError as error:
            return self._reply_document(Phrase("The journal can't be read: {error}", error), refused=True)
        for name, media_type, content in pictures:
            await client.publish(
                self._topics.evidence(event, name),
                content,
                qos=1,
                properties=properties(PacketTypes.PUBLISH, ContentType=media_type),
            )
        if not pictures:
            return self._reply_document(Phrase("Event {event} has no pictures.", event), refused=True)
        return self._reply_document(Phrase("Pictures sent: {names}.", ", ".join(name for name, _, _ in pictures)))

    async def _replay(self, client: aiomqtt.Client, message: Received) -> None:
        fields: object = None
        sent = 0
        try:
            fields = parse_fields(message.payload)
            wanted = ReplayRequest.model_validate(fields)
            number = wanted.after
            topic = message.respond_to or self._topics.replayed
            feed = None if self._port.journal is None else JournalFeed(self._port.journal, self._options)
            while feed is not None and sent < wanted.most:
                events = await asyncio.to_thread(feed.after, number, wanted.most - sent)
                for event in events:
                    await client.publish(topic, event.model_dump_json(), qos=1)
                if not events:
                    break
                sent, number = sent + len(events), events[-1].number
            reply = self._reply_document(Phrase("Events sent: {number}.", sent))
        except ValidationError:
            words = Phrase("That is not a replay request; expected after, most and request_id.")
            reply = self._reply_document(words, refused=True)
        except (JournalError, ValueError) as error:
            reply = self._reply_document(str(error), refused=True)
        await self._answer(client, Received(message.topic, b""), request_id_of(fields), reply)

    async def _answer(self, client: aiomqtt.Client, message: Received, request_id: str, reply: ReplyDocument) -> None:
        answer = Answer(
            table=self._options.table,
            request_id=request_id,
            words=reply.words,
            refused=reply.refused,
            event_number=reply.event_number,
        )
        kept = {} if message.correlation is None else {"CorrelationData": message.correlation}
        topic = message.respond_to or self._topics.answers
        await client.publish(topic, answer.model_dump_json(), qos=1, properties=properties(PacketTypes.PUBLISH, **kept))

    def _reply_document(self, words: str, *, refused: bool = False) -> ReplyDocument:
        newest = self._port.snapshots.newest
        number = 0 if newest is None else newest.snapshot.event_number
        return ReplyDocument(words=words, refused=refused, event_number=number)

    def _note_disconnected(self, error: Exception) -> None:
        """Say once that the broker can't be reached, and why."""
        if self._is_away or not self._backoff.is_news(time.monotonic()):
            return
        self._is_away = True
        goes_on = Phrase("The game goes on; I keep trying.")
        self._say(joined((explain_failure(error, self._resolved), goes_on)))

    def _note_connected(self) -> None:
        self._backoff = self._backoff.worked(time.monotonic())
        if self._is_away:
            self._is_away = False
            self._say(Phrase("The broker at {broker} is back.", self._resolved.broker))


async def _cancel(tasks: set[asyncio.Task[Any]]) -> None:
    """Cancel tasks until they have ended; before Python 3.12, a wait that has just ended swallows a cancellation."""
    while tasks:
        for task in tasks:
            task.cancel()
        _, tasks = await asyncio.wait(tasks, timeout=0.1)


def _identity(feed: JournalFeed) -> str:
    """Return the journal's identity, empty while it can't be read."""
    try:
        return feed.identity()
    except JournalError:
        return ""


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
                say(Phrase("The table is no longer on the broker; a restart puts it there again."))

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
