"""Random pictures of written grids, photographed and rectified, to train the reader of ink."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import cv2
import numpy as np
import numpy.typing as npt

from simulator.rendering.optics import GAMMA, compress
from simulator.scene.handwriting import OTHER_FORMS, Stroke, Writer, loop_around
from vision.frame import FloatArray, FloatImage, Image

_DRAWN_PX = 48
"""Pixels per cell of the sheet as it is drawn."""
ROWS, COLUMNS = 5, 6
_AROUND = 1.0
"""Paper around the grid, in cells."""
_FINER = 3
"""Oversampling of a scanned sign."""
_USUALLY, _FAITHFUL = 0.6, 0.95
"""Probabilities that any writer, and that a known one, uses their usual form of a sign."""
_BLOTS, _SEVERAL, _BROKEN = 0.16, 0.5, 0.08
"""The shares of marks that are blots, of blots that are signs beside each other, and of signs with a broken line."""
SEEN_PX = (11.5, 36.0)
"""The least and the largest width of a cell in the camera's picture, in pixels."""
_SHAKEN, _NOISY = 0.2, 0.1
"""The shares of sheets that a shaken camera and one with much noise have taken."""

Cells = npt.NDArray[np.int64]
Scans = Mapping[str, npt.NDArray[np.uint8]]
"""Scanned handwriting: by sign, pictures (n, side, side) of the ink's coverage, 255 for full. A sign fills about two
thirds of a picture's height."""
NO_SCANS: Scans = MappingProxyType({})
_MNIST_PX, _OPTDIGITS_PX, _OPTDIGITS_MARGIN_PX = 28, 32, 6
_ASIDE, _ONE_WRITER = 0.25, 64
"""The share of a file of optdigits that is not trained on, its last; and about how many digits each writer has there,
one writer after another."""


def scans_in(path: Path, *, aside: bool) -> Scans:
    """Read scanned digits, those to train on or those of other writers: a folder of MNIST, or a file of optdigits.

    MNIST's files hold a header of 16 and of 8 bytes, then bytes: a picture's pixels, and a digit. In
    ``optdigits-orig.tra`` each digit follows the rows of its picture, zeros and ones.
    """
    if path.is_dir():
        part = "t10k" if aside else "train"
        pictures = np.frombuffer((path / f"{part}-images-idx3-ubyte").read_bytes(), dtype=np.uint8, offset=16)
        pictures = pictures.reshape(-1, _MNIST_PX, _MNIST_PX)
        digits = np.frombuffer((path / f"{part}-labels-idx1-ubyte").read_bytes(), dtype=np.uint8, offset=8)
    else:
        lines = path.read_text(encoding="ascii").split()
        rows = [line for line in lines if len(line) == _OPTDIGITS_PX and set(line) <= {"0", "1"}]
        bits = np.array([list(row) for row in rows]).astype(np.uint8) * np.uint8(255)
        margin = ((0, 0), *((_OPTDIGITS_MARGIN_PX, _OPTDIGITS_MARGIN_PX),) * 2)
        pictures = np.pad(bits.reshape(-1, _OPTDIGITS_PX, _OPTDIGITS_PX), margin)
        after = lines.index(rows[0])
        digits = np.array(lines[after + _OPTDIGITS_PX :: _OPTDIGITS_PX + 1][: len(pictures)]).astype(np.uint8)
        first = round(len(pictures) * (1 - _ASIDE))
        kept = slice(first, None) if aside else slice(first - _ONE_WRITER)
        pictures, digits = pictures[kept], digits[kept]
    return {str(digit): pictures[digits == digit] for digit in range(10)}


@dataclass(frozen=True, eq=False)
class WrittenSheet:
    """A rectified grid and its ground truth.

    ``flat`` is the picture with a margin of half a cell, uint8. ``signs`` (rows, columns) are indices into the argument
    ``signs`` of ``written_sheet``; ``loops`` (rows, columns) numbers the loop around each cell, 0 for none.
    """

    flat: Image
    signs: Cells
    loops: Cells


def loops_of(rng: np.random.Generator, count: int) -> Cells:
    """Draw cells (ROWS, COLUMNS) in at most that many loops, numbered from 1; loops may touch but share no cell."""
    loops = np.zeros((ROWS, COLUMNS), dtype=np.int64)
    for number in range(1, count + 1):
        size = int(rng.choice([3, 3, 3, 4, 4, 5, 6, 7]))
        cells = [(int(rng.integers(ROWS)), int(rng.integers(COLUMNS)))]
        straight = rng.random() < 0.5
        while len(cells) < size:
            row, column = cells[-1] if straight else cells[int(rng.integers(len(cells)))]
            down, right = [(0, 1), (0, -1), (1, 0), (-1, 0)][int(rng.integers(4))]
            row, column = row + down, column + right
            if not (0 <= row < ROWS and 0 <= column < COLUMNS):
                straight = False
                if rng.random() < 0.1:
                    break
                continue
            if (row, column) not in cells:
                cells.append((row, column))
            elif rng.random() < 0.1:
                break
        if len(cells) >= 2 and not any(loops[cell] for cell in cells):
            for cell in cells:
                loops[cell] = number
    return loops


_INKS = (
    ((0.05, 0.05, 0.05), 0.05),
    ((0.12, 0.12, 0.12), 0.08),
    ((0.55, 0.16, 0.09), 0.1),
    ((0.4, 0.1, 0.06), 0.08),
    ((0.12, 0.1, 0.6), 0.1),
    ((0.18, 0.35, 0.1), 0.1),
    ((0.38, 0.38, 0.38), 0.14),
    ((0.3, 0.3, 0.3), 0.1),
)
"""Black, blue, red, green and pencil, blue-green-red as shares of the paper's light, and how they spread."""


def _ink(rng: np.random.Generator) -> npt.NDArray[np.float32]:
    colour, spread = _INKS[int(rng.integers(len(_INKS)))]
    return np.clip(np.array(colour) + rng.normal(0, spread, 3) * 0.5 + rng.normal(0, spread), 0.01, 0.72).astype(
        np.float32
    )


def _draw(cover: Image, strokes: list[Stroke], middle: FloatArray, width: float) -> None:
    """Draw strokes around a centre, in cells, on a mask of the ink's coverage."""
    shift = 4
    for stroke in strokes:
        points = np.round((stroke + middle + _AROUND) * _DRAWN_PX * (1 << shift)).astype(np.int32)
        thick = max(1, round(width * _DRAWN_PX))
        cv2.polylines(cover, [points.reshape(-1, 1, 2)], False, 255, thick, cv2.LINE_AA, shift)


def _paste(cover: Image, scan: Image, middle: FloatArray, size: FloatArray, rng: np.random.Generator) -> None:
    """Draw a scanned sign around a centre, in cells, on a mask of the ink's coverage; ``size`` multiplies its width and
    height.

    It may be made narrower, wider or slanted, and its strokes thinner than those of the felt pens used for MNIST.
    """
    fine = cv2.resize(scan, None, fx=_FINER, fy=_FINER, interpolation=cv2.INTER_CUBIC)
    if rng.random() < 0.5:
        fine = cv2.erode(fine, np.ones(tuple(rng.integers(1, 4, 2)), dtype=np.uint8))
    side = fine.shape[0]
    scale = rng.uniform(0.6, 1.25) * _DRAWN_PX / side
    angle, slant, wider = np.radians(rng.normal(0, 5)), rng.normal(0, 0.1), rng.uniform(0.75, 1.2)
    turned = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    turn = np.diag(size) @ turned @ np.array([[wider, slant], [0, 1]]) * scale
    at = (middle + _AROUND) * _DRAWN_PX
    onto = np.column_stack([turn, at - turn @ (side / 2, side / 2)])
    shape = (cover.shape[1], cover.shape[0])
    np.maximum(cover, cv2.warpAffine(fine, onto, shape, flags=cv2.INTER_LINEAR), out=cover)


def _inked(
    sheet: FloatImage,
    cover: Image,
    ink: npt.NDArray[np.float32],
    rng: np.random.Generator,
) -> None:
    alpha = cover.astype(np.float32) * np.float32(1 / 255)
    if rng.random() < 0.4:
        white = rng.standard_normal(alpha.shape, dtype=np.float32)
        grain = np.asarray(cv2.GaussianBlur(white, (0, 0), rng.uniform(1.0, 4.0)), dtype=np.float32)
        spread = np.float32(rng.uniform(0.05, 0.25) / max(float(grain.std()), 1e-6))
        alpha *= np.clip(1 - spread * np.abs(grain), 0.2, 1)
    sheet *= 1 - alpha[..., None] * (1 - ink)


def _printed(rng: np.random.Generator) -> FloatImage:
    """Return the reflectance of bare paper with its grid, shape (height, width, 3)."""
    height, width = (round((count + 2 * _AROUND) * _DRAWN_PX) for count in (ROWS, COLUMNS))
    sheet = np.ones((height, width, 3), dtype=np.float32)
    grey = rng.uniform(0.15, 0.8)
    colour = np.clip(grey + rng.normal(0, 0.06, 3), 0.05, 0.95).astype(np.float32)
    thick = max(1, round(rng.uniform(0.012, 0.055) * _DRAWN_PX))
    first, bottom, right = (round((_AROUND + count) * _DRAWN_PX) for count in (0, ROWS, COLUMNS))
    red_row = int(rng.integers(1, ROWS)) if rng.random() < 0.4 else None
    thick_row = int(rng.integers(ROWS + 1)) if rng.random() < 0.2 else None
    for row in range(ROWS + 1):
        at = round((_AROUND + row) * _DRAWN_PX)
        cv2.line(sheet, (first, at), (right, at), colour.tolist(), 2 * thick if row == thick_row else thick)
    for column in range(COLUMNS + 1):
        at = round((_AROUND + column) * _DRAWN_PX)
        cv2.line(sheet, (at, first), (at, bottom), colour.tolist(), thick)
    if red_row is not None:
        red = np.clip(np.array([0.12, 0.12, 0.7]) + rng.normal(0, 0.1, 3), 0.02, 0.9)
        at = round((_AROUND + red_row) * _DRAWN_PX)
        cv2.line(sheet, (first, at), (right, at), red.tolist(), thick + int(rng.integers(0, 3)))
    return sheet


def _beside(rng: np.random.Generator, names: list[str]) -> list[tuple[str, FloatArray, FloatArray]]:
    """Return signs beside each other within one cell: each one's name, its offset in cells, and its width and height
    as shares of the usual ones.
    """
    slot = rng.uniform(0.6, 1.0) / len(names)
    height = rng.uniform(0.6, 1.0)
    first = rng.normal(0, 0.05) - slot * (len(names) - 1) / 2
    return [
        (
            name,
            np.array([first + number * slot + rng.normal(0, 0.02), rng.normal(0, 0.04)]),
            np.array([slot * rng.uniform(1.2, 1.9), height * rng.uniform(0.85, 1.15)]),
        )
        for number, name in enumerate(names)
    ]


def _several(rng: np.random.Generator) -> list[str]:
    """Return the signs of a number of two or three digits, or of one below 0, or digits and letters."""
    names = list(rng.choice(list("0123456789"), int(rng.choice([2, 2, 2, 3]))))
    if rng.random() < 0.3:
        names[0] = str(rng.choice(list("--+") + sorted(OTHER_FORMS)))
    # the commonest, and the easiest to miss
    if rng.random() < 0.4:
        names[0] = "1"
    return [str(name) for name in names]


def _break(cover: Image, middle: FloatArray, rng: np.random.Generator) -> None:
    """Break the strokes of a sign around a centre, in cells, along a thin line."""
    at = (middle + _AROUND + rng.normal(0, 0.12, 2)) * _DRAWN_PX
    along = rng.uniform(0, np.pi)
    reach = 0.5 * _DRAWN_PX * np.array([np.cos(along), np.sin(along)])
    first, last = (np.round(at + sign * reach).astype(int).tolist() for sign in (-1, 1))
    cv2.line(cover, first, last, 0, int(rng.integers(1, 4)))


def written_sheet(
    rng: np.random.Generator,
    signs: tuple[str, ...],
    cell_px: int,
    scans: Scans = NO_SCANS,
    own: Writer | None = None,
    seen_px: tuple[float, float] = SEEN_PX,
    *,
    plain: bool = False,
) -> WrittenSheet:
    """Return a grid written by one person or many, photographed and rectified to that many pixels per cell.

    ``signs`` are the names: the first is an empty cell, the last a blot, which stands for any mark that is not one
    sign. Signs of ``scans`` are not drawn. ``own`` is the only writer, if given. The camera sees cells of a width
    within ``seen_px``. A plain sheet has no loops or broken lines, and its camera is steady and has little noise.
    """
    sheet = _printed(rng)
    hand = Writer(rng, rng.uniform(0.4, 1.5)) if own is None else own
    by_many = rng.random() < 0.5 and own is None
    written = np.zeros((ROWS, COLUMNS), dtype=np.int64)
    filled = rng.uniform(0.3, 0.95)
    loops = loops_of(rng, 0 if plain else int(rng.choice([0, 0, 1, 2, 3, 4])))
    ink, width = _ink(rng), rng.uniform(0.028, 0.1)
    faithful = _USUALLY if own is None else _FAITHFUL
    blot = len(signs) - 1
    cover = np.zeros(sheet.shape[:2], dtype=np.uint8)
    for row in range(ROWS):
        for column in range(COLUMNS):
            if rng.random() > filled and not (loops[row, column] and rng.random() < 0.9):
                continue
            number = blot if rng.random() < _BLOTS else int(rng.integers(1, blot))
            if number == blot and rng.random() < 0.15:
                number = signs.index("1")
            hand = Writer(rng, rng.uniform(0.4, 1.5)) if by_many else hand
            middle = np.array([column + 0.5, row + 0.5])
            layer = np.zeros_like(cover)
            if number != blot:
                parts = [(signs[number], np.zeros(2), np.ones(2))]
            else:
                parts = _beside(rng, _several(rng)) if rng.random() < _SEVERAL else []
            wide = width * rng.uniform(0.65, 1.5)
            for name, offset, size in parts:
                scan = scans.get(name)
                if scan is None:
                    strokes = [size * stroke for stroke in hand.sign(name, faithful)]
                    _draw(layer, strokes, middle + offset, wide)
                else:
                    away = rng.normal(0, 0.07, 2) if number != blot else offset
                    _paste(layer, scan[int(rng.integers(len(scan)))], middle + away, size, rng)
            if not parts:
                _draw(layer, hand.blot(), middle, wide)
            elif not plain and rng.random() < _BROKEN:
                _break(layer, middle, rng)
            if rng.random() < 0.1:
                # another pen
                _inked(sheet, layer, _ink(rng), rng)
            else:
                np.maximum(cover, layer, out=cover)
            written[row, column] = number
    same_pen = rng.random() < 0.7
    ring = cover if same_pen else np.zeros_like(cover)
    loop_width = width * rng.uniform(0.8, 1.2)
    for number in range(1, int(loops.max()) + 1):
        if (loops == number).any():
            _draw(ring, loop_around(loops == number, rng), np.zeros(2), loop_width)
    _inked(sheet, cover, ink, rng)
    if not same_pen:
        _inked(sheet, ring, _ink(rng), rng)
    return WrittenSheet(_photographed(rng, sheet, cell_px, seen_px, plain=plain), written, loops)


def _photographed(
    rng: np.random.Generator, sheet: FloatImage, cell_px: int, sizes_px: tuple[float, float], *, plain: bool
) -> Image:
    """Return the sheet as a camera sees it, rectified with a slightly wrong pose."""
    height, width = sheet.shape[:2]
    seen_px = float(np.exp(rng.uniform(*np.log(sizes_px))))
    scale = seen_px / _DRAWN_PX
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], dtype=np.float64)
    turn = rng.uniform(-np.pi, np.pi)
    squeeze = rng.uniform(0.78, 1.0)
    lean = rng.uniform(-np.pi, np.pi)

    def rotation(angle: float) -> FloatArray:
        return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])

    placed = (corners - corners.mean(axis=0)) @ rotation(turn).T * scale
    placed = placed @ rotation(lean).T @ np.diag([1.0, squeeze]) @ rotation(-lean).T
    placed += rng.normal(0, 0.012 * scale * width, placed.shape)
    placed -= placed.min(axis=0) - 3
    size = (int(np.ceil(placed[:, 0].max())) + 4, int(np.ceil(placed[:, 1].max())) + 4)
    to_picture = cv2.getPerspectiveTransform(corners.astype(np.float32), placed.astype(np.float32))
    light = cv2.GaussianBlur(sheet, (0, 0), max(0.3, 0.42 / scale))
    picture = cv2.warpPerspective(light, to_picture, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    sharpness = rng.uniform(0.2, 0.85)
    picture = cv2.GaussianBlur(picture, (0, 0), sharpness) if sharpness > 0.3 else picture
    if not plain and rng.random() < _SHAKEN:
        picture = cv2.filter2D(picture, -1, _shake(rng))
    picture = picture * _lamp(rng, picture.shape[:2])
    noise = rng.uniform(0.001, 0.02) if plain or rng.random() > _NOISY else rng.uniform(0.02, 0.05)
    picture = picture + rng.standard_normal(picture.shape, dtype=np.float32) * noise * np.sqrt(
        np.clip(picture, 0.02, 1)
    )
    encoded = np.clip(picture, 0, 1) ** (1 / GAMMA) * 255
    taken = np.asarray(np.round(encoded), dtype=np.uint8)
    if rng.random() < 0.3:
        blurred = cv2.GaussianBlur(taken, (0, 0), 1.0)
        taken = np.asarray(cv2.addWeighted(taken, 1.6, blurred, -0.6, 0), dtype=np.uint8)
    taken = compress(taken, int(rng.integers(55, 97)))
    around = 0.5
    flat = (
        np.array(
            [
                [_AROUND - around, _AROUND - around],
                [_AROUND + COLUMNS + around, _AROUND - around],
                [_AROUND + COLUMNS + around, _AROUND + ROWS + around],
                [_AROUND - around, _AROUND + ROWS + around],
            ]
        )
        * _DRAWN_PX
    )
    where = cv2.perspectiveTransform(flat[None].astype(np.float64), to_picture)[0]
    where = where + rng.normal(0, rng.uniform(0.1, 0.9), (1, 2)) + rng.normal(0, 0.3, where.shape)
    out = (round((COLUMNS + 2 * around) * cell_px), round((ROWS + 2 * around) * cell_px))
    target = np.array([[0, 0], [out[0], 0], [out[0], out[1]], [0, out[1]]], dtype=np.float32) - 0.5
    back = cv2.getPerspectiveTransform(target.astype(np.float32), where.astype(np.float32))
    return np.asarray(
        cv2.warpPerspective(
            taken, back, out, flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, borderMode=cv2.BORDER_REPLICATE
        ),
        dtype=np.uint8,
    )


def _shake(rng: np.random.Generator) -> FloatImage:
    """Return the kernel of a camera that moves up to four pixels in any direction during an exposure."""
    half = 4
    kernel = np.zeros((2 * half + 1, 2 * half + 1), dtype=np.float32)
    angle, reach = rng.uniform(0, np.pi), rng.uniform(0.5, 2.0)
    shift = 4
    end = np.array([np.cos(angle), np.sin(angle)]) * reach
    first, last = (np.round((half + sign * end) * (1 << shift)).astype(int).tolist() for sign in (-1, 1))
    cv2.line(kernel, first, last, 1.0, 1, cv2.LINE_AA, shift)
    return np.asarray(kernel / kernel.sum(), dtype=np.float32)


def _lamp(rng: np.random.Generator, shape: tuple[int, int]) -> FloatImage:
    """Return light on the paper, (height, width, 3): its colour, its gradient, and sometimes a shadow."""
    height, width = shape
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    angle = rng.uniform(0, 2 * np.pi)
    along = (np.cos(angle) * (x / width - 0.5) + np.sin(angle) * (y / height - 0.5)).astype(np.float32)
    light = np.float32(rng.uniform(0.15, 1.0)) * (1 + np.float32(rng.uniform(0, 0.7)) * along)
    if rng.random() < 0.25:
        edge = np.cos(angle + 1) * (x - width * rng.uniform(0.2, 0.8)) + np.sin(angle + 1) * (y - height / 2)
        soft = rng.uniform(0.5, 12)
        light = light * (1 - np.float32(rng.uniform(0.15, 0.6)) / (1 + np.exp(-np.clip(edge / soft, -30, 30))))
    colour = np.clip(rng.normal(1, 0.12, 3), 0.6, 1.4).astype(np.float32)
    return np.asarray(light[..., None] * (colour / colour.max()), dtype=np.float32)
