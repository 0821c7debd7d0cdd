"""A hall of many tables at a real broker: nothing lost or duplicated, and the load.

Run: python benchmarks/hall/simulated.py [--tables 200] [--rate 1] [--minutes 5] [--kill] [--store FILE|URL]

Simulated tables publish games to Mosquitto, a turn every 20 s at ``--rate 1``. The hall runs in its own process. With
``--kill``, the hall, the broker or a tenth of the tables is killed every 20 s, as drawn from ``--seed``, and a table is
given an order. At the end the hall's copy is compared with each table's journal. Exit code 1 when an event or a result
is missing, duplicated or different, or an order was not carried out exactly once.
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
@click.option("--rate", default=1.0, show_default=True, help="Speed, as a multiple of people's.")
@click.option("--minutes", default=5.0, show_default=True)
@click.option("--kill", is_flag=True, help="Kill the hall, the broker and tables.")
@click.option("--seed", default=1, show_default=True)
@click.option("--store", help="The hall's database.  [default: a new file]")
def hall(tables: int, rate: float, minutes: float, kill: bool, seed: int, store: str | None) -> None:
    """Simulate an evening and print the measurements."""
    with tempfile.TemporaryDirectory(prefix="hall-") as folder:
        plan = Plan(tables, rate, minutes, kill, seed, store or f"{folder}/hall.db")
        measured = asyncio.run(Evening(plan, Path(folder)).run())
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
