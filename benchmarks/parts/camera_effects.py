"""Simulates other cameras and other light on a picture.

A reader that fits only the cameras and lamps it was tuned by fails on such pictures.
``benchmarks/photoreal.py --effect NAME`` applies an effect to a whole set: a camera's to the enrolment pictures too,
since one camera takes them all; a change of light or of the camera's settings only to the pictures to be read.
"""

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import cv2
import numpy as np
import numpy.typing as npt

from simulator.rendering.optics import compress
from vision.frame import Image
from vision.sampling import TONE_CURVE

Levels = npt.NDArray[np.float32]
"""A picture in grey levels from 0 to 255, (height, width, 3), blue-green-red."""


def warm(levels: Levels, _rng: np.random.Generator) -> Levels:
    """A darker tone curve and a yellow white balance."""
    return np.asarray(255 * (levels / 255) ** 1.25 * np.array([0.85, 1.0, 1.12]), dtype=np.float32)


def dim(levels: Levels, rng: np.random.Generator) -> Levels:
    """Three fifths of the brightness, and noise with a standard deviation of 5 levels."""
    return np.asarray(0.6 * levels + rng.normal(0, 5, levels.shape), dtype=np.float32)


def sharpened(levels: Levels, _rng: np.random.Generator) -> Levels:
    """Sharpening and a steep contrast curve, as cheap webcams apply them."""
    crisp = np.clip(levels + 0.8 * (levels - cv2.GaussianBlur(levels, (0, 0), 1.5)), 0, 255) / 255
    return np.asarray(127.5 + 127.5 * np.tanh(2.2 * (crisp - 0.5)) / np.tanh(1.1), dtype=np.float32)


def soft(levels: Levels, _rng: np.random.Generator) -> Levels:
    """Slightly out of focus: a blur with a standard deviation of 1.1 pixels."""
    return np.asarray(cv2.GaussianBlur(levels, (0, 0), 1.1), dtype=np.float32)


def shaken(levels: Levels, rng: np.random.Generator) -> Levels:
    """Motion blur of 6 pixels in any direction."""
    angle, middle = rng.uniform(0, np.pi), 8
    path = np.linspace(-3, 3, 61)[:, None] * (np.cos(angle), np.sin(angle)) + middle
    kernel = np.zeros((2 * middle + 1, 2 * middle + 1), dtype=np.float32)
    np.add.at(kernel, tuple(np.round(path).astype(int).T), 1 / len(path))
    return np.asarray(cv2.filter2D(levels, -1, kernel), dtype=np.float32)


def bright(levels: Levels, _rng: np.random.Generator) -> Levels:
    """1.6 times the exposure, clipped at white."""
    return _exposed(levels, 1.6)


def night(levels: Levels, rng: np.random.Generator) -> Levels:
    """An eighth of the light, and noise with a standard deviation of 6 levels."""
    return np.asarray(_exposed(levels, 0.125) + rng.normal(0, 6, levels.shape), dtype=np.float32)


def shadow(levels: Levels, rng: np.random.Generator) -> Levels:
    """Half the light in a band with hard edges at any angle, as cast by somebody in front of a lamp.

    Its width is 0.2 to 0.6 of the picture's height; its middle is within a quarter of that height of the centre.
    """
    rows, columns = levels.shape[:2]
    angle, offset, width = rng.uniform(0, np.pi), rng.uniform(-0.25, 0.25) * rows, rng.uniform(0.2, 0.6) * rows
    y, x = np.mgrid[:rows, :columns]
    across = (x - columns / 2) * np.cos(angle) + (y - rows / 2) * np.sin(angle)
    shaded = np.abs(across - offset) < width / 2
    return np.where(shaded[..., None], _exposed(levels, 0.5), levels)


def cool(levels: Levels, _rng: np.random.Generator) -> Levels:
    """A blue white balance."""
    return np.asarray(levels * np.array([1.15, 1.0, 0.85]), dtype=np.float32)


def vivid(levels: Levels, _rng: np.random.Generator) -> Levels:
    """The saturation times 1.5."""
    return _saturated(levels, 1.5)


def pale(levels: Levels, _rng: np.random.Generator) -> Levels:
    """The saturation times 0.6."""
    return _saturated(levels, 0.6)


def _exposed(levels: Levels, factor: float) -> Levels:
    return np.asarray(levels * factor ** (1 / TONE_CURVE), dtype=np.float32)


def _saturated(levels: Levels, factor: float) -> Levels:
    grey = cv2.cvtColor(levels, cv2.COLOR_BGR2GRAY)[..., None]
    return np.asarray(grey + factor * (levels - grey), dtype=np.float32)


@dataclass(frozen=True)
class Effect:
    """A random change of levels, then JPEG compression at ``jpeg_quality``, 0 to 100.

    ``in_enrolment``: whether it is applied to enrolment pictures too.
    """

    change: Callable[[Levels, np.random.Generator], Levels]
    jpeg_quality: int
    in_enrolment: bool


EFFECTS: Mapping[str, Effect] = MappingProxyType(
    {
        "warm": Effect(warm, 92, in_enrolment=True),
        "dim": Effect(dim, 75, in_enrolment=True),
        "sharpened": Effect(sharpened, 65, in_enrolment=True),
        "soft": Effect(soft, 90, in_enrolment=True),
        "shaken": Effect(shaken, 90, in_enrolment=True),
        "bright": Effect(bright, 92, in_enrolment=False),
        "night": Effect(night, 75, in_enrolment=False),
        "shadow": Effect(shadow, 92, in_enrolment=False),
        "cool": Effect(cool, 92, in_enrolment=False),
        "vivid": Effect(vivid, 92, in_enrolment=False),
        "pale": Effect(pale, 92, in_enrolment=False),
    }
)
"""The effects by name."""


def with_effect(name: str, image: Image) -> Image:
    """Apply an effect and JPEG compression; deterministic for each picture."""
    effect = EFFECTS[name]
    levels = effect.change(image.astype(np.float32), np.random.default_rng(zlib.crc32(image.tobytes())))
    rounded = np.clip(np.round(levels), 0, 255).astype(np.uint8)
    return compress(rounded, effect.jpeg_quality)
