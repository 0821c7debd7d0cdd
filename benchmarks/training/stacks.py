"""Trains the small network that recognises a stack's size from its sides, and writes it with its SHA-256.

Run: uv run --group training python benchmarks/training/stacks.py --made 3000 --steps 40000

Add --start vision/readers/stacks/weights to continue from the shipped network, with --rate 5e-4; --blend 0.5 then
writes the mean of both, which is less often certain and wrong than either.

Pictures are rendered from seeds, half by ``benchmarks.scene.stack_variety``, half by the virtual table. Pictures of
real tables or of a benchmark are never trained on. Besides the true tips with small errors, the network is trained on
the spots that the shipped finder proposes (``benchmarks/training/stack_finder.py``).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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

from benchmarks.scene.drawn_stacks import drawn_stacks_pictures
from benchmarks.scene.stack_variety import StacksPicture, stacks_picture
from benchmarks.training.samples import SampleArrays
from benchmarks.training.support import (
    Batches,
    blend,
    block,
    fitted_temperature,
    for_steps,
    out_option,
    seed_option,
    start_option,
    take_convolutions,
    train,
    update_sums,
    write_network,
)
from vision.layout.pieces import GridSurface, PyramidPieces
from vision.layout.table import default_layout
from vision.readers.stacks.appearance import MOST_PIECES
from vision.readers.stacks.network import (
    EXTRAS,
    KINDS,
    NO_TIP,
    SHAPE,
    WEIGHTS,
    StackCrops,
    flatten_sides,
    kind_of,
    mirror_sides,
    network_input,
    shipped_finder,
    tip_heights_mm,
)
from vision.readers.stacks.reader import USUAL_PIECES

ASIDE = 0.05
"""Share of pictures held out for the temperature and the accuracy."""

VARIANTS = 1
"""Number of samples of each stack besides the finder's spots, each with an error like theirs."""

TIP_SPREAD_MM, TURN_SPREAD, WRONG_HEIGHT = 0.6, 0.08, 0.3
"""Those errors: standard deviations of the tip in mm and of its angle in radians, and the share of tips with a height
off by one piece.
"""

NO_TIPS = 0.15
"""Share of these samples around a spot without a tip, mostly along the stack's axis."""

AT_TIP_PX, OFF_TIP_PX = 4.0, 5.0
"""Distances from the tip, in crop pixels, up to which one of the finder's spots counts as the tip, and from which as no
tip.
"""
FALSE_SPOTS = 2
"""Number of first spots of each place that are trained on if they are no tip."""

DRAWN_EVERY = 4
"""Every fourth number is a table drawn by the virtual table's renderer, with several pictures."""

LOSS = nn.CrossEntropyLoss(label_smoothing=0.02)
BATCH = 64
RATE = 4e-3
"""Peak learning rate."""

CHANNELS, HIDDEN = 32, 96
"""Sizes of the last convolution, and of the hidden layer after it."""

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Samples(SampleArrays):
    """Sides of stacks (n, sides, rows, columns, 3), their views (n, 2), turns (n,) and kinds (n,)."""

    sides: npt.NDArray[np.uint8]
    views: npt.NDArray[np.float64]
    angles_rad: npt.NDArray[np.float64]
    kinds: npt.NDArray[np.int64]


def samples_of(picture: StacksPicture, board: GridSurface, rng: np.random.Generator) -> Samples:
    """Samples of the stacks with a visible top in a rendered picture."""
    crops = StackCrops(picture.camera, picture.pose, board)
    seen = {place: one for place, one in picture.stacks.items() if place not in picture.hidden}
    places = [place for place, one in seen.items() if one.pieces <= MOST_PIECES] * VARIANTS
    stacks = [seen[place] for place in places]
    pictures = crops.of(picture.image, places)
    pieces = PyramidPieces.on(board)
    steps = rng.integers(-1, 2, len(places)) * (rng.random(len(places)) < 1.5 * WRONG_HEIGHT)
    tips = np.empty((len(places), 3))
    angles_rad = np.empty(len(places))
    for number, (place, stack) in enumerate(zip(places, stacks, strict=True)):
        height = board.height_mm + pieces.tip_mm(stack.size, max(0, stack.pieces + int(steps[number])))
        tips[number] = crops.at_height(place, crops.pixels(place, stack.tip_mm[None])[0], height)
        angle = stack.angle_rad - crops.bearing(place) + rng.normal(0, TURN_SPREAD)
        angles_rad[number] = angle - round(angle / (math.pi / 2)) * math.pi / 2
    tips[:, :2] += rng.normal(0, TIP_SPREAD_MM, (len(places), 2))
    kinds = np.array([kind_of(stack.size, stack.pieces) for stack in stacks], dtype=np.int64)
    for number in np.flatnonzero(rng.random(len(places)) < NO_TIPS).tolist():
        place = places[number]
        aside, along = rng.normal(0, 2), rng.choice([-1, 1]) * rng.uniform(3, 16)
        if rng.random() < 0.3:
            angle, distance = rng.uniform(0, 2 * math.pi), rng.uniform(2.8, 12)
            aside, along = distance * math.cos(angle), distance * math.sin(angle)
        moved = crops.pixels(place, tips[number : number + 1])[0] + np.array([aside, along])
        tips[number] = crops.at_height(place, moved, tips[number, 2])
        kinds[number] = NO_TIP
    return Samples(flatten_sides(crops, pictures, places, tips, angles_rad), crops.views(places), angles_rad, kinds)


def proposals_of(picture: StacksPicture, board: GridSurface) -> Samples:
    """Samples of the spots that the shipped finder proposes at visible places."""
    crops, pieces = StackCrops(picture.camera, picture.pose, board), PyramidPieces.on(board)
    places = [place for place in board.places if place not in picture.hidden]
    pictures = crops.of(picture.image, places)
    found = shipped_finder().find(crops, pictures, places, tip_heights_mm(board))
    usual_mm = board.height_mm + pieces.tip_mm("M", USUAL_PIECES)
    tips_mm = crops.near_axes(places, found.tips_px, found.feet_mm, usual_mm)
    chosen, kinds = [], []
    for number, place in enumerate(places):
        true = picture.stacks.get(place)
        for spot, tip_px in enumerate(found.tips_px[number]):
            apart = math.inf if true is None else math.dist(tip_px, crops.pixels(place, true.tip_mm[None])[0])
            if true is not None and apart <= AT_TIP_PX and true.pieces <= MOST_PIECES:
                kinds.append(kind_of(true.size, true.pieces))
            elif apart >= OFF_TIP_PX and spot < FALSE_SPOTS:
                kinds.append(NO_TIP)
            else:
                continue
            chosen.append((number, spot))
    number, spot = np.array(chosen).T
    names, angles_rad = [places[one] for one in number.tolist()], found.angles_rad[number]
    sides = flatten_sides(crops, pictures[number], names, tips_mm[number, spot], angles_rad)
    return Samples(sides, crops.views(names), angles_rad, np.array(kinds, dtype=np.int64))


class StackNetwork(nn.Module):  # type: ignore[misc]
    """From ``network_input`` (n, values) to scores of kinds and "no tip" (n, KINDS + 1); sides share layers."""

    def __init__(self) -> None:
        super().__init__()
        _, channels, rows, columns = SHAPE
        self.sides = nn.Sequential(
            block(channels, 24, (5, 3), (2, 1)), block(24, 32, (5, 3), (2, 2)), block(32, CHANNELS, (3, 3), (2, 2))
        )
        self._flat = SHAPE[0] * CHANNELS * math.ceil(rows / 8) * math.ceil(columns / 4)
        # Two layers are summed, since OpenCV 4.10 can't import a concatenation before one layer.
        self.seen = nn.Sequential(nn.Dropout(0.1), nn.Linear(self._flat, HIDDEN))
        self.extras = nn.Linear(EXTRAS, HIDDEN)
        self.last = nn.Linear(HIDDEN, KINDS + 1)

    def forward(self, given: torch.Tensor) -> torch.Tensor:
        """Give the scores."""
        values = math.prod(SHAPE)
        seen = self.sides(given[:, :values].reshape(-1, *SHAPE[1:])).reshape(-1, self._flat)
        hidden = torch.relu(self.seen(seen) + self.extras(given[:, values:]))
        scores: torch.Tensor = self.last(hidden)
        return scores


def start_from(network: StackNetwork, folder: Path) -> None:
    """Load weights from a folder of ``write``, with normalisations folded into convolutions."""
    layers = take_convolutions(folder / "stacks.onnx", network.sides)
    for layer, held in zip((network.seen[1], network.extras, network.last), layers, strict=True):
        layer.weight.data, *bias = held
        layer.bias.data = bias[0] if bias else torch.zeros_like(layer.bias)


def mirrored(given: Samples) -> Samples:
    """Mirror the samples."""
    return Samples(mirror_sides(given.sides), given.views, -given.angles_rad, given.kinds)


def recoloured(rng: np.random.Generator, pictures: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Augment pictures (n, ..., 3): brightness, colour balance, channels and noise."""
    ones = (1,) * (pictures.ndim - 2)
    levels = pictures.astype(np.float32)
    gains = rng.normal(1, 0.08, (len(levels), *ones, 3)) * rng.uniform(0.5, 1.1, (len(levels), *ones, 1))
    levels *= gains.astype(np.float32)
    if rng.random() < 0.3:
        levels = levels[..., rng.permutation(3)]
    if rng.random() < 0.4:
        noise = rng.standard_normal((*levels.shape[:-1], 1), dtype=np.float32)
        levels = levels + noise * np.float32(rng.uniform(1, 5))
    return np.clip(levels, 0, 255).astype(np.uint8)


def batches(rng: np.random.Generator, given: Samples, size: int) -> Batches:
    """Infinite batches."""
    while True:
        order = rng.permutation(len(given.kinds))
        for start in range(0, len(order) - size + 1, size):
            part = given.part(np.sort(order[start : start + size]))
            part = mirrored(part) if rng.random() < 0.5 else part
            taken = network_input(recoloured(rng, part.sides), part.views, part.angles_rad)
            yield torch.from_numpy(taken), torch.from_numpy(part.kinds)


def learn(
    network: nn.Module, given: Samples, steps: int, rng: np.random.Generator, console: Console, rate: float = RATE
) -> None:
    """Train for a number of steps."""
    with Progress(console=console) as progress:
        train(network, batches(rng, given, BATCH), LOSS, for_steps(steps), progress, "stacks", rate)


def write(network: nn.Module, aside: Samples, folder: Path) -> None:
    """Write the network as ONNX, and ``weights.json`` with its SHA-256 and the temperature by held-out samples."""
    given = math.prod(SHAPE) + EXTRAS
    sha256 = write_network(network, folder / "stacks.onnx", (1, given), "sides", "given")
    with torch.no_grad():
        scores = network(torch.from_numpy(network_input(aside.sides, aside.views, aside.angles_rad)))
    kinds = torch.from_numpy(aside.kinds)
    each = MOST_PIECES + 1
    there = kinds < NO_TIP
    sizes = scores[there, :KINDS].softmax(1).reshape(-1, KINDS // each, each).sum(2).argmax(1)
    right = float((sizes == kinds[there] // each).float().mean())
    click.echo(f"{right:.2%} of the sizes of {int(there.sum())} held-out stacks are right")
    sums = {"stacks": sha256, "temperature": fitted_temperature(scores, kinds)}
    update_sums(folder, sums)


def made_pictures(seed: int, numbers: Sequence[int], console: Console) -> Iterator[StacksPicture]:
    """Render pictures from a seed and their numbers."""
    layout = default_layout("blockade")
    for number in track(numbers, description="Making pictures", console=console):
        rng = np.random.default_rng([seed, number])
        if number % DRAWN_EVERY == DRAWN_EVERY - 1:
            yield from drawn_stacks_pictures(rng, layout)
        else:
            yield stacks_picture(rng, layout)


def made_samples(seed: int, numbers: Sequence[int], console: Console) -> Samples:
    """Render pictures from a seed and their numbers; give their samples."""
    board, rng = default_layout("blockade").board, np.random.default_rng([seed, *numbers[:1], len(numbers)])
    parts = []
    for picture in made_pictures(seed, numbers, console):
        parts += [samples_of(picture, board, rng), proposals_of(picture, board)]
    return Samples.joined(parts)


@click.command()
@click.option("--made", default=3000, show_default=True, help="number of rendered pictures")
@click.option("--steps", default=40000, show_default=True, help="training steps, a batch each")
@click.option("--rate", default=RATE, show_default=True, help="peak learning rate; lower with --start")
@start_option
@click.option("--blend", "share", default=0.0, show_default=True, help="share of --start in the written weights")
@seed_option
@out_option(WEIGHTS)
def main(made: int, steps: int, rate: float, start: Path | None, share: float, seed: int, out: Path) -> None:
    """Train on rendered pictures."""
    console = Console(stderr=True)
    torch.manual_seed(seed)
    kept = max(1, round(made * ASIDE))
    given = made_samples(seed, range(kept, made), console)
    network = StackNetwork()
    if start is not None:
        start_from(network, start)
    before = {name: value.clone() for name, value in network.state_dict().items()}
    learn(network, given, steps, np.random.default_rng([seed, 1 << 20]), console, rate)
    if start is not None:
        blend(network, before, share)
    write(network, made_samples(seed, range(kept), console), out)


if __name__ == "__main__":
    main()
