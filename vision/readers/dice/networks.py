"""The small networks that read dice, run by OpenCV.

One finds dice, one reads the upper side, one estimates whether a die leans. ``benchmarks/training/dice.py`` trains and
writes them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import cv2
import numpy as np

from vision.frame import Image
from vision.readers.networks import Floats, Network, checksums

WEIGHTS = Path(__file__).parent / "weights"
COCKED, OTHER, NOTHING = "cocked", "other", "nothing"
CLASSES = ("1", "2", "3", "4", "5", "6", COCKED, OTHER, NOTHING)
"""Classes of the second network: values, a leaning die, a face without pips, no die."""

CELL_PX = 4
"""Pixels per cell of the finder's grid of centres."""

CROP_PX = 32
"""Side, in pixels, of the square given to the second network."""
DIE_IN_CROP_PX = 20.0
"""Length of a die's edge in that square, in pixels."""
_LOWER = 0.2
"""Offset of the square's centre below the upper side's, in edges per unit of slant, to include side faces."""


def normalised(image: Image) -> Floats:
    """Convert a picture (height, width, 3) to the finder's input, (3, height, width)."""
    return np.asarray(cv2.dnn.blobFromImage(image, 1 / 128, mean=(128, 128, 128))[0], dtype=np.float32)


@dataclass(frozen=True)
class SquareView:
    """How a square is cut out: its rotation in degrees, and its slant.

    ``slant`` is the tangent of the angle between the line of sight and the vertical; the camera is then towards the
    square's lower side. ``None`` if the camera's position is unknown.
    """

    turned_deg: float = 0.0
    slant: float | None = None

    @classmethod
    def of(cls, slant: tuple[float, float]) -> SquareView:
        """Return the view at a position where a point one unit lower appears shifted by ``slant`` (across, down)."""
        return cls(90.0 - math.degrees(math.atan2(slant[1], slant[0])), math.hypot(*slant))


def square_input(squares: Sequence[Image], views: Sequence[SquareView]) -> Floats:
    """Convert squares to the input of the networks after the finder, (n, 4, height, width).

    Three channels are the picture normalised by its own mean and spread, so that the light does not matter; the fourth
    is the slant.
    """
    colours = np.asarray(cv2.dnn.blobFromImages(squares), dtype=np.float32)
    values = colours.reshape(len(squares), -1)
    values -= values.mean(axis=1, keepdims=True)
    values /= np.sqrt(np.square(values).mean(axis=1, keepdims=True)) + 8
    given = np.empty((len(squares), 4, *colours.shape[2:]), dtype=np.float32)
    given[:, :3] = colours
    given[:, 3] = np.array([-1.0 if view.slant is None else view.slant for view in views])[:, None, None]
    return given


_UNTURNED = SquareView()


def crop(image: Image, x_px: float, y_px: float, side_px: float, view: SquareView = _UNTURNED) -> Image:
    """Cut out a die, CROP_PX x CROP_PX, with its edge of ``side_px`` scaled to DIE_IN_CROP_PX; the border is repeated.

    With a slant, the upper side's centre (x, y) lies slightly above the square's centre.
    """
    scale = DIE_IN_CROP_PX / side_px
    reach = math.ceil(CROP_PX / scale) + 2
    if scale < 0.6:
        left, top = max(0, int(x_px) - reach), max(0, int(y_px) - reach)
        part = image[top : int(y_px) + reach, left : int(x_px) + reach]
        if part.size:
            half = max(1, round(part.shape[1] / 2)), max(1, round(part.shape[0] / 2))
            smaller = np.asarray(cv2.resize(part, half, interpolation=cv2.INTER_AREA), dtype=np.uint8)
            across, down = half[0] / part.shape[1], half[1] / part.shape[0]
            x, y = (x_px - left + 0.5) * across - 0.5, (y_px - top + 0.5) * down - 0.5
            return crop(smaller, x, y, side_px * (across + down) / 2, view)
    turn = math.radians(view.turned_deg)
    cosine, sine = (scale * part for part in (math.cos(turn), math.sin(turn)))
    middle = (CROP_PX - 1) / 2
    upper = middle - DIE_IN_CROP_PX * _LOWER * min(view.slant or 0.0, 1.0)
    matrix = np.array(
        [
            [cosine, -sine, middle - cosine * x_px + sine * y_px],
            [sine, cosine, upper - sine * x_px - cosine * y_px],
        ]
    )
    return np.asarray(
        cv2.warpAffine(image, matrix, (CROP_PX, CROP_PX), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE),
        dtype=np.uint8,
    )


class Networks:
    """The networks of a folder, and the temperature that calibrates the second one's probabilities."""

    def __init__(self, folder: Path = WEIGHTS) -> None:
        sums = checksums(folder)
        self.finder = Network(folder / "finder.onnx", sums["finder"])
        self.faces = Network(folder / "faces.onnx", sums["faces"])
        self.leaning = Network(folder / "leaning.onnx", sums["leaning"])
        self.temperature = float(sums["temperature"])


@cache
def shipped() -> Networks:
    """Load the networks that come with the project."""
    return Networks()
