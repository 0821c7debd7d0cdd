"""Stacked convex bodies with flat facets, as the camera sees them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np
import numpy.typing as npt

from simulator.rendering.optics import (
    decode,
    develop,
    irradiance,
    penumbra_mm,
    remaining_light,
    sensor_gain,
    shade_table,
    shadow_points,
    specular,
    vignette_at,
)
from simulator.rendering.painting import MARGIN_PX, SAMPLES, Sprite, darken_in_shadow, with_motion_blur
from simulator.rendering.polygons import SUBPIXEL_BITS, box_around, fixed_point, hull, supersampled
from simulator.scene.pieces import Colour
from simulator.scene.scene import Setting
from vision.frame import FloatArray, Image
from vision.geometry import project

UNIT_SQUARE = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]) / 2
"""Corners of a square with side 1 about the origin, anticlockwise."""
_BACK_SHARE = 0.5
"""Opacity of a translucent body's far side, over that of its near side."""


@dataclass(frozen=True, eq=False)
class Body:
    """A convex body: facets (n, 4, 3) and their unit normals (n, 3). A triangle repeats its last corner.

    ``gloss`` scales specular reflections; ``opacity`` is the share of the background that the body hides. ``edges``
    (m, 2, 3) are rounded: ``edge_mm`` wide, ``edge_light`` times as bright as the brightest visible facet. ``top``
    (k, 3) is a level polygon, on which a body above casts its shadow.
    """

    facets: FloatArray
    normals: FloatArray
    colour: Colour
    gloss: float
    opacity: float = 1.0
    edges: FloatArray = field(default_factory=lambda: np.zeros((0, 2, 3)))
    edge_mm: float = 0.0
    edge_light: float = 1.0
    top: FloatArray | None = None

    @property
    def corners_mm(self) -> FloatArray:
        """All corners, shape (4 n, 3)."""
        return self.facets.reshape(-1, 3)


def revolve(profile_mm: FloatArray, foot_mm: FloatArray, sides: int) -> tuple[FloatArray, FloatArray]:
    """Return facets and normals of a solid of revolution about the vertical axis through ``foot_mm`` (3,).

    ``profile_mm`` (n, 2) holds radii and heights above the foot, from the bottom to the top. If the last radius is more
    than 0, a level top closes the solid.
    """
    angles = np.linspace(0.0, 2 * np.pi, sides + 1)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    points = np.concatenate(
        [
            (profile_mm[:, None, :1] * circle[None]),
            np.broadcast_to(profile_mm[:, None, 1:], (len(profile_mm), sides + 1, 1)),
        ],
        axis=-1,
    )
    points = points + foot_mm
    if profile_mm[-1, 0] > 0:
        tip = np.broadcast_to(foot_mm + np.array([0.0, 0.0, profile_mm[-1, 1]]), (1, sides + 1, 3))
        points = np.concatenate([points, tip])
    facets = np.stack([points[:-1, :-1], points[:-1, 1:], points[1:, 1:], points[1:, :-1]], axis=2).reshape(-1, 4, 3)
    return facets, normals_of(facets)


def frustum(below: FloatArray, above: FloatArray) -> FloatArray:
    """Return the four sides and the top, (5, 4, 3), between two squares (4, 3), anticlockwise seen from above."""
    sides = [np.stack([below[k], below[(k + 1) % 4], above[(k + 1) % 4], above[k]]) for k in range(4)]
    return np.stack([*sides, above])


def normals_of(facets: FloatArray) -> FloatArray:
    """Return the unit normals (n, 3) of facets (n, 4, 3) whose corners run anticlockwise seen from outside."""
    first, second = facets[:, 2] - facets[:, 0], facets[:, 3] - facets[:, 1]
    across = np.cross(first, second)
    return np.asarray(across / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-12), dtype=np.float64)


def bodies_sprite(setting: Setting, bodies: Sequence[Body], streak_mm: tuple[float, float]) -> Sprite:
    """Draw bodies that stand on each other, lowest first, as the camera sees them."""
    corners = np.vstack([body.corners_mm for body in bodies])
    outline = project(setting.camera, setting.pose, corners)
    left, top, right, bottom = box_around(outline, MARGIN_PX)
    canvas = _Canvas(setting, (left, top), (right - left, bottom - top))
    for number, body in enumerate(bodies):
        above = bodies[number + 1].corners_mm if number + 1 < len(bodies) else None
        canvas.draw(body, above)
    image, cover = canvas.layers()
    return with_motion_blur(setting, corners.mean(axis=0), streak_mm, left, top, image, cover)


class _Canvas:
    """A small supersampled picture: screen colours times coverage, and the coverage (0 to 1)."""

    def __init__(self, setting: Setting, origin_px: tuple[int, int], size_px: tuple[int, int]) -> None:
        self._setting = setting
        self._origin = np.asarray(origin_px, dtype=np.float64)
        self._size = size_px
        shape = (size_px[1] * SAMPLES, size_px[0] * SAMPLES)
        self._light = np.zeros((*shape, 3), dtype=np.float32)
        self._cover = np.zeros(shape, dtype=np.float32)

    def draw(self, body: Body, above_mm: FloatArray | None) -> None:
        """Draw a body over the earlier ones; the one above, with corners ``above_mm`` (n, 3), shades its top."""
        setting, camera_mm = self._setting, self._setting.pose.camera_position_mm
        centres = body.facets.mean(axis=1)
        is_near = np.sum((camera_mm - centres) * body.normals, axis=1) > 0
        middle = project(setting.camera, setting.pose, centres.mean(axis=0)[None])[0]
        gain = sensor_gain(setting.sensor) * float(vignette_at(setting.camera, setting.sensor, middle))
        normals = np.where(is_near[:, None], body.normals, -body.normals)
        shine = specular(setting.lighting, centres, normals, camera_mm) * body.gloss
        linear = decode(body.colour) * irradiance(setting.lighting, centres, normals)
        values = develop((linear + shine) * gain).astype(np.float64)
        pixels = self._pixels(body.corners_mm).reshape(-1, 4, 2)
        if body.opacity < 1:
            self._blend(*self._rasterised(pixels[~is_near], values[~is_near]), body.opacity * _BACK_SHARE)
        image, mask = self._rasterised(pixels[is_near], values[is_near])
        if len(body.edges):
            self._round_off(image, mask, body, is_near, develop(linear[is_near].max(axis=0) * gain * body.edge_light))
        if body.top is not None and above_mm is not None:
            self._shade(image, body.top, above_mm)
        self._blend(image, mask, body.opacity)

    def layers(self) -> tuple[Image, Image]:
        """Return the picture times alpha and the alpha mask (0 to 255), at the camera's resolution."""
        light = np.asarray(cv2.resize(self._light, self._size, interpolation=cv2.INTER_AREA))
        cover = np.asarray(cv2.resize(self._cover, self._size, interpolation=cv2.INTER_AREA))
        return np.rint(light).astype(np.uint8), np.rint(cover * 255).astype(np.uint8)

    def _pixels(self, points_mm: FloatArray) -> FloatArray:
        pixels = project(self._setting.camera, self._setting.pose, points_mm)
        return supersampled(pixels - self._origin, SAMPLES)

    def _rasterised(self, pixels: FloatArray, values: FloatArray) -> tuple[Image, Image]:
        """Return a picture of facets (n, 4, 2) in screen colours (n, 3), and their mask."""
        image = np.zeros(self._light.shape, dtype=np.uint8)
        mask = np.zeros(self._cover.shape, dtype=np.uint8)
        for corners, value in zip(fixed_point(pixels), values, strict=True):
            cv2.fillConvexPoly(image, corners, value.tolist(), cv2.LINE_8, SUBPIXEL_BITS)
            cv2.fillConvexPoly(mask, corners, 255, cv2.LINE_8, SUBPIXEL_BITS)
        return image, mask

    def _blend(self, image: Image, mask: Image, opacity: float) -> None:
        """Lay an image over the canvas where the mask is."""
        share = mask.astype(np.float32) * np.float32(opacity / 255.0)
        self._light += share[..., None] * (image - self._light)
        self._cover += share * (1.0 - self._cover)

    def _round_off(self, image: Image, mask: Image, body: Body, is_near: npt.NDArray[np.bool_], value: Image) -> None:
        """Draw a body's visible edges in a screen colour (3,), in place; the lines are limited to the mask."""
        is_end = (body.edges[:, None, :, None] == body.facets[is_near][None, :, None]).all(axis=-1).any(axis=-1)
        edges = body.edges[is_end.all(axis=-1).any(axis=-1)]
        ends = self._pixels(edges.reshape(-1, 3)).reshape(-1, 2, 2)
        lengths = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
        scale = float(np.median(lengths / np.linalg.norm(edges[:, 1] - edges[:, 0], axis=1)))
        lines = image.copy()
        for start, end in fixed_point(ends):
            thickness = max(round(body.edge_mm * scale), 1)
            cv2.line(lines, start, end, value.tolist(), thickness, cv2.LINE_AA, SUBPIXEL_BITS)
        cv2.copyTo(cv2.addWeighted(lines, 0.6, image, 0.4, 0.0), mask, image)

    def _shade(self, image: Image, top_mm: FloatArray, above_mm: FloatArray) -> None:
        """Draw the shadows of the body above on a level top, in place."""
        setting, level_mm = self._setting, float(top_mm[0, 2])
        scale = float(np.ptp(self._pixels(top_mm), axis=0).max() / np.ptp(top_mm[:, :2], axis=0).max())
        shaded = image.copy()
        for lamp in setting.lighting.lamps:
            outline = hull(self._pixels(shadow_points(lamp, above_mm, level_mm)))
            height_mm = float(above_mm[:, 2].max()) - level_mm
            softness = max(penumbra_mm(lamp, height_mm * 0.5) * scale, 0.7)
            table = shade_table(remaining_light(setting.lighting, lamp, top_mm.mean(axis=0)))
            darken_in_shadow(shaded, outline, softness, table)
        on_top = np.zeros(image.shape[:2], dtype=np.uint8)
        cv2.fillConvexPoly(on_top, fixed_point(self._pixels(top_mm)), 255, cv2.LINE_8, SUBPIXEL_BITS)
        cv2.copyTo(shaded, on_top, image)
