"""The appearance of a set of blocks: colour ratios of face to ink, symbol masks, and the file they are stored in.

A colour is stored as the log of the face's linear light over the ink's, per channel. Face and ink are side by side in
the same light, so the ratio hardly depends on lamp, exposure or white balance.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from vision.errors import EnrolmentError
from vision.frame import FloatArray
from vision.images import decode_photo
from vision.opencv import as_grey
from vision.readers.blocks.symbols import Mask, drawn_mask
from vision.readers.enrolment import finite_vector, read_looks, write_looks

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
