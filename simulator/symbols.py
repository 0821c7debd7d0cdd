"""The blocks' symbols as our own vector shapes, in a unit square centred on the face, y towards the symbol's top."""

from __future__ import annotations

import math
from collections.abc import Mapping

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import FloatArray, Image

SUPERSAMPLING = 4


def _regular(corners: int, radius: float, first_deg: float, centre: tuple[float, float] = (0.0, 0.0)) -> FloatArray:
    angles = np.radians(first_deg + 360.0 * np.arange(corners) / corners)
    return np.column_stack([centre[0] + radius * np.cos(angles), centre[1] + radius * np.sin(angles)])


def _turned(points: FloatArray, turned_deg: float) -> FloatArray:
    angle = math.radians(turned_deg)
    rotation = np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
    return np.asarray(points @ rotation, dtype=np.float64)


def star_outline(radius: float = 0.36, waist: float = 0.42) -> FloatArray:
    """A five-pointed star with one point up; ``waist`` is the inner radius over the outer; shape (10, 2)."""
    outer = _regular(5, radius, 90.0)
    inner = _regular(5, radius * waist, 126.0)
    return np.asarray(np.stack([outer, inner], axis=1).reshape(-1, 2), dtype=np.float64)


def _plus(arm: float = 0.33, half_width: float = 0.1) -> FloatArray:
    a, w = arm, half_width
    return np.array(
        [[-w, a], [w, a], [w, w], [a, w], [a, -w], [w, -w], [w, -a], [-w, -a], [-w, -w], [-a, -w], [-a, w], [-w, w]]
    )


def _hoops(radius: float = 0.155, line: float = 0.055) -> tuple[FloatArray, ...]:
    centres = _regular(3, 0.185, 90.0)
    rings: list[FloatArray] = []
    for x, y in centres:
        rings.append(_regular(36, radius, 0.0, (x, y)))
        rings.append(_regular(36, radius - line, 0.0, (x, y)))
    return tuple(rings)


def symbol_contours() -> Mapping[str, tuple[FloatArray, ...]]:
    """Contours by symbol name, each of shape (n, 2); filled by the even-odd rule, so an inner contour is a hole."""
    return {
        "star": (star_outline(),),
        "stop": (_regular(8, 0.3, 22.5),),
        "cross": (_plus(),),
        "x": (_turned(_plus(0.38), 45.0),),
        "slider": (np.array([[0.0, 0.34], [0.23, 0.0], [0.0, -0.34], [-0.23, 0.0]]),),
        "hoops": _hoops(),
    }


def fill_contours(contours: tuple[FloatArray, ...], size_px: int) -> Image:
    """Draw contours given in the unit square as an anti-aliased mask of shape (size_px, size_px), 0 to 255."""
    big = np.zeros((size_px * SUPERSAMPLING, size_px * SUPERSAMPLING), dtype=np.uint8)
    scale = size_px * SUPERSAMPLING
    pixels: list[npt.NDArray[np.int32]] = []
    for contour in contours:
        columns = (contour[:, 0] + 0.5) * scale - 0.5
        rows = (0.5 - contour[:, 1]) * scale - 0.5
        pixels.append(np.rint(np.column_stack([columns, rows])).astype(np.int32))
    cv2.fillPoly(big, pixels, 255)
    small = cv2.resize(big, (size_px, size_px), interpolation=cv2.INTER_AREA)
    return np.asarray(small, dtype=np.uint8)
