"""Objects that do not belong to the game, drawn directly into the frame with their shadows."""

from __future__ import annotations

import cv2
import numpy as np

from simulator.rendering.optics import (
    UP,
    decode,
    develop,
    irradiance,
    penumbra_mm,
    remaining_light,
    sensor_gain,
    shade_table,
    shadow_points,
)
from simulator.rendering.painting import darken_in_shadow
from simulator.rendering.polygons import SUBPIXEL_BITS, fixed_point, hull
from simulator.scene.scene import ForeignObject, Setting
from vision.frame import FloatArray, Image
from vision.geometry import project


def outline_mm(thing: ForeignObject, height_mm: float, scale: float = 1.0) -> FloatArray:
    """Return the object's outline at a height above its foot: points on the table in millimetres, shape (n, 3)."""
    if thing.kind == "card":
        half_x, half_y = thing.half_width_mm * scale, thing.radius_mm * scale
        shape = np.array([[-half_x, half_y], [half_x, half_y], [half_x, -half_y], [-half_x, -half_y]])
    else:
        angles = np.linspace(0.0, 2 * np.pi, 48, endpoint=False)
        shape = thing.radius_mm * scale * np.column_stack([np.cos(angles), np.sin(angles)])
    points = shape + np.array([thing.x_mm, thing.y_mm])
    return np.column_stack([points, np.full(len(points), thing.base_mm + height_mm)])


def paint_foreign_object(setting: Setting, image: Image, thing: ForeignObject, pixels_per_mm: float) -> None:
    """Draw the object and its shadows into the picture, in place."""
    height = thing.height_mm
    foot, rim = outline_mm(thing, 0.0), outline_mm(thing, height)
    middle = rim.mean(axis=0)
    for lamp in setting.lighting.lamps:
        outline = hull(
            project(setting.camera, setting.pose, shadow_points(lamp, np.vstack([foot, rim]), thing.base_mm))
        )
        softness = max(penumbra_mm(lamp, height) * pixels_per_mm, 0.7)
        darken_in_shadow(image, outline, softness, shade_table(remaining_light(setting.lighting, lamp, middle)))
    light = irradiance(setting.lighting, middle, UP) * sensor_gain(setting.sensor)
    colour = decode(thing.colour) * light
    body = hull(project(setting.camera, setting.pose, np.vstack([foot, rim])))
    _fill(image, body, colour * 0.6)  # its side
    _fill(image, project(setting.camera, setting.pose, rim), colour)
    if thing.kind == "cup":
        # its inside, dark below the rim
        _fill(image, project(setting.camera, setting.pose, outline_mm(thing, height - 8.0, 0.9)), colour * 0.18)
    elif thing.kind == "coin":
        # its face, brighter than the raised edge
        _fill(image, project(setting.camera, setting.pose, outline_mm(thing, height, 0.86)), colour * 1.15)


def _fill(image: Image, pixels: FloatArray, linear: FloatArray) -> None:
    cv2.fillPoly(image, [fixed_point(pixels)], develop(linear).tolist(), cv2.LINE_AA, SUBPIXEL_BITS)
