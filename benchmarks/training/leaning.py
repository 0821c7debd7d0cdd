"""Fits the weights of a die's outline and of the network in the odds that the die leans, on rendered trays.

Run: uv run --group training python benchmarks/training/leaning.py --trays 240

In half of the trays all dice lean, by 10 to 30 degrees. Prints the weights of
``vision.readers.dice.finding.LeaningOdds`` (logistic regression by Newton's method, on the dice whose outline the
reader looks at). Also prints, by cross-validation, the shares of flat dice and of leaning dice that
are said to lean, by the network alone and by both.
"""

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
from rich.console import Console
from rich.progress import track

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.parts.dice_stress import leaning_picture
from benchmarks.scene.dice_variety import COCKED
from vision.frame import FloatArray
from vision.layout.pieces import DicePieces
from vision.readers.dice.finding import Networks, find_dice, leaning_gain, network_odds
from vision.readers.dice.reader import TRAY
from vision.sampling import PlaneWindow, plane_map, sample

PX_PER_MM = 1.8
FLAT_MM = 16.0
"""Height of the rectified plane: that of the upper sides of common dice."""

LEANS_DEG = (0.0, 10.0, 0.0, 15.0, 0.0, 20.0, 0.0, 25.0, 0.0, 30.0)
"""Leans of the dice in successive trays."""
SEED = 500

NEAR_MM = 8.0
"""Detections farther than this from every true die are left out."""


@dataclass(frozen=True)
class Sample:
    """A detected die: its tray's number, whether it leans, the evidence of network and outline, and its slant."""

    tray: int
    leans: bool
    network: float
    gain: float
    slant: float


def samples_of(number: int, networks: Networks) -> Iterator[Sample]:
    """The dice with a visible outline in a rendered tray."""
    lean_deg = LEANS_DEG[number % len(LEANS_DEG)]
    made = leaning_picture(lean_deg, number, SEED)
    surface = made.layout.surfaces[0]
    pieces = DicePieces.on(surface)
    window = PlaneWindow.over(surface.bounds_mm.grown(20.0), surface.height_mm + FLAT_MM, PX_PER_MM)
    flat = sample(made.image, plane_map(made.camera, made.pose, window))
    camera = made.pose.camera_position_mm
    above = float(camera[2]) - window.height_mm

    def on_plane(x: float, y: float) -> FloatArray:
        return np.array([window.left_mm + (x + 0.5) / PX_PER_MM, window.far_mm - (y + 0.5) / PX_PER_MM])

    def slant_at(x: float, y: float) -> tuple[float, float]:
        across, away = (camera[:2] - on_plane(x, y)) / above
        return float(across), float(-away)

    sides = pieces.smallest_mm * PX_PER_MM, pieces.largest_mm * PX_PER_MM
    found = find_dice(flat, networks, sides, TRAY, slant_at)
    if not found:
        return
    places = [(die.x_px, die.y_px, die.side_px) for die in found]
    slants = [slant_at(die.x_px, die.y_px) for die in found]
    for place, slant, network in zip(places, slants, network_odds(flat, places, slants, networks), strict=True):
        away_mm, shows = min((math.dist(on_plane(*place[:2]), (x, y)), shows) for x, y, shows in made.dice)
        gain = leaning_gain(flat, place, slant)
        if gain is not None and away_mm < NEAR_MM:
            yield Sample(number, shows == COCKED, network, gain, math.hypot(*slant))


def fitted(given: FloatArray, leans: FloatArray) -> FloatArray:
    """The weights of a logistic regression with a small ridge penalty."""
    weights = np.zeros(given.shape[1])
    for _ in range(30):
        chance = 1 / (1 + np.exp(-given @ weights))
        curve = (given * (chance * (1 - chance))[:, None]).T @ given + 0.5 * np.eye(len(weights))
        weights += np.linalg.solve(curve, given.T @ (leans - chance) - 0.5 * weights)
    return weights


@click.command()
@click.option("--trays", type=click.IntRange(min=4), default=240, show_default=True, help="How many trays to draw.")
def main(trays: int) -> None:
    """Fit the weights and print them."""
    networks = Networks()
    drawn = track(range(trays), description="Drawing trays", console=Console(stderr=True))
    samples = [one for number in drawn for one in samples_of(number, networks)]
    given = np.array([(one.network, one.gain, one.slant, 1.0) for one in samples])
    leans = np.array([float(one.leans) for one in samples])
    odd = np.array([one.tray // len(LEANS_DEG) % 2 == 1 for one in samples])
    asked = given[:, 0] > TRAY.surely_flat
    names = ("network", "gain", "slant", "constant")
    weights = fitted(given[asked], leans[asked])
    print({name: round(float(value), 2) for name, value in zip(names, weights, strict=True)})
    even, uneven = (fitted(given[asked & part], leans[asked & part]) for part in (~odd, odd))
    odds = np.where(asked, np.where(odd, given @ even, given @ uneven), given[:, 0])
    for name, log_odds in (("network", given[:, 0]), ("both", odds)):
        said = log_odds + math.log(TRAY.leaning) > 0
        false, noticed = said[leans == 0].mean(), said[leans == 1].mean()
        print(f"{name}: {false:.1%} of {int((leans == 0).sum())} flat, {noticed:.1%} of {int(leans.sum())} leaning")


if __name__ == "__main__":
    main()
