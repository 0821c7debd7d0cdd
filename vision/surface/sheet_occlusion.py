"""Occlusions of a sheet of paper: a hand that reaches in over its margin, or an object that lies on it.

Ink is thin, or has the colour of a pen; paper is white up to its edge, except for thin print. Anything else is an
occlusion, and so is whatever hides the printed grid, even if it is as pale as paper. Colours are log shares of the
paper's own light; a shadow takes the same share from all channels.

A coloured region may be cells that somebody filled, or an object with the colour of ink. Whoever fills a cell keeps to
its lines, more or less: inside its border it is coloured nearly everywhere, and little is spilt into the next one. An
object lies across lines, hides them, and covers some cells only in part; a coin is round. Otherwise its hue tells, if
the pens' hues are known from other cells: a pen lays down the same hue everywhere.

Pale and grey objects are found by the lines that they cover. Each corner of the grid has four arms, halves of the line
segments that meet there. An arm is missing where the paper is evenly bright across it. Handwriting covers a line here
and there, but leaves no even surface, so a corner whose four arms are all missing is covered by an object, and so is a
cell with most of the arms around it. The expected contrast of a line is the median of the arms, or a higher quantile
where paper hides most of them, without those beside a filled cell, separately for both directions (a shaken camera
blurs one of them); the noise is taken from the centres of the cells.

Where light is too strong, or too weak, neither lines nor ink show. So a cell is as well seen as the lines around it, or
whatever ink lies over them, stand out from the noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import BoolArray, BoolImage, FloatArray, FloatImage
from vision.geometry import CameraModel, Pose
from vision.layout.pieces import GridSurface, Ink
from vision.reading import HindranceKind
from vision.sampling import (
    MAD_TO_SIGMA,
    PixelMap,
    PlaneWindow,
    max_channel,
    mean_channel,
    median,
    min_channel,
    quantile,
    sample,
)
from vision.surface.occlusion import Occlusion, SurfaceEvidence, regions
from vision.surface.paper import (
    PaperShape,
    densities_on,
    find_shade,
    fit_bare_paper,
    hues,
    nearest_turn,
    paper_in_shade,
    usual_hues,
)
from vision.surface.view import RectifiedView, SurfaceSampler, view_window

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
_MOST_AROUND, _FEW_AROUND = 8, 2
"""Number of arms around most cells, and how many of them may show less than what counts."""
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
    bare_share: float = 0.05
    """Share of the cells' middles that show bare paper even on a full sheet. Higher: on full sheets, ink is taken for
    noise.
    """
    usual_noise: float = 2.1
    noise_spread: float = 0.75
    """How uneven bare paper usually is, and the standard deviation of that, as multiples of the ``bare_share`` of the
    least uneven: as on unwritten ray-traced sheets. Higher: more of a noisy sheet counts as unseen.
    """
    gone: float = 0.3
    """Share of the expected contrast below which an arm is missing. Higher: faint lines count as covered."""
    shown: float = 0.5
    """The same share above which it is seen. Higher: less counts as paper in shade."""
    even: float = 0.5
    """Maximum spread of the light across a covered arm, as a share of the expected contrast. Higher: ink counts too."""
    most_light: float = 0.88
    """Linear light (0 to 1) of all channels above which lines may be overexposed: light hides what is not seen there.
    """
    lamp: float = 0.7
    """Log brightness above that of the sheet's darker cells from which light hides it too: a lamp's reflection adds
    light that no line absorbs. Lower: pale things on a shaded sheet count as light.
    """
    darker_share: float = 0.25
    """Share of the cells that are darker than those."""
    around_cell: float = 0.75
    """Share of the arms around a cell, four at the grid's edge and eight elsewhere, that are missing where an object
    covers it. Higher: objects of a cell's size that leave an arm in sight are missed.
    """
    reach_cells: float = 1.0
    """Half width, in cells, of the square around a covered corner or cell that counts as covered. The object's edge
    lies somewhere between 0.5 cells and the next corner.
    """


_LINE_SETTINGS = SheetLineSettings()


@dataclass(frozen=True, eq=False)
class ArmEvidence:
    """What shows of each corner's arms, (corners, 4): nothing that is darker, nothing at all, a line. All are false
    where the lines are too faint or blurred to judge.
    """

    missing: BoolArray
    even: BoolArray
    seen: BoolArray
    depth: FloatArray
    """How much darker each arm is than what is beside it, in log units."""
    shown: FloatArray
    """How much more the light varies along each cell's sides than on bare paper, in log units, (cells,)."""
    grain: float
    """The standard deviation of that on bare paper."""
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
        # the arms around each cell, in turn, as often as there is room for: a cell in a corner has two, most have eight
        self._beside = np.array([np.resize(np.flatnonzero(own), _MOST_AROUND) for own in around], dtype=np.intp)
        judged = around.sum(axis=1) >= _FEWEST_AROUND
        self._around = around[judged] / around[judged].sum(axis=1, keepdims=True)
        columns, rows = window.to_pixels(*np.concatenate([corners_mm, surface.centres_mm[judged]]).T)
        self._rows, self._columns = np.round(rows).astype(np.intp), np.round(columns).astype(np.intp)
        self._reach_px = round(_LINE_SETTINGS.reach_cells * cell * window.px_per_mm)

    def examine(self, light: FloatImage) -> ArmEvidence:
        """Examine all arms in the view's linear light, (rows, columns, 3)."""
        if not len(self._arms):
            # a single row or column has no corners
            nothing = np.zeros((0, 4), dtype=np.bool_)
            return ArmEvidence(nothing, nothing, nothing, np.zeros((0, 4)), np.full(len(self._beside), np.inf), 0.0)
        is_bright = bool(median(light[self._rows, self._columns].min(axis=1)) > _LINE_SETTINGS.bleached_light)
        logs = np.log(mean_channel(light) + np.float32(_LINE_SETTINGS.floor))
        contrast, spread = _across(logs, self._arms)
        blank, uneven = _across(logs, self._blanks)
        # overexposed paper shows no noise, and ink is uneven: the least uneven of the rest are bare
        noisy = uneven[uneven > _LINE_SETTINGS.least_noise]
        least = float(quantile(noisy, _LINE_SETTINGS.bare_share)) if noisy.size else 0.0
        usual, grain = _LINE_SETTINGS.usual_noise * least, _LINE_SETTINGS.noise_spread * least
        shown = np.asarray(np.sort(spread.ravel()[self._beside], axis=1)[:, _FEW_AROUND] - usual)
        depth = contrast.astype(np.float64)
        missing, even, seen = (np.zeros(contrast.shape, dtype=np.bool_) for _ in range(3))
        for way, between in ((slice(0, 2), blank[:, 0]), (slice(2, 4), blank[:, 1])):
            no_line = float(median(between))
            measured = MAD_TO_SIGMA * float(median(np.abs(between - no_line)))
            noise = max(measured, _LINE_SETTINGS.least_noise)
            lines = contrast[:, way]
            if self._is_filled:
                # where only one side is coloured, there is a step and no line
                lines = lines[lines > no_line - _LINE_SETTINGS.step * noise]
            is_full = lines.size <= _LINE_SETTINGS.least_clear * contrast[:, way].size
            # the few lines that an overexposed sheet shows may be ink
            is_bleached = is_bright and measured < _LINE_SETTINGS.least_noise
            shares = _LINE_SETTINGS.usual_shares[:1] if is_bleached else _LINE_SETTINGS.usual_shares
            likely = [] if is_full else [float(quantile(lines.ravel(), share)) for share in shares]
            expected = next((one for one in likely if one >= no_line + _LINE_SETTINGS.clear_of_noise * noise), None)
            if expected is None:
                nothing = missing & False
                return ArmEvidence(nothing, nothing, nothing, depth, shown, grain, are_seen=is_full or is_bleached)
            even[:, way] = spread[:, way] < _LINE_SETTINGS.even * (expected - no_line)
            seen[:, way] = contrast[:, way] > no_line + _LINE_SETTINGS.shown * (expected - no_line)
            missing[:, way] = even[:, way] & (contrast[:, way] < no_line + _LINE_SETTINGS.gone * (expected - no_line))
        return ArmEvidence(missing, even, seen, depth, shown, grain)

    def too_bright(self, light: FloatImage) -> tuple[BoolImage, BoolImage]:
        """Mark the pixels of a view's linear light, (rows, columns, 3), where light would hide lines, if these don't
        show; and those of them that are brighter than paper can be in the light of the rest.
        """
        grey = mean_channel(light)
        # the corners come first, and lines are dark
        cells = grey[self._rows, self._columns][len(self._arms) :]
        usual = float(quantile(cells, _LINE_SETTINGS.darker_share)) if len(cells) else 1.0
        lamp = grey > usual * np.float32(np.exp(_LINE_SETTINGS.lamp))
        return np.asarray(lamp | (min_channel(light) > _LINE_SETTINGS.most_light)), np.asarray(lamp)

    def mark_covered(self, lines: ArmEvidence, light: FloatImage, without: BoolImage) -> BoolImage:
        """Mark the pixels around covered corners and cells, (rows, columns).

        ``light`` is the view that was examined. Corners and cells in ``without`` are not judged: those under ink or
        outside the picture.
        """
        pixels = np.zeros(self._shape, dtype=np.bool_)
        bright = light[self._rows, self._columns].min(axis=1) > _LINE_SETTINGS.most_light
        judged = ~(bright | without[self._rows, self._columns])
        cells = self._around @ lines.missing.ravel() >= _LINE_SETTINGS.around_cell
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


Cells = npt.NDArray[np.int64]

_ACROSS = np.array([[[-1.0, 0.0], [1.0, 0.0]]] * 2 + [[[0.0, -1.0], [0.0, 1.0]]] * 2)
"""Steps from each arm of a corner to the cells on both sides."""
_DIAGONALS = np.array([[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]])
"""Steps from a corner to the four cells around it."""


@dataclass(frozen=True)
class FilledCellSettings:
    """When colour counts as spilt over a line by an object. Set by hand on virtual and ray-traced pictures."""

    border_cells: float = 0.25
    """Width, in cells, of the border of a cell that may be left bare, or coloured from the next cell."""
    outer_border_cells: float = 0.45
    """The same around the grid."""
    begun: float = 0.15
    """Coloured share of a cell, inside its border, above which something is in it."""
    filled: float = 0.8
    """The same share above which somebody filled it."""
    half: float = 0.5
    """The same if the lines beside it show, as they do through most ink."""
    round: float = 0.6
    """Coloured share of the far quarters of the four cells around a hidden corner, below which nobody filled them."""
    coin_cells: float = 1.2
    """Area, in cells, above which a coloured round region is a coin and not a dot drawn into a cell."""
    round_share: float = 0.8
    """Share of the smallest circle around it that a round region fills; a square fills 0.64."""
    own_hue_deg: float = 15.0
    """Maximum distance of ink's hue, in degrees, from the median of the sheet's cells filled with that pen."""
    known_cells: int = 3
    """Minimum number of such cells for knowing that median."""
    reach_cells: float = 1.5
    """Distance from such a cell, in cells, within which the same coloured region counts as the object."""


_CELL_SETTINGS = FilledCellSettings()


class FilledCells:
    """Examines the coloured regions of one sheet in views through one window.

    ``on_grid`` marks the pixels of the grid, ``beyond`` those so far beside it that no ink is spilt there.
    ``arms_mm`` are the middles of the arms of the grid's corners, (corners, 4, 2); see ``SheetLines``.
    """

    def __init__(self, surface: GridSurface, window: PlaneWindow, arms_mm: FloatArray) -> None:
        rows, columns = window.shape
        bounds, cell_px = surface.bounds_mm, surface.cell_mm * window.px_per_mm
        left, near = window.to_pixels(bounds.left_mm, bounds.near_mm)
        across, up = (np.arange(columns) - left) / cell_px, (near - np.arange(rows)) / cell_px
        column, row = np.floor(across), np.floor(up)
        on_grid = ((column >= 0) & (column < surface.columns))[None, :] & ((row >= 0) & (row < surface.rows))[:, None]
        number = column[None, :] + surface.columns * row[:, None] + 1
        self._cells = np.where(on_grid, number, 0).astype(np.int64)
        self.on_grid: BoolImage = np.asarray(on_grid)
        self._count = surface.columns * surface.rows + 1
        off = np.maximum(np.abs(across - column - 0.5)[None, :], np.abs(up - row - 0.5)[:, None])
        self._inner = np.asarray((off < 0.5 - _CELL_SETTINGS.border_cells) & on_grid)
        outside = [np.maximum(-at, at - count) for at, count in ((across, surface.columns), (up, surface.rows))]
        self.beyond: BoolImage = np.asarray(
            np.maximum(outside[0][None, :], outside[1][:, None]) > _CELL_SETTINGS.outer_border_cells
        )
        self._inner |= self.beyond
        self._area = np.maximum(np.bincount(self._cells[self._inner], minlength=self._count), 1)
        self._area[0] = self._area[1]
        self._cell_px = cell_px
        self._reach_px = round(_CELL_SETTINGS.reach_cells * cell_px)
        quarters = np.floor(2 * across)[None, :] + 2 * surface.columns * np.floor(2 * up)[:, None] + 1
        self._quarters = np.where(on_grid, quarters, 0).astype(np.int64)
        self.arms, self._beside_arms = _indices_and_labels(arms_mm, _ACROSS * surface.cell_mm / 2, window, self._cells)
        corners_mm = arms_mm.mean(axis=1)
        self._corners, self._far = _indices_and_labels(
            corners_mm, _DIAGONALS * surface.cell_mm * 0.75, window, self._quarters
        )

    def mark_objects(self, ink: BoolImage, solid: BoolImage, even: BoolArray) -> BoolImage:
        """Mark objects with the colour of ink.

        ``ink`` are all pixels of such a colour, ``solid`` those of regions wider than strokes; ``even`` says for each
        corner's arms whether nothing shows there, (corners, 4).
        """
        share = self._shares(ink)
        hidden = even.all(axis=1)
        round_corner = hidden & (_shares(ink, self._quarters)[self._far].mean(axis=1) < _CELL_SETTINGS.round)
        count, regions = cv2.connectedComponents(solid.astype(np.uint8), connectivity=8)
        pairs = regions[self._inner].astype(np.int64) * self._count + self._cells[self._inner]
        covered = np.bincount(pairs, minlength=count * self._count).reshape(count, self._count) / self._area
        reached = covered > _CELL_SETTINGS.begun
        line_hidden = np.zeros_like(reached)
        line_hidden[np.where(even, regions[self.arms], 0)[..., None], self._beside_arms] = True
        line_hidden[:, 0] = True
        partly = reached & (share < np.where(line_hidden, _CELL_SETTINGS.filled, _CELL_SETTINGS.half))
        at_every_corner = regions[self._corners]
        at_corners = np.where(round_corner, at_every_corner, 0)
        partly[at_corners, self._cells[self._corners]] = True
        found = np.zeros_like(solid)
        reach = np.ones((2 * self._reach_px + 1,) * 2, np.uint8)
        for number in np.flatnonzero((reached.sum(axis=1) > 1) & partly.any(axis=1)):
            if number:
                region = regions == number
                spilt = region & partly[number][self._cells]
                # a wide one hides every line of the cells that it covers whole
                spilt[tuple(at[hidden & (at_every_corner == number)] for at in self._corners)] = True
                found |= region & (cv2.dilate(spilt.astype(np.uint8), reach) > 0)
        return np.asarray(found)

    def mark_coins(self, ink: BoolImage, solid: BoolImage) -> BoolImage:
        """Mark round regions larger than a cell: nobody fills cells in that shape, so they are coins.

        ``ink`` are the pixels in one pen's colour, ``solid`` those of its regions wider than strokes, and of what is
        beside the grid.
        """
        found = np.zeros_like(solid)
        _, regions, measures, _ = cv2.connectedComponentsWithStats(solid.astype(np.uint8), connectivity=8)
        areas = measures[:, cv2.CC_STAT_AREA]
        for number in np.unique(regions[ink & solid]):
            if areas[number] > _CELL_SETTINGS.coin_cells * self._cell_px**2:
                region = regions == number
                _, radius_px = cv2.minEnclosingCircle(cv2.convexHull(np.argwhere(region).astype(np.float32)))
                if areas[number] > _CELL_SETTINGS.round_share * np.pi * (radius_px + 0.5) ** 2:
                    found |= region
        return found

    def mark_foreign_hues(
        self, hue: FloatImage, ink: BoolImage, usual_deg: FloatArray, usual_within_deg: float
    ) -> BoolImage:
        """Mark pixels of ink whose hue is far from those of all pens, which are fitted to the sheet's filled cells
        where there are enough; ``usual_deg`` are the hues of the other pens.
        """
        off = nearest_turn(hue[ink] - usual_deg.astype(np.float32)[:, None])
        inner = self._inner[ink]
        off_inside = off[:, inner]
        nearest, cells = np.abs(off_inside).argmin(axis=0), self._cells[ink][inner]
        total = np.bincount(cells, minlength=self._count)
        filled = self._shares(ink) > _CELL_SETTINGS.filled
        filled[0] = False
        far = np.ones(off.shape[1], dtype=np.bool_)
        for number in range(len(usual_deg)):
            own = nearest == number
            pixels = np.bincount(cells[own], minlength=self._count)
            distance = np.bincount(cells[own], off_inside[number, own], minlength=self._count)
            known = filled & (2 * pixels > total)
            if known.sum() >= _CELL_SETTINGS.known_cells:
                middle, within = float(np.median(distance[known] / pixels[known])), _CELL_SETTINGS.own_hue_deg
            else:
                middle, within = 0.0, usual_within_deg
            far &= np.abs(nearest_turn(off[number] - np.float32(middle))) > within
        found = np.zeros_like(ink)
        found[ink] = far
        return found

    def shares_of(self, pixels: BoolImage) -> FloatArray:
        """Return the marked share of each cell inside its border, in the order of the surface's places, (cells,)."""
        return self._shares(pixels)[1:]

    def _shares(self, pixels: BoolImage) -> FloatArray:
        """Return the marked share of each cell inside its border; the first is what is beside the grid, in cells."""
        return np.asarray(np.bincount(self._cells[pixels & self._inner], minlength=self._count) / self._area)


def _indices_and_labels(
    points_mm: FloatArray, steps_mm: FloatArray, window: PlaneWindow, labels: Cells
) -> tuple[tuple[Cells, Cells], Cells]:
    """Return rows and columns of points in the view, and the labels at steps from them."""
    at = np.round(window.pixels_of(points_mm)).astype(np.intp)
    beside = np.round(window.pixels_of(points_mm[..., None, :] + steps_mm)).astype(np.intp)
    return (at[..., 1], at[..., 0]), np.asarray(labels[beside[..., 1], beside[..., 0]])


def _shares(pixels: BoolImage, labels: Cells) -> FloatArray:
    """Return the marked share of the pixels with each label."""
    total = np.bincount(labels.ravel())
    return np.asarray(np.bincount(labels[pixels], minlength=len(total)) / np.maximum(total, 1))


@dataclass(frozen=True)
class SheetOcclusionSettings:
    """Thresholds for what covers a sheet. All were set by hand on ray-traced and virtual pictures."""

    coloured: float = 0.3
    """Minimum difference between the channels of a pixel, in log units, that a shadow does not explain."""
    dark: float = 1.5
    """Log units below the paper's light at which a pixel is too dark for a shadow."""
    floor: float = 0.03
    """Light, relative to paper, added before logarithms are taken."""
    stroke_mm: float = 5.0
    """Regions narrower than that many mm are strokes or print."""
    reaching_mm2: float = 60.0
    """Minimum area of the margin, in mm², hidden by something that reaches in over it."""
    beside_grid_mm2: float = 500.0
    """Maximum area, in mm², of a die, cap or pen that lies on the margin and no cell. Higher: more fingertips there
    count as such a thing, which does not keep the referee waiting."""
    lying_cells: float = 1.6
    """Minimum area within the grid, in cells, of an object on a handwritten sheet; less may be a blot."""
    grey_cells: float = 0.4
    """The same on a sheet that is filled with pens, where a blot has a pen's colour."""
    off_hue_cells: float = 0.5
    """Minimum area, in cells, of an object with a hue between those of the sheet's inks."""
    lit_share: float = 0.6
    """Share of the lines in a dark region that show, above which it is paper in shade. Higher: dark shadows count as
    objects.
    """
    fewest_hidden: int = 2
    """Number of hidden halves of lines from which something lies on them. Higher: more is blamed on bad light."""
    light_share: float = 0.5
    """Share of a region in strong light above which light hides it, and no object."""
    least_step: float = 0.004
    """Least noise, in log units, when it is asked what stands out: half a grey level of white paper. Higher: more cells
    in strong light count as unseen.
    """
    faint_ink: float = 0.1
    """The same as a share of what the sheet's clearest lines show: the reader of ink misses some that stands out from
    the noise. Higher: more cells at the rim of strong light count as unseen.
    """
    faint_ink_of_pens: float = 0.22
    """The same as a share of the usual line of a sheet that is filled with pens: what is thin enough to show a part of
    the lines hides ink. Higher: more cells in uneven light count as unseen. Set on virtual pictures of pale cloth and
    fur.
    """
    clearest_share: float = 0.9
    """Share of the cells that are less clear than those."""
    diluted: float = 2.5
    """The most standard deviations by which a pen's ink stands out under a lamp's reflection. Higher: more certain."""
    least_step_of_pens: float = 0.03
    """The least noise of a sheet that is filled with pens, where light is not strong: pale pens absorb no more than
    printed lines. Higher: more cells count as unseen in haze.
    """
    edge_cells: float = 0.3
    """Distance, in cells, from an object within which the sheet counts as hidden, so that its edge is not read."""
    pen_hue_deg: float = 32.0
    """Minimum distance from all pens' hues, in degrees, of an object that lies on a grid of filled cells."""
    reaching_hue_deg: float = 11.0
    """The same of one that reaches in over the margin: skin has a hue between those of red and yellow pens."""
    least_strength: float = 0.25
    """Minimum strength of a pen's ink, in log units."""
    least_saturation: float = 0.45
    """The same as a multiple of what all channels lose. Higher: dark ink in shadow counts as an object."""
    warm_saturation: float = 1.1
    """The same for red to yellow ink, which lets red light pass; brown wood and dark skin don't."""
    lit_saturation: float = 1.6
    """Multiple of these below which pixels beside an object belong to it."""
    warm_deg: float = 60.0
    """Maximum distance of such hues from 0 degrees."""


_SETTINGS = SheetOcclusionSettings()


@dataclass(frozen=True, eq=False)
class SheetPlan:
    """What a sheet's views have in common, wherever the camera is: its lines, its cells, its pens' usual hues in
    degrees, the paper beside the grid without the corners, where markers are, and how many pixels around an object
    count as hidden.
    """

    surface: GridSurface
    margin_mm: float
    margin: BoolImage
    lines: SheetLines
    cells: FilledCells
    pens_deg: FloatArray
    edge_px: int

    @classmethod
    def of(cls, surface: GridSurface) -> SheetPlan:
        """Prepare a sheet."""
        ink = Ink.on(surface)
        margin_mm = ink.margin_mm(surface)
        window = view_window(surface, margin_mm)
        lines = SheetLines(surface, window)
        width_px = round(margin_mm)
        rows, columns = window.shape
        y, x = np.ogrid[:rows, :columns]
        beside_x = (x < width_px) | (x >= columns - width_px)
        beside_y = (y < width_px) | (y >= rows - width_px)
        margin = np.asarray(beside_x ^ beside_y)
        cells = FilledCells(surface, window, lines.arms_mm)
        edge_px = round(_SETTINGS.edge_cells * surface.cell_mm)
        return cls(surface, margin_mm, margin, lines, cells, usual_hues(ink.colours), edge_px)


class SheetOcclusionDetector:
    """Finds the occlusions of one sheet, seen from one camera position."""

    def __init__(self, camera: CameraModel, pose: Pose, plan: SheetPlan, shape: PaperShape | None = None) -> None:
        self.sampler = SurfaceSampler(camera, pose, plan.surface, plan.margin_mm, shape)
        self._plan = plan

    def detect(self, view: RectifiedView) -> SurfaceEvidence:
        """Find what covers the sheet."""
        plan = self._plan
        lines = plan.lines.examine(view.light)
        density, odd = self._densities_and_marks(view, lines)
        hue, off_pens_deg, saturation = self._hues(density)
        ink = saturation > 1.0
        filled = ink & (off_pens_deg < _SETTINGS.pen_hue_deg)
        found: list[Occlusion] = []
        reaching = [
            pixels
            for pixels in _wide_regions(odd & ~(ink & (off_pens_deg < _SETTINGS.reaching_hue_deg)))
            if (pixels & plan.margin & plan.cells.beyond).sum() > _SETTINGS.reaching_mm2
        ]
        least_cells = _SETTINGS.grey_cells if len(plan.pens_deg) else _SETTINGS.lying_cells
        lying = [
            pixels
            for pixels in _wide_regions(odd & ~filled)
            if float((pixels & plan.cells.on_grid).sum()) > least_cells * plan.surface.cell_mm**2
        ]
        coloured = filled & (saturation > _SETTINGS.lit_saturation)
        if lying:
            # its lit side may be nearly as colourful as ink
            whole = _wide_regions(odd & ~coloured)
            lying = [pixels for pixels in whole if any((pixels & one).any() for one in lying)]
        too_bright, lamp = plan.lines.too_bright(view.light)
        objects = plan.lines.mark_covered(lines, view.light, coloured | view.outside)
        objects |= self._objects_like_ink(odd, filled, hue, lines.even)
        for pixels in lying:
            objects |= pixels
        # light hides lines too, and so does ink on both sides
        hidden_arms = lines.missing & ~(too_bright | filled)[plan.cells.arms]

        def hides_lines(pixels: BoolImage) -> bool:
            return int(hidden_arms[pixels[plan.cells.arms]].sum()) >= _SETTINGS.fewest_hidden

        for pixels in regions(objects, 1):
            touching = [one for one in reaching if (pixels & one).any()]
            for one in touching:
                one |= pixels
            if not touching:
                kind = (
                    HindranceKind.GLARE if too_bright[pixels].mean() > _SETTINGS.light_share else HindranceKind.OBJECT
                )
                found.append(_occlusion(kind, pixels, hides_lines(pixels), plan.edge_px))
        for pixels in reaching:
            beside = not (pixels & plan.cells.on_grid).any() and pixels.sum() < _SETTINGS.beside_grid_mm2
            found.append(
                _occlusion(HindranceKind.OBJECT if beside else HindranceKind.HAND, pixels, hides_lines(pixels))
            )
        found.sort(key=lambda occlusion: -occlusion.area_mm2)
        glare = plan.cells.shares_of(too_bright) > _SETTINGS.light_share
        if len(plan.pens_deg):
            # the edges of filled cells are no measure of how clear lines are, nor are the thick lines around a part
            depths = lines.depth[lines.seen]
            faintest = _SETTINGS.faint_ink_of_pens * (float(quantile(depths, 0.5)) if depths.size else 0.0)
        else:
            faintest = _SETTINGS.faint_ink * float(quantile(lines.shown, _SETTINGS.clearest_share))
        least = np.where(glare | (not len(plan.pens_deg)), _SETTINGS.least_step, _SETTINGS.least_step_of_pens)
        least = np.maximum(least, faintest)
        noise = np.maximum(lines.grain, least)
        clearness = lines.shown / noise
        if len(plan.pens_deg):
            # white light dilutes the colours of pens
            diluted = plan.cells.shares_of(lamp) > _SETTINGS.light_share
            clearness = np.where(diluted, np.minimum(clearness, _SETTINGS.diluted), clearness)
        cells = {"clearness": clearness, "glare": glare.astype(np.float64)}
        return SurfaceEvidence(tuple(found), cells, are_lines_seen=lines.are_seen)

    def _densities_and_marks(self, view: RectifiedView, lines: ArmEvidence) -> tuple[FloatImage, BoolImage]:
        """Return densities on the sheet, and a mask of pixels that are neither paper nor shadow.

        Where it is dark and the lines still show, it is a shadow.
        """
        light = np.asarray(cv2.GaussianBlur(view.light, (0, 0), 1.0), dtype=np.float32)
        paper = fit_bare_paper(light)
        shade = find_shade(light, paper)
        if shade is not None:
            shade = self._with_lines(shade, lines)
            paper = paper_in_shade(light, paper, shade) if shade.any() else paper
        density = densities_on(light, paper, _SETTINGS.floor)
        least = min_channel(density)
        odd = (max_channel(density) - least > _SETTINGS.coloured) | (least > _SETTINGS.dark)
        return density, np.asarray(odd & ~view.outside)

    def _with_lines(self, shade: BoolImage, lines: ArmEvidence) -> BoolImage:
        """Return the regions of a mask at a quarter of the scale in which most lines show that ink leaves open."""
        scale = np.array(shade.shape) / self._plan.margin.shape
        arms = np.array(self._plan.cells.arms).reshape(2, -1)
        rows, columns = np.minimum((arms * scale[:, None]).astype(np.intp), np.array(shade.shape)[:, None] - 1)
        count, labels = cv2.connectedComponents(shade.astype(np.uint8), connectivity=8)
        seen, missing = (
            np.bincount(labels[rows, columns], arms.ravel(), minlength=count) for arms in (lines.seen, lines.missing)
        )
        is_paper = seen > _SETTINGS.lit_share * np.maximum(seen + missing, 1)
        is_paper[0] = False
        return np.asarray(is_paper[labels])

    def _objects_like_ink(self, odd: BoolImage, filled: BoolImage, hue: FloatImage, even: BoolArray) -> BoolImage:
        """Return objects with a pen's colour: they lie across lines, or their hue is not that of the sheet's other
        cells.
        """
        plan = self._plan
        if not len(plan.pens_deg):
            return np.zeros_like(odd)
        ink = np.asarray(odd & filled)
        found = plan.cells.mark_objects(ink, _wider_than_strokes(odd & (filled | plan.margin)), even)
        for own in _by_pen(hue, ink, plan.pens_deg):
            solid = _wider_than_strokes(own | (odd & plan.margin))
            found |= plan.cells.mark_coins(own, solid) | plan.cells.mark_objects(own, solid, even)
        foreign = plan.cells.mark_foreign_hues(hue, ink, plan.pens_deg, _SETTINGS.pen_hue_deg)
        for pixels in _wide_regions(foreign):
            if float(pixels.sum()) > _SETTINGS.off_hue_cells * plan.surface.cell_mm**2:
                found |= pixels
        return found

    def _hues(self, density: FloatImage) -> tuple[FloatImage, FloatImage, FloatImage]:
        """Return the hue of each pixel and its distance from the nearest pen's hue, in degrees, and its saturation as a
        multiple of the least one of ink; all are 0 where no pen can have been.
        """
        hue, off, saturation = (np.zeros(self._plan.margin.shape, dtype=np.float32) for _ in range(3))
        if not len(self._plan.pens_deg):
            return hue, off, saturation
        least = min_channel(density)
        # a colour is at most so many times as strong as its channels differ
        inked = (max_channel(density) - least > _SETTINGS.least_strength / np.sqrt(2.0)) & ~self._plan.margin
        own, strength = hues(density[inked])
        hue[inked] = own
        off[inked] = reduce(np.minimum, (np.abs(nearest_turn(own - np.float32(pen))) for pen in self._plan.pens_deg))
        lowest = np.where(np.abs(own) < _SETTINGS.warm_deg, _SETTINGS.warm_saturation, _SETTINGS.least_saturation)
        saturation[inked] = strength / np.maximum(_SETTINGS.least_strength, lowest * least[inked])
        return hue, off, saturation


def _wide_regions(odd: BoolImage) -> list[BoolImage]:
    """Return the connected regions of a mask that are wider than strokes."""
    return regions(_wider_than_strokes(odd), 1)


def _wider_than_strokes(odd: BoolImage) -> BoolImage:
    side = 2 * round(_SETTINGS.stroke_mm / 2) + 1
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side))
    return np.asarray(cv2.morphologyEx(odd.astype(np.uint8), cv2.MORPH_OPEN, disc) > 0)


def _by_pen(hue: FloatImage, ink: BoolImage, pens_deg: FloatArray) -> list[BoolImage]:
    """Return the pixels of ink whose hue is nearest to that of each pen, without the pens that have none."""
    nearest = np.abs(nearest_turn(hue[ink] - pens_deg.astype(np.float32)[:, None])).argmin(axis=0)
    inks = []
    for number in np.unique(nearest):
        own = np.zeros_like(ink)
        own[ink] = nearest == number
        inks.append(own)
    return inks


def _occlusion(kind: HindranceKind, pixels: BoolImage, hides_lines: bool, edge_px: int = 0) -> Occlusion:
    """Return the occlusion by something on these pixels, which hides as many more around it."""
    hidden = cv2.dilate(pixels.astype(np.uint8), np.ones((2 * edge_px + 1, 2 * edge_px + 1), np.uint8)) > 0
    return Occlusion(kind, np.asarray(hidden), float(pixels.sum()), hides_lines)
