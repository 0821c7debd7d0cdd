"""How far the lights' colours are apart for every eye, and whether colour or rhythm tells every two meanings apart.

Run: python benchmarks/colours.py [--picture docs/pictures/colours.png]

Prints, for an ordinary eye and for three kinds of colour-blind ones, CIEDE2000 between every two colours of the
palette, by hue alone (see hardware/lights/colour_difference.py).
Exits with 1 when two roles, or two moods, are told apart neither
by
colour nor by rhythm, or when the two colours nearest to each other differ too little even side by side.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

from itertools import combinations

import click
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from benchmarks.parts.colour_difference import DISTINCT_DIFFERENCE, Eye, difference, distinguishable, perceived_light
from hardware.lights import animation
from hardware.lights.signals import MOOD_STYLES, ROLE_STYLES, Colour, Style

LIT = [colour for colour in Colour if colour is not Colour.OFF]
ALL_STYLES = [*ROLE_STYLES.values(), *MOOD_STYLES.values()]
WATCHED_S = 4.0
STEPS_A_SECOND = 50


def distances(console: Console) -> float:
    """Print every two colours' difference for every eye; gives the least one with lightness counted."""
    table = Table("colours", *(eye.value for eye in Eye), title="CIEDE2000 by hue alone (with lightness)")
    least = 100.0
    for one, other in combinations(LIT, 2):
        cells = []
        for eye in Eye:
            by_hue = difference(one.value, other.value, eye, by_hue_alone=True)
            by_all = difference(one.value, other.value, eye)
            least = min(least, by_all)
            mark = "" if by_hue >= DISTINCT_DIFFERENCE else " *"
            cells.append(f"{by_hue:.1f} ({by_all:.1f}){mark}")
        table.add_row(f"{one.name.lower()}, {other.name.lower()}", *cells)
    console.print(table)
    console.print(f"* under {DISTINCT_DIFFERENCE:g}: hue alone does not tell these two apart for that eye")
    return least


def meanings(console: Console) -> int:
    """Print how many pairs of meanings rest on what; gives how many rest on nothing."""
    table = Table("pairs of", "eye", "pairs", "by colour", "by rhythm", "by neither")
    lost = 0
    for name, styles in (("roles", ROLE_STYLES.values()), ("moods", MOOD_STYLES.values())):
        for eye in Eye:
            told = [distinguishable(one, other, eye) for one, other in combinations(styles, 2)]
            neither = sum(not (by_colour or by_rhythm) for by_colour, by_rhythm in told)
            lost += neither
            colour, rhythm = (sum(pair[way] for pair in told) for way in (0, 1))
            table.add_row(name, eye.value, *(str(count) for count in (len(told), colour, rhythm, neither)))
    console.print(table)
    return lost


def draw(path: Path) -> None:
    """Draw every meaning as every eye sees it, over the first seconds after it lights up."""
    figure = Figure(figsize=(10, 7.5), layout="constrained")
    for axes, eye in zip(figure.subplots(1, len(Eye), sharey=True), Eye, strict=True):
        picture = [_strip(style, eye) for style in ALL_STYLES]
        axes.imshow(picture, aspect="auto", extent=(0, WATCHED_S, len(ALL_STYLES), 0), interpolation="nearest")
        axes.set_title(eye.value, fontsize=10)
        axes.set_xlabel("seconds")
        axes.set_xticks(range(int(WATCHED_S) + 1))
        axes.set_yticks(
            [row + 0.5 for row in range(len(ALL_STYLES))], [style.meaning for style in ALL_STYLES], fontsize=8
        )
        for row in range(1, len(ALL_STYLES)):
            is_border = row == len(ROLE_STYLES)
            axes.axhline(row, color="white", linewidth=5 if is_border else 1.5)
    figure.suptitle("Above: lights on squares. Below: the status light. As each eye sees them.", fontsize=11)
    figure.savefig(path, dpi=110)


def _strip(style: Style, eye: Eye) -> list[tuple[float, float, float]]:
    """The light of a style in small steps of time, as colours a screen shows."""
    light = perceived_light(style.colour.value, eye)
    steps = int(WATCHED_S * STEPS_A_SECOND)
    levels = [animation.brightness(style.pattern, step / STEPS_A_SECOND) for step in range(steps)]
    shown = tuple(12.92 * part if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055 for part in light)
    return [(level * shown[0], level * shown[1], level * shown[2]) for level in levels]


@click.command(help=__doc__)
@click.option("--picture", type=click.Path(path_type=Path, dir_okay=False), help="Also draw the lights into this file.")
def main(picture: Path | None) -> None:
    """Measure, print and, if asked, draw."""
    console = Console(width=110)
    least = distances(console)
    lost = meanings(console)
    if picture is not None:
        draw(picture)
        console.print(f"drawn into {picture}")
    console.print(f"least difference of two colours side by side, any eye: {least:.1f} (line: {DISTINCT_DIFFERENCE:g})")
    if lost or least < DISTINCT_DIFFERENCE:
        console.print(f"NOT MET: {lost} pairs of meanings are told apart by nothing")
        sys.exit(1)


if __name__ == "__main__":
    main()
