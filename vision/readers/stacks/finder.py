"""The small network that finds the foot and the tip of the stack in a crop, run by OpenCV.

``benchmarks/training/stack_finder.py`` trains and writes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import cv2
import numpy as np

from vision.frame import FloatArray, Image
from vision.layout.pieces import PyramidPieces, Surface
from vision.readers.networks import Floats, Network, checksums
from vision.readers.stacks.appearance import MOST_PIECES
from vision.readers.stacks.network import FOOT_PX, HEIGHT_PX, LEAST_SPREAD, WEIGHTS, WIDTH_PX, StackCrops

ASIDE_PX = 8
"""Columns on either side of a crop that the network does not see."""
SHRINK = 2
"""Pixels of a crop in one of the network's input, along each axis."""
CELL_PX = 8
"""Edge of the cells of a crop for which the network gives values."""
ROWS, COLUMNS = HEIGHT_PX // CELL_PX, WIDTH_PX // CELL_PX - 2
SHAPE = (3, HEIGHT_PX // SHRINK, (WIDTH_PX - 2 * ASIDE_PX) // SHRINK)
"""Shape of the network's input: channels, rows, columns."""
VALUES = 7
"""Values of each cell: the score of the tip being in it; the tip's position relative to the cell's centre, and the
foot's relative to ``FOOT_PX``, across and down in cells; cosine and sine of four times the stack's angle.
"""
FOOT_ROWS, FOOT_COLUMNS = slice(17, 20), slice(3, 7)
"""The cells whose values of foot and angle count, on average: those around ``FOOT_PX``."""
ASTRAY_PX = 4.0
"""Standard deviation of a tip's distance from the axis above the foot. Lower: tips of other stacks are mistaken for one
less often, and crooked stacks are missed more often.
"""
SAME_PX = 4.0
"""Distance in a crop, 1.7 mm, below which two tips are at one spot."""
SPOTS = 4
"""Number of spots returned for each stack. More: slower, and fewer tips are missed."""


@dataclass(frozen=True, eq=False)
class Found:
    """What is found on n places: the feet (n, 2), x and y in mm; the stacks' angles (n,) relative to their crops; and
    spots that may be tips, best first: ``tips_px`` (n, SPOTS, 2), and their log-probabilities ``logs`` (n, SPOTS).
    """

    feet_mm: FloatArray
    angles_rad: FloatArray
    tips_px: FloatArray
    logs: FloatArray


def finder_input(pictures: Image) -> Floats:
    """Convert crops (n, HEIGHT_PX, WIDTH_PX, 3) to the network's input (n, *SHAPE), without their light."""
    given = np.empty((len(pictures), *SHAPE), dtype=np.float32)
    for number, picture in enumerate(pictures):
        small = cv2.resize(picture[:, ASIDE_PX:-ASIDE_PX], SHAPE[:0:-1], interpolation=cv2.INTER_AREA)
        mean, spread = cv2.meanStdDev(small.reshape(-1, 1))
        given[number] = small.transpose(2, 0, 1)
        given[number] -= np.float32(mean[0, 0])
        given[number] /= np.float32(spread[0, 0] + LEAST_SPREAD)
    return given


class StackFinder:
    """The network of a folder."""

    def __init__(self, folder: Path = WEIGHTS) -> None:
        sums = checksums(folder)
        self._network = Network(folder / "finder.onnx", sums["finder"])

    def find(self, crops: StackCrops, pictures: Image, places: Sequence[str], heights_mm: tuple[float, float]) -> Found:
        """Find feet and tips in the crops of places, (n, HEIGHT_PX, WIDTH_PX, 3).

        ``heights_mm`` are those of the lowest and the highest possible tip.
        """
        values = np.asarray(self._network.run(finder_input(pictures)), dtype=np.float64)
        foot = values[:, 3:, FOOT_ROWS, FOOT_COLUMNS].mean(axis=(2, 3))
        feet_mm = crops.on_board(places, FOOT_PX + CELL_PX * foot[:, :2])
        ends = [crops.project(places, np.column_stack([feet_mm, np.full(len(places), each)])) for each in heights_mm]
        tips_px, logs = spots_of(values, np.stack(ends, axis=1))
        return Found(feet_mm, np.arctan2(foot[:, 3], foot[:, 2]) / 4, tips_px, logs)


def spots_of(values: FloatArray, axes_px: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the spots (n, SPOTS, 2) that the network's values (n, VALUES, ROWS, COLUMNS) say, best first, and their
    log-probabilities, (n, SPOTS).

    ``axes_px`` (n, 2, 2) are the ends of the stacks' axes between which a tip may be: the lower one first.
    """
    tips_px = values[:, 1:3].reshape(len(values), 2, -1).transpose(0, 2, 1) * CELL_PX + cell_centres_px()
    # by coordinate, since NumPy is slow along an axis of two
    x, y = np.moveaxis(tips_px, 2, 0).copy()
    left = values[:, 0].reshape(len(values), -1) - costs_astray(tips_px, axes_px)
    left -= left.max(axis=1, keepdims=True)
    left -= np.log(np.exp(left).sum(axis=1, keepdims=True))
    each, spots, logs = np.arange(len(values)), [], []
    for _ in range(SPOTS):
        best = left.argmax(axis=1)
        logs.append(left[each, best])
        off_x, off_y = (along - along[each, best][:, None] for along in (x, y))
        same = off_x**2 + off_y**2 < SAME_PX**2
        # cells beside the best one say where its tip is too
        shares = np.exp(np.where(same, left - logs[-1][:, None], -np.inf))
        spots.append(np.einsum("nc,nck->nk", shares, tips_px) / shares.sum(axis=1, keepdims=True))
        left[same] = -np.inf
    return np.stack(spots, axis=1), np.stack(logs, axis=1)


def costs_astray(tips_px: FloatArray, axes_px: FloatArray) -> FloatArray:
    """Return the cost, as negative log-likelihood, of tips (n, m, 2) being away from axes with the ends (n, 2, 2)."""
    (low_x, along_x), (low_y, along_y) = np.diff(axes_px, axis=1, prepend=0.0).transpose(2, 1, 0)[..., None]
    x, y = tips_px[..., 0] - low_x, tips_px[..., 1] - low_y
    share = np.clip((x * along_x + y * along_y) / np.maximum(along_x**2 + along_y**2, 1e-6), 0.0, 1.0)
    astray = (x - share * along_x) ** 2 + (y - share * along_y) ** 2
    return np.asarray(astray / (2 * ASTRAY_PX**2), dtype=np.float64)


def tip_heights_mm(surface: Surface) -> tuple[float, float]:
    """Return the heights of the lowest and the highest tip of a stack on a surface."""
    pieces = PyramidPieces.on(surface)
    return surface.height_mm + pieces.tip_mm("L", 0), surface.height_mm + pieces.tip_mm("S", MOST_PIECES)


@cache
def cell_centres_px() -> FloatArray:
    """Return the column and row of each cell's centre in a crop, (cells, 2)."""
    across, down = np.meshgrid(
        ASIDE_PX + (np.arange(COLUMNS) + 0.5) * CELL_PX - 0.5, (np.arange(ROWS) + 0.5) * CELL_PX - 0.5
    )
    return np.column_stack([across.ravel(), down.ravel()])


@cache
def shipped_finder() -> StackFinder:
    """Return the finder that comes with the project."""
    return StackFinder()
