"""The small network that reads what is written in a cell, run by OpenCV.

``scripts/train_ink.py`` trains and writes it.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from vision.frame import FloatArray, FloatImage
from vision.readers.dice.networks import Network
from vision.readers.ink.paper import CELL_PX

WEIGHTS = Path(__file__).parent / "weights"
EMPTY_SIGN, CROSS, BLOT = "empty", "X", "blot"
DIGITS = ("0", "1", "2", "3", "4", "5", "6", "7", "8", "9")
SIGNS = (EMPTY_SIGN, *DIGITS, CROSS, BLOT)
"""What a cell may hold; a blot is whatever is none of the others."""
SIDES = ("north", "east", "south", "west")
OUTPUTS = len(SIGNS) + 1 + len(SIDES)
"""Scores of the signs, the log-odds that a loop runs around the cell, and of a line along each of its sides."""
CROP_PX = 2 * CELL_PX
"""The network sees a cell and half of each cell beside it."""

_MOVES_PX = ((0, 1), (0, -1), (1, 0), (-1, 0))
"""Where else a cell that may be written in is looked at: what is seen from several places errs less."""
_SURELY_EMPTY = -0.01
"""Log-probability of an empty cell from which it is looked at once."""
_FEWER_BLOTS = 3.0
"""By how much, in log units, blots are rarer in games than among the sheets that were trained on."""
_FEWER_STARS = 2.4
"""By how much, in log units, 0, 8 and 9 are rarer than other digits: only the stars, 3 of Number Drop's 24 faces with
digits, are written so."""
_STARS = [SIGNS.index(digit) for digit in "089"]
_BATCH = 64
"""Cells that the network reads at once."""

Floats = npt.NDArray[np.float32]


def crops_of(ink: FloatImage, cells: npt.NDArray[np.int64], moved_px: tuple[int, int] = (0, 0)) -> Floats:
    """What the network takes, (n, 1, CROP_PX, CROP_PX), of cells (n, 2), row from above and column.

    ``ink`` is that of a flat picture with half a cell of margin; ``moved_px`` is how far down and right of the cells
    the crops are, up to a pixel.
    """
    given = np.empty((len(cells), 1, CROP_PX, CROP_PX), dtype=np.float32)
    around = np.pad(ink, 1, mode="edge")
    for number, (row, column) in enumerate(cells):
        top, left = 1 + row * CELL_PX + moved_px[0], 1 + column * CELL_PX + moved_px[1]
        given[number, 0] = around[top : top + CROP_PX, left : left + CROP_PX]
    return given


def calibrated(scores: FloatArray, temperature: float, written: float) -> FloatArray:
    """Log-probabilities of SIGNS from the network's scores (n, len(SIGNS)).

    ``temperature`` divides the scores; ``written`` then multiplies the log-odds that anything is written at all, which
    is easier to tell than what.
    """
    scaled = scores / temperature
    others = scaled[:, 1:].max(axis=1, keepdims=True)
    others = others + np.log(np.exp(scaled[:, 1:] - others).sum(axis=1, keepdims=True))
    odds = written * (others - scaled[:, :1])
    bare, inked = -np.logaddexp(0, odds), -np.logaddexp(0, -odds)
    return np.asarray(np.concatenate([bare, scaled[:, 1:] - others + inked], axis=1), dtype=np.float64)


class InkNetwork:
    """The network of a folder, and what makes its probabilities come true (``calibrated``)."""

    def __init__(self, folder: Path = WEIGHTS) -> None:
        sums = json.loads((folder / "weights.json").read_text(encoding="utf-8"))
        self._network = Network(folder / "ink.onnx", sums["ink"])
        self._temperature, self._written = float(sums["temperature"]), float(sums["written"])

    def read(self, ink: FloatImage, cells: npt.NDArray[np.int64]) -> FloatArray:
        """What is in cells (n, 2) of a flat picture's ink, as ``scores`` gives it: the mean of several looks."""
        scores = self.scores(crops_of(ink, cells))
        written = np.flatnonzero(scores[:, 0] < _SURELY_EMPTY)
        looks = [scores[written, : len(SIGNS)]]
        looks += [self.scores(crops_of(ink, cells[written], moved))[:, : len(SIGNS)] for moved in _MOVES_PX]
        mean = np.mean(looks, axis=0)
        scores[written, : len(SIGNS)] = mean - np.log(np.exp(mean).sum(axis=1, keepdims=True))
        return scores

    def scores(self, crops: Floats) -> FloatArray:
        """What is in cells, (n, OUTPUTS), of what ``crops_of`` gave: log-probabilities of SIGNS, then log-odds."""
        scores = np.zeros((len(crops), OUTPUTS))
        for start in range(0, len(crops), _BATCH):
            scores[start : start + _BATCH] = self._network.run(crops[start : start + _BATCH])
        scores[:, SIGNS.index(BLOT)] -= _FEWER_BLOTS
        scores[:, _STARS] -= _FEWER_STARS
        scores[:, : len(SIGNS)] = calibrated(scores[:, : len(SIGNS)], self._temperature, self._written)
        return scores


@cache
def shipped() -> InkNetwork:
    """The network that comes with the project."""
    return InkNetwork()
