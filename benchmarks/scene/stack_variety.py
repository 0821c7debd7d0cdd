"""Random pictures of stacks of pyramids, with occlusions and other objects, each from one random generator.

They train the network that reads stacks: fast rather than exact, and more varied than any one table.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from benchmarks.scene.quick_stacks import (
    GROUND_MARGIN_MM,
    NOT_A_TOP,
    DistantLamp,
    Lights,
    Piece,
    PyramidSet,
    StackCanvas,
    facets_of,
    irradiance,
    linear,
    photographed,
    random_light,
)
from benchmarks.scene.reflections import Facets
from simulator.rendering.optics import UP
from simulator.rendering.pieces import UNIT_SQUARE
from simulator.scene.pieces import PLASTIC
from simulator.scene.scene import looking_at
from vision.frame import FloatArray, FloatImage, Image
from vision.geometry import CameraModel, Pose, hull_px, project
from vision.layout.pieces import GridSurface, PyramidPieces
from vision.layout.table import TableLayout

_MARGIN_MM = 26.0
"""Width of the table around the board in the picture."""
_REFLECTION_MM, _SHADOW_MM = 60.0, 90.0
"""Maximum distance of other stacks that are reflected in one, or cast shadows on it."""
_TEXTURE_PX_PER_MM = 1.5
_USUAL = tuple(PLASTIC.values())
_MEDIUMS, _SMALLS = (0.55, 0.25, 0.12, 0.08, 0.0, 0.0, 0.0), (0.34, 0.36, 0.16, 0.09, 0.05)
_MEDIUMS_ON_CLEAR, _SMALLS_ON_CLEAR = (0.2, 0.15, 0.12, 0.12, 0.13, 0.22, 0.06), (0.45, 0.28, 0.14, 0.08, 0.05)
"""Probabilities of 0, 1, 2… medium pyramids, and then small ones, on a large one."""


@dataclass(frozen=True, eq=False)
class TrueStack:
    """Ground truth of a stack: the size of its top, and how many pieces stand on the large one.

    ``tip_mm`` (3,) and ``foot_mm`` (2,) are in the table's frame; ``angle_rad`` is the rotation about the vertical.
    """

    size: str
    pieces: int
    tip_mm: FloatArray
    foot_mm: FloatArray
    angle_rad: float


@dataclass(frozen=True, eq=False)
class StacksPicture:
    """A picture of a board, blue-green-red, and its ground truth.

    ``stacks`` has only places with a stack; ``hidden`` are the places where the picture does not show what is there.
    """

    image: Image
    camera: CameraModel
    pose: Pose
    stacks: Mapping[str, TrueStack]
    hidden: frozenset[str]


def stacks_picture(rng: np.random.Generator, layout: TableLayout) -> StacksPicture:
    """Return a board with a stack on nearly every place, seen by a random camera in random light."""
    board = layout.board
    camera, pose = _camera(rng, board)
    look = _look(rng)
    lights = _lights(rng)
    tidy = rng.uniform(0.3, 1.4)
    stacks = {place: _stack(rng, board, place, look, tidy) for place in board.places if rng.random() > 0.07}
    texture = _texture(rng, board, [pieces for pieces, _ in stacks.values()], lights)
    canvas = StackCanvas(camera, pose, texture, board, _sky(rng, lights))
    facets = {place: [facets_of(piece, look, lights) for piece in pieces] for place, (pieces, _) in stacks.items()}
    corners = {place: _corners(pieces) for place, (pieces, _) in stacks.items()}
    numbers = {place: number for number, place in enumerate(board.places, start=1)}
    order = sorted(board.places, key=lambda place: -_camera_distance_mm(pose, board, place))
    for place in order:
        if place in stacks:
            pieces, _ = stacks[place]
            distances_mm = {other: _distance_mm(board, place, other) for other in facets if other != place}
            casters = [corners[other] for other, far in distances_mm.items() if far < _SHADOW_MM]
            others = [part for other, far in distances_mm.items() if far < _REFLECTION_MM for part in facets[other]]
            for number, piece in enumerate(pieces):
                label = numbers[place] if piece is pieces[-1] else NOT_A_TOP
                mirrored = Facets.joined([*others, *facets[place][:number]])
                canvas.draw_pyramid(piece, look, lights, label, mirrored, casters)
        elif rng.random() < 0.4:
            canvas.draw_foreign_object(rng, np.array([*board.centre_mm(place), board.height_mm]), lights)
    for _ in range(int(rng.choice(4, p=[0.62, 0.22, 0.1, 0.06]))):
        canvas.draw_occluder(rng, board)
    hidden = set()
    visible_samples = canvas.visible_samples()
    for place in board.places:
        if place in stacks:
            if not canvas.top_is_visible(numbers[place], stacks[place][1].tip_mm, visible_samples):
                hidden.add(place)
        elif canvas.occluded_share(_square(board, place)) > 0.6:
            hidden.add(place)
    image = photographed(rng, canvas.light())
    return StacksPicture(image, camera, pose, {place: true for place, (_, true) in stacks.items()}, frozenset(hidden))


def _square(board: GridSurface, place: str) -> FloatArray:
    corners = np.column_stack([UNIT_SQUARE * 0.7 * board.cell_mm, np.zeros(4)])
    return np.asarray(corners + np.array([*board.centre_mm(place), board.height_mm]), dtype=np.float64)


def _corners(pieces: Sequence[Piece]) -> FloatArray:
    return np.vstack([np.vstack([piece.below, piece.above]) for piece in pieces])


def _distance_mm(board: GridSurface, place: str, other: str) -> float:
    return math.dist(board.centre_mm(place), board.centre_mm(other))


def _sky(rng: np.random.Generator, lights: Lights) -> FloatArray:
    """Return the light of a room's walls and ceiling."""
    return linear(np.full(3, rng.uniform(0.3, 0.9)) * rng.normal(1, 0.05, 3)) * lights.ambient * rng.uniform(0.5, 2.0)


def _camera_distance_mm(pose: Pose, board: GridSurface, place: str) -> float:
    return float(np.linalg.norm(np.array([*board.centre_mm(place), board.height_mm]) - pose.camera_position_mm))


def _camera(rng: np.random.Generator, board: GridSurface) -> tuple[CameraModel, Pose]:
    """Return a camera whose picture holds just the board and a margin."""
    distance, px_per_mm = rng.uniform(380, 1000), math.exp(rng.uniform(math.log(1.1), math.log(1.9)))
    tilt = rng.uniform(0, 44) if rng.random() < 0.6 else rng.uniform(0, 10)
    aside = rng.normal(0, 40, 2)
    pose = looking_at(distance, tilt, rng.uniform(-180, 180), rng.uniform(-8, 8), (aside[0], aside[1], 0.0))
    matrix = np.array([[px_per_mm * distance, 0, 0], [0, px_per_mm * distance, 0], [0, 0, 1.0]])
    corners = np.vstack([board.bounds_mm.grown(_MARGIN_MM).corners_mm(0), board.bounds_mm.corners_mm(95)])
    pixels = project(CameraModel(matrix, np.zeros(5), (1, 1)), pose, corners)
    low, high = pixels.min(axis=0), pixels.max(axis=0)
    matrix[:2, 2] -= low
    size = (math.ceil(high[0] - low[0]), math.ceil(high[1] - low[1]))
    return CameraModel(matrix, np.zeros(5), size), pose


def _look(rng: np.random.Generator) -> PyramidSet:
    usual = rng.random() < 0.65
    colours = {
        str(number): linear(np.array(_USUAL[number]) * rng.normal(1, 0.12, 3)) if usual else random_light(rng, 0.3)
        for number in range(4)
    }
    colours["clear"] = linear(np.full(3, rng.uniform(0.5, 0.9)) * rng.normal(1, 0.03, 3))
    colours["black"] = linear(np.full(3, rng.uniform(0.05, 0.22)) * rng.normal(1, 0.05, 3))
    body = rng.uniform(0.35, 1.0) if rng.random() < 0.5 else 1.0
    opacity = {str(number): float(np.clip(body + rng.normal(0, 0.06), 0.3, 1.0)) for number in range(4)}
    opacity |= {"clear": rng.uniform(0.2, 0.65), "black": rng.uniform(0.6, 1.0)}
    return PyramidSet(
        colours=colours,
        opacity=opacity,
        tip_share=float(np.clip(rng.normal(0.16, 0.012), 0.12, 0.2)),
        rise_mm=rng.normal(5.5, 0.3),
        edge_light=rng.uniform(0.8, 1.4) if rng.random() < 0.35 else 1.0,
        edge_mm=rng.uniform(0.3, 0.9),
        tip_light=rng.uniform(0.9, 1.35),
        gloss=rng.uniform(0, 0.25) ** 1.5,
        back_share=rng.uniform(0.0, 1.0),
        facing=rng.uniform(0.0, 1.0) if rng.random() < 0.8 else 0.0,
        head_on=rng.uniform(0.03, 0.06) if rng.random() < 0.75 else 0.0,
        mirror_blur_px=rng.uniform(0.3, 3.0) if rng.random() < 0.5 else 0.0,
    )


def _lights(rng: np.random.Generator) -> Lights:
    lamps = []
    for _ in range(int(rng.choice(4, p=[0.1, 0.5, 0.3, 0.1]))):
        zenith, azimuth = math.radians(rng.uniform(5, 68)), rng.uniform(0, 2 * math.pi)
        direction = np.array(
            [math.sin(zenith) * math.cos(azimuth), math.sin(zenith) * math.sin(azimuth), math.cos(zenith)]
        )
        colour = rng.uniform(0.3, 1.0) * rng.normal(1, 0.08, 3)
        lamps.append(DistantLamp(direction, colour, rng.uniform(0.02, 0.3)))
    return Lights(rng.uniform(0.15, 0.7), lamps)


def random_pile(rng: np.random.Generator) -> list[tuple[str, str]]:
    """Draw the sizes and colours of a stack, lowest first; on a clear base the sizes may be in any order."""
    own = str(rng.integers(4))
    clear = rng.random() < 0.33
    pile = [("L", "clear" if clear else own)]
    mediums = int(rng.choice(7, p=_MEDIUMS_ON_CLEAR if clear else _MEDIUMS))
    smalls = int(rng.choice(5, p=_SMALLS_ON_CLEAR if clear else _SMALLS))
    same = rng.random() < 0.7
    for size in ["M"] * mediums + ["S"] * smalls:
        other = str(rng.integers(4)) if clear and not same else own
        pile.append((size, other))
    if clear and rng.random() < 0.15:
        above = pile[1:]
        pile[1:] = [above[index] for index in rng.permutation(len(above))]
    if not clear and ((mediums == 1 and smalls == 1) or rng.random() < 0.06) and rng.random() < 0.75:
        pile.append((str(rng.choice(["L", "M", "S"], p=[0.7, 0.2, 0.1])), "black"))
        pile += [(size, own) for size in ("M", "S") if rng.random() < 0.12]
    return pile


def _stack(
    rng: np.random.Generator, board: GridSurface, place: str, look: PyramidSet, tidy: float
) -> tuple[list[Piece], TrueStack]:
    sizes = PyramidPieces.on(board).sizes
    foot = np.array(board.centre_mm(place)) + np.clip(rng.normal(0, 2.0 * tidy, 2), -6, 6)
    turned = float(np.clip(rng.normal(0, 0.15 * tidy), -0.5, 0.5))
    pile = random_pile(rng)
    pieces: list[Piece] = []
    # a pyramid's sides would meet at its apex; the apexes of nested ones are ``rise_mm`` apart
    apex = 0.0
    middle = np.array([*foot, board.height_mm])
    angle, lean = turned, np.zeros(2)
    for number, (size, colour) in enumerate(pile):
        height = sizes[size].height_mm
        if number:
            apex += look.rise_mm + max(0.0, rng.normal(0, 0.15))
            middle[:2] = middle[:2] + np.clip(rng.normal(0, 0.55 * tidy, 2), -2, 2)
            angle = turned + float(np.clip(rng.normal(0, 0.1 * tidy), -0.35, 0.35))
            lean = lean * 0.7 + rng.normal(0, 0.012 * tidy, 2)
        else:
            apex = height / (1 - look.tip_share)
        cosine, sine = math.cos(angle), math.sin(angle)
        base = UNIT_SQUARE @ np.array([[cosine, sine], [-sine, cosine]]) * sizes[size].base_mm
        low = max(apex - height / (1 - look.tip_share), 0.0)
        centre = middle + np.array([0, 0, low])
        below = centre + np.column_stack([base, base @ lean])
        above = centre + np.column_stack([base * look.tip_share, base @ lean * look.tip_share + height])
        above[:, :2] -= lean * height
        pieces.append(Piece(size, below, above, colour))
    top = pieces[-1]
    return pieces, TrueStack(top.size, len(pile) - 1, top.above.mean(axis=0), foot, turned)


def _grain(rng: np.random.Generator, shape: tuple[int, int], strength: float) -> FloatImage:
    """Draw the grain of a table or board, as factors around 1."""
    fine = max(2, int(rng.integers(2, 40)))
    coarse = rng.standard_normal((max(2, shape[0] // fine), max(2, shape[1] // int(rng.integers(2, 60)))))
    spots = cv2.resize(coarse.astype(np.float32), shape[::-1], interpolation=cv2.INTER_CUBIC)
    grain = spots + 0.5 * rng.standard_normal(shape).astype(np.float32)
    return np.clip(
        1 + np.float32(strength) * (grain.T if shape[0] == shape[1] and rng.random() < 0.5 else grain), 0.2, 2
    )


def _texture(
    rng: np.random.Generator,
    board: GridSurface,
    stacks: Sequence[Sequence[Piece]],
    lights: Lights,
) -> FloatImage:
    """Return the board and the table around it from above, with the stacks' shadows, in linear light."""
    around = board.bounds_mm.grown(GROUND_MARGIN_MM)
    side = round(around.width_mm * _TEXTURE_PX_PER_MM)
    picture = np.empty((side, side, 3), dtype=np.float32)
    level = irradiance(UP, lights)
    picture[:] = random_light(rng) * level
    picture *= _grain(rng, (side, side), rng.uniform(0, 0.25))[..., None]

    def at(x_mm: float, y_mm: float) -> tuple[int, int]:
        return round((x_mm - around.left_mm) * _TEXTURE_PX_PER_MM), round((around.far_mm - y_mm) * _TEXTURE_PX_PER_MM)

    bounds = board.bounds_mm
    (left, top), (right, bottom) = at(bounds.left_mm, bounds.far_mm), at(bounds.right_mm, bounds.near_mm)
    tint = linear(np.array([0.58, 0.73, 0.86]) * rng.uniform(0.3, 1.1) * rng.normal(1, 0.08, 3))
    own = (tint if rng.random() < 0.6 else random_light(rng)) * level
    grain = _grain(rng, (bottom - top, right - left), rng.uniform(0, 0.2))
    picture[top:bottom, left:right] = own * grain[..., None]
    line = own * rng.uniform(0.1, 1.6)
    for step in range(board.columns + 1):
        across = round(left + step * board.cell_mm * _TEXTURE_PX_PER_MM)
        down = round(top + step * board.cell_mm * _TEXTURE_PX_PER_MM)
        cv2.line(picture, (across, top), (across, bottom), line.tolist(), int(rng.integers(1, 3)))
        cv2.line(picture, (left, down), (right, down), line.tolist(), int(rng.integers(1, 3)))
    for lamp in lights.lamps:
        to_lamp = lamp.direction
        mask = np.zeros((side, side), dtype=np.uint8)
        for pieces in stacks:
            corners = _corners(pieces)
            ground = corners[:, :2] - to_lamp[:2] / to_lamp[2] * (corners[:, 2:] - board.height_mm)
            pixels = np.array([at(x, y) for x, y in ground], dtype=np.float64)
            cv2.fillConvexPoly(mask, np.rint(hull_px(pixels)).astype(np.int32), 255)
        soft = cv2.GaussianBlur(mask, (0, 0), 1 + 30 * lamp.softness) / np.float32(255)
        remaining = 1 - max(0.0, float(to_lamp[2])) * lamp.colour / level * 0.85
        picture *= 1 - soft[..., None] * (1 - remaining).astype(np.float32)
    return picture
