"""A sheet of paper: its shape when it is bent, the light of bare paper, and how much of it ink absorbs.

A point of the paper above the plane of its markers is seen farther from the camera's foot: by about its distance from
that foot times its height, divided by the camera's height above the plane. The height is modelled as a polynomial of
the fourth degree, together with a correction of the pose within the plane, and fitted so that the grid's lines lie on
thin dark lines of the picture. Flat paper and strong bends serve as starting points. Each point of the grid then
searches for its line nearby, and all of them are fitted by least squares, with priors for smooth paper.

Ink absorbs a share of the light in each colour channel, and twice as much ink absorbs that share twice: the negated
logs of the remaining shares (densities) are proportional to the amount (Beer and Lambert's law).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from types import MappingProxyType
from typing import TypeVar

import cv2
import numpy as np

from common.phrases import joined
from vision.errors import LayoutError
from vision.frame import BoolArray, BoolImage, FloatArray, FloatImage, Image
from vision.geometry import CameraModel, Pose, project
from vision.layout.pieces import GridSurface, Ink
from vision.opencv import as_grey
from vision.sampling import (
    PlaneWindow,
    linear_light,
    max_channel,
    mean_channel,
    median,
    min_channel,
    plane_map,
    quantile,
    sample,
)

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
_SHADE, _SHADE_SHARE = 0.3, 0.01
"""Log units below the fitted light from which neutral paper is in shade, and the least share of a picture that is.
Lower: slower, and grey ink may count as shade.
"""
_MOST_TINT, _TINT_OF_SHADE = 0.45, 0.4
"""Strength of the colour of shaded paper, at most, and as a share of the shade's depth: ink of that strength absorbs
less. Higher: pale ink may count as shade.
"""
_LEFT_TINT = 0.2
"""The same strength once the shade's own colour is known."""
_SHADE_PX = (8.0, 4.0, 2.0, 1.0)
"""Standard deviations, in pixels at a quarter of the scale, with which the shade beside ink is continued under it: the
finest at which there is paper counts.
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
    terms = _light_terms(rows, columns)
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


def find_shade(light: FloatImage, paper: FloatImage) -> BoolImage | None:
    """Mark what may be paper in a shadow with sharp edges, which no smooth surface fits: wide and nearly as neutral as
    fitted paper, at a quarter of the scale; ``None`` if there is hardly any.
    """
    density = _small_densities(light, paper)
    _, strength = hues(density)
    depth = min_channel(density)
    shade = (depth > _SHADE) & (strength < np.minimum(_TINT_OF_SHADE * depth, np.float32(_MOST_TINT)))
    wide = cv2.morphologyEx(shade.astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), dtype=np.uint8)) > 0
    return np.asarray(wide) if wide.mean() > _SHADE_SHARE else None


def paper_in_shade(light: FloatImage, paper: FloatImage, shade: BoolImage) -> FloatImage:
    """Return the light of a sheet's bare paper where some of it is in ``shade``, as ``find_shade`` marks it."""
    density = _small_densities(light, paper)
    bare = shade | ((max_channel(density) < _SHADE) & (hues(density)[1] < _LEFT_TINT))
    for _ in range(2):
        weight = bare.astype(np.float32)
        shading = np.zeros_like(density)
        for spread_px in _SHADE_PX:
            near = cv2.GaussianBlur(weight, (0, 0), spread_px)[..., None]
            mean = cv2.GaussianBlur(density * weight[..., None], (0, 0), spread_px) / np.maximum(near, np.float32(1e-6))
            share = np.minimum(4 * near, np.float32(1.0))
            shading = np.asarray(share * mean + (1 - share) * shading, dtype=np.float32)
        bare &= hues(density - shading)[1] < _LEFT_TINT
    whole = cv2.resize(shading, light.shape[1::-1], interpolation=cv2.INTER_LINEAR)
    return np.asarray(paper * np.exp(-whole), dtype=np.float32)


def _small_densities(light: FloatImage, paper: FloatImage) -> FloatImage:
    small_light, small_paper = (
        np.asarray(cv2.resize(one, None, fx=0.25, fy=0.25, interpolation=cv2.INTER_AREA), dtype=np.float32)
        for one in (light, paper)
    )
    return densities_on(small_light, small_paper, 1e-3)


@lru_cache(maxsize=8)
def _light_terms(rows: int, columns: int) -> FloatArray:
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


@dataclass(frozen=True)
class BentPaperSettings:
    """How lines are searched for, and how paper bends. Set by hand on virtual pictures of bent sheets."""

    px_per_cell: int = 16
    """Pixels per cell of the picture in which lines are searched for."""
    margin_cells: float = 1.25
    """Margin of that picture around the grid: the maximum displacement of outer lines."""
    valley_cells: float = 0.14
    """Distance from a line, in cells, at which both sides must be brighter."""
    clear: float = 0.12
    """Share of the light absorbed by a line above which more does not count: handwriting is darker."""
    coloured: float = 0.5
    """Difference between the channels, in log units beyond that of the paper, above which a pixel is a pen's ink and no
    printed line, on sheets filled with pens. Higher: gaps in filled cells pass for lines. Lower: noise hides lines.
    """
    arches_mm: tuple[float, ...] = (-18.0, -9.0, 0.0, 9.0, 18.0)
    """Arches across and along the sheet used as starting points: heights half a diagonal from the centre, in mm."""
    twists_mm: tuple[float, ...] = (-10.0, 0.0, 10.0)
    """Twists combined with them, in mm."""
    started: int = 4
    """Number of starting points from which the fit continues."""
    searched_cells: tuple[float, ...] = (0.3, 0.22, 0.15, 0.1, 0.1)
    """Search distance of a point for its line, round by round, in cells."""
    seen_mm: float = 0.5
    """Standard deviation of the measured position of lines."""
    height_mm: tuple[float, float, float, float] = (4.0, 12.0, 4.0, 3.0)
    """Standard deviations of the height of a grid corner, from terms of the first to the fourth degree."""
    shifted_mm: float = 2.0
    """Standard deviation of the pose's error within the plane."""
    flat_cells: float = 0.06
    """Maximum displacement, in cells, of lines that lie where those of flat paper do."""
    flat_share: float = 0.9
    """Share of all visible lines that do, above which the sheet is flat and no bend is fitted."""
    seen_share: float = 0.1
    """Visible share of the grid below which that says nothing."""
    least_gain: float = 0.02
    """Minimum gain in the share of the grid that lies on lines, for paper to count as bent."""
    bend_seen_share: float = 0.1
    """Minimum share of the grid that lies on lines then: where lines are overexposed, handwriting passes for them."""
    least_bend_cells: float = 0.05
    """Maximum displacement, in cells, of paper that counts as flat."""
    between_cells: tuple[float, ...] = (-0.5, -0.35, 0.35, 0.5)
    """Distances from a line, in cells, at which a printed grid has no other line."""
    least_share: float = 0.7
    """Minimum strength of lines on the grid, as a share of those on and between its lines. In eleven kinds of light,
    26 ray-traced sheets had 0.73 to 1 unless overexposed, the tables of other games at most 0.67. Set by hand between.
    Higher: refuses more sheets.
    """
    other_columns: tuple[int, int] = (4, 24)
    """Fewest and most columns of another grid that is tried."""
    other_gain: float = 1.5
    """How many times stronger the lines on another grid must be for it to be the printed one. Virtual sheets, bent,
    blurred or written on, had 1.1 at most if ``other_share`` was reached; most wrong grids had 2 to 5.
    """
    other_share: float = 0.1
    """Minimum share of the other grid that lies on lines: writing on overexposed or hidden ones has up to 0.05."""
    bleached: float = 250.0
    """Median grey level of the grid, from 0 to 255, above which printed lines may be overexposed."""


_SETTINGS = BentPaperSettings()
_DEGREES = tuple((across, total - across) for total in range(1, 5) for across in range(total + 1))
"""The powers of x and y in each term of the height polynomial."""
_APART_PX = 3
"""Spacing of the pixels whose median gives the paper's colour; it doesn't divide a cell's width, so all parts of cells
count. Larger: faster.
"""
_STEPS_A_CELL = 4
"""Number of parts into which points divide a line between two crossings. More: less noise, slower."""


@dataclass(frozen=True, eq=False)
class PaperShape:
    """The shape of a bent sheet, as the displacement of its points on the plane of its markers.

    ``weights`` are those of the terms of ``_terms``; ``camera_mm`` is the camera's position, with z above that plane,
    and ``reach_mm`` half the grid's diagonal.
    """

    weights: FloatArray
    camera_mm: FloatArray
    reach_mm: float

    def seen_at_mm(self, points_mm: FloatArray) -> FloatArray:
        """Map points (n, 2) of the printed sheet to where they are seen on the flat plane; (n, 2)."""
        return np.asarray(points_mm + _terms(points_mm, self.camera_mm, self.reach_mm) @ self.weights)


def _terms(points_mm: FloatArray, camera_mm: FloatArray, reach_mm: float) -> FloatArray:
    """Return the displacement of points (n, 2) by each term, in mm per unit of weight: (n, 2, terms)."""
    x, y = (points_mm / reach_mm).T
    lifted = (points_mm - camera_mm[:2]) / camera_mm[2]
    heights = np.stack([x**across * y**up for across, up in _DEGREES], axis=-1)
    in_plane = np.zeros((len(points_mm), 2, 6))
    in_plane[:, 0, :3] = in_plane[:, 1, 3:] = np.column_stack([np.ones_like(x), x, y])
    return np.concatenate([lifted[:, :, None] * heights[:, None, :], in_plane], axis=2)


class _GridImage:
    """The strength of thin lines, across and along a flattened sheet, and the points of its grid."""

    def __init__(self, image: Image, camera: CameraModel, pose: Pose, surface: GridSurface) -> None:
        settings = _SETTINGS
        self._cell_mm = surface.cell_mm
        bounds = surface.bounds_mm.grown(settings.margin_cells * surface.cell_mm)
        self._window = PlaneWindow.over(bounds, surface.height_mm, settings.px_per_cell / surface.cell_mm)
        light = linear_light(sample(image, plane_map(camera, pose, self._window)))
        logs = np.log(_smooth(mean_channel(light) if light.ndim == 3 else light))
        self._lines = self._valleys(logs, 1), self._valleys(logs, 0)
        if light.ndim == 3 and Ink.on(surface).colours:
            # gaps in filled cells are no lines
            colour = _smooth(max_channel(light)) / _smooth(min_channel(light))
            usual = median(colour[::_APART_PX, ::_APART_PX].ravel())
            is_grey = colour < usual * np.float32(np.exp(settings.coloured))
            self._lines = self._lines[0] * is_grey, self._lines[1] * is_grey
        self._blurred: dict[float, tuple[FloatImage, FloatImage]] = {}
        self.camera_mm = pose.camera_position_mm - np.array([0.0, 0.0, surface.height_mm])
        self.reach_mm = float(np.hypot(surface.bounds_mm.width_mm, surface.bounds_mm.depth_mm)) / 2
        self.points_mm, self.is_upright = _grid_points(surface)
        upright = int(self.is_upright.sum())
        self._counts = (upright, len(self.points_mm) - upright)

    def _valleys(self, logs: FloatImage, axis: int) -> FloatImage:
        """Return how much darker pixels are than their surroundings on both sides along an axis, 0 to 1."""
        away = round(_SETTINGS.valley_cells * _SETTINGS.px_per_cell)
        sides = np.minimum(np.roll(logs, away, axis), np.roll(logs, -away, axis))
        return np.asarray(np.clip((sides - logs) / np.float32(_SETTINGS.clear), 0, 1), dtype=np.float32)

    def line_strength(self, points_mm: FloatArray, spread_cells: float) -> FloatArray:
        """Return the strength of lines where the grid's points are seen (..., points, 2); (..., points)."""
        if spread_cells not in self._blurred:
            spread_px = spread_cells * _SETTINGS.px_per_cell
            upright, level = (
                np.asarray(cv2.GaussianBlur(lines, (0, 0), spread_px), dtype=np.float32) for lines in self._lines
            )
            self._blurred[spread_cells] = upright, level
        pixels = self._window.pixels_of(points_mm).astype(np.float32)
        found = np.empty(points_mm.shape[:-1], dtype=np.float64)
        begin = 0
        for blurred, count in zip(self._blurred[spread_cells], self._counts, strict=True):
            own = slice(begin, begin + count)
            here = np.ascontiguousarray(pixels[..., own, :]).reshape(-1, count, 2)
            found[..., own] = sample(blurred, here).reshape(found[..., own].shape)
            begin += count
        return found

    def lines_beside(self, points_mm: FloatArray, reach_cells: float) -> tuple[FloatArray, FloatArray]:
        """Return the distance from points (n, 2) to their lines, in mm, and the lines' strength, 0 to 1; both (n,)."""
        steps = np.arange(-reach_cells, reach_cells + 1e-6, 1 / _SETTINGS.px_per_cell)
        tried = points_mm + (steps[:, None] * self._cell_mm)[..., None] * self.across
        clear = self.line_strength(tried, 0.05)
        weights = clear**2 * np.exp(-0.5 * (steps / (0.7 * reach_cells)) ** 2)[:, None]
        total = weights.sum(axis=0)
        beside = (weights * steps[:, None]).sum(axis=0) / np.maximum(total, 1e-9)
        apart = (weights * (steps[:, None] - beside) ** 2).sum(axis=0) / np.maximum(total, 1e-9)
        # with two lines in range, either may be the right one
        sureness = clear.max(axis=0) * np.exp(-apart / 0.06**2)
        return beside * self._cell_mm, sureness

    @cached_property
    def across(self) -> FloatArray:
        """The unit vector across the line of each of the grid's points, (points, 2)."""
        return np.where(self.is_upright[:, None], (1.0, 0.0), (0.0, 1.0))

    @cached_property
    def terms(self) -> FloatArray:
        """The displacement of the grid's points by each term, in mm per unit of weight: (points, 2, terms)."""
        return _terms(self.points_mm, self.camera_mm, self.reach_mm)

    @property
    def is_flat(self) -> bool:
        """Whether the visible lines lie where those of flat paper do."""
        beside, sureness = self.lines_beside(self.points_mm, _SETTINGS.searched_cells[0])
        on_line = np.abs(beside) < _SETTINGS.flat_cells * self._cell_mm
        return bool(
            sureness.mean() > _SETTINGS.seen_share
            and (sureness * on_line).sum() > _SETTINGS.flat_share * sureness.sum()
        )

    @cached_property
    def flat_share(self) -> float:
        """Share of the grid that lies on lines if the paper is flat."""
        return float(self.line_strength(self.points_mm, 0.06).mean())


def _smooth(light: FloatImage) -> FloatImage:
    """Return light without its finest noise, and a little more than 0 everywhere."""
    return np.asarray(cv2.GaussianBlur(light, (0, 0), 0.7) + np.float32(0.02), dtype=np.float32)


def _grid_points(surface: GridSurface) -> tuple[FloatArray, BoolArray]:
    """Return points on the grid's lines, off their crossings, (n, 2), and whether each is on an upright line, (n,):
    first those that are.
    """
    bounds, cell = surface.bounds_mm, surface.cell_mm
    inner = (np.arange(_STEPS_A_CELL - 1) + 1) / _STEPS_A_CELL

    def along(count: int, first: float) -> FloatArray:
        return np.asarray(first + cell * (np.arange(count)[:, None] + inner).ravel())

    def lines(count: int, first: float) -> FloatArray:
        return np.asarray(first + cell * np.arange(count + 1))

    x, y = np.meshgrid(lines(surface.columns, bounds.left_mm), along(surface.rows, bounds.near_mm), indexing="ij")
    upright = np.column_stack([x.ravel(), y.ravel()])
    x, y = np.meshgrid(along(surface.columns, bounds.left_mm), lines(surface.rows, bounds.near_mm))
    level = np.column_stack([x.ravel(), y.ravel()])
    return np.concatenate([upright, level]), np.arange(len(upright) + len(level)) < len(upright)


def paper_shape(image: Image, camera: CameraModel, pose: Pose, surface: GridSurface) -> PaperShape | None:
    """Estimate the shape of a sheet in a picture; ``None`` if it is flat or too few lines are visible."""
    return _shape_of(_GridImage(image, camera, pose, surface), surface)


def _shape_of(seen: _GridImage, surface: GridSurface) -> PaperShape | None:
    if seen.is_flat:
        return None
    best: tuple[float, FloatArray] | None = None
    for start in _best_starts(seen):
        weights = _fit_weights(seen, start)
        share = float(seen.line_strength(seen.points_mm + seen.terms @ weights, 0.06).mean())
        if best is None or share > best[0]:
            best = (share, weights)
    least_share = max(_SETTINGS.bend_seen_share, (1 + _SETTINGS.least_gain) * seen.flat_share)
    if best is None or best[0] < least_share:
        return None
    off_mm = np.linalg.norm(seen.terms @ best[1], axis=1)
    if off_mm.max() < _SETTINGS.least_bend_cells * surface.cell_mm:
        return None
    return PaperShape(best[1], seen.camera_mm, seen.reach_mm)


def _grid_seen(image: Image, camera: CameraModel, pose: Pose, surface: GridSurface) -> tuple[_GridImage, FloatArray]:
    """Return the image of a sheet's lines, and where its grid's points are seen if it is bent, (points, 2)."""
    seen = _GridImage(image, camera, pose, surface)
    shape = _shape_of(seen, surface)
    return seen, seen.points_mm if shape is None else shape.seen_at_mm(seen.points_mm)


def lacks_grid(image: Image, camera: CameraModel, pose: Pose, surface: GridSurface) -> bool:
    """Return whether a sheet's printed lines are certainly not where its markers say; overexposed lines may be there.

    ``image`` is height x width (x 3), uint8.
    """
    seen, points_mm = _grid_seen(image, camera, pose, surface)
    pixels = project(camera, pose, np.column_stack([points_mm, np.full(len(points_mm), surface.height_mm)]))
    if np.median(sample(as_grey(image), pixels.astype(np.float32)[None])) > _SETTINGS.bleached:
        return False
    across_mm = seen.across * surface.cell_mm
    beside_mm = np.stack([points_mm + cells * across_mm for cells in _SETTINGS.between_cells])
    on = float(seen.line_strength(points_mm, 0.06).mean())
    between = float(seen.line_strength(beside_mm, 0.06).mean())
    return on <= _SETTINGS.least_share * (on + between)


def has_other_grid(image: Image, camera: CameraModel, pose: Pose, surface: GridSurface) -> bool:
    """Return whether a sheet is certainly printed with another number of columns than ``surface`` has.

    ``image`` is height x width (x 3), uint8. Multiples and divisors are not told apart: half of the lines are the same.
    """
    seen, points_mm = _grid_seen(image, camera, pose, surface)
    own = float(seen.line_strength(points_mm, 0.06).mean())
    fewest, most = _SETTINGS.other_columns
    rows_a_column = surface.bounds_mm.depth_mm / surface.bounds_mm.width_mm
    others = [
        surface.divided(columns, max(1, round(columns * rows_a_column)))
        for columns in range(fewest, most + 1)
        if columns % surface.columns and surface.columns % columns
    ]
    other = max((_GridImage(image, camera, pose, each).flat_share for each in others), default=0.0)
    return other > max(_SETTINGS.other_share, _SETTINGS.other_gain * own)


def _best_starts(seen: _GridImage) -> list[FloatArray]:
    """Return the starting points with the best agreement, out of bends and the flat sheet."""
    squares = {(2, 0): _SETTINGS.arches_mm, (0, 2): _SETTINGS.arches_mm, (1, 1): _SETTINGS.twists_mm}
    bends = np.array(list(product(*squares.values())))
    tried = np.zeros((len(bends), seen.terms.shape[2]))
    tried[:, [_DEGREES.index(powers) for powers in squares]] = bends
    # one product of two plain matrices is many times faster than a sum over indices
    moved = (tried @ seen.terms.reshape(-1, tried.shape[1]).T).reshape(len(tried), -1, 2)
    shares = seen.line_strength(seen.points_mm + moved, 0.12).mean(axis=1)
    return list(tried[np.argsort(-shares)[: _SETTINGS.started]])


def _fit_weights(seen: _GridImage, weights: FloatArray) -> FloatArray:
    """Fit the weights so that the grid's points lie on the lines beside them, round by round."""
    axis = np.where(seen.is_upright, 0, 1)
    slopes = seen.terms[np.arange(len(axis)), axis]
    spreads_mm = [*(_SETTINGS.height_mm[across + up - 1] for across, up in _DEGREES), *[_SETTINGS.shifted_mm] * 6]
    keep = np.diag(1 / np.square(spreads_mm))
    for reach_cells in _SETTINGS.searched_cells:
        moved = slopes @ weights
        beside, sureness = seen.lines_beside(seen.points_mm + seen.terms @ weights, reach_cells)
        weighted = slopes * (sureness / _SETTINGS.seen_mm**2 / _STEPS_A_CELL)[:, None]
        weights = np.asarray(np.linalg.solve(weighted.T @ slopes + keep, weighted.T @ (moved + beside)))
    return weights
