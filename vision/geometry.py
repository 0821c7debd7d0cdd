"""Cameras and poses: how points in millimetres on the table become pixels, and back.

The world frame is the table's: origin at the board's centre, x to the first player's right, y away from the first
player, z up, the table's top at z = 0, all in millimetres. A camera frame is OpenCV's: x right, y down, z forward.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import FloatArray


@dataclass(frozen=True, eq=False)
class CameraModel:
    """A pinhole camera with OpenCV's distortion.

    ``matrix`` is 3 x 3 in pixels, ``distortion`` holds OpenCV's coefficients (k1, k2, p1, p2, k3, ...), ``size`` is
    (width, height) of the frames it holds for, ``reprojection_error_px`` the root mean square of its calibration.
    """

    matrix: FloatArray
    distortion: FloatArray
    size: tuple[int, int]
    reprojection_error_px: float = 0.0
    name: str = ""


@dataclass(frozen=True, eq=False)
class Pose:
    """Where the table is in the camera's frame: ``camera = rotation @ world + translation`` (millimetres)."""

    rotation: FloatArray
    translation: FloatArray

    @property
    def camera_position_mm(self) -> FloatArray:
        """The camera's centre in the world frame, shape (3,)."""
        return np.asarray(-self.rotation.T @ self.translation, dtype=np.float64)

    @property
    def rotation_vector(self) -> FloatArray:
        """The rotation as OpenCV's Rodrigues vector, shape (3,)."""
        vector, _ = cv2.Rodrigues(self.rotation)
        return np.asarray(vector, dtype=np.float64).reshape(3)

    @classmethod
    def from_vectors(cls, rotation_vector: npt.ArrayLike, translation: npt.ArrayLike) -> Pose:
        """Make a pose from OpenCV's rotation vector and translation, each of three numbers."""
        rotation, _ = cv2.Rodrigues(np.asarray(rotation_vector, dtype=np.float64).reshape(3))
        return cls(np.asarray(rotation, dtype=np.float64), np.asarray(translation, dtype=np.float64).reshape(3))


def project(camera: CameraModel, pose: Pose, points_mm: npt.ArrayLike) -> FloatArray:
    """Project world points of shape (n, 3) in millimetres to distorted pixels, shape (n, 2)."""
    points = np.asarray(points_mm, dtype=np.float64).reshape(-1, 3)
    if len(points) == 0:
        return np.zeros((0, 2), dtype=np.float64)
    pixels, _ = cv2.projectPoints(points, pose.rotation_vector, pose.translation, camera.matrix, camera.distortion)
    return np.asarray(pixels, dtype=np.float64).reshape(-1, 2)


def back_project(camera: CameraModel, pose: Pose, pixels: npt.ArrayLike, height_mm: float) -> FloatArray:
    """Give the world points at ``height_mm`` seen at distorted ``pixels`` of shape (n, 2); shape (n, 3)."""
    points = np.asarray(pixels, dtype=np.float64).reshape(-1, 1, 2)
    if len(points) == 0:
        return np.zeros((0, 3), dtype=np.float64)
    rays = np.asarray(cv2.undistortPoints(points, camera.matrix, camera.distortion), dtype=np.float64).reshape(-1, 2)
    directions = np.column_stack([rays, np.ones(len(rays))]) @ pose.rotation
    centre = pose.camera_position_mm
    scale = (height_mm - centre[2]) / directions[:, 2]
    return np.asarray(centre + scale[:, None] * directions, dtype=np.float64)


def plane_homography(pose: Pose, camera: CameraModel, height_mm: float) -> FloatArray:
    """Give the 3 x 3 homography from world (x, y) at ``height_mm`` to *undistorted* pixels of the same matrix."""
    columns = [
        pose.rotation[:, 0],
        pose.rotation[:, 1],
        pose.rotation[:, 2] * height_mm + pose.translation,
    ]
    return np.asarray(camera.matrix @ np.column_stack(columns), dtype=np.float64)
