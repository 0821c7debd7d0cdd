"""Fits how much the outputs for cells and their sides count in finding loops, on rendered sheets.

Run: python benchmarks/training/loops.py --sheets 3000

Prints the fitted fields of ``vision.readers.ink.loops.LoopSettings``: those with the greatest likelihood of the true
cells on every other sheet (a search that changes one field at a time). Also prints, on the other sheets, how well cells
and whole sheets are read with the fitted values and with the shipped ones.
"""

import math
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import click
import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.progress import track

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.scene.written_sheets import written_sheet
from benchmarks.training.samples import SampleArrays
from vision.frame import FloatArray
from vision.readers.ink.network import CELL_PX, SIGNS, ink_on, shipped
from vision.readers.ink.reader import LoopSettings, decode_loops, lines_between

SEED = 77
WEIGHTS = ("cell", "enclosed", "line")
SHARES = ("stray", "touching")
FIRST_STEP, LAST_STEP = 0.5, 0.02
"""Steps of the search: of weights as they are, of shares in log-odds."""
NEUTRAL = LoopSettings(cell=1.0, enclosed=0.0, line=1.0, stray=0.1, touching=0.1)
"""Where the search starts."""
LEAST_SHARE = 0.002
"""Minimum share, and of its complement: few sheets may show none."""
CERTAIN = 3.0
"""Log-odds above which a cell is counted as certain."""


@dataclass(frozen=True, eq=False)
class Sheets(SampleArrays):
    """The network's log-odds of cells (n, rows, columns) and of lines (n, rows, columns, 4), and the true cells."""

    cells: FloatArray
    lines: FloatArray
    enclosed: npt.NDArray[np.bool_]


def made_sheets(count: int) -> Sheets:
    """That many sheets, written by one person or many and read by the shipped network."""
    network = shipped()
    cells, lines, enclosed = [], [], []
    for number in track(range(count), description="Drawing sheets", console=Console(stderr=True)):
        sheet = written_sheet(np.random.default_rng([SEED, number]), SIGNS, CELL_PX)
        places = np.array(list(np.ndindex(sheet.loops.shape)))
        scores = network.read(ink_on(sheet.flat), places).reshape(*sheet.loops.shape, -1)
        cells.append(scores[..., len(SIGNS)])
        lines.append(scores[..., len(SIGNS) + 1 :])
        enclosed.append(sheet.loops > 0)
    return Sheets(np.stack(cells), lines_between(np.stack(lines)), np.stack(enclosed))


def loss_of(settings: LoopSettings, sheets: Sheets) -> float:
    """The mean negative log-probability of the true cells."""
    odds, _ = decode_loops(sheets.cells, sheets.lines, settings)
    return float(np.logaddexp(0, np.where(sheets.enclosed, -odds, odds)).mean())


def changed(settings: LoopSettings, name: str, step: float) -> LoopSettings:
    """The settings with one field moved by a step."""
    fields = asdict(settings)
    value = fields[name]
    if name in SHARES:
        moved = 1 / (1 + math.exp(-(math.log(value / (1 - value)) + step)))
        fields[name] = min(max(moved, LEAST_SHARE), 1 - LEAST_SHARE)
    else:
        fields[name] = value + step
    return LoopSettings(**fields)


def fitted(settings: LoopSettings, sheets: Sheets) -> LoopSettings:
    """The settings with the smallest loss, found from these by steps that are halved when none helps."""
    best, step = loss_of(settings, sheets), FIRST_STEP
    while step > LAST_STEP:
        before = best
        for name in (*WEIGHTS, *SHARES):
            for direction in (step, -step):
                tried = changed(settings, name, direction)
                loss = loss_of(tried, sheets)
                if loss < best:
                    settings, best = tried, loss
        if best == before:
            step /= 2
    return settings


def print_quality(name: str, settings: LoopSettings, sheets: Sheets) -> None:
    """Print how well cells and whole sheets are read."""
    odds, _ = decode_loops(sheets.cells, sheets.lines, settings)
    wrong = (odds > 0) != sheets.enclosed
    certain = wrong & (np.abs(odds) > CERTAIN)
    print(
        f"{name}: {1 - wrong.mean():.2%} of cells, {1 - wrong.any(axis=(1, 2)).mean():.1%} of {len(wrong)} sheets "
        f"whole, certain and wrong on {certain.any(axis=(1, 2)).mean():.1%}; loss {loss_of(settings, sheets):.4f}"
    )


@click.command()
@click.option("--sheets", type=click.IntRange(min=10), default=3000, show_default=True, help="How many sheets to draw.")
def main(sheets: int) -> None:
    """Fit the settings and print them."""
    made = made_sheets(sheets)
    fitted_on, tested_on = made.part(slice(0, None, 2)), made.part(slice(1, None, 2))
    found = fitted(NEUTRAL, fitted_on)
    print({name: float(f"{getattr(found, name):.2g}") for name in (*WEIGHTS, *SHARES)})
    print_quality("fitted", found, tested_on)
    print_quality("shipped", LoopSettings(), tested_on)


if __name__ == "__main__":
    main()
