"""The small network that reads a grid's cells, run by OpenCV. ``scripts/train_ink.py`` trains and writes it.

It has no padding, so what it makes of a cell depends only on the cell and half of each neighbour, however many cells
are read at once, and neighbours share most of the work.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from vision.frame import FloatArray, FloatImage
from vision.readers.dice.networks import Network
from vision.readers.ink.handwriting import Handwriting, HandwritingSettings
from vision.readers.ink.paper import CELL_PX
from vision.readers.ink.signs import BLOT, SIGNS

WEIGHTS = Path(__file__).parent / "weights"
SIDES = ("north", "east", "south", "west")
OUTPUTS = len(SIGNS) + 1 + len(SIDES)
"""Scores of the signs, the log-odds that a loop encloses the cell, and of a line along each of its sides."""
HIDDEN = 96
"""Number of features in the layer before the last."""

Inks = npt.NDArray[np.float32]
"""Pictures of ink with half a cell of margin around the cells, (n, 1, height, width)."""

_FEWER_BLOTS = 3.0
"""How much rarer blots are in games than in the training sheets, in log units."""


def calibrated(scores: FloatArray, temperature: float, written: float) -> FloatArray:
    """Return log-probabilities of SIGNS from the network's scores (..., len(SIGNS)).

    ``temperature`` divides the scores; ``written`` then multiplies the log-odds that anything is written at all, which
    is easier to recognise than what.
    """
    scaled = scores / temperature
    others = scaled[..., 1:].max(axis=-1, keepdims=True)
    others = others + np.log(np.exp(scaled[..., 1:] - others).sum(axis=-1, keepdims=True))
    odds = written * (others - scaled[..., :1])
    bare, inked = -np.logaddexp(0, odds), -np.logaddexp(0, -odds)
    return np.asarray(np.concatenate([bare, scaled[..., 1:] - others + inked], axis=-1), dtype=np.float64)


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
        """Read cells (n, 2) of a flat picture's ink, with the outputs of ``scores``.

        ``ink`` is that of a flat picture with half a cell of margin; cells are given by row from the top and column.
        """
        if not len(cells):
            return np.zeros((0, OUTPUTS))
        first, last = cells.min(axis=0), cells.max(axis=0)
        (top, left), (bottom, right) = CELL_PX * first, CELL_PX * (last + 2)
        part = np.ascontiguousarray(ink[None, None, top:bottom, left:right])
        return np.asarray(self.scores(part)[0][tuple((cells - first).T)])

    def scores(self, inks: Inks) -> FloatArray:
        """Return the outputs for all cells: log-probabilities of SIGNS, then log-odds, (n, rows, columns, OUTPUTS)."""
        outputs = self._run_network(inks)
        scores = outputs[..., :OUTPUTS]
        if self._corrections is not None:
            scores[..., : len(SIGNS)] += outputs[..., OUTPUTS:] @ self._corrections[0] + self._corrections[1]
        scores[..., SIGNS.index(BLOT)] -= _FEWER_BLOTS
        scores[..., : len(SIGNS)] = calibrated(scores[..., : len(SIGNS)], self._temperature, self._written)
        return scores

    def features(self, crops: Inks) -> tuple[FloatArray, FloatArray]:
        """Return scores of SIGNS (n, len(SIGNS)) and the features behind them (n, HIDDEN), before corrections.

        The crops show one cell each, (n, 1, SEEN_PX, SEEN_PX).
        """
        outputs = self._run_network(crops)[:, 0, 0]
        return outputs[:, : len(SIGNS)], outputs[:, OUTPUTS:]

    def _run_network(self, inks: Inks) -> FloatArray:
        return np.moveaxis(self._network.run(inks), 1, -1).astype(np.float64)


@cache
def shipped() -> InkNetwork:
    """Return the network that comes with the project."""
    return InkNetwork()
