"""A block as a solid on the table: its corners, its side faces, which of them a camera sees, and its outline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import FloatArray
from vision.geometry import CameraModel, Pose, project

SIDES = ("north", "east", "south", "west")
SIDE_CORNERS = {"north": (5, 4, 0, 1), "east": (6, 5, 1, 2), "south": (7, 6, 2, 3), "west": (4, 7, 3, 0)}
"""Which of a block's corners are a side's upper left, upper right, lower right and lower left, seen from outside."""


@dataclass(frozen=True)
class BlockSolid:
    """A cube standing on a plane: middle (x, y), side and base height in mm, turned counter-clockwise by degrees."""

    x_mm: float
    y_mm: float
    base_mm: float
    side_mm: float
    turned_deg: float = 0.0

    def corners_mm(self) -> FloatArray:
        """The eight corners, shape (8, 3): north-west, north-east, south-east and south-west below, then above."""
        half, angle = self.side_mm / 2, math.radians(self.turned_deg)
        cosine, sine = half * math.cos(angle), half * math.sin(angle)
        x, y, low, high = self.x_mm, self.y_mm, self.base_mm, self.base_mm + self.side_mm
        ground = (
            (x - cosine - sine, y - sine + cosine),
            (x + cosine - sine, y + sine + cosine),
            (x + cosine + sine, y + sine - cosine),
            (x - cosine + sine, y - sine - cosine),
        )
        return np.array([(*corner, z) for z in (low, high) for corner in ground], dtype=np.float64)

    def side_corners_mm(self, side: str) -> FloatArray:
        """A side face's corners seen from outside, shape (4, 3): upper left, upper right, lower right, lower left."""
        return np.asarray(self.corners_mm()[list(SIDE_CORNERS[side])], dtype=np.float64)

    def facing_camera(self, side: str, camera_position_mm: FloatArray) -> float:
        """Cosine of the angle between the side's outward direction and the way to the camera; seen when above 0."""
        middle = self.side_corners_mm(side).mean(axis=0)
        out = middle - (self.x_mm, self.y_mm, self.base_mm + self.side_mm / 2)
        to_camera = camera_position_mm - middle
        return float(out @ to_camera / (np.linalg.norm(out) * np.linalg.norm(to_camera)))


def corners_px(solids: Sequence[BlockSolid], camera: CameraModel, pose: Pose) -> FloatArray:
    """Where the corners of blocks are in the picture, shape (n, 8, 2), in pixels, in the order of ``corners_mm``."""
    if not solids:
        return np.zeros((0, 8, 2), dtype=np.float64)
    corners = np.concatenate([solid.corners_mm() for solid in solids])
    return project(camera, pose, corners).reshape(len(solids), 8, 2)


def outline_px(solid: BlockSolid, camera: CameraModel, pose: Pose) -> npt.NDArray[np.float32]:
    """The convex outline of a block in the picture, shape (n, 2), in pixels."""
    return hull_px(corners_px([solid], camera, pose)[0])


def hull_px(corners: FloatArray) -> npt.NDArray[np.float32]:
    """The convex outline, shape (n, 2), of corners in the picture (m, 2)."""
    return np.asarray(cv2.convexHull(corners.astype(np.float32)), dtype=np.float32).reshape(-1, 2)
