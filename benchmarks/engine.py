"""How fast each game's rules are: what a person waits for.

Run: python benchmarks/engine.py [--seed 1] [--repetitions 5] [--game deblockle] [--quick]

In positions of quick hints' games: the list of legal turns and the judge's verdict on an illegal table, within two
frames, and gentle and fair hints. Turns that fit a picture, and the judge's verdict on it, in each game's worst
position: within two frames. All times are processor times. Exit code 1 when a target is missed.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import gc
import os
import platform
from random import Random

import click

from benchmarks.parts.command_line import console_for, counting_bar
from benchmarks.parts.turns_showing import findings, print_findings
from benchmarks.parts.waits import print_waits, waits_in
from engine.registry import games as known_games

_PLAIN_WIDTH = 130


@click.command(help=__doc__)
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0), help="Seed of turns, dice and positions.")
@click.option("--repetitions", default=5, show_default=True, type=click.IntRange(1), help="Runs of each measurement.")
@click.option("--game", "only", multiple=True, type=click.Choice(known_games()), help="Only this game; repeatable.")
@click.option("--quick", is_flag=True, help="Short measurements, only to check that it runs.")
def main(seed: int, repetitions: int, only: tuple[str, ...], quick: bool) -> None:
    """Measure and report."""
    positions = 4 if quick else 10
    repetitions = 3 if quick else repetitions
    console = console_for(_PLAIN_WIDTH)
    console.print(
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; seed {seed}, one thread"
    )
    names = only or known_games()
    # Keep the garbage collector from scanning long-lived objects during a measurement.
    gc.collect()
    gc.freeze()
    with counting_bar(console) as progress:
        task = progress.add_task("", total=len(names))
        waits = []
        for name in names:
            progress.update(task, description=f"waiting for {name}", advance=1)
            waits.append(waits_in(name, positions, seed))
        met = print_waits(waits, console)
        progress.update(task, description="turns that fit a picture")
        met &= print_findings(findings(repetitions, Random(seed), only), console)
    console.print("Every target is met." if met else "A target is NOT met.")
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
