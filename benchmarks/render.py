"""How long the virtual table takes for a picture: python benchmarks/render.py [--turns N] [--size 1280x720]."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import time
from dataclasses import replace

import click
import numpy as np

from benchmarks.parts.command_line import picture_size
from simulator.play.game import GameOptions
from simulator.scene.viewpoint import lens
from simulator.table import VirtualTable, standard_setting


@click.command(help=__doc__)
@click.option("--turns", default=4, show_default=True, type=click.IntRange(1), help="Turns of the game.")
@click.option("--size", default="1280x720", show_default=True, help="Of the pictures.")
@click.option("--seed", default=7, show_default=True, type=click.IntRange(0), help="Which game is played.")
def main(turns: int, size: str, seed: int) -> None:
    """Play a game and print milliseconds a frame."""
    setting = replace(standard_setting(), camera=lens(picture_size(size)))
    times_ms: list[float] = []
    began = time.perf_counter()
    for _ in VirtualTable(seed, GameOptions(turns=turns), setting=setting).frames():
        ended = time.perf_counter()
        times_ms.append((ended - began) * 1000)
        began = ended
    first, rest = times_ms[0], np.asarray(times_ms[1:])
    print(f"{len(times_ms)} frames of {size}: first {first:.0f} ms (paints the background)")
    print(
        f"then mean {rest.mean():.1f} ms, median {np.median(rest):.1f} ms, 95% within {np.percentile(rest, 95):.1f} ms"
    )


if __name__ == "__main__":
    main()
