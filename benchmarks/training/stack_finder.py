"""Trains the small network that finds the foot and the tip of a stack in its crop, and writes it with its SHA-256.

Run: uv run --group training python benchmarks/training/stack_finder.py --made 3000 --steps 14000

It is trained on the same rendered pictures as ``benchmarks/training/stacks.py``, which must be run after it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import click
import cv2
import numpy as np
import numpy.typing as npt
import torch
from rich.console import Console
from rich.progress import Progress
from torch import nn

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.scene.stack_variety import StacksPicture
from benchmarks.training.samples import SampleArrays
from benchmarks.training.stacks import ASIDE, made_pictures, recoloured
from benchmarks.training.support import (
    Batches,
    block,
    for_steps,
    out_option,
    seed_option,
    train,
    update_sums,
    write_network,
)
from vision.layout.pieces import GridSurface
from vision.layout.table import default_layout
from vision.readers.stacks.network import (
    CELL_PX,
    FINDER_SHAPE,
    FINDER_VALUES,
    FOOT_COLUMNS,
    FOOT_PX,
    FOOT_ROWS,
    WEIGHTS,
    StackCrops,
    cell_centres_px,
    costs_astray,
    finder_input,
    spots_of,
    tip_heights_mm,
)

BATCH = 128
RATE = 4e-3
"""Peak learning rate."""
MOST_SHIFT_PX = 4
"""Maximum shift of a crop, in pixels."""
CHANNELS = (8, 24, 24)
"""Sizes of the convolutions."""
SMOOTH = 0.1
"""Error, in cells, below which the loss of a position is quadratic."""
FOOT_SPREAD_PX, MOST_COST = 1.5, 12.0
"""Standard deviation of the error of an axis, and the maximum cost of a cell astray from it."""
AT_TIP_PX = 3.5
"""Distance up to which a spot counts as the tip in the report."""

Places = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Stacks(SampleArrays):
    """Crops (n, rows, columns, 3), and in these the tips and feet (n, 2), the ends (n, 2, 2) of the axes above the feet
    between which tips may be, and the angles (n,).
    """

    crops: npt.NDArray[np.uint8]
    tips_px: Places
    feet_px: Places
    axes_px: Places
    angles_rad: Places


def stacks_of(pictures: Iterable[StacksPicture], board: GridSurface) -> Stacks:
    """Cut the stacks with a visible top out of pictures."""
    images, points, angles = [], [], []
    for picture in pictures:
        crops = StackCrops(picture.camera, picture.pose, board)
        places = [place for place in picture.stacks if place not in picture.hidden]
        images.append(crops.of(picture.image, places))
        for place in places:
            stack = picture.stacks[place]
            axis = [[*stack.foot_mm, height_mm] for height_mm in (board.height_mm, *tip_heights_mm(board))]
            points.append(crops.pixels(place, np.array([stack.tip_mm, *axis])))
            angles.append(stack.angle_rad - crops.bearing(place))
    tips, feet, *ends = np.array(points).transpose(1, 0, 2)
    return Stacks(np.concatenate(images), tips, feet, np.stack(ends, axis=1), np.array(angles))


class FinderNetwork(nn.Module):  # type: ignore[misc]
    """From ``finder_input`` (n, *FINDER_SHAPE) to values of cells (n, FINDER_VALUES, ROWS, COLUMNS)."""

    def __init__(self) -> None:
        super().__init__()
        first, second, last = CHANNELS
        self.layers = nn.Sequential(
            block(FINDER_SHAPE[0], first, 5, 2),
            block(first, second, 3, 2),
            block(second, last),
            block(last, last, dilation=2),
            block(last, last, dilation=4),
        )
        self.values = nn.Conv2d(last, FINDER_VALUES, 1)

    def forward(self, given: torch.Tensor) -> torch.Tensor:
        """Give the values."""
        values: torch.Tensor = self.values(self.layers(given))
        return values


def loss_of(
    values: torch.Tensor, tips: torch.Tensor, feet: torch.Tensor, turns: torch.Tensor, costs: torch.Tensor
) -> torch.Tensor:
    """Return the loss, given tips and feet (n, 2) in cells, cosine and sine of four times the angles (n, 2), and the
    costs of cells astray from the axes (n, cells).

    The score is a choice among all cells; positions of tips are learned by the cells near them.
    """
    cells = torch.from_numpy(cell_centres_px() / CELL_PX).float()
    flat = values.flatten(2)
    off = (tips[:, :, None] - cells.T).clamp(-2, 2)
    nearest = off.abs().amax(dim=1).argmin(dim=1)
    near = 0.5 * (off.abs().amax(dim=1) < 1).float()
    near[torch.arange(len(near)), nearest] = 1.0
    wrong = nn.functional.smooth_l1_loss(flat[:, 1:3], off, reduction="none", beta=SMOOTH).sum(dim=1)
    middle = values[:, 3:, FOOT_ROWS, FOOT_COLUMNS].mean(dim=(2, 3))
    of_feet = nn.functional.smooth_l1_loss(middle[:, :2], feet, beta=SMOOTH)
    of_turns = nn.functional.smooth_l1_loss(middle[:, 2:], turns, beta=SMOOTH)
    of_tips = (wrong * near).sum() / near.sum()
    return nn.functional.cross_entropy(flat[:, 0] - costs, nearest) + 4 * of_tips + 6 * of_feet + of_turns


def varied(rng: np.random.Generator, given: Stacks) -> Stacks:
    """Augment stacks: light, colours, noise, mirrored and shifted."""
    crops, angles = recoloured(rng, given.crops), given.angles_rad
    points = [given.tips_px, given.feet_px, given.axes_px]
    if rng.random() < 0.5:
        crops, angles = crops[:, :, ::-1], -angles
        points = [np.array([crops.shape[2] - 1, 0]) + one * (-1, 1) for one in points]
    shift = rng.integers(-MOST_SHIFT_PX, MOST_SHIFT_PX + 1, 2)
    crops = np.ascontiguousarray(np.roll(crops, shift[::-1], axis=(1, 2)))
    tips, feet, axes = (one + shift for one in points)
    return Stacks(crops, tips, feet, axes, angles)


def batches(rng: np.random.Generator, given: Stacks) -> Batches:
    """Infinite batches."""
    cells = cell_centres_px()
    while True:
        part = varied(rng, given.part(rng.choice(len(given.crops), BATCH)))
        turns = np.column_stack([np.cos(4 * part.angles_rad), np.sin(4 * part.angles_rad)])
        wrong_foot = rng.normal(0, FOOT_SPREAD_PX, (BATCH, 1, 2))
        costs = np.minimum(costs_astray(cells[None], part.axes_px + wrong_foot), MOST_COST)
        targets = (part.tips_px / CELL_PX, (part.feet_px - FOOT_PX) / CELL_PX, turns, costs)
        yield torch.from_numpy(finder_input(part.crops)), *(torch.from_numpy(one).float() for one in targets)


def learn(network: nn.Module, given: Stacks, steps: int, rng: np.random.Generator, console: Console) -> None:
    """Train for a number of steps."""
    with Progress(console=console) as progress:
        train(network, batches(rng, given), loss_of, for_steps(steps), progress, "finder", RATE)


def write(network: nn.Module, folder: Path) -> None:
    """Write the network as ONNX, and its SHA-256 into ``weights.json``."""
    update_sums(
        folder, {"finder": write_network(network, folder / "finder.onnx", (1, *FINDER_SHAPE), "crops", "cells")}
    )


def report(network: nn.Module, aside: Stacks) -> str:
    """Tell how well held-out stacks are found."""
    with torch.no_grad():
        values = network(torch.from_numpy(finder_input(aside.crops))).double().numpy()
    spots_px, _ = spots_of(values, aside.axes_px)
    at_tip = np.linalg.norm(spots_px - aside.tips_px[:, None], axis=2) < AT_TIP_PX
    return (
        f"of {len(at_tip)} held-out stacks the tip is the first spot of {at_tip[:, 0].mean():.1%}, one of the spots of "
        f"{at_tip.any(axis=1).mean():.1%}"
    )


@click.command()
@click.option("--made", default=3000, show_default=True, help="number of rendered pictures")
@click.option("--steps", default=14000, show_default=True, help="training steps, a batch each")
@seed_option
@out_option(WEIGHTS)
def main(made: int, steps: int, seed: int, out: Path) -> None:
    """Train on rendered pictures."""
    cv2.setNumThreads(1)
    console, board = Console(stderr=True), default_layout("blockade").board
    torch.manual_seed(seed)
    kept = max(1, round(made * ASIDE))
    given = stacks_of(made_pictures(seed, range(kept, made), console), board)
    network = FinderNetwork()
    learn(network, given, steps, np.random.default_rng([seed, 1 << 20]), console)
    write(network, out)
    click.echo(report(network, stacks_of(made_pictures(seed, range(kept), console), board)))


if __name__ == "__main__":
    main()
