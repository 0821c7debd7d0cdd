"""The small networks that read dice, run by OpenCV.

One finds dice, one reads the upper side, one estimates whether a die leans. ``scripts/training/dice.py`` trains and
writes them.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from vision.errors import WeightsError
from vision.frame import Image

WEIGHTS = Path(__file__).parent / "weights"
COCKED, OTHER, NOTHING = "cocked", "other", "nothing"
CLASSES = ("1", "2", "3", "4", "5", "6", COCKED, OTHER, NOTHING)
"""Classes of the second network: values, a leaning die, a face without pips, no die."""

CELL_PX = 4
"""Pixels per cell of the finder's grid of centres."""

CROP_PX = 32
"""Side, in pixels, of the square given to the second network."""
DIE_IN_CROP_PX = 20.0
"""Length of a die's edge in that square, in pixels."""
_LOWER = 0.2
"""Offset of the square's centre below the upper side's, in edges per unit of slant, to include side faces."""
_AT_ONCE = 16
"""Pictures evaluated at once: few enough for the processor's cache."""

Floats = npt.NDArray[np.float32]


def normalised(image: Image) -> Floats:
    """Convert a picture (height, width, 3) to the finder's input, (3, height, width)."""
    return np.asarray(cv2.dnn.blobFromImage(image, 1 / 128, mean=(128, 128, 128))[0], dtype=np.float32)


@dataclass(frozen=True)
class SquareView:
    """How a square is cut out: its rotation in degrees, and its slant.

    ``slant`` is the tangent of the angle between the line of sight and the vertical; the camera is then towards the
    square's lower side. ``None`` if the camera's position is unknown.
    """

    turned_deg: float = 0.0
    slant: float | None = None

    @classmethod
    def of(cls, slant: tuple[float, float]) -> SquareView:
        """Return the view at a position where a point one unit lower appears shifted by ``slant`` (across, down)."""
        return cls(90.0 - math.degrees(math.atan2(slant[1], slant[0])), math.hypot(*slant))


def square_input(squares: Sequence[Image], views: Sequence[SquareView]) -> Floats:
    """Convert squares to the input of the networks after the finder, (n, 4, height, width).

    Three channels are the picture normalised by its own mean and spread, so that the light does not matter; the fourth
    is the slant.
    """
    values = np.stack(squares).astype(np.float32)
    given = np.empty((len(squares), 4, *values.shape[1:3]), dtype=np.float32)
    values -= values.mean(axis=(1, 2, 3), keepdims=True)
    spread = np.sqrt(np.square(values).mean(axis=(1, 2, 3), keepdims=True))
    given[:, :3] = (values / (spread + 8)).transpose(0, 3, 1, 2)
    given[:, 3] = np.array([-1.0 if view.slant is None else view.slant for view in views])[:, None, None]
    return given


_UNTURNED = SquareView()


def crop(image: Image, x_px: float, y_px: float, side_px: float, view: SquareView = _UNTURNED) -> Image:
    """Cut out a die, CROP_PX x CROP_PX, with its edge of ``side_px`` scaled to DIE_IN_CROP_PX; the border is repeated.

    With a slant, the upper side's centre (x, y) lies slightly above the square's centre.
    """
    scale = DIE_IN_CROP_PX / side_px
    reach = math.ceil(CROP_PX / scale) + 2
    if scale < 0.6:
        left, top = max(0, int(x_px) - reach), max(0, int(y_px) - reach)
        part = image[top : int(y_px) + reach, left : int(x_px) + reach]
        if part.size:
            half = max(1, round(part.shape[1] / 2)), max(1, round(part.shape[0] / 2))
            smaller = np.asarray(cv2.resize(part, half, interpolation=cv2.INTER_AREA), dtype=np.uint8)
            across, down = half[0] / part.shape[1], half[1] / part.shape[0]
            x, y = (x_px - left + 0.5) * across - 0.5, (y_px - top + 0.5) * down - 0.5
            return crop(smaller, x, y, side_px * (across + down) / 2, view)
    turn = math.radians(view.turned_deg)
    cosine, sine = (scale * part for part in (math.cos(turn), math.sin(turn)))
    middle = (CROP_PX - 1) / 2
    upper = middle - DIE_IN_CROP_PX * _LOWER * min(view.slant or 0.0, 1.0)
    matrix = np.array(
        [
            [cosine, -sine, middle - cosine * x_px + sine * y_px],
            [sine, cosine, upper - sine * x_px - cosine * y_px],
        ]
    )
    return np.asarray(
        cv2.warpAffine(image, matrix, (CROP_PX, CROP_PX), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE),
        dtype=np.uint8,
    )


class Network:
    """A network read from a file, whose SHA-256 must be the given one; raises WeightsError."""

    def __init__(self, path: Path, sha256: str) -> None:
        try:
            data = path.read_bytes()
        except OSError as error:
            raise WeightsError(f"can't read the weights {path}: {error.strerror}; install the project again") from None
        found = hashlib.sha256(data).hexdigest()
        if found != sha256:
            raise WeightsError(
                f"the weights {path} are not those that were tested: their SHA-256 is {found[:12]}..., expected "
                f"{sha256[:12]}...; install the project again"
            )
        self._network = _load_network(path)

    def run(self, batch: Floats) -> Floats:
        """Run the network on a batch (n, channels, height, width)."""
        results = []
        for start in range(0, len(batch), _AT_ONCE):
            self._network.setInput(batch[start : start + _AT_ONCE])
            results.append(np.array(self._network.forward(), dtype=np.float32))
        return np.concatenate(results)


def _load_network(path: Path) -> cv2.dnn.Net:
    if not hasattr(cv2.dnn, "ENGINE_CLASSIC"):
        return cv2.dnn.readNetFromONNX(str(path))
    level = cv2.utils.logging.getLogLevel()
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_ERROR)  # it warns about batches of variable size
    try:
        # OpenCV 5's new engine takes 1.7 times as long, and always reads bytes
        return cv2.dnn.readNetFromONNX(str(path), engine=cv2.dnn.ENGINE_CLASSIC)
    finally:
        cv2.utils.logging.setLogLevel(level)


class Networks:
    """The networks of a folder, and the temperature that calibrates the second one's probabilities."""

    def __init__(self, folder: Path = WEIGHTS) -> None:
        sums = json.loads((folder / "weights.json").read_text(encoding="utf-8"))
        self.finder = Network(folder / "finder.onnx", sums["finder"])
        self.faces = Network(folder / "faces.onnx", sums["faces"])
        self.leaning = Network(folder / "leaning.onnx", sums["leaning"])
        self.temperature = float(sums["temperature"])


@cache
def shipped() -> Networks:
    """Load the networks that come with the project."""
    return Networks()
