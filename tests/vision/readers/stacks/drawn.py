"""Stacks of pyramids drawn on a plain board with known tops, positions and rotations."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from simulator.scene.scene import lens, looking_at
from vision.frame import FloatArray, Image
from vision.geometry import Pose, project
from vision.layout.pieces import TIP_SHARE, PyramidPieces
from vision.layout.table import default_layout

BOARD = default_layout("blockade").board
PIECES = PyramidPieces.on(BOARD)
CAMERA = lens((960, 720))
GROUND = (105, 125, 135)
Levels = tuple[int, int, int]
"""Colours of a lit face, blue-green-red."""
LEVELS: Mapping[str, Levels] = {
    "red": (45, 40, 190),
    "blue": (190, 90, 40),
    "yellow": (40, 190, 200),
    "between": (110, 40, 110),
    "clear": (165, 165, 165),
    "black": (28, 28, 28),
}


def seen_from(azimuth_deg: float = -70.0, tilt_deg: float = 20.0) -> Pose:
    """A camera that sees the whole board."""
    return looking_at(430.0, tilt_deg, azimuth_deg)


@dataclass(frozen=True)
class Drawn:
    """A stack on a place or beside its middle: sizes and colours from below."""

    place: str
    stack: Sequence[tuple[str, str]]
    off_mm: tuple[float, float] = (0.0, 0.0)
    turned: float = 0.0
    top_off_mm: tuple[float, float] = (0.0, 0.0)

    @property
    def foot_mm(self) -> FloatArray:
        """The centre of the lowest piece on the board."""
        return np.array(BOARD.centre_mm(self.place)) + self.off_mm

    @property
    def tip_mm(self) -> FloatArray:
        """The middle of the top's tip, (3,)."""
        high_mm = PIECES.elevations_mm([size for size, _ in self.stack])[-1] + PIECES.sizes[self.stack[-1][0]].height_mm
        return np.array([*(self.foot_mm + self.top_off_mm), BOARD.height_mm + high_mm])


L, M, S = ("L", "red"), ("M", "blue"), ("S", "yellow")
FOUR_STACKS = (
    Drawn("b2", [L]),
    Drawn("d2", [L, M], (1.5, -1.0)),
    Drawn("b4", [L, S], (-2.0, 1.0), 0.12),
    Drawn("d4", [L, M, S], (0.0, 2.0), -0.1),
)


def picture_of(stacks: Sequence[Drawn], pose: Pose, lamp: float = 1.0) -> Image:
    """A picture of stacks whose sides are lit differently."""
    picture = np.empty((CAMERA.size[1], CAMERA.size[0], 3), dtype=np.float64)
    picture[:] = GROUND
    eye = pose.camera_position_mm
    for one in sorted(stacks, key=lambda one: -float(np.linalg.norm(eye[:2] - one.foot_mm))):
        elevations = PIECES.elevations_mm([size for size, _ in one.stack])
        for number, ((size, colour), high_mm) in enumerate(zip(one.stack, elevations, strict=True)):
            off = np.array(one.top_off_mm) * (number == len(one.stack) - 1)
            _draw(picture, one.foot_mm + off, high_mm + BOARD.height_mm, size, LEVELS[colour], one.turned, pose)
    soft = cv2.GaussianBlur(picture, (0, 0), 0.6) * lamp
    soft = soft + np.random.default_rng(1).normal(0, 1.0, picture.shape[:2])[..., None]
    return np.clip(np.round(soft), 0, 255).astype(np.uint8)


def _draw(
    picture: npt.NDArray[np.float64],
    middle_mm: FloatArray,
    base_mm: float,
    size: str,
    levels: Levels,
    turned: float,
    pose: Pose,
) -> None:
    half, high = PIECES.sizes[size].base_mm / 2, PIECES.sizes[size].height_mm
    rings = []
    for reach, height in ((half, 0.0), (half * TIP_SHARE, high)):
        turns = turned + np.pi / 4 + np.arange(4) * np.pi / 2
        flat = middle_mm + math.sqrt(2) * reach * np.column_stack([np.cos(turns), np.sin(turns)])
        rings.append(np.column_stack([flat, np.full(4, base_mm + height)]))
    below, above = rings
    for side, shade in enumerate((0.55, 0.7, 0.85, 1.0)):
        corners = np.array([below[side], below[(side + 1) % 4], above[(side + 1) % 4], above[side]])
        normal = np.cross(corners[1] - corners[0], corners[3] - corners[0])
        if normal @ (pose.camera_position_mm - corners[0]) > 0:
            _fill(picture, corners, np.array(levels) * shade, pose)
    _fill(picture, above, np.minimum(np.array(levels) * 0.6 + 110, 255), pose)


def _fill(picture: npt.NDArray[np.float64], corners_mm: FloatArray, levels: FloatArray, pose: Pose) -> None:
    outline = project(CAMERA, pose, corners_mm)
    left, top, width, height = cv2.boundingRect(outline.astype(np.float32))
    part = picture[top : top + height + 1, left : left + width + 1]
    mask = np.zeros(part.shape[:2], dtype=np.uint8)
    cv2.fillConvexPoly(mask, np.round((outline - (left, top)) * 16).astype(np.int32), 255, cv2.LINE_AA, 4)
    share = mask[..., None] / 255
    part[:] = part * (1 - share) + levels * share
