"""Symbols learned from a photo, and recognising them in the cells of another photo, between four given corners.

Print and colour are compared separately. The print is compared by normalised correlation over small shifts, expressed
as the squared distance of normalised cells, so that blank cells match too. The mean colour is compared after removing
the difference in lighting between the photos, which is fitted to all cells at once as a plane in log light.

Handwritten digits and crosses are read in any printed grid, too.

A cell is stored as the logs of its linear light relative to the whole grid's. A lamp of another colour then adds a
constant to each channel; subtracting a cell's mean leaves only its print.
"""

from __future__ import annotations

import base64
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from common.durable import write_durably
from common.json_files import read_json_object
from common.phrases import counted
from vision.drawing import whole_pixels, write_text
from vision.errors import EnrolmentError, FrameError, LayoutError
from vision.frame import FloatArray, FloatImage, Image, IndexArray
from vision.opencv import as_colour
from vision.readers.ink.network import (
    BLOT,
    EMPTY_SIGN,
    MARGIN_CELLS,
    SEEN_PX,
    SIGNS,
    Handwriting,
    InkNetwork,
    ink_on,
    read_number,
)
from vision.readers.ink.network import CELL_PX as INK_CELL_PX
from vision.sampling import linear_light

CELL_PX = 32
"""Side of a rectified cell."""
LEAST_CELL_PX = 12
"""Minimum edge of a readable cell in the photo."""
MOST_CELLS = 40
"""Maximum number of rows and of columns."""

_MOST_FINER = 6
"""Maximum oversampling, relative to ``CELL_PX``, before a large cell is averaged."""
DARKEST = 0.05
"""Light added before logarithms are taken, as a share of the grid's mean: anything darker is black."""
_BLUR_PX = 0.9
"""Smoothing of the cells, so that focus and slightly wrong corners count less."""


@dataclass(frozen=True)
class TileGrid:
    """A grid in a photo: its corners (x, y) in pixels at top left, top right, bottom right and bottom left.

    Raises LayoutError for invalid corners or numbers.
    """

    rows: int
    columns: int
    corners: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        if not (1 <= self.rows <= MOST_CELLS and 1 <= self.columns <= MOST_CELLS):
            raise LayoutError(
                f"the grid has {self.rows} x {self.columns} cells; expected 1 to {MOST_CELLS} rows and columns"
            )
        if len(self.corners) != 4:
            raise LayoutError(
                f"{len(self.corners)} corners were given; expected four, as x,y in pixels: top left, top right, "
                "bottom right, bottom left"
            )
        turns = [_turn(*(self.corners[(index + step) % 4] for step in range(3))) for index in range(4)]
        if not all(turn > 0 for turn in turns):
            shown = " ".join(f"{x:g},{y:g}" for x, y in self.corners)
            raise LayoutError(
                f"the corners {shown} do not go once around a grid; give them in this order: top left, top right, "
                "bottom right, bottom left"
            )

    def to_pixels(self) -> FloatArray:
        """Return the homography, (3, 3), from (column, row) with cells of edge 1 to the photo's pixels."""
        ends = np.array([(0, 0), (self.columns, 0), (self.columns, self.rows), (0, self.rows)], dtype=np.float32)
        return np.asarray(cv2.getPerspectiveTransform(ends, np.array(self.corners, dtype=np.float32)), dtype=np.float64)

    def edges_px(self) -> tuple[float, float]:
        """Return the shortest and the longest edge of a cell in the photo, in pixels."""
        nodes = np.array([(x, y) for y in range(self.rows + 1) for x in range(self.columns + 1)], dtype=np.float64)
        seen = cv2.perspectiveTransform(nodes[:, None], self.to_pixels()).reshape(self.rows + 1, self.columns + 1, 2)
        lengths = [np.linalg.norm(np.diff(seen, axis=axis), axis=2) for axis in (0, 1)]
        return min(float(one.min()) for one in lengths), max(float(one.max()) for one in lengths)


def flat_grid(image: Image, grid: TileGrid, source: str, cell_px: int, margin_cells: float = 0.0) -> tuple[Image, int]:
    """Rectify the grid and a margin around it; returns the picture and how many of its pixels make one of ``cell_px``.

    Raises LayoutError where a corner is outside the picture, FrameError where the cells are too small.
    """
    height, width = image.shape[:2]
    for x, y in grid.corners:
        if not (-1 <= x <= width and -1 <= y <= height):
            raise LayoutError(
                f"the corner {x:g},{y:g} is outside {source}, which has {width} x {height} pixels; "
                "give corners in pixels of that picture"
            )
    shortest, longest = grid.edges_px()
    if shortest < LEAST_CELL_PX:
        raise FrameError(
            f"a cell of {source} is {shortest:.0f} pixels wide or high; expected {LEAST_CELL_PX} or more; take the "
            "photo from closer or more from above, or check --grid and --corners"
        )
    finer = min(_MOST_FINER, math.ceil(longest / cell_px))
    step = 1 / (finer * cell_px)
    start = step / 2 - margin_cells
    to_cells = np.array([(step, 0, start), (0, step, start), (0, 0, 1)])
    across, down = (round((cells + 2 * margin_cells) * cell_px) * finer for cells in (grid.columns, grid.rows))
    flat = cv2.warpPerspective(
        image,
        grid.to_pixels() @ to_cells,
        (across, down),
        flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
        borderMode=cv2.BORDER_REPLICATE,
    )
    return np.asarray(flat, dtype=np.uint8), finer


def flat_cells(image: Image, grid: TileGrid, source: str) -> FloatImage:
    """Return the cells in reading order as logs of light, (rows * columns, CELL_PX, CELL_PX, 3), blue-green-red.

    Raises what ``flat_grid`` raises.
    """
    flat, finer = flat_grid(image, grid, source, CELL_PX)
    fine = linear_light(flat)
    light = fine.reshape(grid.rows * CELL_PX, finer, grid.columns * CELL_PX, finer, 3).mean(axis=(1, 3))
    soft = cv2.GaussianBlur(light, (0, 0), _BLUR_PX)
    logs = np.log(soft / max(float(soft.mean()), 1e-6) + DARKEST)
    cells = logs.reshape(grid.rows, CELL_PX, grid.columns, CELL_PX, 3).swapaxes(1, 2)
    return np.ascontiguousarray(cells.reshape(-1, CELL_PX, CELL_PX, 3), dtype=np.float32)


def _turn(before: tuple[float, float], at: tuple[float, float], after: tuple[float, float]) -> float:
    """Return a number above 0 where the path turns clockwise, in a picture whose y points down."""
    return (at[0] - before[0]) * (after[1] - at[1]) - (at[1] - before[1]) * (after[0] - at[0])


UNKNOWN = "?"
"""Name of a cell that matches no symbol; no symbol may have this name."""
TILES_FORMAT = "tabletop-referee tiles 1"

_SHIFT_PX = 3
"""Maximum offset of a cell from its position, in pixels of a rectified cell, whose side is ``CELL_PX``."""
_MOST_LOG = 20.0
"""Maximum difference of a cell's light from the grid's, in log units."""
_INNER_PX = CELL_PX - 2 * _SHIFT_PX
"""Side, in pixels, of the part of a cell that is compared at each offset."""
_Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class TileSettings:
    """Weights of differences. Unlikeness is 0 for the same print and colour, 1 if one is blank, 2 for unrelated prints.

    Tuned on rendered tiles in other light and perspective, with blur and noise, like those in the tests.
    """

    least_contrast: float = 0.1
    """Standard deviation, in log units of light, at which print is as strong as noise."""
    brightness: float = 0.7
    """Difference of brightness, in log units, that has half the maximum effect."""
    chroma: float = 0.35
    """The same for chromaticity."""
    unknown: float = 0.24
    """Unlikeness above which an unknown symbol is more likely than any known one."""
    sharpness: float = 50.0
    """Log-odds per unit of unlikeness."""
    same: float = 0.02
    """Unlikeness below which two cells can't be told apart."""


_SETTINGS = TileSettings()


@dataclass(frozen=True)
class ReadCell:
    """A cell's most likely symbol, ``UNKNOWN`` for one that was not learned, and its probability."""

    symbol: str
    probability: float
    probabilities: Mapping[str, float]
    """By symbol and ``UNKNOWN``; they sum to 1."""


@dataclass(frozen=True, eq=False)
class TileSet:
    """Learned cells and their names; cells as returned by ``flat_cells``, (n, CELL_PX, CELL_PX, 3)."""

    names: tuple[str, ...]
    cells: FloatImage

    @property
    def counts(self) -> Mapping[str, int]:
        """Number of cells each symbol was learned from, in order of first occurrence."""
        return Counter(self.names)

    def read(
        self, image: Image, grid: TileGrid, source: str, *, any_way_up: bool = False
    ) -> tuple[tuple[ReadCell, ...], ...]:
        """Read the cells of a photo, row by row; raises LayoutError and FrameError as ``flat_cells`` does."""
        seen = flat_cells(image, grid, source)
        print_off = _print_unlikeness(seen, self.cells, 4 if any_way_up else 1)
        colours = _Colours.of(seen, self.cells)
        light = _fitted_light(print_off, colours, grid)
        unlikeness = print_off + colours.unlikeness(light)
        owners = np.array(self.names)
        symbols = list(self.counts)
        best = np.stack([unlikeness[:, owners == symbol].min(axis=1) for symbol in symbols], axis=1)
        read = [_read_cell([*symbols, UNKNOWN], np.append(row, _SETTINGS.unknown)) for row in best]
        return tuple(tuple(read[start : start + grid.columns]) for start in range(0, len(read), grid.columns))

    def save(self, path: Path) -> None:
        """Write the learned tiles to a file; raises OSError."""
        cells = [base64.b64encode(cell.astype("<f2").tobytes()).decode("ascii") for cell in self.cells]
        taught = [{"symbol": name, "cell": cell} for name, cell in zip(self.names, cells, strict=True)]
        write_durably(path, json.dumps({"format": TILES_FORMAT, "tiles": taught}, ensure_ascii=False, indent=1) + "\n")

    @classmethod
    def load(cls, path: Path) -> TileSet:
        """Read a file written by ``save``; raises EnrolmentError."""
        expected = "expected what `./run pieces teach` wrote; teach them again"
        data = read_json_object(
            path, "the taught tiles", lambda reason: EnrolmentError(f"{reason}; {expected}"), plural=True
        )
        if data.get("format") != TILES_FORMAT:
            raise EnrolmentError(
                f"{path} holds no taught tiles: its format is {data.get('format')!r}, not {TILES_FORMAT!r}; {expected}"
            )
        tiles = data.get("tiles")
        if not isinstance(tiles, list) or not tiles:
            raise EnrolmentError(f"the taught tiles {path} hold no list of tiles; {expected}")
        read = [_tile_from_json(tile) for tile in tiles]
        for number, tile in enumerate(read, 1):
            if tile is None:
                raise EnrolmentError(f"tile {number} of the taught tiles {path} is damaged; {expected}")
        whole = [tile for tile in read if tile is not None]
        return cls(tuple(name for name, _ in whole), np.stack([cell for _, cell in whole]))


def learn_tiles(image: Image, grid: TileGrid, names: Sequence[str], source: str) -> TileSet:
    """Learn symbols from a photo whose cells show ``names`` in reading order; a name may be repeated.

    Raises EnrolmentError if the number of names and cells differs, and where two names look the same; LayoutError and
    FrameError as ``flat_cells`` does.
    """
    if len(names) != grid.rows * grid.columns:
        raise EnrolmentError(
            f"got {counted(len(names), 'symbol')} for {grid.rows} x {grid.columns} = {grid.rows * grid.columns} cells; "
            "expected one name a cell, row by row, with spaces between them"
        )
    if UNKNOWN in names:
        raise EnrolmentError(f"the name {UNKNOWN} stands for cells that are like no symbol; choose another name")
    cells = flat_cells(image, grid, source)
    same_light = np.zeros((len(cells), 3))
    unlikeness = _print_unlikeness(cells, cells, 1)
    unlikeness += _Colours.of(cells, cells).unlikeness(same_light)
    owners = np.array(names)
    unlikeness[owners[:, None] == owners[None]] = np.inf
    first, second = divmod(int(unlikeness.argmin()), len(cells))
    if unlikeness[first, second] < _SETTINGS.same:
        places = [
            f"{names[at]} (row {at // grid.columns + 1}, column {at % grid.columns + 1})" for at in (first, second)
        ]
        raise EnrolmentError(
            f"{' and '.join(places)} look the same in {source}; expected symbols that differ; give both cells one "
            "name, check --symbols and --corners, or take a sharper photo"
        )
    return TileSet(tuple(names), cells)


def _tile_from_json(tile: Any) -> tuple[str, FloatImage] | None:
    """Return a learned tile's name and cell; ``None`` if it is invalid."""
    if not isinstance(tile, dict) or not isinstance(tile.get("symbol"), str) or not isinstance(tile.get("cell"), str):
        return None
    try:
        values = np.frombuffer(base64.b64decode(tile["cell"], validate=True), dtype="<f2")
    except ValueError:
        return None
    if values.size != CELL_PX * CELL_PX * 3 or not (np.abs(values) < _MOST_LOG).all():
        return None
    return tile["symbol"], values.reshape(CELL_PX, CELL_PX, 3).astype(np.float32)


def _read_cell(symbols: Sequence[str], unlikeness: FloatArray) -> ReadCell:
    chances = np.exp(-_SETTINGS.sharpness * (unlikeness - unlikeness.min()))
    chances /= chances.sum()
    best = int(chances.argmax())
    named = {symbol: float(chance) for symbol, chance in zip(symbols, chances, strict=True)}
    return ReadCell(symbols[best], float(chances[best]), named)


def _window(cells: FloatImage, across: int, down: int) -> FloatImage:
    """Return the inner part of cells at an offset, (n, _INNER_PX, _INNER_PX, 3)."""
    return cells[:, down : down + _INNER_PX, across : across + _INNER_PX]


def _mean_light(cells: FloatImage) -> FloatArray:
    """Return linear light relative to the whole grid's, (n, 3)."""
    light = np.exp(_window(cells, _SHIFT_PX, _SHIFT_PX)) - DARKEST
    return np.asarray(np.maximum(light.mean(axis=(1, 2), dtype=np.float64), DARKEST / 10), dtype=np.float64)


def _normalised(windows: FloatImage) -> _Floats:
    """Return the print alone, (n, points): mean removed; of length 1 at strong contrast, near 0 for blank cells."""
    print_ = windows - windows.mean(axis=(1, 2), keepdims=True)
    flat = print_.reshape(len(print_), -1)
    contrast = np.sqrt(np.square(flat).mean(axis=1, keepdims=True) + _SETTINGS.least_contrast**2)
    return np.asarray(flat / (contrast * np.sqrt(flat.shape[1])), dtype=np.float32)


def _print_unlikeness(seen: FloatImage, taught: FloatImage, turns: int) -> FloatArray:
    """Return the unlikeness of prints, (seen, taught), minimised over offsets and rotations."""
    inner = _window(taught, _SHIFT_PX, _SHIFT_PX)
    turned = [_normalised(np.rot90(inner, turn, axes=(1, 2))) for turn in range(turns)]
    least = np.full((len(seen), len(taught)), np.inf)
    shifts = range(2 * _SHIFT_PX + 1)
    for across, down in ((across, down) for across in shifts for down in shifts):
        here = _normalised(_window(seen, across, down))
        for known in turned:
            lengths = np.square(here).sum(axis=1)[:, None] + np.square(known).sum(axis=1)[None]
            np.minimum(least, lengths - 2 * here @ known.T, out=least)
    return np.asarray(np.maximum(least, 0), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class _Colours:
    """Differences in mean colour between seen and learned cells, in log units, (seen, taught, 3).

    ``sureness``, (seen, taught), is the reliability (0 to 1) of the chromaticity, which is low in the dark.
    """

    differences: FloatArray
    sureness: FloatArray

    @classmethod
    def of(cls, seen: FloatImage, taught: FloatImage) -> _Colours:
        lights = [_mean_light(cells) for cells in (seen, taught)]
        logs = [np.log(light) for light in lights]
        sureness = [(light / (light + DARKEST)).min(axis=1) for light in lights]
        return cls(logs[0][:, None] - logs[1][None], np.outer(*sureness))

    def some(self, cells: IndexArray) -> _Colours:
        """Return the same for a subset of the seen cells."""
        return _Colours(self.differences[cells], self.sureness[cells])

    def strangeness(self, light: FloatArray) -> FloatArray:
        """Return the squared differences in units of the settings, (seen, taught), under a ``light`` of (seen, 3)."""
        off = self.differences - light[:, None]
        brightness = off.mean(axis=2)
        other = np.square(off - brightness[..., None]).sum(axis=2)
        strange = np.square(brightness / _SETTINGS.brightness) + self.sureness * other / _SETTINGS.chroma**2
        return np.asarray(strange, dtype=np.float64)

    def unlikeness(self, light: FloatArray) -> FloatArray:
        """Return the same mapped to 0 to 1 (Geman and McClure's function)."""
        strange = self.strangeness(light)
        return np.asarray(strange / (1 + strange), dtype=np.float64)


_STARTS = 200
"""Initial lights of the fit."""
_CELLS_TRIED = 64
"""Number of cells used for the first evaluation of a light."""
_ROUNDS = 4
"""Number of iterations of the fit, each with new weights of the cells. More: closer, slower."""
_USUAL_LIGHT = 0.7
"""Typical difference in light between two photos, in log units: up to that of daylight and a warm lamp."""
_EVEN = 4.0
"""Weight of the prior that the light is even, in cells."""


def _fitted_light(print_off: FloatArray, colours: _Colours, grid: TileGrid) -> FloatArray:
    """Return the difference in light from the learned photo, in log units, (cells, 3)."""
    tried = _spread(len(print_off), _CELLS_TRIED)
    some, some_print = colours.some(tried), print_off[tried]
    cells, taught = np.nonzero(some_print < _SETTINGS.unknown)
    pairs = _spread(len(cells), _STARTS)
    starts = np.vstack([np.zeros(3), some.differences[cells[pairs], taught[pairs]]])
    costs = []
    for start in starts:
        unlike = some_print + some.unlikeness(np.tile(start, (len(tried), 1)))
        usual = float(np.square(start / _USUAL_LIGHT).sum())
        costs.append(float(np.minimum(unlike.min(axis=1), _SETTINGS.unknown).sum()) + _SETTINGS.unknown * usual)
    light = np.tile(starts[int(np.argmin(costs))], (len(print_off), 1))
    across, down = np.meshgrid(np.linspace(-1, 1, grid.columns), np.linspace(-1, 1, grid.rows))
    terms = np.column_stack([np.ones(across.size), across.ravel(), down.ravel()])
    every = np.arange(len(light))
    for _ in range(_ROUNDS):
        unlike = print_off + colours.unlikeness(light)
        nearest = unlike.argmin(axis=1)
        strange = colours.strangeness(light)[every, nearest]
        weights = np.where(unlike[every, nearest] < _SETTINGS.unknown, 1 / np.square(1 + strange), 0.0)
        if not weights.any():
            break
        weighted = terms * (weights * colours.sureness[every, nearest])[:, None]
        normal = weighted.T @ terms + np.diag([1e-6, _EVEN, _EVEN])
        light = terms @ np.linalg.solve(normal, weighted.T @ colours.differences[every, nearest])
    return light


def _spread(count: int, most: int) -> IndexArray:
    """Return at most ``most`` of the first ``count`` integers, evenly spaced."""
    return np.unique(np.linspace(0, count - 1, min(most, count)).astype(np.intp))


_SURE, _UNSURE, _GRID = (60, 140, 20), (60, 60, 255), (200, 90, 0)
"""Colours of certain and of other cells, and of the grid, blue-green-red."""


def draw_cells(image: Image, grid: TileGrid, cells: Sequence[Sequence[ReadCell]], sure: float) -> Image:
    """Return a copy of the photo with the grid's lines, and each cell's symbol in its lower left corner.

    Known symbols of a probability of ``sure`` or more are green, others red.
    """
    picture = as_colour(image).copy()
    to_pixels = grid.to_pixels()
    level = [((0, row), (grid.columns, row)) for row in range(grid.rows + 1)]
    upright = [((column, 0), (column, grid.rows)) for column in range(grid.columns + 1)]
    for line in _seen_at([*level, *upright], to_pixels):
        cv2.polylines(picture, [whole_pixels(line)], False, _GRID, 1, cv2.LINE_AA)
    lower_left = _seen_at(
        [[(column, row + 1) for column in range(grid.columns)] for row in range(grid.rows)], to_pixels
    )
    for corners, read in zip(lower_left, cells, strict=True):
        for corner, cell in zip(corners, read, strict=True):
            is_sure = cell.symbol != UNKNOWN and cell.probability >= sure
            write_text(picture, cell.symbol, corner, _SURE if is_sure else _UNSURE)
    return picture


def _seen_at(nodes: Sequence[Sequence[tuple[int, int]]], to_pixels: FloatArray) -> FloatArray:
    """Return the pixels of a grid's nodes, given by column and row; both (n, m, 2)."""
    seen = cv2.perspectiveTransform(np.array(nodes, dtype=np.float64), to_pixels)
    return np.asarray(seen, dtype=np.float64)


BARE = "."
"""The symbol of an empty cell."""
_SYMBOLS = tuple({EMPTY_SIGN: BARE, BLOT: UNKNOWN}.get(sign, sign) for sign in SIGNS)


def read_handwriting(
    image: Image, grid: TileGrid, source: str, taught: Handwriting | None = None
) -> tuple[tuple[ReadCell, ...], ...]:
    """Read the cells of a grid, row by row: a number of at most three signs, X, BARE for an empty cell, UNKNOWN for
    another mark.

    All digits are taken to be as frequent. Raises LayoutError where a corner is outside the picture, FrameError where
    the cells are too small.
    """
    flat, finer = flat_grid(image, grid, source, INK_CELL_PX, MARGIN_CELLS)
    if finer > 1:
        size = (flat.shape[1] // finer, flat.shape[0] // finer)
        flat = np.asarray(cv2.resize(flat, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    cells = np.argwhere(np.ones((grid.rows, grid.columns), dtype=np.bool_))
    network, ink = InkNetwork(taught=taught), ink_on(flat)
    found = []
    for (row, column), own in zip(
        cells.tolist(), np.exp(network.read(ink, cells)[:, : len(SIGNS)]).tolist(), strict=True
    ):
        shares = dict(zip(_SYMBOLS, own, strict=True))
        if max(own) == shares[UNKNOWN]:
            crop = ink[INK_CELL_PX * row :, INK_CELL_PX * column :][:SEEN_PX, :SEEN_PX]
            number, share = read_number(network, crop)
            if number:
                shares |= {number: share * shares[UNKNOWN], UNKNOWN: (1 - share) * shares[UNKNOWN]}
        symbol, probability = max(shares.items(), key=lambda pair: pair[1])
        found.append(ReadCell(symbol, probability, shares))
    return tuple(tuple(found[row * grid.columns : (row + 1) * grid.columns]) for row in range(grid.rows))
