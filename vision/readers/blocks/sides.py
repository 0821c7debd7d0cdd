"""Reading the visible side faces, and their evidence for a block being there.

The numbers were set by hand on the virtual table's and the ray-traced pictures; ``benchmarks/stress.py`` shows the
effect of a change. Heights are those of a side face in the picture; correlations range from -1 to 1.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import BoolArray, FloatArray, FloatImage, Image
from vision.geometry import SIDE_CORNERS, Side
from vision.readers.blocks.appearance import BlockAppearance, log_ratio
from vision.readers.blocks.faces import face_and_ink, view_weights
from vision.readers.blocks.symbols import correlations, distinct_quarter_turns, unit_rows
from vision.readers.probabilities import softmax
from vision.sampling import PixelMap, linear_light, sample

SIDE_PX = 36
"""Side of a sampled side face."""
RIM_PX = 3
"""Rim of a sampled face that is left out, and the largest shift tried. Larger: slower, and less of it is compared."""
SMALLEST_HEIGHT_PX = 5.0
"""Minimum height of a face to be sampled. Higher: faster, but above the next height fewer sides are read."""
SMALLEST_SYMBOL_HEIGHT_PX = 6.0
"""Minimum height of a face to be read. Higher: fewer sides are read."""
SMALLEST_SYMBOL_FIT = 0.6
"""Minimum correlation of the best possible symbol. Higher: fewer sides are read."""
SMALLEST_OPEN_SHARE = 0.3
"""Minimum share (0 to 1) of a face that is not hidden, for it to be fitted. Higher: fewer sides are evidence."""
READABLE_OPEN_SHARE = 0.8
"""Minimum share (0 to 1) of a face that is not hidden, for it to be read. Higher: fewer sides are read."""
VAGUE_HEIGHT_PX = 8.0
"""Height, in pixels, up to which a side is no evidence of a block."""
CLEAR_HEIGHT_PX = 14.0
"""Further height, in pixels, over which its evidence grows to its full weight. Higher: low sides count less."""
SUPPORT_SLOPE = 36.0
"""Log-odds gained for each unit of a side's correlation above SUPPORT_MIDDLE, and lost below it."""
SUPPORT_MIDDLE = 0.58
"""Correlation of a side that is no evidence either way."""
SUPPORT_LIMIT = 16.0
"""Maximum log-odds of the sides against a block, and twice the maximum for one. Higher: they can outweigh its top."""
COLOUR_SLOPE = 10.0
"""Log-odds gained, up to 3, for each log unit by which a side differs less from the block's colour than COLOUR_MIDDLE;
up to 8 are lost if it differs more.
"""
COLOUR_MIDDLE = 0.95
"""Difference of a side from the block's colour, in log units, that is no evidence either way."""
SHIFT_STEP_PX = 2
"""Step between the shifts tried, in pixels of the sampled face. Larger: faster, but symbols fit less exactly."""
BLURS_PX = (0.6, 1.3, 2.2)
"""Standard deviations of the masks' blur, in pixels of the picture, sharpest first. Larger: for pictures out of focus.
More: slower.
"""
LENGTH_STEP = 0.2
"""Step between the widths and heights that masks are made for, as a logarithm. Larger: faster, but masks fit less
exactly.
"""
SYMBOL_TEMPERATURE = 0.015
"""Temperature of the softmax over symbols for a high side, in units of correlation. Higher: less certain."""
FLAT_HEIGHT_PX = 10.0
"""Height of a side at which that temperature doubles. Higher: less certain of flat sides."""
ODD_ONE_OUT = 0.002
"""Share of sides that are misread whatever the fit. Higher: less certain."""


@dataclass(frozen=True, eq=False)
class SideView:
    """A side face sampled from the picture: linear light (36, 36, 3), the picture coordinates of its pixels (36, 36,
    2), its height and width in pixels of the picture, and which of its pixels are not hidden.
    """

    side: Side
    picture: FloatImage
    points_px: PixelMap
    height_px: float
    width_px: float
    open: BoolArray

    @property
    def open_share(self) -> float:
        """Share (0 to 1) of the face that nearer blocks do not hide."""
        return np.count_nonzero(self.open) / self.open.size

    def without_hidden(self, nearer: npt.NDArray[np.uint8]) -> SideView:
        """Return the view without the pixels hidden by nearer blocks; ``nearer`` marks those in the picture."""
        hidden = sample(nearer, self.points_px, cv2.INTER_NEAREST) > 0
        return replace(self, open=np.asarray(self.open & ~hidden)) if hidden.any() else self


def side_views(image: Image, blocks_px: FloatArray) -> list[list[SideView]]:
    """Sample each block's side faces that face the camera and are at least a few pixels high.

    ``blocks_px`` are the blocks' corners in the picture, (n, 8, 2), as returned by ``corners_px``.
    """
    quads = blocks_px[:, [SIDE_CORNERS[side] for side in Side]]
    ahead = quads[:, :, [1, 2, 3, 0]]
    # seen from outside, a face's corners are clockwise, in the picture too
    areas = (quads[..., 0] * ahead[..., 1] - ahead[..., 0] * quads[..., 1]).sum(axis=2) / 2
    edges = np.hypot(*(quads[:, :, [1, 2]] - quads[:, :, [0, 3]]).transpose(3, 0, 1, 2))
    widths = edges.mean(axis=2)
    heights = areas / np.maximum(widths, 1.0)
    faces = [(int(index), int(side)) for index, side in zip(*np.nonzero(heights >= SMALLEST_HEIGHT_PX), strict=True)]
    views: list[list[SideView]] = [[] for _ in blocks_px]
    if not faces:
        return views
    points = _quad_maps(np.array([quads[face] for face in faces]))
    seen = sample(image, points.reshape(-1, SIDE_PX, 2))
    light = linear_light(seen).reshape(len(faces), SIDE_PX, SIDE_PX, -1)
    rows, columns = image.shape[:2]
    x, y = points[..., 0], points[..., 1]
    inside = np.asarray((x >= 0) & (x < columns) & (y >= 0) & (y < rows))
    sides = tuple(Side)
    for number, (index, side) in enumerate(faces):
        size_px = float(heights[index, side]), float(widths[index, side])
        views[index].append(SideView(sides[side], light[number], points[number], *size_px, inside[number]))
    return views


def _quad_maps(quads_px: FloatArray) -> PixelMap:
    """Return the pixel maps, (n, 36, 36, 2), of squares seen as quads (n, 4, 2): upper left, upper right, lower
    right, lower left. Lens distortion within one face is ignored.
    """
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], dtype=np.float32)
    steps = (np.arange(SIDE_PX) + 0.5) / SIDE_PX
    points = np.dstack(np.meshgrid(steps, steps))
    matrices = [cv2.getPerspectiveTransform(square, quad) for quad in quads_px.astype(np.float32)]
    return np.array([cv2.perspectiveTransform(points, matrix) for matrix in matrices], dtype=np.float32)


@dataclass(frozen=True)
class SideFit:
    """Fit of a side face: each symbol's best correlation over small shifts (-1 to 1), the best one without extra blur,
    and the distance from the block's colour in log units; ``None`` when no colour is known.
    """

    fits: Mapping[str, float]
    sharp_fit: float
    colour_off: float | None


class SideReader:
    """Fits symbols to side faces; caches the masks for faces of about the same size."""

    def __init__(self, looks: BlockAppearance) -> None:
        self._looks = looks
        self._weights = view_weights(looks)
        self._colours = {name: index for index, name in enumerate(looks.colours)}
        upright = [
            (symbol, np.rot90(mask, quarter))
            for symbol, mask in looks.masks.items()
            for quarter in distinct_quarter_turns(mask)
        ]
        self._count = len(upright)
        # side by side they are resized in one call; the edges that blur into each other have no ink
        side_by_side = np.hstack([mask for _, mask in upright])
        self._rows_of = {
            symbol: [index for index, (name, _) in enumerate(upright) if name == symbol] for symbol in looks.masks
        }
        # a bound method would keep the reader alive until the garbage collector runs
        self._templates = functools.lru_cache(maxsize=128)(functools.partial(_templates, side_by_side, self._count))

    def fit(self, view: SideView, colour: str | None) -> SideFit | None:
        """Fit every symbol to the open pixels of a side face; ``None`` when too few are open."""
        inner = slice(RIM_PX, SIDE_PX - RIM_PX)
        if np.count_nonzero(view.open[inner, inner]) < SMALLEST_OPEN_SHARE * (SIDE_PX - 2 * RIM_PX) ** 2:
            return None
        templates = self._templates(_rounded_length(view.width_px), _rounded_length(view.height_px))
        weights = self._weights if colour is None else self._weights[self._colours[colour]][None]
        shown = np.asarray(cv2.transform(view.picture, weights), dtype=np.float32).reshape(SIDE_PX, SIDE_PX, -1)
        is_open = None if view.open.all() else _shifted_windows(view.open.astype(np.float32))
        shown -= shown.mean(axis=(0, 1))
        scores = functools.reduce(
            np.maximum,
            [_open_correlations(_shifted_windows(shown[..., at]), templates, is_open) for at in range(len(weights))],
        )
        shift, template = divmod(int(scores.argmax()), scores.shape[1])
        # all symbols in one picture are equally out of focus, so all are judged at the best blur
        first = template - template % self._count
        best = scores[:, first : first + self._count].max(axis=0).tolist()
        fits = {symbol: max(best[row] for row in rows) for symbol, rows in self._rows_of.items()}
        off = None
        if colour is not None:
            off = _colour_difference(view, shift, templates[template], self._looks.colours[colour])
        # with enough blur any symbol also resembles the bare board
        sharp_fit = float(scores[:, : self._count].max())
        return SideFit(fits, sharp_fit, off)


def _templates(side_by_side: FloatImage, count: int, width_px: int, height_px: int) -> FloatImage:
    """Return ``count`` masks, given side by side in one picture, at the camera's resolution and each of the blurs,
    sharpest first; rows of mean 0 and length 1, shape (blurs x masks, inner pixels).
    """
    inner = slice(RIM_PX, SIDE_PX - RIM_PX)
    small = cv2.resize(side_by_side, (count * width_px, height_px), interpolation=cv2.INTER_AREA)
    blurred = []
    for blur_px in BLURS_PX:
        seen = cv2.GaussianBlur(small, (0, 0), blur_px)
        seen = cv2.resize(seen, (count * SIDE_PX, SIDE_PX), interpolation=cv2.INTER_LINEAR)
        faces = np.asarray(seen, dtype=np.float32).reshape(SIDE_PX, count, SIDE_PX).transpose(1, 0, 2)
        blurred.append(np.ascontiguousarray(faces[:, inner, inner]).reshape(count, -1))
    return unit_rows(np.concatenate(blurred))


def _rounded_length(length_px: float) -> int:
    """Return a length rounded to whole pixels such that lengths with nearly equal blur are equal."""
    step = round(math.log(max(length_px, SMALLEST_HEIGHT_PX)) / LENGTH_STEP)
    return round(math.exp(step * LENGTH_STEP))


def _shifted_windows(picture: FloatImage) -> FloatImage:
    """Return the inner part of a side face at every small shift, as rows; shape (shifts, inner pixels)."""
    windows = np.lib.stride_tricks.sliding_window_view(picture, (SIDE_PX - 2 * RIM_PX, SIDE_PX - 2 * RIM_PX))
    return np.ascontiguousarray(windows[::SHIFT_STEP_PX, ::SHIFT_STEP_PX]).reshape(-1, (SIDE_PX - 2 * RIM_PX) ** 2)


def _open_correlations(windows: FloatImage, templates: FloatImage, is_open: FloatImage | None) -> FloatImage:
    """Return the correlation of windows (n, pixels) with templates (t, pixels) over open pixels (``None``: all); (n,
    t).
    """
    if is_open is None:
        return correlations(windows, templates)
    count = np.maximum(is_open.sum(axis=1, keepdims=True), 1.0)
    seen = windows * is_open
    seen -= is_open * (seen.sum(axis=1, keepdims=True) / count)
    open_sums, open_squares = is_open @ templates.T, is_open @ (templates**2).T
    spread = np.maximum(open_squares - open_sums**2 / count, 1e-9)
    lengths = np.maximum(np.linalg.norm(seen, axis=1, keepdims=True), 1e-9)
    return np.asarray(seen @ templates.T / (lengths * np.sqrt(spread)), dtype=np.float32)


def _colour_difference(view: SideView, shift: int, template: FloatImage, ratio: FloatArray) -> float:
    """Return the root mean square difference, in log units, between a side's ratio of face to ink and the block's."""
    inner, across = SIDE_PX - 2 * RIM_PX, (2 * RIM_PX) // SHIFT_STEP_PX + 1
    top, left = (SHIFT_STEP_PX * at for at in divmod(shift, across))
    part = np.s_[top : top + inner, left : left + inner]
    is_open = view.open[part].ravel()
    amount = (template - template.min()) / max(float(template.max() - template.min()), 1e-9)
    pixels = view.picture[part].reshape(-1, 3)
    if not is_open.all():
        amount, pixels = amount[is_open], pixels[is_open]
    face, ink = face_and_ink(pixels, np.asarray(amount, dtype=np.float32))
    return float(np.sqrt(((log_ratio(face, ink) - ratio) ** 2).mean()))


def support(sides: Sequence[tuple[SideView, SideFit]]) -> float:
    """Return log-odds that there is a block below a top face, given its side faces; 0 without any.

    A picture of a block's side can look like another block's top, but a real top has side faces below it, with symbols
    and of the block's colour.
    """
    total = 0.0
    for view, fit in sides:
        # a side only a few pixels high carries little information, and can't have been mistaken for a top either
        clarity = min(max((view.height_px - VAGUE_HEIGHT_PX) / CLEAR_HEIGHT_PX, 0.0), 1.0) * view.open_share
        evidence = SUPPORT_SLOPE * (fit.sharp_fit - SUPPORT_MIDDLE)
        if fit.colour_off is not None:
            evidence += min(max(COLOUR_SLOPE * (COLOUR_MIDDLE - fit.colour_off), -8.0), 3.0)
        total += clarity * evidence
    return min(max(total, -SUPPORT_LIMIT), SUPPORT_LIMIT / 2)


def side_probabilities(view: SideView, fits: Mapping[str, float], symbols: Sequence[str]) -> dict[str, float] | None:
    """Return probabilities of the symbols that can be on a side face; ``None`` when it is too flat or hidden to be
    read.

    The temperature is set so that they are not overconfident on the ray-traced pictures or the virtual table's
    difficult ones; it is higher for a flat face.
    """
    possible = {symbol: fits[symbol] for symbol in symbols if symbol in fits}
    if not possible or view.height_px < SMALLEST_SYMBOL_HEIGHT_PX or view.open_share < READABLE_OPEN_SHARE:
        return None
    if max(possible.values()) < SMALLEST_SYMBOL_FIT:
        return None
    return softmax(possible, SYMBOL_TEMPERATURE * (1 + FLAT_HEIGHT_PX / view.height_px), ODD_ONE_OUT)


def neighbours_in_net(net: Mapping[str, str], top: str) -> tuple[str, ...]:
    """Return the symbols that can be on the sides when ``top`` is up: all but it and its opposite, unless the net has
    it twice; all of them if the net lacks it.
    """
    opposite = {"up": "down", "down": "up", "north": "south", "south": "north", "east": "west", "west": "east"}
    ups = [face for face, symbol in net.items() if symbol == top]
    sides = [face for up in ups for face in net if face not in {up, opposite[up]}]
    return tuple(dict.fromkeys(net[face] for face in sides or net))
