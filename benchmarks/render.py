"""How long the virtual table takes for a picture: python benchmarks/render.py [--turns N] [--size 1280x720]."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import argparse
import time
from dataclasses import replace

import numpy as np

from simulator.play.game import GameOptions
from simulator.scene.viewpoint import lens
from simulator.table import VirtualTable, standard_setting


def main() -> None:
    """Play a game and print milliseconds a frame."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=4)
    parser.add_argument("--size", default="1280x720")
    parser.add_argument("--seed", type=int, default=7)
    chosen = parser.parse_args()
    width, height = (int(part) for part in chosen.size.split("x"))
    setting = replace(standard_setting(), camera=lens((width, height)))
    table = VirtualTable(chosen.seed, GameOptions(turns=chosen.turns), setting=setting)
    times_ms: list[float] = []
    began = time.perf_counter()
    for _ in table.frames():
        ended = time.perf_counter()
        times_ms.append((ended - began) * 1000)
        began = ended
    first, rest = times_ms[0], np.asarray(times_ms[1:])
    print(f"{len(times_ms)} frames of {width}x{height}: first {first:.0f} ms (paints the background)")
    print(
        f"then mean {rest.mean():.1f} ms, median {np.median(rest):.1f} ms, 95% within {np.percentile(rest, 95):.1f} ms"
    )


if __name__ == "__main__":
    main()
