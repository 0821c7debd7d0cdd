"""Polygons, sprites to lay over a frame, and soft shadows: shared by the painters of all kinds of pieces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import cv2
import numpy as np
import numpy.typing as npt

from simulator.rendering import optics
from simulator.scene.pieces import PiecePose
from simulator.scene.scene import Lamp, Setting
from vision.frame import FloatArray, FloatImage, Image
from vision.geometry import hull_px, project

SUBPIXEL_BITS = 4
"""Fractional bits of the coordinates that OpenCV's drawing functions get."""

Box = tuple[int, int, int, int]
"""Left, top, right and bottom of a rectangle of pixels; the last two lie outside."""


def hull(points: FloatArray) -> FloatArray:
    """Return the convex hull of points (n, 2), in order."""
    return hull_px(points).astype(np.float64)


def fixed_point(pixels: FloatArray | FloatImage) -> npt.NDArray[np.int32]:
    """Return coordinates in OpenCV's fixed point, with ``SUBPIXEL_BITS``."""
    return np.asarray(np.rint(pixels * 2**SUBPIXEL_BITS), dtype=np.int32)


def supersampled(pixels: FloatArray, samples: int) -> FloatArray:
    """Return positions (..., 2) in the same picture with ``samples`` samples per pixel along each direction."""
    # pixel centres are whole numbers
    return (pixels + 0.5) * samples - 0.5


def polygon_mask(shape: tuple[int, ...], pixels: FloatArray) -> Image:
    """Return an anti-aliased mask of a polygon (n, 2), shape (height, width), 0 to 255."""
    mask = np.zeros(shape[:2], dtype=np.uint8)
    cv2.fillPoly(mask, [fixed_point(pixels)], 255, cv2.LINE_AA, SUBPIXEL_BITS)
    return mask


def box_around(pixels: FloatArray, margin: int) -> Box:
    """Return the rectangle around points (n, 2), with a margin."""
    left, top = (int(value) - margin for value in np.floor(pixels.min(axis=0)))
    right, bottom = (int(value) + margin + 1 for value in np.ceil(pixels.max(axis=0)))
    return left, top, right, bottom


def clipped(box: Box, shape: tuple[int, ...]) -> Box | None:
    """Return the part of a rectangle inside a picture of shape (height, width, ...); ``None`` if it is outside."""
    left, top, right, bottom = max(box[0], 0), max(box[1], 0), min(box[2], shape[1]), min(box[3], shape[0])
    return None if left >= right or top >= bottom else (left, top, right, bottom)


SAMPLES = 2
"""Supersampling: samples per pixel along each direction."""
MARGIN_PX = 3
"""Margin of a sprite around its piece."""


@dataclass(frozen=True, eq=False)
class Sprite:
    """A small picture to lay over a frame at (left, top), and the camera's distance.

    ``cover`` is its alpha mask (0 to 255), ``image`` its screen colours times alpha, so that blur mixes in no black.
    """

    left: int
    top: int
    image: Image
    cover: Image
    distance_mm: float

    def overlaps(self, other: Sprite) -> bool:
        """Whether the two bounding rectangles overlap."""
        height, width = self.cover.shape
        other_height, other_width = other.cover.shape
        return bool(
            self.left < other.left + other_width
            and other.left < self.left + width
            and self.top < other.top + other_height
            and other.top < self.top + height
        )


class PiecePainter(Protocol):
    """Draws pieces of one kind in one setting."""

    def sprite(self, piece: Any) -> Sprite:
        """Draw one piece as the camera sees it."""

    def paint_shadows(self, image: Image, piece: Any) -> None:
        """Draw the piece's shadows, in place."""


def paste(frame: Image, sprite: Sprite) -> None:
    """Lay the sprite over the frame, in place, clipped to the frame."""
    height, width = sprite.cover.shape
    box = clipped((sprite.left, sprite.top, sprite.left + width, sprite.top + height), frame.shape)
    if box is None:
        return
    left, top, right, bottom = box
    window = (slice(top, bottom), slice(left, right))
    part = (slice(top - sprite.top, bottom - sprite.top), slice(left - sprite.left, right - sprite.left))
    under = frame[window]
    cover = cv2.merge([sprite.cover[part]] * 3)
    kept = cv2.multiply(under, cv2.bitwise_not(cover), scale=1 / 255.0)
    frame[window] = cv2.add(sprite.image[part], kept)


def base_height_mm(setting: Setting, piece: PiecePose) -> float:
    """Return the height of a piece's underside."""
    return setting.layout.board.height_mm if piece.base_mm is None else piece.base_mm


def shadow_ground_mm(setting: Setting, piece: PiecePose) -> float:
    """Return the height of the level on which a piece's shadow falls: the board, or the table beside it."""
    board_mm = setting.layout.board.height_mm
    return board_mm if piece.base_mm is None else min(piece.base_mm, board_mm)


def darken_in_shadow(image: Image, outline: FloatArray, softness_px: float, table: Image) -> None:
    """Darken, in place, a soft-edged polygon (n, 2) in pixels; ``table`` comes from ``shade_table``."""
    reach = int(np.ceil(2.5 * softness_px)) + 2
    box = clipped(box_around(outline, reach), image.shape)
    if box is None:
        return
    left, top, right, bottom = box
    mask = polygon_mask((bottom - top, right - left), outline - np.array([left, top]))
    size = 2 * int(np.ceil(2.5 * softness_px)) + 1
    mask = np.asarray(cv2.GaussianBlur(mask, (size, size), softness_px), dtype=np.uint8)
    factor = cv2.LUT(cv2.merge([mask] * 3), table)
    part = image[top:bottom, left:right]
    image[top:bottom, left:right] = cv2.multiply(part, factor, scale=1 / 255.0)


class Shadows:
    """Draws the shadows of convex bodies in one setting."""

    def __init__(self, setting: Setting, pixels_per_mm: float) -> None:
        self._setting = setting
        self._pixels_per_mm = pixels_per_mm
        self._shades: dict[tuple[Lamp, float], Image] = {}

    def shade(self, lamp: Lamp, opacity: float = 1.0) -> Image:
        """Return the lamp's ``shade_table`` on the board, for a body that lets 1 - ``opacity`` of the light through."""
        if (lamp, opacity) not in self._shades:
            point = np.array([0.0, 0.0, self._setting.layout.board.height_mm])
            share = optics.remaining_light(self._setting.lighting, lamp, point)
            self._shades[lamp, opacity] = optics.shade_table(1.0 - opacity * (1.0 - share) if opacity < 1 else share)
        return self._shades[lamp, opacity]

    def paint(self, image: Image, corners_mm: FloatArray, ground_mm: float, opacity: float = 1.0) -> None:
        """Draw, in place, the shadows that the convex hull of corners (n, 3) casts on the level at ``ground_mm``."""
        setting = self._setting
        height = float(corners_mm[:, 2].max()) - ground_mm
        for lamp in setting.lighting.lamps:
            outline = hull(project(setting.camera, setting.pose, optics.shadow_points(lamp, corners_mm, ground_mm)))
            softness = max(optics.penumbra_mm(lamp, height * 0.7) * self._pixels_per_mm, 0.7)
            darken_in_shadow(image, outline, softness, self.shade(lamp, opacity))


def motion_px(setting: Setting, point_mm: FloatArray, streak_mm: tuple[float, float]) -> tuple[float, float]:
    """Return how far a point (3,) that moves by ``streak_mm`` moves in the picture."""
    moved = np.stack([point_mm, point_mm + np.array([*streak_mm, 0.0])])
    start, end = project(setting.camera, setting.pose, moved)
    return float(end[0] - start[0]), float(end[1] - start[1])


def with_motion_blur(
    setting: Setting,
    middle_mm: FloatArray,
    streak_mm: tuple[float, float],
    left: int,
    top: int,
    image: Image,
    cover: Image,
) -> Sprite:
    """Return a sprite, blurred along the piece's movement during the exposure; ``image`` is times alpha."""
    distance = float(np.linalg.norm(middle_mm - setting.pose.camera_position_mm))
    if streak_mm != (0.0, 0.0):
        motion = motion_px(setting, middle_mm, streak_mm)
        margin = int(np.ceil(max(abs(motion[0]), abs(motion[1])) / 2)) + 2
        around = ((margin, margin), (margin, margin))
        image, cover = np.pad(image, (*around, (0, 0))), np.pad(cover, around)
        image, cover = optics.motion_blur(image, motion), optics.motion_blur(cover, motion)
        left, top = left - margin, top - margin
    return Sprite(left, top, image, cover, distance)
