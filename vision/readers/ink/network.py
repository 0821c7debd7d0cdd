"""A sheet's cells rectified, the light that ink absorbs there, and the small network that reads them, run by OpenCV.

Ink is measured relative to the light of the bare paper beside it, so that lamp, shadow and exposure don't matter.

The network, which ``benchmarks/training/ink.py`` trains, has no padding, so what it makes of a cell depends only on the
cell and half of each neighbour, however many cells are read at once, and neighbours share most of the work.

A household's handwriting is learned from cells with known signs, to which the network's last layer is adapted. The
cells themselves are stored, so that they can adapt another network too. The last layer's weights are fitted again on
the network's features of these cells (``InkNetwork.features``): the maximum a posteriori estimate, with a Gaussian
prior around the trained weights.
"""

from __future__ import annotations

import base64
import itertools
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, cast

import cv2
import numpy as np
import numpy.typing as npt

from vision.errors import EnrolmentError
from vision.frame import BoolArray, FloatArray, FloatImage, Image
from vision.geometry import CameraModel, Pose, Side
from vision.images import decode_photo
from vision.layout.pieces import GridSurface
from vision.opencv import as_grey
from vision.readers.networks import Network, checksums
from vision.reading import KEPT_PX, PlacePicture
from vision.sampling import PixelMap, PixelsT, PlaneWindow, linear_light, plane_map, sample
from vision.surface.paper import PaperShape

EMPTY_SIGN, CROSS, BLOT = "empty", "X", "blot"
DIGITS = ("0", "1", "2", "3", "4", "5", "6", "7", "8", "9")
SIGNS = (EMPTY_SIGN, *DIGITS, CROSS, BLOT)
"""The signs a cell may hold; a blot is any other mark."""


def cell_of(place: str, surface: GridSurface) -> tuple[int, int]:
    """Return a place's row from the top, and its column."""
    column, row = surface.column_and_row(place)
    return surface.rows - 1 - row, column


CELL_PX = 24
"""Pixels per cell of the flat picture."""
MARGIN_CELLS = 0.5
"""Margin of the flat picture around the grid, in cells."""
MOST_FINER = 6
"""Maximum oversampling of the flat picture: a phone sees 300 pixels per cell."""
_STEPS_APART_PX = 8
"""Distance between the rows of the flat picture in which the camera's resolution is measured. Larger: faster."""
CLOSING_CELLS = 1.0
"""Dark marks narrower than this, in cells, are ink; wider ones are shadow."""
SHADOW_STEP = 0.04
"""Share by which smoothing must change the paper's light for a shadow's edge to be there, which is then not smoothed.
Higher: faint edges pass for strokes. Lower: noise counts as edges. Set by hand on ray-traced pictures with a band in
shadow, and with little light.
"""
COLOURED, COLOUR_PX = 0.25, 5
"""Mean difference between the two darkest channels, as a share of the paper's light, above which ink is yellow, orange,
pink or light blue, and the side in pixels of the square over which it is averaged. Higher: such ink is fainter. Lower:
noise counts as ink. Set by hand on ray-traced pictures at night.
"""
LEAST_INK = 0.06
"""Share of the paper's light, as a mean of 3 x 3 pixels, below which nothing is written in a cell: 3 of 12,249 made
signs have less in their own cell, two of which the network misses too. Higher: faster, and faint signs are missed.
"""
LINE_CELLS = 0.2
"""Width, in cells, of a cell's border, where printed lines may be."""
PAPER_CELLS = 2
"""How far around a cell, in cells, its paper's light is looked for."""

COMPARED_CELLS = 0.75
"""Side, in cells, of the square of ink that is compared with an earlier picture. Larger: loops along a cell's border
count as other ink. Set by hand."""
REACH_CELLS = 0.125
"""How far the picture of a cell's ink goes beyond the cell, in cells."""


def flat_window(surface: GridSurface) -> PlaneWindow:
    """Return the window of the grid and its margin."""
    bounds = surface.bounds_mm.grown(MARGIN_CELLS * surface.cell_mm)
    return PlaneWindow.over(bounds, surface.height_mm, CELL_PX / surface.cell_mm)


def flat_map(camera: CameraModel, pose: Pose, surface: GridSurface, shape: PaperShape | None = None) -> PixelMap:
    """Return the pixel map from the flat picture to the camera's, also for bent paper.

    Where the camera's resolution is higher, the map is oversampled, up to MOST_FINER times.
    """
    window = flat_window(surface)
    bent = None if shape is None else shape.seen_at_mm
    pixel_map = plane_map(camera, pose, window, bent)
    # the step hardly differs between neighbouring rows, so a few rows are enough
    steps_px = np.diff(pixel_map[::_STEPS_APART_PX], axis=1)
    finer = min(round(float(np.median(np.hypot(steps_px[..., 0], steps_px[..., 1])))), MOST_FINER)
    if finer < 2:
        return pixel_map
    return plane_map(camera, pose, replace(window, px_per_mm=finer * window.px_per_mm), bent)


@dataclass(frozen=True)
class CellRange:
    """A rectangle of a grid's cells: its first row from the top and column, and how many there are of each."""

    row: int
    column: int
    rows: int
    columns: int


def range_around(cells: npt.NDArray[np.int64], surface: GridSurface) -> CellRange:
    """Return the cells (n, 2), given by row from the top and column, and those whose paper tells the light on them."""
    first = np.maximum(cells.min(axis=0) - PAPER_CELLS, 0)
    beyond = np.minimum(cells.max(axis=0) + 1 + PAPER_CELLS, (surface.rows, surface.columns))
    rows, columns = beyond - first
    return CellRange(int(first[0]), int(first[1]), int(rows), int(columns))


def flat_picture(image: Image, pixel_map: PixelMap, surface: GridSurface, part: CellRange | None = None) -> Image:
    """Rectify a camera's picture with the map of ``flat_map``, averaging so that no thin stroke is lost.

    Only a part of the cells and its margin are rectified if one is given.
    """
    part = part or CellRange(0, 0, surface.rows, surface.columns)
    finer = pixel_map.shape[0] // flat_window(surface).shape[0]
    cell_px, around = finer * CELL_PX, round(2 * MARGIN_CELLS)
    down = slice(part.row * cell_px, (part.row + part.rows + around) * cell_px)
    across = slice(part.column * cell_px, (part.column + part.columns + around) * cell_px)
    fine = sample(image, np.ascontiguousarray(pixel_map[down, across]))
    if finer == 1:
        return fine
    size = (fine.shape[1] // finer, fine.shape[0] // finer)
    return np.asarray(cv2.resize(fine, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def paper_light(flat: Image, light: FloatImage) -> FloatImage:
    """Return the bare paper's linear light at each pixel of a flat picture, whose own is ``light``, as if nothing were
    written; all are (rows, columns, 3).

    Apart from the edges of shadows, it is measured at half the scale.
    """
    side = round(CLOSING_CELLS * CELL_PX)
    whole = (flat.shape[1], flat.shape[0])
    small = cv2.resize(light, (whole[0] // 2, whole[1] // 2), interpolation=cv2.INTER_AREA)
    blurred = np.asarray(cv2.GaussianBlur(small, (0, 0), 0.8), dtype=np.float32)
    closed = _without_ink(blurred, side // 2)
    even = np.asarray(cv2.GaussianBlur(closed, (0, 0), side / 12), dtype=np.float32)
    at_edge = np.abs(even - closed) > np.float32(SHADOW_STEP) * closed
    bare = np.asarray(cv2.resize(even, whole, interpolation=cv2.INTER_LINEAR), dtype=np.float32)
    if 4 * np.count_nonzero(at_edge) < 3 * CELL_PX:  # too few for an edge across one cell
        return bare
    # a median keeps the edge of a shadow where it is
    sharp = linear_light(_without_ink(np.asarray(cv2.medianBlur(flat, 5), dtype=np.uint8), side))
    near = cv2.dilate(at_edge.astype(np.uint8), np.ones((3, 3), dtype=np.uint8))
    return np.where(cv2.resize(near, whole, interpolation=cv2.INTER_NEAREST) > 0, sharp, bare)


def _without_ink(light: PixelsT, side_px: int) -> PixelsT:
    """Return the light, or the levels of a picture, without dark marks up to so many pixels wide."""
    kernel = np.ones((side_px | 1, side_px | 1), dtype=np.uint8)
    closed = cv2.morphologyEx(light, cv2.MORPH_CLOSE, kernel, borderType=cv2.BORDER_REPLICATE)
    return cast("PixelsT", np.asarray(closed, dtype=light.dtype))


def ink_on(flat: Image) -> FloatImage:
    """Return the share of the paper's light that is absorbed at each pixel, 0 to 1: the middle one of the three
    channels, or the largest where ink is strongly coloured.

    ``flat`` is (rows, columns, 3), uint8; the result is (rows, columns), float32.
    """
    light = linear_light(flat)
    shares = np.asarray(light / np.maximum(paper_light(flat, light), np.float32(1e-3)), dtype=np.float32)
    blue, green, red = cv2.split(shares)
    low, high = np.minimum(blue, green), np.maximum(blue, green)
    least, middle = np.minimum(low, red), np.maximum(low, np.minimum(high, red))
    # the least channel is the one with the most noise, but the only one that shows yellow or pink ink
    is_coloured = np.asarray(cv2.blur(middle - least, (COLOUR_PX, COLOUR_PX))) > np.float32(COLOURED)
    return np.asarray(np.clip(1 - np.where(is_coloured, least, middle), 0, 1), dtype=np.float32)


def cells_near_ink(ink: FloatImage) -> BoolArray:
    """Return which cells of a flat picture's ink have any inside or in the cells around them, (rows, columns)."""
    rows, columns = (side // CELL_PX - round(2 * MARGIN_CELLS) for side in ink.shape)
    margin, line = round(MARGIN_CELLS * CELL_PX), round(LINE_CELLS * CELL_PX)
    inner = cv2.blur(ink, (3, 3))[margin : margin + rows * CELL_PX, margin : margin + columns * CELL_PX]
    inside = inner.reshape(rows, CELL_PX, columns, CELL_PX)[:, line:-line, :, line:-line].max(axis=(1, 3))
    return np.asarray(cv2.dilate((inside > LEAST_INK).astype(np.uint8), np.ones((3, 3), dtype=np.uint8)) > 0)


def cell_pictures(ink: FloatImage, cells: npt.NDArray[np.int64]) -> list[PlacePicture]:
    """Return small pictures of the ink in cells (n, 2), for comparing it with later ones.

    ``ink`` is that of a flat picture with half a cell of margin; cells are given by row from the top and column.
    """
    small = np.asarray(cv2.resize(ink, None, fx=1 / KEPT_PX, fy=1 / KEPT_PX, interpolation=cv2.INTER_AREA), np.float32)
    margin, cell, reach = (round(share * CELL_PX / KEPT_PX) for share in (MARGIN_CELLS, 1, REACH_CELLS))
    side = cell + 2 * reach
    middle = ((side - 1) / 2, (side - 1) / 2)
    return [
        PlacePicture(small[top : top + side, left : left + side].copy(), middle, COMPARED_CELLS * CELL_PX / KEPT_PX / 2)
        for top, left in (cell * cells + margin - reach).tolist()
    ]


WEIGHTS = Path(__file__).parent / "weights"
OUTPUTS = len(SIGNS) + 1 + len(Side)
"""Scores of the signs, the log-odds that a loop encloses the cell, and of a line along each of its sides."""
HIDDEN = 128
"""Number of features in the layer before the last."""

Inks = npt.NDArray[np.float32]
"""Pictures of ink with half a cell of margin around the cells, (n, 1, height, width)."""

_FEWER_BLOTS = 3.0
"""How much rarer blots are in games than in the training sheets, in log units."""
_MORE_EMPTY = 1.5
"""How much more often cells are empty in games than in the training sheets, in log units: three quarters of them in
games, a third in training. Higher: noise at night is seldom taken for a sign, and faint signs are missed.
"""


def calibrated(scores: FloatArray, temperature: float, written: float) -> FloatArray:
    """Return log-probabilities of SIGNS from the network's scores (..., len(SIGNS)).

    ``temperature`` divides the scores; ``written`` then multiplies the log-odds that anything is written at all, which
    is easier to recognise than what.
    """
    scaled = scores / temperature
    others = scaled[..., 1:].max(axis=-1, keepdims=True)
    others = others + np.log(np.exp(scaled[..., 1:] - others).sum(axis=-1, keepdims=True))
    odds = written * (others - scaled[..., :1])
    bare, inked = -np.logaddexp(0, odds), -np.logaddexp(0, -odds)
    return np.asarray(np.concatenate([bare, scaled[..., 1:] - others + inked], axis=-1), dtype=np.float64)


class InkNetwork:
    """The network of a folder, its calibration (see ``calibrated``), and a household's handwriting if learned."""

    def __init__(
        self, folder: Path = WEIGHTS, taught: Handwriting | None = None, settings: HandwritingSettings | None = None
    ) -> None:
        """Load and check the network; raises what ``Network`` raises."""
        sums = checksums(folder)
        self._network = Network(folder / "ink.onnx", sums["ink"])
        self._temperature, self._written = float(sums["temperature"]), float(sums["written"])
        self._corrections = (
            None if taught is None else taught.weight_corrections(self, settings or HandwritingSettings())
        )

    def read(self, ink: FloatImage, cells: npt.NDArray[np.int64]) -> FloatArray:
        """Read cells (n, 2) of a flat picture's ink, with the outputs of ``scores``; (n, OUTPUTS).

        Cells without ink in and around them have the outputs of bare paper. The others are read group by group.
        ``ink`` is that of a flat picture with half a cell of margin; cells are given by row from the top and column.
        """
        near_ink = cells_near_ink(ink)
        numbers = np.full(near_ink.shape, -1)
        numbers[tuple(cells.T)] = np.where(near_ink[tuple(cells.T)], np.arange(len(cells)), -1)
        found = np.tile(self._bare, (len(cells), 1))
        groups = cv2.connectedComponentsWithStats((numbers >= 0).astype(np.uint8))[2][1:]
        for left, top, columns, rows, _ in groups.tolist():
            down, across = (
                slice(CELL_PX * first, CELL_PX * (first + count + 1)) for first, count in ((top, rows), (left, columns))
            )
            read = self.scores(np.ascontiguousarray(ink[None, None, down, across]))[0]
            own = numbers[top : top + rows, left : left + columns]
            found[own[own >= 0]] = read[own >= 0]
        return found

    @cached_property
    def _bare(self) -> FloatArray:
        """The outputs for a cell of bare paper, (OUTPUTS,)."""
        return np.asarray(self.scores(np.zeros((1, 1, 2 * CELL_PX, 2 * CELL_PX), dtype=np.float32))[0, 0, 0])

    def scores(self, inks: Inks) -> FloatArray:
        """Return the outputs for all cells: log-probabilities of SIGNS, then log-odds, (n, rows, columns, OUTPUTS)."""
        outputs = self._run_network(inks)
        scores = outputs[..., :OUTPUTS]
        if self._corrections is not None:
            scores[..., : len(SIGNS)] += outputs[..., OUTPUTS:] @ self._corrections[0] + self._corrections[1]
        scores[..., SIGNS.index(BLOT)] -= _FEWER_BLOTS
        scores[..., SIGNS.index(EMPTY_SIGN)] += _MORE_EMPTY
        scores[..., : len(SIGNS)] = calibrated(scores[..., : len(SIGNS)], self._temperature, self._written)
        return scores

    def features(self, crops: Inks) -> tuple[FloatArray, FloatArray]:
        """Return scores of SIGNS (n, len(SIGNS)) and the features behind them (n, HIDDEN), before corrections.

        The crops show one cell each, (n, 1, SEEN_PX, SEEN_PX).
        """
        outputs = self._run_network(crops)[:, 0, 0]
        return outputs[:, : len(SIGNS)], outputs[:, OUTPUTS:]

    def _run_network(self, inks: Inks) -> FloatArray:
        return np.moveaxis(self._network.run(inks), 1, -1).astype(np.float64)


@cache
def shipped() -> InkNetwork:
    """Return the network that comes with the project."""
    return InkNetwork()


SEEN_PX = 2 * CELL_PX
"""Side of what the network sees of each cell: the cell and half of each neighbour."""
NUMBER_PX = 16
"""Height, in pixels of the flat picture, to which the signs of a number are brought: about that of a sign by itself."""
MOST_SIGNS, _MOST_GAPS = 3, 6
"""Maximum number of signs of a number, and of gaps that are tried between them."""
_BORDER_PX = 2
"""Width of a cell's border that may show the printed line."""
_LINE_SHARE = 0.7
"""Share of a cell's outermost row or column above which ink there is a line along the border, not a sign."""
_FAINT = 0.3
"""Share of a cell's strongest ink below which a pixel is bare. Higher: thin strokes are cut off."""
_FLAT = 0.35
"""Height, as a share of that of all signs, below which a wider one is a minus."""


def read_number(network: InkNetwork, crop: FloatImage) -> tuple[str, float]:
    """Return what signs beside each other in one cell say, such as ``17`` or ``-4``, and its probability; ``("", 0.0)``
    if they are no number of at most MOST_SIGNS signs.

    ``crop`` is the ink of the cell and half of each neighbour, (SEEN_PX, SEEN_PX). It is cut at the columns with least
    ink in every possible way, each part is read as a cell of its own, and the likeliest way counts.
    """
    edge = (SEEN_PX - CELL_PX) // 2 + _BORDER_PX
    inner = crop[edge:-edge, edge:-edge]
    least = _FAINT * inner.max()
    for _ in Side:
        inner = np.rot90(inner)
        while len(inner) > NUMBER_PX and (inner[0] > least).mean() > _LINE_SHARE:
            inner = inner[1:]
    written = inner > least
    rows, columns = (np.flatnonzero(written.any(axis=axis)) for axis in (1, 0))
    if len(columns) < 2:
        return "", 0.0
    box = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
    inner, written = inner[box], written[box]
    height, width = inner.shape
    across = np.pad(inner.sum(axis=0), 1)
    falls, rises = across[1:-1] < across[:-2], across[1:-1] <= across[2:]
    gaps = sorted(np.flatnonzero(falls & rises).tolist(), key=lambda at: across[1 + at])[:_MOST_GAPS]
    ways = [(0, *sorted(cuts), width) for count in range(1, MOST_SIGNS) for cuts in itertools.combinations(gaps, count)]
    parts = sorted({part for way in ways for part in itertools.pairwise(way)})
    if not parts:
        return "", 0.0
    given = np.stack([_as_own_cell(inner[:, first:last]) for first, last in parts])
    shares = np.exp(network.scores(given[:, None])[:, 0, 0, : len(SIGNS)])
    named = {}
    for (first, last), own in zip(parts, shares, strict=True):
        tall = int(written[:, first:last].any(axis=1).sum())
        is_minus = first == 0 and tall < min(_FLAT * height, last - first)
        digit = max(DIGITS, key=lambda one: own[SIGNS.index(one)])
        named[first, last] = ("-", 1.0) if is_minus else (digit, float(own[SIGNS.index(digit)]))
    # a sign is no number because its halves look like signs: ink that is cut through counts against it
    bare = 1 - np.minimum(across[1:-1] / across[1:-1].mean(), 1)
    chances = [
        math.prod(named[part][1] for part in itertools.pairwise(way)) * float(bare[list(way[1:-1])].prod())
        for way in ways
    ]
    best = int(np.argmax(chances))
    return "".join(named[part][0] for part in itertools.pairwise(ways[best])), chances[best]


def _as_own_cell(part: FloatImage) -> FloatImage:
    """Return the crop (SEEN_PX, SEEN_PX) of a cell in whose middle only this part of a cell's ink stands, enlarged."""
    scale = min(NUMBER_PX / part.shape[0], NUMBER_PX / part.shape[1])
    middle = (SEEN_PX - 1) / 2
    onto = np.array([[scale, 0, middle - scale * (side - 1) / 2] for side in part.shape[::-1]])
    onto[1, :2] = 0, scale
    return np.asarray(cv2.warpAffine(part, onto, (SEEN_PX, SEEN_PX), flags=cv2.INTER_LINEAR), dtype=np.float32)


TAUGHT_PX = SEEN_PX + 2
"""Side of a learned cell's picture: one pixel more on each side."""
SHIFTS_PX = ((0, 0), (0, 1), (0, -1), (1, 0), (-1, 0))
"""Offsets at which a learned cell is seen."""
FEWEST_CELLS = 20
"""Minimum number of written cells."""


@dataclass(frozen=True)
class HandwritingSettings:
    """How far learned cells change the network. Set with ``benchmarks/handwriting.py`` on unseen handwriting."""

    held: float = 300.0
    """Strength of the prior. Higher: the household's handwriting is learned less, and other hands suffer less."""
    rounds: int = 150
    """Steps of Nesterov's accelerated descent."""


@dataclass(frozen=True, eq=False)
class Handwriting:
    """Learned cells: their signs, and pictures of their ink (n, TAUGHT_PX, TAUGHT_PX), uint8, 255 for no light."""

    signs: tuple[str, ...]
    cells: npt.NDArray[np.uint8]

    def __post_init__(self) -> None:
        """Check the number of cells and the signs; raises EnrolmentError."""
        unknown = sorted(set(self.signs) - set(SIGNS[1:-1]))
        if unknown:
            raise EnrolmentError(f"{unknown[0]!r} is not a sign that can be taught; expected {', '.join(SIGNS[1:-1])}")
        if len(self.signs) < FEWEST_CELLS:
            raise EnrolmentError(
                f"{len(self.signs)} written cells are too few to learn from; expected {FEWEST_CELLS} or more: write "
                "each sign several times"
            )

    @property
    def counts(self) -> Mapping[str, int]:
        """Number of cells of each sign."""
        count = Counter(self.signs)
        return {sign: count[sign] for sign in SIGNS if count[sign]}

    def weight_corrections(self, network: InkNetwork, settings: HandwritingSettings) -> tuple[FloatArray, FloatArray]:
        """Return the corrections of the scores of SIGNS: by feature (features, len(SIGNS)), and constants
        (len(SIGNS),).
        """
        looks = [self._crops(*shift) for shift in SHIFTS_PX]
        scores, features = network.features(np.concatenate(looks))
        targets = np.tile([SIGNS.index(sign) for sign in self.signs], len(looks))
        given = np.column_stack([features, np.ones(len(features))])
        wanted = np.eye(len(SIGNS))[targets] / len(looks)
        weights = ahead = np.zeros((given.shape[1], len(SIGNS)))
        # the curvature of a softmax is at most one half
        step = 1 / (0.5 * float(np.linalg.eigvalsh(given.T @ given)[-1]) / len(looks) + settings.held)
        for number in range(settings.rounds):
            shares = scores + given @ ahead
            shares = np.exp(shares - shares.max(axis=1, keepdims=True))
            shares /= shares.sum(axis=1, keepdims=True) * len(looks)
            following = ahead - step * (given.T @ (shares - wanted) + settings.held * ahead)
            ahead = following + number / (number + 3) * (following - weights)
            weights = following
        return weights[:-1], weights[-1]

    def _crops(self, down: int, right: int) -> npt.NDArray[np.float32]:
        part = self.cells[:, 1 + down : 1 + down + SEEN_PX, 1 + right : 1 + right + SEEN_PX]
        return np.ascontiguousarray(part[:, None], dtype=np.float32) / np.float32(255)

    def to_json(self) -> dict[str, Any]:
        """Return the cells as JSON values, with their pictures as one PNG, stacked vertically."""
        encoded = cv2.imencode(".png", self.cells.reshape(-1, TAUGHT_PX))[1]
        return {"signs": list(self.signs), "cells": base64.b64encode(encoded.tobytes()).decode("ascii")}

    @classmethod
    def from_json(cls, data: Any) -> Handwriting:
        """Convert from ``to_json``; raises EnrolmentError."""
        damaged = EnrolmentError("the taught handwriting is damaged; teach it again")
        signs, cells = (data.get(key) for key in ("signs", "cells")) if isinstance(data, dict) else (None, None)
        if (
            not isinstance(signs, list)
            or not all(isinstance(sign, str) for sign in signs)
            or not isinstance(cells, str)
        ):
            raise damaged
        try:
            png = base64.b64decode(cells, validate=True)
            picture = as_grey(decode_photo(png, "the handwriting", most_pixels=max(1, len(signs)) * TAUGHT_PX**2))
        except ValueError:
            raise damaged from None
        if picture.shape != (len(signs) * TAUGHT_PX, TAUGHT_PX):
            raise damaged
        return cls(tuple(signs), picture.reshape(-1, TAUGHT_PX, TAUGHT_PX))


def taught_cells(ink: FloatImage, cells: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
    """Return pictures for learning of cells (n, 2) of a flat picture's ink, (n, TAUGHT_PX, TAUGHT_PX).

    ``ink`` is that of a flat picture with half a cell of margin; cells are given by row from the top and column. Beyond
    the picture, its edge goes on.
    """
    around = np.pad(np.round(255 * ink).astype(np.uint8), 1, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(around, (TAUGHT_PX, TAUGHT_PX))
    return np.ascontiguousarray(windows[tuple(CELL_PX * cells.T)])
