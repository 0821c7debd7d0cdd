"""The small network that reads a grid's cells, run by OpenCV. ``benchmarks/training/ink.py`` trains and writes it.

It has no padding, so what it makes of a cell depends only on the cell and half of each neighbour, however many cells
are read at once, and neighbours share most of the work.

A household's handwriting is learned from cells with known signs, to which the network's last layer is adapted. The
cells themselves are stored, so that they can adapt another network too. The last layer's weights are fitted again on
the network's features of these cells (``InkNetwork.features``): the maximum a posteriori estimate, with a Gaussian
prior around the trained weights.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from vision.errors import EnrolmentError
from vision.frame import FloatArray, FloatImage
from vision.geometry import Side
from vision.images import decode_photo
from vision.opencv import as_grey
from vision.readers.ink.paper import BLOT, CELL_PX, EMPTY_SIGN, SIGNS, cells_near_ink
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


SEEN_PX = 2 * CELL_PX
"""Side of what the network sees of each cell: the cell and half of each neighbour."""
TAUGHT_PX = SEEN_PX + 2
"""Side of a learned cell's picture: one pixel more on each side."""
SHIFTS_PX = ((0, 0), (0, 1), (0, -1), (1, 0), (-1, 0))
"""Offsets at which a learned cell is seen."""
FEWEST_CELLS = 20
"""Minimum number of written cells."""


@dataclass(frozen=True)
class HandwritingSettings:
    """How far learned cells change the network. Set with ``benchmarks/handwriting.py`` on unseen handwriting."""

    held: float = 300.0
    """Strength of the prior. Higher: the household's handwriting is learned less, and other hands suffer less."""
    rounds: int = 150
    """Steps of Nesterov's accelerated descent."""


@dataclass(frozen=True, eq=False)
class Handwriting:
    """Learned cells: their signs, and pictures of their ink (n, TAUGHT_PX, TAUGHT_PX), uint8, 255 for no light."""

    signs: tuple[str, ...]
    cells: npt.NDArray[np.uint8]

    def __post_init__(self) -> None:
        """Check the number of cells and the signs; raises EnrolmentError."""
        unknown = sorted(set(self.signs) - set(SIGNS[1:-1]))
        if unknown:
            raise EnrolmentError(f"{unknown[0]!r} is not a sign that can be taught; expected {', '.join(SIGNS[1:-1])}")
        if len(self.signs) < FEWEST_CELLS:
            raise EnrolmentError(
                f"{len(self.signs)} written cells are too few to learn from; expected {FEWEST_CELLS} or more: write "
                "each sign several times"
            )

    @property
    def counts(self) -> Mapping[str, int]:
        """Number of cells of each sign."""
        count = Counter(self.signs)
        return {sign: count[sign] for sign in SIGNS if count[sign]}

    def weight_corrections(self, network: InkNetwork, settings: HandwritingSettings) -> tuple[FloatArray, FloatArray]:
        """Return the corrections of the scores of SIGNS: by feature (features, len(SIGNS)), and constants
        (len(SIGNS),).
        """
        looks = [self._crops(*shift) for shift in SHIFTS_PX]
        scores, features = network.features(np.concatenate(looks))
        targets = np.tile([SIGNS.index(sign) for sign in self.signs], len(looks))
        given = np.column_stack([features, np.ones(len(features))])
        wanted = np.eye(len(SIGNS))[targets] / len(looks)
        weights = ahead = np.zeros((given.shape[1], len(SIGNS)))
        # the curvature of a softmax is at most one half
        step = 1 / (0.5 * float(np.linalg.eigvalsh(given.T @ given)[-1]) / len(looks) + settings.held)
        for number in range(settings.rounds):
            shares = scores + given @ ahead
            shares = np.exp(shares - shares.max(axis=1, keepdims=True))
            shares /= shares.sum(axis=1, keepdims=True) * len(looks)
            following = ahead - step * (given.T @ (shares - wanted) + settings.held * ahead)
            ahead = following + number / (number + 3) * (following - weights)
            weights = following
        return weights[:-1], weights[-1]

    def _crops(self, down: int, right: int) -> npt.NDArray[np.float32]:
        part = self.cells[:, 1 + down : 1 + down + SEEN_PX, 1 + right : 1 + right + SEEN_PX]
        return np.ascontiguousarray(part[:, None], dtype=np.float32) / np.float32(255)

    def to_json(self) -> dict[str, Any]:
        """Return the cells as JSON values, with their pictures as one PNG, stacked vertically."""
        encoded = cv2.imencode(".png", self.cells.reshape(-1, TAUGHT_PX))[1]
        return {"signs": list(self.signs), "cells": base64.b64encode(encoded.tobytes()).decode("ascii")}

    @classmethod
    def from_json(cls, data: Any) -> Handwriting:
        """Convert from ``to_json``; raises EnrolmentError."""
        damaged = EnrolmentError("the taught handwriting is damaged; teach it again")
        signs, cells = (data.get(key) for key in ("signs", "cells")) if isinstance(data, dict) else (None, None)
        if (
            not isinstance(signs, list)
            or not all(isinstance(sign, str) for sign in signs)
            or not isinstance(cells, str)
        ):
            raise damaged
        try:
            png = base64.b64decode(cells, validate=True)
            picture = as_grey(decode_photo(png, "the handwriting", most_pixels=max(1, len(signs)) * TAUGHT_PX**2))
        except ValueError:
            raise damaged from None
        if picture.shape != (len(signs) * TAUGHT_PX, TAUGHT_PX):
            raise damaged
        return cls(tuple(signs), picture.reshape(-1, TAUGHT_PX, TAUGHT_PX))


def taught_cells(ink: FloatImage, cells: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
    """Return pictures for learning of cells (n, 2) of a flat picture's ink, (n, TAUGHT_PX, TAUGHT_PX).

    ``ink`` is that of a flat picture with half a cell of margin; cells are given by row from the top and column. Beyond
    the picture, its edge goes on.
    """
    around = np.pad(np.round(255 * ink).astype(np.uint8), 1, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(around, (TAUGHT_PX, TAUGHT_PX))
    return np.ascontiguousarray(windows[tuple(CELL_PX * cells.T)])
