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

from simulator.rendering.painting import SUBPIXEL_BITS, fixed_point
from vision.frame import FloatArray, FloatImage, Image

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


class Surroundings:
    """The ground and the sky, as mirrored in planes that a camera sees.

    ``projection`` (3, 4) and ``viewer_mm`` (3,) are the camera's. ``ground`` (4, 3) maps pixels of ``texture`` to
    points in mm, both homogeneous. ``sky`` (3,) is the radiance above the horizon.
    """

    def __init__(
        self, projection: FloatArray, viewer_mm: FloatArray, texture: FloatImage, ground: FloatArray, sky: FloatArray
    ) -> None:
        self._projection = projection
        self._viewer = viewer_mm
        self._texture = texture
        self._ground = ground
        self._sky = sky

    def mirrored(
        self, point_mm: FloatArray, normal: FloatArray, objects: Facets, origin: FloatArray, shape: tuple[int, int]
    ) -> FloatImage:
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
        pixels, in_front = _project(projection, objects.corners_mm[drawn].reshape(-1, 3))
        pixels = pixels.reshape(-1, 4, 2)
        polygons, whole = fixed_point(pixels), np.logical_and.reduce(in_front.reshape(-1, 4), axis=1)
        crossing = signed_mm[drawn].min(axis=1) < 0
        shown = _overlap(pixels.min(axis=1), pixels.max(axis=1), shape)
        for index in np.flatnonzero(np.where(whole, shown, crossing)):
            number, polygon = drawn[index], polygons[index]
            if crossing[index]:
                clipped, ahead = _project(projection, _clipped(objects.corners_mm[number], signed_mm[number]))
                if not ahead.all():
                    continue
                polygon = fixed_point(clipped)
            cv2.fillConvexPoly(picture, polygon, objects.radiance[number].tolist(), cv2.LINE_8, SUBPIXEL_BITS)
        return np.asarray(picture, dtype=np.float32)

    def shadow(
        self,
        point_mm: FloatArray,
        normal: FloatArray,
        to_light: FloatArray,
        casters: Sequence[FloatArray],
        origin: FloatArray,
        shape: tuple[int, int],
    ) -> Image:
        """Return the shadows of convex bodies on the plane through a point: a mask of the window, 255 in shadow.

        ``to_light`` (3,) points to a distant lamp; ``casters`` are the corners (n, 3) of each body.
        """
        mask = np.zeros(shape, dtype=np.uint8)
        if not casters:
            return mask
        corners = np.concatenate(casters)
        starts = np.cumsum([0, *(len(each) for each in casters[:-1])])
        signed_mm = (corners - point_mm) @ normal
        casts = signed_mm > 0
        on_plane = corners - (signed_mm / float(normal @ to_light))[:, None] * to_light
        pixels, in_front = _project(_window(origin) @ self._projection, on_plane)
        low = np.minimum.reduceat(np.where(casts[:, None], pixels, np.inf), starts)
        high = np.maximum.reduceat(np.where(casts[:, None], pixels, -np.inf), starts)
        visible = np.logical_and.reduceat(in_front | ~casts, starts) & _overlap(low, high, shape)
        polygons, ends = fixed_point(pixels), [*starts[1:], len(corners)]
        for number in np.flatnonzero(visible):
            own = slice(starts[number], ends[number])
            cv2.fillConvexPoly(mask, cv2.convexHull(polygons[own][casts[own]]), 255, cv2.LINE_8, SUBPIXEL_BITS)
        return mask


def _window(origin: FloatArray) -> FloatArray:
    """Return the homography from the picture to its window at ``origin``."""
    return np.array([[1.0, 0, -origin[0]], [0, 1, -origin[1]], [0, 0, 1]])


def _project(projection: FloatArray, points_mm: FloatArray) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Project points (n, 3): return pixels (n, 2), limited for OpenCV, and which are in front of the camera."""
    found = points_mm @ projection[:, :3].T + projection[:, 3]
    in_front = found[:, 2] > 0
    flat = found[:, :2] / np.where(in_front, found[:, 2], 1.0)[:, None]
    return np.minimum(np.maximum(flat, -_LARGEST_PX), _LARGEST_PX), in_front


def _overlap(low: FloatArray, high: FloatArray, shape: tuple[int, int]) -> npt.NDArray[np.bool_]:
    """Return which bounds, (n, 2) each, overlap a picture of that shape."""
    return np.asarray((low < shape[::-1]).all(axis=1) & (high > 0).all(axis=1))


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
