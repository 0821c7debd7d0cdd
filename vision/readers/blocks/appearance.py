"""The appearance of a set of blocks: colour ratios of face to ink, symbol masks, and the file they are stored in.

A colour is stored as the log of the face's linear light over the ink's, per channel. Face and ink are side by side in
the same light, so the ratio hardly depends on lamp, exposure or white balance.

A mask is square, float32, covers one whole face, and holds the share of ink in each pixel (0 to 1). Rows run from the
face's far edge to its near edge when the face is seen upright. A template bank holds masks as rows of a matrix, so that
all correlations are one matrix product.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from vision.errors import EnrolmentError
from vision.frame import FloatArray, FloatImage
from vision.images import decode_photo
from vision.layout.symbols import SYMBOLS
from vision.opencv import as_grey
from vision.readers.enrolment import finite_vector, read_looks, write_looks

Mask = npt.NDArray[np.float32]

SUPERSAMPLING = 8
"""Factor by which symbols are drawn larger, then shrunk. Higher: smoother edges, but slower."""
FACE_RIM_MM = 1.5
"""Rim of a face that is not correlated. Larger: less of what lies next to the face is compared with the mask."""
FAINTEST_CONTRAST = 3e-5
"""Standard deviation of linear light in a window up to which it fits no template. Higher: faint symbols are missed.

Both were set by hand on the virtual table's and the ray-traced pictures.
"""


def drawn_mask(symbol: str, side_px: int) -> Mask:
    """Draw one of the six known symbols upright, antialiased, on a face of ``side_px`` pixels.

    The proportions are those of a common printed set; other sets are learned by enrolment. Raises ValueError for a
    symbol without a known shape.
    """
    if symbol not in SYMBOLS:
        raise ValueError(f"no shape is known for the symbol {symbol!r}; enrol it from a picture")
    large = side_px * SUPERSAMPLING
    canvas = np.zeros((large, large), dtype=np.uint8)
    outlines = [(np.array(outline) * (1, -1) + 0.5) * large for outline in SYMBOLS[symbol]]
    cv2.fillPoly(canvas, [np.round(outline).astype(np.int32) for outline in outlines], 255)
    small = cv2.resize(canvas, (side_px, side_px), interpolation=cv2.INTER_AREA)
    return np.asarray(small, dtype=np.float32) / np.float32(255)


def transformed_mask(mask: Mask, turned_deg: float = 0.0, scale: float = 1.0) -> Mask:
    """Rotate a mask counter-clockwise, and enlarge (above 1) or shrink it, about its centre; pixels from outside have
    no ink.
    """
    side = mask.shape[0]
    middle = (side - 1) / 2
    matrix = cv2.getRotationMatrix2D((middle, middle), turned_deg, scale)
    return np.asarray(cv2.warpAffine(mask, matrix, (side, side), flags=cv2.INTER_LINEAR), dtype=np.float32)


def distinct_quarter_turns(mask: Mask) -> tuple[int, ...]:
    """Return the quarter turns (0 to 3) at which a mask looks different from the others (correlation below 0.93)."""
    kept: list[int] = []
    for quarter in range(4):
        turned = np.rot90(mask, quarter).ravel()
        if all(np.corrcoef(turned, np.rot90(mask, other).ravel())[0, 1] < 0.93 for other in kept):
            kept.append(quarter)
    return tuple(kept)


@dataclass(frozen=True, eq=False)
class TemplateBank:
    """Upright face masks of one piece set at one scale, without the face's rim.

    ``masks`` has shape (templates, side, side); ``rows`` are the same, flattened, each of mean 0 and length 1. For each
    template, ``symbols`` is its symbol, ``quarters`` the number of quarter turns counter-clockwise, and ``blurs_px``
    its blur.
    """

    side_px: int
    px_per_mm: float
    masks: npt.NDArray[np.float32]
    rows: npt.NDArray[np.float32]
    symbols: tuple[str, ...]
    quarters: tuple[int, ...]
    blurs_px: tuple[float, ...]

    @classmethod
    def of(
        cls,
        masks: Mapping[str, Mask],
        face_mm: float,
        px_per_mm: float,
        blurs_px: tuple[float, ...],
    ) -> TemplateBank:
        """Make a template for each symbol's mask, distinct quarter turn and blur.

        Blurs are standard deviations in pixels of the bank's scale.
        """
        whole, rim = round(face_mm * px_per_mm), round(FACE_RIM_MM * px_per_mm)
        side = whole - 2 * rim
        drawn, symbols, quarters, blurs = [], [], [], []
        for symbol, mask in masks.items():
            for quarter, blur in product(distinct_quarter_turns(mask), blurs_px):
                upright = np.ascontiguousarray(np.rot90(mask, quarter))
                small = cv2.resize(upright, (whole, whole), interpolation=cv2.INTER_AREA)
                blurred = cv2.GaussianBlur(small, (0, 0), blur)
                drawn.append(blurred[rim : rim + side, rim : rim + side])
                symbols.append(symbol)
                quarters.append(quarter)
                blurs.append(blur)
        stack = np.asarray(drawn, dtype=np.float32).reshape(len(drawn), side, side)
        rows = unit_rows(stack.reshape(len(drawn), side * side))
        return cls(side, px_per_mm, stack, rows, tuple(symbols), tuple(quarters), tuple(blurs))

    def columns_of(self, symbol: str, blur_px: float) -> list[int]:
        """Return indices of one symbol's templates at one blur."""
        named = zip(self.symbols, self.blurs_px, strict=True)
        return [index for index, name in enumerate(named) if name == (symbol, blur_px)]


def unit_rows(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return rows minus their mean, normalised to length 1; rows without contrast become zero."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(centred, axis=1, keepdims=True)
    return np.asarray(centred / np.maximum(lengths, 1e-9), dtype=np.float32)


def windows_of(patches: FloatImage, side: int) -> FloatImage:
    """Return every ``side`` x ``side`` window of each patch (patches, rows, columns), minus its patch's mean, as flat
    rows.

    Shape (patches, down, across, side * side), where ``down`` and ``across`` are the window's offsets.
    """
    # after this, single precision suffices for a faint symbol on a bright face
    centred = patches - patches.mean(axis=(1, 2), keepdims=True)
    seen = np.lib.stride_tricks.sliding_window_view(centred, (side, side), axis=(1, 2))
    return np.ascontiguousarray(seen).reshape(*seen.shape[:3], side * side)


def correlations(windows: FloatImage, bank_rows: npt.NDArray[np.float32]) -> FloatImage:
    """Return the correlation of each window with each template row, -1 to 1; shape (..., templates).

    ``windows`` is (..., pixels), from ``windows_of``. A window with hardly any contrast gets -1 for all.
    """
    pixels = windows.shape[-1]
    # patch by patch, since BLAS is slower with one very long matrix
    stacked = windows.reshape(-1, math.prod(windows.shape[-3:-1]), pixels)
    products = stacked @ np.vstack([bank_rows, np.ones(pixels, dtype=np.float32)]).T
    squares = (stacked[..., None, :] @ stacked[..., None])[..., 0, 0]
    spread = squares - products[..., -1] ** 2 / np.float32(pixels)
    is_flat = spread <= pixels * FAINTEST_CONTRAST**2
    found = products[..., :-1] / np.sqrt(np.where(is_flat, np.float32(1), spread))[..., None]
    found[is_flat] = -1.0
    return np.asarray(found.reshape(*windows.shape[:-1], len(bank_rows)), dtype=np.float32)


def peak_between(scores: FloatImage, row: int, column: int) -> tuple[float, float]:
    """Return subpixel offset (down, across) of a score's peak from its best whole position, within half a step.

    Fits a parabola through the best position and its neighbours; 0 at the border.
    """
    return _vertex(scores[:, column], row), _vertex(scores[row], column)


def _vertex(values: FloatImage, at: int) -> float:
    """Return the offset from ``at`` of the vertex of the parabola there; 0 at the border, or where it hardly bends."""
    if not 0 < at < len(values) - 1:
        return 0.0
    before, middle, after = values[at - 1 : at + 2]
    bend = float(before - 2 * middle + after)
    return float(before - after) / (2 * bend) if bend < -1e-9 else 0.0


APPEARANCE_FORMAT = "tabletop-referee looks 1"
RATIO_FLOOR = 0.04
"""Share of the brighter of face and ink that is added to both. Higher: noise in the dark matters less, and dark faces
differ less. Set by hand on the virtual table's and the ray-traced pictures.
"""
MASK_SIDE_PX = 60
"""Side of a drawn or learned mask."""
MOST_MASK_SIDE_PX = 1024
"""Side above which a mask in a file is refused: it would take much memory."""


def look_name(colour: str, symbol: str) -> str:
    """Return the look of a block, as written everywhere: ``teal block, x up``."""
    return f"{colour} block, {symbol} up"


def log_ratio(face: FloatArray, ink: FloatArray) -> FloatArray:
    """Return the log of face over ink in linear light, channels last, blue-green-red.

    A small share of the brighter is added to both, since below that a camera only records noise.
    """
    floor = RATIO_FLOOR * np.maximum(np.maximum(face, ink), 1e-4)
    return np.asarray(np.log((face + floor) / (ink + floor)), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class BlockAppearance:
    """A piece set: ``colours`` maps names to log ratios (blue, green, red), ``masks`` maps symbols to face masks."""

    colours: Mapping[str, FloatArray]
    masks: Mapping[str, Mask] = field(repr=False)

    @property
    def symbols(self) -> tuple[str, ...]:
        """The symbols' names, in the order they were learned or drawn."""
        return tuple(self.masks)

    @property
    def traits(self) -> tuple[tuple[str, ...], ...]:
        """The traits that distinguish its blocks: colours, then symbols."""
        return tuple(self.colours), self.symbols

    @property
    def looks(self) -> tuple[str, ...]:
        """All looks of this set's blocks."""
        return tuple(look_name(colour, symbol) for colour in self.colours for symbol in self.masks)


def drawn_appearance(symbols: tuple[str, ...]) -> BlockAppearance:
    """Return an appearance with drawn symbols and no colours, for a set that was not enrolled."""
    return BlockAppearance({}, {symbol: drawn_mask(symbol, MASK_SIDE_PX) for symbol in symbols})


def printed_appearance(
    symbols: tuple[str, ...], colours: Mapping[str, FloatArray], inks: Mapping[str, FloatArray]
) -> BlockAppearance:
    """Return the appearance of blocks as they are printed, given the linear light of faces and inks, (3,) each."""
    ratios = {name: log_ratio(face, inks[name]) for name, face in colours.items()}
    return BlockAppearance(ratios, drawn_appearance(symbols).masks)


def appearance_to_json(looks: BlockAppearance) -> dict[str, Any]:
    """Convert to JSON values: numbers for colours, a PNG in base64 for each mask."""
    masks = {}
    for symbol, mask in looks.masks.items():
        png = cv2.imencode(".png", np.round(mask * 255).clip(0, 255).astype(np.uint8))[1]
        masks[symbol] = base64.b64encode(png.tobytes()).decode("ascii")
    return {
        "colours": {name: [round(float(v), 4) for v in ratio] for name, ratio in looks.colours.items()},
        "masks": masks,
    }


def appearance_from_json(data: Mapping[str, Any]) -> BlockAppearance:
    """Convert from JSON values; raises EnrolmentError with what is wrong."""
    try:
        colours = {str(name): finite_vector(ratio, 3) for name, ratio in data["colours"].items()}
        masks = {str(symbol): _mask(base64.b64decode(text, validate=True)) for symbol, text in data["masks"].items()}
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as wrong:
        raise EnrolmentError("these looks cannot be read ({wrong}): enrol the piece set again", wrong) from wrong
    if not masks:
        raise EnrolmentError("these looks have no symbols: enrol the piece set again")
    return BlockAppearance(colours, masks)


def save_appearance(looks: BlockAppearance, path: Path) -> None:
    """Write an appearance to a file, atomically; raises OSError."""
    write_looks(path, APPEARANCE_FORMAT, appearance_to_json(looks))


def load_appearance(path: Path) -> BlockAppearance:
    """Read an appearance from a file; raises EnrolmentError."""
    return appearance_from_json(read_looks(path, APPEARANCE_FORMAT))


def _mask(png: bytes) -> Mask:
    """Decode a symbol's mask; raises ValueError for another picture."""
    grey = as_grey(decode_photo(png, "a mask", most_pixels=MOST_MASK_SIDE_PX**2))
    if grey.shape[0] != grey.shape[1]:
        raise ValueError(f"a mask has {grey.shape[1]} x {grey.shape[0]} pixels where a square is expected")
    return np.asarray(grey, dtype=np.float32) / np.float32(255)
