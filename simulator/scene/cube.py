"""The orientation of a cube: which symbol each side shows, how rolling changes it, and the rotation matrix."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np

from vision.frame import FloatArray

SIDES = ("up", "down", "north", "east", "south", "west")
OPPOSITE = {"up": "down", "down": "up", "north": "south", "south": "north", "east": "west", "west": "east"}
COMPASS = ("north", "east", "south", "west")
STEPS: Mapping[str, tuple[int, int]] = {"north": (0, 1), "east": (1, 0), "south": (0, -1), "west": (-1, 0)}
"""Column and row offset (away from the first player) of a step to each side."""
_DIRECTIONS: Mapping[str, tuple[int, int, int]] = {
    "up": (0, 0, 1),
    "down": (0, 0, -1),
    "north": (0, 1, 0),
    "south": (0, -1, 0),
    "east": (1, 0, 0),
    "west": (-1, 0, 0),
}


def direction(side: str) -> FloatArray:
    """Return the unit vector of a side in the table's frame: north = +y, east = +x, up = +z."""
    return np.array(_DIRECTIONS[side], dtype=np.float64)


def _symbol_top(side: str) -> FloatArray:
    """Return the direction of a symbol's own top in the net's frame: up on the sides, north on top and bottom."""
    return direction("north") if side in {"up", "down"} else direction("up")


def net_side(net: Mapping[str, str], symbol: str) -> str:
    """Return the side of the net that carries the symbol; raises ValueError when none does."""
    for side in SIDES:
        if net[side] == symbol:
            return side
    raise ValueError(f"the net has no symbol {symbol!r}; it has {', '.join(net[side] for side in SIDES)}")


def axis_of(net: Mapping[str, str], symbol: str) -> tuple[str, str]:
    """Return a symbol and the one on the opposite side of the net; raises ValueError for an unknown symbol."""
    return symbol, net[OPPOSITE[net_side(net, symbol)]]


def rotation_of(net: Mapping[str, str], up: str, north: str) -> FloatArray:
    """Return the rotation from the net's frame to the table's with symbol ``up`` on top and ``north`` to the north.

    Raises ValueError for two symbols that aren't neighbours.
    """
    up_net, north_net = direction(net_side(net, up)), direction(net_side(net, north))
    if abs(float(up_net @ north_net)) > 0.5:
        raise ValueError(f"{up!r} up and {north!r} north is no way to lay this cube; they must be on adjacent sides")
    source = np.column_stack([np.cross(north_net, up_net), north_net, up_net])
    target = np.column_stack([direction("east"), direction("north"), direction("up")])
    return np.asarray(target @ source.T, dtype=np.float64)


def faces_of(net: Mapping[str, str], up: str, north: str) -> dict[str, str]:
    """Return which symbol each of the six sides shows when ``up`` is on top and ``north`` to the north."""
    return dict(_shown(tuple(net[side] for side in SIDES), up, north))


@cache
def _shown(symbols: tuple[str, ...], up: str, north: str) -> tuple[tuple[str, str], ...]:
    """Return pairs of a side and the symbol that it shows, in the order of the net; cached for the 24 orientations."""
    rotation = rotation_of(dict(zip(SIDES, symbols, strict=True)), up, north)
    shown = []
    for side, symbol in zip(SIDES, symbols, strict=True):
        turned = rotation @ direction(side)
        shown.append((max(SIDES, key=lambda name: float(direction(name) @ turned)), symbol))
    return tuple(shown)


def roll_faces(faces: Mapping[str, str], towards: str) -> dict[str, str]:
    """Return the six faces after tipping the cube over its edge towards a compass side."""
    away = OPPOSITE[towards]
    after = dict(faces)
    after["up"], after[towards], after["down"], after[away] = (
        faces[away],
        faces["up"],
        faces[towards],
        faces["down"],
    )
    return after


def rotate_faces(faces: Mapping[str, str], quarter_turns: int) -> dict[str, str]:
    """Return the six faces after rotating the cube in place, anticlockwise seen from above, by quarter turns."""
    after = dict(faces)
    for index, side in enumerate(COMPASS):
        after[COMPASS[(index - quarter_turns) % 4]] = faces[side]
    return after


def tip_rotation(towards: str, angle_deg: float) -> FloatArray:
    """Return the rotation of a cube tipping towards a compass side by an angle, about its own centre."""
    axis = np.cross(direction("up"), direction(towards))
    matrix, _ = cv2.Rodrigues(axis * np.radians(angle_deg))
    return np.asarray(matrix, dtype=np.float64)


def turn_rotation(angle_deg: float) -> FloatArray:
    """Return the rotation about the vertical, anticlockwise seen from above."""
    matrix, _ = cv2.Rodrigues(direction("up") * np.radians(angle_deg))
    return np.asarray(matrix, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Face:
    """One face of a placed cube: its symbol, outward normal, centre and corners in millimetres.

    ``corners_mm`` of shape (4, 3) run as the face's picture does: top left, top right, bottom right, bottom left,
    seen from outside with the symbol's own top up.
    """

    symbol: str
    normal: FloatArray
    centre_mm: FloatArray
    corners_mm: FloatArray


def placed_faces(net: Mapping[str, str], rotation: FloatArray, centre_mm: FloatArray, side_mm: float) -> list[Face]:
    """Return the six faces of a cube whose centre is at ``centre_mm`` after ``rotation`` from its net's frame."""
    half = side_mm / 2
    faces: list[Face] = []
    for side in SIDES:
        normal = rotation @ direction(side)
        top = rotation @ _symbol_top(side)
        right = np.cross(top, normal)
        centre = centre_mm + half * normal
        corners = np.stack(
            [
                centre + half * (top - right),
                centre + half * (top + right),
                centre + half * (-top + right),
                centre + half * (-top - right),
            ]
        )
        faces.append(Face(net[side], normal, centre, corners))
    return faces
