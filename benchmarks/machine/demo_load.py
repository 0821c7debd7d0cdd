"""How much of one core the demo takes while it plays in real time, virtual camera, rules, lights and journal and all.

Run: python benchmarks/machine/demo_load.py [--turns N] [--seed S]

Plays the demo as its command does, in a process of its own, and asks the system how long that process kept a core
busy. Exits with 1 when that is more than a fifth of the time it took, starting up included.
"""

from __future__ import annotations

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
from rich.console import Console

from referee.demo.table import FRAMES_PER_SECOND

SHARE_LINE = 0.2


def busy_s() -> float:
    """How long finished child processes kept a core busy, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@click.command()
@click.option("--turns", default=12, show_default=True, type=click.IntRange(min=1), help="Turns to play.")
@click.option("--seed", default=7, show_default=True, type=click.IntRange(min=0), help="Which game is played.")
def main(turns: int, seed: int) -> None:
    """Play the demo in real time and say how much of a core it took."""
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / "demo.sqlite"
        command = [sys.executable, "-m", "referee", "demo", "--lights", "none", "--journal", str(journal)]
        command += ["--turns", str(turns), "--seed", str(seed)]
        with Console(stderr=True).status(f"Playing {turns} turns in real time"):
            begin_s, busy_before_s = time.monotonic(), busy_s()
            played = subprocess.run(
                command, cwd=ROOT, env=dict(os.environ), capture_output=True, text=True, check=False
            )
            took_s, spent_s = time.monotonic() - begin_s, busy_s() - busy_before_s
    if played.returncode != 0:
        raise click.ClickException(f"the demo ended with {played.returncode}: {played.stdout}{played.stderr}")
    share = spent_s / took_s
    click.echo(f"{turns} turns at {FRAMES_PER_SECOND:g} frames a second: {took_s:.1f} s, of which one core was busy")
    click.echo(f"for {spent_s:.1f} s: {share:.1%} of it")
    if share > SHARE_LINE:
        click.echo(f"NOT MET: the demo takes {share:.1%} of a core ({SHARE_LINE:.0%} is the line)")
        sys.exit(1)


if __name__ == "__main__":
    main()
