"""A hall at a real broker: tables, broker and hall restart in any order without lost or duplicate events."""

import asyncio
import json
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchmarks.hall.brokers import Mosquitto
from benchmarks.hall.feeds import Feed, script
from frontends.page.access import Role
from frontends.page.devices import PairedDevices, devices_path
from hall.broker import Address, BrokerConnection
from hall.hall import Hall
from hall.rulings import Status
from tests.guard import GUARD_S
from tests.hall.halls import OPENED, close_opened, hall_on, kept, table

pytestmark = pytest.mark.skipif(shutil.which("mosquitto") is None, reason="mosquitto is not installed")


@pytest.fixture(autouse=True)
def close_databases() -> Iterator[None]:
    """Close what a test has opened."""
    yield
    close_opened()


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Mosquitto]:
    with Mosquitto(tmp_path) as running:
        yield running


class Evening:
    """Tables that play, and a hall, in one event loop."""

    def __init__(self, broker: Mosquitto, folder: Path, feeds: list[Feed]) -> None:
        self.broker = broker
        self.where = str(folder / "hall.db")
        self.feeds = feeds
        self.over = asyncio.Event()
        self.said: list[str] = []
        self.playing = [asyncio.create_task(self._play(feed)) for feed in feeds]

    async def _play(self, feed: Feed) -> None:
        await feed.run("127.0.0.1", self.broker.port, 0.2, time.monotonic, self.over)

    def open_hall(self) -> tuple[Hall, BrokerConnection, asyncio.Task[None]]:
        hall = hall_on(self.where, said=self.said)
        hall._clock = time.monotonic
        line = BrokerConnection(hall, Address("127.0.0.1", self.broker.port), "hall", self.said.append)
        return hall, line, asyncio.create_task(line.run())

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(GUARD_S):
            while not holds():
                await asyncio.sleep(0.05)

    async def end(self, *tasks: asyncio.Task[None]) -> None:
        self.over.set()
        await stopped(*tasks)
        async with asyncio.timeout(GUARD_S):
            await asyncio.gather(*self.playing, return_exceptions=True)


async def stopped(*tasks: asyncio.Task[None]) -> None:
    """Cancel tasks, each once, and wait until they have ended."""
    for task in tasks:
        task.cancel()
    if tasks:
        assert (await asyncio.wait(tasks, timeout=GUARD_S))[1] == set(), "cancelled, and went on"


def test_tables_broker_and_hall_may_stop_in_any_order(broker: Mosquitto, tmp_path: Path) -> None:
    for seed in range(6):
        script(seed)
    feeds = [table(f"table-{number}") for number in range(5)]

    async def evening() -> None:
        club = Evening(broker, tmp_path, feeds)
        hall, line, running = club.open_hall()
        await club.until(lambda: all(hall.copies.held(feed.table, feed.journal) > 5 for feed in feeds))
        # The hall is away for a while, then the broker, then both, then a table.
        await stopped(running)
        before = len(feeds[0].events)
        await club.until(lambda: len(feeds[0].events) > before + 3)
        hall, line, running = club.open_hall()
        await club.until(lambda: line.is_connected)
        broker.kill()
        await club.until(lambda: not line.is_connected)
        assert {seat.is_online for seat in hall.floor.seats()} == {None}
        broker.start()
        await club.until(lambda: line.is_connected)
        broker.kill()
        await stopped(running)
        hall, line, running = club.open_hall()
        broker.start()
        await club.until(lambda: line.is_connected)
        # A table that leaves before the broker knows it leaves no message.
        await club.until(lambda: all(seat.is_online for seat in hall.floor.seats()))
        await stopped(club.playing[0])
        await club.until(lambda: any(seat.is_online is False for seat in hall.floor.seats()))
        club.playing[0] = asyncio.create_task(club._play(feeds[0]))
        ruling = hall.rule("table-1", {"command": "take back"}, "Ann")
        line.send_now()
        await club.until(lambda: hall.rulings.newest("table-1", 1)[0].status is Status.DONE)
        assert sum(event.request_id == ruling.request_id for event in feeds[1].events) == 1
        await stopped(*club.playing)
        # Nothing more happens at the tables; they only answer requests.
        for feed in feeds:
            feed.is_idle = True
        club.playing = [asyncio.create_task(club._play(feed)) for feed in feeds]
        await club.until(lambda: all(hall.copies.held(feed.table, feed.journal) == len(feed.events) for feed in feeds))
        await club.end(running)
        assert [kept(hall, feed) for feed in feeds] == [feed.events for feed in feeds]
        assert len(hall.copies.results(1000)) == sum(feed.ended_games for feed in feeds)

    asyncio.run(evening())


def pair(address: str, code: str) -> None:
    """Pair a device that asks for all that the code allows."""
    body = json.dumps({"code": code, "name": "Ben"}).encode()
    asked = urllib.request.Request(f"{address}api/pair", body, {"Content-Type": "application/json"})
    urllib.request.urlopen(asked, timeout=GUARD_S).close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_opens_a_hall_and_ends_on_a_signal(
    number: signal.Signals, broker: Mosquitto, tmp_path: Path
) -> None:
    name = f"Club {uuid.uuid4().hex[:8]}"
    arguments = ["hall", "--broker", f"127.0.0.1:{broker.port}", "--store", str(tmp_path / "h.db")]
    arguments += ["--announce", name, "--announce-at", "127.0.0.1", "--page-address", "127.0.0.1"]
    program = [sys.executable, "-c", "from app.cli import main; main()", *arguments]
    root = Path(__file__).resolve().parents[3]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=root) as process:
        assert process.stdout is not None
        opened, *lines = [process.stdout.readline() for _ in range(3)]
        codes = tmp_path / "h.db.page-codes"
        assert str(codes) in opened
        assert stat.S_IMODE(codes.stat().st_mode) == 0o600
        for code in re.findall(r"Pair [^:]*: (\d{4} \d{4})\.", codes.read_text(encoding="utf-8")):
            pair(opened.split()[2], code)
        process.send_signal(number)
        rest = process.stdout.read()
    assert "Connected to the broker 127.0.0.1." in "".join(lines)
    assert f"Tables find this hall as '{name}'." in "".join(lines)
    paired = PairedDevices(devices_path(tmp_path / "h.db.page-key"), time.time).all()
    assert [device.role for device in paired] == [Role.LOOK, Role.OWN]
    assert "The hall has stopped" in rest
    assert process.returncode == 0
    assert not re.search(r"\d{4} \d{4}", "".join((opened, *lines, rest)))
    assert OPENED == []
