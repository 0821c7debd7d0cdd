"""The small network that reads a grid's cells, run by OpenCV. ``scripts/training/ink.py`` trains and writes it.

It has no padding, so what it makes of a cell depends only on the cell and half of each neighbour, however many cells
are read at once, and neighbours share most of the work.
"""

from __future__ import annotations

from functools import cache, cached_property
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import FloatArray, FloatImage
from vision.geometry import Side
from vision.readers.ink.handwriting import Handwriting, HandwritingSettings
from vision.readers.ink.paper import CELL_PX, cells_near_ink
from vision.readers.ink.signs import BLOT, EMPTY_SIGN, SIGNS
from vision.readers.networks import Network, checksums

WEIGHTS = Path(__file__).parent / "weights"
OUTPUTS = len(SIGNS) + 1 + len(Side)
"""Scores of the signs, the log-odds that a loop encloses the cell, and of a line along each of its sides."""
HIDDEN = 128
"""Number of features in the layer before the last."""

Inks = npt.NDArray[np.float32]
"""Pictures of ink with half a cell of margin around the cells, (n, 1, height, width)."""

_FEWER_BLOTS = 3.0
"""How much rarer blots are in games than in the training sheets, in log units."""
_MORE_EMPTY = 1.5
"""How much more often cells are empty in games than in the training sheets, in log units: three quarters of them in
games, a third in training. Higher: noise at night is seldom taken for a sign, and faint signs are missed.
"""


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
        sums = checksums(folder)
        self._network = Network(folder / "ink.onnx", sums["ink"])
        self._temperature, self._written = float(sums["temperature"]), float(sums["written"])
        self._corrections = (
            None if taught is None else taught.weight_corrections(self, settings or HandwritingSettings())
        )

    def read(self, ink: FloatImage, cells: npt.NDArray[np.int64]) -> FloatArray:
        """Read cells (n, 2) of a flat picture's ink, with the outputs of ``scores``; (n, OUTPUTS).

        Cells without ink in and around them have the outputs of bare paper. The others are read group by group.
        ``ink`` is that of a flat picture with half a cell of margin; cells are given by row from the top and column.
        """
        near_ink = cells_near_ink(ink)
        numbers = np.full(near_ink.shape, -1)
        numbers[tuple(cells.T)] = np.where(near_ink[tuple(cells.T)], np.arange(len(cells)), -1)
        found = np.tile(self._bare, (len(cells), 1))
        groups = cv2.connectedComponentsWithStats((numbers >= 0).astype(np.uint8))[2][1:]
        for left, top, columns, rows, _ in groups.tolist():
            down, across = (
                slice(CELL_PX * first, CELL_PX * (first + count + 1)) for first, count in ((top, rows), (left, columns))
            )
            read = self.scores(np.ascontiguousarray(ink[None, None, down, across]))[0]
            own = numbers[top : top + rows, left : left + columns]
            found[own[own >= 0]] = read[own >= 0]
        return found

    @cached_property
    def _bare(self) -> FloatArray:
        """The outputs for a cell of bare paper, (OUTPUTS,)."""
        return np.asarray(self.scores(np.zeros((1, 1, 2 * CELL_PX, 2 * CELL_PX), dtype=np.float32))[0, 0, 0])

    def scores(self, inks: Inks) -> FloatArray:
        """Return the outputs for all cells: log-probabilities of SIGNS, then log-odds, (n, rows, columns, OUTPUTS)."""
        outputs = self._run_network(inks)
        scores = outputs[..., :OUTPUTS]
        if self._corrections is not None:
            scores[..., : len(SIGNS)] += outputs[..., OUTPUTS:] @ self._corrections[0] + self._corrections[1]
        scores[..., SIGNS.index(BLOT)] -= _FEWER_BLOTS
        scores[..., SIGNS.index(EMPTY_SIGN)] += _MORE_EMPTY
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
