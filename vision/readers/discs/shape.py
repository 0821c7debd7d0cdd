"""What a disc and its ball cover in the plane of the discs' tops, seen from one place of the camera.

Seen from a point, a circle in one horizontal plane covers a circle in another. So a disc is the hull of two circles,
its top's and its foot's, and a ball the union of the circles of its slices. Points and middles are arrays (..., 2)
that go together as NumPy broadcasts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vision.frame import BoolImage, FloatArray
from vision.geometry import Pose
from vision.layout.pieces import DiscPieces

_SLICES = 7


@dataclass(frozen=True, eq=False)
class DiscShape:
    """A disc seen from ``camera_mm``; heights are above the surface's frame, ``top_mm`` that of the disc's top."""

    pieces: DiscPieces
    camera_mm: FloatArray
    top_mm: float

    @classmethod
    def of(cls, pieces: DiscPieces, pose: Pose, base_mm: float) -> DiscShape:
        """The shape on a surface at a height, as the camera sees it."""
        return cls(pieces, pose.camera_position_mm, base_mm + pieces.disc_mm)

    @property
    def radius_mm(self) -> float:
        """The disc's radius."""
        return self.pieces.diameter_mm / 2

    def seen(self, centre_mm: FloatArray, height_mm: float) -> tuple[FloatArray, float]:
        """Where in the plane a point (x, y) at a height is seen, and how much larger what lies there is."""
        scale = (self.camera_mm[2] - self.top_mm) / (self.camera_mm[2] - height_mm)
        return np.asarray(self.camera_mm[:2] + (centre_mm - self.camera_mm[:2]) * scale), float(scale)

    def reach(self, centre_mm: FloatArray, directions: FloatArray) -> FloatArray:
        """How far a disc reaches from its top's middle (..., 2) in the given directions (..., 2): its support."""
        foot, scale = self.seen(centre_mm, self.top_mm - self.pieces.disc_mm)
        supported = ((foot - centre_mm) * directions).sum(axis=-1) + self.radius_mm * scale
        return np.asarray(np.maximum(self.radius_mm, supported))

    def in_disc(self, points_mm: FloatArray, centre_mm: FloatArray, grown_mm: float = 0.0) -> BoolImage:
        """Which points of the plane a disc covers, its side included."""
        covered = np.zeros(points_mm.shape[:-1], dtype=np.bool_)
        for share in (0.0, 0.5, 1.0):
            middle, scale = self.seen(centre_mm, self.top_mm - share * self.pieces.disc_mm)
            covered |= _within(points_mm, middle, self.radius_mm * scale + grown_mm)
        return covered

    def in_top(self, points_mm: FloatArray, centre_mm: FloatArray, grown_mm: float = 0.0) -> BoolImage:
        """Which points of the plane lie on a disc's top."""
        return _within(points_mm, centre_mm, self.radius_mm + grown_mm)

    def in_ball(self, points_mm: FloatArray, centre_mm: FloatArray, grown_mm: float = 0.0) -> BoolImage:
        """Which points of the plane a ball on a disc covers."""
        covered = np.zeros(points_mm.shape[:-1], dtype=np.bool_)
        for middle, radius in self.ball_slices(centre_mm):
            covered |= _within(points_mm, middle, radius + grown_mm)
        return covered

    def ball_slices(self, centre_mm: FloatArray) -> list[tuple[FloatArray, float]]:
        """Middle and radius of what each slice of a ball covers of the plane."""
        half = self.pieces.ball_mm / 2
        slices = []
        for up in np.linspace(-half, half, _SLICES + 2)[1:-1]:
            middle, scale = self.seen(centre_mm, self.top_mm + half + float(up))
            slices.append((middle, scale * float(np.sqrt(half**2 - up**2))))
        return slices

    def ball_outline(self, centre_mm: FloatArray, directions: FloatArray) -> FloatArray:
        """Points of a ball's outline in the plane, (n, 2), the farthest in each of the given directions, (n, 2)."""
        slices = self.ball_slices(centre_mm)
        middles = np.stack([middle for middle, _ in slices])
        radii = np.array([radius for _, radius in slices])
        chosen = (directions @ middles.T + radii).argmax(axis=1)
        return np.asarray(middles[chosen] + radii[chosen][:, None] * directions)


def _within(points_mm: FloatArray, middle_mm: FloatArray, radius_mm: float) -> BoolImage:
    return np.asarray(((points_mm - middle_mm) ** 2).sum(axis=-1) < max(0.0, radius_mm) ** 2)
