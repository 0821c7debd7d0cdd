"""What another camera or other light would have made of a picture.

A reader that fits only the cameras and lamps it was tuned by fails on such pictures.
``benchmarks/photoreal.py --effect NAME`` applies an effect to a whole set: a camera's to the enrolment pictures too,
since one camera takes them all; a change of light or of the camera's settings only to the pictures to be read.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import Image

Levels = npt.NDArray[np.float32]
"""A picture in grey levels from 0 to 255, (height, width, 3), blue-green-red."""
TONE_CURVE = 2.2
"""The exponent that turns levels into light, close to the sRGB curve."""


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
    """Moved during the exposure: smeared by 6 pixels in any direction."""
    way, middle = rng.uniform(0, np.pi), 8
    path = np.linspace(-3, 3, 61)[:, None] * (np.cos(way), np.sin(way)) + middle
    smear = np.zeros((2 * middle + 1, 2 * middle + 1), dtype=np.float32)
    np.add.at(smear, tuple(np.round(path).astype(int).T), 1 / len(path))
    return np.asarray(cv2.filter2D(levels, -1, smear), dtype=np.float32)


def bright(levels: Levels, _rng: np.random.Generator) -> Levels:
    """Exposed to 1.6 times the light; what is brighter than white is clipped."""
    return _in_light(levels, 1.6)


def night(levels: Levels, rng: np.random.Generator) -> Levels:
    """An eighth of the light, and noise with a standard deviation of 6 levels."""
    return np.asarray(_in_light(levels, 0.125) + rng.normal(0, 6, levels.shape), dtype=np.float32)


def shadow(levels: Levels, rng: np.random.Generator) -> Levels:
    """Half the light in a band with hard edges, as of somebody in front of a lamp: anywhere and at any angle.

    The band is a fifth to three fifths of the picture's height wide; its middle passes within a quarter of that height
    of the picture's middle.
    """
    rows, columns = levels.shape[:2]
    way, off, width = rng.uniform(0, np.pi), rng.uniform(-0.25, 0.25) * rows, rng.uniform(0.2, 0.6) * rows
    y, x = np.mgrid[:rows, :columns]
    across = (x - columns / 2) * np.cos(way) + (y - rows / 2) * np.sin(way)
    shaded = np.abs(across - off) < width / 2
    return np.where(shaded[..., None], _in_light(levels, 0.5), levels)


def cool(levels: Levels, _rng: np.random.Generator) -> Levels:
    """A blue white balance."""
    return np.asarray(levels * np.array([1.15, 1.0, 0.85]), dtype=np.float32)


def vivid(levels: Levels, _rng: np.random.Generator) -> Levels:
    """Half as much colour again."""
    return _saturated(levels, 1.5)


def pale(levels: Levels, _rng: np.random.Generator) -> Levels:
    """Three fifths of the colour."""
    return _saturated(levels, 0.6)


def _in_light(levels: Levels, share: float) -> Levels:
    return np.asarray(levels * share ** (1 / TONE_CURVE), dtype=np.float32)


def _saturated(levels: Levels, factor: float) -> Levels:
    grey = cv2.cvtColor(levels, cv2.COLOR_BGR2GRAY)[..., None]
    return np.asarray(grey + factor * (levels - grey), dtype=np.float32)


@dataclass(frozen=True)
class Effect:
    """``change`` takes levels to levels, with chance; ``jpeg_quality``, 0 to 100, is that of the stored picture.

    ``when_taught``: whether enrolment pictures have it too.
    """

    change: Callable[[Levels, np.random.Generator], Levels]
    jpeg_quality: int
    when_taught: bool


EFFECTS: Mapping[str, Effect] = MappingProxyType(
    {
        "warm": Effect(warm, 92, when_taught=True),
        "dim": Effect(dim, 75, when_taught=True),
        "sharpened": Effect(sharpened, 65, when_taught=True),
        "soft": Effect(soft, 90, when_taught=True),
        "shaken": Effect(shaken, 90, when_taught=True),
        "bright": Effect(bright, 92, when_taught=False),
        "night": Effect(night, 75, when_taught=False),
        "shadow": Effect(shadow, 92, when_taught=False),
        "cool": Effect(cool, 92, when_taught=False),
        "vivid": Effect(vivid, 92, when_taught=False),
        "pale": Effect(pale, 92, when_taught=False),
    }
)
"""The effects by name."""


def with_effect(name: str, image: Image) -> Image:
    """The picture with an effect, as a camera would have stored it; the same each time."""
    effect = EFFECTS[name]
    levels = effect.change(image.astype(np.float32), np.random.default_rng(zlib.crc32(image.tobytes())))
    rounded = np.clip(np.round(levels), 0, 255).astype(np.uint8)
    _, packed = cv2.imencode(".jpg", rounded, [cv2.IMWRITE_JPEG_QUALITY, effect.jpeg_quality])
    return np.asarray(cv2.imdecode(packed, cv2.IMREAD_COLOR), dtype=np.uint8)
