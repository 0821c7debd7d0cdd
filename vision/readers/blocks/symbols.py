"""Symbols on faces as masks: vector shapes to start from, and masks learned from pictures.

A mask is square, float32, covers one whole face, and says how much of each pixel is ink (0 none, 1 all). Rows run from
the face's far edge to its near edge when the face is seen upright.
"""

from __future__ import annotations

from collections.abc import Mapping

import cv2
import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.float32]

STAR_POINTS = 5
SUPERSAMPLING = 8


def _polygon(radii: npt.NDArray[np.float64], first_angle_rad: float) -> npt.NDArray[np.float64]:
    """Corners at equal angles, clockwise as drawn, in fractions of the face's side around its middle."""
    angles = first_angle_rad + np.arange(len(radii)) * 2 * np.pi / len(radii)
    return np.column_stack([radii * np.cos(angles), radii * np.sin(angles)])


def _bars(length: float, width: float, angle_rad: float) -> list[npt.NDArray[np.float64]]:
    half_length, half_width = length / 2, width / 2
    bar = np.array(
        [
            [-half_length, -half_width],
            [half_length, -half_width],
            [half_length, half_width],
            [-half_length, half_width],
        ]
    )
    turned = []
    for extra in (0.0, np.pi / 2):
        cosine, sine = np.cos(angle_rad + extra), np.sin(angle_rad + extra)
        turned.append(bar @ np.array([[cosine, sine], [-sine, cosine]]))
    return turned


def _shapes(symbol: str) -> tuple[list[npt.NDArray[np.float64]], list[tuple[float, float, float, float]]]:
    """Polygons, and rings as (x, y, radius, line width), all in fractions of the face's side."""
    up = -np.pi / 2
    if symbol == "star":
        return [_polygon(np.tile([0.35, 0.14], STAR_POINTS), up)], []
    if symbol == "stop":
        return [_polygon(np.full(8, 0.345), up + np.pi / 8)], []
    if symbol == "cross":
        return _bars(0.68, 0.2, 0.0), []
    if symbol == "x":
        return _bars(0.73, 0.2, np.pi / 4), []
    if symbol == "slider":
        return [_polygon(np.array([0.355, 0.235, 0.355, 0.235]), up)], []
    if symbol == "hoops":
        return [], [(0.0, -0.19, 0.128, 0.042), (-0.172, 0.112, 0.128, 0.042), (0.172, 0.112, 0.128, 0.042)]
    raise ValueError(f"no shape is known for the symbol {symbol!r}; enrol it from a picture")


def drawn_mask(symbol: str, side_px: int) -> Mask:
    """Draw one of the six known symbols upright, antialiased, on a face of ``side_px`` pixels.

    The proportions are those of a common printed set; a real set is learned by enrolment. Raises ValueError for
    a symbol without a known shape.
    """
    polygons, rings = _shapes(symbol)
    large = side_px * SUPERSAMPLING
    canvas = np.zeros((large, large), dtype=np.uint8)
    for polygon in polygons:
        cv2.fillPoly(canvas, [np.round((polygon + 0.5) * large).astype(np.int32)], 255)
    for x, y, radius, width in rings:
        centre = (round((x + 0.5) * large), round((y + 0.5) * large))
        cv2.circle(canvas, centre, round(radius * large), 255, max(1, round(width * large)))
    small = cv2.resize(canvas, (side_px, side_px), interpolation=cv2.INTER_AREA)
    return np.asarray(small, dtype=np.float32) / np.float32(255)


def drawn_masks(symbols: tuple[str, ...], side_px: int) -> Mapping[str, Mask]:
    """Draw several symbols; see ``drawn_mask``."""
    return {symbol: drawn_mask(symbol, side_px) for symbol in symbols}


def turned_mask(mask: Mask, degrees: float) -> Mask:
    """Turn a mask counter-clockwise about its middle; what comes in from outside is bare of ink."""
    side = mask.shape[0]
    middle = (side - 1) / 2
    turn = cv2.getRotationMatrix2D((middle, middle), degrees, 1.0)
    turned = cv2.warpAffine(mask, turn, (side, side), flags=cv2.INTER_LINEAR)
    return np.asarray(turned, dtype=np.float32)


def scaled_mask(mask: Mask, scale: float) -> Mask:
    """Enlarge (above 1) or shrink a mask about its middle; what comes in from outside is bare of ink."""
    side = mask.shape[0]
    middle = (side - 1) / 2
    matrix = cv2.getRotationMatrix2D((middle, middle), 0.0, scale)
    return np.asarray(cv2.warpAffine(mask, matrix, (side, side), flags=cv2.INTER_LINEAR), dtype=np.float32)


def distinct_quarter_turns(mask: Mask, alike: float = 0.93) -> tuple[int, ...]:
    """Which of the four quarter turns of a mask look different from each other (correlation below ``alike``)."""
    kept: list[int] = []
    for quarter in range(4):
        turned = np.rot90(mask, quarter).ravel()
        if all(np.corrcoef(turned, np.rot90(mask, other).ravel())[0, 1] < alike for other in kept):
            kept.append(quarter)
    return tuple(kept)
