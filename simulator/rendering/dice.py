"""Ray-cast dice: rounded cubes with a drawing on each face, drawn over a picture in linear light.

A die is the intersection of a rounded box and a ball. Sphere tracing (Hart, 1996) finds its surface: each step along a
ray is as long as the distance to the surface. Faces show pips, characters, stars or shapes of four squares.
"""

import math
from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
import numpy.typing as npt

from simulator.rendering import painting
from simulator.rendering.optics import decode, develop, sensor_gain, supersampled_rays, vignette_at
from simulator.scene.pieces import Colour, DiePose
from simulator.scene.scene import Lighting, Setting
from simulator.scene.sheets import die_side_mm
from vision.frame import FloatArray, FloatImage, Image
from vision.geometry import CameraModel, Pose, project
from vision.layout.symbols import PIPS

FACE_PX = 64
"""The side of a drawing of a face, in pixels."""
_BIG_PX = 4 * FACE_PX
"""The side of a drawing before it is reduced."""

FACE_VALUES = (1, 6, 2, 5, 3, 4)
"""The values of ``pip_faces``, in order."""


def pip_face(value: int, radius: float, spread: float = 0.26, first_radius: float | None = None) -> FloatImage:
    """Return a face with pips, shape (FACE_PX, FACE_PX), 1 where there is a pip.

    Lengths are shares of the side: ``spread`` is the distance of rows of pips from the centre line. ``first_radius``
    replaces ``radius`` on the face with a single pip.
    """
    big = np.zeros((_BIG_PX, _BIG_PX), dtype=np.uint8)
    share = first_radius if value == 1 and first_radius is not None else radius
    for column, row in PIPS[value]:
        middle = [round(_BIG_PX * (0.5 + spread * along)) for along in (column, row)]
        cv2.circle(big, (middle[0], middle[1]), round(_BIG_PX * share), 255, cv2.FILLED)
    return smaller_face(big)


def text_face(
    text: str, size: float = 0.6, font: int = cv2.FONT_HERSHEY_SIMPLEX, stroke: float = 22 / _BIG_PX
) -> FloatImage:
    """Return a face with one or two characters, shape (FACE_PX, FACE_PX).

    ``size`` is their height and ``stroke`` the width of lines, as shares of the side; ``font`` is one of OpenCV's.
    """
    big = np.zeros((_BIG_PX, _BIG_PX), dtype=np.uint8)
    thickness = max(1, round(stroke * _BIG_PX))
    trial_scale = 5.0
    (width, height), _ = cv2.getTextSize(text, font, trial_scale, thickness)
    scale = trial_scale * min(size * _BIG_PX / height, 0.8 * _BIG_PX / width)
    (width, height), _ = cv2.getTextSize(text, font, scale, thickness)
    cv2.putText(big, text, (_BIG_PX // 2 - width // 2, _BIG_PX // 2 + height // 2), font, scale, 255, thickness)
    return smaller_face(big)


def star_face(size: float = 0.6, points: int = 5, waist: float = 0.42) -> FloatImage:
    """Return a face with a star, ``size`` sides wide; ``waist`` is its inner over its outer radius."""
    angles = np.arange(2 * points) * math.pi / points
    radii = np.where(np.arange(2 * points) % 2 == 0, 1.0, waist) * size / 2
    outline = np.column_stack([np.sin(angles), -np.cos(angles)]) * radii[:, None]
    big = np.zeros((_BIG_PX, _BIG_PX), dtype=np.uint8)
    cv2.fillPoly(big, [np.rint((outline + 0.5) * _BIG_PX).astype(np.int32)], 255)
    return smaller_face(big)


SHAPE_SQUARES = {
    "I": ((0, 0), (1, 0), (2, 0), (3, 0)),
    "O": ((0, 0), (1, 0), (0, 1), (1, 1)),
    "T": ((0, 0), (1, 0), (2, 0), (1, 1)),
    "L": ((0, 0), (0, 1), (0, 2), (1, 2)),
    "S": ((1, 0), (2, 0), (0, 1), (1, 1)),
}
"""The shapes of four squares by their letters: each square's column and row."""


def shape_face(letter: str, square: float = 0.15, gap: float = 0.1, mirrored: bool = False) -> FloatImage:
    """Return a face with a shape of four squares.

    ``square`` is the pitch of the squares as a share of the side, ``gap`` the share of the pitch between them.
    """
    big = np.zeros((_BIG_PX, _BIG_PX), dtype=np.uint8)
    squares = np.array(SHAPE_SQUARES[letter], dtype=np.float64) * ((-1, 1) if mirrored else (1, 1))
    squares -= (squares.min(axis=0) + squares.max(axis=0)) / 2
    half = square * (1 - gap) / 2
    for middle in squares * square + 0.5:
        first, last = (np.rint((middle + end) * _BIG_PX).astype(int).tolist() for end in (-half, half))
        cv2.rectangle(big, (first[0], first[1]), (last[0], last[1]), 255, cv2.FILLED)
    return smaller_face(big)


def printed_face(name: str) -> FloatImage:
    """Return a face without pips: a star for ``*``, a shape of four squares for its letter, else the text itself."""
    if name == "*":
        return star_face()
    return shape_face(name) if name in SHAPE_SQUARES else text_face(name)


def smaller_face(big: Image) -> FloatImage:
    """Reduce a drawing from 0 to 255 to a face of shape (FACE_PX, FACE_PX) from 0 to 1."""
    small = cv2.resize(big, (FACE_PX, FACE_PX), interpolation=cv2.INTER_AREA)
    return np.asarray(small / 255, dtype=np.float32)


def pip_faces(radius: float = 0.1, spread: float = 0.26, first_radius: float | None = None) -> tuple[FloatImage, ...]:
    """Return the six faces of a die with pips, in the order of ``DieLook.faces``; opposite faces add up to seven."""
    return tuple(pip_face(value, radius, spread, first_radius) for value in FACE_VALUES)


_STEPS = 14
"""Limit of sphere tracing's steps along a ray."""
_HIT_DISTANCE = 0.01
"""Distance from the surface at which a ray hits, in units of half the side."""
_CORNER_SQUARE = 3.0
"""Squared distance of a cube's corners from its centre, in those units."""
_ESCAPED_SQUARE = 3.1
"""Squared distance from the centre beyond which a ray misses, in those units."""
_CUBE_CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class DieLook:
    """The appearance of a die.

    ``mottled`` (0 to 1) is the strength of ``second``, a colour in the body; ``seed`` determines its pattern.
    ``rounding`` is the edges' radius and ``ball`` that of the ball that cuts the corners, both over half the side
    (``ball`` 1.74: no cut). ``gloss`` is the strength of specular reflections. ``faces`` are drawings (FACE_PX,
    FACE_PX) of the sides that face +z, -z, +y, -y, +x, -x before any rotation.
    """

    body: Colour
    ink: Colour
    faces: tuple[FloatImage, ...]
    second: Colour = (0.5, 0.5, 0.5)
    mottled: float = 0.0
    rounding: float = 0.2
    ball: float = 1.5
    gloss: float = 0.2
    seed: int = 0


@dataclass(frozen=True, eq=False)
class DrawnDie:
    """A die to be drawn: its centre (3,), side and look; ``rotation`` (3, 3) is from its own axes to the table's."""

    middle_mm: FloatArray
    side_mm: float
    rotation: FloatArray
    look: DieLook


_FACE_UP = {
    0: np.eye(3),
    1: np.diag([1.0, -1.0, -1.0]),
    2: np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
    3: np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
    4: np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]),
    5: np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]),
}
"""The rotation that brings a face up, by its index in ``DieLook.faces``."""


def die_rotation(face_up: int, turned_deg: float, leaning_deg: float = 0.0, towards_deg: float = 0.0) -> FloatArray:
    """Return the rotation of a die: that face up, turned about the vertical, then leaning towards ``towards_deg``."""
    about = np.array([-math.sin(math.radians(towards_deg)), math.cos(math.radians(towards_deg)), 0.0])
    leaning, _ = cv2.Rodrigues(about * math.radians(leaning_deg))
    upright, _ = cv2.Rodrigues(np.array([0.0, 0.0, math.radians(turned_deg)]))
    return np.asarray(leaning @ upright @ _FACE_UP[face_up], dtype=np.float64)


def centre_height_mm(rotation: FloatArray, side_mm: float) -> float:
    """Return the height of a die's centre above the surface that it rests on."""
    return float(-(_CUBE_CORNERS @ rotation.T)[:, 2].min() * side_mm / 2)


class DicePainter:
    """Draws the dice of one setting."""

    def __init__(self, setting: Setting, shadows: painting.Shadows) -> None:
        self._setting = setting
        self._shadows = shadows
        self._side_mm = die_side_mm(setting.layout)

    def sprite(self, piece: DiePose) -> painting.Sprite:
        """Draw one die as the camera sees it."""
        setting, die = self._setting, self._drawn_die(piece)
        outline = project(setting.camera, setting.pose, corners_mm(die))
        box = painting.box_around(outline, painting.MARGIN_PX)
        cover, paint = layers(box, setting.camera, setting.pose, setting.lighting, die, painting.SAMPLES)
        gain = sensor_gain(setting.sensor) * float(vignette_at(setting.camera, setting.sensor, outline.mean(axis=0)))
        image = np.rint(develop(paint / np.maximum(cover, 1e-6) * gain) * cover).astype(np.uint8)
        mask = np.rint(cover[..., 0] * 255).astype(np.uint8)
        return painting.with_motion_blur(setting, die.middle_mm, piece.streak_mm, box[0], box[1], image, mask)

    def paint_shadows(self, image: Image, piece: DiePose) -> None:
        """Draw the die's shadows on the table, in place."""
        self._shadows.paint(image, corners_mm(self._drawn_die(piece)), 0.0)

    def _drawn_die(self, piece: DiePose) -> DrawnDie:
        look = self._setting.dice
        if piece.colour not in look.colours:
            raise ValueError(f"no die colour {piece.colour!r}; this table has {', '.join(sorted(look.colours))}")
        rotation = die_rotation(FACE_VALUES.index(piece.value), piece.turned_deg, piece.leaning_deg, piece.turned_deg)
        base_mm = painting.base_height_mm(self._setting, piece)
        middle = np.array([piece.x_mm, piece.y_mm, base_mm + centre_height_mm(rotation, self._side_mm)])
        body, ink, faces = look.colours[piece.colour], look.ink_on(piece.colour), _faces(piece.printed)
        own = DieLook(body, ink, faces, rounding=look.rounding, ball=look.ball, gloss=look.gloss)
        return DrawnDie(middle, self._side_mm, rotation, own)


@cache
def _faces(printed: str) -> tuple[FloatImage, ...]:
    """Return the drawings of a die's faces: pips, unless its faces one to six are printed otherwise."""
    return tuple(printed_face(printed[value - 1]) for value in FACE_VALUES) if printed else pip_faces()


def corners_mm(die: DrawnDie) -> FloatArray:
    """Return the corners (8, 3) of the cube around a die."""
    return np.asarray(die.middle_mm + _CUBE_CORNERS @ die.rotation.T * (die.side_mm / 2), dtype=np.float64)


def layers(
    box: painting.Box,
    camera: CameraModel,
    pose: Pose,
    lighting: Lighting,
    die: DrawnDie,
    supersampling: int,
) -> tuple[FloatImage, FloatImage]:
    """Return a die's alpha in a box, shape (height, width, 1), and its linear light times alpha, (height, width, 3)."""
    left, top, right, bottom = box
    size = (right - left, bottom - top)
    grid = supersampled_rays(camera, left, top, size, supersampling)
    fine, rays = grid.shape[:2], grid.reshape(-1, 2)
    half = die.side_mm / 2
    to_die = die.rotation.T @ pose.rotation.T
    forward = np.column_stack([rays, np.ones(len(rays))]) @ to_die.T
    forward /= np.linalg.norm(forward, axis=1, keepdims=True)
    start = die.rotation.T @ (pose.camera_position_mm - die.middle_mm) / half
    hit, points = _trace(start, forward, die.look)
    colours = np.zeros((len(rays), 3), dtype=np.float32)
    if hit.any():
        colours[hit] = _shade(points, forward[hit], lighting, die)
    covered = hit.astype(np.float32).reshape(fine)
    cover = np.asarray(cv2.resize(covered, size, interpolation=cv2.INTER_AREA))[..., None]
    paint = np.asarray(cv2.resize(colours.reshape(*fine, 3), size, interpolation=cv2.INTER_AREA))
    return np.asarray(cover, dtype=np.float32), np.asarray(paint, dtype=np.float32)


def _trace(start: FloatArray, forward: FloatArray, look: DieLook) -> tuple[npt.NDArray[np.bool_], FloatArray]:
    """Return which rays hit the die, shape (n,), and where, (hits, 3), in its own axes and units of half its side."""
    nearest = -(forward @ start)
    miss_square = np.sum((start + nearest[:, None] * forward) ** 2, axis=1)
    index = np.flatnonzero(miss_square < _CORNER_SQUARE)
    along = nearest[index] - np.sqrt(_CORNER_SQUARE - miss_square[index])
    points = start + along[:, None] * forward[index]
    hit = np.zeros(len(forward), dtype=bool)
    hit_points = np.zeros(forward.shape)
    for _ in range(_STEPS):
        distance = _distance(points, look)
        hits = distance < _HIT_DISTANCE
        hit[index[hits]] = True
        hit_points[index[hits]] = points[hits]
        active = ~hits & (np.sum(points * points, axis=1) < _ESCAPED_SQUARE)
        if not active.any():
            break
        index, points = index[active], points[active] + distance[active, None] * forward[index[active]]
    return hit, hit_points[hit]


def _distance(points: FloatArray, look: DieLook) -> FloatArray:
    """Return a lower bound of the distance from points (n, 3) to the surface."""
    excess = np.abs(points) - (1 - look.rounding)
    outside = np.sqrt(np.sum(np.maximum(excess, 0) ** 2, axis=1))
    box = outside + np.minimum(excess.max(axis=1), 0) - look.rounding
    ball = np.sqrt(np.sum(points * points, axis=1)) - look.ball
    return np.asarray(np.maximum(box, ball), dtype=np.float64)


def _normals(points: FloatArray, look: DieLook) -> FloatArray:
    """Return the unit normals at points of the surface (n, 3)."""
    excess = np.maximum(np.abs(points) - (1 - look.rounding), 1e-6)
    normals = np.sign(points) * excess
    radius = np.sqrt(np.sum(points * points, axis=1))
    cut = radius > look.ball - 0.02
    normals[cut] = points[cut]
    return np.asarray(normals / np.linalg.norm(normals, axis=1, keepdims=True), dtype=np.float64)


def _ink_at(points: FloatArray, look: DieLook) -> FloatArray:
    """Return the faces' ink (0 to 1) at points of the surface (n, 3); shape (n,)."""
    axis = np.abs(points).argmax(axis=1)
    rows = np.arange(len(points))
    positive = points[rows, axis] > 0
    face = 4 - 2 * axis + np.where(positive, 0, 1)
    across = np.where(axis == 0, points[:, 1], points[:, 0]) * np.where(positive ^ (axis == 1), 1, -1)
    down = np.where(axis == 2, points[:, 1], points[:, 2])
    columns = np.clip((across + 1) / 2 * FACE_PX, 0, FACE_PX - 1).astype(np.intp)
    lines = np.clip((1 - down) / 2 * FACE_PX, 0, FACE_PX - 1).astype(np.intp)
    return np.asarray(np.stack(look.faces)[face, lines, columns], dtype=np.float64)


def _shade(points: FloatArray, forward: FloatArray, lighting: Lighting, die: DrawnDie) -> FloatImage:
    """Return the linear light (n, 3) from points of the surface (n, 3) that rays ``forward`` (n, 3) hit."""
    look = die.look
    normals = _normals(points, look)
    body = np.broadcast_to(decode(look.body), points.shape)
    if look.mottled > 0:
        random = np.random.default_rng(look.seed)
        waves = np.sin(points @ random.normal(0, 2.2, (3, 4)) + random.uniform(0, 6.3, 4)).mean(axis=1)
        share = np.clip(look.mottled * (0.5 + 1.2 * waves), 0, 1)[:, None]
        body = body * (1 - share) + decode(look.second) * share
    ink = _ink_at(points, look)[:, None]
    albedo = body * (1 - ink) + decode(look.ink) * ink
    table_normals = normals @ die.rotation.T
    height = (points @ die.rotation.T)[:, 2] * die.side_mm / 2 + die.middle_mm[2]
    openness = (0.6 + 0.4 * np.maximum(table_normals[:, 2], -0.8)) * (0.55 + 0.45 * np.clip(height / die.side_mm, 0, 1))
    light = lighting.ambient * openness[:, None] * np.asarray(lighting.ambient_colour)
    specular = np.zeros_like(light)
    for lamp in lighting.lamps:
        to_lamp = np.asarray(lamp.position_mm) - die.middle_mm
        to_lamp = to_lamp / np.linalg.norm(to_lamp)
        cosine = np.maximum(table_normals @ to_lamp, 0)
        light = light + lamp.strength * cosine[:, None] / max(float(to_lamp[2]), 0.2) * np.asarray(lamp.colour)
        halfway = to_lamp @ die.rotation - forward
        halfway /= np.linalg.norm(halfway, axis=1, keepdims=True)
        peak = np.maximum(np.sum(halfway * normals, axis=1), 0) ** 50
        specular += (look.gloss * lamp.strength * peak)[:, None] * np.asarray(lamp.colour)
    return np.asarray(albedo * light + specular, dtype=np.float32)
