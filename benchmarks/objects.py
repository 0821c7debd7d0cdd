"""How often an object on a filled sheet is read as ink, and how often one is detected on a clear sheet.

Run: python benchmarks/objects.py [--tables N] [--seed S] [--size 960x540]

Each table of the Blokus Dice Game is drawn from a seed, with one to four sheets, empty to half filled. It is read
clear, then with a coin or a cup on each sheet: of any colour, of wood, brass, copper or skin, or grey. Each picture is
read by itself; a thing over a sheet's margin then counts as a hand, which hides the whole sheet. Exit code 1 when a
cell is read wrongly, or anything is hidden on a clear sheet.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import colorsys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import click
import numpy as np
from rich.console import Console
from rich.progress import track

from benchmarks.faults.table import faulty_setting
from benchmarks.parts.command_line import picture_size
from common.places import EMPTY
from simulator.play.actions import Slack
from simulator.play.ink import ColourSheetHandler
from simulator.rendering.renderer import Renderer
from simulator.scene.pieces import Colour, PiecePose
from simulator.scene.scene import ForeignObject, Scene, Setting
from simulator.scene.sheets import lying_sheets, place_mm
from vision.frame import Frame
from vision.layout.pieces import GridSurface
from vision.readers.registry import table_reader
from vision.reading import Reading

_GAME = "blokus-dice"
_READ_PROBABILITY = 0.9
"""Least probability at which a look counts as read."""
_MOST_CELLS = 5
_HUES_OF_WOOD = (0.02, 0.16)


@dataclass
class Tally:
    """Numbers of sheets: all, those wholly and partly hidden, and those with a visible cell read wrongly."""

    sheets: int = 0
    hidden: int = 0
    covered: int = 0
    wrong: int = 0


def filled(surface: GridSurface, rng: np.random.Generator) -> dict[str, str]:
    """Colours by place: shapes of up to five squares, over at most half of a sheet."""
    pens = [str(pen) for pen in rng.permutation(ColourSheetHandler.signs)][: int(rng.integers(1, 5))]
    count = int(float(rng.choice([0.0, 0.05, 0.15, 0.3, 0.5])) * len(surface.places))
    looks: dict[str, str] = {}
    while len(looks) < count:
        pen, place = str(rng.choice(pens)), str(rng.choice([one for one in surface.places if one not in looks]))
        for _ in range(int(rng.integers(1, _MOST_CELLS + 1))):
            looks.setdefault(place, pen)
            across, up = [(0, 1), (1, 0), (0, -1), (-1, 0)][int(rng.integers(4))]
            place = surface.neighbour(place, across, up) or place
    return looks


def colour_of_an_object(rng: np.random.Generator) -> Colour:
    """Any colour, or one of wood, metal or skin, or a grey, as (blue, green, red)."""
    kind = rng.random()
    if kind < 0.5:
        shade = colorsys.hsv_to_rgb(rng.uniform(0, 1), rng.uniform(0.3, 1), rng.uniform(0.25, 0.95))
    elif kind < 0.8:
        shade = colorsys.hsv_to_rgb(rng.uniform(*_HUES_OF_WOOD), rng.uniform(0.3, 0.85), rng.uniform(0.3, 0.95))
    else:
        shade = colorsys.hsv_to_rgb(rng.uniform(0, 1), rng.uniform(0, 0.2), rng.uniform(0.1, 0.95))
    red, green, blue = shade
    return (blue, green, red)


def objects_on(setting: Setting, rng: np.random.Generator) -> Iterator[ForeignObject]:
    """A coin or a cup on each sheet."""
    for sheet in lying_sheets(setting.layout):
        x_mm, y_mm = place_mm(setting.layout, str(rng.choice(sheet.surface.places)))
        x_mm, y_mm = x_mm + float(rng.uniform(-9, 9)), y_mm + float(rng.uniform(-9, 9))
        base_mm, radius_mm = setting.layout.board.height_mm, float(rng.uniform(9.0, 14.0))
        kind = "cup" if rng.random() < 1 / 3 else "coin"
        yield ForeignObject(kind, x_mm, y_mm, colour_of_an_object(rng), base_mm, radius_mm)  # type: ignore[arg-type]


def read_table(seed: int, size: tuple[int, int], clear: Tally, covered: Tally) -> None:
    """Draw a table, read it clear and with objects, and add to the tallies."""
    rng = np.random.default_rng([seed, 83])
    setting = faulty_setting(seed, size, _GAME, int(rng.integers(1, 5)))
    handler = ColourSheetHandler(setting.layout, Slack(), rng)
    standing = handler.set_up({})
    looks: dict[str, str] = {}
    pieces: list[PiecePose] = list(standing.values())
    for sheet in lying_sheets(setting.layout):
        own = filled(sheet.surface, rng)
        carries = handler.write(standing, sheet.surface.prefix.removesuffix("."), own)
        pieces += [piece for carry in carries for _, piece in carry.written if piece is not None]
        looks |= own
    renderer = Renderer(seed)
    for things, tally in (((), clear), (tuple(objects_on(setting, rng)), covered)):
        image = renderer.render(Scene(setting, tuple(pieces), (), things), 1)
        reading = table_reader(setting.camera, setting.layout, None).read(Frame(image, 0.0, 0, f"table {seed}"))
        for sheet in lying_sheets(setting.layout):
            add_sheet(sheet.surface, {place: looks.get(place, EMPTY) for place in sheet.surface.places}, reading, tally)


def add_sheet(surface: GridSurface, looks: Mapping[str, str], reading: Reading, tally: Tally) -> None:
    """Compare the reading of one sheet with its true looks."""
    seen = {place: reading.places[place] for place in surface.places if place in reading.places}
    visible = {place: one.best for place, one in seen.items() if one.hidden_by is None}
    tally.sheets += 1
    tally.hidden += not visible
    tally.covered += 0 < len(visible) < len(seen)
    tally.wrong += any(
        look != looks[place] and probability >= _READ_PROBABILITY for place, (look, probability) in visible.items()
    )


@click.command(help=__doc__)
@click.option("--tables", default=60, show_default=True, type=click.IntRange(min=1), help="How many tables.")
@click.option("--seed", default=1, show_default=True, type=click.IntRange(min=0), help="Tables are seed, seed + 1, ...")
@click.option("--size", default="960x540", show_default=True, help="The camera's picture.")
def main(tables: int, seed: int, size: str) -> None:
    """Read the tables and report."""
    console = Console(highlight=False)
    clear, covered = Tally(), Tally()
    for number in track(range(seed, seed + tables), "tables", console=console):
        read_table(number, picture_size(size), clear, covered)
    for name, tally in (("clear sheets", clear), ("with an object", covered)):
        console.print(
            f"{name}: {tally.sheets}; wholly hidden {tally.hidden}; object detected on {tally.covered}; "
            f"read wrongly {tally.wrong}"
        )
    sys.exit(1 if clear.hidden or clear.covered or clear.wrong or covered.wrong else 0)


if __name__ == "__main__":
    main()
