"""Shared by the benchmarks' commands: consoles, tables of figures, and process pools with progress bars."""

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import TypeVar

import click
import cv2
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

Plan = TypeVar("Plan")
Result = TypeVar("Result")

PROGRESS = Console(stderr=True)
"""For progress bars, apart from the output."""


def console_for(plain_width: int) -> Console:
    """A console as wide as the terminal, or ``plain_width`` wide if the output is redirected."""
    return Console(width=None if sys.stdout.isatty() else plain_width)


def figures(title: str, *columns: str) -> Table:
    """A table with text in the first column, and figures in the others."""
    table = Table(title=title, title_justify="left")
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 or not column else "right")
    return table


def counting_bar(console: Console, *, transient: bool = True) -> Progress:
    """A progress bar with counts, elapsed time and remaining time."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console, transient=transient)


def processes(jobs: int | None) -> ProcessPoolExecutor:
    """A pool of spawned processes, one a core for ``None``; forking would be unsafe beside a progress bar's threads.

    OpenCV uses one thread in each, so that they don't compete for cores.
    """
    return ProcessPoolExecutor(jobs, get_context("spawn"), cv2.setNumThreads, (1,))


def gathered(futures: Sequence[Future[Result]], name: str, progress: Progress) -> list[Result]:
    """Every result in order, with a progress bar called ``name``."""
    task = progress.add_task(name, total=len(futures))
    for _ in as_completed(futures):
        progress.advance(task)
    return [future.result() for future in futures]


def all_played(
    play: Callable[[Plan], Result],
    plans: Sequence[Plan],
    jobs: int | None,
    console: Console,
    describe: Callable[[Result], str],
) -> Iterator[Result]:
    """Give each game's result as it completes, with a progress bar; ``jobs`` of ``None``: one a core.

    ``describe`` gives the text beside the bar, once the caller has processed a result.
    """
    with processes(jobs) as pool, counting_bar(console, transient=False) as progress:
        task = progress.add_task("games", total=len(plans))
        for done in as_completed([pool.submit(play, plan) for plan in plans]):
            result = done.result()
            yield result
            progress.update(task, advance=1, description=f"games ({describe(result)})")


def picture_size(text: str) -> tuple[int, int]:
    """Read a size such as ``1280x720``; raises BadParameter for anything else."""
    width, cross, height = text.partition("x")
    if not (cross and width.isdecimal() and height.isdecimal()):
        raise click.BadParameter(f"{text!r} is not a size; expected something like 1280x720")
    return int(width), int(height)
