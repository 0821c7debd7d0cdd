"""An evening in a hall of many tables at a real broker: nothing lost or duplicated, and the load.

Run: python benchmarks/hall/evening.py [--tables 200] [--rate 1] [--minutes 5] [--kill] [--store FILE|URL]

Simulated tables publish games to Mosquitto, a turn every 20 s at ``--rate 1``. The hall runs in its own process. With
``--kill``, the hall, the broker or a tenth of the tables is killed every 20 s, as drawn from ``--seed``, and a table is
given an order. At the end the hall's copy is compared with each table's journal. Exit code 1 when an event or a result
is missing, duplicated or different, or an order was not carried out exactly once.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.parts.environment import ROOT, enter_environment

enter_environment(__name__)

import asyncio
import json
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import click

from benchmarks.hall.brokers import Mosquitto
from benchmarks.hall.feeds import Feed, script
from benchmarks.parts.command_line import console_for, figures
from hall.database import POSTGRESQL, Database

PREFIX = "referee"
_TURN_S = 20.0
_KILL_EVERY_S = 20.0
_SAMPLE_S = 1.0
_SETTLE_S = 180.0
_GAMES = 6


@dataclass(frozen=True)
class Plan:
    """How many tables play, how fast, for how long, and whether processes are killed."""

    tables: int
    rate: float
    minutes: float
    kill: bool
    seed: int
    store: str


@dataclass
class Measured:
    """The measurements; ``faults`` is empty if nothing was lost, duplicated or altered."""

    faults: list[str] = field(default_factory=list)
    events: int = 0
    games: int = 0
    orders: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    messages: int = 0
    message_bytes: int = 0
    seconds: float = 0.0
    settled_s: float = 0.0
    delays_s: list[float] = field(default_factory=list)
    hall_mib: float = 0.0
    broker_mib: float = 0.0
    hall_cpu_s: float = 0.0
    stored_bytes: int = 0

    def lines(self) -> Iterator[tuple[str, str]]:
        """Give each figure with its name."""
        yield "events, finished games, orders", f"{self.events}, {self.games}, {self.orders}"
        if self.kills:
            yield "killed", ", ".join(f"{target} {count}" for target, count in sorted(self.kills.items()))
        yield "messages a second", f"{self.messages / self.seconds:.0f}"
        yield "kB a second", f"{self.message_bytes / self.seconds / 1000:.0f}"
        if self.delays_s:
            ranked = sorted(self.delays_s)
            for name, share in (("median", 0.5), ("99th percentile", 0.99)):
                yield f"until the hall has an event, {name}", f"{1000 * ranked[int(share * (len(ranked) - 1))]:.0f} ms"
        yield "until the hall had all events, after the end", f"{self.settled_s:.1f} s"
        yield "the hall's processor", f"{100 * self.hall_cpu_s / self.seconds:.0f} %"
        yield "the hall's memory at most", f"{self.hall_mib:.0f} MiB"
        yield "the broker's memory at most", f"{self.broker_mib:.0f} MiB"
        yield "stored per event", f"{self.stored_bytes / max(1, self.events):.0f} bytes"


class Evening:
    """Runs a plan; the broker persists its messages in ``folder``."""

    def __init__(self, plan: Plan, folder: Path) -> None:
        self._plan = plan
        self._rng = Random(plan.seed)
        self._broker = Mosquitto(folder)
        self._feeds = [Feed(f"table-{number}", PREFIX, Random(number)) for number in range(1, plan.tables + 1)]
        self._hall: asyncio.subprocess.Process | None = None
        self._reports: asyncio.Task[None] | None = None
        self._over = asyncio.Event()
        self._orders_given = 0
        self._measured = Measured()

    async def run(self) -> Measured:
        """Play, wait until the hall has all events, and compare."""
        for seed in range(_GAMES):
            script(seed)
        measured, began_s = self._measured, time.monotonic()
        with self._broker:
            await self._open_hall()
            playing = {feed.table: asyncio.create_task(self._play(feed)) for feed in self._feeds}
            sampling = asyncio.create_task(self._sample())
            ends_s, kills_s = began_s + 60 * self._plan.minutes, began_s + _KILL_EVERY_S
            while (now_s := time.monotonic()) < ends_s:
                await asyncio.sleep(min(ends_s - now_s, _SAMPLE_S))
                if self._plan.kill and time.monotonic() >= kills_s:
                    kills_s += _KILL_EVERY_S
                    await self._kill(playing)
            measured.seconds = time.monotonic() - began_s
            measured.messages = sum(feed.sent for feed in self._feeds)
            measured.message_bytes = sum(feed.sent_bytes for feed in self._feeds)
            for feed in self._feeds:
                feed.is_idle = True
            await self._wait_for_hall()
            sampling.cancel()
            await self._close_hall()
            self._over.set()
            await asyncio.gather(*playing.values(), sampling, return_exceptions=True)
        self._compare()
        return measured

    async def _play(self, feed: Feed) -> None:
        turn_s = _TURN_S / self._plan.rate
        await feed.run("127.0.0.1", self._broker.port, turn_s, time.monotonic, self._over)

    async def _open_hall(self) -> None:
        program = [sys.executable, "-m", "benchmarks.hall.process", str(self._broker.port), self._plan.store, PREFIX]
        self._hall = await asyncio.create_subprocess_exec(
            *program, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, cwd=ROOT
        )
        self._reports = asyncio.create_task(self._listen(self._hall))

    async def _listen(self, hall: asyncio.subprocess.Process) -> None:
        """Read the hall's reports of stored events: a table and an event's number on each line."""
        assert hall.stdout is not None
        feeds = {feed.table: feed for feed in self._feeds}
        while line := await hall.stdout.readline():
            now_s, (table, number) = time.monotonic(), line.split()
            recorded_s = feeds[table.decode()].appended_s.pop(int(number), None)
            if recorded_s is not None:
                self._measured.delays_s.append(now_s - recorded_s)

    async def _close_hall(self) -> None:
        assert self._hall is not None
        if self._hall.returncode is None:
            self._hall.kill()
        await self._hall.wait()
        if self._reports is not None:
            await self._reports

    async def _kill(self, playing: dict[str, asyncio.Task[None]]) -> None:
        """Kill and restart some processes, then give a table an order; pending events don't count as delays."""
        target = self._rng.choice(["hall", "broker", "tables", "hall and broker"])
        self._measured.kills[target] += 1
        for feed in self._feeds:
            feed.appended_s.clear()
        if "tables" in target:
            for feed in self._rng.sample(self._feeds, max(1, len(self._feeds) // 10)):
                playing[feed.table].cancel()
                await asyncio.gather(playing[feed.table], return_exceptions=True)
                playing[feed.table] = asyncio.create_task(self._play(feed))
        if "broker" in target:
            self._broker.kill()
        if "hall" in target:
            await self._close_hall()
        await asyncio.sleep(self._rng.uniform(0.5, 4.0))
        if "hall" in target:
            await self._open_hall()
        if "broker" in target:
            await asyncio.to_thread(self._broker.start)
        feed = self._rng.choice(self._feeds)
        assert self._hall is not None
        assert self._hall.stdin is not None
        self._hall.stdin.write(f"{feed.table}\n".encode())
        self._orders_given += 1

    async def _sample(self) -> None:
        measured, before, used = self._measured, 0, 0.0
        while True:
            await asyncio.sleep(_SAMPLE_S)
            hall = self._hall
            if hall is not None and hall.returncode is None:
                measured.hall_mib = max(measured.hall_mib, _peak_mib(hall.pid))
                seconds = _cpu_s(hall.pid)
                # A restarted hall counts from zero.
                measured.hall_cpu_s += seconds - used if hall.pid == before else seconds
                before, used = hall.pid, seconds
            if self._broker.is_running:
                measured.broker_mib = max(measured.broker_mib, _peak_mib(self._broker.process_id))

    async def _wait_for_hall(self) -> None:
        """Wait until the hall has all recorded events and has no open order, or until a timeout."""
        began_s = time.monotonic()
        while time.monotonic() - began_s < _SETTLE_S:
            held = await asyncio.to_thread(_held, self._plan.store)
            statuses = [status for _, status in _rulings(self._plan.store)]
            is_done = len(statuses) == self._orders_given and "waiting" not in statuses
            if is_done and all(held.get(feed.table, 0) == len(feed.events) for feed in self._feeds):
                break
            await asyncio.sleep(0.5)
        self._measured.settled_s = time.monotonic() - began_s

    def _compare(self) -> None:
        """Note events, results and orders that are missing, duplicated or different."""
        measured, database = self._measured, Database(self._plan.store)
        with database.transaction() as work:
            rows = work.rows("SELECT seat, number, content FROM event ORDER BY seat, number")
            results = work.rows("SELECT seat, game_number, winners FROM result")
        copies: dict[str, list[str]] = {}
        for seat, number, content in rows:
            copies.setdefault(seat, []).append(content)
            if len(copies[seat]) != number:
                measured.faults.append(f"{seat}: event {number} stands at place {len(copies[seat])}")
        ended = Counter((seat, game, *sorted(json.loads(winners))) for seat, game, winners in results)
        for feed in self._feeds:
            recorded = [json.dumps(event.model_dump(mode="json")) for event in feed.events]
            if copies.get(feed.table, []) != recorded:
                measured.faults.append(f"{feed.table}: {len(copies.get(feed.table, []))} of {len(recorded)} events")
            games = Counter(
                (feed.table, event.game_number, *sorted(who for who in _winners(event.data) if who))
                for event in feed.events
                if event.event_type == "end"
            )
            if Counter({key: count for key, count in ended.items() if key[0] == feed.table}) != games:
                measured.faults.append(f"{feed.table}: {len(games)} games have ended, and the hall has other results")
        done = {key for feed in self._feeds for key in feed.answers}
        rulings = dict(_rulings(self._plan.store))
        measured.orders = len(rulings)
        unknown = sorted(done - rulings.keys())
        measured.faults += [f"order {key} was carried out, and the hall doesn't have it" for key in unknown]
        measured.faults += [
            f"order {key} is {status}" for key, status in rulings.items() if status != "done" or key not in done
        ]
        if measured.orders != self._orders_given:
            measured.faults.append(f"{self._orders_given} orders were given, and the hall has {measured.orders}")
        measured.events = sum(len(feed.events) for feed in self._feeds)
        measured.games = sum(ended.values())
        measured.stored_bytes = _stored_bytes(database, self._plan.store)
        database.close()


def _winners(end: Mapping[str, Any]) -> Sequence[str | None]:
    return end.get("shared_by") or [end.get("winner")]


def _stored_bytes(database: Database, store: str) -> int:
    """Give the size of PostgreSQL's tables and indexes, or of SQLite's files."""
    if store.startswith(POSTGRESQL):
        with database.transaction() as work:
            ((taken,),) = work.rows("SELECT sum(pg_total_relation_size(relid)) FROM pg_stat_user_tables")
        return int(taken)
    path = Path(store)
    return sum(each.stat().st_size for each in path.parent.glob(f"{path.name}*"))


def _held(store: str) -> dict[str, int]:
    return dict(_pairs(store, "SELECT seat, count(*) FROM event GROUP BY seat"))


def _rulings(store: str) -> list[tuple[str, str]]:
    return _pairs(store, "SELECT request_id, status FROM ruling")


def _pairs(store: str, query: str) -> list[tuple[Any, Any]]:
    database = Database(store)
    with database.transaction() as work:
        rows = work.rows(query)
    database.close()
    return [(one, other) for one, other in rows]


def _peak_mib(pid: int) -> float:
    """Give the peak memory of a process, 0 for one that has just ended."""
    return _of_process(pid, "status", lambda text: int(text.split("VmHWM:")[1].split()[0]) / 1024)


def _cpu_s(pid: int) -> float:
    ticks = os.sysconf("SC_CLK_TCK")
    return _of_process(pid, "stat", lambda text: sum(map(int, text.rpartition(")")[2].split()[11:13])) / ticks)


def _of_process(pid: int, name: str, read: Callable[[str], float]) -> float:
    try:
        return read(Path(f"/proc/{pid}/{name}").read_text(encoding="utf-8"))
    except (OSError, IndexError):
        return 0.0


@click.command(help=__doc__)
@click.option("--tables", default=200, show_default=True)
@click.option("--rate", default=1.0, show_default=True, help="Speed, as a multiple of people's.")
@click.option("--minutes", default=5.0, show_default=True)
@click.option("--kill", is_flag=True, help="Kill the hall, the broker and tables.")
@click.option("--seed", default=1, show_default=True)
@click.option("--store", help="The hall's database.  [default: a new file]")
def hall(tables: int, rate: float, minutes: float, kill: bool, seed: int, store: str | None) -> None:
    """Simulate an evening and print the measurements."""
    with tempfile.TemporaryDirectory(prefix="hall-") as folder:
        plan = Plan(tables, rate, minutes, kill, seed, store or f"{folder}/hall.db")
        measured = asyncio.run(Evening(plan, Path(folder)).run())
    _print(plan, measured)
    raise SystemExit(bool(measured.faults))


def _print(plan: Plan, measured: Measured) -> None:
    console = console_for(100)
    table = figures(f"{plan.tables} tables for {plan.minutes:g} minutes, {plan.rate:g} times as fast as people", "", "")
    for name, value in measured.lines():
        table.add_row(name, value)
    console.print(table)
    for fault in measured.faults[:20]:
        console.print(f"fault: {fault}")
    console.print(f"{len(measured.faults)} faults")


if __name__ == "__main__":
    hall()
