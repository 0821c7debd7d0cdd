"""Trains the three small networks that read dice, and writes them with their SHA-256.

Run: uv run --group training python benchmarks/training/dice.py PHOTOS --made 3000 --minutes 40
     uv run --group training python benchmarks/training/dice.py PHOTOS --list
Add --start vision/readers/dice/weights --seed 2 to train the shipped classifier and leaning network further, with other
pictures; the finder stays, and the classifier's weights are the mean of before and after.

PHOTOS is a folder of photographs with ``truth.json`` (file name to dice, each with ``value`` and ``box``: left, top,
right, bottom in pixels). Sixty of them, chosen by a hash of their names, are held out; ``--list`` names them. All other
pictures are rendered from seeds by ``benchmarks.scene.dice_variety``.

For every fourth pixel, ``finder.onnx`` gives the probability of a die's centre there, the die's size, and the offset of
the centre. From a square around a die, ``faces.onnx`` gives the upper face and corrects the square; its input includes
the slant of the view, if the camera's pose is known. ``leaning.onnx`` then tells whether the die leans.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import click
import numpy as np
import torch
from rich.console import Console
from rich.progress import Progress, track
from torch import nn

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.dice import held_out, load_truth, trained_on
from benchmarks.scene.dice_variety import ANY_DICE, DiceVariety, dice_picture
from benchmarks.training.dice_networks import (
    faces_loss,
    faces_network,
    finder_loss,
    finder_network,
    leaning_loss,
    leaning_network,
)
from benchmarks.training.dice_samples import (
    FINDER_PX,
    Pictures,
    faces_batches,
    finder_batches,
    leaning_batches,
    mistakes_of,
)
from benchmarks.training.support import (
    FOLDER,
    Batches,
    blend,
    fitted_temperature,
    for_minutes,
    minutes_option,
    out_option,
    seed_option,
    start_option,
    take_convolutions,
    train,
    write_network,
)
from vision.readers.dice.finding import CLASSES, CROP_PX, WEIGHTS
from vision.readers.networks import Network

MINED = 300
"""Number of rendered pictures searched for the finder's false positives, besides all photographs."""

RATE, RATE_AFTER_START = 3e-3, 5e-4
"""Peak learning rates, from random weights and from trained ones."""

KEPT = 0.5
"""Share of the classifier's earlier weights in those written after training further. Higher: changes less. With half,
it read photographs and printed dice at least as well as with the weights of either training alone.
"""

PRINTED_DICE = DiceVariety(printed=0.7)
"""Variety of every third picture, so that dice without pips are found as well as others."""

LEANING_DICE = DiceVariety(edge_px=(13.0, 27.0), flattened=1.0, leaning=0.5)
LEANING_PX = 128
"""Variety and size of the pictures for the leaning network."""


def train_flat(
    network: nn.Sequential,
    batches: Batches,
    loss_of: Callable[..., torch.Tensor],
    minutes: float,
    progress: Progress,
    name: str,
    rate: float = RATE,
) -> None:
    """Train for so long with the channels-last memory format, which takes a third less time."""
    network.to(memory_format=torch.channels_last)
    flat = ((given.contiguous(memory_format=torch.channels_last), *truth) for given, *truth in batches)
    train(network, flat, loss_of, for_minutes(minutes), progress, name, rate, weight_decay=1e-3, largest_gradient=5.0)


def write(network: nn.Sequential, name: str, shape: tuple[int, ...], folder: Path) -> str:
    """Write a network, with dynamic sizes for the finder; give the file's SHA-256."""
    free = {2: "height", 3: "width"} if name == "finder" else {}
    return write_network(network, folder / f"{name}.onnx", shape, "squares", "given", free)


def load(network: nn.Sequential, file: Path) -> None:
    """Load the weights of a file of ``write``, in which normalisations are folded into convolutions."""
    dense = take_convolutions(file, [part for part in network if isinstance(part, nn.Sequential)])
    layers = [part for part in network if isinstance(part, nn.Linear)]
    for layer, (matrix, bias) in zip(layers, dense, strict=True):
        layer.weight.data, layer.bias.data = matrix, bias


def temperature_of(network: nn.Sequential, batches: Batches, count: int = 30) -> float:
    """The temperature of the classifier, from so many batches of held-out squares."""
    with torch.no_grad():
        pairs = [
            (network(squares)[:, : len(CLASSES)], kinds) for squares, kinds, _ in (next(batches) for _ in range(count))
        ]
    given, kinds = torch.cat([pair[0] for pair in pairs]), torch.cat([pair[1] for pair in pairs])
    right = float((given.argmax(1) == kinds).float().mean())
    best = fitted_temperature(given, kinds)
    click.echo(f"classifier: {right:.2%} right of {len(kinds)} held-out rendered squares, temperature {best:.2f}")
    return best


@click.command()
@click.argument("photos", type=FOLDER)
@click.option("--made", default=3000, show_default=True, help="number of rendered pictures")
@minutes_option
@seed_option
@start_option
@out_option(WEIGHTS)
@click.option("--list", "listing", is_flag=True, help="only list the held-out photographs")
def main(photos: Path, made: int, minutes: float, seed: int, start: Path | None, out: Path, listing: bool) -> None:
    """Train on rendered pictures, and on the photographs of PHOTOS that are not held out."""
    if listing:
        click.echo("\n".join(sorted(held_out(load_truth(photos)))))
        return
    console = Console(stderr=True)
    numbers = track(range(made), description="Making pictures", console=console)
    varieties = ANY_DICE, ANY_DICE, PRINTED_DICE
    pictures = [dice_picture(np.random.default_rng([seed, one]), variety=varieties[one % 3]) for one in numbers]
    aside = max(1, made // 20)
    known, unknown = Pictures(pictures[aside:], trained_on(photos)), Pictures(pictures[:aside], ())
    train_all(known, unknown, minutes, seed, out, console, start)


def train_all(
    pictures: Pictures,
    aside: Pictures,
    minutes: float,
    seed: int,
    out: Path,
    console: Console | None = None,
    start: Path | None = None,
) -> None:
    """Train the networks and write them with ``weights.json``; ``aside`` fits the temperature.

    With the weights in ``start``, the finder stays as it is and the other two are trained further.
    """
    out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(seed)
    rng = np.random.default_rng([seed, 1 << 20])
    faces, leaning, rate = faces_network(), leaning_network(), RATE
    numbers = track(range(len(pictures.made)), description="Making dice that lean", console=console)
    drawn = [dice_picture(np.random.default_rng([seed, 1 << 20, one]), LEANING_PX, LEANING_DICE) for one in numbers]
    with Progress(console=console) as progress:
        if start is None:
            network = finder_network()
            train_flat(network, finder_batches(rng, pictures, 8), finder_loss, minutes, progress, "finder")
            found_by = write(network, "finder", (1, 3, FINDER_PX, FINDER_PX), out)
        else:
            rate = RATE_AFTER_START
            found_by = json.loads((start / "weights.json").read_text(encoding="utf-8"))["finder"]
            (out / "finder.onnx").write_bytes((start / "finder.onnx").read_bytes())
            load(faces, start / "faces.onnx")
            load(leaning, start / "leaning.onnx")
        before = {name: value.clone() for name, value in faces.state_dict().items()}
        looked_at = [*pictures.photos, *pictures.made[:MINED]]
        mistakes = tuple(mistakes_of(Network(out / "finder.onnx", found_by), looked_at))
        pictures = replace(pictures, mistakes=mistakes)
        train_flat(faces, faces_batches(rng, pictures, 64), faces_loss, minutes, progress, "faces", rate)
        if start is not None:
            blend(faces, before, KEPT)
        flat = leaning_batches(rng, [*pictures.made, *drawn], 64)
        train_flat(leaning, flat, leaning_loss, minutes, progress, "leaning", rate)
    sums = {
        "finder": found_by,
        "faces": write(faces, "faces", (1, 4, CROP_PX, CROP_PX), out),
        "leaning": write(leaning, "leaning", (1, 4, CROP_PX, CROP_PX), out),
        "temperature": temperature_of(faces, faces_batches(rng, aside, 64)),
    }
    (out / "weights.json").write_text(json.dumps(sums, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
