"""Draws dice and their shadows over a picture in linear light, without a setting."""

import math
from collections.abc import Sequence

import cv2
import numpy as np

from simulator.rendering import painting
from simulator.rendering.dice import DrawnDie, corners_mm, layers
from simulator.rendering.optics import shadow_points
from simulator.scene.scene import Lighting
from vision.frame import FloatArray, FloatImage
from vision.geometry import CameraModel, Pose, project


def draw_dice(
    picture: FloatImage,
    camera: CameraModel,
    pose: Pose,
    lighting: Lighting,
    dice: Sequence[DrawnDie],
    supersampling: int = 2,
) -> None:
    """Draw dice and their shadows over a picture (height, width, 3) in linear light, in place."""
    for die in dice:
        _draw_shadows(picture, camera, pose, lighting, die)
    centre = pose.camera_position_mm
    for die in sorted(dice, key=lambda one: -float(np.linalg.norm(one.middle_mm - centre))):
        _draw(picture, camera, pose, lighting, die, supersampling)


def _draw_shadows(picture: FloatImage, camera: CameraModel, pose: Pose, lighting: Lighting, die: DrawnDie) -> None:
    """Draw a contact shadow and one shadow for each lamp, in place."""
    # a little smaller, for the rounded corners
    corners = die.middle_mm + (corners_mm(die) - die.middle_mm) * 0.94
    ground = corners.copy()
    ground[:, 2] = 0.0
    px_per_mm = _pixels_per_mm(camera, pose, die.middle_mm)
    light = lighting.ambient + sum(lamp.strength for lamp in lighting.lamps)
    shadows = [(ground + (ground - ground.mean(axis=0)) * 0.15, 0.15 * die.side_mm, 0.35 * lighting.ambient / light)]
    for lamp in lighting.lamps:
        distance = float(np.linalg.norm(lamp.position_mm))
        blur_mm = 0.5 + lamp.radius_mm * die.side_mm * 0.5 / distance
        shadows.append((np.vstack([shadow_points(lamp, corners, 0.0), ground]), blur_mm, lamp.strength / light))
    for points, blur_mm, share in shadows:
        outline = painting.hull(project(camera, pose, points))
        blur = max(blur_mm * px_per_mm, 0.5)
        box = painting.clipped(painting.box_around(outline, math.ceil(3 * blur) + 1), picture.shape)
        if box is None:
            continue
        left, top, right, bottom = box
        mask = painting.polygon_mask((bottom - top, right - left), outline - (left, top))
        cover = cv2.GaussianBlur(mask.astype(np.float32) / 255, (0, 0), blur)[..., None]
        picture[top:bottom, left:right] *= 1 - cover * np.float32(min(share, 0.9))


def _pixels_per_mm(camera: CameraModel, pose: Pose, point_mm: FloatArray) -> float:
    return float(camera.matrix[0, 0]) / float((pose.rotation @ point_mm + pose.translation)[2])


def _draw(
    picture: FloatImage, camera: CameraModel, pose: Pose, lighting: Lighting, die: DrawnDie, supersampling: int
) -> None:
    box = painting.clipped(painting.box_around(project(camera, pose, corners_mm(die)), 2), picture.shape)
    if box is None:
        return
    left, top, right, bottom = box
    cover, paint = layers(box, camera, pose, lighting, die, supersampling)
    part = picture[top:bottom, left:right]
    part[...] = part * (1 - cover) + paint
