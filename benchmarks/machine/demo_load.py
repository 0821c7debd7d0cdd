"""How much of a core the whole demo takes while it plays in real time.

Run: python benchmarks/machine/demo_load.py [--turns N] [--seed S]

Runs the demo's command and measures the processor time of its process. Exit code 1 when that exceeds a fifth of the
elapsed time, start-up included.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.parts.environment import ROOT, enter_environment

enter_environment(__name__)

import os
import resource
import subprocess
import tempfile
import time

import click

from app.demo.table import FRAMES_PER_SECOND
from benchmarks.parts.command_line import PROGRESS

MOST_SHARE = 0.2


def children_cpu_s() -> float:
    """The processor time of finished child processes, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@click.command()
@click.option("--turns", default=12, show_default=True, type=click.IntRange(min=1), help="Turns to play.")
@click.option("--seed", default=7, show_default=True, type=click.IntRange(min=0), help="Seed of the game.")
def main(turns: int, seed: int) -> None:
    """Play the demo in real time and say how much of a core it took."""
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / "demo.sqlite"
        command = [sys.executable, "-m", "app", "demo", "--lights", "none", "--journal", str(journal)]
        command += ["--turns", str(turns), "--seed", str(seed)]
        with PROGRESS.status(f"Playing {turns} turns in real time"):
            begin_s, cpu_before_s = time.monotonic(), children_cpu_s()
            played = subprocess.run(
                command, cwd=ROOT, env=dict(os.environ), capture_output=True, text=True, check=False
            )
            took_s, spent_s = time.monotonic() - begin_s, children_cpu_s() - cpu_before_s
    if played.returncode != 0:
        raise click.ClickException(f"the demo ended with {played.returncode}: {played.stdout}{played.stderr}")
    share = spent_s / took_s
    click.echo(f"{turns} turns at {FRAMES_PER_SECOND:g} frames a second: {took_s:.1f} s, of which one core was busy")
    click.echo(f"for {spent_s:.1f} s: {share:.1%} of it")
    if share > MOST_SHARE:
        click.echo(f"NOT MET: the demo takes {share:.1%} of a core (at most {MOST_SHARE:.0%})")
        sys.exit(1)


if __name__ == "__main__":
    main()
