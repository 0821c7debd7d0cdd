"""A day of play in one process: all five games in turn, under faults, with a journal on disk and a watched page.

Run: python benchmarks/machine/day.py [--hours 24] [--seed 1] [--plot FILE]

Time is virtual, so a day takes about an hour. The reader is perfect. Memory, open files and threads are counted after
each game. Exit code 1 when memory grows, files or threads leak, or a turn was lost or judged wrongly.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import gc
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection, HTTPException
from itertools import count
from statistics import median
from typing import Any
from urllib.parse import urlsplit

import click
from rich.progress import Progress, TaskID

from benchmarks.frame import resident_mb
from benchmarks.parts.command_line import PROGRESS
from benchmarks.parts.soak.game import plan_of, play
from benchmarks.parts.soak.score import score
from engine.api import Game
from engine.registry import games
from frontends.page.server import open_page
from frontends.page.settings import PageOptions
from frontends.table_port import SnapshotHub, TablePort
from referee.commands.values import CommandQueue
from referee.session.feed import Subscriber

TURNS = 60
"""Most turns of a game; most games end before."""
WARM_UP_GAMES = 15
"""Three of each game, so that all cached tables exist."""
MOST_GROWTH_MB = 8.0
"""Most growth of the median memory from the first half of the day, after the warm-up, to the second."""
MOST_MORE_BLOCKS = 0.05
"""Most relative growth of the median number of allocated blocks; memory also includes freed blocks."""


@dataclass(frozen=True)
class AfterGame:
    """What the process held after a game, at ``hours`` of virtual play.

    ``blocks`` is the number of memory blocks that Python has allocated.
    """

    hours: float
    memory_mb: float
    files: int
    threads: int
    blocks: int


def held(hours: float) -> AfterGame:
    """Count the resources of this process."""
    gc.collect()
    files = len(list(Path("/proc/self/fd").iterdir()))
    return AfterGame(hours, resident_mb(), files, threading.active_count(), sys.getallocatedblocks())


def _look(address: str) -> None:
    """Follow a page's events until it closes, as a browser does."""
    where = urlsplit(address)
    connection = HTTPConnection(where.netloc)
    try:
        connection.request("GET", "/api/events", headers={"Accept": "text/event-stream"})
        answer = connection.getresponse()
        while answer.readline():
            pass
    except (OSError, HTTPException):
        pass
    finally:
        connection.close()


@contextmanager
def watched_page(journal: Path, game: Game[Any, Any], commands: CommandQueue) -> Iterator[Sequence[Subscriber]]:
    """Open a game's page, with a viewer."""
    hub = SnapshotHub()
    with open_page(TablePort(game, hub, commands, journal), PageOptions(), partial(click.echo, err=True)) as page:
        viewer = threading.Thread(target=_look, args=(page.address,), name="viewer")
        viewer.start()
        yield (hub,)
    viewer.join()


def play_day(
    hours: float, seed: int, folder: Path, progress: Progress, task: TaskID, turns: int = TURNS
) -> tuple[list[AfterGame], list[str]]:
    """Play so many hours; give the resources after each game, and turns lost or judged wrongly."""
    journal, passed_s = folder / "games.sqlite", 0.0
    after, failed = [held(0.0)], []
    for number in count():
        game = games()[number % len(games())]
        plan = plan_of(seed + number, turns, (1280, 720), perfect_reader=True, game=game)
        played = play(plan, attend=partial(watched_page, journal), journal_file=journal)
        bad = [item for item in score(played).items if item.failed]
        failed += [f"{game} {item.seed} at {item.time_s:.1f} s: {item.what}: {item.detail}" for item in bad]
        passed_s += played.frames[-1][1]
        del played
        after.append(held(passed_s / 3600))
        progress.update(task, completed=min(hours, passed_s / 3600), description=f"Game {number + 1}, {game}")
        if passed_s >= 3600 * hours:
            return after, failed
    raise AssertionError("games never end")


def halves(after: Sequence[AfterGame]) -> tuple[Sequence[AfterGame], Sequence[AfterGame]]:
    """Split the day after the warm-up in two; each half has at least one game."""
    settled = after[min(WARM_UP_GAMES, len(after) - 1) :]
    middle = (len(settled) + 1) // 2
    return settled[:middle], settled[middle:] or settled


def not_flat(after: Sequence[AfterGame]) -> list[str]:
    """Say what grew from the first half of the day, after the warm-up, to the second."""
    first, last = halves(after)
    grew_mb = median(one.memory_mb for one in last) - median(one.memory_mb for one in first)
    more = median(one.blocks for one in last) / median(one.blocks for one in first) - 1
    said = [f"memory grew by {grew_mb:.1f} MB"] if grew_mb > MOST_GROWTH_MB else []
    said += [f"Python's objects hold {more:.1%} more"] if more > MOST_MORE_BLOCKS else []
    for name in ("files", "threads"):
        before, now = (max(getattr(one, name) for one in part) for part in (first, last))
        said += [f"{now} {name} are open instead of {before}"] if now > before else []
    return said


def draw(after: Sequence[AfterGame], path: Path) -> None:
    """Draw memory over the day."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3), layout="constrained")
    axes = figure.subplots()
    axes.plot([one.hours for one in after], [one.memory_mb for one in after], linewidth=1)
    axes.set(xlabel="hours of play", ylabel="memory in MB", ylim=(0, None))
    figure.savefig(path)


@click.command()
@click.option("--hours", default=24.0, show_default=True, type=click.FloatRange(0.1), help="Hours of play.")
@click.option("--seed", default=1, show_default=True, type=click.IntRange(min=0), help="Games are seed, seed + 1, ...")
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), help="Draw memory over the day here.")
def main(hours: float, seed: int, plot: Path | None) -> None:
    """Play for so many hours and report the resources."""
    with tempfile.TemporaryDirectory() as folder, Progress(console=PROGRESS) as progress:
        task = progress.add_task("Playing", total=hours)
        after, failed = play_day(hours, seed, Path(folder), progress, task)
        journal_mb = (Path(folder) / "games.sqlite").stat().st_size / 1e6
    if plot is not None:
        draw(after, plot)
    click.echo(f"{after[-1].hours:.1f} hours, {len(after) - 1} games; the journal holds {journal_mb:.1f} MB")
    for name, half in zip(("first", "second"), halves(after), strict=True):
        memory_mb, blocks = (median(getattr(one, held) for one in half) for held in ("memory_mb", "blocks"))
        most_mb, files, threads = (
            max(getattr(one, held) for one in half) for held in ("memory_mb", "files", "threads")
        )
        click.echo(
            f"{name} half after {WARM_UP_GAMES} games: memory {memory_mb:.0f} MB (median), {most_mb:.0f} MB at most; "
            f"{blocks:,.0f} blocks of objects; open files {files}, threads {threads}"
        )
    missed = [*failed, *not_flat(after)]
    for line in missed:
        click.echo(f"NOT MET: {line}")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
