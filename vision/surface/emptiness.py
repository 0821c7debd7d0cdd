"""How much each place looks like bare surface, in which case nothing stands there."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import FloatArray
from vision.layout.surfaces import GridSurface
from vision.sampling import linear_light_table
from vision.surface.occlusion import PlaceEvidence, SurfaceEvidence
from vision.surface.view import PX_PER_MM, RectifiedView

EMPTY_LOG_ODDS, BEHIND_PIECES_LOG_ODDS, LEAST_EMPTY_LOG_ODDS = 9.0, 5.0, -1.0
HARD_TO_SEE_LOG_ODDS = 3.0
MIDDLE_SIDE_MM = 27.0
BLEACHED_LEVEL, BLEACHED_EASILY, BLEACHED_COST = 253, 0.25, 6.0
LEAST_OPEN_SHARE = 0.2
UNDISTURBED_SHARE = 0.85
LINES_SEEN_SHARE, LINES_GONE_SHARE, VEILED = 0.5, 0.3, 0.6
UNSEEN_LOG_ODDS, GONE_COST = 4.2, 0.4
EASILY_UNEVEN, PRINTED_UNEVEN, UNEVEN_COST = 0.6, 1.6, 7.0
FAINT = 0.7
STRANGE_EASILY, STRANGE_COST = 0.08, 40.0
OFF_HUE_EASILY, OFF_HUE_COST = 0.3, 30.0
BRIGHTER_EASILY, BRIGHTER_COST = 0.15, 25.0
CLEAR, CLEAR_SPREAD = 0.9, 0.15
DIM_LEVEL, DIM_COST, DIM_MOST = 26.0, 0.35, 5.2


def emptiness(view: RectifiedView, surface: GridSurface, sight: SurfaceEvidence) -> dict[str, float]:
    """How much each place looks like bare board, as log-odds that hold at most ``EMPTY_LOG_ODDS``.

    A bare place shows its surface, is not bleached, has the board's colour, and is as even as most other places are.
    Where the grid lines around it are fainter than they ought to be, a piece that stands there may be as hard to see.
    """
    board = _board(view, surface)
    colours = np.ascontiguousarray(view.colours[board])
    grey = np.asarray(cv2.cvtColor(colours, cv2.COLOR_BGR2GRAY), dtype=np.uint8)
    shade = np.asarray(cv2.LUT(grey, _log_light()), dtype=np.float32)
    shade = np.asarray(cv2.GaussianBlur(shade, (0, 0), 1.0 * PX_PER_MM), dtype=np.float32)
    slope = cv2.magnitude(cv2.Sobel(shade, cv2.CV_32F, 1, 0), cv2.Sobel(shade, cv2.CV_32F, 0, 1))
    blue, green, red = cv2.split(colours)
    bleached = np.asarray(cv2.max(cv2.max(blue, green), red) >= BLEACHED_LEVEL)
    is_open = ~(view.hidden_by_pieces[board] | view.outside[board])
    counts = _window_sums(is_open.astype(np.uint8), surface)
    steep = _window_sums(np.where(is_open, slope, np.float32(0.0)), surface)
    bright = _window_sums((bleached & is_open).astype(np.uint8), surface)
    levels = _window_sums(np.where(is_open, grey, np.uint8(0)), surface)
    full = (2 * round(MIDDLE_SIDE_MM / 2 * PX_PER_MM)) ** 2
    shares = counts / full
    unevenness = np.maximum(steep / np.maximum(counts, 1.0), 1e-6)
    seen = counts > 0
    usual = float(np.median(unevenness[seen])) if seen.any() else 1.0
    lines = sum(place.lines for place in sight.places.values())
    lines_seen = sum(place.lines_seen for place in sight.places.values())
    undisturbed = not sight.occlusions and lines_seen > UNDISTURBED_SHARE * lines
    odds = {}
    for index, place in enumerate(surface.places):
        around = sight.places.get(place)
        if shares[index] < LEAST_OPEN_SHARE:
            odds[place] = BEHIND_PIECES_LOG_ODDS if undisturbed else UNSEEN_LOG_ODDS
            continue
        rougher = float(np.log(unevenness[index] / usual))
        easily = PRINTED_UNEVEN if place in surface.printed else EASILY_UNEVEN
        if around is not None:
            # what veils the lines would veil a piece's edges as much
            rougher -= float(np.log(np.clip(around.clearness / FAINT, 0.1, 1.0)))
        doubt = UNEVEN_COST * max(0.0, rougher - easily)
        # in the dark the few grey levels that are left hold no edges
        dim = DIM_LEVEL - float(levels[index] / counts[index])
        doubt += float(np.clip(DIM_COST * dim, 0.0, DIM_MOST))
        doubt += BLEACHED_COST * max(0.0, float(bright[index] / counts[index]) - BLEACHED_EASILY)
        most, coloured = EMPTY_LOG_ODDS, 0.0
        if around is not None:
            # brighter with fainter lines is gloss, brighter with lines as clear as ever is a lamp's light
            veiled = float(np.clip((CLEAR - around.clearness) / CLEAR_SPREAD, 0.0, 1.0))
            doubt += BRIGHTER_COST * veiled * max(0.0, around.brighter - BRIGHTER_EASILY)
            most = _most_odds(around)
            coloured = STRANGE_COST * max(0.0, around.strange_share - STRANGE_EASILY)
            # a piece whose top can't be made out still shows its colour
            coloured += OFF_HUE_COST * max(0.0, around.off_hue_share - OFF_HUE_EASILY)
        # a place that is hard to see is bare more often than not; one of another colour is anything
        hardly_seen = max(HARD_TO_SEE_LOG_ODDS, min(EMPTY_LOG_ODDS - doubt, most))
        odds[place] = max(LEAST_EMPTY_LOG_ODDS, hardly_seen - coloured)
    return odds


def _most_odds(around: PlaceEvidence) -> float:
    """How bare a place may be called at most, by the grid lines around it."""
    if around.near_glare:
        return UNSEEN_LOG_ODDS
    enough = around.lines_seen >= LINES_SEEN_SHARE * around.lines
    if enough and around.lines_gone < LINES_GONE_SHARE * max(around.lines, 1) and around.clearness > VEILED:
        return EMPTY_LOG_ODDS
    return UNSEEN_LOG_ODDS - GONE_COST * around.lines_gone


def _log_light() -> npt.NDArray[np.float32]:
    """The log of linear light for each of 256 grey levels; a floor keeps the dark from being all noise."""
    return np.asarray(np.log(linear_light_table() + np.float32(0.01)), dtype=np.float32)


def _board(view: RectifiedView, surface: GridSurface) -> tuple[slice, slice]:
    """The part of a view that shows the board, without what is beside it."""
    bounds = surface.bounds_mm
    left, top = view.window.to_pixels(bounds.left_mm, bounds.far_mm)
    right, bottom = view.window.to_pixels(bounds.right_mm, bounds.near_mm)
    return slice(round(top + 0.5), round(bottom + 0.5)), slice(round(left + 0.5), round(right + 0.5))


def _window_sums(values: npt.NDArray[np.uint8] | npt.NDArray[np.float32], surface: GridSurface) -> FloatArray:
    """The sum of values over the board, (rows, columns), in each place's middle, in the surface's order."""
    total = cv2.integral(values, sdepth=cv2.CV_64F)
    centres = np.array([surface.centre_mm(place) for place in surface.places]) * PX_PER_MM
    rows, columns = values.shape
    column, row = centres[:, 0] + columns / 2 - 0.5, rows / 2 - centres[:, 1] - 0.5
    half = round(MIDDLE_SIDE_MM / 2 * PX_PER_MM)
    top, bottom = (np.clip(np.round(row).astype(int) + way, 0, rows) for way in (-half, half))
    left, right = (np.clip(np.round(column).astype(int) + way, 0, columns) for way in (-half, half))
    sums = total[bottom, right] - total[top, right] - total[bottom, left] + total[top, left]
    return np.asarray(sums, dtype=np.float64)
