"""Nets of cubes and pyramids: flat faces to cut out and fold, with tabs to glue.

Lengths are in millimetres. A net is seen from its printed side, which is outside when it is folded. Faces that share an
edge are hinged there.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from frontends.printing.pages import Contour, Point
from vision.layout.pieces import TIP_SHARE, PyramidSize

TAB_MM = 7.0
"""Usual depth of a tab: wide enough for a glue stick."""
_TAB_SLANT = 0.6
"""How far a tab's ends slant inwards, as a share of its depth: neighbouring tabs then don't meet inside."""

Edge = tuple[Point, Point]


@dataclass(frozen=True)
class Tab:
    """A tab along an edge of one face, glued under an edge of another face, which is as long."""

    edge: Edge
    under: Edge
    depth_mm: float

    @property
    def outline(self) -> Contour:
        """The tab's corners; the first and the last are on its edge."""
        (x, y), (to_x, to_y) = self.edge
        length = math.dist(*self.edge)
        along, out = ((to_x - x) / length, (to_y - y) / length), ((to_y - y) / length, (x - to_x) / length)
        slant = min(_TAB_SLANT * self.depth_mm, 0.3 * length)
        ends = ((x, y, slant), (to_x, to_y, -slant))
        first, second = (
            (at_x + inset * along[0] + self.depth_mm * out[0], at_y + inset * along[1] + self.depth_mm * out[1])
            for at_x, at_y, inset in ends
        )
        return self.edge[0], first, second, self.edge[1]


@dataclass(frozen=True)
class Net:
    """Faces by name, each with its corners anticlockwise, and the tabs that hold the folded net together.

    ``open_edges`` stay free: those of an open base.
    """

    faces: Mapping[str, Contour]
    tabs: tuple[Tab, ...]
    open_edges: tuple[Edge, ...] = ()

    @property
    def hinges(self) -> tuple[Edge, ...]:
        """The edges that two faces share."""
        edges = [edge for face in self.faces.values() for edge in edges_of(face)]
        return tuple(edge for number, edge in enumerate(edges) if any(same_edge(edge, one) for one in edges[:number]))

    @property
    def folds(self) -> tuple[Edge, ...]:
        """The lines to fold: hinges, and where tabs begin."""
        return (*self.hinges, *(tab.edge for tab in self.tabs))

    @property
    def cuts(self) -> tuple[Edge, ...]:
        """The edges of faces to cut; the tabs' outlines are cut too."""
        folded = self.folds
        free = (edge for face in self.faces.values() for edge in edges_of(face))
        return tuple(edge for edge in free if not any(same_edge(edge, fold) for fold in folded))

    @property
    def box(self) -> tuple[float, float, float, float]:
        """The left, lower, right and upper end of the net with its tabs."""
        corners = [corner for shape in (*self.faces.values(), *(tab.outline for tab in self.tabs)) for corner in shape]
        xs, ys = zip(*corners, strict=True)
        return min(xs), min(ys), max(xs), max(ys)


def edges_of(face: Contour) -> Iterator[Edge]:
    """Yield the edges of a face."""
    yield from pairwise((*face, face[0]))


def same_edge(one: Edge, other: Edge) -> bool:
    """Return whether two edges have the same ends, in either order."""
    return any(all(math.dist(a, b) < 1e-6 for a, b in zip(one, ends, strict=True)) for ends in (other, other[::-1]))


_CUBE = {"north": (1, 3), "west": (0, 2), "up": (1, 2), "east": (2, 2), "south": (1, 1), "down": (1, 0)}
"""Column and row of each side of a cube in its net: a strip of four, with an arm on either side of ``up``."""


def cube_net(side_mm: float, tab_mm: float = TAB_MM) -> Net:
    """Return the net of a cube; its faces are named by the sides of ``vision.layout.pieces.NET_SIDES``.

    Six tabs lie in the corners beside the strip, so that the net is three sides wide, and the last one below it.
    """
    faces = {name: _square(column * side_mm, row * side_mm, side_mm) for name, (column, row) in _CUBE.items()}
    low, right, high, left = ({name: list(edges_of(face))[side] for name, face in faces.items()} for side in range(4))
    glued = (
        (left["north"], high["west"]),
        (right["north"], high["east"]),
        (left["south"], low["west"]),
        (right["south"], low["east"]),
        (left["down"], left["west"]),
        (right["down"], right["east"]),
        (low["down"], high["north"]),
    )
    return Net(faces, tuple(Tab(edge, under, tab_mm) for edge, under in glued))


def _square(left: float, low: float, side: float) -> Contour:
    return ((left, low), (left + side, low), (left + side, low + side), (left, low + side))


def pyramid_net(size: PyramidSize, tab_mm: float) -> Net:
    """Return the net of a hollow pyramid with a flat tip and an open base, so that others can be put below it.

    Its four sides are a fan about the point at which they would meet; the tip is hinged to the second one.
    """
    slant_mm = math.hypot(size.apex_mm, size.base_mm / math.sqrt(2))
    opening = 2 * math.asin(size.base_mm / 2 / slant_mm)

    def at(ray: int, distance_mm: float) -> Point:
        angle = (2 - ray) * opening
        return distance_mm * math.sin(-angle), -distance_mm * math.cos(angle)

    tip_mm = TIP_SHARE * slant_mm
    sides = {
        f"side {ray + 1}": (at(ray, slant_mm), at(ray + 1, slant_mm), at(ray + 1, tip_mm), at(ray, tip_mm))
        for ray in range(4)
    }
    tip = _square_on(sides["side 2"][3], sides["side 2"][2])
    tabs = (Tab((at(4, slant_mm), at(4, tip_mm)), (at(0, slant_mm), at(0, tip_mm)), tab_mm),)
    return Net({**sides, "tip": tip}, tabs, tuple((side[0], side[1]) for side in sides.values()))


def _square_on(start: Point, end: Point) -> Contour:
    """Return the square to the left of the line from ``start`` to ``end``."""
    across, up = end[0] - start[0], end[1] - start[1]
    return start, end, (end[0] - up, end[1] + across), (start[0] - up, start[1] + across)


def moved(contour: Sequence[Point], x_mm: float, y_mm: float, *, turned: bool = False) -> Contour:
    """Return a polygon moved by (x, y), after half a turn about the origin if ``turned``."""
    sign = -1 if turned else 1
    return tuple((sign * x + x_mm, sign * y + y_mm) for x, y in contour)
