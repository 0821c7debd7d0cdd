"""Straight edges of a picture made from known lines on a table."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from vision.geometry import CameraModel, Pose, project
from vision.layout.pieces import GridSurface
from vision.locating.lattice import Edges
from vision.opencv import undistort_points

Segment = tuple[tuple[float, float], tuple[float, float]]
"""The (x, y) of both ends, in mm."""


def edges_at(camera: CameraModel, ends_px: npt.ArrayLike) -> Edges:
    """Edges between distorted pixels, (n, 2, 2), longest first."""
    ends = np.asarray(ends_px, dtype=np.float64).reshape(-1, 2, 2)
    ends = ends[np.argsort(-np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1), kind="stable")]
    flat = undistort_points(ends.reshape(-1, 2), camera.matrix, camera.distortion).reshape(-1, 2, 2)
    rays = np.concatenate([flat, np.ones((*flat.shape[:2], 1))], axis=2)
    planes, middles = np.cross(rays[:, 0], rays[:, 1]), rays.mean(axis=1)
    planes, middles = (one / np.linalg.norm(one, axis=1, keepdims=True) for one in (planes, middles))
    return Edges(ends, rays, planes, middles, np.linalg.norm(flat[:, 1] - flat[:, 0], axis=1))


def edges_of(camera: CameraModel, pose: Pose, segments: Iterable[Segment], height_mm: float) -> Edges:
    """Edges where a camera sees straight lines at a height."""
    points = [[*end, height_mm] for segment in segments for end in segment]
    return edges_at(camera, project(camera, pose, points))


def grid_of(surface: GridSurface) -> list[Segment]:
    """Every line of a board, square by square: those along x from the near one, then those along y from the left."""
    bounds, cell = surface.bounds_mm, surface.cell_mm
    left, near = bounds.left_mm, bounds.near_mm

    def at(column: int, row: int) -> tuple[float, float]:
        return left + column * cell, near + row * cell

    along_x = [
        (at(column, row), at(column + 1, row)) for row in range(surface.rows + 1) for column in range(surface.columns)
    ]
    along_y = [
        (at(column, row), at(column, row + 1)) for column in range(surface.columns + 1) for row in range(surface.rows)
    ]
    return along_x + along_y
