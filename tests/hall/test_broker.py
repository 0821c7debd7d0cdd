"""A hall's connection to a broker that is missing or is lost at a bad moment."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import aiomqtt
import pytest

from hall.broker import Address, BrokerConnection
from hall.hall import Incoming, Outgoing
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


def test_what_a_hall_needs_besides_a_table_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hall.command.find_spec", lambda name: None)
    refused = runner_in(tmp_path, monkeypatch)("tools", "hall", "--broker", "localhost")
    assert refused.exit_code == 1
    assert f"rustworkx, which is not installed; type: {sys.executable} -m pip install rustworkx" in refused.stderr
    assert list(tmp_path.iterdir()) == []
