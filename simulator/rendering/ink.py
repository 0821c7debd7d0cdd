"""Ink on sheets of paper, and pens, as the camera sees them."""

import math
from functools import lru_cache

import cv2
import numpy as np

from simulator.rendering import painting
from simulator.rendering.optics import UP, decode, develop, irradiance, sensor_gain, vignette_at
from simulator.scene.pieces import Colour, InkPose, PenPose
from simulator.scene.scene import Setting
from simulator.scene.sheets import lying_sheets
from vision.frame import FloatArray, Image
from vision.geometry import project

_SAMPLES = 4
"""Supersampling: samples per pixel along each direction."""

INKS: dict[str, tuple[Colour, float]] = {
    "black": ((0.12, 0.11, 0.11), 0.95),
    "blue": ((0.5, 0.22, 0.12), 0.92),
    "pencil": ((0.3, 0.3, 0.3), 0.7),
    "red": ((0.2, 0.17, 0.78), 0.9),
    "yellow": ((0.12, 0.75, 0.92), 0.9),
    "green": ((0.25, 0.55, 0.13), 0.9),
}
"""The colour of each pen's ink, and its opacity on paper."""

_PEN_MM = 135.0  # size and colour of a felt pen
_PEN_TIP_MM = 14.0  # as above
_PEN_WIDE_MM = 9.0  # as above
_PEN_RISES = 0.9
"""Slope of a held pen: rise per millimetre along the table."""
_BARREL: Colour = (0.35, 0.3, 0.28)  # as above


class InkPainter:
    """Draws ink on the sheets of one setting."""

    def __init__(self, setting: Setting, shadows: painting.Shadows) -> None:  # noqa: ARG002 - ink throws no shadow
        self._setting = setting
        self._light = lru_cache(maxsize=1024)(self._light_at)

    def _light_at(self, x_mm: float, y_mm: float) -> FloatArray:
        setting = self._setting
        point = np.array([x_mm, y_mm, setting.layout.board.height_mm])
        pixel = project(setting.camera, setting.pose, point[None])
        darker = vignette_at(setting.camera, setting.sensor, pixel)[0]
        return np.asarray(irradiance(setting.lighting, point, UP) * darker * sensor_gain(setting.sensor))

    def sprite(self, piece: InkPose) -> painting.Sprite:
        """Draw strokes as the camera sees them; ink lies under everything."""
        setting, base = self._setting, painting.base_height_mm(self._setting, piece)
        lines = []
        for stroke in piece.strokes:
            points = np.array([[piece.x_mm + x, piece.y_mm + y, base] for x, y in stroke])
            points[:, 2] += _paper_heights_mm(setting, points[:, :2])
            lines.append(project(setting.camera, setting.pose, points))
        one_mm = np.array([[piece.x_mm, piece.y_mm, base], [piece.x_mm + 1.0, piece.y_mm, base]])
        start, end = project(setting.camera, setting.pose, one_mm)
        width = piece.width_mm * float(np.linalg.norm(end - start))
        pixels = np.vstack(lines)
        left, top, right, bottom = painting.box_around(pixels, math.ceil(width) + painting.MARGIN_PX)
        size = (bottom - top, right - left)
        cover = np.zeros((size[0] * _SAMPLES, size[1] * _SAMPLES), np.uint8)
        thickness = max(round(width * _SAMPLES), 1)
        for line in lines:
            fine = painting.supersampled(line - np.array([left, top]), _SAMPLES)
            cv2.polylines(
                cover, [painting.fixed_point(fine)], False, 255, thickness, cv2.LINE_8, painting.SUBPIXEL_BITS
            )
        colour, opacity = INKS[piece.colour]
        small = cv2.resize(cover, (size[1], size[0]), interpolation=cv2.INTER_AREA).astype(np.float32) * opacity
        value = develop(decode(colour) * self._light(piece.x_mm, piece.y_mm))
        image = np.rint(small[..., None] / 255 * value).astype(np.uint8)
        return painting.Sprite(left, top, image, np.rint(small).astype(np.uint8), math.inf)

    def paint_shadows(self, image: Image, piece: InkPose) -> None:
        """Do nothing, because ink is flat."""


def _paper_heights_mm(setting: Setting, points_mm: FloatArray) -> FloatArray:
    """Return the height of bent paper above flat paper at points of the table (n, 2); shape (n,)."""
    heights = np.zeros(len(points_mm))
    if setting.bend is None:
        return heights
    for sheet in lying_sheets(setting.layout):
        on_sheet = sheet.on_sheet(points_mm)
        inside = (np.abs(on_sheet) <= sheet.half_mm).all(axis=1)
        heights[inside] = setting.bend.heights_mm(on_sheet[inside])
    return heights


class PenPainter:
    """Draws pens, lying or held, of one setting."""

    def __init__(self, setting: Setting, shadows: painting.Shadows) -> None:
        self._setting = setting
        self._shadows = shadows

    def _outline_mm(self, piece: PenPose) -> tuple[FloatArray, FloatArray]:
        """Return the corners of the tip and of the barrel, each shape (4, 3)."""
        foot = painting.base_height_mm(self._setting, piece)
        held = foot > self._setting.layout.board.height_mm
        angle = math.radians(piece.turned_deg)
        along = np.array([math.cos(angle), math.sin(angle), _PEN_RISES if held else 0.0])
        along /= np.linalg.norm(along)
        across = np.array([-math.sin(angle), math.cos(angle), 0.0]) * _PEN_WIDE_MM / 2
        tip = np.array([piece.x_mm, piece.y_mm, max(foot, _PEN_WIDE_MM / 2)])
        shoulder, end = tip + _PEN_TIP_MM * along, tip + _PEN_MM * along
        point = np.array([tip - 0.1 * across, tip + 0.1 * across, shoulder + across, shoulder - across])
        return point, np.array([shoulder - across, shoulder + across, end + across, end - across])

    def sprite(self, piece: PenPose) -> painting.Sprite:
        """Draw a pen as the camera sees it."""
        setting = self._setting
        parts = self._outline_mm(piece)
        light = irradiance(setting.lighting, parts[0][0], UP) * sensor_gain(setting.sensor)
        pixels = [project(setting.camera, setting.pose, part) for part in parts]
        left, top, right, bottom = painting.box_around(np.vstack(pixels), painting.MARGIN_PX)
        image = np.zeros((bottom - top, right - left, 3), np.uint8)
        cover = np.zeros(image.shape[:2], np.uint8)
        for outline, colour in zip(pixels, (INKS[piece.colour][0], _BARREL), strict=True):
            placed = outline - np.array([left, top])
            value = develop(decode(colour) * light)
            cv2.fillPoly(image, [painting.fixed_point(placed)], value.tolist(), cv2.LINE_AA, painting.SUBPIXEL_BITS)
            cv2.fillPoly(cover, [painting.fixed_point(placed)], 255, cv2.LINE_AA, painting.SUBPIXEL_BITS)
        distance = float(np.linalg.norm(parts[1].mean(axis=0) - setting.pose.camera_position_mm))
        return painting.Sprite(left, top, image, cover, distance)

    def paint_shadows(self, image: Image, piece: PenPose) -> None:
        """Draw the pen's shadows, in place."""
        for part in self._outline_mm(piece):
            self._shadows.paint(image, part, painting.shadow_ground_mm(self._setting, piece))
