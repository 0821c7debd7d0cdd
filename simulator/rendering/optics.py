"""What lens and sensor do: rays of pixels, tone curve, vignette, noise, blur, compression."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from simulator.scene import Colour, Sensor
from vision.frame import FloatArray, Image
from vision.geometry import CameraModel, Pose

GAMMA = 2.2
_COARSE_STEP = 8
_NOISE_MARGIN_PX = 96


def decode(colour: Colour) -> FloatArray:
    """Linear light of a screen colour, shape (3,)."""
    return np.asarray(np.power(np.clip(np.asarray(colour, dtype=np.float64), 0.0, None), GAMMA), dtype=np.float64)


def normalised_rays(
    camera: CameraModel, left_px: float, top_px: float, size_px: tuple[int, int], step_px: float = 1.0
) -> FloatArray:
    """Undistorted (x, y) at depth 1 for a grid of pixels, shape (height, width, 2).

    Sample (i, j) lies at pixel ``(left_px + j * step_px, top_px + i * step_px)``; pixel centres are whole numbers.
    Rays are computed on a coarse grid and interpolated; lenses are smooth.
    """
    width, height = size_px
    step = _COARSE_STEP
    columns = np.arange(-2, width // step + 4)
    rows = np.arange(-2, height // step + 4)
    xs = left_px + step_px * (step * (columns + 0.5) - 0.5)
    ys = top_px + step_px * (step * (rows + 0.5) - 0.5)
    grid = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 1, 2)
    rays = cv2.undistortPoints(grid, camera.matrix, camera.distortion)
    coarse = np.asarray(rays, dtype=np.float32).reshape(len(rows), len(columns), 2)
    # Linear on purpose: OpenCV's cubic does not keep straight ramps straight.
    fine = cv2.resize(coarse, None, fx=step, fy=step, interpolation=cv2.INTER_LINEAR)
    margin = 2 * step
    return np.asarray(fine[margin : margin + height, margin : margin + width], dtype=np.float64)


def on_plane(pose: Pose, rays: FloatArray, height_mm: float) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """World (x, y) where rays meet the plane z = ``height_mm``, shape (..., 2), and which rays do, shape (...)."""
    x, y = rays[..., 0], rays[..., 1]
    right, down, forward = pose.rotation
    fall = x * right[2] + y * down[2] + forward[2]
    centre = pose.camera_position_mm
    downward = fall < -0.02
    scale = (height_mm - centre[2]) / np.where(downward, fall, -1.0)
    points = np.empty(rays.shape, dtype=np.float64)
    for axis in (0, 1):
        points[..., axis] = centre[axis] + scale * (x * right[axis] + y * down[axis] + forward[axis])
    return points, downward


def vignette_at(camera: CameraModel, sensor: Sensor, pixels: FloatArray) -> FloatArray:
    """The share of light that reaches the sensor at pixels of shape (..., 2); shape (...)."""
    centre = np.array([camera.matrix[0, 2], camera.matrix[1, 2]])
    corner = np.hypot(*(np.asarray(camera.size) / 2))
    radius = np.linalg.norm(pixels - centre, axis=-1) / corner
    return np.asarray(1.0 - sensor.vignette * np.clip(radius, 0.0, 1.3) ** 2, dtype=np.float64)


def sensor_gain(sensor: Sensor) -> FloatArray:
    """Exposure and white balance as a factor on linear light for each channel, shape (3,)."""
    return sensor.exposure * np.asarray(sensor.white_balance, dtype=np.float64)


def develop(linear: FloatArray | npt.NDArray[np.float32]) -> Image:
    """Linear light (1 is white) to 8-bit values, with a soft shoulder towards white."""
    bright = np.maximum(linear, 0.0).astype(np.float32)
    over = bright > 0.8
    shoulder = bright
    shoulder[over] = 0.8 + 0.2 * np.tanh((bright[over] - 0.8) / 0.2 * 0.7)
    return np.asarray(np.power(shoulder, 1 / GAMMA) * 255.0 + 0.5, dtype=np.float32).clip(0, 255).astype(np.uint8)


def tone_table(gain: FloatArray, mirrored: FloatArray | None = None) -> Image:
    """A look-up table, shape (256, 1, 3), from screen values to what the sensor gives under light ``gain`` (3,).

    ``mirrored`` (3,) is light that the surface throws back whatever its colour.
    """
    levels = np.power(np.arange(256, dtype=np.float64) / 255.0, GAMMA)
    light = levels[:, None, None] * gain.reshape(1, 1, 3)
    return develop(light if mirrored is None else light + mirrored.reshape(1, 1, 3))


def shade_table(factor: FloatArray) -> Image:
    """A table, shape (256, 1, 3), from a shadow mask's value to the 8-bit factor on developed values.

    ``factor`` (3,) is the share of linear light left in full shadow.
    """
    cover = np.arange(256, dtype=np.float64)[:, None, None] / 255.0
    left = 1.0 - cover * (1.0 - factor.reshape(1, 1, 3))
    return np.asarray(np.rint(np.power(left, 1 / GAMMA) * 255.0), dtype=np.uint8)


class SensorNoise:
    """Gaussian noise from one tile, shifted for each frame: the same seed and frame give the same noise."""

    def __init__(self, camera: CameraModel, deviation: float, seed: int) -> None:
        width, height = camera.size
        self._size = camera.size
        generator = np.random.default_rng([seed, 77])
        shape = (height + _NOISE_MARGIN_PX, width + _NOISE_MARGIN_PX, 3)
        tile = generator.standard_normal(shape, dtype=np.float32) * np.float32(deviation)
        rounded = np.rint(tile)
        self._brighter = np.clip(rounded, 0, 255).astype(np.uint8)
        self._darker = np.clip(-rounded, 0, 255).astype(np.uint8)
        self._seed = seed

    def add(self, image: Image, frame: int) -> Image:
        """The image with the noise of that frame."""
        generator = np.random.default_rng([self._seed, 78, frame])
        left, top = (int(value) for value in generator.integers(0, _NOISE_MARGIN_PX, 2))
        width, height = self._size
        window = (slice(top, top + height), slice(left, left + width))
        brighter = cv2.add(image, self._brighter[window])
        return np.asarray(cv2.subtract(brighter, self._darker[window]), dtype=np.uint8)


def streak(image: Image, streak_px: tuple[float, float]) -> Image:
    """The image smeared evenly along (x, y) pixels, as a movement during the exposure does."""
    length = float(np.hypot(*streak_px))
    if length < 1.0:
        return image
    size = 2 * int(np.ceil(length / 2)) + 3
    kernel = np.zeros((size * 4, size * 4), dtype=np.float32)
    middle = size * 2
    reach = np.asarray(streak_px) * 2
    start = tuple(int(value) for value in np.rint(middle - reach))
    end = tuple(int(value) for value in np.rint(middle + reach))
    cv2.line(kernel, start, end, 1.0, 4)
    small = np.asarray(cv2.resize(kernel, (size, size), interpolation=cv2.INTER_AREA))
    return np.asarray(cv2.filter2D(image, -1, small / small.sum()), dtype=np.uint8)


def through_sensor(image: Image, sensor: Sensor, noise: SensorNoise, frame: int) -> Image:
    """Blur, noise and compression of one developed picture."""
    if sensor.defocus_px > 0.05:
        size = 2 * int(np.ceil(2.5 * sensor.defocus_px)) + 1
        image = np.asarray(cv2.GaussianBlur(image, (size, size), sensor.defocus_px), dtype=np.uint8)
    image = streak(image, sensor.shake_px)
    if sensor.noise > 0:
        image = noise.add(image, frame)
    if sensor.jpeg_quality is not None:
        _, encoded = cv2.imencode(".jpg", image, [int(cv2.IMWRITE_JPEG_QUALITY), sensor.jpeg_quality])
        image = np.asarray(cv2.imdecode(encoded, cv2.IMREAD_COLOR), dtype=np.uint8)
    return image
