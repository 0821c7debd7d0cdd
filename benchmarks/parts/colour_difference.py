"""How different two lights look to an eye, ordinary or colour-blind.

Colour blindness is simulated with the matrices of Machado, Oliveira and Fernandes, "A Physiologically-based Model for
Simulation of Color Vision Deficiency", IEEE TVCG 15(6), 2009, severity 1.0, on linear light. Differences are
CIEDE2000 as given by Sharma, Wu and Dalal, Color Research and Application 30(1), 2005, against the LED's own white.

LEDs are taken to have sRGB's primaries. A WS2812's are purer, so real lights differ rather more.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from types import MappingProxyType

from common.srgb import linear_from_srgb
from hardware.lights.signals import Style

Rgb = tuple[float, float, float]
Lab = tuple[float, float, float]
Matrix = tuple[Rgb, Rgb, Rgb]


class Eye(enum.Enum):
    """Who looks: an ordinary eye, or one that lacks the long-, the middle- or the short-wave cones."""

    ORDINARY = "ordinary"
    PROTANOPIA = "protanopia"
    DEUTERANOPIA = "deuteranopia"
    TRITANOPIA = "tritanopia"


VISION_MATRICES: Mapping[Eye, Matrix] = MappingProxyType(
    {
        Eye.ORDINARY: ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
        Eye.PROTANOPIA: (
            (0.152286, 1.052583, -0.204868),
            (0.114503, 0.786281, 0.099216),
            (-0.003882, -0.048116, 1.051998),
        ),
        Eye.DEUTERANOPIA: (
            (0.367322, 0.860646, -0.227968),
            (0.280085, 0.672501, 0.047413),
            (-0.011820, 0.042940, 0.968881),
        ),
        Eye.TRITANOPIA: (
            (1.255528, -0.076749, -0.178779),
            (-0.078411, 0.930809, 0.147602),
            (0.004733, 0.691367, 0.303900),
        ),
    }
)
"""Linear red, green, blue as an ordinary eye would have to see them to see what this eye sees."""

# Linear sRGB to CIE XYZ with D65 (IEC 61966-2-1).
_TO_XYZ: Matrix = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)
DISTINCT_DIFFERENCE = 10.0
"""The CIEDE2000 from which on two lights are taken to be told apart by colour at a glance.

1 is about the least difference that an eye finds in two colours side by side; lights are apart, small, and looked at
in passing, hence ten times that.
"""
_MIDDLE_LIGHTNESS = 50.0
_25_TO_THE_7 = 25.0**7


def perceived_light(colour: tuple[int, int, int], eye: Eye) -> Rgb:
    """Give the linear light, each 0 to 1, that an eye sees of an LED told the sRGB-encoded ``colour``, 0 to 255."""
    light = (
        linear_from_srgb(colour[0] / 255),
        linear_from_srgb(colour[1] / 255),
        linear_from_srgb(colour[2] / 255),
    )
    red, green, blue = (min(1.0, max(0.0, value)) for value in _times(VISION_MATRICES[eye], light))
    return (red, green, blue)


def cielab(light: Rgb) -> Lab:
    """Turn linear light with sRGB's primaries into CIE 1976 L*, a*, b* with the LED's full white as white."""
    white = _times(_TO_XYZ, (1.0, 1.0, 1.0))
    x, y, z = (_cube_root(value / full) for value, full in zip(_times(_TO_XYZ, light), white, strict=True))
    return (116 * y - 16, 500 * (x - y), 200 * (y - z))


def difference(
    one: tuple[int, int, int], other: tuple[int, int, int], eye: Eye, *, by_hue_alone: bool = False
) -> float:
    """Give CIEDE2000 between two LEDs' colours as an eye sees them, 0 for the same.

    ``by_hue_alone`` leaves lightness out: nobody can say of a single light whether it is a bright green or a dark
    one.
    """
    first, second = cielab(perceived_light(one, eye)), cielab(perceived_light(other, eye))
    if by_hue_alone:
        first, second = (_MIDDLE_LIGHTNESS, *first[1:]), (_MIDDLE_LIGHTNESS, *second[1:])
    return ciede2000(first, second)


def ciede2000(one: Lab, other: Lab) -> float:
    """Give the CIEDE2000 colour difference of two L*, a*, b* colours, all weights 1 (Sharma, Wu and Dalal, 2005)."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean_chroma_7 = ((math.hypot(a1, b1) + math.hypot(a2, b2)) / 2) ** 7
    stretch = 1 + 0.5 * (1 - math.sqrt(mean_chroma_7 / (mean_chroma_7 + _25_TO_THE_7)))
    chroma1, hue1 = _polar(a1 * stretch, b1)
    chroma2, hue2 = _polar(a2 * stretch, b2)
    product = chroma1 * chroma2

    turn = 0.0 if product == 0 else (hue2 - hue1 + 180) % 360 - 180
    # Exactly opposite hues: the paper's rule keeps the sign of their plain difference.
    if turn == -180 and hue2 > hue1:
        turn = 180.0
    d_lightness, d_chroma = l2 - l1, chroma2 - chroma1
    d_hue = 2 * math.sqrt(product) * math.sin(math.radians(turn / 2))

    lightness, chroma = (l1 + l2) / 2, (chroma1 + chroma2) / 2
    hue = hue1 + hue2 if product == 0 else _mean_hue(hue1, hue2)
    weave = 1 - 0.17 * _cos(hue - 30) + 0.24 * _cos(2 * hue) + 0.32 * _cos(3 * hue + 6) - 0.20 * _cos(4 * hue - 63)
    chroma_7 = chroma**7
    twist = -2 * math.sqrt(chroma_7 / (chroma_7 + _25_TO_THE_7))
    twist *= math.sin(math.radians(60 * math.exp(-(((hue - 275) / 25) ** 2))))
    off_middle = (lightness - 50) ** 2
    by_lightness = d_lightness / (1 + 0.015 * off_middle / math.sqrt(20 + off_middle))
    by_chroma = d_chroma / (1 + 0.045 * chroma)
    by_hue = d_hue / (1 + 0.015 * chroma * weave)
    return math.sqrt(max(0.0, by_lightness**2 + by_chroma**2 + by_hue**2 + twist * by_chroma * by_hue))


def distinguishable(one: Style, other: Style, eye: Eye) -> tuple[bool, bool]:
    """Say whether an eye tells two looks apart by colour (CIEDE2000 of at least ``CLEAR``), and by their rhythm."""
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


def _cube_root(ratio: float) -> float:
    """The curve of CIE 1976 L*: a cube root, with a straight line near black."""
    return ratio ** (1 / 3) if ratio > (6 / 29) ** 3 else ratio / (3 * (6 / 29) ** 2) + 4 / 29


def _times(matrix: Matrix, vector: Rgb) -> Rgb:
    x, y, z = (sum(row * value for row, value in zip(line, vector, strict=True)) for line in matrix)
    return (x, y, z)
