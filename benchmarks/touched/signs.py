"""How much written signs change in the picture when they are traced or written anew, and when nobody touches them.

It reports, by what happened to a sign and to the light or the camera, quantiles of the logarithm of the difference
between two pictures, as a multiple of the usual one, and how many signs the judge takes to be written anew.

Run: python benchmarks/touched/signs.py [--tables N] [--seed S] [--size 1280x720]

Sheets of Number Drop are filled at random on virtual tables that differ in camera, light, surface and handwriting. Then
some signs are traced, some written over with others, and some erased and replaced by others.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import click
import cv2
import numpy as np
from rich.console import Console
from rich.progress import track

from benchmarks.faults.disturbances import DisturbanceMaker
from benchmarks.faults.table import faulty_setting
from benchmarks.parts.command_line import figures, picture_size
from benchmarks.parts.soak.game import looks_of_pieces
from referee.judge.evidence.earlier_readings import differing_signs
from simulator.play.actions import Arrangement, Carry, Slack
from simulator.play.ink import NumberSheetHandler, as_ink
from simulator.rendering.renderer import Renderer
from simulator.scene.pieces import InkPose, changed
from simulator.scene.scene import Scene, Setting
from vision.frame import Frame
from vision.readers.registry import table_reader
from vision.reading import PlacePicture

_GAME = "number-drop"
_DISTURBANCES = ("lamp switched", "lamp dimmed", "camera bumped")
_WRITTEN = 0.5
"""Share of the cells that are written."""
_CHANGES = ("nothing", "traced", "written over", "replaced")
_SHARES = (0.6, 0.1, 0.15, 0.15)
"""Shares of the signs to which each of these happens."""
_QUANTILES = (0.0, 0.01, 0.5, 0.99, 1.0)
_LEAST_DIFFERENCE = 1e-3
"""Floor of the difference before its logarithm is taken."""


@dataclass(frozen=True)
class ComparedSign:
    """What happened to a sign and to its table, the difference of its pictures, and whether the judge takes it to be
    written anew.
    """

    happened: str
    disturbance: str
    difference: float
    is_anew: bool


def compared_signs(seed: int, size: tuple[int, int]) -> Iterator[ComparedSign]:
    """Fill the sheets of one table, change some signs, and compare their pictures."""
    setting, rng = faulty_setting(seed, size, _GAME, 2 + seed % 3), np.random.default_rng(seed)
    handler = NumberSheetHandler(setting.layout, Slack(), rng)
    cells = [place for surface in setting.layout.surfaces for place in surface.places]
    written = {place: str(rng.choice(handler.signs)) for place in cells if rng.random() < _WRITTEN}
    before = handler.set_up({})
    for place, look in written.items():
        before = before.after_all(handler.write(before, _player(place), {place: look}))
    happened = {place: str(rng.choice(_CHANGES, p=_SHARES)) for place in written}
    after = before
    for place, change in happened.items():
        if change == "traced":
            after = after.after_all(handler.nudges(after, place))
        elif change != "nothing":
            other = str(rng.choice([look for look in handler.signs if look != written[place]]))
            (writing, back) = handler.write(after, _player(place), {place: other})
            if change == "written over":
                writing = _with_old_ink(writing, as_ink(after[place]))
            after = after.after_all((writing, back))
    earlier = _pictures(setting, before, seed, 0)
    maker = DisturbanceMaker(setting, rng)
    for number, kind in enumerate(("nothing", *_DISTURBANCES), 1):
        disturbed = setting
        if kind in _DISTURBANCES:
            drawn = maker.make(kind, 0.0, ())
            disturbed = replace(setting, lighting=drawn.lighting or setting.lighting, pose=drawn.pose or setting.pose)
        seen = _pictures(disturbed, after, seed, number)
        found: dict[str, dict[str, float]] = defaultdict(dict)
        for place in earlier.keys() & seen.keys() & happened.keys():
            found[_player(place)][place] = earlier[place].difference(seen[place])
        for sheet in found.values():
            anew = differing_signs(sheet)
            for place, difference in sheet.items():
                yield ComparedSign(happened[place], kind, difference, place in anew)


def _with_old_ink(writing: Carry, old: InkPose) -> Carry:
    """The carry of a pen that writes a sign over an old one, whose strokes stay."""
    ((place, new),) = writing.written
    if new is None:
        raise ValueError(f"nothing is written on {place}")
    return replace(writing, written=((place, changed(new, strokes=(*old.strokes, *as_ink(new).strokes))),))


def _player(place: str) -> str:
    return place.partition(".")[0]


def _pictures(setting: Setting, standing: Arrangement, seed: int, number: int) -> Mapping[str, PlacePicture]:
    """Read the sheets once, and give the picture of each sign."""
    image = Renderer(seed).render(Scene(setting, tuple(standing.values())), number)
    reader = table_reader(setting.camera, setting.layout, looks_of_pieces(setting.camera.size, _GAME))
    places = reader.read(Frame(image, float(number), number)).places
    return {place: one.picture for place, one in places.items() if one.picture is not None}


@click.command(help=__doc__)
@click.option("--tables", default=20, show_default=True, type=click.IntRange(1), help="How many tables.")
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0), help="Tables are seed, seed + 1, ...")
@click.option("--size", default="1280x720", show_default=True, help="The camera's picture.")
def main(tables: int, seed: int, size: str) -> None:
    """Write, compare, report."""
    cv2.setNumThreads(1)
    console = Console()
    found: dict[tuple[str, str], list[ComparedSign]] = defaultdict(list)
    for number in track(range(seed, seed + tables), console=console, transient=True):
        for sign in compared_signs(number, picture_size(size)):
            found[sign.happened, sign.disturbance].append(sign)
    table = figures(
        "Signs, by the logarithm of the difference of their pictures",
        "sign; table",
        *(f"{share:.0%}" for share in _QUANTILES),
        "written anew",
    )
    for (happened, disturbance), signs in sorted(found.items()):
        logs = [math.log(max(sign.difference, _LEAST_DIFFERENCE)) for sign in signs]
        quantiles = (f"{value:.2f}" for value in np.quantile(logs, _QUANTILES))
        anew = f"{sum(sign.is_anew for sign in signs)} of {len(signs)}"
        table.add_row(f"{happened}; {disturbance}", *quantiles, anew)
    console.print(table)


if __name__ == "__main__":
    main()
