"""Cells filled, hatched or ticked with a few pens: amount and pen of the ink in each cell.

The ratios between the densities of the channels identify the pen, whatever the amount of ink. Grey is not a pen: a
shadow takes the same share from all channels.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from vision.frame import FloatArray, FloatImage, Image
from vision.readers.ink.paper import CELL_PX, MARGIN_CELLS
from vision.sampling import linear_light
from vision.surface.paper import densities_on, fit_bare_paper, hues, nearest_turn


@dataclass(frozen=True)
class PenSettings:
    """When a cell counts as filled, and with which pen. Odds are log-odds. All set by hand on ray-traced pictures."""

    blur_px: float = 1.2
    """Standard deviation, in pixels of the flat picture, of the smoothing before logarithms are taken."""
    window: float = 0.2
    """Standard deviation, in cells, of the weights around a cell's centre. Larger: ink from a neighbour that crosses
    the line counts more.
    """
    dark_floor: float = 0.02
    """Light, relative to paper, added before logarithms are taken: less is noise."""
    filled: float = 0.1
    """Density at which filled and empty are equally likely: above a neighbour's blur, below a thin tick."""
    slope: float = 5.0
    """Odds gained per factor of e above that."""
    most: float = 12.0
    """Maximum odds for or against."""
    bare_log_odds: float = -9.0
    """Odds of a cell without any ink."""
    hue_spread_deg: float = 11.0
    """Standard deviation of hue between cells of one pen."""
    usual_spread_deg: float = 16.0
    """Standard deviation of a pen's hue from its name's typical hue."""
    freedom: float = 4.0
    """Degrees of freedom of Student's t, after which those hues vary. Higher: a hue far off is less likely."""
    rounds: int = 8
    """Number of iterations of fitting cells and pens to each other."""
    odd_one_out: float = 0.002
    """Share of cells that are misread whatever their hue."""


_SETTINGS = PenSettings()


def densities(flat: Image, rows: int, columns: int) -> FloatArray:
    """Return the mean density in each cell of a flat picture, of ink and shadow, (rows, columns, 3), blue-green-red."""
    smooth = np.asarray(cv2.GaussianBlur(linear_light(flat), (0, 0), _SETTINGS.blur_px), dtype=np.float32)
    return _means(densities_on(smooth, fit_bare_paper(smooth), _SETTINGS.dark_floor), rows, columns)


def _means(values: FloatImage, rows: int, columns: int) -> FloatArray:
    """Return the weighted mean in each cell of values at each pixel (height, width, n), (rows, columns, n)."""
    margin = round(MARGIN_CELLS * CELL_PX)
    inner = values[margin : margin + rows * CELL_PX, margin : margin + columns * CELL_PX]
    at = (np.arange(CELL_PX) + 0.5) / CELL_PX - 0.5
    along = np.exp(-0.5 * (at / _SETTINGS.window) ** 2)
    along /= along.sum()
    # first down, then across: products of matrices take a fraction of the time of one sum over both
    down = along @ inner.reshape(rows, CELL_PX, -1).astype(np.float64)
    return np.asarray(along @ down.reshape(rows, columns, CELL_PX, -1), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class PenReading:
    """Log-odds that each cell is filled (rows, columns), and the probability of each pen if it is (rows, columns,
    pens).
    """

    filled: FloatArray
    pens: FloatArray


def read_pens(flat: Image, rows: int, columns: int, usual_deg: FloatArray) -> PenReading:
    """Read the cells of a flat picture; the pens' hues are fitted to this picture."""
    hue, strength = hues(densities(flat, rows, columns))
    filled = _SETTINGS.slope * np.log(np.maximum(strength, 1e-3) / _SETTINGS.filled)
    filled = np.clip(filled, _SETTINGS.bare_log_odds, _SETTINGS.most)
    there = 1 / (1 + np.exp(-filled.ravel()))
    hue = hue.ravel()
    off = nearest_turn(hue[:, None] - usual_deg)
    weight = (_SETTINGS.hue_spread_deg / _SETTINGS.usual_spread_deg) ** 2
    fitted = usual_deg
    for _ in range(_SETTINGS.rounds):
        nearest = np.abs(nearest_turn(hue[:, None] - fitted)).argmin(axis=1)
        shares = np.eye(len(fitted))[nearest] * there[:, None]
        fitted = usual_deg + (shares * off).sum(axis=0) / (shares.sum(axis=0) + weight)
    pens = _pen_shares(hue, fitted).reshape(rows, columns, len(usual_deg))
    return PenReading(filled, pens)


def _pen_shares(hue: FloatArray, pens: FloatArray) -> FloatArray:
    """Return the probability of each pen for each hue, (n, pens)."""
    off = nearest_turn(hue[:, None] - pens) / _SETTINGS.hue_spread_deg
    scores = -np.log1p(off**2 / _SETTINGS.freedom) * (_SETTINGS.freedom + 1) / 2
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    spare = _SETTINGS.odd_one_out
    return np.asarray((1 - spare) * weights + spare / len(pens))
