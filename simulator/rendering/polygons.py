"""Polygons in a picture: their outlines and masks, and the rectangles around them."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import FloatArray, FloatImage, Image
from vision.geometry import hull_px

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
