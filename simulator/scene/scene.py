"""The scene in front of the virtual camera, as frozen values; every parameter of a picture is a field here.

Lengths are in millimetres in the table's frame (see ``vision.geometry``); colours are blue, green, red from 0 to 1 as
on a screen (sRGB), lights' colours are linear.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice, repeat
from operator import mul
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from simulator.scene.pieces import BlockLook, Colour, DiceLook, DiscLook, PiecePose, PyramidLook
from vision.frame import FloatArray, FloatImage, Image
from vision.geometry import CameraModel, Pose, project
from vision.layout.table import TableLayout, default_layout

Surface = Literal["wood", "dark wood", "checks", "marble", "cloth", "plain"]
MarkerState = Literal["whole", "half covered", "missing"]


def standard_layout() -> TableLayout:
    """Return the virtual table's layout, the one that comes with Deblockle."""
    return default_layout("deblockle")


@dataclass(frozen=True)
class Lamp:
    """A spherical lamp; ``colour`` is linear.

    ``strength`` is its irradiance at the board's centre, on a surface that faces it. A larger ``radius_mm`` gives
    softer shadows.
    """

    position_mm: tuple[float, float, float] = (-500.0, 300.0, 1100.0)
    strength: float = 0.7
    colour: Colour = (1.0, 1.0, 1.0)
    radius_mm: float = 60.0


@dataclass(frozen=True)
class Shade:
    """One side of the table in shadow, as cast by a curtain or a person beside it.

    The shadow's edge lies ``edge_mm`` from the board's centre towards ``towards_deg`` (0: the first player's right, 90:
    away from them) and is ``softness_mm`` wide. ``remaining_light`` is the share of the lamps' light beyond it.
    """

    towards_deg: float
    edge_mm: float
    softness_mm: float
    remaining_light: float


class Mirrors(Protocol):
    """What level surfaces mirror, and how."""

    def light(self, setting: Setting) -> FloatImage:
        """Return the linear light, (height, width, 3), that board or sheets, and the table, mirror into the camera."""


@dataclass(frozen=True)
class Lighting:
    """Lamps and ambient light, the gloss of board and blocks (0 to 1), and what level surfaces mirror."""

    lamps: tuple[Lamp, ...] = (Lamp(),)
    ambient: float = 0.35
    ambient_colour: Colour = (1.0, 1.0, 1.0)
    gloss: float = 0.05
    shade: Shade | None = None
    mirrored: Mirrors | None = None


@dataclass(frozen=True)
class TableLook:
    """The appearance of table, board and markers; ``seed`` draws the grain of ``board_grain`` contrast (0 to 1).

    ``sheet_rim_mm`` is the white paper around the markers of a board that is printed with them; 0 if they lie there by
    themselves. ``stripes`` is how much darker every other stripe of such a board is.
    """

    surface: Surface = "wood"
    colour: Colour = (0.36, 0.47, 0.6)
    board_colour: Colour = (0.58, 0.73, 0.86)
    board_grain: float = 0.1
    line_colour: Colour = (0.2, 0.25, 0.3)
    line_mm: float = 1.0
    star_colour: Colour = (0.2, 0.6, 0.8)
    star_radius_mm: float = 12.0
    marker_border_mm: float = 5.0
    markers: Mapping[int, MarkerState] = field(default_factory=dict)
    sheet_rim_mm: float = 0.0
    stripes: float = 0.0
    seed: int = 1


@dataclass(frozen=True)
class Sensor:
    """The camera's effects on a picture: exposure, colour error, vignette, noise, blur and compression.

    ``noise`` is the standard deviation in grey levels of 255, ``defocus_px`` the blur's standard deviation,
    ``shake_px`` the (x, y) motion blur of a shaken camera, ``vignette`` the light lost in the corners (0 to 1).
    """

    exposure: float = 1.0
    white_balance: Colour = (1.0, 1.0, 1.0)
    vignette: float = 0.15
    noise: float = 2.0
    defocus_px: float = 0.5
    shake_px: tuple[float, float] = (0.0, 0.0)
    jpeg_quality: int | None = None


@dataclass(frozen=True)
class Bend:
    """The shape of bent paper: an arch about the sheet's centre, and a twist that lifts two opposite corners.

    ``rise_mm`` is the height of the centre above points ``reach_mm`` away in the direction ``along_deg`` (0: x).
    ``twist_mm`` is the lift of the point ``reach_mm`` to the right of and ``reach_mm`` beyond the centre.
    """

    rise_mm: float
    along_deg: float = 0.0
    twist_mm: float = 0.0
    reach_mm: float = 74.0

    def heights_mm(self, points_mm: FloatArray) -> FloatArray:
        """Return the height of the paper at points of a sheet (..., 2); shape (...)."""
        x, y = points_mm[..., 0] / self.reach_mm, points_mm[..., 1] / self.reach_mm
        along = math.cos(math.radians(self.along_deg)) * x + math.sin(math.radians(self.along_deg)) * y
        return np.asarray(self.rise_mm * (1.0 - along**2) + self.twist_mm * x * y, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Setting:
    """Everything that stays constant during a game: table, lights, looks and camera. Compared by identity."""

    camera: CameraModel
    pose: Pose
    layout: TableLayout = field(default_factory=standard_layout)
    table: TableLook = field(default_factory=TableLook)
    blocks: BlockLook = field(default_factory=BlockLook)
    lighting: Lighting = field(default_factory=Lighting)
    sensor: Sensor = field(default_factory=Sensor)
    discs: DiscLook = field(default_factory=DiscLook)
    pyramids: PyramidLook = field(default_factory=PyramidLook)
    dice: DiceLook = field(default_factory=DiceLook)
    bend: Bend | None = None


SKINS: Mapping[str, Colour] = {
    "very pale skin": (0.72, 0.8, 0.94),
    "fair skin": (0.6, 0.72, 0.9),
    "pale skin": (0.52, 0.63, 0.84),
    "tan skin": (0.42, 0.54, 0.76),
    "brown skin": (0.25, 0.36, 0.55),
    "dark skin": (0.14, 0.2, 0.32),
}
SLEEVES: Mapping[str, Colour | None] = {
    "bare arm": None,
    "blue sleeve": (0.35, 0.2, 0.15),
    "grey sleeve": (0.3, 0.32, 0.3),
    "dark sleeve": (0.12, 0.1, 0.1),
    "red sleeve": (0.12, 0.12, 0.5),
    "white sleeve": (0.88, 0.88, 0.88),
    "wood-brown sleeve": (0.5, 0.64, 0.76),
}


@dataclass(frozen=True)
class Hand:
    """A hand with its arm: fingertips at ``tip_mm``, reaching over from ``elbow_mm``.

    ``grip`` goes from 0 (flat, fingers apart) to 1 (fingers closed round a block). ``sleeve`` is its colour or
    ``None`` for a bare arm; ``sleeve_from`` says where along the forearm it begins (0 wrist, 1 elbow).
    """

    tip_mm: tuple[float, float, float]
    elbow_mm: tuple[float, float, float]
    skin: Colour = SKINS["pale skin"]
    sleeve: Colour | None = SLEEVES["blue sleeve"]
    sleeve_from: float = 0.35
    grip: float = 1.0
    streak_mm: tuple[float, float] = (0.0, 0.0)


class Thing(Protocol):
    """Something that does not belong to the game."""

    @property
    def foot_mm(self) -> tuple[float, float, float]:
        """Where the middle of its underside lies."""

    def paint(self, setting: Setting, image: Image, pixels_per_mm: float) -> None:
        """Draw it and its shadows into the picture, in place."""

    def silhouette_px(self, setting: Setting) -> Sequence[FloatArray]:
        """Return polygons (n, 2) of the picture that together are what it hides."""


@dataclass(frozen=True)
class Scene:
    """One moment: the setting, and the pieces, hands and foreign objects in it."""

    setting: Setting
    pieces: tuple[PiecePose, ...] = ()
    hands: tuple[Hand, ...] = ()
    things: tuple[Thing, ...] = ()


def lens(
    size: tuple[int, int] = (1280, 720),
    horizontal_view_deg: float = 66.0,
    distortion: npt.ArrayLike = (0.03, -0.08, 0.0005, -0.0004, 0.02),
    centre_offset_px: tuple[float, float] = (4.0, -3.0),
) -> CameraModel:
    """Return a camera with square pixels: ``size`` is (width, height); distortion is OpenCV's k1, k2, p1, p2, k3."""
    width, height = size
    focal_px = width / 2 / math.tan(math.radians(horizontal_view_deg) / 2)
    centre = ((width - 1) / 2 + centre_offset_px[0], (height - 1) / 2 + centre_offset_px[1])
    matrix = np.array([[focal_px, 0.0, centre[0]], [0.0, focal_px, centre[1]], [0.0, 0.0, 1.0]])
    return CameraModel(matrix, np.asarray(distortion, dtype=np.float64), size, 0.0, "virtual")


def looking_at(
    distance_mm: float = 620.0,
    tilt_deg: float = 12.0,
    azimuth_deg: float = -90.0,
    roll_deg: float = 0.0,
    target_mm: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> Pose:
    """Return the pose of a camera that looks at a point, ``tilt_deg`` off the vertical, from the side ``azimuth_deg``.

    The first player sits at azimuth -90. Without roll, up in the picture is away from the camera, also at tilt 0.
    """
    tilt, azimuth, roll = math.radians(tilt_deg), math.radians(azimuth_deg), math.radians(roll_deg)
    outwards = np.array([math.cos(azimuth), math.sin(azimuth), 0.0])
    away = math.sin(tilt) * outwards + np.array([0.0, 0.0, math.cos(tilt)])
    position = np.asarray(target_mm, dtype=np.float64) + distance_mm * away
    forward = -away
    down = outwards - float(outwards @ forward) * forward
    down /= np.linalg.norm(down)
    right = np.cross(down, forward)
    turned_right = math.cos(roll) * right + math.sin(roll) * down
    turned_down = math.cos(roll) * down - math.sin(roll) * right
    rotation = np.stack([turned_right, turned_down, forward])
    return Pose(rotation, -rotation @ position)


def first_fitting(camera: CameraModel, points_mm: npt.ArrayLike, margin_px: float, poses: Iterable[Pose]) -> Pose:
    """Return the first pose with all points (n, 3) at least ``margin_px`` inside the picture, else the last one."""
    least, most = margin_px, np.asarray(camera.size) - 1 - margin_px
    for pose in poses:
        pixels = project(camera, pose, points_mm)
        if bool(np.all(pixels > least) and np.all(pixels < most)):
            break
    return pose


def growing_distances(distance_mm: float, step: float, tries: int) -> Iterator[float]:
    """Return ``tries`` distances, each ``step`` times the one before."""
    return islice(accumulate(repeat(step), mul, initial=distance_mm), tries)
