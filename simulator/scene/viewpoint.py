"""Virtual cameras: lenses by their field of view, and poses by their viewing direction."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import accumulate, islice, repeat
from operator import mul

import numpy as np
import numpy.typing as npt

from vision.geometry import CameraModel, Pose, project


def lens(
    size: tuple[int, int] = (1280, 720),
    horizontal_view_deg: float = 66.0,
    distortion: npt.ArrayLike = (0.03, -0.08, 0.0005, -0.0004, 0.02),
    centre_offset_px: tuple[float, float] = (4.0, -3.0),
) -> CameraModel:
    """Return a camera with square pixels: ``size`` is (width, height); distortion is OpenCV's k1, k2, p1, p2, k3."""
    width, height = size
    focal_px = width / 2 / math.tan(math.radians(horizontal_view_deg) / 2)
    centre = ((width - 1) / 2 + centre_offset_px[0], (height - 1) / 2 + centre_offset_px[1])
    matrix = np.array([[focal_px, 0.0, centre[0]], [0.0, focal_px, centre[1]], [0.0, 0.0, 1.0]])
    return CameraModel(matrix, np.asarray(distortion, dtype=np.float64), size, 0.0, "virtual")


def looking_at(
    distance_mm: float = 620.0,
    tilt_deg: float = 12.0,
    azimuth_deg: float = -90.0,
    roll_deg: float = 0.0,
    target_mm: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> Pose:
    """Return the pose of a camera that looks at a point, ``tilt_deg`` off the vertical, from the side ``azimuth_deg``.

    The first player sits at azimuth -90. Without roll, up in the picture is away from the camera, also at tilt 0.
    """
    tilt, azimuth, roll = math.radians(tilt_deg), math.radians(azimuth_deg), math.radians(roll_deg)
    outwards = np.array([math.cos(azimuth), math.sin(azimuth), 0.0])
    away = math.sin(tilt) * outwards + np.array([0.0, 0.0, math.cos(tilt)])
    position = np.asarray(target_mm, dtype=np.float64) + distance_mm * away
    forward = -away
    down = outwards - float(outwards @ forward) * forward
    down /= np.linalg.norm(down)
    right = np.cross(down, forward)
    turned_right = math.cos(roll) * right + math.sin(roll) * down
    turned_down = math.cos(roll) * down - math.sin(roll) * right
    rotation = np.stack([turned_right, turned_down, forward])
    return Pose(rotation, -rotation @ position)


def first_fitting(camera: CameraModel, points_mm: npt.ArrayLike, margin_px: float, poses: Iterable[Pose]) -> Pose:
    """Return the first pose with all points (n, 3) at least ``margin_px`` inside the picture, else the last one."""
    least, most = margin_px, np.asarray(camera.size) - 1 - margin_px
    for pose in poses:
        pixels = project(camera, pose, points_mm)
        if bool(np.all(pixels > least) and np.all(pixels < most)):
            break
    return pose


def growing_distances(distance_mm: float, step: float, tries: int) -> Iterator[float]:
    """Return ``tries`` distances, each ``step`` times the one before."""
    return islice(accumulate(repeat(step), mul, initial=distance_mm), tries)


_HALF_TABLE_MM = 215.0
"""Half the width of a board with its markers and a margin."""


def whole_table_distance_mm(camera: CameraModel) -> float:
    """Return the minimum distance at which the board and its markers fit into the shorter side of the picture."""
    return float(camera.matrix[1, 1]) * 2 * _HALF_TABLE_MM / min(camera.size)
