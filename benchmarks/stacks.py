"""How well stacks of pyramids are read under hardships, one at a time.

Run: python benchmarks/stacks.py --images 300 --seed 1 [--jobs 2] [--hardship NAME]...

Every picture comes from the virtual table with Blockade's layout: stacks such as a game may have, under the hardships
of ``stress.py`` that concern them. The reader has learned the set from a picture of the set-up under an ordinary light,
and reads each picture by itself. Exits with 1 when a line that must hold does not.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import click
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.parts.command_line import all_played, console_for
from benchmarks.parts.stress.hardships import hardships, ordinary_draft, setting_of
from benchmarks.parts.stress.report import tables
from benchmarks.parts.stress.score import PictureScore, lines_not_met, score
from engine.registry import load
from referee.demo.run import enrolled_appearance
from simulator.play.actions import Arrangement
from simulator.play.game import GameOptions
from simulator.rendering.renderer import Renderer
from simulator.scene.pieces import Pyramid, StackPose
from simulator.scene.scene import Scene
from simulator.table import VirtualTable, standard_setting
from vision.frame import Frame
from vision.layout.table import TableLayout, default_layout
from vision.readers.protocols import Appearance
from vision.readers.registry import table_reader

GAME = "blockade"
HARDSHIPS = (
    "ordinary",
    "resolution",
    "lens",
    "distortion",
    "tilt",
    "rotation",
    "table",
    "board",
    "glare",
    "lamp colour",
    "side in shadow",
    "exposure",
    "noise",
    "motion blur",
    "defocus",
    "compression",
    "markers",
    "off centre",
    "turned",
)
"""Those of the stress set that concern stacks, which have a set of colours of their own."""

_NEST_MM, _NEST_DEG, _LEAN_DEG = 0.5, 1.5, 0.6
"""How far off, turned and leaning a pyramid sits on the one below; standard deviations."""


@dataclass(frozen=True)
class Task:
    """One picture to take."""

    hardship: str
    level: str
    number: int
    seed: int


def tasks(images: int, seed: int, names: Sequence[str]) -> list[Task]:
    """Spread that many pictures evenly over the levels of these hardships, in an order drawn from the seed."""
    known = hardships(0, 1)
    kinds = [(name, level) for name in names for level in known[name].levels]
    kinds = [kinds[int(index)] for index in np.random.default_rng([seed, 52]).permutation(len(kinds))]
    return [Task(*kinds[index % len(kinds)], index // len(kinds), seed) for index in range(images)]


@cache
def learned() -> Appearance:
    """Learn the set as its owner would, from a picture of the set-up under an ordinary light."""
    return enrolled_appearance(VirtualTable(1, GameOptions(GAME), setting=standard_setting(game=GAME)))


def stacks_on(layout: TableLayout, careless: tuple[float, float], rng: np.random.Generator) -> Arrangement:
    """A stack on every square, such as a game may have: on clear larges of one colour, on others of their own."""
    game = load(GAME)
    start = game.table.appearance(game.rules.new())
    most_mm, most_deg = careless
    standing = {}
    for place in layout.board.places:
        base = start[place].split()[0] if layout.board.places.index(place) not in _CLEAR else "clear"
        away, angle = most_mm * float(np.sqrt(rng.random())), float(rng.uniform(-np.pi, np.pi))
        x, y = layout.centre_mm(place)
        turned = float(rng.uniform(-most_deg, most_deg))
        pyramids = tuple(_nested(rng, size, colour, number) for number, (size, colour) in enumerate(_pile(rng, base)))
        standing[place] = StackPose(x + away * float(np.cos(angle)), y + away * float(np.sin(angle)), pyramids, turned)
    return Arrangement(standing)


_CLEAR = (0, 4, 12, 20, 24)
"""The squares with clear larges: the corners and the middle."""


def _nested(rng: np.random.Generator, size: str, colour: str, number: int) -> Pyramid:
    if not number:
        return Pyramid(size, colour)
    off, lean = rng.normal(0, _NEST_MM, 2), rng.normal(0, _LEAN_DEG, 2)
    turned = float(rng.normal(0, _NEST_DEG))
    return Pyramid(size, colour, (float(off[0]), float(off[1])), turned, (float(lean[0]), float(lean[1])))


def _pile(rng: np.random.Generator, base: str) -> list[tuple[str, str]]:
    """Sizes and colours from below."""
    if base == "clear":
        colour = ("red", "yellow", "green", "blue")[int(rng.integers(4))]
        sizes = ["M"] * int(rng.integers(0, 6)) + ["S"] * int(rng.integers(0, 3))
        return [("L", "clear"), *((size, colour) for size in sizes)]
    sizes = ["M"] * int(rng.choice(3, p=[0.6, 0.3, 0.1])) + ["S"] * int(rng.choice(3, p=[0.3, 0.5, 0.2]))
    pile = [("L", base), *((size, base) for size in sizes)]
    return [*pile, ("L", "black")] if sizes == ["M", "S"] and rng.random() < 0.7 else pile


def look_at(task: Task) -> PictureScore:
    """Take a picture, read it, and compare."""
    hardship = hardships(0, 1)[task.hardship]
    rng = np.random.default_rng([task.seed, task.number, *task.hardship.encode(), *task.level.encode()])
    draft = hardship.levels[task.level](ordinary_draft(rng), rng)
    layout = default_layout(GAME)
    setting = replace(setting_of(draft), layout=layout)
    standing = stacks_on(layout, draft.careless, rng)
    image = Renderer(task.number).render(Scene(setting, tuple(standing.values())), task.number)
    reader = table_reader(setting.camera, layout, learned())
    begun = time.perf_counter()
    reading = reader.read(Frame(image, 0.0, 0, task.hardship))
    spent_ms = (time.perf_counter() - begun) * 1000
    name = (f"{task.hardship} {task.level} {task.number}", task.hardship, task.level, task.number)
    return score(name, reading, standing.appearance(layout.board.places), spent_ms=spent_ms)


@click.command(help=__doc__)
@click.option("--images", default=300, show_default=True, type=click.IntRange(1), help="How many pictures in all.")
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0), help="Draws every picture.")
@click.option("--jobs", default=os.cpu_count() or 1, show_default=True, type=click.IntRange(1), help="Processes.")
@click.option("--hardship", "names", multiple=True, type=click.Choice(HARDSHIPS), help="Only these; all by default.")
def main(images: int, seed: int, jobs: int, names: tuple[str, ...]) -> None:
    """Read pictures of stacks under hardships and report how that goes."""
    todo = tasks(images, seed, names or HARDSHIPS)
    order = [(name, level) for name, hardship in hardships(0, 1).items() for level in hardship.levels]
    looked = all_played(look_at, todo, jobs, console_for(132), lambda picture: picture.name)
    pictures = sorted(looked, key=lambda picture: order.index((picture.hardship, picture.level)))
    click.echo(tables(pictures))
    missing = lines_not_met(pictures)
    for line in missing:
        click.echo(f"NOT MET: {line}")
    if missing:
        sys.exit(1)
    click.echo("Every line is met.")


if __name__ == "__main__":
    main()
