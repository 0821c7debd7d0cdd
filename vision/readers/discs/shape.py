"""The area that a disc and its ball cover in the plane of the discs' tops, seen from one camera position.

Seen from a point, a circle in one horizontal plane covers a circle in another. So a disc covers the hull of the circles
of its top and foot, and a ball the union of the circles of its slices. Points and centres are arrays (..., 2) that
broadcast against each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

from vision.frame import FloatArray
from vision.geometry import Pose
from vision.layout.pieces import DiscPieces

_SLICES = np.array([-0.75, -0.4, 0.0, 0.4, 0.75])
"""Heights of a ball's slices above its centre, as shares of its radius. More: a more exact outline, but slower."""
Circles = tuple[FloatArray, FloatArray]
"""Centres (..., k, 2) and radii (k,), in mm of the plane."""


@dataclass(frozen=True, eq=False)
class DiscShape:
    """A disc seen from ``camera_mm``; heights are above the surface's frame, ``top_mm`` is the disc's top."""

    pieces: DiscPieces
    camera_mm: FloatArray
    top_mm: float

    @classmethod
    def of(cls, pieces: DiscPieces, pose: Pose, base_mm: float) -> DiscShape:
        """Return the shape on a surface at a height, as seen by the camera."""
        return cls(pieces, pose.camera_position_mm, base_mm + pieces.disc_mm)

    @property
    def radius_mm(self) -> float:
        """The disc's radius."""
        return self.pieces.diameter_mm / 2

    def seen(self, centre_mm: FloatArray, heights_mm: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Project points (..., 2) at heights (k,) to the plane, and give the scale at each height.

        Shapes (..., k, 2) and (k,).
        """
        scales = (self.camera_mm[2] - self.top_mm) / (self.camera_mm[2] - heights_mm)
        camera = self.camera_mm[:2]
        return camera + (centre_mm[..., None, :] - camera) * scales[:, None], scales

    def reach(self, centre_mm: FloatArray, directions: FloatArray) -> FloatArray:
        """Return extent of a disc from its top's centre (..., 2) in the given directions (..., 2): its support
        function.
        """
        feet, scales = self.seen(centre_mm, np.array([self.top_mm - self.pieces.disc_mm]))
        supported = ((feet[..., 0, :] - centre_mm) * directions).sum(axis=-1) + self.radius_mm * scales[0]
        return np.asarray(np.maximum(self.radius_mm, supported))

    def disc_circles(self, centre_mm: FloatArray) -> Circles:
        """Return centres (..., 3, 2) and radii (3,) covered in the plane by the top, middle and foot of a disc."""
        middles, scales = self.seen(centre_mm, self.top_mm - self.pieces.disc_mm * np.array([0.0, 0.5, 1.0]))
        return middles, self.radius_mm * scales

    def ball_circles(self, centre_mm: FloatArray) -> Circles:
        """Return centres (..., k, 2) and radii (k,) covered in the plane by the slices of a ball on a disc."""
        half = self.pieces.ball_mm / 2
        up = half * _SLICES
        middles, scales = self.seen(centre_mm, self.top_mm + half + up)
        return middles, scales * np.sqrt(half**2 - up**2)

    def ball_outline(self, centre_mm: FloatArray, directions: FloatArray) -> FloatArray:
        """Return points of a ball's outline in the plane, (..., n, 2): the farthest in each direction (n, 2)."""
        middles, radii = self.ball_circles(centre_mm)
        chosen = (directions @ middles.swapaxes(-1, -2) + radii).argmax(axis=-1)
        farthest = np.take_along_axis(middles, chosen[..., None], axis=-2)
        return np.asarray(farthest + radii[chosen][..., None] * directions)


def beyond_mm(points_mm: FloatArray, circles: Circles) -> FloatArray:
    """Return the distance of points (..., 2) outside the nearest of some circles; negative inside one."""
    middles, radii = circles
    x, y = points_mm[..., 0], points_mm[..., 1]
    # circle by circle, since NumPy is slow along a short axis
    each = (
        np.sqrt((x - middles[..., index, 0]) ** 2 + (y - middles[..., index, 1]) ** 2) - radius
        for index, radius in enumerate(radii.tolist())
    )
    return np.asarray(reduce(np.minimum, each))
