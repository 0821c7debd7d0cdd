"""Whether colour or rhythm distinguishes all light signals, for normal and for colour-blind vision.

Run: python benchmarks/colours.py [--picture docs/pictures/colours.png]

Prints the CIEDE2000 difference of each pair of palette colours, without and with lightness, for normal vision and three
kinds of colour blindness. Exit code 1 when two roles, or two moods, differ neither in hue nor in rhythm, or when two
colours differ too little even side by side.

Colour blindness is simulated with the matrices of Machado, Oliveira and Fernandes, "A Physiologically-based Model for
Simulation of Color Vision Deficiency", IEEE TVCG 15(6), 2009, severity 1.0, on linear light. Differences are CIEDE2000
as given by Sharma, Wu and Dalal, Color Research and Application 30(1), 2005, against the LED's own white. LEDs are
assumed to have sRGB's primaries; a WS2812's are purer, so real lights differ more.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import enum
import math
from collections.abc import Mapping
from itertools import combinations
from types import MappingProxyType

import click
import cv2
import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from common.srgb import linear_from_srgb
from hardware.lights import animation
from hardware.lights.signals import MOOD_STYLES, ROLE_STYLES, Colour, Style

Lab = tuple[float, float, float]
Floats = npt.NDArray[np.float64]


class Eye(enum.Enum):
    """Normal vision, or vision without the long-, middle- or short-wave cones."""

    ORDINARY = "ordinary"
    PROTANOPIA = "protanopia"
    DEUTERANOPIA = "deuteranopia"
    TRITANOPIA = "tritanopia"


VISION_MATRICES: Mapping[Eye, Floats] = MappingProxyType(
    {
        Eye.ORDINARY: np.eye(3),
        Eye.PROTANOPIA: np.array(
            [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
        ),
        Eye.DEUTERANOPIA: np.array(
            [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
        ),
        Eye.TRITANOPIA: np.array(
            [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
        ),
    }
)
"""By eye: maps linear RGB to the linear RGB that looks the same with normal vision."""

DISTINCT_DIFFERENCE = 10.0
"""The least CIEDE2000 at which two lights count as different at a glance.

About 1 is just noticeable side by side. Lights are small, apart, and seen in passing, hence ten times that.
"""
_MIDDLE_LIGHTNESS = 50.0
_25_TO_THE_7 = 25.0**7


def perceived_light(colour: tuple[int, int, int], eye: Eye) -> Floats:
    """Give the linear RGB, 0 to 1, that an eye sees of an LED set to the sRGB ``colour``, 0 to 255."""
    light = np.array([linear_from_srgb(part / 255) for part in colour])
    seen: Floats = np.clip(VISION_MATRICES[eye] @ light, 0.0, 1.0)
    return seen


def cielab(light: Floats) -> Lab:
    """Turn linear light with sRGB's primaries into CIE 1976 L*, a*, b* with the LED's full white as white."""
    lightness, a, b = cv2.cvtColor(np.array([[light]], dtype=np.float32), cv2.COLOR_LRGB2Lab)[0, 0].tolist()
    return lightness, a, b


def difference(
    one: tuple[int, int, int], other: tuple[int, int, int], eye: Eye, *, by_hue_alone: bool = False
) -> float:
    """Give CIEDE2000 between two LEDs' colours as an eye sees them, 0 for the same.

    ``by_hue_alone`` leaves lightness out: a single light doesn't show whether it is a bright or a dark green.
    """
    first, second = cielab(perceived_light(one, eye)), cielab(perceived_light(other, eye))
    if by_hue_alone:
        first, second = (_MIDDLE_LIGHTNESS, *first[1:]), (_MIDDLE_LIGHTNESS, *second[1:])
    return ciede2000(first, second)


def ciede2000(one: Lab, other: Lab) -> float:
    """Give the CIEDE2000 colour difference of two L*, a*, b* colours, all weights 1 (Sharma, Wu and Dalal, 2005)."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean_chroma_7 = ((math.hypot(a1, b1) + math.hypot(a2, b2)) / 2) ** 7
    a_scale = 1 + 0.5 * (1 - math.sqrt(mean_chroma_7 / (mean_chroma_7 + _25_TO_THE_7)))
    chroma1, hue1 = _polar(a1 * a_scale, b1)
    chroma2, hue2 = _polar(a2 * a_scale, b2)
    product = chroma1 * chroma2

    hue_change = 0.0 if product == 0 else (hue2 - hue1 + 180) % 360 - 180
    # Exactly opposite hues: the paper's rule keeps the sign of their plain difference.
    if hue_change == -180 and hue2 > hue1:
        hue_change = 180.0
    d_lightness, d_chroma = l2 - l1, chroma2 - chroma1
    d_hue = 2 * math.sqrt(product) * math.sin(math.radians(hue_change / 2))

    lightness, chroma = (l1 + l2) / 2, (chroma1 + chroma2) / 2
    hue = hue1 + hue2 if product == 0 else _mean_hue(hue1, hue2)
    hue_weight = 1 - 0.17 * _cos(hue - 30) + 0.24 * _cos(2 * hue) + 0.32 * _cos(3 * hue + 6) - 0.20 * _cos(4 * hue - 63)
    chroma_7 = chroma**7
    rotation = -2 * math.sqrt(chroma_7 / (chroma_7 + _25_TO_THE_7))
    rotation *= math.sin(math.radians(60 * math.exp(-(((hue - 275) / 25) ** 2))))
    off_middle = (lightness - 50) ** 2
    by_lightness = d_lightness / (1 + 0.015 * off_middle / math.sqrt(20 + off_middle))
    by_chroma = d_chroma / (1 + 0.045 * chroma)
    by_hue = d_hue / (1 + 0.015 * chroma * hue_weight)
    return math.sqrt(max(0.0, by_lightness**2 + by_chroma**2 + by_hue**2 + rotation * by_chroma * by_hue))


def distinguishable(one: Style, other: Style, eye: Eye) -> tuple[bool, bool]:
    """Whether two styles differ for an eye by colour (at least ``DISTINCT_DIFFERENCE``), and by rhythm."""
    by_colour = difference(one.colour.value, other.colour.value, eye, by_hue_alone=True) >= DISTINCT_DIFFERENCE
    return by_colour, one.pattern is not other.pattern


def _polar(a: float, b: float) -> tuple[float, float]:
    return math.hypot(a, b), math.degrees(math.atan2(b, a)) % 360


def _mean_hue(one: float, other: float) -> float:
    if abs(one - other) <= 180:
        return (one + other) / 2
    return (one + other + (360 if one + other < 360 else -360)) / 2


def _cos(degrees: float) -> float:
    return math.cos(math.radians(degrees))


LIT = [colour for colour in Colour if colour is not Colour.OFF]
ALL_STYLES = [*ROLE_STYLES.values(), *MOOD_STYLES.values()]
WATCHED_S = 4.0
STEPS_A_SECOND = 50


def distances(console: Console) -> float:
    """Print the difference of each pair of colours for each eye; return the least, lightness included."""
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
    """Print how many pairs of meanings differ by colour, rhythm or neither; return how many by neither."""
    table = Table("pairs of", "eye", "pairs", "by colour", "by rhythm", "by neither")
    indistinct = 0
    for name, styles in (("roles", ROLE_STYLES.values()), ("moods", MOOD_STYLES.values())):
        for eye in Eye:
            differences = [distinguishable(one, other, eye) for one, other in combinations(styles, 2)]
            neither = sum(not (by_colour or by_rhythm) for by_colour, by_rhythm in differences)
            indistinct += neither
            colour, rhythm = (sum(pair[way] for pair in differences) for way in (0, 1))
            table.add_row(name, eye.value, *(str(count) for count in (len(differences), colour, rhythm, neither)))
    console.print(table)
    return indistinct


def draw(path: Path) -> None:
    """Draw each signal as each eye sees it, over the first seconds after it lights up."""
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


def _strip(style: Style, eye: Eye) -> Floats:
    """The sRGB colours of a style at successive times, shape (steps, 3)."""
    light = perceived_light(style.colour.value, eye)
    steps = int(WATCHED_S * STEPS_A_SECOND)
    levels = [animation.brightness(style.pattern, step / STEPS_A_SECOND) for step in range(steps)]
    shown = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return np.outer(levels, shown)


@click.command(help=__doc__)
@click.option("--picture", type=click.Path(path_type=Path, dir_okay=False), help="Also draw the lights into this file.")
def main(picture: Path | None) -> None:
    """Measure, print and, if asked, draw."""
    console = Console(width=110)
    least = distances(console)
    indistinct = meanings(console)
    if picture is not None:
        draw(picture)
        console.print(f"drawn into {picture}")
    console.print(f"least difference side by side, any eye: {least:.1f} (target: {DISTINCT_DIFFERENCE:g})")
    if indistinct or least < DISTINCT_DIFFERENCE:
        console.print(f"NOT MET: {indistinct} pairs of meanings cannot be told apart")
        sys.exit(1)


if __name__ == "__main__":
    main()
