"""Where a sheet's printed grid is hidden: pale and grey objects are found by the lines that they cover.

Each corner of the grid has four arms, halves of the line segments that meet there. An arm is missing where the paper is
evenly bright across it. Handwriting covers a line here and there, but leaves no even surface, so a corner whose four
arms are all missing is covered by an object, and so is a cell with most of the arms around it. The expected contrast of
a line is the median of the arms, or a higher quantile where paper hides most of them, without those beside a filled
cell, separately for both directions (a shaken camera blurs one of them); the noise is taken from the centres of the
cells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vision.frame import BoolArray, BoolImage, FloatArray, FloatImage
from vision.layout.pieces import Ink
from vision.layout.surfaces import GridSurface
from vision.sampling import MAD_TO_SIGMA, PixelMap, PlaneWindow, mean_channel, median, quantile, sample

_ACROSS_CELLS = (-0.23, -0.17, -0.06, -0.04, -0.02, 0.0, 0.02, 0.04, 0.06, 0.17, 0.23)
"""Offsets, in cells, at which the light across an arm is measured; the outer two on each side are paper."""
_BESIDE = 2
"""Number of offsets on each side that are paper."""
_ALONG_CELLS = (0.08, 0.47)
"""Start and end of an arm, in cells from its corner."""
_POINTS = 8
"""Number of points along an arm. More: less noise, slower."""
_FEWEST_AROUND = 4
"""Minimum number of arms around a cell that is judged: not those in the grid's corners."""
_ARMS = ((0, 1), (0, -1), (1, 0), (-1, 0))
"""Directions of a corner's arms, (x, y): first those along upright lines, then those along level ones."""


@dataclass(frozen=True)
class SheetLineSettings:
    """When a corner of the printed grid counts as covered. Set by hand on virtual and ray-traced pictures."""

    floor: float = 0.02
    """Linear light (0 to 1) added before logarithms are taken, against noise in the dark."""
    step: float = 3.0
    """How much darker than an arm's middle one side must be, in multiples of the noise, to be the edge of a filled
    cell. Higher: more edges count as lines.
    """
    least_clear: float = 0.2
    """Share of arms without such an edge above which the sheet is judged. Higher: full sheets are not judged."""
    clear_of_noise: float = 6.0
    """Minimum contrast of the lines, in multiples of the noise. Higher: blurred sheets are not judged."""
    usual_shares: tuple[float, ...] = (0.5, 0.8, 0.94)
    """Quantiles of the arms' contrast, tried in turn as the expected one until one is clear: where paper hides most
    lines, only the higher ones are those of lines. Higher: more of the sheet may be covered. Set by hand on photographs
    of which a part was painted over: up to 80 % of the grid may be hidden.
    """
    least_noise: float = 0.0005
    """Least noise of the paper, in log units: compression may leave none. A sheet with less noise that is brighter than
    ``bleached_light`` is overexposed, and only the first of ``usual_shares`` counts. Higher: paper over bright sheets
    goes unnoticed.
    """
    bleached_light: float = 0.8
    """Median linear light (0 to 1) of the darkest channel above which a sheet without noise is overexposed. Lower:
    paper over sheets goes unnoticed in compressed pictures. Set by hand on ray-traced sheets at nine exposures, with
    JPEG of quality 50 to 90.
    """
    gone: float = 0.3
    """Share of the expected contrast below which an arm is missing. Higher: faint lines count as covered."""
    even: float = 0.5
    """Maximum spread of the light across a covered arm, as a share of the expected contrast. Higher: ink counts too."""
    most_light: float = 0.88
    """Linear light (0 to 1) of all channels above which lines may be overexposed, and a corner is not judged."""
    around_cell: float = 0.75
    """Share of the arms around a cell, four at the grid's edge and eight elsewhere, that are missing where an object
    covers it. Higher: objects of a cell's size that leave an arm in sight are missed.
    """
    reach_cells: float = 1.0
    """Half width, in cells, of the square around a covered corner or cell that counts as covered. The object's edge
    lies somewhere between 0.5 cells and the next corner.
    """


_SETTINGS = SheetLineSettings()


@dataclass(frozen=True, eq=False)
class ArmEvidence:
    """What shows of each corner's arms, (corners, 4): nothing that is darker, nothing at all. Both are false where the
    lines are too faint or blurred to judge.
    """

    missing: BoolArray
    even: BoolArray
    are_seen: bool = True
    """Whether lines show, or ink may lie over most of them."""


class SheetLines:
    """Examines the grid lines of one sheet in views through one window.

    ``arms_mm`` are the middles of each corner's arms, (corners, 4, 2).
    """

    def __init__(self, surface: GridSurface, window: PlaneWindow) -> None:
        self._shape = window.shape
        self._is_filled = isinstance(surface.pieces, Ink) and bool(surface.pieces.colours)
        bounds, cell = surface.bounds_mm, surface.cell_mm
        x, y = np.meshgrid(
            bounds.left_mm + cell * np.arange(1, surface.columns), bounds.near_mm + cell * np.arange(1, surface.rows)
        )
        corners_mm = np.column_stack([x.ravel(), y.ravel()])
        middle = cell * (_ALONG_CELLS[0] + _ALONG_CELLS[1]) / 2 * np.array(_ARMS)
        self.arms_mm = corners_mm[:, None, :] + middle
        self._arms = _profiles(corners_mm, cell, window)
        # shifted by half a cell they lie between the lines; one each way is enough for the noise
        self._blanks = _profiles(corners_mm + cell / 2, cell, window)[:, ::2]
        off_mm = np.abs(self.arms_mm.reshape(1, -1, 2) - surface.centres_mm[:, None]).max(axis=2)
        around = np.asarray(off_mm < 0.6 * cell)
        judged = around.sum(axis=1) >= _FEWEST_AROUND
        self._around = around[judged] / around[judged].sum(axis=1, keepdims=True)
        columns, rows = window.to_pixels(*np.concatenate([corners_mm, surface.centres_mm[judged]]).T)
        self._rows, self._columns = np.round(rows).astype(np.intp), np.round(columns).astype(np.intp)
        self._reach_px = round(_SETTINGS.reach_cells * cell * window.px_per_mm)

    def examine(self, light: FloatImage) -> ArmEvidence:
        """Examine all arms in the view's linear light, (rows, columns, 3)."""
        if not len(self._arms):
            # a single row or column has no corners
            return ArmEvidence(np.zeros((0, 4), dtype=np.bool_), np.zeros((0, 4), dtype=np.bool_))
        is_bright = bool(median(light[self._rows, self._columns].min(axis=1)) > _SETTINGS.bleached_light)
        logs = np.log(mean_channel(light) + np.float32(_SETTINGS.floor))
        contrast, spread = _across(logs, self._arms)
        blank, _ = _across(logs, self._blanks)
        missing, even = np.zeros(contrast.shape, dtype=np.bool_), np.zeros(contrast.shape, dtype=np.bool_)
        for way, between in ((slice(0, 2), blank[:, 0]), (slice(2, 4), blank[:, 1])):
            no_line = float(median(between))
            measured = MAD_TO_SIGMA * float(median(np.abs(between - no_line)))
            noise = max(measured, _SETTINGS.least_noise)
            lines = contrast[:, way]
            if self._is_filled:
                # where only one side is coloured, there is a step and no line
                lines = lines[lines > no_line - _SETTINGS.step * noise]
            is_full = lines.size <= _SETTINGS.least_clear * contrast[:, way].size
            # the few lines that an overexposed sheet shows may be ink
            is_bleached = is_bright and measured < _SETTINGS.least_noise
            shares = _SETTINGS.usual_shares[:1] if is_bleached else _SETTINGS.usual_shares
            likely = [] if is_full else [float(quantile(lines.ravel(), share)) for share in shares]
            expected = next((one for one in likely if one >= no_line + _SETTINGS.clear_of_noise * noise), None)
            if expected is None:
                return ArmEvidence(np.zeros_like(missing), np.zeros_like(even), are_seen=is_full or is_bleached)
            even[:, way] = spread[:, way] < _SETTINGS.even * (expected - no_line)
            missing[:, way] = even[:, way] & (contrast[:, way] < no_line + _SETTINGS.gone * (expected - no_line))
        return ArmEvidence(missing, even)

    def mark_covered(self, lines: ArmEvidence, light: FloatImage, without: BoolImage) -> BoolImage:
        """Mark the pixels around covered corners and cells, (rows, columns).

        ``light`` is the view that was examined. Corners and cells in ``without`` are not judged: those under ink or
        outside the picture.
        """
        pixels = np.zeros(self._shape, dtype=np.bool_)
        bright = light[self._rows, self._columns].min(axis=1) > _SETTINGS.most_light
        judged = ~(bright | without[self._rows, self._columns])
        cells = self._around @ lines.missing.ravel() >= _SETTINGS.around_cell
        for number in np.flatnonzero(np.concatenate([lines.missing.all(axis=1), cells]) & judged):
            row, column = self._rows[number], self._columns[number]
            pixels[
                max(0, row - self._reach_px) : row + self._reach_px + 1,
                max(0, column - self._reach_px) : column + self._reach_px + 1,
            ] = True
        return pixels


def _profiles(corners_mm: FloatArray, cell_mm: float, window: PlaneWindow) -> PixelMap:
    """Return the pixel map across each arm of each corner, (corners, arms, offsets, points, 2)."""
    along = np.linspace(*_ALONG_CELLS, _POINTS)
    maps = []
    for way in np.array(_ARMS, dtype=np.float64):
        across = np.array([-way[1], way[0]])
        steps = along[None, :, None] * way + np.array(_ACROSS_CELLS)[:, None, None] * across
        points = corners_mm[:, None, None, :] + cell_mm * steps
        maps.append(window.pixels_of(points))
    return np.stack(maps, axis=1).astype(np.float32)


def _across(logs: FloatImage, maps: PixelMap) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return how much darker the middle of each arm is than the paper beside it, and the spread of the light across it,
    in log units, (corners, arms). Medians along the arm leave out a stroke that crosses it.
    """
    count = maps.shape[0] * maps.shape[1]
    levels = sample(logs, maps.reshape(count, -1, 2)).reshape(maps.shape[:-1])
    profile = median(levels, axis=3)
    beside = np.minimum(profile[..., :_BESIDE].mean(axis=2), profile[..., -_BESIDE:].mean(axis=2))
    darkest = profile[..., _BESIDE:-_BESIDE].min(axis=2)
    return beside - darkest, profile.max(axis=2) - profile.min(axis=2)
