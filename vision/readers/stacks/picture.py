"""The part of a picture that shows stacks, without lens distortion, and where points in space appear in it."""

from __future__ import annotations

from collections.abc import Collection

import cv2
import numpy as np

from vision.frame import FloatArray, FloatImage, Image
from vision.geometry import CameraModel, Pose, Rectangle
from vision.layout.pieces import PyramidPieces
from vision.layout.surfaces import Surface, top_mm
from vision.sampling import PixelMap

PX_PER_MM = 2.0
"""Scale of the picture at its centre, in pixels per mm. Larger: slower, and less is smoothed."""
MARGIN_MM = 8.0
"""Margin, in mm, around the surface that the picture shows too."""
REACH_MM = 10.0
"""Distance, in mm, of a large pyramid from its place's centre and of points from its corners, taken together, up to
which the picture of a place shows it.
"""
HIGHER_PIECES = 3
"""Number of pieces by which a stack may be higher than the layout states."""
USUAL_LEVEL = 110.0
"""Mean grey level to which pictures are scaled, so that contrasts are comparable in dim light."""
SMOOTHING_PX = 0.6
"""Standard deviation, in pixels, of the picture's smoothing. Larger: less noise, but weaker edges."""
CHANNELS = 4
"""Channels of that picture: blue, green and red relative to the usual level, which keeps squares exact, and a constant,
since OpenCV interpolates four faster than three.
"""
_GAIN_STEP = 4
"""Every so-many-th row and column gives the mean level."""
_MOST_SHOWN = 0.5
"""Share of the picture that places may take up together, above which the whole picture is faster."""
_STRIP_PX = 64
"""Rows of the whole picture made at once: few enough for the processor's cache."""
_BLUR_PX = 3
"""Pixels around a part that its smoothing needs."""


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
        across, down = cv2.initUndistortRectifyMap(
            camera.matrix, camera.distortion, np.eye(3), matrix, self._size, cv2.CV_32FC1
        )
        self._maps = (across, down)
        sparse = (slice(None, None, _GAIN_STEP), slice(None, None, _GAIN_STEP))
        self._sparse_maps = (np.ascontiguousarray(across[sparse]), np.ascontiguousarray(down[sparse]))
        reach_mm = PyramidPieces.on(surface).sizes["L"].base_mm / np.sqrt(2) + REACH_MM
        centres = np.array([surface.centre_mm(place) for place in surface.places])
        square = Rectangle(-reach_mm, reach_mm, -reach_mm, reach_mm)
        above = np.concatenate([square.corners_mm(surface.height_mm), square.corners_mm(high_mm)])
        shown = self.pixels(above + np.pad(centres, ((0, 0), (0, 1)))[:, None])
        low = np.maximum(np.floor(shown.min(axis=1)), 0).astype(int)
        high = np.minimum(np.ceil(shown.max(axis=1)) + 1, self._size).astype(int)
        # left, top, right and bottom of the part that shows the space above each place; the last two are exclusive
        self._windows = dict(zip(surface.places, np.hstack([low, high]).tolist(), strict=True))

    def picture(self, image: Image, places: Collection[str] | None = None) -> FloatImage:
        """Return the picture it sees, (rows, columns, CHANNELS) float32, scaled to the usual mean level.

        With ``places``, at least the space above these is filled in.
        """
        if image.ndim == 2:
            image = np.asarray(cv2.cvtColor(image, cv2.COLOR_GRAY2BGR), dtype=np.uint8)
        sparse = cv2.remap(image, *self._sparse_maps, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        gain = USUAL_LEVEL / max(float(np.mean(cv2.mean(sparse)[:3])), 1.0)
        width, height = self._size
        windows = [] if places is None else [self._windows[place] for place in places]
        shown = sum((right - left) * (bottom - top) for left, top, right, bottom in windows)
        if places is None or shown > _MOST_SHOWN * width * height:
            windows = [[0, top, width, min(top + _STRIP_PX, height)] for top in range(0, height, _STRIP_PX)]
        picture: FloatImage = np.zeros((height, width, CHANNELS), dtype=np.float32)
        for left, top, right, bottom in windows:
            above, before = min(_BLUR_PX, top), min(_BLUR_PX, left)
            cut = self._cut(image, (slice(top - above, bottom + _BLUR_PX), slice(left - before, right + _BLUR_PX)))
            levels = _usual_levels(cut, gain)[above:, before:]
            picture[top:bottom, left:right] = levels[: bottom - top, : right - left]
        return picture

    def _cut(self, image: Image, window: tuple[slice, slice]) -> Image:
        """Return some rows and columns of the undistorted picture."""
        across, down = (np.ascontiguousarray(each[window]) for each in self._maps)
        return np.asarray(cv2.remap(image, across, down, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE))

    def pixels(self, points_mm: FloatArray | FloatImage) -> PixelMap:
        """Project points (..., 3) into that picture, (..., 2)."""
        flat = points_mm.reshape(-1, 3).astype(np.float32, copy=False)
        # one product of two plain matrices is many times faster than one for each of the first axes
        seen = self._projection[:, :3] @ flat.T + self._projection[:, 3:]
        seen[:2] /= seen[2]
        return np.ascontiguousarray(seen[:2].T).reshape(*points_mm.shape[:-1], 2)

    def pixels_of(self, points: FloatImage, moved_mm: FloatArray, angles_rad: FloatArray) -> PixelMap:
        """Project the points (m, 4) of n equal bodies into that picture, (m, n, 2).

        The points come from ``homogeneous``. Each body is turned by its angle (n,), counter-clockwise, and then moved
        (n, 3).
        """
        across, away, up, shift = self._projection.T[:, :, None]
        cosine, sine = np.cos(angles_rad), np.sin(angles_rad)
        bodies = np.empty((4, 3, len(angles_rad)), dtype=np.float32)
        bodies[0] = cosine * across + sine * away
        bodies[1] = cosine * away - sine * across
        bodies[2] = up
        bodies[3] = self._projection[:, :3] @ moved_mm.T + shift
        # one product of two plain matrices is many times faster than one for each body
        seen = (points @ bodies.reshape(4, -1)).reshape(len(points), 3, -1)
        pixels: PixelMap = np.empty((len(points), len(angles_rad), 2), dtype=np.float32)
        np.divide(seen[:, 0], seen[:, 2], out=pixels[..., 0])
        np.divide(seen[:, 1], seen[:, 2], out=pixels[..., 1])
        return pixels

    def slopes(self, points_mm: FloatArray) -> FloatImage:
        """Return movement of the pixels per mm of movement of points (n, 3): (n, 2, 3)."""
        matrix = self._projection[:, :3]
        depths = points_mm.astype(np.float32) @ matrix[2] + self._projection[2, 3]
        slopes = matrix[:2] - self.pixels(points_mm)[:, :, None] * matrix[2]
        return np.asarray(slopes / depths[:, None, None], dtype=np.float32)


def _usual_levels(cut: Image, gain: float) -> FloatImage:
    """Return smoothed levels relative to the usual one, (rows, columns, CHANNELS)."""
    levels: FloatImage = np.asarray(cut, dtype=np.float32) * np.float32(gain) - np.float32(USUAL_LEVEL)
    cv2.GaussianBlur(levels, (0, 0), SMOOTHING_PX, dst=levels)
    return np.asarray(cv2.cvtColor(levels, cv2.COLOR_BGR2BGRA), dtype=np.float32)


def homogeneous(points_mm: FloatArray) -> FloatImage:
    """Return points (n, 3) for ``StackCamera.pixels_of``, (n, 4)."""
    return np.column_stack([points_mm, np.ones(len(points_mm))]).astype(np.float32)


def add_offsets(pixels: PixelMap, offsets: PixelMap) -> PixelMap:
    """Return pixels (..., 2) plus offsets (..., 2), each in consecutive memory; other axes are broadcast.

    They are added as complex numbers: NumPy takes many times as long for a last axis of two.
    """
    return np.asarray((pixels.view(np.complex64) + offsets.view(np.complex64)).view(np.float32))


def sample_levels(picture: FloatImage, pixels: PixelMap) -> FloatImage:
    """Return a picture's levels at pixels, shape (n, ..., 2): (n, ..., channels).

    OpenCV takes fewer than 32767 of either n or the other axes' product.
    """
    wanted = pixels.reshape(len(pixels), -1, 2)
    found = cv2.remap(picture, wanted, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)  # type: ignore[call-overload]
    return np.asarray(found, dtype=np.float32).reshape(*pixels.shape[:-1], picture.shape[2])
