"""Markers too blurred to be decoded: dark quads, and how similar what they show is to the known codes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import FloatArray, Image
from vision.locating.quads import refine_quads
from vision.sampling import remapped

SMALLEST_SIDE_PX = 14.0
"""Minimum side, in pixels, of a marker that is searched for where it was, or by its outline. Larger: fewer small ones.
Set by hand on virtual pictures.
"""
_UNIT_SQUARE = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], dtype=np.float32)
_POINTS_PER_MODULE = 2
"""Points along a module's side at which codes are compared. More: finer, slower."""


@dataclass(frozen=True)
class OutlineSettings:
    """How markers too blurred to be decoded are found by their outlines and compared with the known codes.

    Set by hand on four virtual pictures, shaken or out of focus: correct quads had a similarity of 0.74 to 0.94 and a
    lead of 0.24 or more; of nearly a thousand others the best had 0.70 and 0.21.
    """

    windows_px: tuple[int, ...] = (15, 25, 41)
    """Window sides, in pixels of the halved picture, for the local mean that dark pixels are below. More: more
    outlines.
    """
    darker: tuple[int, ...] = (0, 6)
    """Grey levels by which a pixel must be below that mean."""
    tolerances: tuple[float, ...] = (0.05, 0.1)
    """Approximation tolerances, as shares of the outline's length; the first that leaves four corners is used."""
    smear_modules: float = 0.5
    """Standard deviation, in modules, of the blur applied to codes before comparing. Higher: for stronger blur."""
    least_likeness: float = 0.7
    """Minimum correlation with the most similar code. Higher: fewer markers, and fewer false ones."""
    least_lead: float = 0.2
    """Minimum lead over every other code and rotation. Higher: the same."""


_SETTINGS = OutlineSettings()


def dark_quads(grey: Image) -> list[FloatArray]:
    """Return convex quads (4, 2), clockwise in the picture, darker than their surroundings.

    Each is returned as found at half scale and, where its edges are seen, once more with refined corners.
    """
    rough = _rough_quads(grey)
    pairs = zip(rough, refine_quads(grey, rough), strict=True)
    return [quad for pair in pairs for quad in pair if quad is not None]


def _rough_quads(grey: Image) -> list[FloatArray]:
    half = np.asarray(cv2.resize(grey, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    quads = np.empty((0, 4, 2))
    for window_px in _SETTINGS.windows_px:
        for darker in _SETTINGS.darker:
            dark = cv2.adaptiveThreshold(
                half, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, window_px, darker
            )
            for contour in cv2.findContours(dark, cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)[0]:
                hull = cv2.convexHull(contour)
                if 4 * cv2.contourArea(hull) < SMALLEST_SIDE_PX**2:
                    continue
                for tolerance in _SETTINGS.tolerances:
                    corners = cv2.approxPolyDP(hull, tolerance * cv2.arcLength(hull, True), True)
                    if len(corners) == 4:
                        quad = (corners.reshape(4, 2).astype(np.float64) + 0.5) * 2 - 0.5
                        if not (np.abs(quads - quad) < 1.0).all(axis=(1, 2)).any():
                            fresh = quad if cv2.contourArea(corners, oriented=True) > 0 else quad[::-1]
                            quads = np.concatenate([quads, fresh[None]])
                        break
    return list(quads)


@dataclass(frozen=True, eq=False)
class Codes:
    """Blurred codes of markers in each of four rotations: ``shown`` is (codes, points), each of length 1."""

    names: tuple[tuple[int, int], ...]
    shown: FloatArray
    points: int

    @classmethod
    def of(cls, patterns: Mapping[int, Image]) -> Codes:
        """Blur the codes of some ids, given as patterns of one pixel a module."""
        names, shown = [], []
        for marker_id, pattern in patterns.items():
            soft = cv2.GaussianBlur(pattern, (0, 0), _SETTINGS.smear_modules)
            for turns in range(4):
                names.append((marker_id, turns))
                shown.append(_normalise(_enlarge(np.rot90(soft, turns))))
        return cls(tuple(names), np.stack(shown), _POINTS_PER_MODULE * next(iter(patterns.values())).shape[0])

    def identify(self, grey: Image, corners_px: FloatArray) -> tuple[int | None, int, float]:
        """Return the id of the code that a quad shows, the number of corners it is turned by, and the similarity; no id
        if none is similar enough.
        """
        likeness = self.shown @ _normalise(_rectified_contents(grey, corners_px, self.points))
        first, second = np.argsort(-likeness)[:2]
        marker_id, turns = self.names[first]
        is_clear = likeness[first] >= _SETTINGS.least_likeness
        is_clear &= likeness[first] - likeness[second] >= _SETTINGS.least_lead
        return marker_id if is_clear else None, turns, float(likeness[first])


def _enlarge(pattern: Image) -> Image:
    return np.repeat(np.repeat(pattern, _POINTS_PER_MODULE, axis=0), _POINTS_PER_MODULE, axis=1)


def _normalise(values: npt.NDArray[Any]) -> FloatArray:
    apart = np.asarray(values, dtype=np.float64).ravel() - float(values.mean())
    return apart / max(math.sqrt(apart @ apart), 1e-9)


def _rectified_contents(grey: Image, corners_px: FloatArray, points: int) -> Image:
    """Return the contents of a quad, rectified to (points, points)."""
    to_picture = cv2.getPerspectiveTransform(_UNIT_SQUARE, corners_px.astype(np.float32))
    at = _points_inside(points) @ to_picture.T
    maps = (at[..., :2] / at[..., 2:]).astype(np.float32)
    return np.asarray(remapped(grey, maps, None), dtype=np.uint8)


@cache
def _points_inside(points: int) -> FloatArray:
    """Return rows of points (x, y, 1) inside the unit square, (points, points, 3)."""
    steps = (np.arange(points, dtype=np.float64) + 0.5) / points
    across, down = np.meshgrid(steps, steps)
    return np.stack([across, down, np.ones_like(across)], axis=-1)


def code_similarity(grey: Image, corners_px: FloatArray, pattern: Image) -> float:
    """Return the correlation (-1 to 1) of a marker's modules with the picture between its corners."""
    known = _enlarge(pattern)
    seen = _rectified_contents(grey, corners_px, known.shape[0])
    return float(_normalise(seen) @ _normalise(known))
