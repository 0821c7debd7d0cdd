"""The light of bare paper, and how much of it ink absorbs.

Ink absorbs a share of the light in each colour channel, and twice as much ink absorbs that share twice: the negated
logs of the remaining shares (densities) are proportional to the amount (Beer and Lambert's law).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import TypeVar

import cv2
import numpy as np

from common.phrases import joined
from vision.errors import LayoutError
from vision.frame import FloatArray, FloatImage
from vision.sampling import quantile

HUES_DEG: Mapping[str, float] = MappingProxyType(
    {
        "red": 25.0,
        "orange": 2.0,
        "yellow": -22.0,
        "green": -105.0,
        "blue": -178.0,
        "purple": 95.0,
        "pink": 55.0,
    }
)
"""Typical position of pens with these names on the circle of ``hues``, in degrees."""


Floats = TypeVar("Floats", FloatArray, FloatImage)

_EASILY_DARKER = 0.08
"""Distance below the fitted light, in log units, within which a pixel is paper."""
_ROUNDS = 8
"""Number of iterations of the fit, each without darker pixels."""
_ONE_IN = 5
"""One in so many pixels of the picture at a quarter of its scale is fitted: a step that does not divide a cell's 6, so
that all parts of cells count. Higher: faster, and noise matters more.
"""
_KEEP = 1e-3 * np.diag([0.0, 1, 1, 1, 1, 1])
"""Prior against slopes and bends of the light, as a share of the pixels."""


def usual_hues(pens: Sequence[str]) -> FloatArray:
    """Return typical hues of pens in degrees, (n,); raises LayoutError for a pen of unknown colour."""
    for pen in pens:
        if pen not in HUES_DEG:
            raise LayoutError("no pen is known as {pen!r}; colours may be {names}", pen, joined(HUES_DEG, ", "))
    return np.array([HUES_DEG[pen] for pen in pens])


def fit_bare_paper(light: FloatImage) -> FloatImage:
    """Return the light of a sheet's bare paper, fitted as a surface of the second degree in log light.

    Most of a filled sheet may be coloured, so pixels darker than the fit get less and less weight.
    """
    small = cv2.resize(light, None, fx=0.25, fy=0.25, interpolation=cv2.INTER_AREA)
    logs = np.ascontiguousarray(np.log(small.reshape(-1, 3) + 1e-4).astype(np.float64).T)
    rows, columns = small.shape[:2]
    terms = _terms(rows, columns)
    some = np.ascontiguousarray(terms[:, ::_ONE_IN])
    logs = np.ascontiguousarray(logs[:, ::_ONE_IN])
    least = (logs - quantile(logs, 0.95)[:, None]).min(axis=0)
    weights = (least >= quantile(least, 0.6)).astype(np.float64)
    for _ in range(_ROUNDS):
        off = least - _weighted_fit(some, least, weights) @ some
        weights = np.where(off > 0, 1.0, np.exp(-((off / _EASILY_DARKER) ** 2)))
    paper = np.exp(_weighted_fit(some, logs, weights) @ terms).reshape(3, rows, columns).astype(np.float32)
    whole = cv2.resize(cv2.merge(list(paper)), light.shape[1::-1], interpolation=cv2.INTER_LINEAR)
    return np.asarray(whole, dtype=np.float32)


@lru_cache(maxsize=8)
def _terms(rows: int, columns: int) -> FloatArray:
    """Return the terms of the second degree at each pixel, (6, pixels)."""
    y, x = np.mgrid[-1 : 1 : rows * 1j, -1 : 1 : columns * 1j]
    x, y = x.ravel(), y.ravel()
    return np.stack([np.ones_like(x), x, y, x * x, x * y, y * y])


def _weighted_fit(terms: FloatArray, values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the weights of the terms that fit values (..., pixels) best: (..., 6)."""
    weighted = terms * weights  # a long last axis: NumPy takes many times as long for a short one
    return np.asarray(np.linalg.solve(weighted @ terms.T + _KEEP * weights.sum(), weighted @ values.T).T)


def densities_on(light: FloatImage, paper: FloatImage, floor: float) -> FloatImage:
    """Return densities (rows, columns, 3) of linear light relative to bare paper; ``floor`` is the share below which a
    camera only records noise.
    """
    # in place: at a whole sheet's size, every further array takes longer than what is computed on it
    shares = np.clip(paper, np.float32(1e-3), None)
    np.divide(light, shares, out=shares)
    np.clip(shares, 0, 1.5, out=shares)
    shares += np.float32(floor)
    shares *= np.float32(1 / (1 + floor))
    cv2.log(shares, shares)
    return np.negative(shares, out=shares)


def hues(density: Floats) -> tuple[Floats, Floats]:
    """Return the hue in degrees and strength of densities (..., 3), each (...)."""
    blue, green, red = np.moveaxis(density, -1, 0)
    across, up = blue - red, green - (blue + red) / 2
    return np.degrees(np.arctan2(up, across)), np.hypot(across, up)


def nearest_turn(degrees: Floats) -> Floats:
    """Return angles in degrees mapped to -180 to 180."""
    # NumPy's remainder takes many times as long
    return np.asarray(degrees - 360.0 * np.round(degrees / 360.0), dtype=degrees.dtype)
