"""The outlines of the six symbols of Deblockle's blocks, as printed, drawn and recognised, and the pips of dice."""

import math
from collections.abc import Mapping
from types import MappingProxyType

PIPS: Mapping[int, tuple[tuple[int, int], ...]] = MappingProxyType(
    {
        1: ((0, 0),),
        2: ((-1, -1), (1, 1)),
        3: ((-1, -1), (0, 0), (1, 1)),
        4: ((-1, -1), (-1, 1), (1, -1), (1, 1)),
        5: ((-1, -1), (-1, 1), (1, -1), (1, 1), (0, 0)),
        6: ((-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)),
    }
)
"""The pips of each value of a die: their columns and rows from the face's centre."""

Outline = tuple[tuple[float, float], ...]
"""Corners (x, y) about a face's centre, x to the right and y up, as shares of the face's side."""

_STAR_RADII = (0.35, 0.14)
_RING_RADII = (0.155, 0.1)
_RING_CENTRES = ((0.0, 0.19), (-0.172, -0.112), (0.172, -0.112))
_ROUND = 48
"""Corners of a circle."""


def star(radius: float = _STAR_RADII[0]) -> Outline:
    """Return a five-pointed star with one point up."""
    inner = radius * _STAR_RADII[1] / _STAR_RADII[0]
    return _around(10, (radius, inner))


def circle(radius: float, x: float = 0.0, y: float = 0.0, corners: int = _ROUND) -> Outline:
    """Return a circle as a polygon."""
    return _around(corners, (radius,), x, y)


def _around(corners: int, radii: tuple[float, ...], x: float = 0.0, y: float = 0.0, first: float = 0.0) -> Outline:
    """Return corners at equal angles, with radii in turn; ``first`` is that of the first one, as a share of a turn."""
    turns = (2 * math.pi * (number / corners + first) for number in range(corners))
    return tuple(
        (x + radii[number % len(radii)] * math.sin(turn), y + radii[number % len(radii)] * math.cos(turn))
        for number, turn in enumerate(turns)
    )


def _plus(length: float, width: float, turned: float = 0.0) -> Outline:
    a, w = length / 2, width / 2
    corners = (
        (-w, a),
        (w, a),
        (w, w),
        (a, w),
        (a, -w),
        (w, -w),
        (w, -a),
        (-w, -a),
        (-w, -w),
        (-a, -w),
        (-a, w),
        (-w, w),
    )
    cosine, sine = math.cos(turned), math.sin(turned)
    return tuple((cosine * x - sine * y, sine * x + cosine * y) for x, y in corners)


SYMBOLS: Mapping[str, tuple[Outline, ...]] = MappingProxyType(
    {
        "star": (star(),),
        "stop": (_around(8, (0.345,), first=1 / 16),),
        "cross": (_plus(0.68, 0.2),),
        "x": (_plus(0.73, 0.2, math.pi / 4),),
        "slider": (_around(4, (0.355, 0.235)),),
        "hoops": tuple(circle(radius, x, y) for x, y in _RING_CENTRES for radius in _RING_RADII),
    }
)
"""The outlines of each symbol; inside an even number of them there is no ink."""
