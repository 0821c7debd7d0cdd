"""What the firmware makes of bouncing contacts: recorded ones and random ones.

Run: python benchmarks/debounce.py [--seed 1] [--operations 2000] [--pause-ms 27] [--quick]

A finger closes and opens a button, a piece a switch, thousands of times; the firmware's own debouncers scan that at
irregular moments, with pauses of 27 ms for lights. A tap lasts at least 60 ms, a piece stays 150 ms.
With the settings as delivered (20 ms), ordinary contacts must give no event twice and miss none. The worn button,
whose contact comes off for up to 87 ms while it is pressed, shows what a longer time is for. Exit code 1 when a line
is not met.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

from dataclasses import dataclass
from random import Random
from statistics import median

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.parts.bouncing_contacts import (
    LIGHTS_MS,
    ROCKER,
    TRACES,
    WORN,
    ContactOutcome,
    operations,
    play_button,
    play_switch,
    random_chatter,
    recorded_chatter,
)
from benchmarks.parts.command_line import console_for
from firmware_bridge.firmware.core.device import DEFAULT_DEBOUNCE_MS

_PLAIN_WIDTH = 130
_QUICK_OPERATIONS = 60
_RANDOM_CHATTERS = 500
_PIECE_STAYS_MS = 150.0


@dataclass(frozen=True)
class Row:
    """One line of the table: a kind of contact, the time it is debounced, and whether it must be faultless."""

    contact: str
    settle_ms: int
    is_line: bool
    rest_ms: float = 60.0


ROWS = (
    Row("random chatter", 5, False),
    Row("random chatter", DEFAULT_DEBOUNCE_MS, True),
    Row(ROCKER, 5, False),
    Row(ROCKER, DEFAULT_DEBOUNCE_MS, True),
    Row(WORN, DEFAULT_DEBOUNCE_MS, False, 300.0),
    Row(WORN, 50, False, 300.0),
    Row(WORN, 100, True, 300.0),
)


def measure(row: Row, seed: int, count: int, pause_ms: float = LIGHTS_MS) -> dict[str, ContactOutcome]:
    """Play a row's contact as a button and as a switch."""
    rng = Random(f"{seed} {row.contact}")
    if row.contact == "random chatter":
        closing = opening = [random_chatter(rng) for _ in range(_RANDOM_CHATTERS)]
    else:
        traces = [trace for trace in TRACES if trace.switch == row.contact]
        closing = [recorded_chatter(trace) for trace in traces if trace.closes]
        opening = [recorded_chatter(trace) for trace in traces if not trace.closes]
    taps = operations(rng, closing, opening, count, row.rest_ms)
    stays = operations(rng, closing, opening, count, max(row.rest_ms, _PIECE_STAYS_MS))
    return {
        "button": play_button(taps, Random(seed), row.settle_ms, pause_ms),
        "switch": play_switch(stays, Random(seed), row.settle_ms, pause_ms),
    }


@click.command(help=__doc__)
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0), help="Draws of chatter and scans.")
@click.option("--operations", "count", default=2000, show_default=True, type=click.IntRange(1), help="Of each contact.")
@click.option(
    "--pause-ms",
    default=LIGHTS_MS,
    show_default=True,
    type=click.FloatRange(0, 1000),
    help="Without looks, for lights.",
)
@click.option("--quick", is_flag=True, help="Few operations: shows that it runs.")
def main(seed: int, count: int, pause_ms: float, quick: bool) -> None:
    """Measure and report."""
    console = console_for(_PLAIN_WIDTH)
    table = Table(title=f"debounced by the firmware, seed {seed}")
    for heading in ("contact", "as", "debounce", "operations", "twice", "missed", "latency ms", "in scans", "line"):
        table.add_column(heading, justify="left" if heading in ("contact", "as", "line") else "right")
    met = True
    for row in track(ROWS, "debouncing", console=Console(stderr=True), disable=not sys.stderr.isatty()):
        for used_as, outcome in measure(row, seed, _QUICK_OPERATIONS if quick else count, pause_ms).items():
            faultless = outcome.doubled == outcome.missed == 0
            met &= faultless or not row.is_line
            table.add_row(row.contact, used_as, f"{row.settle_ms} ms", *cells(outcome), verdict(row, faultless))
    console.print(table)
    console.print("latency: from the first touch to the event, median and longest")
    sys.exit(0 if met else 1)


def cells(outcome: ContactOutcome) -> list[str]:
    """The figures of a row."""
    latencies = [
        f"{median(values):.0f} / {max(values):.0f}" if values else "-"
        for values in (outcome.latencies_ms, outcome.latencies_scans)
    ]
    return [str(outcome.operations), str(outcome.doubled), str(outcome.missed), *latencies]


def verdict(row: Row, faultless: bool) -> str:
    """Whether the row's line is met."""
    if not row.is_line:
        return "-"
    return "met" if faultless else "NOT MET"


if __name__ == "__main__":
    main()
