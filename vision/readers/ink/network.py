"""The small network that reads a cell, run by OpenCV. ``scripts/train_ink.py`` trains and writes it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from vision.frame import FloatArray, FloatImage
from vision.readers.dice.networks import Network
from vision.readers.ink.blanks import blank_cells
from vision.readers.ink.crops import BLOT, SHIFTS_PX, SIGNS, Crops, crops_of
from vision.readers.ink.handwriting import Handwriting, HandwritingSettings

WEIGHTS = Path(__file__).parent / "weights"
SIDES = ("north", "east", "south", "west")
OUTPUTS = len(SIGNS) + 1 + len(SIDES)
"""Scores of the signs, the log-odds that a loop encloses the cell, and of a line along each of its sides."""
HIDDEN = 96
"""Number of features in the layer before the last."""

_SURELY_EMPTY = -0.01
"""Log-probability of an empty cell above which it is read only once ..."""
_SURELY_WRITTEN = -0.03
"""... and of the likeliest sign: further views change nothing then, and take most of the time."""
_FEWER_BLOTS = 3.0
"""How much rarer blots are in games than in the training sheets, in log units."""


def calibrated(scores: FloatArray, temperature: float, written: float) -> FloatArray:
    """Return log-probabilities of SIGNS from the network's scores (n, len(SIGNS)).

    ``temperature`` divides the scores; ``written`` then multiplies the log-odds that anything is written at all, which
    is easier to recognise than what.
    """
    scaled = scores / temperature
    others = scaled[:, 1:].max(axis=1, keepdims=True)
    others = others + np.log(np.exp(scaled[:, 1:] - others).sum(axis=1, keepdims=True))
    odds = written * (others - scaled[:, :1])
    bare, inked = -np.logaddexp(0, odds), -np.logaddexp(0, -odds)
    return np.asarray(np.concatenate([bare, scaled[:, 1:] - others + inked], axis=1), dtype=np.float64)


class InkNetwork:
    """The network of a folder, its calibration (see ``calibrated``), and a household's handwriting if learned."""

    def __init__(
        self, folder: Path = WEIGHTS, taught: Handwriting | None = None, settings: HandwritingSettings | None = None
    ) -> None:
        """Load and check the network; raises what ``Network`` raises."""
        sums = json.loads((folder / "weights.json").read_text(encoding="utf-8"))
        self._network = Network(folder / "ink.onnx", sums["ink"])
        self._temperature, self._written = float(sums["temperature"]), float(sums["written"])
        self._corrections = (
            None if taught is None else taught.weight_corrections(self, settings or HandwritingSettings())
        )

    def read(self, ink: FloatImage, cells: npt.NDArray[np.int64]) -> FloatArray:
        """Read cells (n, 2) of a flat picture's ink, with the outputs of ``scores``, averaged over several offsets.

        Of blank cells only the darkest is read, and stands for all if it is surely empty.
        """
        alike = blank_cells(ink, cells)
        rest = np.delete(np.arange(len(cells)), alike[1:])
        scores = np.empty((len(cells), OUTPUTS))
        scores[rest] = self._read_each(ink, cells[rest])
        if len(alike) > 1:
            darkest, others = scores[alike[0]], alike[1:]
            scores[others] = darkest if darkest[0] > _SURELY_EMPTY else self._read_each(ink, cells[others])
        return scores

    def _read_each(self, ink: FloatImage, cells: npt.NDArray[np.int64]) -> FloatArray:
        """Read each of the cells; see ``read``."""
        scores = self.scores(crops_of(ink, cells))
        signs = scores[:, : len(SIGNS)]
        unsure = np.flatnonzero((signs[:, 0] < _SURELY_EMPTY) & (signs.max(axis=1) < _SURELY_WRITTEN))
        moved = np.concatenate([crops_of(ink, cells[unsure], shift) for shift in SHIFTS_PX[1:]])
        looks = np.stack(
            [scores[unsure, : len(SIGNS)], *np.split(self.scores(moved)[:, : len(SIGNS)], len(SHIFTS_PX) - 1)]
        )
        mean = looks.mean(axis=0)
        scores[unsure, : len(SIGNS)] = mean - np.log(np.exp(mean).sum(axis=1, keepdims=True))
        return scores

    def scores(self, crops: Crops) -> FloatArray:
        """Return the outputs for crops from ``crops_of``, (n, OUTPUTS): log-probabilities of SIGNS, then log-odds."""
        outputs = self._run_network(crops)
        scores = outputs[:, :OUTPUTS]
        if self._corrections is not None:
            scores[:, : len(SIGNS)] += outputs[:, OUTPUTS:] @ self._corrections[0] + self._corrections[1]
        scores[:, SIGNS.index(BLOT)] -= _FEWER_BLOTS
        scores[:, : len(SIGNS)] = calibrated(scores[:, : len(SIGNS)], self._temperature, self._written)
        return scores

    def features(self, crops: Crops) -> tuple[FloatArray, FloatArray]:
        """Return scores of SIGNS (n, len(SIGNS)) and the features behind them (n, HIDDEN), before corrections."""
        outputs = self._run_network(crops)
        return outputs[:, : len(SIGNS)], outputs[:, OUTPUTS:]

    def _run_network(self, crops: Crops) -> FloatArray:
        if not len(crops):
            return np.zeros((0, OUTPUTS + HIDDEN))
        return self._network.run(crops).astype(np.float64)


@cache
def shipped() -> InkNetwork:
    """Return the network that comes with the project."""
    return InkNetwork()
