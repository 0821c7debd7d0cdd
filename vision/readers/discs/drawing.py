"""Drawing detected discs and balls on the picture, for a person to check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import cv2
import numpy as np

from vision.drawing import whole_pixels, write_text
from vision.frame import FloatArray, Image
from vision.geometry import hull_px, outline_px, project, unit_circle
from vision.layout.pieces import DiscPieces
from vision.opencv import as_colour
from vision.readers.protocols import SurfaceView

if TYPE_CHECKING:
    from vision.readers.discs.reader import DiscSighting

_SURE, _UNSURE, _BALL = (80, 220, 80), (60, 60, 255), (255, 200, 60)
"""Colours of the outlines: blue, green, red."""
_CIRCLE = unit_circle(24)


def draw_discs(image: Image, discs: Mapping[str, DiscSighting], view: SurfaceView, pieces: DiscPieces) -> Image:
    """Return a copy of the picture with every disc's outline and owner, and every ball's outline.

    Discs are drawn green, or red with their log-odds if these are 0 or less; a ball is blue, with its log-odds.
    """
    picture = as_colour(image).copy()
    camera, pose = view.camera, view.pose
    base_mm = view.surface.height_mm
    for place, disc in discs.items():
        colour = _SURE if disc.log_odds > 0 else _UNSURE
        bare = pieces.solid_with(disc.fit.x_mm, disc.fit.y_mm, base_mm, ball=False)
        outline = outline_px(bare, camera, pose)
        cv2.polylines(picture, [whole_pixels(outline)], True, colour, 1, cv2.LINE_AA)
        corners = bare.corners_mm()
        top = corners[len(corners) // 2 :]
        cv2.polylines(picture, [whole_pixels(project(camera, pose, top))], True, colour, 1, cv2.LINE_AA)
        doubt = "" if disc.log_odds > 0 else f" {disc.log_odds:.0f}"
        carries = f" ball {disc.ball_log_odds:+.0f}" if disc.ball_log_odds > 0 else ""
        write_text(picture, f"{place} {disc.player or '?'}{carries}{doubt}", outline.min(axis=0).astype(float), colour)
        if disc.ball_log_odds > 0 and disc.log_odds > 0:
            half = pieces.ball_mm / 2
            points = _sphere(disc.fit.x_mm, disc.fit.y_mm, base_mm + pieces.disc_mm + half, half)
            hull = hull_px(project(camera, pose, points))
            cv2.polylines(picture, [whole_pixels(hull)], True, _BALL, 1, cv2.LINE_AA)
    return picture


def _sphere(x_mm: float, y_mm: float, z_mm: float, radius_mm: float) -> FloatArray:
    """Return points on a sphere, (n, 3)."""
    up = np.linspace(-1, 1, 9)
    across = np.sqrt(1 - up**2)
    return np.stack(
        [
            x_mm + radius_mm * np.outer(across, _CIRCLE[:, 0]),
            y_mm + radius_mm * np.outer(across, _CIRCLE[:, 1]),
            np.broadcast_to(z_mm + radius_mm * up[:, None], (len(up), len(_CIRCLE))),
        ],
        axis=-1,
    ).reshape(-1, 3)
