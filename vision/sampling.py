"""Sampling a picture on a plane in the world, including lens distortion; shrinking it; undoing the sRGB curve.

A pixel map is float32 of shape (height, width, 2). For each output pixel it holds the (x, y) in the picture, as
``cv2.remap`` expects.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar, cast

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import BoolArray, FloatArray, FloatImage, Image, IndexArray
from vision.geometry import CameraModel, Pose, Rectangle, project

PixelMap = npt.NDArray[np.float32]
RoundedMap = tuple[Any, Any]
"""A pixel map's whole pixels (height, width, 2), int16, and in OpenCV's code the 1/32 pixels beyond them, uint16."""
PixelsT = TypeVar("PixelsT", Image, FloatImage)
FloatsT = TypeVar("FloatsT", FloatArray, FloatImage)
NumberT = TypeVar("NumberT", float, FloatArray)

NODE_SPACING_PX = 16
"""Spacing, in pixels of the sampled picture, of the points that ``plane_map`` projects off the plane. Larger: faster,
less exact.
"""
SHRINK = 4
"""Factor by which pictures are shrunk before they are compared. Larger: less noise, faster, misses small changes."""
MAD_TO_SIGMA = 1.4826
"""Standard deviation of normal noise as a multiple of its median absolute deviation."""
TONE_CURVE = 2.2
"""Exponent of a camera's usual tone curve: linear light is the grey level to this power. Close to sRGB's."""
_MOST_ROWS = 32_766
"""Most rows of a map that OpenCV takes."""
_LARGEST_MEAN = 5
"""Largest odd factor for which the whole picture is blurred and then thinned out; above it, resizing is faster."""


@dataclass(frozen=True)
class PlaneWindow:
    """A rectangle of a horizontal plane: far-left corner (x, y), size and height in mm, and scale in pixels per mm."""

    left_mm: float
    far_mm: float
    width_mm: float
    depth_mm: float
    height_mm: float
    px_per_mm: float

    @classmethod
    def over(cls, bounds: Rectangle, height_mm: float, px_per_mm: float) -> PlaneWindow:
        """Return the window that covers a rectangle at a height."""
        return cls(bounds.left_mm, bounds.far_mm, bounds.width_mm, bounds.depth_mm, height_mm, px_per_mm)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the sampled picture."""
        return round(self.depth_mm * self.px_per_mm), round(self.width_mm * self.px_per_mm)

    def to_pixels(self, x_mm: NumberT, y_mm: NumberT) -> tuple[NumberT, NumberT]:
        """Map world points to (column, row) of the sampled picture, pixel centres at whole numbers."""
        return (
            (x_mm - self.left_mm) * self.px_per_mm - 0.5,
            (self.far_mm - y_mm) * self.px_per_mm - 0.5,
        )

    def to_mm(self, column: NumberT, row: NumberT) -> tuple[NumberT, NumberT]:
        """Map columns and rows of the sampled picture to the world's x and y: the inverse of ``to_pixels``."""
        return self.left_mm + (column + 0.5) / self.px_per_mm, self.far_mm - (row + 0.5) / self.px_per_mm

    def pixels_mm(self) -> tuple[FloatArray, FloatArray]:
        """Return the world's x of each column, (columns,), and y of each row, (rows, 1), of the sampled picture."""
        rows, columns = self.shape
        return self.to_mm(np.arange(columns, dtype=np.float64), np.arange(rows, dtype=np.float64)[:, None])

    def pixels_of(self, points_mm: FloatArray) -> FloatArray:
        """Map points (..., 2) of the plane to the columns and rows of the sampled picture, (..., 2)."""
        return np.stack(self.to_pixels(points_mm[..., 0], points_mm[..., 1]), axis=-1)


def plane_map(
    camera: CameraModel, pose: Pose, window: PlaneWindow, seen_at_mm: Callable[[FloatArray], FloatArray] | None = None
) -> PixelMap:
    """Make the map that samples a window of a horizontal plane, far edge on top.

    ``seen_at_mm`` maps points (n, 2) that lie slightly off the plane to where they are seen on it. Then only every
    ``NODE_SPACING_PX``-th pixel is projected, and the map is interpolated between them.
    """
    step_mm = 1 / window.px_per_mm
    first_mm = np.array([window.left_mm + step_mm / 2, window.far_mm - step_mm / 2, window.height_mm])
    if seen_at_mm is None:
        return _grid_map(camera, pose, first_mm, step_mm, window.shape)
    spacing = NODE_SPACING_PX
    # positions of nodes between and around the pixels, where ``cv2.resize`` has them
    rows, columns = (
        spacing * np.arange(-1, math.ceil(count / spacing) + 1) + (spacing - 1) / 2 for count in window.shape
    )
    x, y = np.meshgrid(first_mm[0] + columns * step_mm, first_mm[1] - rows * step_mm)
    level = seen_at_mm(np.column_stack([x.ravel(), y.ravel()]))
    points = np.column_stack([level, np.full(x.size, window.height_mm)])
    nodes = project(camera, pose, points).reshape(*x.shape, 2).astype(np.float32)
    # several times faster than sampling at each pixel's position
    wider = cv2.resize(nodes, (spacing * len(columns), spacing * len(rows)), interpolation=cv2.INTER_LINEAR)
    height, width = window.shape
    return np.ascontiguousarray(wider[spacing : spacing + height, spacing : spacing + width], dtype=np.float32)


def _grid_map(
    camera: CameraModel, pose: Pose, first_mm: FloatArray, step_mm: float, shape: tuple[int, int]
) -> PixelMap:
    """Return the pixels of a grid of (rows, columns) points of a horizontal plane, in steps of ``step_mm`` to the right
    and to the near side, from the point ``first_mm`` (x, y, z).
    """
    rows, columns = shape
    right, far, _ = pose.rotation.T
    # from column, row and 1 to the camera's frame
    rays = np.column_stack([step_mm * right, -step_mm * far, pose.rotation @ first_mm + pose.translation])
    pixels, _ = cv2.initUndistortRectifyMap(
        camera.matrix, camera.distortion, np.linalg.inv(rays), np.eye(3), (columns, rows), cv2.CV_32FC2
    )
    return np.asarray(pixels, dtype=np.float32)


def rounded(pixel_map: PixelMap) -> RoundedMap:
    """Round a map's positions to 1/32 pixel, for sampling many colour pictures: OpenCV 5 is faster with these, and
    OpenCV 4 rounds by itself.
    """
    whole, steps = cv2.convertMaps(pixel_map, None, cv2.CV_16SC2)  # type: ignore[call-overload]
    return whole, steps


def sample(image: PixelsT, pixel_map: PixelMap | RoundedMap, interpolation: int = cv2.INTER_LINEAR) -> PixelsT:
    """Sample a picture through a map; outside the picture the nearest border pixel repeats."""
    if isinstance(pixel_map, tuple):
        first, second = pixel_map
    elif image.ndim == 3 and image.dtype == np.uint8 and interpolation == cv2.INTER_LINEAR:
        first, second = rounded(pixel_map)
    else:
        # OpenCV takes no second map when the first has both coordinates, contrary to its type stubs
        first, second = pixel_map, None
    return cast("PixelsT", np.asarray(remapped(image, first, second, interpolation), dtype=image.dtype))


def remapped(image: Any, first: Any, second: Any, interpolation: int = cv2.INTER_LINEAR) -> Any:
    """Return what ``cv2.remap`` does with a border that repeats, also for maps with more rows than that takes."""
    if len(first) <= _MOST_ROWS:
        return cv2.remap(image, first, second, interpolation, borderMode=cv2.BORDER_REPLICATE)
    parts = [slice(start, start + _MOST_ROWS) for start in range(0, len(first), _MOST_ROWS)]
    return np.concatenate(
        [remapped(image, first[rows], None if second is None else second[rows], interpolation) for rows in parts]
    )


def shrink(image: Image, factor: int = SHRINK) -> Image:
    """Return the picture at a fraction of its size: the means of squares of ``factor`` x ``factor`` pixels.

    Without a factor it is the size at which pictures are compared.
    """
    height, width = (max(1, length // factor) for length in image.shape[:2])
    # OpenCV halves several times faster than it shrinks by more, and has fast means of odd squares
    while factor % 2 == 0:
        factor //= 2
        image = _resized(image, factor * width, factor * height)
    if 1 < factor <= _LARGEST_MEAN:
        return np.asarray(cv2.blur(image, (factor, factor))[factor // 2 :: factor, factor // 2 :: factor])
    return _resized(image, width, height) if factor > 1 else image


def reduced_to(image: Image, most_pixels: int) -> Image:
    """Return the picture or, if it has more pixels than that, a reduced one of the same proportions."""
    height, width = image.shape[:2]
    share = math.sqrt(most_pixels / (width * height))
    return image if share >= 1 else _resized(image, max(1, int(share * width)), max(1, int(share * height)))


_CHANGED_LEVELS = 9
"""Difference of a pixel of shrunken pictures, in grey levels of 255 in any channel, that counts. Higher: ignores noise,
and faint changes. Set by hand on virtual games.
"""


def differing(before: Image, now: Image) -> npt.NDArray[np.uint8]:
    """Return 1 for each pixel in which two pictures from ``shrink`` differ, 0 for the others; shape (rows, columns)."""
    _, over = cv2.threshold(cv2.absdiff(now, before), _CHANGED_LEVELS, 1, cv2.THRESH_BINARY)
    return np.asarray(np.bitwise_or.reduce(cv2.split(over), axis=0), dtype=np.uint8)


def _resized(image: Image, width: int, height: int) -> Image:
    return np.asarray(cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA), dtype=np.uint8)


def linear_light(image: Image) -> FloatImage:
    """Undo the sRGB transfer curve (IEC 61966-2-1): 8-bit values to linear light between 0 and 1, float32."""
    return np.asarray(cv2.LUT(image, linear_light_table()), dtype=np.float32)


def min_channel(pixels: FloatImage) -> FloatImage:
    """Return each pixel's smallest channel of three, (rows, columns); NumPy's ``min`` takes ten times as long."""
    return np.minimum(np.minimum(pixels[..., 0], pixels[..., 1]), pixels[..., 2])


def max_channel(pixels: FloatImage) -> FloatImage:
    """Return each pixel's largest channel of three, (rows, columns)."""
    return np.maximum(np.maximum(pixels[..., 0], pixels[..., 1]), pixels[..., 2])


def mean_channel(pixels: FloatImage) -> FloatImage:
    """Return the mean of each pixel's three channels, (rows, columns); NumPy's ``mean`` takes many times as long."""
    return np.asarray((pixels[..., 0] + pixels[..., 1] + pixels[..., 2]) / np.float32(3), dtype=np.float32)


def median(values: FloatsT, axis: int = 0) -> FloatsT:
    """Return the median along an axis; NumPy's own takes many times as long for short arrays.

    The values must not contain NaN.
    """
    half, is_odd = divmod(values.shape[axis], 2)
    parted = np.partition(values, half if is_odd else (half - 1, half), axis=axis)
    upper = parted.take(half, axis)
    return np.asarray(upper if is_odd else (parted.take(half - 1, axis) + upper) / 2, dtype=values.dtype)


def median_where(values: FloatArray, chosen: BoolArray) -> FloatArray:
    """Return the median of each row's chosen values, (rows,); infinite for a row without any."""
    ordered = np.sort(np.where(chosen, values, np.inf), axis=1)
    rows, count = np.arange(len(values)), chosen.sum(axis=1)
    return np.asarray((ordered[rows, np.maximum(count - 1, 0) // 2] + ordered[rows, count // 2]) / 2)


def quantile(values: FloatArray | FloatImage, share: float) -> FloatArray:
    """Return the interpolated quantile along the last axis at a share (0 to 1); NumPy's takes many times as long."""
    rank, rest = divmod(share * (values.shape[-1] - 1), 1)
    lower, upper = int(rank), min(int(rank) + 1, values.shape[-1] - 1)
    parted = np.asarray(np.partition(values, (lower, upper)), dtype=np.float64)
    return np.asarray(parted[..., lower] + rest * (parted[..., upper] - parted[..., lower]), dtype=np.float64)


def square_sums(pictures: Sequence[npt.NDArray[Any]], centres: IndexArray, side: int) -> list[npt.NDArray[Any]]:
    """Return the sums of each picture, all (rows, columns), in a square around each centre, (n,).

    ``centres`` are their rows and columns, (2, n), ``side`` is in pixels. Beyond the border there is nothing.
    """
    starts, limits = centres - side // 2, np.array([pictures[0].shape]).T
    (top, left), (bottom, right) = (np.clip(corner, 0, limits) for corner in (starts, starts + side))
    tables = [np.asarray(cv2.integral(values)) for values in pictures]
    return [sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left] for sums in tables]


@cache
def linear_light_table() -> FloatImage:
    """Return the 256 values of the sRGB transfer curve's inverse, float32."""
    value = np.arange(256, dtype=np.float64) / 255
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    return linear.astype(np.float32)


@dataclass(frozen=True, eq=False)
class PlaneGrid:
    """Pixels of a horizontal plane's points at a spacing of one millimetre, computed once per pose.

    ``nodes`` holds the picture's (x, y) of the points, shape (rows, columns, 2), the first at (``left_mm``,
    ``far_mm``). Interpolated points are off by less than a tenth of a pixel.
    """

    nodes: PixelMap
    left_mm: float
    far_mm: float

    @classmethod
    def of(cls, camera: CameraModel, pose: Pose, bounds: Rectangle, height_mm: float) -> PlaneGrid:
        """Project the plane at ``height_mm`` within ``bounds``."""
        shape = math.ceil(bounds.depth_mm) + 1, math.ceil(bounds.width_mm) + 1
        first_mm = np.array([bounds.left_mm, bounds.far_mm, height_mm])
        return cls(_grid_map(camera, pose, first_mm, 1.0, shape), bounds.left_mm, bounds.far_mm)

    def pixel_map(self, x_mm: npt.NDArray[np.floating], y_mm: npt.NDArray[np.floating]) -> PixelMap:
        """Return pixels of points of the plane, both arrays of one shape (rows, columns): (rows, columns, 2).

        Points beyond the grid are clamped to its border.
        """
        columns = (x_mm - self.left_mm).astype(np.float32)
        rows = (self.far_mm - y_mm).astype(np.float32)
        return np.asarray(remapped(self.nodes, columns, rows), dtype=np.float32)

    def around(self, row: int, column: int, half: int) -> PixelMap:
        """Return the rows from ``row - half`` to ``row + half - 1`` and such columns of the nodes, (2 half, 2 half, 2);
        repeated at the border.
        """
        height, width = self.nodes.shape[:2]
        if half <= row <= height - half and half <= column <= width - half:
            return self.nodes[row - half : row + half, column - half : column + half]
        rows = np.clip(np.arange(row - half, row + half), 0, height - 1)
        columns = np.clip(np.arange(column - half, column + half), 0, width - 1)
        return np.ascontiguousarray(self.nodes[np.ix_(rows, columns)])
