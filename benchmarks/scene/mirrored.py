"""Lamp shades, windows and ceilings that the table's level surfaces mirror into the camera."""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from simulator.rendering import optics
from simulator.rendering.background import gain
from simulator.scene.pieces import Colour
from simulator.scene.scene import Setting
from vision.frame import FloatArray, FloatImage


@dataclass(frozen=True)
class Panel:
    """Something flat and bright that smooth surfaces mirror: a lamp shade, a window, the lamps of a ceiling.

    It reaches from ``centre_mm`` by ``across_mm`` and ``up_mm`` to either side, as an ellipse if ``is_round``.
    ``panes`` is its number of bright fields along both; ``bars`` is the dark share between two. ``luminance`` is in
    multiples of white paper's at an irradiance of 1: about 15 for a shade, 40 for a window, 100 for a bare tube.
    """

    centre_mm: tuple[float, float, float]
    across_mm: tuple[float, float, float]
    up_mm: tuple[float, float, float]
    luminance: float
    colour: Colour = (1.0, 1.0, 1.0)
    panes: tuple[int, int] = (1, 1)
    bars: float = 0.0
    is_round: bool = False


@dataclass(frozen=True)
class Finish:
    """How table, board and paper mirror.

    ``head_on`` is the reflectance at normal incidence, ``roughness`` the standard deviation of the slope of its grain,
    which blurs mirror images, and ``waviness`` that of waves some centimetres long, drawn from ``seed``, which bend
    them.
    """

    head_on: float = 0.04
    roughness: float = 0.05
    waviness: float = 0.0
    seed: int = 0


@dataclass(frozen=True)
class Mirrored:
    """Panels that surfaces of one finish mirror; see ``simulator.scene.scene.Mirrors``."""

    panels: tuple[Panel, ...]
    finish: Finish = Finish()

    def light(self, setting: Setting) -> FloatImage:
        """Return the linear light that the board or the sheets, and the table around, mirror into the camera.

        Its shape is (height, width, 3). The surfaces are taken as level, and as high as the board.
        """
        camera, height_mm = setting.camera, setting.layout.board.height_mm
        rays = optics.normalised_rays(camera, 0.0, 0.0, camera.size)
        points, hits = optics.on_plane(setting.pose, rays, height_mm)
        level = np.concatenate([points, np.full((*points.shape[:-1], 1), height_mm)], axis=-1)
        focal_px = float(camera.matrix[0, 0])
        shine = mirrored(self.panels, self.finish, level, setting.pose.camera_position_mm, focal_px)
        return np.asarray(shine * hits[..., None] * gain(setting), dtype=np.float32)


_MIRROR_STEP = 2
"""Pixels between the points at which mirror images are computed."""
_WAVES, _WAVE_MM = 6, (25.0, 120.0)
"""Number of waves in a surface, and their lengths from and to."""


def fresnel(cosine: FloatArray | float, head_on: float) -> FloatArray:
    """Return the Fresnel reflectance of a smooth surface, by Schlick's approximation (1994).

    ``cosine`` is that of the angle of incidence. ``head_on`` is the reflectance at normal incidence: 0.04 for plastics.
    """
    return np.asarray(head_on + (1 - head_on) * (1 - np.clip(cosine, 0.0, 1.0)) ** 5, dtype=np.float64)


def mirrored(
    panels: Sequence[Panel], finish: Finish, points_mm: FloatArray, camera_mm: FloatArray, focal_px: float
) -> FloatImage:
    """Return the light of panels that a level surface mirrors into the camera at each pixel, (height, width, 3).

    ``points_mm`` (height, width, 3) are the surface's points in the pixels.
    """
    height, width = points_mm.shape[:2]
    points = points_mm[::_MIRROR_STEP, ::_MIRROR_STEP]
    to_point = points - camera_mm
    distance = np.linalg.norm(to_point, axis=-1, keepdims=True)
    normal = _wavy_normals(finish, points)
    cosine = -np.sum(to_point / distance * normal, axis=-1)[..., None]
    leaving = to_point / distance + 2.0 * cosine * normal
    light = np.zeros(points.shape, dtype=np.float32)
    for panel in panels:
        shown, away = _panel_in(panel, points, leaving)
        if not shown.any():
            continue
        # a facet that is off by an angle sends the ray off by twice as much
        blur_px = 2.0 * finish.roughness * focal_px * away / (away + float(np.median(distance))) / _MIRROR_STEP
        if blur_px > 0.3:
            shown = np.asarray(cv2.GaussianBlur(shown, (0, 0), blur_px), dtype=np.float32)
        light += shown[..., None] * np.asarray(panel.colour, dtype=np.float32) * np.float32(panel.luminance)
    light *= fresnel(cosine, finish.head_on).astype(np.float32)
    return np.asarray(cv2.resize(light, (width, height), interpolation=cv2.INTER_LINEAR), dtype=np.float32)


def _wavy_normals(finish: Finish, points_mm: FloatArray) -> FloatArray:
    """Return the unit normals (..., 3) of a level surface with its waves at points (..., 3)."""
    normals = np.zeros(points_mm.shape)
    if finish.waviness > 0:
        rng = np.random.default_rng([finish.seed, 79])
        for length, angle, begins in rng.uniform((_WAVE_MM[0], 0.0, 0.0), (_WAVE_MM[1], np.pi, 6.3), (_WAVES, 3)):
            way = np.array([np.cos(angle), np.sin(angle)])
            slope = np.cos(2 * np.pi / length * (points_mm[..., :2] @ way) + begins)
            normals[..., :2] += (finish.waviness * np.sqrt(2 / _WAVES) * slope)[..., None] * way
    normals[..., 2] = 1.0
    return np.asarray(normals / np.linalg.norm(normals, axis=-1, keepdims=True), dtype=np.float64)


def _panel_in(panel: Panel, points_mm: FloatArray, leaving: FloatArray) -> tuple[FloatImage, float]:
    """Return where rays that leave points (..., 3) hit a panel's bright fields, 0 or 1, and the median distance."""
    across, up = np.asarray(panel.across_mm), np.asarray(panel.up_mm)
    facing = np.cross(across, up)
    towards = leaving @ facing
    to_panel = np.asarray(panel.centre_mm) - points_mm
    away = (to_panel @ facing) / np.where(np.abs(towards) > 1e-9, towards, np.inf)
    hit = away[..., None] * leaving - to_panel
    u, v = (hit @ axis / float(axis @ axis) for axis in (across, up))
    inside = (u**2 + v**2 < 1.0) if panel.is_round else (np.abs(u) < 1.0) & (np.abs(v) < 1.0)
    for share, count in zip((u, v), panel.panes, strict=True):
        beside = np.abs((share + 1.0) / 2 * count % 1.0 - 0.5)
        inside &= (beside < 0.5 - panel.bars / 2) | (count == 1)
    shown = inside & (away > 0)
    return shown.astype(np.float32), float(np.median(away[shown])) if shown.any() else 0.0
