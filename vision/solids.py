"""A block as a solid on the table: its corners, its side faces, which of them a camera sees, and its outline."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import FloatArray
from vision.geometry import CameraModel, Pose, project

SIDES = ("north", "east", "south", "west")
_OUTWARD = {"north": (0.0, 1.0), "east": (1.0, 0.0), "south": (0.0, -1.0), "west": (-1.0, 0.0)}


@dataclass(frozen=True)
class BlockSolid:
    """A cube standing on a plane: middle (x, y), side and base height in mm, turned counter-clockwise by degrees."""

    x_mm: float
    y_mm: float
    base_mm: float
    side_mm: float
    turned_deg: float = 0.0

    def _turned(self, x: float, y: float) -> tuple[float, float]:
        angle = np.deg2rad(self.turned_deg)
        cosine, sine = float(np.cos(angle)), float(np.sin(angle))
        return self.x_mm + cosine * x - sine * y, self.y_mm + sine * x + cosine * y

    def corners_mm(self) -> FloatArray:
        """The eight corners, shape (8, 3): four below, then four above."""
        half = self.side_mm / 2
        ground = [self._turned(x, y) for x, y in ((-half, half), (half, half), (half, -half), (-half, -half))]
        return np.array(
            [[x, y, z] for z in (self.base_mm, self.base_mm + self.side_mm) for x, y in ground], dtype=np.float64
        )

    def side_corners_mm(self, side: str) -> FloatArray:
        """A side face's corners seen from outside, shape (4, 3): upper left, upper right, lower right, lower left."""
        half = self.side_mm / 2
        out_x, out_y = _OUTWARD[side]
        # seen from outside, left is a quarter turn clockwise (from above) from the outward direction
        left_x, left_y = out_y, -out_x
        left = self._turned(half * (out_x + left_x), half * (out_y + left_y))
        right = self._turned(half * (out_x - left_x), half * (out_y - left_y))
        top, bottom = self.base_mm + self.side_mm, self.base_mm
        return np.array([[*left, top], [*right, top], [*right, bottom], [*left, bottom]], dtype=np.float64)

    def facing_camera(self, side: str, camera_position_mm: FloatArray) -> float:
        """Cosine of the angle between the side's outward direction and the way to the camera; seen when above 0."""
        out = np.array([*self._turned(*_OUTWARD[side]), 0.0]) - np.array([self.x_mm, self.y_mm, 0.0])
        middle = self.side_corners_mm(side).mean(axis=0)
        to_camera = camera_position_mm - middle
        return float(out @ to_camera / np.linalg.norm(to_camera))


def outline_px(solid: BlockSolid, camera: CameraModel, pose: Pose) -> npt.NDArray[np.float32]:
    """The convex outline of a block in the picture, shape (n, 2), in pixels."""
    corners = project(camera, pose, solid.corners_mm()).astype(np.float32)
    return np.asarray(cv2.convexHull(corners), dtype=np.float32).reshape(-1, 2)
