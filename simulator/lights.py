"""How much light falls where: lamps as small spheres above the table, even light between them, gloss, shadows.

Lambert's cosine law and the inverse square of the distance, Blinn's half vector for the gloss.
"""

from __future__ import annotations

import cv2
import numpy as np

from simulator.scene import Lamp, Lighting, Shade
from vision.frame import FloatArray

_GLOSS_EXPONENT = 60.0


def _lamp_light(lamp: Lamp, points_mm: FloatArray, normal: FloatArray) -> FloatArray:
    position = np.asarray(lamp.position_mm, dtype=np.float64)
    towards = position - points_mm
    square = np.sum(towards * towards, axis=-1)
    cosine = np.clip(towards @ normal / np.sqrt(square), 0.0, None)
    reference = float(position @ position)
    return np.asarray(lamp.strength * cosine * reference / square, dtype=np.float64)


def irradiance(lighting: Lighting, points_mm: FloatArray, normal: FloatArray) -> FloatArray:
    """Linear light at points (..., 3) of a surface with that unit normal; shape (..., 3), 1 lights white fully.

    Sides see less of the even light than what faces up.
    """
    openness = 0.65 + 0.35 * max(float(normal[2]), 0.0)
    total = np.zeros(points_mm.shape, dtype=np.float64)
    total += lighting.ambient * openness * np.asarray(lighting.ambient_colour)
    unshaded = 1.0 if lighting.shade is None else _unshaded(lighting.shade, points_mm)[..., None]
    for lamp in lighting.lamps:
        total += _lamp_light(lamp, points_mm, normal)[..., None] * np.asarray(lamp.colour) * unshaded
    return total


def _unshaded(shade: Shade, points_mm: FloatArray) -> FloatArray:
    """The share of the lamps' light that a shade lets through to points (..., 3); shape (...)."""
    angle = np.radians(shade.towards_deg)
    beyond = points_mm[..., 0] * np.cos(angle) + points_mm[..., 1] * np.sin(angle) - shade.edge_mm
    depth = np.clip(beyond / max(shade.softness_mm, 1e-6) + 0.5, 0.0, 1.0)
    return np.asarray(1.0 - (1.0 - shade.light_left) * depth, dtype=np.float64)


def gloss(lighting: Lighting, points_mm: FloatArray, normal: FloatArray, camera_mm: FloatArray) -> FloatArray:
    """Linear light mirrored towards the camera at points (..., 3); shape (..., 3)."""
    shine = np.zeros(points_mm.shape, dtype=np.float64)
    if lighting.gloss <= 0:
        return shine
    to_camera = camera_mm - points_mm
    to_camera /= np.linalg.norm(to_camera, axis=-1, keepdims=True)
    unshaded = 1.0 if lighting.shade is None else _unshaded(lighting.shade, points_mm)[..., None]
    for lamp in lighting.lamps:
        to_lamp = np.asarray(lamp.position_mm) - points_mm
        to_lamp /= np.linalg.norm(to_lamp, axis=-1, keepdims=True)
        half = to_camera + to_lamp
        half /= np.linalg.norm(half, axis=-1, keepdims=True)
        peak = np.power(np.clip(half @ normal, 0.0, 1.0), _GLOSS_EXPONENT)
        shine += (lighting.gloss * lamp.strength * peak)[..., None] * np.asarray(lamp.colour) * unshaded
    return shine


def light_left(lighting: Lighting, lamp: Lamp, point_mm: FloatArray) -> FloatArray:
    """The share of the light on a level surface that is left where that lamp is hidden, shape (3,)."""
    up = np.array([0.0, 0.0, 1.0])
    everything = irradiance(lighting, point_mm, up)
    unshaded = 1.0 if lighting.shade is None else float(_unshaded(lighting.shade, point_mm))
    hidden = _lamp_light(lamp, point_mm, up) * np.asarray(lamp.colour) * unshaded
    return np.asarray(np.clip(1.0 - hidden / np.maximum(everything, 1e-6), 0.0, 1.0), dtype=np.float64)


def shadow_points(lamp: Lamp, points_mm: FloatArray, height_mm: float) -> FloatArray:
    """Where points (n, 3) throw their shadow on the level plane at ``height_mm``, shape (n, 3).

    Points at or below the plane stay where they are.
    """
    position = np.asarray(lamp.position_mm, dtype=np.float64)
    above = np.maximum(points_mm[:, 2] - height_mm, 0.0)
    drop = np.maximum(position[2] - points_mm[:, 2], 1.0)
    moved = points_mm + (points_mm - position) * (above / drop)[:, None]
    moved[:, 2] = height_mm
    return np.asarray(moved, dtype=np.float64)


def penumbra_mm(lamp: Lamp, caster_height_mm: float) -> float:
    """How wide the soft edge of a shadow is whose caster stands that high over the plane."""
    distance = float(np.linalg.norm(lamp.position_mm))
    return lamp.radius_mm * caster_height_mm / max(distance - caster_height_mm, 1.0)


def hull(points: FloatArray) -> FloatArray:
    """The convex hull of points (n, 2), in order."""
    return np.asarray(cv2.convexHull(points.astype(np.float32)), dtype=np.float64).reshape(-1, 2)
