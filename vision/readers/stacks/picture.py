"""The part of a picture that shows stacks, without lens distortion, and where points in space appear in it."""

from __future__ import annotations

import cv2
import numpy as np

from vision.frame import FloatArray, FloatImage, Image
from vision.geometry import CameraModel, Pose
from vision.layout.pieces import PyramidPieces
from vision.layout.surfaces import Surface, top_mm
from vision.sampling import PixelMap

PX_PER_MM = 2.0
"""Scale of the picture at its centre, in pixels per mm. Larger: slower, and less is smoothed."""
MARGIN_MM = 8.0
"""Margin, in mm, around the surface that the picture shows too."""
HIGHER_PIECES = 3
"""Number of pieces by which a stack may be higher than the layout states."""
USUAL_LEVEL = 110.0
"""Mean grey level to which pictures are scaled, so that contrasts are comparable in dim light."""
SMOOTHING_PX = 0.6
"""Standard deviation, in pixels, of the picture's smoothing. Larger: less noise, but weaker edges."""
_ROW = 1024
"""Points in a row of a pixel map: OpenCV takes fewer than 32767 rows and columns."""
CHANNELS = 4
"""Channels of that picture: blue, green, red and a constant, since OpenCV interpolates four faster than three."""


class StackCamera:
    """A pinhole camera, with ``PX_PER_MM`` at the centre, for the space above a surface in pictures from one pose."""

    def __init__(self, camera: CameraModel, pose: Pose, surface: Surface) -> None:
        around = surface.bounds_mm.grown(MARGIN_MM)
        high_mm = top_mm(surface) + HIGHER_PIECES * PyramidPieces.on(surface).rise_mm
        corners = np.vstack([around.corners_mm(surface.height_mm), around.corners_mm(high_mm)])
        self.position_mm = pose.camera_position_mm
        away = float(np.linalg.norm(self.position_mm - corners.mean(axis=0)))
        scale = PX_PER_MM * away / camera.matrix[0, 0]
        matrix = np.diag([scale, scale, 1.0]) @ camera.matrix
        seen = corners @ pose.rotation.T + pose.translation
        pixels = seen @ matrix.T
        pixels = pixels[:, :2] / pixels[:, 2:]
        low, high = np.floor(pixels.min(axis=0)), np.ceil(pixels.max(axis=0))
        matrix[:2, 2] -= low
        self._size = (int(high[0] - low[0]), int(high[1] - low[1]))
        self._projection = (matrix @ np.column_stack([pose.rotation, pose.translation])).astype(np.float32)
        self._maps = cv2.initUndistortRectifyMap(
            camera.matrix, camera.distortion, np.eye(3), matrix, self._size, cv2.CV_32FC1
        )

    def picture(self, image: Image) -> FloatImage:
        """Return the picture it sees, (rows, columns, CHANNELS) float32, scaled to the usual level."""
        if image.ndim == 2:
            image = np.asarray(cv2.cvtColor(image, cv2.COLOR_GRAY2BGR), dtype=np.uint8)
        cut = cv2.remap(image, *self._maps, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        gain = USUAL_LEVEL / max(float(np.mean(cv2.mean(cut)[:3])), 1.0)
        scaled = cv2.cvtColor(cut, cv2.COLOR_BGR2BGRA).astype(np.float32)
        scaled *= np.float32(gain)
        return np.asarray(cv2.GaussianBlur(scaled, (0, 0), SMOOTHING_PX, dst=scaled), dtype=np.float32)

    def pixels(self, points_mm: FloatArray | FloatImage) -> PixelMap:
        """Project points (..., 3) into that picture, (..., 2)."""
        flat = points_mm.reshape(-1, 3).astype(np.float32, copy=False)
        # one product of two plain matrices is many times faster than one for each of the first axes
        seen = self._projection[:, :3] @ flat.T + self._projection[:, 3:]
        seen[:2] /= seen[2]
        return np.ascontiguousarray(seen[:2].T).reshape(*points_mm.shape[:-1], 2)

    def pixels_of(self, points_mm: FloatArray, moved_mm: FloatArray, angles_rad: FloatArray) -> PixelMap:
        """Project the points (m, 3) of n equal bodies into that picture, (n, m, 2).

        Each body is turned by its angle (n,), counter-clockwise, and then moved (n, 3).
        """
        cosine, sine = np.cos(angles_rad)[:, None], np.sin(angles_rad)[:, None]
        across, away, up, shift = self._projection.T
        level = (cosine * across + sine * away, cosine * away - sine * across)
        bodies = np.stack(
            [*level, np.broadcast_to(up, level[0].shape), moved_mm @ np.stack([across, away, up]) + shift]
        )
        points = np.column_stack([points_mm, np.ones(len(points_mm))]).astype(np.float32)
        seen = bodies.transpose(1, 2, 0).astype(np.float32).reshape(-1, 4) @ points.T
        x, y, depth = seen.reshape(len(angles_rad), 3, -1).transpose(1, 0, 2)
        pixels: PixelMap = np.empty((*depth.shape, 2), dtype=np.float32)
        np.divide(x, depth, out=pixels[..., 0])
        np.divide(y, depth, out=pixels[..., 1])
        return pixels

    def slopes(self, points_mm: FloatArray) -> FloatImage:
        """Return movement of the pixels per mm of movement of points (n, 3): (n, 2, 3)."""
        matrix = self._projection[:, :3]
        depths = points_mm.astype(np.float32) @ matrix[2] + self._projection[2, 3]
        slopes = matrix[:2] - self.pixels(points_mm)[:, :, None] * matrix[2]
        return np.asarray(slopes / depths[:, None, None], dtype=np.float32)


def add_offsets(pixels: PixelMap, offsets: PixelMap) -> PixelMap:
    """Return pixels (..., 2) plus offsets (..., 2), each in consecutive memory; other axes are broadcast.

    They are added as complex numbers: NumPy takes many times as long for a last axis of two.
    """
    return np.asarray((pixels.view(np.complex64) + offsets.view(np.complex64)).view(np.float32))


def sample_levels(picture: FloatImage, pixels: PixelMap) -> FloatImage:
    """Return a picture's levels at pixels, shape (..., 2): (..., channels)."""
    flat = pixels.reshape(-1, 2)
    rows = -(-len(flat) // _ROW)
    wanted: PixelMap = np.zeros((rows * _ROW, 2), dtype=np.float32)
    wanted[: len(flat)] = flat
    found = cv2.remap(
        picture,
        wanted.reshape(rows, _ROW, 2),
        None,
        cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REPLICATE,  # type: ignore[call-overload]
    )
    channels = picture.shape[2]
    return np.asarray(found.reshape(-1, channels)[: len(flat)], dtype=np.float32).reshape(*pixels.shape[:-1], channels)
