"""Textures drawn from seeds: tables, boards, markers, sheets, and the faces of blocks with their symbols."""

from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt

from engine.registry import load
from simulator.rendering.painting import SUBPIXEL_BITS, fixed_point
from simulator.scene.paper import WHITE_PAPER
from simulator.scene.pieces import BlockLook, Colour
from simulator.scene.scene import MarkerState, Surface, TableLook
from simulator.scene.sheets import LyingSheet
from vision.frame import FloatArray, FloatImage, Image
from vision.layout.kit import STRIPE_MM
from vision.layout.pieces import MarkerLayout
from vision.layout.symbols import SYMBOLS, star
from vision.layout.table import TableLayout

TABLE_PX_PER_MM = 1.2
"""Resolution of the table's texture."""
TABLE_TILE_PX = 1100
"""Side of the table's texture."""
BLOCK_FACE_PX = 96
"""Side of the texture of a block's face."""


def smooth_noise(rng: np.random.Generator, size_px: tuple[int, int], cells: tuple[int, int]) -> FloatImage:
    """Return noise between about -1 and 1 of (width, height) pixels, with that many (columns, rows) of bumps."""
    small = rng.uniform(-1.0, 1.0, (max(cells[1], 2), max(cells[0], 2))).astype(np.float32)
    return np.asarray(cv2.resize(small, size_px, interpolation=cv2.INTER_CUBIC), dtype=np.float32)


def _wood(
    rng: np.random.Generator, size_px: tuple[int, int], colour: Colour, contrast: float, rings: int
) -> FloatImage:
    """Return wood of (width, height) pixels with horizontal grain: ``rings`` streaks, and finer ones on them."""
    width, height = size_px
    grain = smooth_noise(rng, size_px, (max(width // 260, 2), rings))
    fine = smooth_noise(rng, size_px, (max(width // 90, 2), rings * 5))
    pores = smooth_noise(rng, size_px, (max(width // 30, 2), height // 2))
    tone = 1.0 + contrast * (0.6 * grain + 0.35 * fine + 0.2 * pores)
    warmth = tone * grain * np.float32(0.12 * contrast)
    blue, green, red = colour
    return np.asarray(cv2.merge([(tone - warmth) * blue, tone * green, (tone + 0.6 * warmth) * red]), dtype=np.float32)


def _to_image(values: FloatImage | FloatArray) -> Image:
    return np.asarray(cv2.convertScaleAbs(np.maximum(values, 0.0), alpha=255.0), dtype=np.uint8)


def table_texture(look: TableLook) -> Image:
    """Return the table's top, shape (TABLE_TILE_PX, TABLE_TILE_PX, 3); to be mirrored beyond its edges."""
    return _tile(look.surface, look.colour, look.seed)


@lru_cache(maxsize=3)
def _tile(surface: Surface, colour: Colour, seed: int) -> Image:
    rng = np.random.default_rng([seed, 1])
    size = (TABLE_TILE_PX, TABLE_TILE_PX)
    base = np.asarray(colour, dtype=np.float64)
    if surface == "wood":
        return _to_image(_wood(rng, size, colour, 0.16, 34))
    if surface == "dark wood":
        dark = (colour[0] * 0.55, colour[1] * 0.6, colour[2] * 0.68)
        return _to_image(_wood(rng, size, dark, 0.3, 30))
    if surface == "checks":
        row, column = np.indices(size) // round(35 * TABLE_PX_PER_MM)
        weave = 0.03 * rng.standard_normal(size)
        factor = 0.65 + 0.35 * ((row % 2) * 0.5 + (column % 2) * 0.5) + weave
        return _to_image(factor[..., None] * base)
    if surface == "marble":
        cloud = smooth_noise(rng, size, (9, 9)) + 0.5 * smooth_noise(rng, size, (22, 22))
        veins = np.exp(-np.abs(cloud) * 9.0)
        return _to_image((1.0 + 0.05 * cloud - 0.28 * veins)[..., None] * base)
    if surface == "cloth":
        fuzz = 0.09 * rng.standard_normal(size)
        threads = 0.03 * np.sin(np.arange(TABLE_TILE_PX) * 1.9)
        return _to_image((1.0 + fuzz + threads[:, None] + threads[None, :])[..., None] * base)
    cloud = 0.02 * smooth_noise(rng, size, (20, 20)) + 0.008 * rng.standard_normal(size)
    return _to_image((1.0 + cloud)[..., None] * base)


def board_texture(layout: TableLayout, look: TableLook, px_per_mm: float) -> Image:
    """Return the board's top with its lines and printed stars, at ``px_per_mm``."""
    rng = np.random.default_rng([look.seed, 2])
    cell = layout.board.cell_mm * px_per_mm
    width, height = round(layout.board.columns * cell), round(layout.board.rows * cell)
    values = _wood(rng, (width, height), look.board_colour, look.board_grain, 40)
    if look.stripes:
        is_dark = np.arange(height) % (2 * STRIPE_MM * px_per_mm) < STRIPE_MM * px_per_mm
        values[is_dark] *= np.float32(1.0 - look.stripes)
    mask = np.zeros((height, width), dtype=np.uint8)
    thickness = max(round(look.line_mm * px_per_mm), 1)
    for column in range(1, layout.board.columns):
        x = round(column * cell)
        cv2.line(mask, (x, 0), (x, height), 255, thickness, cv2.LINE_AA)
    for row in range(1, layout.board.rows):
        y = round(row * cell)
        cv2.line(mask, (0, y), (width, y), 255, thickness, cv2.LINE_AA)
    values = _painted(values, look.line_colour, mask, 0.8)
    stars = np.zeros_like(mask)
    for place in layout.board.printed:
        right_mm, far_mm = layout.centre_mm(place)
        centre = np.array([width / 2 + right_mm * px_per_mm - 0.5, height / 2 - far_mm * px_per_mm - 0.5])
        outline = np.array(star(look.star_radius_mm)) * px_per_mm * np.array([1.0, -1.0]) + centre
        cv2.fillPoly(stars, [fixed_point(outline)], 255, cv2.LINE_AA, SUBPIXEL_BITS)
    return _to_image(_painted(values, look.star_colour, stars, 0.95))


def _painted(values: FloatImage, colour: Colour, mask: Image, opacity: float) -> FloatImage:
    """Return values (height, width, 3) with a colour laid over them where the mask is."""
    cover = (mask.astype(np.float32) / 255.0 * opacity)[..., None]
    return np.asarray(values * (1.0 - cover) + cover * np.asarray(colour), dtype=np.float32)


def marker_texture(markers: MarkerLayout, marker_id: int, border_mm: float, state: MarkerState) -> tuple[Image, float]:
    """Draw one printed marker on white paper; returns the grey picture and the paper's side in millimetres.

    ``half covered`` hides its right half under plain paper. Raises ValueError for an unknown dictionary.
    """
    name = markers.dictionary
    identifier = getattr(cv2.aruco, name, None)
    if not name.startswith("DICT_") or not isinstance(identifier, int):
        raise ValueError(f"no ArUco dictionary {name!r}; expected a name like DICT_4X4_50")
    dictionary = cv2.aruco.getPredefinedDictionary(identifier)
    modules = dictionary.markerSize + 2
    px = modules * 24
    black = cv2.aruco.generateImageMarker(dictionary, marker_id, px, borderBits=1)
    border_px = round(border_mm * px / markers.side_mm)
    paper = np.pad(np.asarray(black), border_px, constant_values=255)
    tinted = np.clip(paper.astype(np.float64) * 0.86 + 18, 0, 255).astype(np.uint8)
    if state == "half covered":
        tinted[:, tinted.shape[1] // 2 :] = 200
    return tinted, markers.side_mm * (px + 2 * border_px) / px


def face_texture(look: BlockLook, colour: str, symbol: str, seed: int) -> Image:
    """Draw one face of a block, BLOCK_FACE_PX square: coloured, grained, edges worn light, the symbol painted.

    Raises ValueError for a colour the look does not have.
    """
    if colour not in look.colours:
        raise ValueError(f"no block colour {colour!r}; this table has {', '.join(sorted(look.colours))}")
    rng = np.random.default_rng([seed, 3, *symbol.encode(), *colour.encode()])
    values = _wood(rng, (BLOCK_FACE_PX, BLOCK_FACE_PX), look.colours[colour], 0.3 * look.grain, 9)
    edge = np.minimum(np.arange(BLOCK_FACE_PX), np.arange(BLOCK_FACE_PX)[::-1])
    border = np.minimum(edge[:, None], edge[None, :])
    worn = np.clip(1.0 - border / (0.05 * BLOCK_FACE_PX), 0.0, 1.0)
    values *= (1.0 + 0.14 * worn[..., None]).astype(np.float32)
    contours = tuple(np.array(outline) * look.symbol_scale for outline in SYMBOLS[symbol])
    painted = _painted(values, look.inks.get(colour, look.ink), _fill_contours(contours), 0.96)
    return _to_image(_folded(painted, rng, look.paper) if look.paper else painted)


def _folded(values: FloatImage, rng: np.random.Generator, strength: float) -> FloatImage:
    """Return a face (side, side, 3) as if folded from paper: bulged, with white edges, a seam and creases."""
    side = len(values)
    along = np.linspace(-1.0, 1.0, side)
    lean = rng.uniform(-1.0, 1.0, 2)
    bulge = 0.1 * strength * (lean[0] * along[None, :] + lean[1] * along[:, None])
    white = np.zeros((side, side), dtype=np.uint8)
    widths = rng.integers(0, 1 + round(0.03 * strength * side) + 1, 4)
    for quarter, width in enumerate(widths.tolist()):
        np.rot90(white, quarter)[:width] = 255
    seam = int(rng.integers(1, 4))
    np.rot90(white, seam)[:, -1 - seam : -seam] = 160
    for _ in range(int(rng.integers(0, 3))):
        ends = rng.integers(0, side, 4).tolist()
        cv2.line(white, (ends[0], 0), (ends[1], side), round(70 * strength), 1, cv2.LINE_AA)
    lit = values * (1.0 + bulge[..., None]).astype(np.float32)
    return _painted(lit, (WHITE_PAPER,) * 3, white, 0.8 * strength)


_SUPERSAMPLING = 4
"""Samples of a symbol per pixel along each direction."""


def _fill_contours(contours: tuple[FloatArray, ...]) -> Image:
    """Draw contours given in the unit square as an anti-aliased mask of a block's face, 0 to 255."""
    scale = BLOCK_FACE_PX * _SUPERSAMPLING
    big = np.zeros((scale, scale), dtype=np.uint8)
    pixels: list[npt.NDArray[np.int32]] = []
    for contour in contours:
        columns = (contour[:, 0] + 0.5) * scale - 0.5
        rows = (0.5 - contour[:, 1]) * scale - 0.5
        pixels.append(np.rint(np.column_stack([columns, rows])).astype(np.int32))
    cv2.fillPoly(big, pixels, 255)
    small = cv2.resize(big, (BLOCK_FACE_PX, BLOCK_FACE_PX), interpolation=cv2.INTER_AREA)
    return np.asarray(small, dtype=np.uint8)


_PRINT_PX_PER_MM = 12.0
"""Resolution at which a sheet is drawn, before it is reduced to the picture's."""
_LINE_GREY = 0.45
"""Screen value of the grid's lines, from 0 to 1."""
_LINE_MM = 0.35
"""Width of the grid's lines; the red line is twice as wide."""
_RED: Colour = (0.25, 0.25, 0.85)  # of the printed red line


def sheet_texture(sheet: LyingSheet, game: str, px_per_mm: float) -> Image:
    """Return a sheet as it is printed, far edge up, at ``px_per_mm``."""
    half_x, half_y = (float(half) for half in sheet.half_mm)
    scale = _PRINT_PX_PER_MM
    size = (round(2 * half_x * scale), round(2 * half_y * scale))
    paper = np.full((size[1], size[0], 3), round(255 * WHITE_PAPER), np.uint8)

    def at(x: float, y: float) -> tuple[int, int]:
        return round((x + half_x) * scale), round((half_y - y) * scale)

    bounds, cell = sheet.surface.bounds_mm, sheet.surface.cell_mm
    thickness = max(round(_LINE_MM * scale), 1)
    grey = (round(255 * _LINE_GREY),) * 3
    for column in range(sheet.surface.columns + 1):
        x = bounds.left_mm + column * cell
        cv2.line(paper, at(x, bounds.near_mm), at(x, bounds.far_mm), grey, thickness)
    for row in range(sheet.surface.rows + 1):
        y = bounds.near_mm + row * cell
        cv2.line(paper, at(bounds.left_mm, y), at(bounds.right_mm, y), grey, thickness)
    printed = load(game).printed_sheet
    red_line = None if printed is None else printed(None).red_line
    if red_line is not None:
        y = bounds.near_mm + red_line * cell
        red = tuple(255 * channel for channel in _RED)
        cv2.line(paper, at(bounds.left_mm, y), at(bounds.right_mm, y), red, 2 * thickness)
    for marker_id, (x, y) in sheet.markers.centres_mm.items():
        texture, side_mm = marker_texture(sheet.markers, marker_id, 0.0, "whole")
        side = round(side_mm * scale)
        left, top = at(x - side_mm / 2, y + side_mm / 2)
        printed_marker = cv2.resize(texture, (side, side), interpolation=cv2.INTER_AREA)
        paper[top : top + side, left : left + side] = printed_marker[..., None]
    target = (max(round(2 * half_x * px_per_mm), 1), max(round(2 * half_y * px_per_mm), 1))
    return np.asarray(cv2.resize(paper, target, interpolation=cv2.INTER_AREA), dtype=np.uint8)
