"""How much discs of Diaballik change in the picture when a ball is put on or taken off, and when nobody touches them.

It reports, by what happened to a disc, quantiles of the logarithm of the difference between two pictures, as a multiple
of the usual one, and how many discs look so much as before that the judge takes them to be untouched.

Run: python benchmarks/touched/discs.py [--games N] [--turns N] [--seed S] [--size 960x540]

Random turns are played on virtual tables that differ in camera, light and surface, without hands. Each position is
rendered once.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

import click
import cv2
import numpy as np
from rich.console import Console
from rich.progress import track

from benchmarks.faults.table import faulty_setting
from benchmarks.parts.command_line import figures, picture_size
from benchmarks.parts.soak.game import looks_of_pieces
from common.places import EMPTY
from engine.registry import load
from referee.judge.evidence.earlier_pictures import UNTOUCHED_DISC
from simulator.play.actions import Slack
from simulator.play.diaballik import DiscHandler
from simulator.rendering.renderer import Renderer
from simulator.scene.scene import Scene
from vision.frame import Frame
from vision.readers.registry import table_reader
from vision.reading import PlacePicture

_GAME = "diaballik"
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_LEAST_DIFFERENCE = 1e-3
"""Floor of the difference before its logarithm is taken."""


def played(
    seed: int, turns: int, size: tuple[int, int]
) -> Iterator[tuple[Mapping[str, str], Mapping[str, PlacePicture]]]:
    """Play random turns of one game, and give the look and the picture of each disc after each."""
    game: Any = load(_GAME)
    setting, rng = faulty_setting(seed, size, _GAME), Random(seed)
    handler = DiscHandler(setting.layout, Slack(), np.random.default_rng(seed))
    state = game.rules.new({})
    standing = handler.set_up({p: look for p, look in game.table.appearance(state).items() if look != EMPTY})
    renderer = Renderer(seed)
    for number in range(turns + 1):
        image = renderer.render(Scene(setting, tuple(standing.values())), number)
        reader = table_reader(setting.camera, setting.layout, looks_of_pieces(size, _GAME))
        places = reader.read(Frame(image, float(number), number)).places
        seen = {place: one.picture for place, one in places.items() if one.picture is not None}
        yield game.table.appearance(state), seen
        turn = rng.choice(list(game.rules.legal_turns(state)))
        standing = standing.after_all(handler.carries_of(standing, turn))
        state = game.rules.apply(state, turn)
        if game.rules.outcome(state) is not None:
            return


def owner(look: str) -> str:
    """The player whose disc looks so."""
    return look.partition(" ")[0]


def happened(before: str, after: str) -> str | None:
    """What happened to a disc that stands on the same place before and after a turn; ``None`` if it is another."""
    if EMPTY in {before, after} or owner(before) != owner(after):
        return None
    if before == after:
        return "nothing"
    return "ball put on" if len(after) > len(before) else "ball taken off"


@click.command(help=__doc__)
@click.option("--games", default=20, show_default=True, type=click.IntRange(1), help="How many games.")
@click.option("--turns", default=12, show_default=True, type=click.IntRange(1), help="Turns in each game.")
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0), help="Games are seed, seed + 1, ...")
@click.option("--size", default="960x540", show_default=True, help="The camera's picture.")
def main(games: int, turns: int, seed: int, size: str) -> None:
    """Play, compare, report."""
    cv2.setNumThreads(1)
    console = Console()
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for number in track(range(seed, seed + games), console=console, transient=True):
        earlier: tuple[Mapping[str, str], Mapping[str, PlacePicture]] | None = None
        for looks, seen in played(number, turns, picture_size(size)):
            if earlier is not None:
                for place in seen.keys() & earlier[1].keys():
                    what = happened(earlier[0][place], looks[place])
                    difference = earlier[1][place].difference(seen[place])
                    if what is not None:
                        found[owner(looks[place]), what].append(math.log(max(difference, _LEAST_DIFFERENCE)))
            earlier = looks, seen
    table = figures(
        "Discs, by the logarithm of the difference of their pictures",
        "discs",
        *(f"{share:.0%}" for share in _QUANTILES),
        f"under {UNTOUCHED_DISC:g}",
    )
    for (player, what), values in sorted(found.items()):
        quantiles = (f"{value:.2f}" for value in np.quantile(values, _QUANTILES))
        under = f"{sum(value < UNTOUCHED_DISC for value in values)} of {len(values)}"
        table.add_row(f"{player}, {what}", *quantiles, under)
    console.print(table)


if __name__ == "__main__":
    main()
