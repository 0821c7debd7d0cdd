"""What another camera would have made of a picture: its tone curve, white balance, noise, sharpening, focus or a shake.

A reader that fits only the cameras it was tuned by fails on such pictures. ``benchmarks/photoreal.py --effect NAME``
applies an effect to a whole set.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from types import MappingProxyType

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import Image

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
    """Moved during the exposure: smeared by 6 pixels in any direction."""
    way, middle = rng.uniform(0, np.pi), 8
    path = np.linspace(-3, 3, 61)[:, None] * (np.cos(way), np.sin(way)) + middle
    smear = np.zeros((2 * middle + 1, 2 * middle + 1), dtype=np.float32)
    np.add.at(smear, tuple(np.round(path).astype(int).T), 1 / len(path))
    return np.asarray(cv2.filter2D(levels, -1, smear), dtype=np.float32)


EFFECTS: Mapping[str, tuple[Callable[[Levels, np.random.Generator], Levels], int]] = MappingProxyType(
    {"warm": (warm, 92), "dim": (dim, 75), "sharpened": (sharpened, 65), "soft": (soft, 90), "shaken": (shaken, 90)}
)
"""The effects by name, each with the quality at which JPEG stores the picture, from 0 to 100."""


def with_effect(name: str, image: Image) -> Image:
    """The picture as such a camera would have stored it; the same each time."""
    effect, quality = EFFECTS[name]
    levels = effect(image.astype(np.float32), np.random.default_rng(zlib.crc32(image.tobytes())))
    rounded = np.clip(np.round(levels), 0, 255).astype(np.uint8)
    _, packed = cv2.imencode(".jpg", rounded, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return np.asarray(cv2.imdecode(packed, cv2.IMREAD_COLOR), dtype=np.uint8)
