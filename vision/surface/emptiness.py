"""How much each place looks like bare surface, in which case nothing stands there."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.layout.surfaces import GridSurface
from vision.sampling import linear_light_table
from vision.surface.occlusion import SurfaceEvidence
from vision.surface.place_evidence import PlaceEvidence
from vision.surface.view import PX_PER_MM, RectifiedView


@dataclass(frozen=True)
class EmptinessSettings:
    """How each doubt counts against a place being bare.

    Odds are log-odds; shares go from 0 to 1. All were set by hand until the virtual table's stress pictures and the
    ray-traced pictures came out right; none is fitted. ``benchmarks/stress.py`` shows what a change does.
    """

    empty_log_odds: float = 9.0
    """Odds of a place that shows its surface and leaves no doubt. Higher: surer of bare places."""
    behind_pieces_log_odds: float = 5.0
    """Odds of a place hidden behind pieces while nothing covers the board. Higher: surer of what is not seen."""
    least_log_odds: float = -1.0
    """Odds below which no surface is held. Lower: a strange surface may say more surely that something stands there."""
    hard_to_see_log_odds: float = 3.0
    """Odds that remain, whatever the doubt, of a place that is only hard to see. Higher: more of them called bare."""
    unseen_log_odds: float = 4.2
    """Most odds of a place whose lines can't be seen, or that is near glare. Higher: surer there."""
    gone_cost: float = 0.4
    """Odds lost for each part of a line around the place that is gone."""
    middle_side_mm: float = 27.0
    """Side of the square in a place's middle that is looked at, in mm. Larger: more is seen, and more of the lines
    and of what stands beside it.
    """
    least_open_share: float = 0.2
    """Share of that square that must be in sight for the place to be judged by it."""
    smoothing_mm: float = 1.0
    """Standard deviation, in mm, by which the picture is smoothed before its evenness is measured. Larger: less
    noise, fainter edges.
    """
    dark_floor: float = 0.01
    """Linear light added before logarithms are taken. Higher: noise in the dark counts less, and so do edges there."""
    undisturbed_share: float = 0.85
    """Share of all line parts that must be seen for the board to count as covered by nothing."""
    lines_seen_share: float = 0.5
    """Share of the line parts around a place that must be seen for full odds."""
    lines_gone_share: float = 0.3
    """Share of them that may be gone."""
    veiled_clearness: float = 0.6
    """Clearness of the lines around a place, beside the usual, below which it has no full odds."""
    faint_clearness: float = 0.7
    """Clearness below which faint lines excuse no more: what veils them would veil a piece's edges as much."""
    easily_uneven: float = 0.6
    """How much rougher than most places a place may be without doubt, as a log ratio. Higher: more grain is let
    pass, and more pieces.
    """
    printed_uneven: float = 1.6
    """The same for a place on which something is printed."""
    uneven_cost: float = 7.0
    """Odds lost for each unit of roughness beyond that."""
    dim_level: float = 26.0
    """Mean grey level, of 255, below which a place is too dark to show edges."""
    dim_cost: float = 0.35
    """Odds lost for each level below it."""
    dim_most: float = 5.2
    """Most odds lost by darkness."""
    bleached_level: int = 253
    """Brightest channel, of 255, from which a pixel counts as too bright for the camera."""
    bleached_easily: float = 0.25
    """Share of such pixels that raises no doubt."""
    bleached_cost: float = 6.0
    """Odds lost for the whole share beyond that."""
    clear_clearness: float = 0.9
    """Clearness of lines from which brightness is a lamp's light and not gloss."""
    clear_spread: float = 0.15
    """How far below that it is gloss for certain."""
    brighter_easily: float = 0.15
    """Log brightness above the board's that raises no doubt where lines are faint."""
    brighter_cost: float = 25.0
    """Odds lost for each unit of log brightness beyond that."""
    strange_easily: float = 0.08
    """Share of the place's middle with a strange look that raises no doubt."""
    strange_cost: float = 40.0
    """Odds lost for the whole share beyond that."""
    off_hue_easily: float = 0.3
    """Share of what a piece there would hide that may be of another hue."""
    off_hue_cost: float = 30.0
    """Odds lost for the whole share beyond that."""


def emptiness(
    view: RectifiedView,
    surface: GridSurface,
    sight: SurfaceEvidence,
    settings: EmptinessSettings = EmptinessSettings(),
) -> dict[str, float]:
    """How much each place looks like bare board, as log-odds that hold at most ``empty_log_odds``.

    A bare place shows its surface, is not bleached, has the board's colour, and is as even as most other places are.
    Where the grid lines around it are fainter than they ought to be, a piece that stands there may be as hard to see.
    """
    board = _board(view, surface)
    colours = np.ascontiguousarray(view.colours[board])
    grey = np.asarray(cv2.cvtColor(colours, cv2.COLOR_BGR2GRAY), dtype=np.uint8)
    shade = np.asarray(cv2.LUT(grey, _log_light(settings.dark_floor)), dtype=np.float32)
    shade = np.asarray(cv2.GaussianBlur(shade, (0, 0), settings.smoothing_mm * PX_PER_MM), dtype=np.float32)
    slope = np.asarray(cv2.magnitude(cv2.Sobel(shade, cv2.CV_32F, 1, 0), cv2.Sobel(shade, cv2.CV_32F, 0, 1)))
    middles = _middles(surface, grey.shape, settings.middle_side_mm)
    is_open = ~(view.hidden_by_pieces[board] | view.outside[board])[middles]
    blue, green, red = cv2.split(colours)
    bleached = np.asarray(cv2.max(cv2.max(blue, green), red))[middles] >= settings.bleached_level
    counts = is_open.sum(axis=(1, 2))
    steep = (slope[middles] * is_open).sum(axis=(1, 2), dtype=np.float64)
    bright = (bleached & is_open).sum(axis=(1, 2))
    levels = (grey[middles] * is_open).sum(axis=(1, 2), dtype=np.int64)
    full = is_open[0].size
    shares = counts / full
    unevenness = np.maximum(steep / np.maximum(counts, 1.0), 1e-6)
    seen = counts > 0
    usual = float(np.median(unevenness[seen])) if seen.any() else 1.0
    lines = sum(place.lines for place in sight.places.values())
    lines_seen = sum(place.lines_seen for place in sight.places.values())
    undisturbed = not sight.occlusions and lines_seen > settings.undisturbed_share * lines
    odds = {}
    for index, place in enumerate(surface.places):
        around = sight.places.get(place)
        if shares[index] < settings.least_open_share:
            odds[place] = settings.behind_pieces_log_odds if undisturbed else settings.unseen_log_odds
            continue
        rougher = math.log(float(unevenness[index]) / usual)
        easily = settings.printed_uneven if place in surface.printed else settings.easily_uneven
        if around is not None:
            # what veils the lines would veil a piece's edges as much
            rougher -= math.log(min(1.0, max(0.1, around.clearness / settings.faint_clearness)))
        doubt = settings.uneven_cost * max(0.0, rougher - easily)
        # in the dark the few grey levels that are left hold no edges
        dim = settings.dim_level - float(levels[index] / counts[index])
        doubt += min(settings.dim_most, max(0.0, settings.dim_cost * dim))
        doubt += settings.bleached_cost * max(0.0, float(bright[index] / counts[index]) - settings.bleached_easily)
        most, coloured = settings.empty_log_odds, 0.0
        if around is not None:
            # brighter with fainter lines is gloss, brighter with lines as clear as ever is a lamp's light
            veiled = min(1.0, max(0.0, (settings.clear_clearness - around.clearness) / settings.clear_spread))
            doubt += settings.brighter_cost * veiled * max(0.0, around.brighter - settings.brighter_easily)
            most = _most_odds(around, settings)
            coloured = settings.strange_cost * max(0.0, around.strange_share - settings.strange_easily)
            # a piece whose top can't be made out still shows its colour
            coloured += settings.off_hue_cost * max(0.0, around.off_hue_share - settings.off_hue_easily)
        # a place that is hard to see is bare more often than not; one of another colour is anything
        hardly_seen = max(settings.hard_to_see_log_odds, min(settings.empty_log_odds - doubt, most))
        odds[place] = max(settings.least_log_odds, hardly_seen - coloured)
    return odds


def _most_odds(around: PlaceEvidence, settings: EmptinessSettings) -> float:
    """How bare a place may be called at most, by the grid lines around it."""
    if around.near_glare:
        return settings.unseen_log_odds
    enough = around.lines_seen >= settings.lines_seen_share * around.lines
    if (
        enough
        and around.lines_gone < settings.lines_gone_share * max(around.lines, 1)
        and around.clearness > settings.veiled_clearness
    ):
        return settings.empty_log_odds
    return settings.unseen_log_odds - settings.gone_cost * around.lines_gone


def _log_light(floor: float) -> npt.NDArray[np.float32]:
    """The log of linear light for each of 256 grey levels; a floor keeps the dark from being all noise."""
    return np.asarray(np.log(linear_light_table() + np.float32(floor)), dtype=np.float32)


def _board(view: RectifiedView, surface: GridSurface) -> tuple[slice, slice]:
    """The part of a view that shows the board, without what is beside it."""
    bounds = surface.bounds_mm
    left, top = view.window.to_pixels(bounds.left_mm, bounds.far_mm)
    right, bottom = view.window.to_pixels(bounds.right_mm, bounds.near_mm)
    return slice(round(top + 0.5), round(bottom + 0.5)), slice(round(left + 0.5), round(right + 0.5))


def _middles(
    surface: GridSurface, shape: tuple[int, int], side_mm: float
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Rows (places, n, 1) and columns (places, 1, n) of the middle of each place in a view of the board alone."""
    centres = surface.centres_mm * PX_PER_MM
    rows, columns = shape
    half = round(side_mm / 2 * PX_PER_MM)
    steps = np.arange(-half, half)
    column = np.round(centres[:, 0] + columns / 2 - 0.5).astype(np.intp)[:, None] + steps
    row = np.round(rows / 2 - centres[:, 1] - 0.5).astype(np.intp)[:, None] + steps
    return np.clip(row, 0, rows - 1)[:, :, None], np.clip(column, 0, columns - 1)[:, None, :]
