"""What viewers of the page cost the referee: two play the same game side by side, and one of them is looked at.

Run: python benchmarks/page.py [--viewers N] [--seconds S] [--seed N] | --screen [--seconds S] | --paint TIMES
     | --kills N [--seed N]

Each referee is a process of its own, in real time, with eyes that never err and a page; the viewers of the second are a
third process, on this machine. Told are frames a second, the time that the session's thread computed, memory, and how
long a snapshot took to its viewers. Exits with 1 when the viewers cost more than 5 % of frames or of computing.

``--screen`` measures instead how long after a frame a browser shows what it changed, ``--paint`` how soon a phone shows
the page, and what it weighs. ``--kills`` kills server, tab and connections of a running game at random moments, and
exits with 1 when a screen then disagrees with the journal.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import asyncio
import itertools
import multiprocessing
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from operator import attrgetter
from typing import Any
from urllib.parse import SplitResult, urlsplit

import click
from rich.console import Console

from benchmarks.parts.page.browser import chromium, print_first_paint
from benchmarks.parts.page.kills import GAME, run_kills
from benchmarks.parts.soak.game import FRAMES_PER_SECOND, plan_of
from benchmarks.parts.soak.inputs import PerfectReader
from engine.api import Game
from engine.registry import load
from referee.commands.queue import CommandQueue
from referee.journal import Journal
from referee.judge.verdict import Verdict
from referee.rendering.report import Pace
from referee.runtime.builder import compose_reader, open_session
from referee.session.feed import Snapshot
from referee.session.loop import LoopPorts, run
from referee.session.settings import ServiceSettings, TurnEnd
from referee.session.table_port import SnapshotHub, TablePort
from referee.web.ports import PageOptions
from referee.web.server import open_page
from simulator.faults.answers import FaultyOptions
from simulator.faults.table import FaultyTable
from simulator.play.ground_truth import TruthLog
from simulator.play.players import Habits
from vision.frame import Frame

MOST_COST = 0.05
MOST_LATE_MS = 100.0
_TURNS = 400
_POLL_S = 0.05
_KB_PER_MB = 1024


@dataclass
class Measured:
    """One referee while it was measured.

    ``computed_s`` is how long the session's thread computed for each frame and ``took_s`` how long that took;
    ``published_s`` when each version of the snapshot was handed to the page, by the system's monotonic clock;
    ``frame_s`` when the frame was handed over that led to each event, by the wall clock.
    """

    computed_s: list[float] = field(default_factory=list)
    took_s: list[float] = field(default_factory=list)
    published_s: dict[int, float] = field(default_factory=dict)
    frame_s: dict[int, float] = field(default_factory=dict)
    lasted_s: float = 0.0
    memory_mb: float = 0.0
    began_with_mb: float = 0.0

    @property
    def frames_per_second(self) -> float:
        """How many frames were judged a second."""
        return len(self.computed_s) / self.lasted_s


@dataclass(frozen=True)
class Signals:
    """When the referees are to begin to measure, and when to stop."""

    begin: Event
    stop: Event


@dataclass
class _Timed:
    """The virtual camera; the watch starts when a frame is handed over, so that playing the game isn't counted."""

    table: FaultyTable
    began: tuple[float, float] = (0.0, 0.0)

    def read(self, timeout_s: float) -> Frame:
        """Give the next frame."""
        frame = self.table.read(timeout_s)
        self.began = time.thread_time(), time.monotonic()
        return frame


@dataclass
class _Measuring:
    """Takes what is measured of one referee, over all the games it plays."""

    signals: Signals
    measured: Measured = field(default_factory=Measured)
    begun_s: float = 0.0

    def judged(self, began: tuple[float, float]) -> None:
        """Count a frame, handed over at that time of the thread and of the system."""
        if self.begun_s:
            self.measured.computed_s.append(time.thread_time() - began[0])
            self.measured.took_s.append(time.monotonic() - began[1])
        elif self.signals.begin.is_set():
            self.begun_s = time.monotonic()
            self.measured.began_with_mb = _memory_mb()

    def publish(self, hub: SnapshotHub, snapshot: Snapshot, frame_s: float) -> None:
        """Hand a snapshot to the page, and keep when; ``frame_s`` is when the newest frame was handed over."""
        now_s = time.monotonic()
        self.measured.frame_s.setdefault(snapshot.event_number, time.time() - (now_s - frame_s))
        hub(snapshot)
        if hub.newest is not None:
            self.measured.published_s[hub.newest.version] = now_s

    def end(self) -> Measured:
        """Give what was measured until now."""
        self.measured.lasted_s = time.monotonic() - self.begun_s
        self.measured.memory_mb = _memory_mb()
        return self.measured


def referee(link: Connection, signals: Signals, seed: int, folder: str) -> None:
    """Referee one game after another in real time: send the page's address, then at the end what was measured."""
    game, commands, hub = load(GAME), CommandQueue(time.monotonic), SnapshotHub()
    path, measuring = Path(folder) / "journal.sqlite", _Measuring(signals)
    with (
        Journal.open(path, wall_clock=lambda: datetime.now(UTC)) as journal,
        open_page(TablePort(game, hub, commands, path), PageOptions(), print) as page,
    ):
        link.send(page.address)
        for game_seed in itertools.count(seed):
            if signals.stop.is_set():
                break
            _play(game, game_seed, journal, hub, commands, measuring)
        link.send(measuring.end())


def _play(
    game: Game[Any, Any], seed: int, journal: Journal, hub: SnapshotHub, commands: CommandQueue, measuring: _Measuring
) -> None:
    """Referee one game, to its end or until it is to stop."""
    plan = plan_of(seed, _TURNS, (1280, 720), perfect_reader=True)
    options = FaultyOptions(game.name, plan.options, plan.turns, Habits(), "button", ())
    table = FaultyTable(seed, options, setting=plan.setting, fps=FRAMES_PER_SECOND, truth=TruthLog(), pictures=False)
    camera, pace = _Timed(table), Pace(time.sleep, time.monotonic)

    def on_verdicts(frame: Frame | None, verdicts: list[Verdict]) -> None:
        del verdicts
        if frame is not None:
            measuring.judged(camera.began)
            pace.keep(frame.time_s)

    def publish(snapshot: Snapshot) -> None:
        table.show_mood(snapshot.signal.mood.value, snapshot.signal.words)
        measuring.publish(hub, snapshot, camera.began[1])

    def wait(seconds: float) -> None:
        # While its camera is unplugged, the table's time goes on only as it is told to.
        table.wait(seconds)
        time.sleep(seconds)

    reader = compose_reader(game, PerfectReader(table, game.looks), None, every_frame=True)
    settings = ServiceSettings(options=plan.options, turn_end=TurnEnd.BUTTON)
    presses = partial(map, attrgetter("button"))
    ports = LoopPorts(wait, commands, lambda: presses(table.take_presses()), on_verdicts, measuring.signals.stop.is_set)
    with open_session(game, reader, journal, settings, subscribers=(publish,), resume=False) as service:
        run(service, camera, ports)


def _memory_mb() -> float:
    """How much memory this process has held at most until now."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _KB_PER_MB


def viewers(link: Connection, address: str, count: int) -> None:
    """Look at a page with so many screens until it closes: send that all look, then each (version, when) they got."""
    link.send(asyncio.run(_watched(link, urlsplit(address), count)))


async def _watched(link: Connection, address: SplitResult, count: int) -> list[tuple[int, float]]:
    connections = [await asyncio.open_connection(address.hostname, address.port) for _ in range(count)]
    got: list[tuple[int, float]] = []
    for _, writer in connections:
        writer.write(f"GET /api/events HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n".encode())
    looking = [asyncio.create_task(_look(reader, got)) for reader, _ in connections]
    while len(got) < count:
        await asyncio.sleep(_POLL_S)
    link.send(len(got))
    await asyncio.gather(*looking)
    for _, writer in connections:
        writer.close()
    return got


async def _look(reader: asyncio.StreamReader, got: list[tuple[int, float]]) -> None:
    """Note when each version has come whole."""
    version = 0
    try:
        while line := await reader.readline():
            if line.startswith(b"id: "):
                version = int(line[4:])
            elif line.startswith(b"data: ") and version:
                got.append((version, time.monotonic()))
                # What comes without an id only says that the referee is still there.
                version = 0
    except ConnectionError:
        return


@click.command()
@click.option("--viewers", "count", default=100, show_default=True, type=click.IntRange(1, 250), help="How many look.")
@click.option("--seconds", default=60.0, show_default=True, type=click.FloatRange(5), help="How long is measured.")
@click.option("--seed", default=7, show_default=True, type=click.IntRange(min=0), help="Which game is played.")
@click.option("--screen", is_flag=True, help="How long after a frame a browser shows what it changed.")
@click.option("--paint", type=click.IntRange(1), help="How often each game's page is opened, to see how soon it shows.")
@click.option("--kills", type=click.IntRange(1), help="How many times something is killed.")
def main(count: int, seconds: float, seed: int, screen: bool, paint: int | None, kills: int | None) -> None:
    """Say what viewers of the page cost the referee."""
    if screen:
        sys.exit(0 if _measure_screen(seconds, seed) else 1)
    if paint is not None:
        print_first_paint(paint)
        return
    if kills is not None:
        sys.exit(0 if run_kills(kills, seed) else 1)
    processes = multiprocessing.get_context("spawn")
    signals = Signals(processes.Event(), processes.Event())
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        links, started = [], []
        for folder in (one, other):
            link, theirs = processes.Pipe()
            started.append(processes.Process(target=referee, args=(theirs, signals, seed, folder)))
            links.append(link)
            started[-1].start()
        addresses = [link.recv() for link in links]
        link, theirs = processes.Pipe()
        started.append(processes.Process(target=viewers, args=(theirs, addresses[1], count)))
        started[-1].start()
        link.recv()
        signals.begin.set()
        with Console(stderr=True).status(f"{count} viewers look for {seconds:g} s"):
            time.sleep(seconds)
        signals.stop.set()
        alone, watched = (link.recv() for link in links)
        got = link.recv()
        for process in started:
            process.join()
    if not _print_costs(alone, watched, got, count):
        sys.exit(1)


_KEEP_WHEN_SHOWN = """() => {
    window.shownMs = {};
    const page = document.documentElement;
    const keep = () => { shownMs[page.dataset.live] ??= performance.timeOrigin + performance.now(); };
    // A task that follows the next frame of the screen.
    const changed = new MutationObserver(() => requestAnimationFrame(() => setTimeout(keep)));
    changed.observe(page, {attributeFilter: ["data-live"]});
}"""


def _measure_screen(seconds: float, seed: int) -> bool:
    """Look at a game in a browser and print how late it shows events; tells whether the median is within the limit."""
    processes = multiprocessing.get_context("spawn")
    signals = Signals(processes.Event(), processes.Event())
    link, theirs = processes.Pipe()
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        process = processes.Process(target=referee, args=(theirs, signals, seed, folder))
        process.start()
        page = browser.new_page()
        page.goto(link.recv())
        page.evaluate(_KEEP_WHEN_SHOWN)
        signals.begin.set()
        with Console(stderr=True).status(f"A browser looks for {seconds:g} s"):
            time.sleep(seconds)
        shown_ms = {int(number): at_ms for number, at_ms in page.evaluate("shownMs").items()}
        signals.stop.set()
        measured: Measured = link.recv()
        process.join()
    late_ms = sorted(at_ms - 1000 * measured.frame_s[number] for number, at_ms in shown_ms.items())
    if not late_ms:
        click.echo("Nothing happened in that time.")
        return False
    middle: float = statistics.median(late_ms)
    click.echo(f"from frame to screen: median {middle:.0f} ms, at most {late_ms[-1]:.0f} ms, of {len(late_ms)} events")
    if middle >= MOST_LATE_MS:
        click.echo(f"NOT MET: the median is not under {MOST_LATE_MS:.0f} ms")
    return middle < MOST_LATE_MS


def _print_costs(alone: Measured, watched: Measured, got: list[tuple[int, float]], count: int) -> bool:
    """Print the figures; tells whether the viewers cost no more than they may."""
    rows: tuple[tuple[str, Callable[[Measured], float], str], ...] = (
        ("frames judged a second", attrgetter("frames_per_second"), ".2f"),
        ("computed a frame, mean, ms", lambda one: 1000 * statistics.fmean(one.computed_s), ".3f"),
        ("computed a frame, median, ms", lambda one: 1000 * statistics.median(one.computed_s), ".3f"),
        ("taken by a frame, median, ms", lambda one: 1000 * statistics.median(one.took_s), ".3f"),
        ("taken by a frame, 99 %, ms", lambda one: 1000 * statistics.quantiles(one.took_s, n=100)[98], ".1f"),
        ("memory at most, before, MB", attrgetter("began_with_mb"), ".0f"),
        ("memory at most, after, MB", attrgetter("memory_mb"), ".0f"),
    )
    click.echo(f"{'':32}{'no viewers':>12}{f'{count} viewers':>14}{'':>4}")
    for name, value, form in rows:
        one, other = value(alone), value(watched)
        click.echo(f"{name:32}{one:>12{form}}{other:>14{form}}{(other / one - 1):>+9.1%}")
    # The first that each viewer gets is of before it looked.
    later = [(version, came_s) for version, came_s in got[count:] if version in watched.published_s]
    late_ms = sorted(1000 * (came_s - watched.published_s[version]) for version, came_s in later)
    if late_ms:
        middle, most = statistics.median(late_ms), late_ms[-1]
        snapshots = len({version for version, _ in later})
        click.echo(f"from snapshot to viewer: median {middle:.1f} ms, at most {most:.1f} ms, of {snapshots} snapshots")
    slower = 1 - watched.frames_per_second / alone.frames_per_second
    dearer = statistics.fmean(watched.computed_s) / statistics.fmean(alone.computed_s) - 1
    if max(slower, dearer) > MOST_COST:
        click.echo(f"NOT MET: the viewers cost more than {MOST_COST:.0%}")
        return False
    return True


if __name__ == "__main__":
    main()
