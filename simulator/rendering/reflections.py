"""Reflections in smooth plastic faces, and the shadows that fall on them, drawn quickly.

From nearly above, a steep plastic face mostly shows a reflection of the board beside it. In a flat face the reflection
is what a camera behind the face would see.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import FloatArray

Light = npt.NDArray[np.float32]
_BITS = 4
_DOWNWARDS = -0.08
"""A way that goes down less than this meets no table that is near."""
_FARTHEST_PX = 4000.0


@dataclass(frozen=True, eq=False)
class Body:
    """A body, or several: facets (n, 4, 3) in mm, their unit normals (n, 3), and the light of each (n, 3)."""

    facets: FloatArray
    normals: FloatArray
    values: FloatArray

    @classmethod
    def of(cls, bodies: Sequence[Body]) -> Body:
        """Combine several bodies into one."""
        return cls(
            np.concatenate([np.zeros((0, 4, 3)), *(body.facets for body in bodies)]),
            np.concatenate([np.zeros((0, 3)), *(body.normals for body in bodies)]),
            np.concatenate([np.zeros((0, 3)), *(body.values for body in bodies)]),
        )


def fresnel(cosine: float, head_on: float) -> float:
    """Return the share of light that a smooth face mirrors, by the cosine to its normal (Schlick 1994).

    ``head_on`` is the share along the normal: 0.04 for plastics.
    """
    return head_on + (1 - head_on) * (1 - min(max(cosine, 0.0), 1.0)) ** 5


class Surroundings:
    """What may be mirrored: the ground and the bodies on it, seen through a camera with a projection (3, 4)."""

    def __init__(
        self, projection: FloatArray, viewer_mm: FloatArray, texture: Light, ground: FloatArray, sky: FloatArray
    ) -> None:
        self._projection = projection
        self._viewer = viewer_mm
        self._texture = texture
        # from pixels of the texture to points on the ground, both homogeneous: (4, 3)
        self._ground = ground
        self._sky = sky

    def mirrored(
        self, point_mm: FloatArray, normal: FloatArray, around: Body, origin: FloatArray, shape: tuple[int, int]
    ) -> Light:
        """Return what a plane through a point mirrors, in the part of the picture that begins at ``origin``."""
        towards = point_mm - self._viewer
        way = towards - 2 * float(towards @ normal) * normal
        if way[2] > _DOWNWARDS * float(np.linalg.norm(way)):
            return np.broadcast_to(self._sky, (*shape, 3)).astype(np.float32)
        mirror = np.eye(4)
        mirror[:3, :3] -= 2 * np.outer(normal, normal)
        mirror[:3, 3] = 2 * float(normal @ point_mm) * normal
        shift = np.array([[1.0, 0, -origin[0]], [0, 1, -origin[1]], [0, 0, 1]])
        seen = shift @ self._projection @ mirror
        picture = cv2.warpPerspective(
            self._texture, seen @ self._ground, shape[::-1], flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        )
        before = (around.facets - point_mm) @ normal
        behind = self._viewer - 2 * float((self._viewer - point_mm) @ normal) * normal
        facing = ((behind - around.facets[:, 0]) * around.normals).sum(axis=1) > 0
        drawn = np.flatnonzero(facing & (before.max(axis=1) > 0))
        away = ((around.facets[drawn].mean(axis=1) - point_mm) ** 2).sum(axis=1)
        drawn = drawn[np.argsort(-away)]
        pixels, in_sight = _pixels(seen, around.facets[drawn], shape)
        crossing = before[drawn].min(axis=1) < 0
        for number, corners, shown, crosses in zip(drawn, pixels, in_sight, crossing, strict=True):
            if crosses:
                kept = _before(around.facets[number], before[number])
                clipped, found = _pixels(seen, kept[None], shape)
                corners, shown = clipped[0], found[0]
            if shown:
                cv2.fillConvexPoly(picture, corners, around.values[number].tolist(), cv2.LINE_8, _BITS)
        return np.asarray(picture, dtype=np.float32)

    def shadow(
        self,
        point_mm: FloatArray,
        normal: FloatArray,
        way: FloatArray,
        beside: Sequence[FloatArray],
        origin: FloatArray,
        shape: tuple[int, int],
    ) -> npt.NDArray[np.uint8]:
        """Return where convex bodies with corners (n, 3) block light from ``way`` on a plane: 255 there, else 0."""
        mask = np.zeros(shape, dtype=np.uint8)
        shift = np.array([[1.0, 0, -origin[0]], [0, 1, -origin[1]], [0, 0, 1]])
        seen = shift @ self._projection
        for corners in beside:
            before = (corners - point_mm) @ normal
            if before.max() <= 0:
                continue
            fallen = corners - (before / float(normal @ way))[:, None] * way
            pixels, shown = _pixels(seen, fallen[None, before > 0], shape)
            if shown[0]:
                cv2.fillConvexPoly(mask, cv2.convexHull(pixels[0]), 255, cv2.LINE_8, _BITS)
        return mask


def _pixels(
    seen: FloatArray, points: FloatArray, shape: tuple[int, int]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
    """Return where a projection (3, 4) shows polygons (n, m, 3), for OpenCV, and which of them may be in a picture."""
    found = points @ seen[:, :3].T + seen[:, 3]
    before = found[..., 2].min(axis=1) > 0
    flat = found[..., :2] / np.where(before[:, None], found[..., 2], 1.0)[..., None]
    flat = np.minimum(np.maximum(flat, -_FARTHEST_PX), _FARTHEST_PX)
    inside = (flat.min(axis=1) < shape[::-1]).all(axis=1) & (flat.max(axis=1) > 0).all(axis=1)
    return np.rint(flat * 2**_BITS).astype(np.int32), before & inside


def _before(corners: FloatArray, before: FloatArray) -> FloatArray:
    """Return the part of a polygon (n, 3) whose distances ``before`` a plane are not negative."""
    if (before >= 0).all():
        return corners
    kept = []
    for number in range(len(corners)):
        here, there = before[number], before[number - 1]
        if (here >= 0) != (there >= 0):
            share = here / (here - there)
            kept.append(corners[number] + share * (corners[number - 1] - corners[number]))
        if here >= 0:
            kept.append(corners[number])
    return np.array(kept)
