"""A broker that is missing or lost at a bad moment, its announcement, and messages that wait within a limit."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import aiomqtt
import pytest
import zeroconf
from hypothesis import example, given
from hypothesis import strategies as st
from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

from frontends.mqtt.hall_search import HallBroker
from hall.announcement import _announce
from hall.broker import Address, BrokerConnection, MessageQueue
from hall.hall import Incoming, Outgoing
from referee.errors import BrokerError
from tests.commands import runner_in
from tests.guard import GUARD_S
from tests.hall.halls import hall_on


async def ended(task: asyncio.Task[None]) -> None:
    """Cancel a task once, and wait until it has ended."""
    task.cancel()
    done, _ = await asyncio.wait({task}, timeout=GUARD_S)
    assert done, "cancelled, but still running"
    assert task.cancelled()


@pytest.mark.parametrize("host", ["127.0.0.1", "a..b"])
def test_a_missing_broker_is_reported_once(host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hall.broker._FIRST_WAIT_S", 0.001)
    said: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]

    async def wait() -> None:
        hall, failures = hall_on(str(tmp_path / "hall.db")), asyncio.Queue[None]()
        monkeypatch.setattr(hall, "note_disconnected", lambda: failures.put_nowait(None))
        line = BrokerConnection(hall, Address(host, port), "hall", said.append)
        running = asyncio.create_task(line.run())
        async with asyncio.timeout(GUARD_S):
            for _ in range(3):
                await failures.get()
        await ended(running)

    asyncio.run(wait())
    assert len(said) == 1
    assert "can't be reached" in said[0]
    assert "Errno" not in said[0]


class LostAtTheEnd:
    """A connection that breaks when it is cancelled; its messages never come."""

    def __init__(self) -> None:
        self.listened_to = asyncio.Event()
        self.messages = self

    async def __aenter__(self) -> LostAtTheEnd:
        assert not self.listened_to.is_set(), "connected again"
        return self

    async def __aexit__(self, *_: object) -> None:
        return

    async def subscribe(self, *_: object, **__: object) -> None:
        return

    def __aiter__(self) -> LostAtTheEnd:
        return self

    async def __anext__(self) -> aiomqtt.Message:
        self.listened_to.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise aiomqtt.MqttError("lost") from None
        raise StopAsyncIteration


class BrokenAtOnce(LostAtTheEnd):
    """A connection that breaks as soon as it listens."""

    async def __anext__(self) -> aiomqtt.Message:
        raise aiomqtt.MqttError("lost")


def test_a_connection_that_breaks_again_and_again_is_reported_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hall.broker._FIRST_WAIT_S", 0.001)
    monkeypatch.setattr(BrokerConnection, "_client", lambda _: BrokenAtOnce())
    said: list[str] = []

    async def wait() -> None:
        hall, losses = hall_on(str(tmp_path / "hall.db")), asyncio.Queue[None]()
        monkeypatch.setattr(hall, "note_disconnected", lambda: losses.put_nowait(None))
        running = asyncio.create_task(BrokerConnection(hall, Address("here"), "hall", said.append).run())
        async with asyncio.timeout(GUARD_S):
            for _ in range(6):
                await losses.get()
        await ended(running)

    asyncio.run(wait())
    assert [words.split()[0] for words in said] == ["Connected", "The", "Connected"]


def test_losing_the_broker_while_the_connection_ends_does_not_delay_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = LostAtTheEnd()
    monkeypatch.setattr(BrokerConnection, "_client", lambda _: client)

    async def wait() -> None:
        running = asyncio.create_task(
            BrokerConnection(hall_on(str(tmp_path / "hall.db")), Address("here"), "hall", print).run()
        )
        await client.listened_to.wait()
        await ended(running)

    asyncio.run(wait())


class Telling(LostAtTheEnd):
    """A connection with two messages: the broker had kept the first one."""

    def __init__(self) -> None:
        super().__init__()
        self.told = [aiomqtt.Message("club/table-1/state", b"{}", 1, kept, 1, None) for kept in (True, False)]

    async def publish(self, *_: object, **__: object) -> None:
        return

    async def __anext__(self) -> aiomqtt.Message:
        return self.told.pop(0) if self.told else await super().__anext__()


def test_the_hall_learns_which_messages_the_broker_had_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client, taken = Telling(), list[Incoming]()

    def take(messages: Sequence[Incoming]) -> list[Outgoing]:
        taken.extend(messages)
        return []

    async def wait() -> None:
        monkeypatch.setattr(BrokerConnection, "_client", lambda _: client)
        hall = hall_on(str(tmp_path / "hall.db"))
        monkeypatch.setattr(hall, "take", take)
        running = asyncio.create_task(BrokerConnection(hall, Address("here"), "hall", print).run())
        await client.listened_to.wait()
        await ended(running)

    asyncio.run(wait())
    assert [message.is_retained for message in taken] == [True, False]


class AnsweredAtTheEnd(LostAtTheEnd):
    """A connection whose broker acknowledges a call at the moment when the wait for it is cancelled.

    Before Python 3.12, ``wait_for`` then returns the answer and loses the cancellation.
    """

    def __init__(self, waits_for: str) -> None:
        super().__init__()
        self.waits_for = waits_for
        self.is_waiting = asyncio.Event()

    async def subscribe(self, *_: object, **__: object) -> None:
        await self._acknowledged("subscribe")

    async def publish(self, *_: object, **__: object) -> None:
        await self._acknowledged("publish")

    async def _acknowledged(self, call: str) -> None:
        if call == self.waits_for and not self.is_waiting.is_set():
            self.is_waiting.set()
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()

    async def __anext__(self) -> aiomqtt.Message:
        await asyncio.Event().wait()
        raise StopAsyncIteration


@pytest.mark.parametrize("waits_for", ["subscribe", "publish"])
def test_a_hall_ends_even_if_the_broker_answers_at_that_moment(
    waits_for: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def wait() -> None:
        client = AnsweredAtTheEnd(waits_for)
        monkeypatch.setattr(BrokerConnection, "_client", lambda _: client)
        hall = hall_on(str(tmp_path / "hall.db"))
        monkeypatch.setattr(hall, "due_messages", lambda: [Outgoing("club/table-1/replay", b"{}")])
        running = asyncio.create_task(BrokerConnection(hall, Address("here"), "hall", print).run())
        await client.is_waiting.wait()
        await ended(running)

    asyncio.run(wait())


@pytest.mark.parametrize("name", ["", "a.b", "auto", "x" * 64, "tab\tbed"])
def test_an_invalid_name_of_a_hall_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = runner_in(tmp_path, monkeypatch)("tools", "hall", "--broker", "localhost", "--announce", name)
    assert refused.exit_code == 2
    assert "can't be a hall's name; expected 1 to 63 bytes" in refused.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("option", "given", "reason"),
    [("--table", "Table 3", "can't be a table's id"), ("--prefix", "referee/", "can't begin a topic")],
)
def test_an_id_or_prefix_that_no_table_can_have_is_refused(
    option: str, given: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = runner_in(tmp_path, monkeypatch)("tools", "hall", "--broker", "localhost", option, given)
    assert (refused.exit_code, reason in refused.stderr) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_a_password_without_a_name_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = runner_in(tmp_path, monkeypatch)
    (tmp_path / "password").write_text("secret")
    # The name is refused as well, so that no hall runs in this test.
    refused = run("tools", "hall", "--broker", "localhost", "--password-file", "password", "--announce", ".")
    assert refused.exit_code == 2
    assert "--password-file needs --user" in refused.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["password"]


@pytest.mark.parametrize("is_noticed_first", [True, False])
def test_a_name_in_use_is_named(is_noticed_first: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    class Taken:
        zeroconf = None

        async def async_register_service(self, service: AsyncServiceInfo) -> None:
            raise zeroconf.NonUniqueNameException

    async def request(*_: Any) -> bool:
        return is_noticed_first

    monkeypatch.setattr(AsyncServiceInfo, "async_request", request)
    broker = HallBroker("Twin", "broker.local", 1883, "club", is_encrypted=False)
    with pytest.raises(BrokerError, match="another hall in this network is called 'Twin'"):
        asyncio.run(_announce(cast("AsyncZeroconf", Taken()), broker, "127.0.0.1", 0.1))


RECORD = 1024


def message(table: str, number: int, size: int) -> aiomqtt.Message:
    return aiomqtt.Message(f"club/{table}/events", b"x" * size, 1, False, number, None)


def table_of(topic: str) -> str:
    return topic.split("/")[1]


def size_of(each: aiomqtt.Message) -> int:
    assert isinstance(each.payload, bytes)
    return RECORD + len(str(each.topic)) + len(each.payload)


def numbers(queue: MessageQueue) -> list[int]:
    """The numbers of all waiting messages, which are taken."""
    found = []
    while not queue.empty():
        found.append(queue.get_nowait().mid)
    return found


def test_messages_leave_in_order() -> None:
    queue = MessageQueue(table_of, print)
    for number in range(20):
        queue.put_nowait(message(f"t{number % 3}", number, 10))
    assert [each.mid for each in queue.batch_from(queue.get_nowait())] == list(range(20))
    assert (queue.bytes_waiting, queue.has_dropped) == (0, False)


def test_the_largest_sender_loses_its_oldest_messages_which_is_reported_once() -> None:
    said: list[str] = []
    queue = MessageQueue(table_of, said.append, most_bytes=10 * 1100)
    queue.put_nowait(message("quiet", 100, 10))
    for number in range(50):
        queue.put_nowait(message("loud", number, 10))
    left = numbers(queue)
    assert left == [100, *range(50 - (len(left) - 1), 50)]
    assert queue.has_dropped
    assert len(said) == 1
    assert "the oldest are left out, and their tables will be asked again" in said[0]


def test_a_batch_stays_below_its_limit() -> None:
    queue = MessageQueue(table_of, print)
    for number in range(2000):
        queue.put_nowait(message("t", number, 10))
    for number in range(5):
        queue.put_nowait(message("t", 2000 + number, 3 * 1024 * 1024))
    sizes = []
    while not queue.empty():
        sizes.append(len(queue.batch_from(queue.get_nowait())))
    assert sizes == [1000, 1000, 3, 2]


@given(
    st.lists(st.none() | st.tuples(st.sampled_from("abc"), st.integers(0, 3000)), max_size=60), st.integers(1000, 20000)
)
@example([("a", 0), ("b", 2), ("a", 2)], 2076)
def test_the_limit_holds_for_any_messages(steps: list[tuple[str, int] | None], most_bytes: int) -> None:
    queue, waiting = MessageQueue(table_of, lambda _: None, most_bytes), list[aiomqtt.Message]()
    for number, step in enumerate(steps):
        if step is None:
            if waiting:
                assert queue.get_nowait() is waiting.pop(0)
        else:
            waiting.append(message(step[0], number, step[1]))
            queue.put_nowait(waiting[-1])
            while sum(map(size_of, waiting)) > most_bytes:
                taken = Counter[str]()
                for each in waiting:
                    taken[table_of(str(each.topic))] += size_of(each)
                most = taken.most_common(1)[0][0]
                waiting.remove(next(each for each in waiting if table_of(str(each.topic)) == most))
        assert queue.bytes_waiting == sum(map(size_of, waiting)) <= most_bytes
    assert numbers(queue) == [each.mid for each in waiting]


def test_a_message_over_the_limit_is_dropped_and_wakes_nobody() -> None:
    async def wait() -> int:
        queue = MessageQueue(table_of, print, most_bytes=5000)
        taking = asyncio.create_task(queue.get())
        await asyncio.sleep(0)
        queue.put_nowait(message("t", 1, 6000))
        await asyncio.sleep(0)
        assert not taking.done()
        queue.put_nowait(message("t", 2, 60))
        return (await taking).mid

    assert asyncio.run(wait()) == 2


@pytest.mark.parametrize("topic", ["club/t1/events", "club/t1/evidence/5/a.jpg", "club/answers/one/t1"])
def test_a_hall_knows_the_table_of_a_message(topic: str, tmp_path: Path) -> None:
    assert hall_on(str(tmp_path / "hall.db")).seat_of(topic) == "t1"
