"""A board seen straight from above, drawn as its rectified view: every colour and line in it is known."""

import functools

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import FloatImage, Image
from vision.geometry import Pose
from vision.layout.table import default_layout
from vision.surface.plan import BESIDE_MM, SurfacePlan
from vision.surface.view import RectifiedView, view_window

BOARD = default_layout("deblockle").board
WINDOW = view_window(BOARD, BESIDE_MM)
ABOVE = Pose(np.diag([1.0, -1.0, -1.0]), np.array([0.0, 0.0, 700.0]))
WOOD, TABLE, LINE = (70, 120, 160), (120, 100, 60), (30, 50, 70)
SKIN, GREEN = (110, 140, 220), (60, 170, 40)
Rect = tuple[float, float, float, float]
"""Left, right, near and far end, in millimetres."""


@functools.cache
def plan() -> SurfacePlan:
    """The plan computed from the layout alone."""
    return SurfacePlan.of(BOARD)


def part(rect: Rect) -> tuple[slice, slice]:
    """Rows and columns of a rectangle in the view."""
    left, far = WINDOW.to_pixels(rect[0], rect[3])
    right, near = WINDOW.to_pixels(rect[1], rect[2])
    rows, columns = WINDOW.shape
    return (
        slice(max(0, round(far + 0.5)), min(rows, round(near + 0.5))),
        slice(max(0, round(left + 0.5)), min(columns, round(right + 0.5))),
    )


def painted(rect: Rect, colour: tuple[int, int, int], image: Image | None = None) -> Image:
    """The picture of the board, or another, with a rectangle on it."""
    image = (board_image() if image is None else image).copy()
    image[part(rect)] = colour
    return image


@functools.cache
def _lineless() -> Image:
    image = np.empty((*WINDOW.shape, 3), dtype=np.uint8)
    image[:] = TABLE
    image[part((-140.0, 140.0, -140.0, 140.0))] = WOOD
    return image


def with_lines(image: Image, colour: tuple[int, int, int] = LINE) -> Image:
    """The picture with the board's grid, its lines 2 mm wide."""
    image = image.copy()
    for at in np.arange(-140.0, 141.0, BOARD.cell_mm).tolist():
        image[part((at - 1, at + 1, -141.0, 141.0))] = colour
        image[part((-141.0, 141.0, at - 1, at + 1))] = colour
    return image


@functools.cache
def board_image() -> Image:
    """The bare board, with a little of a camera's noise and blur."""
    return softened(with_lines(_lineless()))


def softened(image: Image) -> Image:
    """The picture with a camera's blur and noise."""
    blurred = cv2.GaussianBlur(image, (0, 0), 0.7).astype(np.float64)
    noisy = blurred + np.random.default_rng(1).normal(0, 1.2, image.shape)
    return np.clip(np.round(noisy), 0, 255).astype(np.uint8)


def view_of(image: Image) -> RectifiedView:
    """The view that shows these pixels, with nothing hidden."""
    rows, columns = image.shape[:2]
    x, y = np.meshgrid(np.arange(columns, dtype=np.float32), np.arange(rows, dtype=np.float32))
    nothing = np.zeros((rows, columns), dtype=np.bool_)
    return RectifiedView(WINDOW, np.stack([x, y], axis=-1), image, nothing, nothing.copy())


def grey_of(image: Image) -> FloatImage:
    """Its brightness in levels."""
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), dtype=np.float32)


def lit(image: Image, factor: npt.ArrayLike) -> Image:
    """The picture in other light, by a factor for each channel or pixel."""
    light = np.clip(np.power(image / 255, 2.2) * np.asarray(factor), 0, 1)
    return np.asarray(np.round(255 * np.power(light, 1 / 2.2)), dtype=np.uint8)
