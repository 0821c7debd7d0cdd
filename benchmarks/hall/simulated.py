"""A hall of many tables at a real broker: nothing lost, nothing doubled, and what it costs.

Run: python benchmarks/hall/simulated.py [--tables 200] [--rate 1] [--minutes 5] [--kill] [--store FILE|URL]

Simulated tables tell a Mosquitto real games, a turn every 20 s by ``--rate 1``. The hall is a process of its own. With
``--kill`` a hall, a broker or a tenth of the tables is killed every 20 s, in an order drawn from ``--seed``, and an
order to some table is given meanwhile. In the end the hall's copy is compared with every table's journal; exit code 1
when an event or a result is missing, there twice or another one, or an order was carried out twice or never.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import asyncio
import tempfile

import click

from benchmarks.hall.evening import Evening, Measured, Plan
from benchmarks.parts.command_line import console_for, figures


@click.command(help=__doc__)
@click.option("--tables", default=200, show_default=True)
@click.option("--rate", default=1.0, show_default=True, help="How many times as fast as people play.")
@click.option("--minutes", default=5.0, show_default=True)
@click.option("--kill", is_flag=True, help="Kill hall, broker and tables meanwhile.")
@click.option("--seed", default=1, show_default=True)
@click.option("--store", help="The hall's database.  [default: a new file]")
def hall(tables: int, rate: float, minutes: float, kill: bool, seed: int, store: str | None) -> None:
    """Play an evening, print what was measured and exit."""
    with tempfile.TemporaryDirectory(prefix="hall-") as folder:
        plan = Plan(tables, rate, minutes, kill, seed, store or f"{folder}/hall.db")
        measured = asyncio.run(Evening(plan, Path(folder)).played())
    _print(plan, measured)
    raise SystemExit(bool(measured.faults))


def _print(plan: Plan, measured: Measured) -> None:
    console = console_for(100)
    table = figures(f"{plan.tables} tables for {plan.minutes:g} minutes, {plan.rate:g} times as fast as people", "", "")
    for name, value in measured.lines():
        table.add_row(name, value)
    console.print(table)
    for fault in measured.faults[:20]:
        console.print(f"fault: {fault}")
    console.print(f"{len(measured.faults)} faults")


if __name__ == "__main__":
    hall()
