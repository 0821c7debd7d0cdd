"""Finding what lies or reaches over the board: hands, arms, cups, coins.

Nothing is compared with an earlier picture, so a still hand is found as well as a moving one. What is found is whatever
the board and its blocks can't look like: where no block stands, the board has everywhere the same hue (shadow changes
brightness, hardly hue), and its grid lines are there to be seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import Image
from vision.geometry import CameraModel, Pose
from vision.layout import TableLayout
from vision.sampling import FloatImage, PixelMap, PlaneWindow, linear_light, plane_map, sample
from vision.sides import hue
from vision.solids import BlockSolid, outline_px

BoolImage = npt.NDArray[np.bool_]

PX_PER_MM = 1.0
COARSER = 2
SMOOTHING_MM = 2.5
HUE_FLOOR = 0.13
USUAL_LIGHT = 0.3
STRONG_HUE = 0.35
BRIGHTNESS_LIMITS = (-1.7, 0.55)
SMALLEST_COVERING_MM2 = 260.0
HAND_CELLS = 1.7
AT_EDGE_PX = 6
LINE_PRESENT = 0.35
LINE_PLAIN = 0.5
LINE_OFFSETS_MM = (-5.5, -4.5, -2.4, -1.6, -0.8, 0.0, 0.8, 1.6, 2.4, 4.5, 5.5)
FEWEST_LINES = 12
BARE_LOG_ODDS, HARDLY_SEEN_LOG_ODDS, LEAST_BARE_LOG_ODDS = 9.0, 5.0, 0.7
BARE_SIDE_MM = 27.0
BLEACHED, BLEACHED_EASILY, BLEACHED_COST = 0.985, 0.25, 6.0
LEAST_OPEN_SHARE = 0.2
EASILY_UNEVEN, STAR_UNEVEN, UNEVEN_COST = 0.6, 1.6, 7.0
GRID_ALONG = np.linspace(0.1, 0.9, 17)
FAINTEST_LINE = 0.08
USUAL_LINE, FEWEST_PRESENT = 0.65, 0.45
BLOCK_MARGIN_MM = 3.5
STAR_MARGIN_MM = 15.0


@dataclass(frozen=True, eq=False)
class BoardView:
    """The board's surface as sampled from above, with what is known to cover it.

    ``light`` is linear light (rows, columns, 3), ``blocks`` and ``outside`` mark pixels hidden by known blocks and
    pixels outside the picture; ``pixel_map`` leads back to the picture.
    """

    window: PlaneWindow
    pixel_map: PixelMap
    light: FloatImage
    blocks: BoolImage
    outside: BoolImage


@dataclass(frozen=True, eq=False)
class Covering:
    """What hides a part of the board: ``kind`` is ``hand`` (it reaches in over an edge), ``object`` or ``glare``; its
    pixels in the board view, and its area in square millimetres of board hidden.
    """

    kind: str
    pixels: BoolImage
    area_mm2: float


def board_view(
    image: Image, camera: CameraModel, pose: Pose, layout: TableLayout, solids: Sequence[BlockSolid]
) -> BoardView:
    """Sample the board's surface and mark what the given blocks hide of it, with a small margin."""
    width, depth = layout.columns * layout.cell_mm, layout.rows * layout.cell_mm
    window = PlaneWindow(-width / 2, depth / 2, width, depth, layout.board_top_mm, PX_PER_MM)
    pixel_map = plane_map(camera, pose, window)
    light = linear_light(sample(image, pixel_map))
    covered = np.zeros(image.shape[:2], dtype=np.uint8)
    for solid in solids:
        grown = BlockSolid(solid.x_mm, solid.y_mm, solid.base_mm, solid.side_mm + 2 * BLOCK_MARGIN_MM, solid.turned_deg)
        outline = outline_px(grown, camera, pose)
        cv2.fillConvexPoly(covered, np.round(outline).astype(np.int32), 255)
    blocks = np.asarray(sample(covered, pixel_map, cv2.INTER_NEAREST)) > 0
    x, y = pixel_map[..., 0], pixel_map[..., 1]
    outside = (x < 0) | (y < 0) | (x > camera.size[0] - 1) | (y > camera.size[1] - 1)
    return BoardView(window, pixel_map, light, np.asarray(blocks), np.asarray(outside))


def find_coverings(view: BoardView, layout: TableLayout, lines: GridLines) -> list[Covering]:
    """Find what covers the board besides the known blocks, largest first; ``lines`` as ``grid_lines`` gives them."""
    known = view.blocks | view.outside | _printed(view, layout)
    strange, strength = _strange_pixels(view, known)
    bare_lines, seen_lines = _look_for_lines(view, lines, known)
    # where the grid shows as it should, the board is bare, whatever light falls there
    strange &= ~(_framed_by_lines(view, layout, seen_lines) & (strength < STRONG_HUE))
    grown = cv2.morphologyEx(
        (strange | (bare_lines & ~known)).astype(np.uint8),
        cv2.MORPH_CLOSE,
        cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (7, 7)),
    )
    opened = cv2.morphologyEx(grown, cv2.MORPH_OPEN, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (7, 7)))
    count, labels, statistics, _ = cv2.connectedComponentsWithStats(opened, connectivity=8)
    coverings = []
    rows, columns = opened.shape
    for label in range(1, count):
        pixels = labels == label
        area = float(statistics[label, cv2.CC_STAT_AREA]) / PX_PER_MM**2
        if area < SMALLEST_COVERING_MM2:
            continue
        if not _proven(layout, pixels, strength, bare_lines, known):
            continue
        left, top = statistics[label, cv2.CC_STAT_LEFT], statistics[label, cv2.CC_STAT_TOP]
        right = left + statistics[label, cv2.CC_STAT_WIDTH]
        bottom = top + statistics[label, cv2.CC_STAT_HEIGHT]
        at_edge = min(left, top, columns - right, rows - bottom) <= AT_EDGE_PX
        is_hand = at_edge and area > HAND_CELLS * layout.cell_mm**2
        # pale skin in bright light fills one channel; a light too bright for the camera fills two at least
        bleached = float((np.median(view.light[pixels], axis=1) > BLEACHED).mean()) > 0.5
        kind = "glare" if bleached else "hand" if is_hand else "object"
        coverings.append(Covering(kind, np.asarray(pixels), area))
    return sorted(coverings, key=lambda covering: -covering.area_mm2)


def bareness(view: BoardView, layout: TableLayout) -> dict[str, float]:
    """How much each place looks like bare board, as log-odds that hold at most ``BARE_LOG_ODDS``.

    A bare place shows its surface, is not bleached, and is as even as most other places are.
    """
    light = view.light.mean(axis=2)
    shade = cv2.GaussianBlur(np.log(light + 0.01), (0, 0), 1.0 * PX_PER_MM)
    slope = np.hypot(cv2.Sobel(shade, cv2.CV_32F, 1, 0), cv2.Sobel(shade, cv2.CV_32F, 0, 1))
    bleached = view.light.max(axis=2) > BLEACHED
    covered = view.blocks | view.outside
    half = round(BARE_SIDE_MM / 2 * PX_PER_MM)
    unevenness, open_shares, bleached_shares = {}, {}, {}
    for place in layout.places:
        column, row = (round(v) for v in view.window.to_pixels(*layout.centre_mm(place)))
        part = np.s_[max(0, row - half) : row + half, max(0, column - half) : column + half]
        is_open = ~covered[part]
        open_shares[place] = float(is_open.mean())
        if open_shares[place] > 0:
            unevenness[place] = float(np.mean(slope[part][is_open]))
            bleached_shares[place] = float(bleached[part][is_open].mean())
    usual = float(np.median(list(unevenness.values()))) if unevenness else 1.0
    odds = {}
    for place in layout.places:
        if open_shares[place] < LEAST_OPEN_SHARE:
            odds[place] = HARDLY_SEEN_LOG_ODDS
            continue
        rougher = float(np.log(max(unevenness[place], 1e-6) / max(usual, 1e-6)))
        starred = place in layout.star_places
        doubt = UNEVEN_COST * max(0.0, rougher - (STAR_UNEVEN if starred else EASILY_UNEVEN))
        doubt += BLEACHED_COST * max(0.0, bleached_shares[place] - BLEACHED_EASILY)
        odds[place] = max(LEAST_BARE_LOG_ODDS, BARE_LOG_ODDS - doubt)
    return odds


def _printed(view: BoardView, layout: TableLayout) -> BoolImage:
    """Where the board has printed stars, and its rim, where the pose's last fraction of a millimetre matters."""
    printed = np.zeros(view.blocks.shape, dtype=np.uint8)
    for place in layout.star_places:
        column, row = view.window.to_pixels(*layout.centre_mm(place))
        cv2.circle(printed, (round(column), round(row)), round(STAR_MARGIN_MM * PX_PER_MM), 1, -1)
    printed[:2], printed[-2:], printed[:, :2], printed[:, -2:] = 1, 1, 1, 1
    return np.asarray(printed > 0)


def _smooth(values: FloatImage, bare: FloatImage, weight: FloatImage) -> npt.NDArray[np.float64]:
    """Gaussian mean over bare pixels only (normalised convolution, Knutsson and Westin 1993)."""
    total = cv2.GaussianBlur(values * bare, (0, 0), SMOOTHING_MM * PX_PER_MM / COARSER)
    return np.asarray(total / np.maximum(weight, 1e-3), dtype=np.float64)


def _strange_pixels(view: BoardView, known: BoolImage) -> tuple[BoolImage, npt.NDArray[np.float64]]:
    """Pixels whose hue or brightness the bare board does not have, and how far off their hue is.

    Worked out at half the view's scale, which is still finer than what is smoothed away.
    """
    rows, columns = known.shape
    size = (columns // COARSER, rows // COARSER)
    bare = cv2.resize((~known).astype(np.float32), size, interpolation=cv2.INTER_AREA) > 0.99
    if bare.sum() < 0.1 * bare.size:
        return np.zeros_like(known), np.zeros(known.shape)
    light = np.asarray(cv2.resize(view.light, size, interpolation=cv2.INTER_AREA), dtype=np.float32)
    # as if exposed alike: in a dim picture the floors below would wash out every hue
    light = light * np.float32(USUAL_LIGHT / max(float(np.median(light[bare])), 1e-4))
    hues = hue(light.astype(np.float64))
    brightness = np.log(light.mean(axis=2) + np.float32(0.004))
    y, x = np.mgrid[0 : size[1], 0 : size[0]]
    x, y = x / size[0] - 0.5, y / size[1] - 0.5
    terms = np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=-1)
    share = bare.astype(np.float32)
    weight = np.asarray(cv2.GaussianBlur(share, (0, 0), SMOOTHING_MM * PX_PER_MM / COARSER), dtype=np.float32)
    offs = []
    for values, order in ((hues[..., 0], 3), (hues[..., 1], 3), (brightness, 6)):
        smooth = _smooth(np.asarray(values, dtype=np.float32), share, weight)
        offs.append(smooth - _trimmed_surface(smooth, terms[..., :order], bare))
    off_hue = np.hypot(offs[0], offs[1])
    usual = float(np.median(off_hue[bare]))
    limit = max(HUE_FLOOR, 4.5 * usual)
    darker, brighter = BRIGHTNESS_LIMITS
    strange = ((off_hue > limit) | (offs[2] > brighter) | (offs[2] < darker)) & bare
    full_strange = cv2.resize(strange.astype(np.uint8), (columns, rows), interpolation=cv2.INTER_NEAREST) > 0
    full_hue = cv2.resize(off_hue, (columns, rows), interpolation=cv2.INTER_NEAREST)
    return np.asarray(full_strange & ~known), np.asarray(full_hue, dtype=np.float64)


def _trimmed_surface(
    values: npt.NDArray[np.float64], terms: npt.NDArray[np.float64], bare: BoolImage
) -> npt.NDArray[np.float64]:
    """Fit a low-order surface to bare pixels, leaving out what does not fit (least trimmed squares)."""
    sparse = np.zeros_like(bare)
    sparse[::2, ::2] = True
    chosen = sparse & bare
    inputs, targets = terms[chosen], values[chosen]
    start = np.zeros(terms.shape[-1])
    start[0] = float(np.median(targets))
    keep = np.abs(targets - start[0]) <= np.quantile(np.abs(targets - start[0]), 0.6)
    solution = start
    for _ in range(4):
        kept = inputs[keep]
        # a touch of ridge keeps the normal equations solvable when only a strip of the board is bare
        solution = np.linalg.solve(kept.T @ kept + 1e-6 * np.eye(kept.shape[1]), kept.T @ targets[keep])
        errors = np.abs(targets - inputs @ solution)
        keep = errors <= np.quantile(errors, 0.7)
    return np.asarray(terms @ solution, dtype=np.float64)


def grid_segments(layout: TableLayout) -> list[tuple[float, float, float, float]]:
    """The inner grid line segments between neighbouring corners, as (x1, y1, x2, y2) in mm."""
    half_width, half_depth = layout.columns * layout.cell_mm / 2, layout.rows * layout.cell_mm / 2
    cell = layout.cell_mm
    segments = []
    for column in range(1, layout.columns):
        x = column * cell - half_width
        segments += [(x, row * cell - half_depth, x, (row + 1) * cell - half_depth) for row in range(layout.rows)]
    for row in range(1, layout.rows):
        y = row * cell - half_depth
        segments += [
            (column * cell - half_width, y, (column + 1) * cell - half_width, y) for column in range(layout.columns)
        ]
    return segments


@dataclass(frozen=True, eq=False)
class GridLines:
    """Where the grid's inner line segments are sampled in a board view, made ready once for a layout.

    ``profiles`` is a pixel map of shape (segments, offsets, points, 2); ``open_at`` the (row, column) of each
    segment's own points, shape (segments, points, 2); ``ends`` each segment's ends in whole pixels.
    """

    profiles: npt.NDArray[np.float32]
    open_at: npt.NDArray[np.intp]
    ends: tuple[tuple[tuple[int, int], tuple[int, int]], ...]


def grid_lines(layout: TableLayout, window: PlaneWindow) -> GridLines:
    """Make ready where to look for each grid line segment of a layout."""
    profiles, open_at, ends = [], [], []
    rows, columns = window.shape
    for x1, y1, x2, y2 in grid_segments(layout):
        length = float(np.hypot(x2 - x1, y2 - y1))
        across = np.array([-(y2 - y1) / length, (x2 - x1) / length])
        points = np.column_stack([x1 + GRID_ALONG * (x2 - x1), y1 + GRID_ALONG * (y2 - y1)])
        shifted = points[None, :, :] + across * np.array(LINE_OFFSETS_MM)[:, None, None]
        column, row = window.to_pixels(shifted[..., 0], shifted[..., 1])
        profiles.append(np.stack([column, row], axis=-1))
        column, row = window.to_pixels(points[:, 0], points[:, 1])
        inside = np.stack([np.clip(np.round(row), 0, rows - 1), np.clip(np.round(column), 0, columns - 1)], axis=-1)
        open_at.append(inside.astype(np.intp))
        start, end = window.to_pixels(x1, y1), window.to_pixels(x2, y2)
        ends.append(((round(start[0]), round(start[1])), (round(end[0]), round(end[1]))))
    return GridLines(np.asarray(profiles, dtype=np.float32), np.asarray(open_at), tuple(ends))


def _over_open(contrast: npt.NDArray[np.floating], is_open: BoolImage) -> npt.NDArray[np.float64]:
    """Each segment's median over its open points, 0 where none is open; shape (segments,)."""
    medians = [float(np.median(own[seen])) if seen.any() else 0.0 for own, seen in zip(contrast, is_open, strict=True)]
    return np.asarray(medians, dtype=np.float64)


def _look_for_lines(view: BoardView, lines: GridLines, known: BoolImage) -> tuple[BoolImage, npt.NDArray[np.bool_]]:
    """Bands around grid line segments that ought to be seen and are not, and which segments are plainly seen.

    Both are all false when lines are too faint to tell.
    """
    missing = np.zeros(known.shape, dtype=np.uint8)
    unseen = np.zeros(len(lines.ends), dtype=np.bool_)
    shade = np.asarray(np.log(view.light.mean(axis=2) + 0.004), dtype=np.float32)
    segments, offsets, points, _ = lines.profiles.shape
    profile = sample(shade, lines.profiles.reshape(segments, -1, 2)).reshape(segments, offsets, points)
    # the mean of both sides, so that a line in the edge of a shadow is still darker than what is beside it
    beside = (profile[:, :2].mean(axis=1) + profile[:, -2:].mean(axis=1)) / 2
    middle = profile[:, 2:-2]
    is_open = ~known[lines.open_at[..., 0], lines.open_at[..., 1]]
    judged = is_open.mean(axis=1) >= 0.5
    if judged.sum() < FEWEST_LINES:
        return np.zeros_like(known), unseen
    # lines are dark on most boards and bright on some: whichever shows more is what to look for
    dark_lines = _over_open(beside - middle.min(axis=1), is_open)
    bright_lines = _over_open(middle.max(axis=1) - beside, is_open)
    values = dark_lines if np.median(dark_lines[judged]) >= np.median(bright_lines[judged]) else bright_lines
    # a large hand takes many lines away, so what is usual is read off the better half of them
    usual = float(np.quantile(values[judged], USUAL_LINE))
    present = values[judged & (values > LINE_PRESENT * usual)]
    spread = float(np.median(np.abs(present - usual))) if present.size else np.inf
    if usual < FAINTEST_LINE or present.size < FEWEST_PRESENT * judged.sum() or spread > 0.45 * usual:
        return np.zeros_like(known), unseen
    for (start, end), value, seen in zip(lines.ends, values, judged, strict=True):
        if seen and value < LINE_PRESENT * usual:
            cv2.line(missing, start, end, 1, round(12 * PX_PER_MM))
    return np.asarray(missing > 0), np.asarray(judged & (values > LINE_PLAIN * usual))


def _framed_by_lines(view: BoardView, layout: TableLayout, seen: npt.NDArray[np.bool_]) -> BoolImage:
    """Squares all of whose inner edges show their grid line, as pixels."""
    framed = np.zeros(view.blocks.shape, dtype=np.bool_)
    half = layout.cell_mm / 2
    segments = [(min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)) for x1, y1, x2, y2 in grid_segments(layout)]
    shown = {segment for segment, is_seen in zip(segments, seen, strict=True) if is_seen}
    inner = set(segments)
    for place in layout.places:
        x, y = layout.centre_mm(place)
        edges = {
            (x - half, y - half, x - half, y + half),
            (x + half, y - half, x + half, y + half),
            (x - half, y - half, x + half, y - half),
            (x - half, y + half, x + half, y + half),
        } & inner
        if edges <= shown:
            left, top = view.window.to_pixels(x - half, y + half)
            right, bottom = view.window.to_pixels(x + half, y - half)
            framed[max(0, round(top)) : round(bottom) + 1, max(0, round(left)) : round(right) + 1] = True
    return framed


def _proven(
    layout: TableLayout,
    pixels: BoolImage,
    strength: npt.NDArray[np.float64],
    bare_lines: BoolImage,
    known: BoolImage,
) -> bool:
    """Whether strange pixels are a thing: strongly off in hue, or hiding lines that ought to show there."""
    judged = pixels & ~known
    if not judged.any():
        return False
    area = float(judged.sum()) / PX_PER_MM**2
    strong = float((strength[judged] > STRONG_HUE).mean())
    lines = float((bare_lines & judged).sum()) / PX_PER_MM**2
    weak_area = float((judged & (strength > HUE_FLOOR)).sum()) / PX_PER_MM**2
    if strong > 0.4:
        return True
    cell_area = layout.cell_mm**2
    if lines > 0.35 * cell_area and weak_area > 0.5 * cell_area:
        return True
    # many lines gone at once: something of the board's own hue lies on it
    return lines > 1.2 * cell_area or (area > 3 * cell_area and weak_area > 2 * cell_area)
