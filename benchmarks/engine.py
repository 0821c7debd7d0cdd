"""How fast each game's rules are: what a person waits for, and turns counted.

Run: python benchmarks/engine.py [--seed 1] [--repetitions 5] [--game deblockle] [--quick]

In positions of quick hints' games: the list of legal turns and the judge's verdict on an illegal table, within two
frames, and gentle and fair hints. Diaballik: all results of the first turn, in at most a fortieth of the time of
python-chess's perft 3 in the same run and thread. Perft counts, and how their time grows. Turns that fit a picture, and
the judge's verdict on it, in each game's worst position: within two frames. All times are processor times. Exit code 1
when a target is missed, 2 when python-chess is missing.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import gc
import os
import platform
from functools import partial
from random import Random
from statistics import median
from types import ModuleType

import click
from rich.console import Console

from benchmarks.parts.command_line import console_for, counting_bar
from benchmarks.parts.engine_speed import (
    CHESS_PERFT,
    FIRST_RESULTS,
    DepthCount,
    chess_perft,
    counts_to_depth,
    diaballik_results,
    load_chess,
    middlegame_positions,
    print_counts,
    print_first_turn,
    time_of,
)
from benchmarks.parts.turns_showing import findings, print_findings
from benchmarks.parts.waits import print_waits, waits_in
from engine.registry import games as known_games
from engine.registry import load

MIDDLEGAMES = 12
_PLAIN_WIDTH = 130


@click.command(help=__doc__)
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0), help="Seed of turns, dice and positions.")
@click.option("--repetitions", default=5, show_default=True, type=click.IntRange(1), help="Runs of each measurement.")
@click.option("--game", "only", multiple=True, type=click.Choice(known_games()), help="Only this game; repeatable.")
@click.option("--quick", is_flag=True, help="Short measurements, only to check that it runs.")
def main(seed: int, repetitions: int, only: tuple[str, ...], quick: bool) -> None:
    """Measure and report."""
    chess = load_chess()
    if chess is None:
        click.echo(
            "python-chess is missing, which the engine is compared with. Install it (it is the dependency group "
            f"'benchmarks' of pyproject.toml):\n  {sys.executable} -m pip install 'chess>=1.11'",
            err=True,
        )
        sys.exit(2)
    positions, count_seconds = 10, 3.0
    if quick:
        repetitions, positions, count_seconds = 3, 4, 0.2
    console = console_for(_PLAIN_WIDTH)
    console.print(
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"python-chess {chess.__version__}; seed {seed}, one thread"
    )
    starts = {name: load(name).rules.new() for name in known_games() if not only or name in only}
    # Keep the garbage collector from scanning long-lived objects during a measurement.
    gc.collect()
    gc.freeze()
    met = True
    with counting_bar(console) as progress:
        task = progress.add_task("", total=2 * len(starts))
        waits = []
        for name in starts:
            progress.update(task, description=f"waiting for {name}")
            waits.append(waits_in(name, positions, seed))
            progress.advance(task)
        met &= print_waits(waits, console)
        if "diaballik" in starts:
            progress.update(task, description="Diaballik's turns")
            met &= _first_turn(chess, repetitions, seed, console)
        counts: dict[str, list[DepthCount]] = {}
        for name, start in starts.items():
            progress.update(task, description=f"counting {name}", advance=1)
            counts[name] = list(counts_to_depth(load(name), start, count_seconds))
        print_counts(counts, console)
        progress.update(task, description="turns that fit a picture")
        met &= print_findings(findings(repetitions, Random(seed), only), console)
    console.print("Every target is met." if met else "A target is NOT met.")
    sys.exit(0 if met else 1)


def _first_turn(chess: ModuleType, repetitions: int, seed: int, console: Console) -> bool:
    """Time Diaballik's first turn and python-chess's perft 3 alternately."""
    game = load("diaballik")
    start = game.rules.new()
    results = len(set(diaballik_results(start)))
    counted = chess_perft(chess)
    if (results, counted) != (FIRST_RESULTS, CHESS_PERFT):
        sys.exit(
            f"Diaballik's first turn has {results} results, python-chess counts {counted}; wrong counts are not timed"
        )
    first_turn_s, chess_s = [], []
    for _ in range(max(repetitions, 5)):
        chess_s.append(time_of(partial(chess_perft, chess)))
        first_turn_s.append(time_of(partial(diaballik_results, start)))
    middlegame_s = {
        len(diaballik_results(state)): median(time_of(partial(diaballik_results, state)) for _ in range(3))
        for state in middlegame_positions(game, MIDDLEGAMES, Random(seed))
    }
    return print_first_turn(first_turn_s, chess_s, middlegame_s, console)


if __name__ == "__main__":
    main()
