"""The surface's printed lines: where they are visible, and where they are missing.

A change of light affects a line and its surroundings alike, so a line stays visible in shadow, in light of any colour
and, fainter, under gloss. An object on the board hides it. Each line segment is judged in two halves, by its contrast
in grey levels. The expected contrast is taken from the picture's other lines, separately for both directions (a shaken
camera blurs one of them). The noise is taken from the centres of the squares, where there are no lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from vision.frame import BoolArray, BoolImage, FloatArray, FloatImage, IndexArray
from vision.layout.pieces import GridSurface
from vision.sampling import MAD_TO_SIGMA, TONE_CURVE, PlaneWindow, median, quantile, sample

FloatRow = npt.NDArray[np.float32]

OFFSETS_MM = (-5.5, -4.5, -2.4, -1.6, -0.8, 0.0, 0.8, 1.6, 2.4, 4.5, 5.5)
"""Offsets, in mm, at which the light across a line is measured; the outer two on each side are board. Wider: tolerates
a worse pose. They and the numbers below were set by hand on virtual and ray-traced pictures.
"""
BESIDE = 2
"""Number of offsets on each side that are board."""
HALVES = ((0.08, 0.48), (0.52, 0.92))
"""Start and end of each half of a line segment, as shares of its length. The corners, where lines cross, are left out.
"""
POINTS = 12
"""Number of points along each half. More: less noise, slower."""


@dataclass(frozen=True)
class LineSettings:
    """When a part of a grid line is visible, and when it is missing. Set by hand on virtual and ray-traced pictures."""

    fewest_parts: int = 12
    """Minimum number of visible parts for determining the expected contrast."""
    open_share: float = 0.5
    """Share of a part's points that must be visible for it to be judged."""
    usual_share: float = 0.65
    """Quantile of the contrast used as the expected one: a large hand hides many parts. Higher: copes with larger
    hands, but more faint lines count as missing.
    """
    fewest_present: float = 0.4
    """Minimum share of the parts that must be visible for others to count as missing."""
    least_noise_levels: float = 0.8
    """Minimum noise of a contrast, in grey levels of 255."""
    line_spread: float = 0.3
    """Standard deviation of a line's contrast, relative to the expected one. Higher: weaker evidence."""
    blank_spread: float = 0.06
    """The same where there is no line."""
    clear_of_noise: float = 2.0
    """Minimum expected contrast, in multiples of the noise, for a line to count as missing."""
    most_evidence: float = 2.5
    """Maximum log-odds from one part."""
    most_bleached: float = 0.2
    """Share of a part's points that are overexposed above which the part counts as overexposed."""
    white_lines_seen: float = 0.6
    """Share of such parts with visible lines above which the board is white."""
    too_strong: float = 2.2
    """Contrast, in multiples of the expected one, that is an edge and not a line."""
    off_its_place: float = 1.7
    """Maximum offset, in steps across, of a line from where the others lie."""
    seen: float = -1.0
    """Log-odds of being missing below which a line part is visible."""
    missing: float = 1.0
    """Log-odds above which it is missing."""


_SETTINGS = LineSettings()


def grid_segments(surface: GridSurface) -> FloatArray:
    """Return the inner grid line segments between neighbouring corners, as (x1, y1, x2, y2) in mm, (segments, 4)."""
    bounds, cell = surface.bounds_mm, surface.cell_mm
    x = np.arange(surface.columns + 1) * cell - bounds.right_mm
    y = np.arange(surface.rows + 1) * cell - bounds.far_mm
    upright = [(at, near, at, far) for at in x[1:-1] for near, far in pairwise(y)]
    level = [(left, at, right, at) for at in y[1:-1] for left, right in pairwise(x)]
    return np.array([*upright, *level], dtype=np.float64).reshape(-1, 4)


@dataclass(frozen=True, eq=False)
class LineParts:
    """Halves of grid line segments in a surface view, precomputed.

    ``profiles`` is a pixel map of shape (parts, offsets, points, 2) across each part. ``points`` are the (row, column)
    of its own points, (parts, points, 2); ``ends`` its ends in whole pixels, (parts, 2, 2), as (column, row).
    ``upright`` marks those that run away from the first player, (parts,).
    """

    profiles: npt.NDArray[np.float32]
    points: IndexArray
    ends: npt.NDArray[np.int32]
    upright: BoolArray

    def open(self, not_bare: BoolImage) -> BoolImage:
        """Return whether each point of each part is bare, shape (parts, points)."""
        return np.asarray(~not_bare[self.points[..., 0], self.points[..., 1]])


def _parts(segments: FloatArray, shifts_mm: FloatArray, window: PlaneWindow) -> LineParts:
    starts, ways = segments[:, :2], segments[:, 2:] - segments[:, :2]
    across = np.column_stack([-ways[:, 1], ways[:, 0]]) / np.linalg.norm(ways, axis=1, keepdims=True)
    starts = starts + shifts_mm[:, None] * across
    along = np.stack([np.linspace(low, high, POINTS) for low, high in HALVES])
    points = starts[:, None, None, :] + along[None, :, :, None] * ways[:, None, None, :]
    points = points.reshape(-1, POINTS, 2)
    both = np.repeat(across, len(HALVES), axis=0)
    shifted = points[:, None, :, :] + np.array(OFFSETS_MM)[None, :, None, None] * both[:, None, None, :]
    profiles = window.pixels_of(shifted).astype(np.float32)
    whole = np.clip(np.round(window.pixels_of(points)[..., ::-1]), 0, np.array(window.shape) - 1).astype(np.intp)
    ends = whole[:, (0, -1), ::-1].astype(np.int32)
    return LineParts(profiles, whole, ends, np.asarray(np.abs(both[:, 0]) > 0.5))


@dataclass(frozen=True, eq=False)
class LineEvidence:
    """The evidence of each line part, (parts,).

    ``missing_log_odds``: that an object hides it (below 0: it is visible; 0: undecided). ``judged``: no piece hides it.
    ``decidable``: a line would be visible above the noise there. ``clearness``: contrast relative to the expected one.
    """

    missing_log_odds: FloatArray
    judged: BoolArray
    decidable: BoolArray
    clearness: FloatArray

    @property
    def seen(self) -> BoolArray:
        """Whether each part is visible, (parts,)."""
        return np.asarray(self.missing_log_odds < _SETTINGS.seen)

    @property
    def missing(self) -> BoolArray:
        """Whether each part is missing, (parts,)."""
        return np.asarray(self.missing_log_odds > _SETTINGS.missing)


class GridLines:
    """Examines the grid lines of one surface in views through one window."""

    def __init__(self, surface: GridSurface, window: PlaneWindow) -> None:
        segments = grid_segments(surface)
        self.parts = _parts(segments, np.zeros(len(segments)), window)
        self._middles = np.repeat((segments[:, :2] + segments[:, 2:]) / 2, len(HALVES), axis=0)
        middles = self.parts.points.mean(axis=1) / np.array(window.shape)
        self._where = np.column_stack([np.ones(len(middles)), middles])
        self._cell_mm = surface.cell_mm
        # the second half is in the middle of the squares, where there are no lines
        shifts_mm = np.repeat([0.0, surface.cell_mm / 2], len(segments))
        self._with_blanks = _parts(np.tile(segments, (2, 1)), shifts_mm, window)

    def parts_around(self, centres_mm: FloatArray) -> FloatArray:
        """Return 1 for each line part along the edges of each square, 0 for the others, (squares, parts), given the
        squares' centres, (squares, 2).
        """
        away = np.abs(self._middles - centres_mm[:, None]).sum(axis=2)
        return np.asarray(away < 0.75 * self._cell_mm, dtype=np.float64)

    def detect(self, grey: FloatImage, not_bare: BoolImage, brighter: FloatImage, bleached: BoolImage) -> LineEvidence:
        """Find out which lines are missing.

        All arrays are (rows, columns). ``grey`` is the view's brightness in levels, float32. ``brighter``, the log
        light above the surrounding board's, smoothed, and ``bleached``, which marks overexposure, may have any one
        scale. Where a lamp is reflected, light is added that no line absorbs, and a line's contrast is that much lower.
        """
        parts, count = self.parts, len(self.parts.points)
        is_open = self._with_blanks.open(not_bare)
        dark, bright, beside, at_dark, at_bright, step = _contrasts(grey, self._with_blanks, is_open)
        is_bare = is_open.sum(axis=1) >= _SETTINGS.open_share * POINTS
        bare, beside, step = is_bare[:count], beside[:count], step[:count]
        scale = np.array(brighter.shape) / np.array(grey.shape)
        at = (parts.points * scale).astype(np.intp)
        too_bright = bleached[at[..., 0], at[..., 1]].sum(axis=1) > _SETTINGS.most_bleached * POINTS
        judged = bare & ~too_bright
        log_odds, contrast = np.zeros(count), np.zeros_like(beside)
        if np.count_nonzero(judged) < _SETTINGS.fewest_parts:
            judged = bare
        if np.count_nonzero(judged) < _SETTINGS.fewest_parts:
            return LineEvidence(log_odds, bare, np.zeros_like(bare), np.zeros(count))
        # lines are dark on most boards and bright on some: use the polarity with more contrast
        is_dark = float(median(dark[:count][judged])) >= float(median(bright[:count][judged]))
        stands_out, place = (dark, at_dark) if is_dark else (bright, at_bright)
        stands_out, blank, place = stands_out[:count], stands_out[count:], place[:count]
        middle = at[:, POINTS // 2]
        fainter = np.exp(-2.0 / TONE_CURVE * np.maximum(brighter[middle[:, 0], middle[:, 1]], 0.0))
        known, found = np.zeros((2, count), dtype=np.bool_)
        for upright in (False, True):
            own = bare & (parts.upright == upright)
            null = blank[is_bare[count:] & (parts.upright == upright)]
            if np.count_nonzero(own) >= _SETTINGS.fewest_parts and len(null) >= _SETTINGS.fewest_parts:
                log_odds[own], usual = _missing_log_odds(stands_out[own], beside[own] * fainter[own], null)
                found[own] = _agree_with_others(place[own], self._where[own], log_odds[own] < 0)
                contrast[own] = usual * beside[own]
                known |= own
        decidable = log_odds != 0
        found &= stands_out <= _SETTINGS.too_strong * contrast + 2 * _SETTINGS.least_noise_levels
        # at the edge of a hard shadow a line can't be recognised
        log_odds = np.where(found, log_odds, np.maximum(log_odds, 0.0))
        log_odds = np.where(step > contrast, np.minimum(log_odds, 0.0), log_odds)
        clearness = np.where(known, stands_out / np.maximum(contrast, 1e-3), 0.0)
        seen = log_odds < 0
        white = too_bright & bare
        if not white.any() or seen[white].mean() < _SETTINGS.white_lines_seen:
            # where everything is white a line may be white too, so that nothing counts as missing there
            log_odds = np.where(too_bright, np.minimum(log_odds, 0.0), log_odds)
        return LineEvidence(log_odds, bare, decidable, clearness)


def _contrasts(
    grey: FloatImage, parts: LineParts, is_open: BoolImage
) -> tuple[FloatRow, FloatRow, FloatRow, IndexArray, IndexArray, FloatRow]:
    """Return by part, (parts,): contrast in levels if dark and if bright, the level beside it, the offsets at which
    it is darkest and brightest, and the difference in level between its sides.
    """
    count, offsets, points, _ = parts.profiles.shape
    weight = is_open / np.maximum(is_open.sum(axis=1, keepdims=True), 1).astype(np.float32)
    levels = sample(grey, parts.profiles.reshape(count, -1, 2)).reshape(count, offsets, points)
    # one contiguous row per offset, in which NumPy finds extremes several times faster
    profile = np.ascontiguousarray(np.einsum("kop,kp->ko", levels, weight).T)
    before, after, middle = profile[:BESIDE].mean(axis=0), profile[-BESIDE:].mean(axis=0), profile[BESIDE:-BESIDE]
    # the mean of both sides, so that a line at the edge of a shadow is still darker than its surroundings
    beside = (before + after) / 2
    darkest, brightest = middle.argmin(axis=0), middle.argmax(axis=0)
    step = np.abs(before - after)
    return beside - middle.min(axis=0), middle.max(axis=0) - beside, beside, darkest, brightest, step


def _agree_with_others(place: IndexArray, where: FloatArray, seen: BoolArray) -> BoolArray:
    """Return whether each part is found at the offset predicted by the others, (parts,).

    ``place`` is the offset at which each was found, ``where`` is 1 and its centre's position on the board, (parts, 3).
    A slightly wrong pose moves all lines slightly and evenly.
    """
    if seen.sum() < _SETTINGS.fewest_parts:
        return np.ones(len(place), dtype=np.bool_)
    inputs = where[seen]
    # a small ridge term keeps the normal equations solvable when all lie in one row
    usual = np.linalg.solve(inputs.T @ inputs + 1e-6 * np.eye(inputs.shape[1]), inputs.T @ place[seen])
    return np.asarray(np.abs(place - where @ usual) < _SETTINGS.off_its_place)


def _missing_log_odds(
    stands_out: npt.NDArray[np.floating], level: npt.NDArray[np.floating], null: npt.NDArray[np.floating]
) -> tuple[FloatArray, float]:
    """Return log-odds that lines are missing (the ratio of two normal likelihoods, without a line and with one as faint
    as it may be there), and the expected contrast for each level of the surroundings.
    """
    blank = float(median(null))
    noise = max(_SETTINGS.least_noise_levels, MAD_TO_SIGMA * float(median(np.abs(null - blank))))
    # a large hand hides many lines, so the expected contrast is taken from the better half of them
    usual = float(quantile(stands_out / np.maximum(level, 1.0), _SETTINGS.usual_share))
    expected = np.maximum(usual * level, 1e-3)
    seen = np.minimum(np.maximum(stands_out, blank), expected)
    present = np.count_nonzero(stands_out > 0.5 * (blank + expected)) / len(stands_out)
    decidable = (expected > blank + _SETTINGS.clear_of_noise * noise) & (present > _SETTINGS.fewest_present)
    line_spread = np.hypot(noise, _SETTINGS.line_spread * expected)
    blank_spread = np.hypot(noise, _SETTINGS.blank_spread * expected)
    odds = (
        0.5 * ((seen - expected) / line_spread) ** 2
        - 0.5 * ((seen - blank) / blank_spread) ** 2
        + np.log(line_spread / blank_spread)
    )
    return np.where(decidable, np.clip(odds, -_SETTINGS.most_evidence, _SETTINGS.most_evidence), 0.0), usual
