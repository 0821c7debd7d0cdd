"""Discs and balls drawn on a plain table with known positions, colours and shading."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from simulator.scene.scene import lens, looking_at
from vision.frame import FloatArray, FloatImage, Image
from vision.geometry import Pose, outline_px, project
from vision.layout.pieces import DiscPieces
from vision.layout.table import default_layout
from vision.readers.discs.finder import DiscFinder
from vision.readers.discs.lighting import USUAL_PAPER
from vision.readers.protocols import SurfaceView

LAYOUT = default_layout("diaballik")
BOARD = LAYOUT.board
PIECES = DiscPieces.on(BOARD)
CAMERA = lens((800, 600))
Light = tuple[float, float, float]
"""Linear light of a surface, blue-green-red, relative to white paper."""
GROUND: Light = (0.12, 0.2, 0.3)
PALE: Light = (0.7, 0.75, 0.8)
DARK: Light = (0.03, 0.03, 0.035)


def seen_from(azimuth_deg: float = -75.0, tilt_deg: float = 30.0) -> Pose:
    """A camera that sees the whole board."""
    return looking_at(430.0, tilt_deg, azimuth_deg)


@dataclass(frozen=True)
class Drawn:
    """A disc at a place or beside its middle, and the light of its ball."""

    place: str
    light: Light
    off_mm: tuple[float, float] = (0.0, 0.0)
    ball: Light | None = None

    @property
    def centre_mm(self) -> FloatArray:
        """Its centre on the board."""
        return np.array(BOARD.centre_mm(self.place)) + self.off_mm


def encoded(light: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Levels (0 to 255) of linear light relative to paper, for paper of the usual brightness."""
    light = np.clip(np.asarray(light, dtype=np.float64) * USUAL_PAPER, 0.0031308, 1.0)
    return np.asarray(255 * (1.055 * light ** (1 / 2.4) - 0.055))


@functools.cache
def _noise() -> FloatImage:
    """Sensor noise, in levels."""
    return np.random.default_rng(1).normal(0, 2.0, (*CAMERA.size[::-1], 3)).astype(np.float32)


def picture_of(discs: Sequence[Drawn], pose: Pose, *, ground: Light = GROUND, lamp: float = 1.0) -> Image:
    """A picture of discs on a plain table; ``lamp`` multiplies the light of all but the paper."""
    width, height = CAMERA.size
    picture = np.empty((height, width, 3), dtype=np.float32)
    picture[:] = encoded(np.array(ground) * lamp)
    eye = pose.camera_position_mm
    for disc in sorted(discs, key=lambda one: -float(np.linalg.norm(eye[:2] - one.centre_mm))):
        x, y = disc.centre_mm
        solid = PIECES.solid_with(x, y, BOARD.height_mm, ball=False)
        _fill(picture, outline_px(solid, CAMERA, pose), np.array(disc.light) * lamp)
        if disc.ball is not None:
            _draw_ball(picture, disc, pose, lamp)
    blurred = cv2.GaussianBlur(picture, (0, 0), 0.7) + _noise()
    return np.clip(np.round(blurred), 0, 255).astype(np.uint8)


def _draw_ball(picture: FloatImage, disc: Drawn, pose: Pose, lamp: float) -> None:
    """A sphere lit from the left: dark at its outline, brighter towards one spot."""
    half = PIECES.ball_mm / 2
    points = np.random.default_rng(2).normal(size=(600, 3))
    points *= half / np.linalg.norm(points, axis=1, keepdims=True)
    middle = np.array([*disc.centre_mm, BOARD.height_mm + PIECES.disc_mm + half])
    for step in np.linspace(0, 0.8, 9):
        part = middle + (1 - step) * points + step * np.array([-0.4 * half, 0.0, 0.4 * half])
        hull = cv2.convexHull(project(CAMERA, pose, part).astype(np.float32)).reshape(-1, 2).astype(np.float32)
        _fill(picture, hull, np.array(disc.ball) * lamp * (0.35 + 1.2 * step))


def _fill(picture: FloatImage, outline: npt.NDArray[np.float32], light: npt.NDArray[np.float64]) -> None:
    left, top, width, height = cv2.boundingRect(outline)
    part = picture[top : top + height + 1, left : left + width + 1]
    mask = np.zeros(part.shape[:2], dtype=np.uint8)
    cv2.fillConvexPoly(mask, np.round((outline - (left, top)) * 16).astype(np.int32), 255, cv2.LINE_AA, 4)
    share = mask[..., None] / 255
    part[:] = part * (1 - share) + encoded(light) * share


def view_of(image: Image, pose: Pose) -> SurfaceView:
    """The board in such a picture, which shows no markers."""
    return SurfaceView(image, CAMERA, pose, BOARD)


def finder_from(pose: Pose) -> DiscFinder:
    """A finder for this camera pose."""
    return DiscFinder(view_of(np.zeros((1, 1, 3), dtype=np.uint8), pose))
