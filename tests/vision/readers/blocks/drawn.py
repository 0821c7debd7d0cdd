"""Blocks drawn on a plain table with known positions, rotations and face colours."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import cv2
import numpy as np

from simulator.scene.scene import lens, looking_at
from vision.frame import FloatArray, FloatImage, Image
from vision.geometry import CubeSolid, Pose, Side, project
from vision.layout.pieces import BlockPieces
from vision.layout.table import default_layout
from vision.readers.blocks.appearance import BlockAppearance, drawn_appearance, drawn_mask, log_ratio
from vision.readers.protocols import SurfaceView
from vision.sampling import PlaneWindow

LAYOUT = default_layout("deblockle")
BOARD = LAYOUT.board
PIECES = BlockPieces.on(BOARD)
SIDE_MM = PIECES.side_mm
CAMERA = lens((1000, 750))
Light = tuple[float, float, float]
"""Linear light, blue-green-red, 0 to 1."""
GROUND: Light = (0.1, 0.16, 0.22)
FACES: dict[str, Light] = {"red": (0.08, 0.08, 0.45), "green": (0.1, 0.4, 0.12)}
INK: Light = (0.75, 0.75, 0.75)
SYMBOLS = ("star", "stop", "slider", "x", "hoops", "cross")
LOOKS: BlockAppearance = replace(
    drawn_appearance(SYMBOLS),
    colours={name: log_ratio(np.array(face), np.array(INK)) for name, face in FACES.items()},
)
FINE = 4
"""Factor by which faces are drawn larger, then shrunk."""


@dataclass(frozen=True)
class Face:
    """A symbol on a square, turned counter-clockwise, and its light."""

    symbol: str
    x_mm: float = 0.0
    y_mm: float = 0.0
    turned_deg: float = 0.0
    quarter: int = 0
    face: Light = FACES["red"]
    ink: Light = INK


def texture(symbol: str, face: Light, ink: Light, side_px: int = 120) -> FloatImage:
    """A face seen from straight above, in linear light."""
    mask = drawn_mask(symbol, side_px)[..., None]
    return np.asarray(np.array(face) * (1 - mask) + np.array(ink) * mask, dtype=np.float32)


def plane_picture(
    faces: Sequence[Face], window: PlaneWindow, ground: Light = GROUND, blur_px: float = 0.5, noise: float = 0.002
) -> FloatImage:
    """Faces in a plane, in linear light, sampled through a window."""
    rows, columns = window.shape
    picture = np.empty((rows * FINE, columns * FINE, 3), dtype=np.float32)
    picture[:] = ground
    scale = window.px_per_mm * FINE
    for one in faces:
        image = np.ascontiguousarray(np.rot90(texture(one.symbol, one.face, one.ink), one.quarter))
        side = len(image)
        turn = math.radians(one.turned_deg)
        step = SIDE_MM / side * scale
        right, down = step * np.array([np.cos(turn), -np.sin(turn)]), step * np.array([np.sin(turn), np.cos(turn)])
        middle = np.array([(one.x_mm - window.left_mm), (window.far_mm - one.y_mm)]) * scale - 0.5
        start = middle - (side - 1) / 2 * (right + down)
        to_picture = np.column_stack([right, down, start])
        inside = cv2.warpAffine(np.ones((side, side), np.float32), to_picture, picture.shape[1::-1])[..., None]
        shown = cv2.warpAffine(image, to_picture, picture.shape[1::-1], borderMode=cv2.BORDER_REPLICATE)
        picture = picture * (1 - inside) + shown * inside
    small = cv2.GaussianBlur(cv2.resize(picture, (columns, rows), interpolation=cv2.INTER_AREA), (0, 0), blur_px)
    return np.asarray(small + np.random.default_rng(1).normal(0, noise, small.shape), dtype=np.float32)


@dataclass(frozen=True)
class Block:
    """A block on a place or beside its middle; symbols of its top and of its sides from north clockwise."""

    place: str
    top: str
    colour: str = "red"
    off_mm: tuple[float, float] = (0.0, 0.0)
    turned_deg: float = 0.0
    quarter: int = 0
    sides: tuple[str, str, str, str] = ("slider", "hoops", "x", "cross")

    @property
    def solid(self) -> CubeSolid:
        """The block's cube."""
        x, y = np.array(BOARD.centre_mm(self.place)) + self.off_mm
        return CubeSolid(float(x), float(y), BOARD.height_mm, SIDE_MM, self.turned_deg)


def seen_from(azimuth_deg: float = -75.0, tilt_deg: float = 30.0) -> Pose:
    """A camera that sees the whole board."""
    return looking_at(480.0, tilt_deg, azimuth_deg)


def encoded(light: FloatArray | FloatImage | Light) -> FloatArray:
    """Linear light as picture levels, 0 to 255."""
    lit = np.clip(np.asarray(light, dtype=np.float64), 0.0031308, 1.0)
    return np.asarray(255 * (1.055 * lit ** (1 / 2.4) - 0.055))


@cache
def _noise() -> FloatImage:
    """Sensor noise of one level."""
    return np.random.default_rng(1).normal(0, 1.0, (*CAMERA.size[::-1], 3)).astype(np.float32)


def picture_of(blocks: Sequence[Block], pose: Pose, *, ground: Light = GROUND, noise: float = 2.0) -> Image:
    """A picture of blocks on a plain table, the sides half as light as the tops."""
    width, height = CAMERA.size
    picture = np.empty((height, width, 3), dtype=np.float32)
    picture[:] = encoded(ground)
    eye = pose.camera_position_mm
    for block in sorted(blocks, key=lambda one: -math.dist(eye[:2], (one.solid.x_mm, one.solid.y_mm))):
        solid = block.solid
        facing = [side for side in Side if solid.facing_camera(side, eye) > 0]
        for side in facing:
            _paint(picture, solid.side_corners_mm(side), block.sides[list(Side).index(side)], block.colour, pose, 0.6)
        top = solid.corners_mm()[4:]
        _paint(picture, np.roll(top, block.quarter, axis=0), block.top, block.colour, pose, 1.0)
    blurred = cv2.GaussianBlur(picture, (0, 0), 0.6) + np.float32(noise) * _noise()
    return np.clip(np.round(blurred), 0, 255).astype(np.uint8)


def _paint(picture: FloatImage, corners_mm: FloatArray, symbol: str, colour: str, pose: Pose, lamp: float) -> None:
    """Paint a face whose corners are given from its upper left clockwise."""
    shown = encoded(texture(symbol, FACES[colour], INK) * np.float32(lamp)).astype(np.float32)
    side = len(shown)
    source = np.array([[-0.5, -0.5], [side - 0.5, -0.5], [side - 0.5, side - 0.5], [-0.5, side - 0.5]], np.float32)
    seen = project(CAMERA, pose, corners_mm).astype(np.float32)
    # Only the face and a few pixels around it: repainting the whole picture for each takes ten times as long.
    left, top = np.maximum(np.floor(seen.min(axis=0)).astype(int) - 3, 0)
    right, bottom = np.maximum(np.ceil(seen.max(axis=0)).astype(int) + 4, 0)
    part = picture[top:bottom, left:right]
    warp = cv2.getPerspectiveTransform(source, seen - np.array([left, top], np.float32))
    size = part.shape[1::-1]
    flags = cv2.INTER_AREA
    inside = cv2.warpPerspective(np.ones((side, side), np.float32), warp, size, flags=flags)[..., None]
    face = cv2.warpPerspective(shown, warp, size, flags=flags, borderMode=cv2.BORDER_REPLICATE)
    part[:] = part * (1 - inside) + face * inside


def view_of(image: Image, pose: Pose) -> SurfaceView:
    """The board in such a picture."""
    return SurfaceView(image, CAMERA, pose, BOARD)
