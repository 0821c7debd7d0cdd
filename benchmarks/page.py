"""The load of the page's viewers: two referees run the same game side by side, one of them with viewers.

Run: python benchmarks/page.py [--viewers N] [--seconds S] [--seed N] | --screen [--seconds S] | --paint TIMES | --bytes
     | --kills N [--seed N] | --note TIMES

Each referee runs in its own process in real time, with a perfect reader and a page; the viewers are a third process.
Printed are frames a second, the processor time of the session's thread, memory, and the delay of snapshots. Exit code 1
when the viewers reduce the frame rate, or increase the processor time, by more than 5 %.

``--screen`` measures instead the delay from a frame to the browser's screen, ``--paint`` the time to first paint on a
phone and the page's size, ``--bytes`` what a phone loads at its first visit and at each change of page. ``--kills``
kills server, tab and connections of a running game at random moments; exit code 1 when a screen then disagrees with the
journal. ``--note`` measures how long a table's document takes in each language with a note of 400 characters in it;
exit code 1 when that is over 50 ms.
"""

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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from operator import attrgetter
from typing import Any
from urllib.parse import SplitResult, urlsplit

import click

from app.demo.table import Pace
from app.runtime.builder import compose_reader, open_session
from benchmarks.faults.answers import FaultyOptions
from benchmarks.faults.table import FaultyTable
from benchmarks.parts.command_line import PROGRESS
from benchmarks.parts.page.browser import chromium, print_bytes, print_first_paint
from benchmarks.parts.page.kills import GAME, run_kills
from benchmarks.parts.soak.game import FRAMES_PER_SECOND, plan_of
from benchmarks.parts.soak.inputs import PerfectReader
from common.phrases import Phrase
from engine.api import Game
from engine.registry import load
from frontends.languages import LANGUAGES
from frontends.page.fragments import PARTS
from frontends.page.server import open_page
from frontends.page.settings import PageOptions
from frontends.page.shown_table import shown_table
from frontends.table_port import SnapshotHub, TablePort, VersionedSnapshot
from hardware.lights.signals import Mood, Signal
from journal.journal import Journal
from referee.commands.values import CommandQueue
from referee.judge.verdict import Verdict
from referee.session.feed import TableSnapshot
from referee.session.loop import LoopPorts, run
from referee.session.ports import ServiceSettings, TurnEnd
from simulator.play.game import TruthLog
from simulator.play.players import Habits
from vision.frame import Frame

MOST_OVERHEAD = 0.05
MOST_LATE_MS = 100.0
MOST_NOTE_MS = 50.0
_TURNS = 400
_POLL_S = 0.05
_KB_PER_MB = 1024


@dataclass
class Measured:
    """The measurements of one referee.

    ``computed_s`` and ``took_s`` are the session thread's processor time and elapsed time for each frame.
    ``published_s`` gives by version when a snapshot was published, by the monotonic clock; ``frame_s`` gives by event
    number when the frame arrived that led to it, by the wall clock.
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
        """Frames judged a second."""
        return len(self.computed_s) / self.lasted_s


@dataclass(frozen=True)
class Signals:
    """Tell the referees to begin measuring, and to stop."""

    begin: Event
    stop: Event


@dataclass
class _TimedCamera:
    """The virtual camera; ``began`` is set after a frame is made, so that playing the game isn't counted."""

    table: FaultyTable
    began: tuple[float, float] = (0.0, 0.0)

    def read(self, timeout_s: float) -> Frame:
        """Give the next frame."""
        frame = self.table.read(timeout_s)
        self.began = time.thread_time(), time.monotonic()
        return frame


@dataclass
class _Meter:
    """Measures one referee, over all its games."""

    signals: Signals
    measured: Measured = field(default_factory=Measured)
    begun_s: float = 0.0

    def judged(self, began: tuple[float, float]) -> None:
        """Add a judged frame; ``began`` is its start in thread time and in monotonic time."""
        if self.begun_s:
            self.measured.computed_s.append(time.thread_time() - began[0])
            self.measured.took_s.append(time.monotonic() - began[1])
        elif self.signals.begin.is_set():
            self.begun_s = time.monotonic()
            self.measured.began_with_mb = _peak_memory_mb()

    def publish(self, hub: SnapshotHub, snapshot: TableSnapshot, frame_s: float) -> None:
        """Publish a snapshot and record the time; ``frame_s`` is the arrival of the newest frame."""
        now_s = time.monotonic()
        self.measured.frame_s.setdefault(snapshot.event_number, time.time() - (now_s - frame_s))
        hub(snapshot)
        if hub.newest is not None:
            self.measured.published_s[hub.newest.version] = now_s

    def end(self) -> Measured:
        """Give the measurements."""
        self.measured.lasted_s = time.monotonic() - self.begun_s
        self.measured.memory_mb = _peak_memory_mb()
        return self.measured


def referee(link: Connection, signals: Signals, seed: int, folder: str) -> None:
    """Referee games in real time: send the page's address, and at the end the measurements."""
    game, commands, hub = load(GAME), CommandQueue(time.monotonic), SnapshotHub()
    path, meter = Path(folder) / "journal.sqlite", _Meter(signals)
    with (
        Journal.open(path, wall_clock=lambda: datetime.now(UTC)) as journal,
        open_page(TablePort(game, hub, commands, path), PageOptions(), print) as page,
    ):
        link.send(page.address)
        for game_seed in itertools.count(seed):
            if signals.stop.is_set():
                break
            _play(game, game_seed, journal, hub, commands, meter)
        link.send(meter.end())


def _play(
    game: Game[Any, Any], seed: int, journal: Journal, hub: SnapshotHub, commands: CommandQueue, meter: _Meter
) -> None:
    """Referee one game, to its end or until the stop signal."""
    plan = plan_of(seed, _TURNS, (1280, 720), perfect_reader=True)
    options = FaultyOptions(game.name, plan.options, plan.turns, Habits(), "button", ())
    table = FaultyTable(seed, options, setting=plan.setting, fps=FRAMES_PER_SECOND, truth=TruthLog(), pictures=False)
    camera, pace = _TimedCamera(table), Pace()

    def on_verdicts(frame: Frame | None, verdicts: list[Verdict]) -> None:
        del verdicts
        if frame is not None:
            meter.judged(camera.began)
            pace.keep(frame.time_s)

    def publish(snapshot: TableSnapshot) -> None:
        table.show_mood(snapshot.signal.mood.value, snapshot.signal.words)
        meter.publish(hub, snapshot, camera.began[1])

    def wait(seconds: float) -> None:
        # While the virtual camera is unplugged, only this advances the table's clock.
        table.wait(seconds)
        time.sleep(seconds)

    reader = compose_reader(game, PerfectReader(table, game.looks), None)
    settings = ServiceSettings(options=plan.options, turn_end=TurnEnd.BUTTON)
    presses = partial(map, attrgetter("button"))
    ports = LoopPorts(wait, commands, lambda: presses(table.take_presses()), on_verdicts, meter.signals.stop.is_set)
    with open_session(game, reader, journal, settings, subscribers=(publish,), resume=False) as service:
        run(service, camera, ports)


def _peak_memory_mb() -> float:
    """Peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _KB_PER_MB


def viewers(link: Connection, address: str, count: int, tokens: Sequence[str] = ()) -> None:
    """Connect viewers to a page until it closes: send when all are connected, then each (version, time) received.

    ``tokens`` are those of paired devices, for a page that needs them.
    """
    link.send(asyncio.run(_watched(link, urlsplit(address), count, tokens)))


async def _watched(
    link: Connection, address: SplitResult, count: int, tokens: Sequence[str]
) -> list[tuple[int, float]]:
    connections = [await asyncio.open_connection(address.hostname, address.port) for _ in range(count)]
    got: list[tuple[int, float]] = []
    for number, (_, writer) in enumerate(connections):
        head = f"GET /api/events?parts={','.join(PARTS)} HTTP/1.1\r\nHost: {address.netloc}\r\n"
        paired = f"Authorization: Bearer {tokens[number % len(tokens)]}\r\n" if tokens else ""
        writer.write(f"{head}{paired}\r\n".encode())
    looking = [asyncio.create_task(_look(reader, got)) for reader, _ in connections]
    while len(got) < count:
        await asyncio.sleep(_POLL_S)
    link.send(len(got))
    await asyncio.gather(*looking)
    for _, writer in connections:
        writer.close()
    return got


async def _look(reader: asyncio.StreamReader, got: list[tuple[int, float]]) -> None:
    """Record when each version has arrived completely."""
    version = 0
    try:
        while line := await reader.readline():
            if line.startswith(b"id: "):
                version = int(line[4:])
            elif line.startswith(b"data: ") and version:
                got.append((version, time.monotonic()))
                # Data without an id only keeps the connection alive.
                version = 0
    except ConnectionError:
        return


@click.command()
@click.option(
    "--viewers", "count", default=100, show_default=True, type=click.IntRange(1, 250), help="Number of viewers."
)
@click.option("--seconds", default=60.0, show_default=True, type=click.FloatRange(5), help="Length of the measurement.")
@click.option("--seed", default=7, show_default=True, type=click.IntRange(min=0), help="Seed of the game.")
@click.option("--screen", is_flag=True, help="Measure the delay from a frame to a browser's screen.")
@click.option("--paint", type=click.IntRange(1), help="Measure the first paint, so many times a game.")
@click.option("--bytes", "loaded", is_flag=True, help="Measure what a phone loads for each page.")
@click.option("--kills", type=click.IntRange(1), help="Kill server, tab or connections so many times.")
@click.option("--note", type=click.IntRange(1), help="Measure a table's document with a long note, so many times.")
def main(
    count: int,
    seconds: float,
    seed: int,
    screen: bool,
    paint: int | None,
    loaded: bool,
    kills: int | None,
    note: int | None,
) -> None:
    """Measure the load of the page's viewers."""
    if note is not None:
        sys.exit(0 if _measure_note(note) else 1)
    if screen:
        sys.exit(0 if _measure_screen(seconds, seed) else 1)
    if paint is not None:
        print_first_paint(paint)
        return
    if loaded:
        print_bytes()
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
        with PROGRESS.status(f"{count} viewers look for {seconds:g} s"):
            time.sleep(seconds)
        signals.stop.set()
        alone, watched = (link.recv() for link in links)
        got = link.recv()
        for process in started:
            process.join()
    if not _print_costs(alone, watched, got, count):
        sys.exit(1)


def _measure_note(times: int) -> bool:
    """Print how long a table's document takes in each language; say whether the median is within the limit."""
    game = load(GAME)
    state = game.rules.new()
    medians_ms = []
    for language in LANGUAGES:
        took_ms = []
        for number in range(times):
            note = f"{number} the black one, and then: a draw or a roll; c3 is black, and d4 is white, or not. " * 5
            words = Phrase("The onlooker's answer was refused: {words}", note[:400])
            signal = Signal(Mood.WAITING, words=words)
            shown = TableSnapshot(1, 1, signal, 0.0, (state,), game.table.appearance(state), hint=words, trouble=words)
            before_s = time.perf_counter()
            shown_table(game, VersionedSnapshot(number, shown), language, hints_allowed=True)
            took_ms.append(1000 * (time.perf_counter() - before_s))
        medians_ms.append(statistics.median(took_ms))
        click.echo(f"{language}: median {medians_ms[-1]:.1f} ms, at most {max(took_ms):.1f} ms")
    return max(medians_ms) < MOST_NOTE_MS


_KEEP_WHEN_SHOWN = """() => {
    window.shownMs = {};
    const page = document.documentElement;
    const keep = () => { shownMs[page.dataset.live] ??= performance.timeOrigin + performance.now(); };
    // A task that follows the next frame of the screen.
    const changed = new MutationObserver(() => requestAnimationFrame(() => setTimeout(keep)));
    changed.observe(page, {attributeFilter: ["data-live"]});
}"""


def _measure_screen(seconds: float, seed: int) -> bool:
    """Print how late a browser shows a game's events; say whether the median is within the limit."""
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
        with PROGRESS.status(f"A browser looks for {seconds:g} s"):
            time.sleep(seconds)
        shown_ms = {int(number): at_ms for number, at_ms in page.evaluate("shownMs").items()}
        signals.stop.set()
        measured: Measured = link.recv()
        process.join()
    late_ms = sorted(at_ms - 1000 * measured.frame_s[number] for number, at_ms in shown_ms.items())
    if not late_ms:
        click.echo("Nothing happened in that time.")
        return False
    median_ms: float = statistics.median(late_ms)
    click.echo(f"frame to screen: median {median_ms:.0f} ms, at most {late_ms[-1]:.0f} ms, {len(late_ms)} events")
    if median_ms >= MOST_LATE_MS:
        click.echo(f"NOT MET: the median is not under {MOST_LATE_MS:.0f} ms")
    return median_ms < MOST_LATE_MS


def _print_costs(alone: Measured, watched: Measured, got: list[tuple[int, float]], count: int) -> bool:
    """Print the figures; say whether the load is within the limit."""
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
    # Each viewer's first snapshot was published before it connected.
    later = [(version, came_s) for version, came_s in got[count:] if version in watched.published_s]
    late_ms = sorted(1000 * (came_s - watched.published_s[version]) for version, came_s in later)
    if late_ms:
        median_ms, most = statistics.median(late_ms), late_ms[-1]
        snapshots = len({version for version, _ in later})
        click.echo(f"snapshot to viewer: median {median_ms:.1f} ms, at most {most:.1f} ms, {snapshots} snapshots")
    lost_frames = 1 - watched.frames_per_second / alone.frames_per_second
    added_cpu = statistics.fmean(watched.computed_s) / statistics.fmean(alone.computed_s) - 1
    if max(lost_frames, added_cpu) > MOST_OVERHEAD:
        click.echo(f"NOT MET: the viewers cost more than {MOST_OVERHEAD:.0%}")
        return False
    return True


if __name__ == "__main__":
    main()
