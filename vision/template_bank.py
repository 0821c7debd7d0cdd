"""Many masks against many patches at once: correlation as one matrix product.

Sliding every symbol's mask over every place one at a time costs more in calls than in arithmetic. Here all windows of
all patches are rows of one matrix and all masks rows of another, and the product of both is every correlation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import cv2
import numpy as np
import numpy.typing as npt

from vision.sampling import FloatImage
from vision.symbols import Mask, distinct_quarter_turns

FACE_RIM_MM = 1.5
FAINTEST_CONTRAST = 3e-5


@dataclass(frozen=True, eq=False)
class TemplateBank:
    """Upright face masks of one piece set at one scale, without the face's rim.

    ``masks`` has shape (templates, side, side); ``rows`` the same flat, each of mean 0 and length 1. ``symbols``,
    ``quarters`` and ``blurs_px`` say for each template which symbol it is, how many quarter turns counter-clockwise,
    and how much it is blurred.
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
        """Make the templates of each symbol's mask in each quarter turn that looks different, at each blur.

        Blurs are standard deviations in pixels of the bank's scale.
        """
        whole, rim = round(face_mm * px_per_mm), round(FACE_RIM_MM * px_per_mm)
        side = whole - 2 * rim
        drawn, symbols, quarters, blurs = [], [], [], []
        for symbol, mask in masks.items():
            for quarter, blur in product(distinct_quarter_turns(mask), blurs_px):
                upright = np.ascontiguousarray(np.rot90(mask, quarter))
                small = cv2.resize(upright, (whole, whole), interpolation=cv2.INTER_AREA)
                blurred = cv2.GaussianBlur(small, (0, 0), blur) if blur > 0 else small
                drawn.append(blurred[rim : rim + side, rim : rim + side])
                symbols.append(symbol)
                quarters.append(quarter)
                blurs.append(blur)
        stack = np.asarray(drawn, dtype=np.float32).reshape(len(drawn), side, side)
        rows = unit_rows(stack.reshape(len(drawn), side * side))
        return cls(side, px_per_mm, stack, rows, tuple(symbols), tuple(quarters), tuple(blurs))

    def __len__(self) -> int:
        return len(self.symbols)

    def columns_of(self, symbol: str, blur_px: float) -> npt.NDArray[np.intp]:
        """The indices of one symbol's templates at one blur."""
        named = zip(self.symbols, self.blurs_px, strict=True)
        return np.asarray([index for index, name in enumerate(named) if name == (symbol, blur_px)], dtype=np.intp)


def unit_rows(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Rows less their mean, of length 1; rows without any contrast become zero."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(centred, axis=1, keepdims=True)
    return np.asarray(centred / np.maximum(lengths, 1e-9), dtype=np.float32)


def windows_of(patches: FloatImage, side: int) -> FloatImage:
    """Every ``side`` x ``side`` window of each patch (patches, rows, columns), less its patch's mean, as flat rows.

    Shape (patches, down, across, side * side), where ``down`` and ``across`` count the windows' places.
    """
    # what is left keeps single precision fine enough for a faint symbol on a bright face
    centred = patches - patches.mean(axis=(1, 2), keepdims=True)
    seen = np.lib.stride_tricks.sliding_window_view(centred, (side, side), axis=(1, 2))
    return np.ascontiguousarray(seen).reshape(*seen.shape[:3], side * side)


def likeness(windows: FloatImage, bank_rows: npt.NDArray[np.float32]) -> FloatImage:
    """Correlation of each window with each template row, -1 to 1; shape (..., templates).

    ``windows`` is (..., pixels), from ``windows_of``. A window with hardly any contrast gives -1 for all.
    """
    flat = windows.reshape(-1, windows.shape[-1])
    pixels = flat.shape[1]
    products = flat @ bank_rows.T
    sums = flat @ np.ones(pixels, dtype=np.float32)
    squares = np.einsum("ij,ij->i", flat, flat)
    spread = squares - sums * sums / np.float32(pixels)
    flat_ones = spread <= pixels * FAINTEST_CONTRAST**2
    products *= (1 / np.sqrt(np.where(flat_ones, np.float32(1), spread)))[:, None].astype(np.float32)
    products[flat_ones] = -1.0
    return np.asarray(products.reshape(*windows.shape[:-1], len(bank_rows)), dtype=np.float32)


def peak_between(scores: FloatImage, row: int, column: int) -> tuple[float, float]:
    """How far a score's peak lies from its best whole place, (down, across) within half a place.

    A parabola through the best place and its neighbours; 0 at the border.
    """
    offsets = []
    for before, at, after in (
        (scores[row - 1, column], scores[row, column], scores[row + 1, column])
        if 0 < row < scores.shape[0] - 1
        else (0.0, 0.0, 0.0),
        (scores[row, column - 1], scores[row, column], scores[row, column + 1])
        if 0 < column < scores.shape[1] - 1
        else (0.0, 0.0, 0.0),
    ):
        bend = float(before - 2 * at + after)
        offsets.append(float(np.clip((before - after) / (2 * bend), -0.5, 0.5)) if bend < -1e-9 else 0.0)
    return offsets[0], offsets[1]
