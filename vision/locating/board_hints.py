"""What a marker beside a board says about the board under a given rotation: how far away it is, and where."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vision.frame import FloatArray
from vision.geometry import CameraModel
from vision.layout.surfaces import GridSurface
from vision.opencv import undistort_points

_ERROR_PX = 3.0
"""Error of a marker's side, in pixels, by which it may be seen turned, too long or too short."""
_CARELESS = 0.1
"""Further error of a side that was laid or measured carelessly, as an angle in radians and a share of its length.
Higher, like _ERROR_PX: more careless or blurred markers are allowed for, slower. Both set by hand on blurred ray-traced
pictures.
"""
_ASTRAY_SQUARES = 1.6
"""Distance from where a marker puts a board, in squares, up to which a board agrees with it. It is more than one, as
a board whose rim is hidden may be found a square off.
"""


@dataclass(frozen=True, eq=False)
class MarkerSighting:
    """A marker seen beside a board, with sides parallel to the board's: distorted pixels of its corners (4, 2), and in
    the board's frame its side and its centre (3,).
    """

    corners_px: FloatArray
    side_mm: float
    centre_mm: FloatArray


@dataclass(frozen=True, eq=False)
class BoardHint:
    """The board that a marker predicts under a rotation.

    ``pitch`` is the side of a square in units of the camera's height above the board, ``error`` its relative error.
    ``corners_mm`` (n, 2) are the positions, in the board's frame, of the board's first corner relative to the marker's
    centre, seen from each side from which the board looks the same. ``centre`` (2,) is the marker's centre from the
    camera's foot, in units of the camera's height above the marker, which is ``drop_mm`` more than above the board.
    """

    pitch: float
    error: float
    corners_mm: FloatArray
    centre: FloatArray
    drop_mm: float
    cell_mm: float

    @classmethod
    def of(
        cls, marker: MarkerSighting, rotation: FloatArray, camera: CameraModel, surface: GridSurface
    ) -> BoardHint | None:
        """Return what a marker says under a rotation, a matrix (3, 3) from the board's frame; ``None`` if it is no
        square along the board's sides there.
        """
        sides_px = np.linalg.norm(np.roll(marker.corners_px, -1, axis=0) - marker.corners_px, axis=1)
        error = _CARELESS + _ERROR_PX / max(float(sides_px.min()), 1.0)
        flat = undistort_points(marker.corners_px, camera.matrix, camera.distortion)
        rays = np.column_stack([flat, np.ones(len(flat))]) @ rotation
        if rays[:, 2].max() >= 0:
            return None
        points = rays[:, :2] / -rays[:, 2:]
        sides = (np.roll(points, -1, axis=0) - points) @ (1, 1j)
        lengths = np.abs(sides)
        # a fourth power is the same for directions a quarter turn apart
        skew_rad = abs(float(np.angle((sides**4).sum()))) / 4
        if skew_rad > error or np.abs(lengths / lengths.mean() - 1).max() > error:
            return None
        x_mm, y_mm, z_mm = marker.centre_mm.tolist()
        turned_mm = [(x_mm, y_mm), (-y_mm, x_mm), (-x_mm, -y_mm), (y_mm, -x_mm)]
        centres_mm = np.array(turned_mm if surface.columns == surface.rows else turned_mm[::2])
        drop_mm = surface.height_mm - z_mm
        above_mm = marker.side_mm / float(lengths.mean()) - drop_mm
        corners_mm = np.array([surface.bounds_mm.left_mm, surface.bounds_mm.near_mm]) - centres_mm
        return cls(surface.cell_mm / above_mm, error, corners_mm, points.mean(axis=0), drop_mm, surface.cell_mm)

    def allows(self, pitch: float, corner: tuple[float, float] | None = None) -> bool:
        """Return whether a board agrees with the marker: the side of a square and, if given, the position of the first
        corner from the camera's foot, both in units of the camera's height above the board.
        """
        if abs(np.log(pitch / self.pitch)) >= self.error:
            return False
        if corner is None:
            return True
        above_mm = self.cell_mm / pitch
        corners = (self.corners_mm + self.centre * (above_mm + self.drop_mm)) / above_mm
        return bool(np.abs(corners - corner).max(axis=1).min() < _ASTRAY_SQUARES * pitch)
