"""What bare surface shows by its layout: lines, rim, prints and places, and where lines and rim are visible or missing.

The lengths were set by hand on the virtual table's and the ray-traced pictures; ``benchmarks/stress.py`` shows the
effect.

A change of light affects a line and its surroundings alike, so a line stays visible in shadow, in light of any colour
and, fainter, under gloss. An object on the board hides it. Each line segment is judged in two halves, by its contrast
in grey levels. The expected contrast is taken from the picture's other lines, separately for both directions (a shaken
camera blurs one of them). The noise is taken from the centres of the squares, where there are no lines.

A hand enters over the rim, and its arm continues outside. A cup, a card or a coin on the board ends at the rim.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import BoolArray, BoolImage, FloatArray, FloatImage, IndexArray
from vision.layout.pieces import GridSurface
from vision.sampling import MAD_TO_SIGMA, TONE_CURVE, PlaneWindow, median, quantile, sample
from vision.surface.view import COARSER, SurfaceColours, coarse_px, view_window


@dataclass(frozen=True)
class RimSettings:
    """Where the rim is examined, and when something is missing or new there.

    All were set by hand on the virtual table's stress pictures and the ray-traced ones; ``benchmarks/stress.py`` shows
    the effect of a change.
    """

    inside_mm: tuple[float, ...] = (5.0, 8.0, 11.0)
    """Distances inside the rim, in mm, at which colours are sampled. Larger: tolerates a worse pose, misses small
    objects.
    """
    outside_mm: tuple[float, ...] = (14.0, 19.0, 24.0, 29.0)
    """Distances outside it, in mm, beyond the board's own edge and shadow."""
    part_mm: float = 10.0
    """Length of rim, in mm, that is judged as one part. Longer: less noise, misses narrow fingers."""
    points: int = 4
    """Points along each part. More: slower."""
    fewest_parts: int = 6
    """Minimum number of visible parts of a side for it to be judged."""
    least_step: float = 0.3
    """Minimum typical step of colour from board to table, in log units, for a missing step to count. Higher: only on
    tables unlike the board.
    """
    step_gone: float = 0.35
    """Share of the typical step below which it is missing. Higher: more of the rim counts as covered."""
    crossed_parts: int = 2
    """Minimum number of parts of the rim that something reaches over. More: thin fingers are missed."""
    longest_run: int = 11
    """Maximum number of adjacent parts covered by an arm. More: shadows and other boards count as arms."""
    continues: float = 0.6
    """An object continues onto the board if the step there is below this share of the object's difference from the
    table. Higher: more objects reach in.
    """
    abrupt: float = 0.45
    """Maximum remaining difference beside an arm, as a share of the arm's. Higher: soft lights count as arms."""
    unlike_table: float = 0.25
    """Difference from the table, in log units, that indicates an object. Higher: tolerates weak lights, misses pale
    objects.
    """
    shadow_easily: float = 0.6
    """Log brightness below the table's that a shadow explains. Higher: misses dark sleeves."""
    brighter_easily: float = 0.15
    """Log brightness above it that light explains."""


_RIM_SETTINGS = RimSettings()


@dataclass(frozen=True, eq=False)
class RimEvidence:
    """The evidence of each part of the rim, (parts,).

    ``missing``: the step from board to table is not visible. ``table_differs``: the table beside it is unlike the rest.
    ``inside_differs``: the inside differs from the table. ``entered``: something narrow continues from the table over
    the rim, such as an arm or a finger. ``continues``: the inside looks like what is beside it and unlike the table.
    ``inside`` are pixels just inside the rim, as (row, column) at the coarse scale, (parts, points, 2). A condition
    holds for a region's rim if it holds for ``RimSettings.crossed_parts`` of its parts.
    """

    missing: BoolArray
    table_differs: BoolArray
    inside_differs: BoolArray
    entered: BoolArray
    continues: BoolArray
    inside: IndexArray

    def _parts_touched_by(self, pixels: BoolImage) -> BoolArray:
        hit = pixels[self.inside[..., 0], self.inside[..., 1]]
        return np.asarray(hit.mean(axis=1) >= 0.5)

    def count_missing_at(self, pixels: BoolImage) -> int:
        """Return how much missing rim a region of coarse pixels touches, in units of line parts.

        A line part is about as long as two parts of the rim.
        """
        return int((self._parts_touched_by(pixels) & self.missing).sum()) // 2

    def is_entered_by(self, pixels: BoolImage) -> bool:
        """Return whether something narrow enters over the rim where a region touches it."""
        return int((self._parts_touched_by(pixels) & self.entered).sum()) >= _RIM_SETTINGS.crossed_parts

    def continues_at(self, pixels: BoolImage) -> bool:
        """Return whether a region looks the same on both sides of the rim."""
        return int((self._parts_touched_by(pixels) & self.continues).sum()) >= _RIM_SETTINGS.crossed_parts

    def is_crossed_by(self, pixels: BoolImage) -> bool | None:
        """Return whether a region reaches over the rim; ``None`` if undecided; ``False`` if it is not near the rim."""
        touched = self._parts_touched_by(pixels)
        if not touched.any():
            return False
        if max((touched & self.table_differs).sum(), (touched & self.continues).sum()) >= _RIM_SETTINGS.crossed_parts:
            return True
        return False if float(self.inside_differs[touched].mean()) > 0.5 else None


class SurfaceRim:
    """Examines the rim of one surface in views through one window."""

    def __init__(self, surface: GridSurface, window: PlaneWindow) -> None:
        half_x, half_y = surface.bounds_mm.right_mm, surface.bounds_mm.far_mm
        inside: list[IndexArray] = []
        outside: list[IndexArray] = []
        for out_x, out_y in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            half = half_y if out_x else half_x
            count = round(2 * half / _RIM_SETTINGS.part_mm)
            along = (np.arange(count * _RIM_SETTINGS.points) + 0.5) / (count * _RIM_SETTINGS.points) * 2 * half - half
            for depths, found in (
                (-np.array(_RIM_SETTINGS.inside_mm), inside),
                (np.array(_RIM_SETTINGS.outside_mm), outside),
            ):
                x = out_x * (half_x + depths[None, :]) + (1 - abs(out_x)) * along[:, None]
                y = out_y * (half_y + depths[None, :]) + (1 - abs(out_y)) * along[:, None]
                column, row = window.to_pixels(x, y)
                found.append(coarse_px(np.stack([row, column], axis=-1)).reshape(count, -1, 2))
        shape = window.shape[0] // COARSER, window.shape[1] // COARSER
        self._inside, outer = (np.clip(np.concatenate(points), 0, np.array(shape) - 1) for points in (inside, outside))
        self._inside_at, self._outside_at = (
            np.ravel_multi_index((points[..., 0], points[..., 1]), shape) for points in (self._inside, outer)
        )
        ends = np.cumsum([len(points) for points in inside]).tolist()
        self._sides = [slice(start, end) for start, end in itertools.pairwise([0, *ends])]

    def detect(self, colours: SurfaceColours, hidden: BoolImage) -> RimEvidence:
        """Compare the colours on both sides of the rim; ``hidden`` marks pieces and pixels outside the picture."""
        rows, columns = colours.off_hue.shape
        is_seen = cv2.resize(hidden.astype(np.uint8), (columns, rows), interpolation=cv2.INTER_NEAREST) == 0
        inner, inner_open = _means(colours.logs, is_seen, self._inside_at)
        outer, outer_open = _means(colours.logs, is_seen, self._outside_at)
        judged = inner_open & outer_open
        step = np.linalg.norm(inner - outer, axis=1)
        tables, usual_steps = np.zeros_like(outer), np.zeros_like(step)
        for side in self._sides:
            own = judged[side]
            if np.count_nonzero(own) < _RIM_SETTINGS.fewest_parts:
                judged[side] = False
                continue
            tables[side] = median(outer[side][own])
            usual_steps[side] = median(step[side][own])
        beyond, within = outer - tables, inner - tables
        size, from_table = (np.linalg.norm(one, axis=1) for one in (beyond, within))
        inside_differs = judged & (_difference_from_table(within) > _RIM_SETTINGS.unlike_table)
        continues = judged & (from_table > _RIM_SETTINGS.unlike_table) & (step < _RIM_SETTINGS.step_gone * from_table)
        table_differs = judged & (_difference_from_table(beyond) > _RIM_SETTINGS.unlike_table)
        missing = (
            table_differs & (usual_steps > _RIM_SETTINGS.least_step) & (step < _RIM_SETTINGS.step_gone * usual_steps)
        )
        entered = table_differs & (step < _RIM_SETTINGS.continues * size)
        for side in self._sides if entered.any() else ():
            entered[side] &= _narrow_runs(table_differs[side], size[side] * judged[side])
        return RimEvidence(missing, table_differs, inside_differs, entered, continues, self._inside)


def _difference_from_table(off: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return the difference from the table of colours with offsets (parts, 3), as (parts,); a shadow alone does not
    count.
    """
    shade = np.maximum(off[:, 2] - _RIM_SETTINGS.brighter_easily, 0.0) + np.maximum(
        -off[:, 2] - _RIM_SETTINGS.shadow_easily, 0.0
    )
    return np.asarray(np.hypot(off[:, 0], off[:, 1]) + shade, dtype=np.float32)


def _narrow_runs(marked: BoolArray, off: npt.NDArray[np.floating]) -> BoolArray:
    """Return runs of marked parts of a side, (parts,), that are at most as long as an arm is wide, with abrupt ends.

    ``off`` is each part's difference from the table, 0 if it isn't judged; the reflection of a lamp fades in and out.
    """
    edges = np.diff(np.concatenate([[0], marked.astype(np.int8), [0]]))
    arms = np.zeros_like(marked)
    for start, end in zip(np.flatnonzero(edges == 1), np.flatnonzero(edges == -1), strict=True):
        most = float(off[start:end].max())
        before = float(off[start - 2]) if start >= 2 else 0.0
        after = float(off[end + 1]) if end + 1 < len(off) else 0.0
        arms[start:end] = end - start <= _RIM_SETTINGS.longest_run and max(before, after) < _RIM_SETTINGS.abrupt * most
    return arms


def _means(
    logs: npt.NDArray[np.float32], is_seen: BoolImage, pixels: IndexArray
) -> tuple[npt.NDArray[np.float32], BoolArray]:
    """Return the mean colour of each part's pixels, (parts, 3), and whether most of them are visible, (parts,)."""
    values = logs.reshape(-1, 3).take(pixels, axis=0)
    is_open = is_seen.ravel().take(pixels)
    count = is_open.sum(axis=1)
    weight = (is_open / np.maximum(count, 1)[:, None]).astype(np.float32)
    return np.einsum("kpc,kp->kc", values, weight), np.asarray(2 * count > pixels.shape[1])


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


_LINE_SETTINGS = LineSettings()


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


@dataclass(frozen=True)
class UsualLines:
    """How a surface's lines stand out: whether they are dark, and their contrast as a share of the level beside."""

    are_dark: bool
    contrast: float


@dataclass(frozen=True, eq=False)
class LineEvidence:
    """The evidence of each line part, (parts,).

    ``missing_log_odds``: that an object hides it (below 0: it is visible; 0: undecided). ``judged``: no piece hides it.
    ``decidable``: a line would be visible above the noise there. ``clearness``: contrast relative to the expected one.
    ``usual`` is the expected one, or ``None`` if so many lines are missing or faint that this picture doesn't show it.
    """

    missing_log_odds: FloatArray
    judged: BoolArray
    decidable: BoolArray
    clearness: FloatArray
    usual: UsualLines | None = None

    @property
    def seen(self) -> BoolArray:
        """Whether each part is visible, (parts,)."""
        return np.asarray(self.missing_log_odds < _LINE_SETTINGS.seen)

    @property
    def missing(self) -> BoolArray:
        """Whether each part is missing, (parts,)."""
        return np.asarray(self.missing_log_odds > _LINE_SETTINGS.missing)


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

    def detect(
        self,
        grey: FloatImage,
        not_bare: BoolImage,
        brighter: FloatImage,
        bleached: BoolImage,
        known: UsualLines | None = None,
    ) -> LineEvidence:
        """Find out which lines are missing; ``known`` is how they usually stand out, if this picture doesn't show it.

        All arrays are (rows, columns). ``grey`` is the view's brightness in levels, float32. ``brighter``, the log
        light above the surrounding board's, smoothed, and ``bleached``, which marks overexposure, may have any one
        scale. Where a lamp is reflected, light is added that no line absorbs, and a line's contrast is that much lower.
        """
        parts, count = self.parts, len(self.parts.points)
        is_open = self._with_blanks.open(not_bare)
        dark, bright, beside, at_dark, at_bright, step, grain = _contrasts(grey, self._with_blanks, is_open)
        is_bare = is_open.sum(axis=1) >= _LINE_SETTINGS.open_share * POINTS
        bare, beside, step, grain = is_bare[:count], beside[:count], step[:count], grain[:count]
        scale = np.array(brighter.shape) / np.array(grey.shape)
        at = (parts.points * scale).astype(np.intp)
        too_bright = bleached[at[..., 0], at[..., 1]].sum(axis=1) > _LINE_SETTINGS.most_bleached * POINTS
        judged = bare & ~too_bright
        log_odds, contrast = np.zeros(count), np.zeros_like(beside)
        if np.count_nonzero(judged) < _LINE_SETTINGS.fewest_parts:
            judged = bare
        if np.count_nonzero(judged) < _LINE_SETTINGS.fewest_parts:
            return LineEvidence(log_odds, bare, np.zeros_like(bare), np.zeros(count))
        # lines are dark on most boards and bright on some: use the polarity with more contrast
        is_dark = float(median(dark[:count][judged])) >= float(median(bright[:count][judged]))
        is_dark = is_dark if known is None else known.are_dark
        stands_out, place = (dark, at_dark) if is_dark else (bright, at_bright)
        stands_out, blank, place = stands_out[:count], stands_out[count:], place[:count]
        middle = at[:, POINTS // 2]
        fainter = np.exp(-2.0 / TONE_CURVE * np.maximum(brighter[middle[:, 0], middle[:, 1]], 0.0))
        examined, found = np.zeros((2, count), dtype=np.bool_)
        contrasts = []
        for upright in (False, True):
            own = bare & (parts.upright == upright)
            null = blank[is_bare[count:] & (parts.upright == upright)]
            if np.count_nonzero(own) >= _LINE_SETTINGS.fewest_parts:
                # on a full board, pieces hide the middles of the squares
                null = null if len(null) >= _LINE_SETTINGS.fewest_parts else grain[own]
                expected, levels = None if known is None else known.contrast, beside[own] * fainter[own]
                log_odds[own], usual, shows = _missing_log_odds(stands_out[own], levels, null, expected)
                found[own] = _agree_with_others(place[own], self._where[own], log_odds[own] < 0)
                contrast[own] = usual * beside[own]
                examined |= own
                contrasts.append(usual if shows else 0.0)
        decidable = log_odds != 0
        found &= stands_out <= _LINE_SETTINGS.too_strong * contrast + 2 * _LINE_SETTINGS.least_noise_levels
        # at the edge of a hard shadow a line can't be recognised
        log_odds = np.where(found, log_odds, np.maximum(log_odds, 0.0))
        log_odds = np.where(step > contrast, np.minimum(log_odds, 0.0), log_odds)
        clearness = np.where(examined, stands_out / np.maximum(contrast, 1e-3), 0.0)
        seen = log_odds < 0
        white = too_bright & bare
        if not white.any() or seen[white].mean() < _LINE_SETTINGS.white_lines_seen:
            # where everything is white a line may be white too, so that nothing counts as missing there
            log_odds = np.where(too_bright, np.minimum(log_odds, 0.0), log_odds)
        least = min(contrasts, default=0.0)
        shown = UsualLines(is_dark, least) if least else None
        return LineEvidence(log_odds, bare, decidable, clearness, shown)


def _contrasts(
    grey: FloatImage, parts: LineParts, is_open: BoolImage
) -> tuple[FloatRow, FloatRow, FloatRow, IndexArray, IndexArray, FloatRow, FloatRow]:
    """Return by part, (parts,): contrast in levels if dark and if bright, the level beside it, the offsets at which
    it is darkest and brightest, the difference in level between its sides, and that on one side.
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
    step, grain = np.abs(before - after), np.abs(profile[1] - profile[0])
    return beside - middle.min(axis=0), middle.max(axis=0) - beside, beside, darkest, brightest, step, grain


def _agree_with_others(place: IndexArray, where: FloatArray, seen: BoolArray) -> BoolArray:
    """Return whether each part is found at the offset predicted by the others, (parts,).

    ``place`` is the offset at which each was found, ``where`` is 1 and its centre's position on the board, (parts, 3).
    A slightly wrong pose moves all lines slightly and evenly.
    """
    if seen.sum() < _LINE_SETTINGS.fewest_parts:
        return np.ones(len(place), dtype=np.bool_)
    inputs = where[seen]
    # a small ridge term keeps the normal equations solvable when all lie in one row
    usual = np.linalg.solve(inputs.T @ inputs + 1e-6 * np.eye(inputs.shape[1]), inputs.T @ place[seen])
    return np.asarray(np.abs(place - where @ usual) < _LINE_SETTINGS.off_its_place)


def _missing_log_odds(
    stands_out: npt.NDArray[np.floating],
    level: npt.NDArray[np.floating],
    null: npt.NDArray[np.floating],
    known: float | None,
) -> tuple[FloatArray, float, bool]:
    """Return log-odds that lines are missing (the ratio of two normal likelihoods, without a line and with one as faint
    as it may be there), the expected contrast for each level of the surroundings, by default that of these lines, and
    whether these lines show it.
    """
    blank = float(median(null))
    noise = max(_LINE_SETTINGS.least_noise_levels, MAD_TO_SIGMA * float(median(np.abs(null - blank))))
    # a large hand hides many lines, so the expected contrast is taken from the better half of them
    ratios = stands_out / np.maximum(level, 1.0)
    usual = float(quantile(ratios, _LINE_SETTINGS.usual_share)) if known is None else known
    expected = np.maximum(usual * level, 1e-3)
    seen = np.minimum(np.maximum(stands_out, blank), expected)
    present = np.count_nonzero(stands_out > 0.5 * (blank + expected)) / len(stands_out)
    is_clear = expected > blank + _LINE_SETTINGS.clear_of_noise * noise
    shows = bool(min(present, is_clear.mean()) > _LINE_SETTINGS.fewest_present)
    decidable = is_clear & (known is not None or present > _LINE_SETTINGS.fewest_present)
    line_spread = np.hypot(noise, _LINE_SETTINGS.line_spread * expected)
    blank_spread = np.hypot(noise, _LINE_SETTINGS.blank_spread * expected)
    odds = (
        0.5 * ((seen - expected) / line_spread) ** 2
        - 0.5 * ((seen - blank) / blank_spread) ** 2
        + np.log(line_spread / blank_spread)
    )
    return (
        np.where(decidable, np.clip(odds, -_LINE_SETTINGS.most_evidence, _LINE_SETTINGS.most_evidence), 0.0),
        usual,
        shows,
    )


BESIDE_MM = 36.0
"""Width, in mm, of the table around the surface that a view shows too; the rim is compared with it. Larger: slower."""
PRINTED_RADIUS_MM = 15.0
"""Radius, in mm, around the centre of a place with a print that is not compared with the bare surface. Larger:
tolerates larger prints, but small objects on them are missed.
"""
RIM_MM = 2.0
"""Width, in mm, of the band inside the rim that counts as outside. Larger: tolerates a worse pose, examines less."""
DEEP_MM = 14.0
"""Minimum distance, in mm, of what lies well inside the surface from that band. Larger: fewer hands at the rim are
recognised.
"""


@dataclass(frozen=True, eq=False)
class SurfacePlan:
    """Masks and indices for views of a surface that depend only on its layout, precomputed.

    ``around`` marks for each place the line parts around it. ``never_bare`` marks the view's pixels, at its full scale,
    that never show the bare surface: those beside it, close to its rim, and of prints. At the coarse scale, ``middles``
    are the rows and columns of the places' centres, (2, places), ``beside`` and ``deep`` mark the area outside the
    board and well inside it, and ``nearest`` is the line part nearest to each pixel.
    """

    surface: GridSurface
    margin_mm: float
    window: PlaneWindow
    lines: GridLines
    rim: SurfaceRim
    around: FloatArray
    middles: IndexArray
    never_bare: BoolImage
    beside: BoolImage
    deep: BoolImage
    nearest: IndexArray

    @classmethod
    def of(cls, surface: GridSurface) -> SurfacePlan:
        """Make the plan of one surface."""
        window = view_window(surface, BESIDE_MM)
        lines = GridLines(surface, window)
        column, row = window.to_pixels(*surface.centres_mm.T)
        beside = _outside_or_near_rim(surface, window)
        coarse = beside[COARSER // 2 :: COARSER, COARSER // 2 :: COARSER]
        return cls(
            surface,
            BESIDE_MM,
            window,
            lines,
            SurfaceRim(surface, window),
            lines.parts_around(surface.centres_mm),
            coarse_px(np.array([row, column])),
            np.asarray(beside | _printed_centres(surface, window)),
            coarse,
            np.asarray(cv2.erode((~coarse).astype(np.uint8), disc_mm(2 * DEEP_MM)) > 0),
            _nearest_part(lines, (window.shape[0] // COARSER, window.shape[1] // COARSER)),
        )


@cache
def disc_mm(width_mm: float) -> npt.NDArray[np.uint8]:
    """Return a disc of that diameter, for dilating and eroding masks at the coarse scale, (rows, columns), uint8."""
    side = max(3, 2 * round(width_mm / COARSER / 2) + 1)
    return np.asarray(cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side)), dtype=np.uint8)


def _outside_or_near_rim(surface: GridSurface, window: PlaneWindow) -> BoolImage:
    """Return pixels outside the surface, or so near its rim that small errors of the pose matter."""
    beside = np.ones(window.shape, dtype=np.bool_)
    inside = surface.bounds_mm.grown(-RIM_MM)
    left, top = window.to_pixels(inside.left_mm, inside.far_mm)
    right, bottom = window.to_pixels(inside.right_mm, inside.near_mm)
    beside[round(top) : round(bottom) + 1, round(left) : round(right) + 1] = False
    return beside


def _printed_centres(surface: GridSurface, window: PlaneWindow) -> BoolImage:
    """Return pixels in the centre of places with a print."""
    printed = np.zeros(window.shape, dtype=np.uint8)
    for place in surface.printed:
        column, row = window.to_pixels(*surface.centre_mm(place))
        cv2.circle(printed, (round(column), round(row)), round(PRINTED_RADIUS_MM), 1, -1)
    return np.asarray(printed > 0)


def _nearest_part(lines: GridLines, shape: tuple[int, int]) -> IndexArray:
    """Return the index of the line part nearest to each coarse pixel."""
    away = np.full(shape, 255, dtype=np.uint8)
    for ends in lines.parts.ends // COARSER:
        cv2.line(away, ends[0].tolist(), ends[1].tolist(), 0, 1)
    _, labels = cv2.distanceTransformWithLabels(away, cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL)
    owner = np.zeros(int(labels.max()) + 1, dtype=np.intp)
    for index, ends in enumerate(lines.parts.ends // COARSER):
        own = np.zeros(shape, dtype=np.uint8)
        cv2.line(own, ends[0].tolist(), ends[1].tolist(), 1, 1)
        owner[labels[own > 0]] = index
    return np.asarray(owner[labels])
