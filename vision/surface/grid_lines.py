"""The surface's printed lines: where they should be seen, and where they are not.

A change of light multiplies a line and what is beside it alike, so a line stays a line in shadow, in any lamp's colour
and, fainter, under gloss. What lies on the board takes it away. A line segment is judged in two halves, by how many
grey levels it stands out. What it should stand out by is taken from the picture's other lines, for both directions
apart (a shaken camera wipes out one of them). What is seen where no line is, is taken from the middles of the squares.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vision.frame import BoolImage, FloatImage
from vision.layout.surfaces import GridSurface
from vision.sampling import PlaneWindow, sample

FloatRow = npt.NDArray[np.float32]
IndexRow = npt.NDArray[np.intp]

OFFSETS_MM = (-5.5, -4.5, -2.4, -1.6, -0.8, 0.0, 0.8, 1.6, 2.4, 4.5, 5.5)
BESIDE = 2
HALVES = ((0.08, 0.48), (0.52, 0.92))
POINTS = 12


@dataclass(frozen=True)
class LineSettings:
    """When a part of a grid line is seen, and when it is gone. Set by hand on virtual and ray-traced pictures."""

    fewest_parts: int = 12
    """Parts in sight from which what is usual can be told."""
    open_share: float = 0.5
    """Share of a part's points that must be in sight for it to be judged."""
    usual_share: float = 0.65
    """Share of the parts whose contrast is at most the usual one: a large hand takes many away. Higher: for larger
    hands, and more faint lines are called gone.
    """
    fewest_present: float = 0.4
    """Share of the parts that must stand out for any to be missed."""
    least_noise_levels: float = 0.8
    """Least noise of a contrast, in grey levels of 255."""
    line_spread: float = 0.3
    """Standard deviation of a line's contrast, as a share of the usual. Higher: less is said by it."""
    blank_spread: float = 0.06
    """The same of what is seen where no line is."""
    clear_of_noise: float = 2.0
    """How many times the noise a line must stand out by to be missed."""
    most_evidence: float = 2.5
    """Most log-odds that one part gives."""
    gamma: float = 2.2
    """The camera's tone curve, by which added light makes lines fainter."""
    most_bleached: float = 0.2
    """Share of a part's points too bright for the camera from which all of it is."""
    white_lines_seen: float = 0.6
    """Share of such parts whose lines are seen all the same from which a board is white."""
    too_strong: float = 2.2
    """How many times the usual contrast is no line's, but an edge's."""
    off_its_place: float = 1.7
    """How far from where the others lie, in steps across, a line may be found."""
    seen: float = -1.0
    """Log-odds of being gone below which a line part is seen."""
    missing: float = 1.0
    """Log-odds above which it is missing."""


_SETTINGS = LineSettings()


def grid_segments(surface: GridSurface) -> list[tuple[float, float, float, float]]:
    """The inner grid line segments between neighbouring corners, as (x1, y1, x2, y2) in mm."""
    half_width, half_depth = surface.bounds_mm.right_mm, surface.bounds_mm.far_mm
    cell = surface.cell_mm
    segments = []
    for column in range(1, surface.columns):
        x = column * cell - half_width
        segments += [(x, row * cell - half_depth, x, (row + 1) * cell - half_depth) for row in range(surface.rows)]
    for row in range(1, surface.rows):
        y = row * cell - half_depth
        segments += [
            (column * cell - half_width, y, (column + 1) * cell - half_width, y) for column in range(surface.columns)
        ]
    return segments


@dataclass(frozen=True, eq=False)
class LineParts:
    """Halves of grid line segments in a board view, made ready once.

    ``profiles`` is a pixel map of shape (parts, offsets, points, 2) across each part; ``points`` the (row, column) of
    its own points, (parts, points, 2); ``ends`` its ends in whole pixels, (parts, 2, 2) as (column, row); ``upright``
    tells which run away from the first player, (parts,).
    """

    profiles: npt.NDArray[np.float32]
    points: npt.NDArray[np.intp]
    ends: npt.NDArray[np.int32]
    upright: npt.NDArray[np.bool_]

    def open(self, known: BoolImage) -> BoolImage:
        """Which points of each part lie where nothing known hides the board, shape (parts, points)."""
        return np.asarray(~known[self.points[..., 0], self.points[..., 1]])


def _parts(segments: npt.NDArray[np.float64], shift_mm: float, window: PlaneWindow) -> LineParts:
    starts, ways = segments[:, :2], segments[:, 2:] - segments[:, :2]
    across = np.column_stack([-ways[:, 1], ways[:, 0]]) / np.linalg.norm(ways, axis=1, keepdims=True)
    starts = starts + shift_mm * across
    along = np.stack([np.linspace(low, high, POINTS) for low, high in HALVES])
    points = starts[:, None, None, :] + along[None, :, :, None] * ways[:, None, None, :]
    points = points.reshape(-1, POINTS, 2)
    both = np.repeat(across, len(HALVES), axis=0)
    shifted = points[:, None, :, :] + np.array(OFFSETS_MM)[None, :, None, None] * both[:, None, None, :]
    column, row = window.to_pixels(shifted[..., 0], shifted[..., 1])
    profiles = np.stack([column, row], axis=-1).astype(np.float32)
    column, row = window.to_pixels(points[..., 0], points[..., 1])
    rows, columns = window.shape
    pixels = np.stack([np.clip(np.round(row), 0, rows - 1), np.clip(np.round(column), 0, columns - 1)], axis=-1)
    whole = pixels.astype(np.intp)
    ends = whole[:, (0, -1), ::-1].astype(np.int32)
    return LineParts(profiles, whole, ends, np.asarray(np.abs(both[:, 0]) > 0.5))


@dataclass(frozen=True, eq=False)
class LineEvidence:
    """What the grid lines say of each part, (parts,).

    ``gone``: log-odds that something took it away (below 0: it is to be seen; 0: can't be told); ``judged``: no piece
    hides it; ``decidable``: a line would stand out of the noise there; ``clearness``: how clear a line is there beside
    the usual (1: as clear).
    """

    gone: npt.NDArray[np.float64]
    judged: npt.NDArray[np.bool_]
    decidable: npt.NDArray[np.bool_]
    clearness: npt.NDArray[np.float64]

    @property
    def seen(self) -> npt.NDArray[np.bool_]:
        """Which parts are to be seen, (parts,)."""
        return np.asarray(self.gone < _SETTINGS.seen)

    @property
    def missing(self) -> npt.NDArray[np.bool_]:
        """Which parts something took away, (parts,)."""
        return np.asarray(self.gone > _SETTINGS.missing)


class GridLines:
    """Looks for the grid lines of one surface in views through one window."""

    def __init__(self, surface: GridSurface, window: PlaneWindow) -> None:
        segments = np.array(grid_segments(surface), dtype=np.float64)
        self.parts = _parts(segments, 0.0, window)
        self._middles = np.repeat((segments[:, :2] + segments[:, 2:]) / 2, len(HALVES), axis=0)
        middles = self.parts.points.mean(axis=1) / np.array(window.shape)
        self._where = np.column_stack([np.ones(len(middles)), middles])
        self._cell_mm = surface.cell_mm
        self._blanks = _parts(segments, surface.cell_mm / 2, window)

    def parts_around(self, centre_mm: tuple[float, float]) -> npt.NDArray[np.float64]:
        """1 for each line part along the edges of the square with that middle, 0 for the others, (parts,)."""
        away = np.abs(self._middles - np.array(centre_mm)).sum(axis=1)
        return np.asarray(away < 0.75 * self._cell_mm, dtype=np.float64)

    def look(self, grey: FloatImage, known: BoolImage, brighter: FloatImage, bleached: BoolImage) -> LineEvidence:
        """Tell which lines are gone.

        ``grey`` is the view's brightness in levels, float32; ``brighter`` by how much its log light is above that of
        the board around, smoothed, and ``bleached`` where the light is too bright for the camera, both at any one
        scale; all (rows, columns). Where a lamp is mirrored, light is added that no line takes away, and a line stands
        out by that much less.
        """
        parts = self.parts
        is_open = parts.open(known)
        dark, bright, beside, at_dark, at_bright, step = _contrasts(grey, parts, is_open)
        bare = np.asarray(is_open.mean(axis=1) >= _SETTINGS.open_share)
        scale = np.array(brighter.shape) / np.array(grey.shape)
        at = (parts.points * scale).astype(np.intp)
        too_bright = bleached[at[..., 0], at[..., 1]].mean(axis=1) > _SETTINGS.most_bleached
        judged = bare & ~too_bright
        gone, clearness = np.zeros(len(dark)), np.zeros(len(dark))
        decidable = np.zeros(len(dark), dtype=np.bool_)
        if judged.sum() < _SETTINGS.fewest_parts:
            judged = bare
        if judged.sum() < _SETTINGS.fewest_parts:
            return LineEvidence(gone, bare, decidable, clearness)
        # lines are dark on most boards and bright on some: whichever shows more is what to look for
        is_dark = float(np.median(dark[judged])) >= float(np.median(bright[judged]))
        stands_out, place = (dark, at_dark) if is_dark else (bright, at_bright)
        blank_open = self._blanks.open(known)
        blank_dark, blank_bright, *_ = _contrasts(grey, self._blanks, blank_open)
        blank = blank_dark if is_dark else blank_bright
        blank_judged = blank_open.mean(axis=1) >= _SETTINGS.open_share
        middle = at[:, POINTS // 2]
        fainter = np.exp(-2.0 / _SETTINGS.gamma * np.maximum(brighter[middle[:, 0], middle[:, 1]], 0.0))
        for upright in (False, True):
            own = bare & (parts.upright == upright)
            null = blank[blank_judged & (self._blanks.upright == upright)]
            if own.sum() >= _SETTINGS.fewest_parts and len(null) >= _SETTINGS.fewest_parts:
                gone[own], usual = _gone(stands_out[own], beside[own] * fainter[own], null)
                decidable[own] = gone[own] != 0
                found = _like_a_line(place[own], self._where[own], gone[own] < 0)
                found &= (
                    stands_out[own] <= _SETTINGS.too_strong * usual * beside[own] + 2 * _SETTINGS.least_noise_levels
                )
                gone[own] = np.where(found, gone[own], np.maximum(gone[own], 0.0))
                # in the edge of a hard shadow a line is not made out
                gone[own] = np.where(step[own] > usual * beside[own], np.minimum(gone[own], 0.0), gone[own])
                clearness[own] = stands_out[own] / np.maximum(usual * beside[own], 1e-3)
        seen = gone < 0
        white = too_bright & bare
        if not white.any() or seen[white].mean() < _SETTINGS.white_lines_seen:
            # where all is white a line may be white, too, so that nothing is missed there
            gone = np.where(too_bright, np.minimum(gone, 0.0), gone)
        return LineEvidence(gone, bare, decidable, clearness)


def _contrasts(
    grey: FloatImage, parts: LineParts, is_open: BoolImage
) -> tuple[FloatRow, FloatRow, FloatRow, IndexRow, IndexRow, FloatRow]:
    """By how many levels each part is darker and brighter than what is beside it, the level beside it, and at which
    offset it is darkest and brightest, and by how many levels one side is above the other; (parts,).
    """
    count, offsets, points, _ = parts.profiles.shape
    weight = is_open / np.maximum(is_open.sum(axis=1, keepdims=True), 1).astype(np.float32)
    levels = sample(grey, parts.profiles.reshape(count, -1, 2)).reshape(count, offsets, points)
    profile = np.einsum("kop,kp->ko", levels, weight.astype(np.float32))
    # the mean of both sides, so that a line in the edge of a shadow is still darker than what is beside it
    beside = (profile[:, :BESIDE].mean(axis=1) + profile[:, -BESIDE:].mean(axis=1)) / 2
    middle = profile[:, BESIDE:-BESIDE]
    darkest, brightest = middle.argmin(axis=1), middle.argmax(axis=1)
    step = np.abs(profile[:, :BESIDE].mean(axis=1) - profile[:, -BESIDE:].mean(axis=1))
    return beside - middle.min(axis=1), middle.max(axis=1) - beside, beside, darkest, brightest, step


def _like_a_line(place: IndexRow, where: npt.NDArray[np.float64], seen: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Which parts are found where the others say the lines are, (parts,).

    ``place`` is the offset at which each was found, ``where`` 1 and its middle's place on the board, (parts, 3). A pose
    that is a little off moves all lines a little, and evenly.
    """
    if seen.sum() < _SETTINGS.fewest_parts:
        return np.ones(len(place), dtype=np.bool_)
    usual, *_ = np.linalg.lstsq(where[seen], place[seen].astype(np.float64), rcond=None)
    return np.asarray(np.abs(place - where @ usual) < _SETTINGS.off_its_place)


def _gone(
    stands_out: npt.NDArray[np.floating], level: npt.NDArray[np.floating], null: npt.NDArray[np.floating]
) -> tuple[npt.NDArray[np.float64], float]:
    """Log-odds that lines are gone (two normal likelihoods, of a blank and of a line as faint as it may be there), and
    the usual contrast for each level of what is beside.
    """
    blank = float(np.median(null))
    noise = max(_SETTINGS.least_noise_levels, 1.4826 * float(np.median(np.abs(null - blank))))
    # a large hand takes many lines away, so what is usual is read off the better half of them
    usual = float(np.quantile(stands_out / np.maximum(level, 1.0), _SETTINGS.usual_share))
    expected = np.maximum(usual * level, 1e-3)
    seen = np.clip(stands_out, blank, expected)
    present = stands_out > 0.5 * (blank + expected)
    decidable = (expected > blank + _SETTINGS.clear_of_noise * noise) & (present.mean() > _SETTINGS.fewest_present)
    line_spread = np.hypot(noise, _SETTINGS.line_spread * expected)
    blank_spread = np.hypot(noise, _SETTINGS.blank_spread * expected)
    odds = (
        0.5 * ((seen - expected) / line_spread) ** 2
        - 0.5 * ((seen - blank) / blank_spread) ** 2
        + np.log(line_spread / blank_spread)
    )
    return np.where(decidable, np.clip(odds, -_SETTINGS.most_evidence, _SETTINGS.most_evidence), 0.0), usual
