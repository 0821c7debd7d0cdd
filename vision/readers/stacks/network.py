"""The small network that reads sizes from the sides of a stack, run by OpenCV.

``benchmarks/training/stacks.py`` trains and writes it.

It sees the sides below a tip flattened. Pyramids of all sizes are about equally steep. So the same pyramid lies below
every tip, down to the top piece's base, followed by a step at the base of each piece under it. In the flattened
picture, the rows of these steps show the sizes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import cv2
import numpy as np

from vision.frame import FloatArray, Image
from vision.layout.pieces import PYRAMID_SIZES
from vision.readers.networks import Floats, Network, checksums
from vision.readers.stacks.appearance import MOST_PIECES
from vision.readers.stacks.crops import StackCrops
from vision.sampling import PixelMap, remapped

SLOPE = 0.239
"""Growth of a pyramid's half width, in mm, per mm further down."""
TIP_HALF_MM = 1.6
"""Half the edge of a medium pyramid's flat tip."""
_LARGE_MM = 25.4
"""Base of a large pyramid in the set measured here; for other sets all lengths are scaled."""
DOWN_MM = np.concatenate([np.zeros(3), np.arange(0.0, 62.0, 1.15)])
OUT_MM = np.concatenate([[0.0, 0.6, 1.2], np.full(len(DOWN_MM) - 3, TIP_HALF_MM)]) + DOWN_MM * SLOPE
"""Distance of each row of points below the tip, and from the axis. The first three rows are on the flat tip."""
ACROSS = np.array([-1.25, -0.8, -0.4, 0.0, 0.4, 0.8, 1.25])
"""Columns of points, as shares of the half width; the outermost lie beside the stack."""
SIDES = 4
"""Sides of a pyramid."""
_BESIDE_TIP = (slice(5, 9), slice(1, 6))
"""Rows and columns of points on the faces beside the tip, which give its colour."""
_LEAST_FACING = 0.3
"""How much a side must face the camera for its colour to count: 1 from straight above, 0 from edge on. Higher: fewer
sides count.
"""


def _points_mm() -> FloatArray:
    """Return points relative to a tip, (SIDES, rows, columns, 3): first the side towards -y, then counter-clockwise."""
    sides = []
    for number in range(SIDES):
        angle = (number - 1) * math.pi / 2
        outwards = np.array([math.cos(angle), math.sin(angle)])
        along = np.array([-outwards[1], outwards[0]])
        flat = OUT_MM[:, None, None] * (outwards + ACROSS[None, :, None] * along)
        down = np.broadcast_to(-DOWN_MM[:, None, None], (*flat.shape[:2], 1))
        sides.append(np.concatenate([flat, down], axis=2))
    return np.array(sides)


_POINTS = _points_mm().reshape(-1, 3)


def flatten_sides(
    crops: StackCrops, pictures: Image, places: Sequence[str], tips_mm: FloatArray, angles_rad: FloatArray
) -> Image:
    """Flatten the sides of stacks, (n, SIDES, rows, columns, 3), from the crops of their places (n, height, width, 3).

    ``tips_mm`` (n, 3) are the centres of the tips, ``angles_rad`` (n,) the stacks' angles relative to their crops.
    The first side is the one that faces the camera most.
    """
    bodies = np.zeros((len(places), 4, 4))
    angles = angles_rad + np.array([crops.bearing(place) for place in places])
    bodies[:, 0, 0] = bodies[:, 1, 1] = np.cos(angles)
    bodies[:, 1, 0] = np.sin(angles)
    bodies[:, 0, 1] = -bodies[:, 1, 0]
    bodies[:, 2, 2] = bodies[:, 3, 3] = 1.0
    bodies[:, :3, 3] = tips_mm
    points = np.column_stack([_POINTS * (crops.large_mm / _LARGE_MM), np.ones(len(_POINTS))]).astype(np.float32)
    # one product of two plain matrices is many times faster than one for each stack
    seen = (crops.projections(places) @ bodies).astype(np.float32).reshape(-1, 4) @ points.T
    x, y, depth = seen.reshape(len(places), 3, -1).transpose(1, 0, 2)
    pixels: PixelMap = np.stack([x / depth, y / depth], axis=-1)
    rows = pixels.reshape(len(places), SIDES * len(DOWN_MM), len(ACROSS), 2)
    flat = [remapped(picture, own, None) for picture, own in zip(pictures, rows, strict=True)]
    return np.array(flat, dtype=np.uint8).reshape(len(places), SIDES, len(DOWN_MM), len(ACROSS), 3)


def levels_beside_tips(sides: Image, views: FloatArray, angles_rad: FloatArray) -> FloatArray:
    """Return the mean levels of the visible faces beside tips, blue-green-red, (n, 3), given ``sides`` from
    ``flatten_sides``, ``views`` from ``StackCrops.views`` and the stacks' angles relative to their crops.
    """
    steep = views[:, 0] / np.sqrt(1 - views[:, 0] ** 2) / SLOPE
    facing = 1 + steep[:, None] * np.cos(angles_rad[:, None] + np.arange(SIDES) * np.pi / 2)
    weights = (facing > _LEAST_FACING).astype(np.float64)
    weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1.0)
    means = sides[:, :, *_BESIDE_TIP].mean(axis=(2, 3))
    return np.asarray((means * weights[:, :, None]).sum(axis=1), dtype=np.float64)


def mirror_sides(sides: Image) -> Image:
    """Return the sides of the mirrored stacks: the two beside the first are exchanged."""
    return np.ascontiguousarray(sides[:, [0, 3, 2, 1], :, ::-1])


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
