"""Illumination of surfaces, camera rays, and the effects of lens and sensor.

Lamps are small spheres above the table, with Lambert's cosine law, inverse-square falloff and Blinn's specular model.
"""

from functools import lru_cache

import cv2
import numpy as np

from simulator.scene.pieces import Colour
from simulator.scene.scene import Lamp, Lighting, Sensor
from vision.frame import BoolImage, FloatArray, FloatImage, Image
from vision.geometry import CameraModel, Pose
from vision.opencv import undistort_points

GAMMA = 2.2
"""Exponent from screen values to linear light."""
UP = np.array([0.0, 0.0, 1.0])
"""The normal of a level surface."""
_RAY_STEP = 8
"""Samples between two rays that are computed; those in between are interpolated."""
_LEAST_SLOPE = 0.02
"""Downward slope of a ray, per unit of depth, below which it misses level planes."""
_SHOULDER = 0.8
"""Linear light above which highlights are compressed."""
_NOISE_MARGIN_PX = 96
"""Largest shift of the tile of noise."""
_BLUR_SAMPLES = 4
"""Supersampling of the kernel of motion blur."""
_GLOSS_EXPONENT = 60.0
"""Exponent of Blinn's model: a larger one gives smaller highlights."""


def decode(colour: Colour) -> FloatArray:
    """Return the linear light of a screen colour, shape (3,)."""
    return np.asarray(np.power(np.clip(np.asarray(colour, dtype=np.float64), 0.0, None), GAMMA), dtype=np.float64)


def decode_levels() -> FloatArray:
    """Return the linear light of the 256 screen levels."""
    return np.asarray(np.power(np.arange(256, dtype=np.float64) / 255.0, GAMMA), dtype=np.float64)


def normalised_rays(
    camera: CameraModel, left_px: float, top_px: float, size_px: tuple[int, int], step_px: float = 1.0
) -> FloatArray:
    """Return undistorted (x, y) at depth 1 for a grid of pixels, shape (height, width, 2).

    Sample (i, j) lies at pixel ``(left_px + j * step_px, top_px + i * step_px)``; pixel centres are whole numbers.
    Rays are computed on a coarse grid and interpolated; lenses are smooth.
    """
    width, height = size_px
    step = _RAY_STEP
    columns = np.arange(-2, width // step + 4)
    rows = np.arange(-2, height // step + 4)
    xs = left_px + step_px * (step * (columns + 0.5) - 0.5)
    ys = top_px + step_px * (step * (rows + 0.5) - 0.5)
    grid = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    rays = undistort_points(grid, camera.matrix, camera.distortion)
    coarse = np.asarray(rays, dtype=np.float32).reshape(len(rows), len(columns), 2)
    # linear on purpose: OpenCV's cubic interpolation does not keep straight ramps straight
    fine = cv2.resize(coarse, None, fx=step, fy=step, interpolation=cv2.INTER_LINEAR)
    margin = 2 * step
    return np.asarray(fine[margin : margin + height, margin : margin + width], dtype=np.float64)


def supersampled_rays(
    camera: CameraModel, left_px: int, top_px: int, size_px: tuple[int, int], samples: int
) -> FloatArray:
    """Return ``normalised_rays`` through ``samples`` by ``samples`` points of each pixel of a window of the picture."""
    step = 1.0 / samples
    first = (step - 1.0) / 2
    return normalised_rays(camera, left_px + first, top_px + first, (size_px[0] * samples, size_px[1] * samples), step)


def on_plane(pose: Pose, rays: FloatArray, height_mm: float | FloatArray) -> tuple[FloatArray, BoolImage]:
    """Intersect rays with the plane z = ``height_mm``, one height for all or one each.

    Return world (x, y), shape (..., 2), and which rays hit, shape (...).
    """
    x, y = rays[..., 0], rays[..., 1]
    right, down, forward = pose.rotation
    slope = x * right[2] + y * down[2] + forward[2]
    centre = pose.camera_position_mm
    downward = slope < -_LEAST_SLOPE
    scale = (height_mm - centre[2]) / np.where(downward, slope, -1.0)
    points = np.empty(rays.shape, dtype=np.float64)
    for axis in (0, 1):
        points[..., axis] = centre[axis] + scale * (x * right[axis] + y * down[axis] + forward[axis])
    return points, downward


def vignette_at(camera: CameraModel, sensor: Sensor, pixels: FloatArray) -> FloatArray:
    """Return the share of light that reaches the sensor at pixels of shape (..., 2); shape (...)."""
    centre = np.array([camera.matrix[0, 2], camera.matrix[1, 2]])
    corner = np.hypot(*(np.asarray(camera.size) / 2))
    radius = np.linalg.norm(pixels - centre, axis=-1) / corner
    return np.asarray(1.0 - sensor.vignette * np.clip(radius, 0.0, 1.3) ** 2, dtype=np.float64)


def sensor_gain(sensor: Sensor) -> FloatArray:
    """Return exposure and white balance as a factor on linear light for each channel, shape (3,)."""
    return sensor.exposure * np.asarray(sensor.white_balance, dtype=np.float64)


def develop(linear: FloatArray | FloatImage) -> Image:
    """Convert linear light (1 is white) of any shape to 8-bit values, with a soft shoulder towards white."""
    light = np.maximum(linear, 0.0).astype(np.float32)
    over = light > _SHOULDER
    room = 1.0 - _SHOULDER
    light[over] = _SHOULDER + room * np.tanh((light[over] - _SHOULDER) / room * 0.7)
    return np.asarray(np.power(light, 1 / GAMMA) * 255.0 + 0.5, dtype=np.float32).clip(0, 255).astype(np.uint8)


def add_light(image: Image, light: FloatImage) -> Image:
    """Return a developed picture with linear light (height, width, 3) added."""
    level = np.power(np.arange(256) / 255.0, GAMMA)
    room = 1.0 - _SHOULDER
    over = np.arctanh(np.clip((level - _SHOULDER) / room, 0.0, 0.999)) * room / 0.7
    linear = np.where(level > _SHOULDER, _SHOULDER + over, level).astype(np.float32)
    lit = (light > 0).any(axis=-1)
    image = image.copy()
    image[lit] = develop(linear[image[lit]] + light[lit])
    return image


def tone_table(gain: FloatArray, specular: FloatArray | None = None) -> Image:
    """Return a look-up table, shape (256, 1, 3), from screen values to what the sensor gives under light ``gain`` (3,).

    ``specular`` (3,) is reflected light, which does not depend on the surface's colour.
    """
    light = decode_levels()[:, None, None] * gain.reshape(1, 1, 3)
    return develop(light if specular is None else light + specular.reshape(1, 1, 3))


def shade_table(factor: FloatArray) -> Image:
    """Return a look-up table, shape (256, 1, 3), from a shadow mask's value to an 8-bit factor on screen values.

    ``factor`` (3,) is the share of linear light that remains in full shadow.
    """
    cover = np.arange(256, dtype=np.float64)[:, None, None] / 255.0
    left = 1.0 - cover * (1.0 - factor.reshape(1, 1, 3))
    return np.asarray(np.rint(np.power(left, 1 / GAMMA) * 255.0), dtype=np.uint8)


@lru_cache(maxsize=3)
def _noise_tile(size: tuple[int, int], deviation: float, seed: int) -> tuple[Image, Image]:
    """Return the positive and the negative part of a tile of Gaussian noise."""
    width, height = size
    generator = np.random.default_rng([seed, 77])
    shape = (height + _NOISE_MARGIN_PX, width + _NOISE_MARGIN_PX, 3)
    tile = generator.standard_normal(shape, dtype=np.float32) * np.float32(deviation)
    rounded = np.rint(tile)
    return np.clip(rounded, 0, 255).astype(np.uint8), np.clip(-rounded, 0, 255).astype(np.uint8)


class SensorNoise:
    """Gaussian noise from one tile, shifted for each frame: the same seed and frame give the same noise."""

    def __init__(self, camera: CameraModel, deviation: float, seed: int) -> None:
        self._size = camera.size
        self._brighter, self._darker = _noise_tile(camera.size, deviation, seed)
        self._seed = seed

    def add(self, image: Image, frame: int) -> Image:
        """Return the image with the noise of that frame."""
        generator = np.random.default_rng([self._seed, 78, frame])
        left, top = (int(value) for value in generator.integers(0, _NOISE_MARGIN_PX, 2))
        width, height = self._size
        window = (slice(top, top + height), slice(left, left + width))
        brighter = cv2.add(image, self._brighter[window])
        return np.asarray(cv2.subtract(brighter, self._darker[window]), dtype=np.uint8)


def motion_blur(image: Image, motion_px: tuple[float, float]) -> Image:
    """Blur the image evenly along (x, y) pixels, as movement during the exposure does."""
    length = float(np.hypot(*motion_px))
    if length < 1.0:
        return image
    size = 2 * int(np.ceil(length / 2)) + 3
    kernel = np.zeros((size * _BLUR_SAMPLES, size * _BLUR_SAMPLES), dtype=np.float32)
    middle = size * _BLUR_SAMPLES // 2
    half = np.asarray(motion_px) * _BLUR_SAMPLES / 2
    start = tuple(int(value) for value in np.rint(middle - half))
    end = tuple(int(value) for value in np.rint(middle + half))
    cv2.line(kernel, start, end, 1.0, 4)
    small = np.asarray(cv2.resize(kernel, (size, size), interpolation=cv2.INTER_AREA))
    return np.asarray(cv2.filter2D(image, -1, small / small.sum()), dtype=np.uint8)


def through_sensor(image: Image, sensor: Sensor, noise: SensorNoise, frame: int) -> Image:
    """Apply blur, noise and compression to a developed picture."""
    if sensor.defocus_px > 0.05:
        size = 2 * int(np.ceil(2.5 * sensor.defocus_px)) + 1
        image = np.asarray(cv2.GaussianBlur(image, (size, size), sensor.defocus_px), dtype=np.uint8)
    image = motion_blur(image, sensor.shake_px)
    if sensor.noise > 0:
        image = noise.add(image, frame)
    if sensor.jpeg_quality is not None:
        image = compress(image, sensor.jpeg_quality)
    return image


def compress(image: Image, quality: int) -> Image:
    """Return the image after JPEG compression; ``quality`` is from 0 to 100."""
    _, encoded = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return np.asarray(cv2.imdecode(encoded, cv2.IMREAD_COLOR), dtype=np.uint8)


def _dot(vectors: FloatArray, normal: FloatArray) -> FloatArray:
    """Return the dot products of vectors (..., 3) with one normal (3,), or with one each (..., 3); shape (...)."""
    products = vectors @ normal if normal.ndim == 1 else np.sum(vectors * normal, axis=-1)
    return np.asarray(products, dtype=np.float64)


def _lamp_light(lamp: Lamp, points_mm: FloatArray, normal: FloatArray) -> FloatArray:
    """Return a lamp's irradiance, without its colour, at points (..., 3); shape (...)."""
    position = np.asarray(lamp.position_mm, dtype=np.float64)
    to_lamp = position - points_mm
    square = np.sum(to_lamp * to_lamp, axis=-1)
    cosine = np.clip(_dot(to_lamp, normal) / np.sqrt(square), 0.0, None)
    centre_square = float(position @ position)
    return np.asarray(lamp.strength * cosine * centre_square / square, dtype=np.float64)


def irradiance(lighting: Lighting, points_mm: FloatArray, normal: FloatArray) -> FloatArray:
    """Return the irradiance at points (..., 3) with a unit normal (3,), or one each (..., 3); shape (..., 3).

    At an irradiance of 1, white is white in the picture. Vertical faces get less ambient light than level ones.
    """
    openness = (0.65 + 0.35 * np.maximum(normal[..., 2], 0.0))[..., None]
    total = np.zeros(points_mm.shape, dtype=np.float64)
    total += lighting.ambient * openness * np.asarray(lighting.ambient_colour)
    unshaded = _unshaded(lighting, points_mm)[..., None]
    for lamp in lighting.lamps:
        total += _lamp_light(lamp, points_mm, normal)[..., None] * np.asarray(lamp.colour) * unshaded
    return total


def _unshaded(lighting: Lighting, points_mm: FloatArray) -> FloatArray:
    """Return the share of the lamps' light that no shade keeps from points (..., 3); shape (...)."""
    shade = lighting.shade
    if shade is None:
        return np.ones(points_mm.shape[:-1])
    angle = np.radians(shade.towards_deg)
    beyond_mm = points_mm[..., 0] * np.cos(angle) + points_mm[..., 1] * np.sin(angle) - shade.edge_mm
    depth = np.clip(beyond_mm / max(shade.softness_mm, 1e-6) + 0.5, 0.0, 1.0)
    return np.asarray(1.0 - (1.0 - shade.remaining_light) * depth, dtype=np.float64)


def specular(lighting: Lighting, points_mm: FloatArray, normal: FloatArray, camera_mm: FloatArray) -> FloatArray:
    """Return the lamps' specular reflection towards the camera at points (..., 3); shape (..., 3)."""
    shine = np.zeros(points_mm.shape, dtype=np.float64)
    if lighting.gloss <= 0:
        return shine
    to_camera = camera_mm - points_mm
    to_camera /= np.linalg.norm(to_camera, axis=-1, keepdims=True)
    unshaded = _unshaded(lighting, points_mm)[..., None]
    for lamp in lighting.lamps:
        to_lamp = np.asarray(lamp.position_mm) - points_mm
        to_lamp /= np.linalg.norm(to_lamp, axis=-1, keepdims=True)
        half = to_camera + to_lamp
        half /= np.linalg.norm(half, axis=-1, keepdims=True)
        peak = np.power(np.clip(_dot(half, normal), 0.0, 1.0), _GLOSS_EXPONENT)
        shine += (lighting.gloss * lamp.strength * peak)[..., None] * np.asarray(lamp.colour) * unshaded
    return shine


def remaining_light(lighting: Lighting, lamp: Lamp, point_mm: FloatArray) -> FloatArray:
    """Return the share of a level surface's light that remains in that lamp's shadow, shape (3,)."""
    total = irradiance(lighting, point_mm, UP)
    hidden = _lamp_light(lamp, point_mm, UP) * np.asarray(lamp.colour) * _unshaded(lighting, point_mm)
    return np.asarray(np.clip(1.0 - hidden / np.maximum(total, 1e-6), 0.0, 1.0), dtype=np.float64)


def shadow_points(lamp: Lamp, points_mm: FloatArray, height_mm: float) -> FloatArray:
    """Project points (n, 3) from the lamp onto the level plane at ``height_mm``; shape (n, 3).

    Points at or below the plane stay where they are.
    """
    position = np.asarray(lamp.position_mm, dtype=np.float64)
    above = np.maximum(points_mm[:, 2] - height_mm, 0.0)
    drop = np.maximum(position[2] - points_mm[:, 2], 1.0)
    moved = points_mm + (points_mm - position) * (above / drop)[:, None]
    moved[:, 2] = height_mm
    return np.asarray(moved, dtype=np.float64)


def penumbra_mm(lamp: Lamp, caster_height_mm: float) -> float:
    """Return the width of the penumbra that a caster at that height above a plane throws on it."""
    distance = float(np.linalg.norm(lamp.position_mm))
    return lamp.radius_mm * caster_height_mm / max(distance - caster_height_mm, 1.0)
