"""Random pictures of dice with their ground truth: looks, positions, lamps, tables and lenses."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import cv2
import numpy as np

from benchmarks.scene.colours import random_colour
from benchmarks.scene.dice_tables import GLYPHS, patterned_ground, random_table
from benchmarks.scene.loose_dice import draw_dice
from simulator.rendering.background import paint_table
from simulator.rendering.dice import (
    FACE_VALUES,
    SHAPE_SQUARES,
    DieLook,
    DrawnDie,
    centre_height_mm,
    die_rotation,
    pip_faces,
    shape_face,
    star_face,
    text_face,
)
from simulator.rendering.optics import SensorNoise, compress, develop, motion_blur, through_sensor
from simulator.scene.pieces import Colour
from simulator.scene.scene import Lamp, Lighting, Setting, TableLook, lens, looking_at
from vision.frame import FloatArray, FloatImage, Image
from vision.geometry import CameraModel, Pose, back_project, plane_homography, project
from vision.layout.table import TableLayout, layout_from_json

COCKED = "cocked"
OTHER = "other"
_USUAL_MM = 16.0
"""Edge of a usual die."""


@dataclass(frozen=True)
class TrueDie:
    """Ground truth of a die: the centre of its upper side, the length of an edge, and its face.

    ``shows`` is a value from ``1`` to ``6``, COCKED for a leaning die, OTHER for a face without pips. ``in_sight`` is
    False for a die under another one or cut off by the picture's edge. ``leans`` are the x and y components (right and
    down) of its upper side's unit normal in a rectified picture; ``None`` in any other. ``box_px`` are the width and
    the height of a photograph's labelled box.
    """

    x_px: float
    y_px: float
    side_px: float
    shows: str
    in_sight: bool = True
    leans: tuple[float, float] | None = None
    box_px: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class DicePicture:
    """A picture of dice, blue-green-red, and its ground truth.

    ``camera_px`` is the camera's position over a rectified picture: x, y and the height above its plane, in pixels.
    """

    image: Image
    dice: tuple[TrueDie, ...]
    camera_px: tuple[float, float, float] | None = None

    def slant_at(self, x_px: float, y_px: float) -> tuple[float, float] | None:
        """Return the parallax (x, y) of a point one unit below the plane; ``None`` if the picture is not rectified."""
        if self.camera_px is None:
            return None
        across, down, above = self.camera_px
        return (across - x_px) / above, (down - y_px) / above


def _brightness(colour: Colour) -> float:
    return float(np.dot(colour, (0.11, 0.59, 0.3)))


def random_colours(rng: np.random.Generator) -> tuple[Colour, Colour]:
    """Return contrasting colours of a die's body and of its ink."""
    kind = rng.random()
    if kind < 0.25:
        grey = float(rng.uniform(0.8, 1.0))
        body: Colour = (grey * float(rng.uniform(0.75, 1)), grey * float(rng.uniform(0.92, 1)), grey)
        ink: Colour = (0.05, 0.05, 0.05)
    elif kind < 0.4:
        body, ink = (0.1, 0.1, 0.1), (0.9, 0.93, 0.93)
    elif kind < 0.7:
        body, ink = random_colour(rng, 0.2, 0.9), (0.95, 0.95, 0.95)
    else:
        body, ink = random_colour(rng), random_colour(rng)
    least = float(rng.uniform(0.22, 0.4))
    while abs(_brightness(ink) - _brightness(body)) + 0.3 * float(np.ptp(np.subtract(ink, body))) < least:
        if rng.random() < 0.4:
            ink = (0.95, 0.95, 0.95)
        elif rng.random() < 0.5:
            ink = (0.05, 0.05, 0.05)
        else:
            ink = random_colour(rng)
    return body, ink


def _printed_face(rng: np.random.Generator) -> FloatImage:
    """Return a character, star or shape of four squares."""
    kind = rng.random()
    if kind < 0.1:
        return star_face(float(rng.uniform(0.45, 0.75)))
    if kind < 0.25:
        letter = str(rng.choice(list(SHAPE_SQUARES)))
        return shape_face(letter, float(rng.uniform(0.11, 0.2)), float(rng.uniform(0, 0.2)))
    font = (cv2.FONT_HERSHEY_SIMPLEX, cv2.FONT_HERSHEY_DUPLEX, cv2.FONT_HERSHEY_TRIPLEX)[int(rng.integers(3))]
    glyph = str(rng.choice(list(GLYPHS)))
    return text_face(glyph, float(rng.uniform(0.45, 0.75)), font, float(rng.uniform(0.05, 0.12)))


def random_look(rng: np.random.Generator, pips: bool = True, gloss: float | None = None) -> DieLook:
    """Return a random die with contrasting ink; with characters in place of ``pips``, or with a given ``gloss``."""
    body, ink = random_colours(rng)
    if pips:
        radius = float(rng.uniform(0.06, 0.125))
        first = float(radius * rng.uniform(1.2, 1.9)) if rng.random() < 0.15 else None
        faces = pip_faces(radius, float(rng.uniform(0.22, 0.29)), first)
    else:
        faces = tuple(_printed_face(rng) for _ in range(6))
    mottled = float(rng.uniform(0.4, 1.0)) if rng.random() < 0.25 else 0.0
    second = tuple(float(np.clip(value + rng.uniform(-0.3, 0.3), 0, 1)) for value in body)
    rounding = float(rng.uniform(0.06, 0.4))
    ball = float(rng.uniform(1.32, 1.74))
    drawn = float(rng.choice([0.0, 0.2, 0.6, 1.2, 2.0]))
    gloss = drawn if gloss is None else gloss
    seed = int(rng.integers(1 << 30))
    return DieLook(body, ink, faces, (second[0], second[1], second[2]), mottled, rounding, ball, gloss, seed)


def _lighting(rng: np.random.Generator) -> Lighting:
    lamps = []
    for _ in range(int(rng.integers(0, 4))):
        around, high = rng.uniform(0, 2 * math.pi), rng.uniform(300, 1200)
        out = rng.uniform(100, 900)
        position = (float(out * math.cos(around)), float(out * math.sin(around)), float(high))
        lamps.append(Lamp(position, float(rng.uniform(0.15, 0.7)), (1.0, 1.0, 1.0), float(rng.uniform(10, 200))))
    return Lighting(tuple(lamps), float(rng.uniform(0.2, 0.8)))


class _LaidDie(NamedTuple):
    """A die on the table, with ``shows`` and ``in_sight`` of its ``TrueDie``."""

    die: DrawnDie
    shows: str
    in_sight: bool


def _lay(rng: np.random.Generator, reach_mm: float, variety: "DiceVariety") -> list[_LaidDie]:
    """Place dice beside, against and on top of each other, up to ``reach_mm`` from the centre along each axis."""
    leaning, printed = variety.leaning, variety.printed
    count = int(rng.choice([1, 2, 4, 6, 9, 13], p=[0.1, 0.15, 0.21, 0.25, 0.19, 0.1]))
    count = 0 if rng.random() < variety.none else count
    alike = rng.random() < 0.5
    crowded = rng.random() < 0.5
    side = float(rng.uniform(12, 20))
    look = random_look(rng, pips=rng.random() > printed)
    pips = rng.random() > printed
    laid: list[_LaidDie] = []
    for _ in range(count):
        if not alike or not laid:
            look = random_look(rng, pips)
        size = side if rng.random() < 0.8 else float(rng.uniform(12, 20))
        face = int(rng.integers(6))
        shows = str(FACE_VALUES[face]) if pips else OTHER
        leans = rng.random() < leaning
        rotation = die_rotation(
            face,
            float(rng.uniform(0, 360)),
            float(rng.uniform(14, 55)) if leans else 0.0,
            float(rng.uniform(0, 360)),
        )
        height = centre_height_mm(rotation, size)
        if laid and rng.random() < 0.04 and not leans:
            below, below_shows, is_free = laid[-1]
            if is_free and below_shows != COCKED:
                laid[-1] = _LaidDie(below, below_shows, in_sight=False)
                x, y = below.middle_mm[:2] + rng.normal(0, 1.5, 2)
                middle = np.array([x, y, below.middle_mm[2] + below.side_mm / 2 + height])
                laid.append(_LaidDie(DrawnDie(middle, size, rotation, look), shows, in_sight=True))
                continue
        for _ in range(30):
            if crowded and laid:
                beside = laid[int(rng.integers(len(laid)))].die
                along = rng.uniform(0, 2 * math.pi)
                away = (size + beside.side_mm) / 2 * rng.uniform(1.0, 1.5)
                x, y = beside.middle_mm[:2] + away * np.array([math.cos(along), math.sin(along)])
            else:
                x, y = rng.uniform(-reach_mm, reach_mm, 2)
            die = DrawnDie(np.array([x, y, height]), size, rotation, look)
            if all(_are_apart(die, other.die) for other in laid):
                laid.append(_LaidDie(die, COCKED if leans else shows, in_sight=True))
                break
    return laid


def _are_apart(one: DrawnDie, other: DrawnDie) -> bool:
    """Whether two level dice have a gap between them, by the separating axis theorem."""
    difference = one.middle_mm[:2] - other.middle_mm[:2]
    if float(np.linalg.norm(difference)) > (one.side_mm + other.side_mm) * 0.72:
        return True
    gaps = []
    for axes in (one.rotation, other.rotation):
        for along in axes.T:
            length = float(np.linalg.norm(along[:2]))
            if length > 0.9:
                direction = along[:2] / length
                half = [float(np.abs(direction @ die.rotation[:2]).sum()) * die.side_mm / 2 for die in (one, other)]
                gaps.append(abs(float(difference @ direction)) - sum(half))
    return bool(gaps) and max(gaps) > -0.2


@dataclass(frozen=True)
class DiceVariety:
    """The distribution of rendered pictures of dice.

    ``edge_px`` is the range of the edge of a usual die, ``flattened`` the share of rectified pictures. ``leaning`` is
    the share of leaning dice, far above the real one, because a network does not learn rare examples. ``printed`` is
    the share of dice with characters, stars or shapes in place of pips, ``none`` that of pictures without a die, and
    ``patterned`` that of grounds that repeat something or are rough all over.
    """

    edge_px: tuple[float, float] = (11.0, 38.0)
    flattened: float = 0.65
    leaning: float = 0.2
    printed: float = 0.12
    none: float = 0.04
    patterned: float = 0.25


ANY_DICE = DiceVariety()
NO_DICE = DiceVariety(none=1.0, patterned=1.0)
"""Patterned grounds without a die."""


def dice_picture(rng: np.random.Generator, size_px: int = 256, variety: DiceVariety = ANY_DICE) -> DicePicture:
    """Return a square picture of 0 to 13 dice, as the camera takes it or rectified."""
    target_px = float(math.exp(rng.uniform(*np.log(variety.edge_px))))
    tilt = float(rng.uniform(0, 52)) if rng.random() < 0.6 else float(rng.uniform(0, 14))
    flattened = rng.random() < variety.flattened
    camera = lens((size_px, size_px), float(rng.uniform(22, 60)), (0, 0, 0, 0, 0), (0, 0))
    distance = float(camera.matrix[0, 0]) * _USUAL_MM / target_px
    pose = looking_at(distance, tilt, float(rng.uniform(0, 360)), float(rng.uniform(0, 360)))
    reach = size_px / target_px * _USUAL_MM * 0.42
    laid = _lay(rng, reach, variety)
    lighting = _lighting(rng)
    picture = patterned_ground(rng, size_px) if rng.random() < variety.patterned else random_table(rng, size_px)
    picture *= np.float32(lighting.ambient + sum(lamp.strength for lamp in lighting.lamps))
    draw_dice(picture, camera, pose, lighting, [one.die for one in laid])
    image = _photograph(rng, picture, target_px)
    if flattened:
        image, placed, camera_px = _flatten(rng, image, camera, pose, laid, target_px)
    else:
        placed, camera_px = _locate_dice(camera, pose, laid), None
    inside = tuple(die for die in placed if 0 <= die.x_px < size_px and 0 <= die.y_px < size_px)
    return DicePicture(image, inside, camera_px)


_RADIUS = 0.7
"""Distance from the centre of a die's upper side to its corners, in edges."""


def _top_mm(die: DrawnDie) -> FloatArray:
    """Return the centre of the upper side; of a leaning die, the point at that height above its centre."""
    return np.asarray(die.middle_mm + np.array([0.0, 0.0, die.side_mm / 2]), dtype=np.float64)


def _leans(die: DrawnDie) -> tuple[float, float]:
    """Return ``TrueDie.leans``, for the side that is nearest to lying flat."""
    upwards = die.rotation[:, np.abs(die.rotation[2]).argmax()]
    x, y, z = (float(part) for part in upwards)
    return (x, -y) if z > 0 else (-x, y)


def _locate_dice(camera: CameraModel, pose: Pose, laid: Sequence[_LaidDie]) -> list[TrueDie]:
    placed = []
    for die, shows, in_sight in laid:
        top = _top_mm(die)
        x, y = project(camera, pose, top)[0]
        depth = float((pose.rotation @ top + pose.translation)[2])
        placed.append(TrueDie(float(x), float(y), die.side_mm * float(camera.matrix[0, 0]) / depth, shows, in_sight))
    return placed


def _flatten(
    rng: np.random.Generator,
    image: Image,
    camera: CameraModel,
    pose: Pose,
    laid: Sequence[_LaidDie],
    target_px: float,
) -> tuple[Image, list[TrueDie], tuple[float, float, float]]:
    """Rectify a picture in a plane close to the tops of the dice; return also the dice and ``camera_px`` in it."""
    size = image.shape[0]
    height = float(rng.uniform(11, 21))
    scale = target_px / _USUAL_MM * float(rng.uniform(0.9, 1.3))
    half = size / scale / 2
    to_mm = np.array([[1 / scale, 0, 0.5 / scale - half], [0, -1 / scale, half - 0.5 / scale], [0, 0, 1]])
    to_picture = plane_homography(pose, camera, height) @ to_mm
    flat = cv2.warpPerspective(
        image, to_picture, (size, size), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, borderMode=cv2.BORDER_REPLICATE
    )
    camera_x_mm, camera_y_mm, camera_z_mm = (float(value) for value in pose.camera_position_mm)
    placed = []
    for die, shows, in_sight in laid:
        top = _top_mm(die)
        pixel = project(camera, pose, top)
        x_mm, y_mm, _ = back_project(camera, pose, pixel, height)[0]
        x, y = (float(x_mm) + half) * scale - 0.5, (half - float(y_mm)) * scale - 0.5
        magnification = (camera_z_mm - height) / (camera_z_mm - float(top[2]))
        edge = die.side_mm * float(camera.matrix[0, 0]) / float((pose.rotation @ top + pose.translation)[2])
        is_whole = bool((np.minimum(pixel[0], size - 1 - pixel[0]) > _RADIUS * edge).all())
        placed.append(TrueDie(x, y, die.side_mm * scale * magnification, shows, in_sight and is_whole, _leans(die)))
    camera_px = (
        (camera_x_mm + half) * scale - 0.5,
        (half - camera_y_mm) * scale - 0.5,
        (camera_z_mm - height) * scale,
    )
    return np.asarray(flat, dtype=np.uint8), placed, camera_px


def _photograph(rng: np.random.Generator, picture: FloatImage, die_px: float) -> Image:
    """Apply the effects of a camera: exposure, white balance, blur, noise, compression."""
    level = float(np.median(picture)) or 0.2
    exposed = float(np.clip(rng.uniform(0.1, 0.65) / level, 0.3, 2.5)) if rng.random() < 0.7 else 1.0
    balance = rng.normal(1, 0.06, 3).clip(0.8, 1.2).astype(np.float32)
    image = develop(picture * balance * np.float32(exposed))
    blur = float(rng.uniform(0, 0.045)) * die_px
    if blur > 0.3:
        image = np.asarray(cv2.GaussianBlur(image, (0, 0), blur), dtype=np.uint8)
    if rng.random() < 0.12:
        reach, along = rng.uniform(0.05, 0.2) * die_px, rng.uniform(0, math.pi)
        image = motion_blur(image, (float(reach * math.cos(along)), float(reach * math.sin(along))))
    noise = float(rng.uniform(0, 6))
    grain = rng.standard_normal(image.shape).astype(np.float32) * np.float32(noise)
    image = np.clip(image + grain, 0, 255).astype(np.uint8)
    if rng.random() < 0.5:
        image = compress(image, int(rng.integers(35, 95)))
    return image


@dataclass(frozen=True, eq=False)
class TrayPicture:
    """A picture of a tray by a known camera; ``dice`` holds the centre (x, y) in mm and the face of each die."""

    image: Image
    camera: CameraModel
    pose: Pose
    layout: TableLayout
    dice: tuple[tuple[float, float, str], ...]


def tray_layout() -> TableLayout:
    """Return the layout of a tray for dice with a marker at each corner."""
    centres = {"0": [-140, 140], "1": [140, 140], "2": [140, -140], "3": [-140, -140]}
    markers = {"dictionary": "DICT_4X4_50", "side": 36, "z": 0.4, "centres": centres}
    return layout_from_json({"tray": {"x": [-110, 110], "y": [-110, 110]}, "markers": markers})


def tray_picture(
    dice: Sequence[DrawnDie], shows: Sequence[str], camera: CameraModel, pose: Pose, lighting: Lighting, seed: int = 1
) -> TrayPicture:
    """Render dice in the tray of ``tray_layout``, on a cloth."""
    layout = tray_layout()
    table = TableLook(surface="cloth", colour=(0.35, 0.4, 0.3), seed=seed)
    setting = Setting(camera, pose, layout, table, lighting=lighting)
    picture = paint_table(setting)
    draw_dice(picture, camera, pose, lighting, dice, supersampling=3)
    image = through_sensor(develop(picture), setting.sensor, SensorNoise(camera, setting.sensor.noise, seed), 0)
    positions = tuple(
        (float(one.middle_mm[0]), float(one.middle_mm[1]), face) for one, face in zip(dice, shows, strict=True)
    )
    return TrayPicture(image, camera, pose, layout, positions)


def tray_of_six(tilt_deg: float = 20.0) -> TrayPicture:
    """Render six dice of several colours, one of each value, in the tray of ``tray_layout``."""
    rng = np.random.default_rng(3)
    faces = pip_faces()
    dice, shows = [], []
    bodies: tuple[Colour, ...] = ((0.9, 0.95, 0.97), (0.1, 0.1, 0.1), (0.15, 0.1, 0.75), (0.6, 0.25, 0.1))
    for number in range(6):
        body = bodies[number % len(bodies)]
        ink = (0.05, 0.05, 0.05) if number % len(bodies) == 0 else (0.95, 0.95, 0.95)
        rotation = die_rotation(number, float(rng.uniform(0, 360)))
        middle = np.array([70.0 * (number % 3 - 1), 80.0 * (number // 3) - 40.0, _USUAL_MM / 2])
        middle[:2] += rng.uniform(-15, 15, 2)
        dice.append(DrawnDie(middle, _USUAL_MM, rotation, DieLook(body, ink, faces)))
        shows.append(str(FACE_VALUES[number]))
    camera = lens(horizontal_view_deg=62.0)
    return tray_picture(dice, shows, camera, looking_at(560.0, tilt_deg), Lighting())
