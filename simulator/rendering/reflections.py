"""Mirror images in smooth plastic faces, and the shadows cast on them.

Seen from nearly above, a steep plastic face mostly shows a reflection of the board beside it. A plane mirror shows
what a camera mirrored in its plane would see.
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
_HORIZON = -0.08
"""Reflected rays whose unit direction has a larger z component show the sky: they miss the table nearby."""
_LARGEST_PX = 4000.0
"""Limit of projected coordinates, for OpenCV's fixed-point drawing."""


@dataclass(frozen=True, eq=False)
class Facets:
    """Flat facets of convex bodies: corners (n, 4, 3) in mm, unit normals (n, 3), and radiance (n, 3)."""

    corners_mm: FloatArray
    normals: FloatArray
    radiance: FloatArray

    @classmethod
    def joined(cls, parts: Sequence[Facets]) -> Facets:
        """Concatenate facets; none give empty arrays."""
        return cls(
            np.concatenate([np.zeros((0, 4, 3)), *(part.corners_mm for part in parts)]),
            np.concatenate([np.zeros((0, 3)), *(part.normals for part in parts)]),
            np.concatenate([np.zeros((0, 3)), *(part.radiance for part in parts)]),
        )


def fresnel(cosine: float, head_on: float) -> float:
    """Return the Fresnel reflectance of a smooth face, by Schlick's approximation (1994).

    ``cosine`` is that of the angle of incidence. ``head_on`` is the reflectance at normal incidence: 0.04 for plastics.
    """
    return head_on + (1 - head_on) * (1 - min(max(cosine, 0.0), 1.0)) ** 5


class Surroundings:
    """The ground and the sky, as mirrored in planes that a camera sees.

    ``projection`` (3, 4) and ``viewer_mm`` (3,) are the camera's. ``ground`` (4, 3) maps pixels of ``texture`` to
    points in mm, both homogeneous. ``sky`` (3,) is the radiance above the horizon.
    """

    def __init__(
        self, projection: FloatArray, viewer_mm: FloatArray, texture: Light, ground: FloatArray, sky: FloatArray
    ) -> None:
        self._projection = projection
        self._viewer = viewer_mm
        self._texture = texture
        self._ground = ground
        self._sky = sky

    def mirrored(
        self, point_mm: FloatArray, normal: FloatArray, objects: Facets, origin: FloatArray, shape: tuple[int, int]
    ) -> Light:
        """Return the mirror image of ground and objects in the plane through a point.

        It covers the window of the picture with its upper left corner at ``origin``, and has ``shape`` (rows, columns).
        """
        incident = point_mm - self._viewer
        reflected = incident - 2 * float(incident @ normal) * normal
        if reflected[2] > _HORIZON * float(np.linalg.norm(reflected)):
            return np.broadcast_to(self._sky, (*shape, 3)).astype(np.float32)
        mirror = np.eye(4)
        mirror[:3, :3] -= 2 * np.outer(normal, normal)
        mirror[:3, 3] = 2 * float(normal @ point_mm) * normal
        projection = _window(origin) @ self._projection @ mirror
        picture = cv2.warpPerspective(
            self._texture,
            projection @ self._ground,
            shape[::-1],
            flags=cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_REPLICATE,
        )
        signed_mm = (objects.corners_mm - point_mm) @ normal
        mirrored_viewer = self._viewer - 2 * float((self._viewer - point_mm) @ normal) * normal
        facing = ((mirrored_viewer - objects.corners_mm[:, 0]) * objects.normals).sum(axis=1) > 0
        drawn = np.flatnonzero(facing & (signed_mm.max(axis=1) > 0))
        square_mm = ((objects.corners_mm[drawn].mean(axis=1) - point_mm) ** 2).sum(axis=1)
        drawn = drawn[np.argsort(-square_mm)]
        polygons, visible = _project(projection, objects.corners_mm[drawn], shape)
        crossing = signed_mm[drawn].min(axis=1) < 0
        for number, polygon, is_visible, crosses in zip(drawn, polygons, visible, crossing, strict=True):
            if crosses:
                part = _clipped(objects.corners_mm[number], signed_mm[number])
                clipped, found = _project(projection, part[None], shape)
                polygon, is_visible = clipped[0], found[0]
            if is_visible:
                cv2.fillConvexPoly(picture, polygon, objects.radiance[number].tolist(), cv2.LINE_8, _BITS)
        return np.asarray(picture, dtype=np.float32)

    def shadow(
        self,
        point_mm: FloatArray,
        normal: FloatArray,
        to_light: FloatArray,
        casters: Sequence[FloatArray],
        origin: FloatArray,
        shape: tuple[int, int],
    ) -> npt.NDArray[np.uint8]:
        """Return the shadows of convex bodies on the plane through a point: a mask of the window, 255 in shadow.

        ``to_light`` (3,) points to a distant lamp; ``casters`` are the corners (n, 3) of each body.
        """
        mask = np.zeros(shape, dtype=np.uint8)
        projection = _window(origin) @ self._projection
        for corners in casters:
            signed_mm = (corners - point_mm) @ normal
            if signed_mm.max() <= 0:
                continue
            on_plane = corners - (signed_mm / float(normal @ to_light))[:, None] * to_light
            polygons, visible = _project(projection, on_plane[None, signed_mm > 0], shape)
            if visible[0]:
                cv2.fillConvexPoly(mask, cv2.convexHull(polygons[0]), 255, cv2.LINE_8, _BITS)
        return mask


def _window(origin: FloatArray) -> FloatArray:
    """Return the homography from the picture to its window at ``origin``."""
    return np.array([[1.0, 0, -origin[0]], [0, 1, -origin[1]], [0, 0, 1]])


def _project(
    projection: FloatArray, points_mm: FloatArray, shape: tuple[int, int]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
    """Project polygons (n, m, 3); return them in OpenCV's fixed point, and which may lie in a picture of that shape."""
    found = points_mm @ projection[:, :3].T + projection[:, 3]
    in_front = found[..., 2].min(axis=1) > 0
    flat = found[..., :2] / np.where(in_front[:, None], found[..., 2], 1.0)[..., None]
    flat = np.minimum(np.maximum(flat, -_LARGEST_PX), _LARGEST_PX)
    inside = (flat.min(axis=1) < shape[::-1]).all(axis=1) & (flat.max(axis=1) > 0).all(axis=1)
    return np.rint(flat * 2**_BITS).astype(np.int32), in_front & inside


def _clipped(corners: FloatArray, signed_mm: FloatArray) -> FloatArray:
    """Clip a polygon (n, 3) to the front of a plane, given its corners' signed distances from it (n,)."""
    if (signed_mm >= 0).all():
        return corners
    kept = []
    for number in range(len(corners)):
        here, previous = signed_mm[number], signed_mm[number - 1]
        if (here >= 0) != (previous >= 0):
            share = here / (here - previous)
            kept.append(corners[number] + share * (corners[number - 1] - corners[number]))
        if here >= 0:
            kept.append(corners[number])
    return np.array(kept)
