"""Fuzz every parser of external input.

Run: python benchmarks/fuzz.py --inputs 10000 [--parser journal] [--seed 1]

Each input is a valid one with bytes, words, numbers or nesting changed; one that is rejected at a new line of code is
changed further. A parser must accept an input, or reject it with one of its documented errors, within a second of
processor time; peak memory may grow by 768 MiB. Failing inputs are saved in ``fuzz-faults`` for ``--replay``. Exit code
1 when any failed.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import hashlib
import resource
import time
from functools import partial

import click
from rich.progress import Progress, TaskID

from benchmarks.parts.command_line import PROGRESS, console_for, counting_bar, figures
from benchmarks.parts.fuzz import files, halls, requests, typed, wires
from benchmarks.parts.fuzz.run import Fuzzed, Parser, fuzz, parse_once

PARSERS: dict[str, Parser] = {
    parser.name: parser for room in (wires, requests, halls, files, typed) for parser in room.PARSERS
}
_FAULTS = Path("fuzz-faults")
"""The folder of failing inputs."""
_ADDRESS_SPACE_BYTES = 6 * 1024**3
"""A larger allocation fails at once, so that other programs keep their memory."""


@click.command()
@click.option("--parser", "names", multiple=True, type=click.Choice(sorted(PARSERS)), help="Only this one; repeatable.")
@click.option("--inputs", default=10_000, show_default=True, type=click.IntRange(min=1), help="Inputs for each parser.")
@click.option("--seed", default=1, show_default=True, help="The same seed gives the same inputs.")
@click.option("--replay", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="Only this one input.")
def main(names: tuple[str, ...], inputs: int, seed: int, replay: Path | None) -> None:
    """Fuzz the parsers; exit code 1 when an input crashes one, hangs or takes too much memory."""
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE_BYTES, _ADDRESS_SPACE_BYTES))
    console = console_for(120)
    table = figures("Fuzzed parsers", "parser", "inputs", "accepted", "outcomes", "MiB more", "a second", "failed")
    chosen = [PARSERS[name] for name in names or PARSERS]
    met = True
    with counting_bar(PROGRESS) as progress:
        for parser in chosen:
            began_s = time.process_time()
            if replay is None:
                bar = progress.add_task(parser.name, total=inputs)
                done = fuzz(parser, inputs, seed, partial(_count, progress, bar))
                progress.remove_task(bar)
            else:
                done = parse_once(parser, replay.read_bytes())
            speed = done.inputs / max(time.process_time() - began_s, 1e-9)
            cells = (
                done.inputs,
                done.accepted,
                len(done.outcomes),
                done.grown_bytes >> 20,
                round(speed),
                len(done.faults),
            )
            table.add_row(parser.name, *(f"{cell:,}" for cell in cells))
            PROGRESS.print(f"{parser.name}: {', '.join(map(str, cells))}")
            _print_findings(done)
            met = met and done.met
    console.print(table)
    sys.exit(0 if met else 1)


def _count(progress: Progress, bar: TaskID, count: int) -> None:
    progress.update(bar, completed=count)


def _print_findings(done: Fuzzed) -> None:
    """Print the failing inputs and save them."""
    for fault in done.faults:
        _FAULTS.mkdir(exist_ok=True)
        path = _FAULTS / f"{done.parser.replace(' ', '-')}-{hashlib.sha256(fault.data).hexdigest()[:8]}"
        path.write_bytes(fault.data)
        PROGRESS.print(f"  {fault.error}\n  at {fault.location}\n  kept in {path}", soft_wrap=True)


if __name__ == "__main__":
    main()
