"""How often the referee asks by camera, by sensors and by both, and whether it ever accepts what was not played.

Run: python benchmarks/sensing.py [--games N] [--turns N] [--seed S] [--game NAME]... [--times X]

Random games before the judge, the same ones for all three, without pictures: see benchmarks/parts/sensed_games.py. At
each
turn a player says that it is over, and whenever it is not accepted, or asked about, a person says what was played.
``--times`` multiplies every rate of errors.

Exit code 1 when a turn is accepted that was not played, or when both together ask as often as either alone.
"""

from __future__ import annotations

import sys
import time
from dataclasses import fields
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

from benchmarks.parts.sensed_games import ErrorRates, Played, play
from engine.registry import load
from referee.wiring.plan import Inputs

_GAMES = ("deblockle", "diaballik")


def scaled(rates: ErrorRates, times: float) -> ErrorRates:
    """Give rates so many times as high; how often pieces are set down on their way stays."""
    return ErrorRates(
        **{one.name: getattr(rates, one.name) * (1.0 if one.name == "stops" else times) for one in fields(ErrorRates)}
    )


@click.command(help=__doc__)
@click.option("--games", default=40, show_default=True, type=click.IntRange(1), help="How many games of each kind.")
@click.option("--turns", default=12, show_default=True, type=click.IntRange(1), help="Turns in each game.")
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0), help="Games are seed, seed + 1, ...")
@click.option("--game", "names", multiple=True, type=click.Choice(_GAMES), help="Only this game; may be repeated.")
@click.option(
    "--times", default=1.0, show_default=True, type=click.FloatRange(0), help="Multiplies the rates of errors."
)
def main(games: int, turns: int, seed: int, names: tuple[str, ...], times: float) -> None:
    """Play, count, report."""
    console = Console()
    rates = scaled(ErrorRates(), times)
    shown = ", ".join(f"{one.name} {getattr(rates, one.name):.3g}" for one in fields(ErrorRates))
    console.print(f"rates: {shown}; {games} games of {turns} turns from seed {seed}")
    table = Table("game", "eyes", "turns", "accepted", "asked in 100 turns", "faults named", "wrong", "ms a turn")
    met = True
    with Progress(console=console, transient=True) as progress:
        for name in names or _GAMES:
            game = load(name)
            asked: dict[Inputs, float] = {}
            task = progress.add_task(name, total=games * len(Inputs))
            for inputs in Inputs:
                began_s = time.perf_counter()
                total = Played()
                for number in range(games):
                    total.add(play(name, game, inputs, seed + number, rates, turns))
                    progress.update(task, advance=1)
                asked[inputs] = 100 * total.counts["asked"] / total.turns
                taken_ms = 1000 * (time.perf_counter() - began_s) / total.turns
                table.add_row(
                    name,
                    inputs,
                    str(total.turns),
                    str(total.counts["accepted"]),
                    f"{asked[inputs]:.1f}",
                    str(total.counts["named a fault"]),
                    str(len(total.wrong)),
                    f"{taken_ms:.0f}",
                )
                for wrong in total.wrong:
                    progress.console.print(wrong, markup=False)
                met = met and not total.wrong
            met = met and asked[Inputs.BOTH] < min(asked[Inputs.CAMERA], asked[Inputs.SENSORS])
    console.print(table)
    console.print("met: none wrong, and both ask less than either alone" if met else "MISSED")
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
