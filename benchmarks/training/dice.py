"""Trains the three small networks that read dice, and writes them with their SHA-256.

Run: uv run --group training python benchmarks/training/dice.py PHOTOS... --made 3000 --minutes 40
     uv run --group training python benchmarks/training/dice.py PHOTOS... --list
Add --start vision/readers/dice/weights --seed 2 to train the shipped networks further, with other pictures; --keep
names a network that stays as it is.

PHOTOS are folders of photographs with ``truth.json`` (file name to dice, each with ``value`` and ``box``: left, top,
right, bottom in pixels). Some of each, chosen by a hash of their names, are held out; ``--list`` names them. All other
pictures are rendered from seeds by ``benchmarks.scene.dice_variety``; every fifth is a patterned ground without a die.

Some labels of photographs are wrong or missing. With --start, what those networks clearly contradict is left out: a
value, where they are sure of another; and the ground, where they are sure of a die.

For every fourth pixel, ``finder.onnx`` gives the probability of a die's centre there, the die's size, and the offset of
the centre. From a square around a die, ``faces.onnx`` gives the upper face and corrects the square; its input includes
the slant of the view, if the camera's pose is known. ``leaning.onnx`` then tells whether the die leans.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Sequence
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
from benchmarks.scene.dice_variety import ANY_DICE, NO_DICE, OTHER, DicePicture, DiceVariety, TrueDie, dice_picture
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
    candidates_of,
    faces_batches,
    finder_batches,
    leaning_batches,
)
from benchmarks.training.support import (
    FOLDER,
    Batches,
    fitted_temperature,
    for_minutes,
    minutes_option,
    out_option,
    renormalise,
    seed_option,
    start_option,
    take_convolutions,
    train,
    write_network,
)
from vision.readers.dice.finding import CLASSES, CROP_PX, WEIGHTS, Networks, find_dice
from vision.readers.networks import Network, checksums

NAMES = ("finder", "faces", "leaning")

MINED = 300
"""Number of rendered pictures searched for the finder's candidates, besides photographs."""

RATE, RATE_AFTER_START = 3e-3, 1.5e-3
"""Peak learning rates, from random weights and from trained ones."""

SURE = 0.99
"""Probability of a value from which the networks trained before contradict a label."""

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
    dense = take_convolutions(file, [part for part in network if isinstance(part, nn.Sequential | nn.Conv2d)])
    layers = [part for part in network if isinstance(part, nn.Linear)]
    for layer, (matrix, bias) in zip(layers, dense, strict=True):
        layer.weight.data, layer.bias.data = matrix, bias


def without_contradicted(picture: DicePicture, networks: Networks) -> DicePicture:
    """Return a photograph in which neither its label nor its absence counts where networks are sure of another."""
    seen = find_dice(picture.image, networks, (10.0, 0.45 * min(picture.image.shape[:2])))
    dice = list(picture.dice)
    for one in seen:
        value, chance = max(one.values().items(), key=lambda pair: pair[1])
        if chance * one.is_die < SURE:
            continue
        near = [
            number
            for number, die in enumerate(dice)
            if math.dist((one.x_px, one.y_px), (die.x_px, die.y_px)) < 0.5 * max(die.side_px, one.side_px)
        ]
        if not near:
            dice.append(TrueDie(one.x_px, one.y_px, one.side_px, OTHER, in_sight=False))
        for number in near:
            if dice[number].shows != value:
                dice[number] = replace(dice[number], in_sight=False)
    return replace(picture, dice=tuple(dice))


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
@click.argument("photos", nargs=-1, required=True, type=FOLDER)
@click.option("--made", default=3000, show_default=True, help="number of rendered pictures")
@minutes_option
@seed_option
@start_option
@click.option("--keep", multiple=True, type=click.Choice(NAMES), help="a network of --start that stays as it is")
@out_option(WEIGHTS)
@click.option("--list", "listing", is_flag=True, help="only list the held-out photographs")
def main(
    photos: tuple[Path, ...],
    made: int,
    minutes: float,
    seed: int,
    start: Path | None,
    keep: tuple[str, ...],
    out: Path,
    listing: bool,
) -> None:
    """Train on rendered pictures, and on the photographs of PHOTOS that are not held out."""
    if listing:
        click.echo("\n".join(str(folder / name) for folder in photos for name in sorted(held_out(load_truth(folder)))))
        return
    if keep and start is None:
        raise click.UsageError("--keep needs --start")
    console = Console(stderr=True)
    numbers = track(range(made), description="Making pictures", console=console)
    varieties = ANY_DICE, PRINTED_DICE, ANY_DICE, ANY_DICE, NO_DICE
    pictures = [dice_picture(np.random.default_rng([seed, one]), variety=varieties[one % 5]) for one in numbers]
    photographs = [picture for folder in photos for picture in trained_on(folder)]
    if start is not None and "finder" not in keep:
        checked = track(photographs, description="Checking labels", console=console)
        photographs = [without_contradicted(one, Networks(start)) for one in checked]
    aside = max(1, made // 20)
    known, unknown = Pictures(pictures[aside:], photographs), Pictures(pictures[:aside], ())
    train_all(known, unknown, minutes, seed, out, console, start, keep)


def train_all(
    pictures: Pictures,
    aside: Pictures,
    minutes: float,
    seed: int,
    out: Path,
    console: Console | None = None,
    start: Path | None = None,
    keep: Sequence[str] = (),
) -> None:
    """Train the networks and write them with ``weights.json``; ``aside`` fits the temperature.

    With ``start``, they are trained further from the weights there, except those to ``keep``.
    """
    out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(seed)
    rng = np.random.default_rng([seed, 1 << 20])
    networks = {"finder": finder_network(), "faces": faces_network(), "leaning": leaning_network()}
    if start is not None:
        for name, network in networks.items():
            load(network, start / f"{name}.onnx")
    sums: dict[str, str | float] = {}
    with Progress(console=console) as progress:

        def learn(name: str, batches: Batches, loss_of: Callable[..., torch.Tensor]) -> None:
            if start is not None and name in keep:
                (out / f"{name}.onnx").write_bytes((start / f"{name}.onnx").read_bytes())
                sums[name] = str(checksums(start)[name])
                networks[name].eval()
                return
            if start is not None:
                networks[name].eval()
                renormalise(networks[name], next(batches)[0])
            rate = RATE if start is None else RATE_AFTER_START
            train_flat(networks[name], batches, loss_of, minutes, progress, name, rate)
            shape = (1, 3, FINDER_PX, FINDER_PX) if name == "finder" else (1, 4, CROP_PX, CROP_PX)
            sums[name] = write(networks[name], name, shape, out)

        learn("finder", finder_batches(rng, pictures, 8), finder_loss)
        looked_at = [*pictures.photos, *pictures.made[:MINED]]
        candidates = tuple(candidates_of(Network(out / "finder.onnx", str(sums["finder"])), looked_at))
        pictures = replace(pictures, candidates=candidates)
        learn("faces", faces_batches(rng, pictures, 64), faces_loss)
        drawn = [
            dice_picture(np.random.default_rng([seed, 1 << 20, one]), LEANING_PX, LEANING_DICE)
            for one in range(0 if "leaning" in keep else len(pictures.made))
        ]
        learn("leaning", leaning_batches(rng, [*pictures.made, *drawn], 64), leaning_loss)
    sums["temperature"] = temperature_of(networks["faces"], faces_batches(rng, aside, 64))
    (out / "weights.json").write_text(json.dumps(sums, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
