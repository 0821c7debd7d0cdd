"""Cameras, poses, rectangles and solids: projecting points in millimetres on the table to pixels, and back.

The world frame is the table's: origin at the board's centre, x to the first player's right, y away from the first
player, z up, the table's top at z = 0, all in millimetres. A camera frame is OpenCV's: x right, y down, z forward.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import ClassVar, Protocol, Self

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import FloatArray
from vision.opencv import undistort_points


@dataclass(frozen=True, eq=False)
class CameraModel:
    """A pinhole camera with OpenCV's distortion.

    ``matrix`` is 3 x 3 in pixels. ``distortion`` holds OpenCV's coefficients (k1, k2, p1, p2, k3, ...). ``size`` is the
    (width, height) of its frames, ``reprojection_error_px`` the root mean square error of the calibration.
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
    """Return the world points, shape (n, 3), at ``height_mm`` seen at distorted ``pixels`` of shape (n, 2)."""
    points = np.asarray(pixels, dtype=np.float64).reshape(-1, 2)
    if len(points) == 0:
        return np.zeros((0, 3), dtype=np.float64)
    rays = undistort_points(points, camera.matrix, camera.distortion)
    directions = np.column_stack([rays, np.ones(len(rays))]) @ pose.rotation
    centre = pose.camera_position_mm
    scale = (height_mm - centre[2]) / directions[:, 2]
    return np.asarray(centre + scale[:, None] * directions, dtype=np.float64)


def plane_homography(pose: Pose, camera: CameraModel, height_mm: float) -> FloatArray:
    """Return the 3 x 3 homography from world (x, y) at ``height_mm`` to *undistorted* pixels of the same matrix."""
    columns = [
        pose.rotation[:, 0],
        pose.rotation[:, 1],
        pose.rotation[:, 2] * height_mm + pose.translation,
    ]
    return np.asarray(camera.matrix @ np.column_stack(columns), dtype=np.float64)


@dataclass(frozen=True)
class Rectangle:
    """An axis-aligned rectangle in a horizontal plane, in millimetres."""

    left_mm: float
    right_mm: float
    near_mm: float
    far_mm: float

    @property
    def width_mm(self) -> float:
        """From left to right."""
        return self.right_mm - self.left_mm

    @property
    def depth_mm(self) -> float:
        """From the near side to the far side."""
        return self.far_mm - self.near_mm

    def grown(self, by_mm: float) -> Rectangle:
        """Return the rectangle with a margin of that width on every side."""
        return Rectangle(self.left_mm - by_mm, self.right_mm + by_mm, self.near_mm - by_mm, self.far_mm + by_mm)

    def contains(self, x_mm: float, y_mm: float) -> bool:
        """Return whether a point lies inside."""
        return self.left_mm <= x_mm <= self.right_mm and self.near_mm <= y_mm <= self.far_mm

    def corners_mm(self, height_mm: float) -> FloatArray:
        """Return its corners at a height, shape (4, 3): near left, near right, far right, far left."""
        return np.array(
            [
                [self.left_mm, self.near_mm, height_mm],
                [self.right_mm, self.near_mm, height_mm],
                [self.right_mm, self.far_mm, height_mm],
                [self.left_mm, self.far_mm, height_mm],
            ],
            dtype=np.float64,
        )


class Solid(Protocol):
    """A convex body standing on a plane. It hides the surface behind it, whatever kind of piece it is."""

    @property
    def x_mm(self) -> float:
        """The centre's x."""

    @property
    def y_mm(self) -> float:
        """The centre's y."""

    @property
    def turned_deg(self) -> float | None:
        """Rotation counter-clockwise; ``None`` for a body that looks the same from all sides."""

    def corners_mm(self) -> FloatArray:
        """Return points whose convex hull is the body, shape (n, 3)."""

    def grown(self, by_mm: float) -> Self:
        """Return the body with its sides moved outwards by that much and its top at least as far; its base stays."""

    def inner_points_mm(self, count: int) -> FloatArray:
        """Return points spread evenly inside the body, ``count`` along each direction, shape (n, 3)."""


class Side(StrEnum):
    """The upright sides of an unrotated solid. North is away from the first player."""

    NORTH = "north"
    EAST = "east"
    SOUTH = "south"
    WEST = "west"


SIDE_CORNERS = {
    Side.NORTH: (5, 4, 0, 1),
    Side.EAST: (6, 5, 1, 2),
    Side.SOUTH: (7, 6, 2, 3),
    Side.WEST: (4, 7, 3, 0),
}
"""Indices of a cube's corners that are a side's upper left, upper right, lower right and lower left from outside."""


@dataclass(frozen=True)
class CubeSolid:
    """A cube standing on a plane: centre (x, y), base height and side in mm, rotation counter-clockwise in degrees."""

    x_mm: float
    y_mm: float
    base_mm: float
    side_mm: float
    turned_deg: float = 0.0

    def corners_mm(self) -> FloatArray:
        """Return the eight corners, (8, 3): north-west, north-east, south-east and south-west below, then above."""
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

    def grown(self, by_mm: float) -> CubeSolid:
        """Return a cube with each upright side moved out by that much, and the top by twice as much; its base stays."""
        return replace(self, side_mm=self.side_mm + 2 * by_mm)

    def inner_points_mm(self, count: int) -> FloatArray:
        """Return points spread evenly inside the cube, ``count`` along each edge, shape (count ** 3, 3)."""
        steps = (np.arange(count) + 0.5) / count - 0.5
        along = [self.side_mm * axis.ravel() for axis in np.meshgrid(steps, steps, steps + 0.5)]
        cosine, sine = math.cos(math.radians(self.turned_deg)), math.sin(math.radians(self.turned_deg))
        return np.column_stack(
            [
                self.x_mm + along[0] * cosine - along[1] * sine,
                self.y_mm + along[0] * sine + along[1] * cosine,
                self.base_mm + along[2],
            ]
        )

    def side_corners_mm(self, side: Side) -> FloatArray:
        """Return a side face's corners seen from outside, (4, 3): upper left, upper right, lower right, lower left."""
        return np.asarray(self.corners_mm()[list(SIDE_CORNERS[side])], dtype=np.float64)

    def facing_camera(self, side: Side, camera_position_mm: FloatArray) -> float:
        """Return the cosine of the angle between the side's normal and the direction to the camera: above 0 if seen."""
        middle = self.side_corners_mm(side).mean(axis=0)
        out = middle - (self.x_mm, self.y_mm, self.base_mm + self.side_mm / 2)
        to_camera = camera_position_mm - middle
        return float(out @ to_camera / (np.linalg.norm(out) * np.linalg.norm(to_camera)))


def unit_circle(count: int) -> FloatArray:
    """Return that many unit vectors at equal angles, counter-clockwise from (1, 0); (count, 2)."""
    turns = np.arange(count) * 2 * np.pi / count
    return np.column_stack([np.cos(turns), np.sin(turns)])


_CIRCLE = unit_circle(24)
"""The corners by which a circle of radius 1 is approximated, (corners, 2). More: rounder, slower."""


@dataclass(frozen=True)
class FrustumSolid:
    """A round body standing on a plane, with one radius at its foot and one at its top: a disc, a cone."""

    x_mm: float
    y_mm: float
    base_mm: float
    height_mm: float
    foot_radius_mm: float
    top_radius_mm: float

    turned_deg: ClassVar[None] = None

    def corners_mm(self) -> FloatArray:
        """Return points on the lower circle, then on the upper one, shape (48, 3)."""
        corners = np.empty((2, len(_CIRCLE), 3))
        for ring, radius, height in zip(
            corners, (self.foot_radius_mm, self.top_radius_mm), (0.0, self.height_mm), strict=True
        ):
            ring[:, :2] = radius * _CIRCLE + (self.x_mm, self.y_mm)
            ring[:, 2] = self.base_mm + height
        return corners.reshape(-1, 3)

    def grown(self, by_mm: float) -> FrustumSolid:
        """Return a body wider and higher by that much; its base stays."""
        return replace(
            self,
            height_mm=self.height_mm + by_mm,
            foot_radius_mm=self.foot_radius_mm + by_mm,
            top_radius_mm=self.top_radius_mm + by_mm,
        )

    def inner_points_mm(self, count: int) -> FloatArray:
        """Return points spread evenly inside the body, ``count`` along radius, angle and height, (count ** 3, 3)."""
        steps = (np.arange(count) + 0.5) / count
        out, turn, up = (axis.ravel() for axis in np.meshgrid(np.sqrt(steps), 2 * np.pi * steps, steps))
        radius = out * (self.foot_radius_mm + (self.top_radius_mm - self.foot_radius_mm) * up)
        return np.column_stack(
            [
                self.x_mm + radius * np.cos(turn),
                self.y_mm + radius * np.sin(turn),
                self.base_mm + self.height_mm * up,
            ]
        )


@dataclass(frozen=True)
class PyramidSolid:
    """A truncated square pyramid standing on a plane, by the sides of its foot and top; rotated like a cube."""

    x_mm: float
    y_mm: float
    base_mm: float
    height_mm: float
    foot_side_mm: float
    top_side_mm: float
    turned_deg: float = 0.0

    def corners_mm(self) -> FloatArray:
        """Return the eight corners, shape (8, 3): four below, then four above."""
        return np.vstack(
            [
                CubeSolid(self.x_mm, self.y_mm, height, side, self.turned_deg).corners_mm()[:4]
                for height, side in (
                    (self.base_mm, self.foot_side_mm),
                    (self.base_mm + self.height_mm, self.top_side_mm),
                )
            ]
        )

    def grown(self, by_mm: float) -> PyramidSolid:
        """Return a body wider by twice that much and higher by that much; its base stays."""
        return replace(
            self,
            height_mm=self.height_mm + by_mm,
            foot_side_mm=self.foot_side_mm + 2 * by_mm,
            top_side_mm=self.top_side_mm + 2 * by_mm,
        )

    def inner_points_mm(self, count: int) -> FloatArray:
        """Return points spread evenly inside the body, ``count`` along each direction, shape (count ** 3, 3)."""
        steps = (np.arange(count) + 0.5) / count
        across, along, up = (axis.ravel() for axis in np.meshgrid(steps - 0.5, steps - 0.5, steps))
        side = self.foot_side_mm + (self.top_side_mm - self.foot_side_mm) * up
        cosine, sine = math.cos(math.radians(self.turned_deg)), math.sin(math.radians(self.turned_deg))
        return np.column_stack(
            [
                self.x_mm + side * (across * cosine - along * sine),
                self.y_mm + side * (across * sine + along * cosine),
                self.base_mm + self.height_mm * up,
            ]
        )


def corners_px(solids: Sequence[CubeSolid], camera: CameraModel, pose: Pose) -> FloatArray:
    """Project the corners of cubes to pixels, shape (n, 8, 2), in the order of ``corners_mm``."""
    if not solids:
        return np.zeros((0, 8, 2), dtype=np.float64)
    corners = np.concatenate([solid.corners_mm() for solid in solids])
    return project(camera, pose, corners).reshape(len(solids), 8, 2)


def outline_px(solid: Solid, camera: CameraModel, pose: Pose) -> npt.NDArray[np.float32]:
    """Return the convex outline of a solid in the picture, shape (n, 2), in pixels."""
    return hull_px(project(camera, pose, solid.corners_mm()))


def hull_px(corners: FloatArray) -> npt.NDArray[np.float32]:
    """Return the convex hull, shape (n, 2), of points in the picture, shape (m, 2)."""
    return np.asarray(cv2.convexHull(corners.astype(np.float32)), dtype=np.float32).reshape(-1, 2)
