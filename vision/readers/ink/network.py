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
SIGNS = (EMPTY_SIGN, "1", "2", "3", "4", "5", "6", "7", CROSS, BLOT)
"""What a cell may hold; a blot is whatever is none of the others."""
SIDES = ("north", "east", "south", "west")
OUTPUTS = len(SIGNS) + 1 + len(SIDES)
"""Scores of the signs, the log-odds that a loop runs around the cell, and of a line along each of its sides."""
CROP_PX = 2 * CELL_PX
"""The network sees a cell and half of each cell beside it."""

_BATCH = 64
"""Cells that the network reads at once."""

Floats = npt.NDArray[np.float32]


def crops_of(ink: FloatImage, cells: npt.NDArray[np.int64]) -> Floats:
    """What the network takes, (n, 1, CROP_PX, CROP_PX), of cells (n, 2), row from above and column.

    ``ink`` is that of a flat picture with half a cell of margin.
    """
    given = np.empty((len(cells), 1, CROP_PX, CROP_PX), dtype=np.float32)
    for number, (row, column) in enumerate(cells):
        top, left = row * CELL_PX, column * CELL_PX
        given[number, 0] = ink[top : top + CROP_PX, left : left + CROP_PX]
    return given


class InkNetwork:
    """The network of a folder, and the temperatures that make its probabilities come true."""

    def __init__(self, folder: Path = WEIGHTS) -> None:
        sums = json.loads((folder / "weights.json").read_text(encoding="utf-8"))
        self._network = Network(folder / "ink.onnx", sums["ink"])
        self._temperature = float(sums["temperature"])

    def scores(self, crops: Floats) -> FloatArray:
        """What is in cells, (n, OUTPUTS), of what ``crops_of`` gave: log-probabilities of SIGNS, then log-odds."""
        scores = np.zeros((len(crops), OUTPUTS))
        for start in range(0, len(crops), _BATCH):
            scores[start : start + _BATCH] = self._network.run(crops[start : start + _BATCH])
        signs = scores[:, : len(SIGNS)] / self._temperature
        signs -= signs.max(axis=1, keepdims=True)
        scores[:, : len(SIGNS)] = signs - np.log(np.exp(signs).sum(axis=1, keepdims=True))
        return scores


@cache
def shipped() -> InkNetwork:
    """The network that comes with the project."""
    return InkNetwork()
