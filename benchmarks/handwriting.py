"""How much teaching a person's handwriting helps to read it, and how that affects other people's.

It also counts, before teaching, the signs that are misread although the best one leads the next one by more than a
number of log-odds, and the rightly read ones that lead by less, which the judge would ask about.

Run: python benchmarks/handwriting.py [--hands N] [--oddness O] [--seed S] [--held H]
or:  python benchmarks/handwriting.py --scans MNIST_DIR --scans optdigits-orig.tra [--sheets N]

With --scans, it instead counts how many digits of writers that were left out of training are read rightly, by the size
of their cells in the picture, how honest the probabilities are, and which are certain and wrong; and how often several
signs in a cell pass for one. Plain sheets have no loops or broken lines, and their camera is steady; hard ones are as
in training.

Each writer is drawn from a seed outside the training set. The oddness is how far the points of the writer's signs are
displaced, as a share of the sign's size. Some sheets are taught; others, and those of an untaught writer, are read with
and without what was learned. Sheets are drawn by ``benchmarks.scene.written_sheets``; blots are left out.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import click
import numpy as np
import numpy.typing as npt
from rich.progress import track

from benchmarks.parts.command_line import PROGRESS
from benchmarks.scene.written_sheets import NO_SCANS, Scans, scans_in, written_sheet
from simulator.scene.handwriting import Writer
from vision.frame import FloatImage
from vision.readers.ink.network import (
    BLOT,
    CELL_PX,
    EMPTY_SIGN,
    SIGNS,
    Handwriting,
    HandwritingSettings,
    InkNetwork,
    ink_on,
    shipped,
    taught_cells,
)

TAUGHT_SHEETS, READ_SHEETS = 5, 4
"""Sheets of 30 cells, about 60 % of them written: as many as one sheet of Number Drop has cells."""
_USUAL_WILDNESS = 0.8
_LEADS = (3.0, 3.6, 4.2, 5.0, 6.2, 7.0, 9.0)
WRITTEN = [number for number, sign in enumerate(SIGNS) if sign not in {EMPTY_SIGN, BLOT}]


@dataclass(frozen=True, eq=False)
class Written:
    """The ink of one rectified sheet, its written cells (n, 2) and the indices of their signs (n,)."""

    ink: FloatImage
    cells: npt.NDArray[np.int64]
    signs: npt.NDArray[np.int64]


def sheets(seed: list[int], oddness: float, count: int) -> Iterator[Written]:
    """``count`` sheets of one writer."""
    writer = Writer(np.random.default_rng(seed), _USUAL_WILDNESS, oddness)
    for number in range(count):
        sheet = written_sheet(np.random.default_rng([*seed, number]), SIGNS, CELL_PX, own=writer)
        cells = np.argwhere(np.isin(sheet.signs, WRITTEN))
        yield Written(ink_on(sheet.flat), cells, sheet.signs[tuple(cells.T)])


def taught_by(written: list[Written]) -> Handwriting:
    """Learn a handwriting from sheets."""
    signs = tuple(SIGNS[number] for one in written for number in one.signs)
    return Handwriting(signs, np.concatenate([taught_cells(one.ink, one.cells) for one in written]))


def right_in(network: InkNetwork, written: list[Written]) -> tuple[int, int, float]:
    """Cells read rightly, all cells, and the sum of the true signs' log-probabilities."""
    right, total, logs = 0, 0, 0.0
    for one in written:
        scores = network.read(one.ink, one.cells)[:, : len(SIGNS)]
        right += int((scores.argmax(axis=1) == one.signs).sum())
        logs += float(np.maximum(np.take_along_axis(scores, one.signs[:, None], axis=1), -10).sum())
        total += len(one.signs)
    return right, total, logs


def leads_in(network: InkNetwork, written: list[Written]) -> Iterator[tuple[float, bool]]:
    """For each cell: by how much, in log-odds, the best sign leads the next one, and whether it is right."""
    for one in written:
        scores = network.read(one.ink, one.cells)[:, : len(SIGNS)]
        second, best = np.sort(scores, axis=1)[:, -2:].T
        yield from zip((best - second).tolist(), (scores.argmax(axis=1) == one.signs).tolist(), strict=True)


_SIZES_PX = (12.0, 16.0), (16.0, 22.0), (22.0, 34.0)
"""Ranges of the width of cells in the picture."""
_CERTAIN = 0.99
_BINS = 15
"""Number of ranges of probability over which the calibration error is measured."""


def calibration_error(told: npt.NDArray[np.float64], right: npt.NDArray[np.bool_]) -> float:
    """The expected calibration error (Guo et al., 2017): how far the probabilities told are from the shares right."""
    bins = np.minimum((told * _BINS).astype(int), _BINS - 1)
    return sum(abs(float((told - right)[bins == number].sum())) for number in range(_BINS)) / len(told)


def print_scans(name: str, scans: Scans, count: int, seed: int) -> None:
    """Print a row for each range of sizes, from that many sheets with these digits, plain and hard ones."""
    digits, blot = [number for number, sign in enumerate(SIGNS) if sign.isdigit()], SIGNS.index(BLOT)
    for plain, sizes_px in itertools.product((True, False), _SIZES_PX):
        signs, shares = [], []
        for number in range(count):
            rng = np.random.default_rng([seed, number])
            sheet = written_sheet(rng, SIGNS, CELL_PX, scans, seen_px=sizes_px, plain=plain)
            cells = np.argwhere(np.isin(sheet.signs, [*digits, blot]))
            signs.append(sheet.signs[tuple(cells.T)])
            shares.append(np.exp(shipped().read(ink_on(sheet.flat), cells)[:, : len(SIGNS)]))
        true, read = np.concatenate(signs), np.concatenate(shares)
        best, told = read.argmax(axis=1), read.max(axis=1)
        one, right, certain = true != blot, best == true, told >= _CERTAIN
        passed = ~one & np.isin(best, digits)
        shown = [
            f"{100 * right[one].mean():.1f} % of {one.sum():,}",
            f"{100 * calibration_error(told[one], right[one]):.1f} %",
            f"{(one & certain & ~right).sum()}",
            f"{passed.sum()}, {(passed & certain).sum()} of {(~one).sum():,}",
        ]
        kind = "plain" if plain else "hard"
        click.echo(f"| {name}, {kind}, {sizes_px[0]:g} to {sizes_px[1]:g} px | {' | '.join(shown)} |")


@click.command()
@click.option("--hands", default=10, show_default=True, type=click.IntRange(min=1))
@click.option("--oddness", default=0.1, show_default=True, help="0: writers like those of the training set.")
@click.option("--seed", default=20, show_default=True, type=click.IntRange(min=0))
@click.option("--held", "helds", multiple=True, type=float, help="Weight of the prior; repeatable.")
@click.option(
    "--scans",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    help="MNIST's folder or optdigits' file: read digits of writers left out of training; repeatable.",
)
@click.option("--sheets", "count", default=60, show_default=True, help="Sheets of each size, with --scans.")
def main(hands: int, oddness: float, seed: int, helds: tuple[float, ...], scans: tuple[Path, ...], count: int) -> None:
    """Measure how teaching a handwriting affects reading it, and others; or how well scanned digits are read."""
    if scans:
        click.echo(
            "| digits | right | calibration error | certain and wrong | other marks read as a digit, certainly |"
        )
        click.echo("|---|---|---|---|---|")
        for name, digits in [("drawn", NO_SCANS), *((path.name, scans_in(path, aside=True)) for path in scans)]:
            print_scans(name, digits, count, seed)
        return
    settings = [HandwritingSettings(held) for held in helds] or [HandwritingSettings()]
    names = ["untaught", *(f"taught, held {one.held:g}" for one in settings)]
    sums = {(name, whose): np.zeros(3) for name in names for whose in ("taught writer", "other writer")}
    leads: list[tuple[float, bool]] = []
    for number in track(range(hands), description="Hands", console=PROGRESS):
        written = list(sheets([seed, number], oddness, TAUGHT_SHEETS + READ_SHEETS))
        own = {
            "taught writer": written[TAUGHT_SHEETS:],
            "other writer": list(sheets([seed + 1, number], 0.0, READ_SHEETS)),
        }
        leads += leads_in(shipped(), [sheet for read in own.values() for sheet in read])
        taught = taught_by(written[:TAUGHT_SHEETS])
        networks = [shipped(), *(InkNetwork(taught=taught, settings=one) for one in settings)]
        for name, network in zip(names, networks, strict=True):
            for whose, read in own.items():
                sums[name, whose] += right_in(network, read)
    click.echo("| | taught writer, right | mean log-probability | other writers, right | mean log-probability |")
    click.echo("|---|---|---|---|---|")
    for name in names:
        shown = [sums[name, whose] for whose in ("taught writer", "other writer")]
        cells = [f"{100 * right / total:.1f} % of {total:.0f} | {logs / total:.3f}" for right, total, logs in shown]
        click.echo(f"| {name} | {' | '.join(cells)} |")
    click.echo(f"\n| lead, of {len(leads):,} signs | misread, led by more | read rightly, led by less |\n|---|---|---|")
    for least in _LEADS:
        misread = sum(lead > least and not right for lead, right in leads)
        asked = sum(lead <= least and right for lead, right in leads)
        click.echo(f"| {least:g} | {misread:,} | {asked:,} |")


if __name__ == "__main__":
    main()
