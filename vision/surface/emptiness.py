"""How probable it is that each place is empty, from how much it looks like bare surface.

About a dozen measures each indicate doubt, such as how much rougher a place is than most. Each reduces the log-odds by
a monotone curve of its own (a generalised additive model, Hastie and Tibshirani 1986).
``benchmarks/training/emptiness.py`` fits the curves to virtual pictures of many kinds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import cv2
import numpy as np

from vision.frame import BoolArray, FloatArray, IndexArray
from vision.layout.pieces import GridSurface
from vision.sampling import linear_light_table, median, square_sums
from vision.surface.occlusion import SurfaceEvidence
from vision.surface.view import RectifiedView

CURVES = Path(__file__).with_name("emptiness.json")


@dataclass(frozen=True)
class EmptinessSettings:
    """How the measures of a place are taken."""

    middle_side_mm: float = 27.0
    """Side of the square in a place's centre that is measured, in mm. Larger: more evidence, but more of the lines and
    neighbouring pieces.
    """
    smoothing_mm: float = 1.0
    """Standard deviation, in mm, of the smoothing before roughness is measured. Larger: less noise, fainter edges."""
    dark_floor: float = 0.01
    """Linear light added before logarithms are taken. Higher: noise in the dark counts less, and so do edges there."""
    bleached_level: int = 253
    """Brightest channel (0 to 255) above which a pixel counts as overexposed."""
    least_open_share: float = 0.2
    """Share of that square that must be visible for the place to be judged by it."""
    unclear: float = 0.8
    """Share of the board's line parts that are not visible above which the picture is unclear."""


_SETTINGS = EmptinessSettings()


@dataclass(frozen=True, eq=False)
class EmptinessCurves:
    """The fitted model: the log-odds of a place without any doubt, and the effect of each measure.

    ``curves`` maps each measure to its values, rising, and the log-odds there, falling from 0; they are interpolated
    linearly and constant beyond the ends. Results are limited to ``most``, or to ``most_unclear`` where hardly a line
    of the board is visible, and to ``least``: the certainty that the fitted pictures support.
    """

    constant: float
    most: float
    most_unclear: float
    least: float
    curves: Mapping[str, tuple[FloatArray, FloatArray]]

    @classmethod
    def load(cls, path: Path) -> EmptinessCurves:
        """Read the file written by ``benchmarks/training/emptiness.py``."""
        data = json.loads(path.read_text(encoding="utf-8"))
        curves = {name: (np.array(one["at"]), np.array(one["log_odds"])) for name, one in data["curves"].items()}
        return cls(data["constant"], data["most"], data["most_unclear"], data["least"], curves)

    def log_odds(self, measures: Mapping[str, FloatArray]) -> FloatArray:
        """Return log-odds of empty, (places,), given the result of ``place_measures``."""
        costs = [np.interp(measures[name], *curve) for name, curve in self.curves.items()]
        most = np.where(is_unclear(measures), self.most_unclear, self.most)
        return np.asarray(np.clip(self.constant + np.sum(costs, axis=0), self.least, most), dtype=np.float64)


def is_unclear(measures: Mapping[str, FloatArray]) -> BoolArray:
    """Return whether hardly a line of the board is visible, (places,): then uniformity proves little."""
    return measures["board not clear"] > _SETTINGS.unclear


@cache
def shipped() -> EmptinessCurves:
    """Return the curves that are shipped."""
    return EmptinessCurves.load(CURVES)


def emptiness(view: RectifiedView, surface: GridSurface, sight: SurfaceEvidence) -> dict[str, float]:
    """Return log-odds that each place is empty."""
    odds = shipped().log_odds(place_measures(view, surface, sight))
    return dict(zip(surface.places, odds.tolist(), strict=True))


def place_measures(view: RectifiedView, surface: GridSurface, sight: SurfaceEvidence) -> dict[str, FloatArray]:
    """Return measures of doubt for each place, (places,), by name; 0 is the value on a clear board.

    They are those of ``PlaceExaminer.measures``, and: ``rougher``: than most places, as log ratio, separately for
    printed places; ``dark``: halvings of the brightest grey level; ``bleached``: overexposed share; ``out of sight``:
    share that pieces hide.
    """
    rougher, bleached, dark, hidden = _measure_centres(view, surface)
    printed = np.array([place in surface.printed for place in surface.places])
    return {
        "rougher": np.where(printed, 0.0, np.maximum(rougher, 0.0)),
        "rougher where printed": np.where(printed, np.maximum(rougher, 0.0), 0.0),
        "dark": dark,
        "bleached": bleached,
        "out of sight": hidden,
        **(sight.places or {name: np.full(len(printed), value) for name, value in _NOTHING_KNOWN.items()}),
    }


_NOTHING_KNOWN = {
    "lines not seen": 1.0,
    "lines faint": 0.0,
    "brighter": 0.0,
    "darker": 0.0,
    "strange": 0.0,
    "off hue": 0.0,
    "near glare": 0.0,
    "board not clear": 1.0,
}
"""The measures of ``PlaceExaminer`` where hardly any bare surface is visible."""


def _measure_centres(view: RectifiedView, surface: GridSurface) -> FloatArray:
    """Return four measures of each place's centre, (4, places): roughness relative to most places, overexposed share,
    darkness, and hidden share. A mostly hidden place gets the roughness of most places.
    """
    board = _without_margin(view, surface)
    colours = np.ascontiguousarray(view.colours[board])
    grey = np.asarray(cv2.cvtColor(colours, cv2.COLOR_BGR2GRAY), dtype=np.uint8)
    # the floor suppresses noise in the dark
    log_light = np.log(linear_light_table() + np.float32(_SETTINGS.dark_floor))
    shade = np.asarray(cv2.GaussianBlur(cv2.LUT(grey, log_light), (0, 0), _SETTINGS.smoothing_mm), dtype=np.float32)
    slope = np.asarray(cv2.magnitude(cv2.Sobel(shade, cv2.CV_32F, 1, 0), cv2.Sobel(shade, cv2.CV_32F, 0, 1)))
    is_open = ~(view.hidden_by_pieces[board] | view.outside[board])
    bleached = np.asarray(cv2.inRange(colours, (0, 0, 0), 3 * (_SETTINGS.bleached_level - 1,))) == 0
    side = 2 * round(_SETTINGS.middle_side_mm / 2)
    marked = (is_open.view(np.uint8), slope * is_open, (bleached & is_open).view(np.uint8), grey * is_open)
    counts, steep, bright, levels = square_sums(marked, _centre_pixels(surface, grey.shape), side)
    some, size = np.maximum(counts, 1), side**2
    seen = counts >= max(1.0, _SETTINGS.least_open_share * size)
    looks = np.array(
        [np.log(np.maximum(steep / some, 1e-6)), bright / some, -np.log2(np.maximum(levels / some, 1.0) / 255.0)]
    )
    if seen.any():
        usual = median(looks[:, seen], axis=1)[:, None]
        looks = np.where(seen, looks, usual)
        looks[0] -= usual[0]
    return np.vstack([looks, 1.0 - counts / size])


def _without_margin(view: RectifiedView, surface: GridSurface) -> tuple[slice, slice]:
    """Return the part of a view that shows the board, without its margin."""
    bounds = surface.bounds_mm
    left, top = view.window.to_pixels(bounds.left_mm, bounds.far_mm)
    right, bottom = view.window.to_pixels(bounds.right_mm, bounds.near_mm)
    return slice(round(top + 0.5), round(bottom + 0.5)), slice(round(left + 0.5), round(right + 0.5))


def _centre_pixels(surface: GridSurface, shape: tuple[int, int]) -> IndexArray:
    """Return the row and column of each place's centre in a view of the board alone, (2, places)."""
    x, y = surface.centres_mm.T
    rows, columns = shape
    return np.asarray(np.round([rows / 2 - y - 0.5, columns / 2 + x - 0.5]).astype(np.intp))
