"""What the benchmarks' commands share: their console, and games spread over processes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

Plan = TypeVar("Plan")
Result = TypeVar("Result")


def console_for(plain_width: int) -> Console:
    """A console as wide as the terminal, or that wide where the output goes elsewhere."""
    return Console(width=None if sys.stdout.isatty() else plain_width)


def all_played(
    play: Callable[[Plan], Result],
    plans: Sequence[Plan],
    jobs: int | None,
    console: Console,
    describe: Callable[[Result], str],
    begin_process: Callable[[], None] | None = None,
) -> Iterator[Result]:
    """Give each game's result as it comes, with a bar that says how far it is; ``jobs`` of ``None``: one a core.

    ``describe`` is asked, after a result was taken, what to write beside the bar.
    """
    columns = (TextColumn("games"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with (
        # Started afresh: a fork would copy the threads of the progress bar half-way.
        ProcessPoolExecutor(jobs, get_context("spawn"), begin_process) as pool,
        Progress(*columns, TextColumn("{task.description}"), console=console) as progress,
    ):
        task = progress.add_task("", total=len(plans))
        for done in as_completed([pool.submit(play, plan) for plan in plans]):
            result = done.result()
            yield result
            progress.update(task, advance=1, description=describe(result))
