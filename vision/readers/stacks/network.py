"""The small network that reads sizes from the sides of a stack, run by OpenCV.

``benchmarks/training/stacks.py`` trains and writes it.
"""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import cv2
import numpy as np

from vision.frame import FloatArray, Image
from vision.layout.pieces import PYRAMID_SIZES
from vision.readers.networks import Floats, Network, checksums
from vision.readers.stacks.appearance import MOST_PIECES
from vision.readers.stacks.faces import ACROSS, DOWN_MM, SIDES, mirror_sides

WEIGHTS = Path(__file__).parent / "weights"
KINDS = len(PYRAMID_SIZES) * (MOST_PIECES + 1)
"""Number of kinds of tops: each size with each number of pieces on the large one, from none."""
NO_TIP = KINDS
"""The class after the kinds of tops: not a tip."""
SHAPE = (SIDES, 3, len(DOWN_MM), len(ACROSS))
"""Shape of the network's input: sides, channels, rows, columns."""
EXTRAS = 4
"""Further inputs: the two values of ``StackCrops.views``, and cosine and sine of four times the stack's angle."""
LEAST_SPREAD = 8.0
"""Grey levels added to the standard deviation before dividing by it, so that pure noise stays small."""

MIRRORED_FROM = -3.0
"""Log-odds of a tip above which the stack's mirror image is evaluated too, if its kind is in doubt."""
MIRRORED_BELOW = 0.9
"""Probability of a kind of top below which it is in doubt. Higher: slower, and a little more exact in bad light."""


def kind_of(size: str, pieces: int) -> int:
    """Return the class of a top of one size with this many pieces on the large one."""
    return PYRAMID_SIZES.index(size) * (MOST_PIECES + 1) + pieces


def network_input(sides: Image, views: FloatArray, angles_rad: FloatArray) -> Floats:
    """Convert sides (n, SIDES, rows, columns, 3) to the network's input, (n, values).

    Each stack is normalised by its mean and standard deviation, to remove the light. ``views`` are (n, 2);
    ``angles_rad`` (n,) are relative to the crop.
    """
    count, values = len(sides), int(np.prod(SHAPE))
    given = np.empty((count, values + EXTRAS), dtype=np.float32)
    for number, one in enumerate(sides):
        mean, spread = cv2.meanStdDev(one.reshape(-1, 1))
        flat = one.transpose(0, 3, 1, 2).reshape(values)
        given[number, :values] = (flat - np.float32(mean[0, 0])) / np.float32(spread[0, 0] + LEAST_SPREAD)
    given[:, values : values + 2] = views
    given[:, values + 2] = np.cos(4 * angles_rad)
    given[:, values + 3] = np.sin(4 * angles_rad)
    return given


class StackNetwork:
    """The network of a folder, with the temperature that calibrates its probabilities."""

    def __init__(self, folder: Path = WEIGHTS) -> None:
        sums = checksums(folder)
        self._network = Network(folder / "stacks.onnx", sums["stacks"])
        self._temperature = float(sums["temperature"])

    def log_probabilities(self, sides: Image, views: FloatArray, angles_rad: FloatArray) -> FloatArray:
        """Return log-probabilities of the kinds of tops and of NO_TIP, (n, KINDS + 1); arguments as for
        ``network_input``.
        """
        scores = np.asarray(self._network.run(network_input(sides, views, angles_rad)), dtype=np.float64)
        return _normalised(scores / self._temperature)

    def with_mirror_images(
        self, logs: FloatArray, sides: Image, views: FloatArray, angles_rad: FloatArray
    ) -> FloatArray:
        """Return the log-probabilities of stacks, averaged with those of their mirror images where the kind of a
        possible tip is in doubt.
        """
        doubtful = (tip_log_odds(logs) > MIRRORED_FROM) & (logs.max(axis=1) < math.log(MIRRORED_BELOW))
        averaged = logs.copy()
        if doubtful.any():
            mirrored = self.log_probabilities(mirror_sides(sides[doubtful]), views[doubtful], -angles_rad[doubtful])
            averaged[doubtful] = _normalised((logs[doubtful] + mirrored) / 2)
        return averaged


def _normalised(scores: FloatArray) -> FloatArray:
    return np.asarray(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))


def tip_log_odds(logs: FloatArray) -> FloatArray:
    """Return the log-odds of being a tip, (n,), from log-probabilities (n, KINDS + 1)."""
    return np.asarray(np.logaddexp.reduce(logs[:, :NO_TIP], axis=1) - logs[:, NO_TIP])


@cache
def shipped() -> StackNetwork:
    """Return the network that comes with the project."""
    return StackNetwork()
