"""What pages and brokers get from a running referee: the newest snapshot, and replies to commands."""

from __future__ import annotations

import asyncio

import pytest

from engine.registry import load
from hardware.lights.signals import Mood, Signal
from referee.commands.values import Announce, CommandQueue, QueuedCommand, Reply
from referee.session.feed import TableSnapshot
from referee.session.table_port import SnapshotHub, TablePort, VersionedSnapshot
from tests.guard import GUARD_S

COMMAND = Announce("draw", "Ann")


@pytest.fixture
def port() -> TablePort:
    return TablePort(load("diaballik"), SnapshotHub(), CommandQueue(lambda: 0.0))


def snapshot(number: int) -> TableSnapshot:
    return TableSnapshot(1, number, Signal(Mood.WAITING), 0.0)


async def next_after(hub: SnapshotHub, version: int, *published: TableSnapshot) -> VersionedSnapshot | None:
    """What a viewer who knows this version gets, if these snapshots come while it waits, and then the end."""

    async def publish() -> None:
        for one in published:
            hub(one)
        if not published:
            hub.close()

    found, _ = await asyncio.wait_for(asyncio.gather(hub.after(version), publish()), GUARD_S)
    return found


def test_a_viewer_gets_the_newest_snapshot_that_it_does_not_know() -> None:
    hub = SnapshotHub(lambda: 5.0)
    before = hub.newest
    first, third = VersionedSnapshot(1, snapshot(7), 5.0), VersionedSnapshot(3, snapshot(9), 5.0)
    assert asyncio.run(next_after(hub, 0, snapshot(7))) == first
    assert asyncio.run(asyncio.wait_for(hub.after(0), GUARD_S)) == first
    assert asyncio.run(next_after(hub, 1, snapshot(8), snapshot(9))) == third
    assert (before, hub.newest) == (None, third)
    assert asyncio.run(next_after(hub, 3)) is None
    assert asyncio.run(asyncio.wait_for(hub.after(0), GUARD_S)) is None, "once it is closed"


async def asked(port: TablePort, *replies: Reply | None) -> list[Reply | None]:
    """What people who command the same get if each command is answered while they wait."""

    async def serve() -> None:
        for submitted, reply in zip(port.commands.take(), replies, strict=True):
            assert (submitted.command, submitted.request_id) == (COMMAND, "r7")
            submitted.respond(reply)

    *got, _ = await asyncio.wait_for(asyncio.gather(*(port.submit(COMMAND, "r7") for _ in replies), serve()), GUARD_S)
    return got


def test_a_command_waits_for_its_reply(port: TablePort) -> None:
    replies = [Reply("Done."), None, Reply("Not now.", refused=True)]
    assert asyncio.run(asked(port, *replies)) == replies


def test_a_reply_to_somebody_who_has_gone_is_dropped(port: TablePort) -> None:
    errors: list[object] = []

    async def give_up() -> QueuedCommand:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, error: errors.append(error))
        waiting = loop.create_task(port.submit(COMMAND))
        await asyncio.sleep(0)
        waiting.cancel()
        (submitted,) = port.commands.take()
        submitted.respond(Reply("Done."))
        with pytest.raises(asyncio.CancelledError):
            await waiting
        return submitted

    asyncio.run(give_up()).respond(Reply("The loop has ended."))
    assert errors == []
