"""Synthetic photos of printed tiles on a table, with given symbols, light, viewpoint, blur and noise."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np

from vision.frame import FloatArray, Image
from vision.readers.tiles import TileGrid

EDGE = 120
"""Pixels of a tile as drawn, before it is photographed."""
_RIM = 90
_LIGHT = np.power(np.arange(256) / 255.0, 2.2)
"""Linear light of each level."""
SHAPES = {
    "disc": (60, 60, 190),
    "coin": (150, 90, 40),
    "square": (170, 90, 30),
    "ring": (60, 60, 190),
    "bar": (40, 130, 40),
}
PLAIN = {".": (190, 215, 225), "red": (60, 60, 200), "blue": (190, 100, 40), "black": (35, 35, 35)}
"""Colours drawn for these names, blue-green-red; for any other name its letter is written."""


@dataclass(frozen=True)
class Shot:
    """Settings of a photo: corner positions, lamp colour and fall-off, blur and noise."""

    corners: tuple[tuple[float, float], ...] = ((90, 80), (550, 85), (560, 400), (80, 395))
    lamp: tuple[float, float, float] = (1.0, 1.0, 1.0)
    fades: float = 0.0
    blur_px: float = 0.7
    noise: float = 2.0


STRAIGHT = Shot()
OTHER_SHOTS = (
    Shot(((150, 90), (520, 110), (600, 440), (60, 400)), (0.45, 0.75, 1.0), 0.35, 1.0, 4.0),
    Shot(((40, 60), (500, 130), (560, 450), (100, 430)), (0.55, 0.5, 0.45), -0.3, 1.3, 4.0),
    Shot(((200, 140), (470, 120), (500, 340), (180, 350)), (1.0, 0.85, 0.7), 0.2, 0.7, 3.0),
)
"""A warm lamp from the side, a dim cold one, and a photo from farther away."""


def tile(name: str, turn: int = 0) -> Image:
    """One tile, (EDGE, EDGE, 3), given ``turn`` quarter turns."""
    drawn = np.full((EDGE, EDGE, 3), PLAIN.get(name, PLAIN["."]), dtype=np.uint8)
    middle = (EDGE // 2, EDGE // 2)
    if name in SHAPES:
        ink = SHAPES[name]
        if name in ("disc", "coin"):
            cv2.circle(drawn, middle, 34, ink, -1, cv2.LINE_AA)
        elif name == "ring":
            cv2.circle(drawn, middle, 30, ink, 9, cv2.LINE_AA)
        elif name == "square":
            cv2.rectangle(drawn, (30, 30), (90, 90), ink, -1)
        else:
            cv2.rectangle(drawn, (50, 22), (70, 98), ink, -1)
    elif name not in PLAIN:
        (width, height), _ = cv2.getTextSize(name, cv2.FONT_HERSHEY_SIMPLEX, 2.6, 7)
        at = ((EDGE - width) // 2, (EDGE + height) // 2)
        cv2.putText(drawn, name, at, cv2.FONT_HERSHEY_SIMPLEX, 2.6, (40, 35, 30), 7, cv2.LINE_AA)
    cv2.rectangle(drawn, (0, 0), (EDGE - 1, EDGE - 1), (120, 140, 150), 2)
    return np.ascontiguousarray(np.rot90(drawn, turn))


@cache
def _grain(seed: int) -> FloatArray:
    """A sensor's noise, of one level."""
    return np.random.default_rng(seed).normal(0, 1, (480, 640, 3))


def photo(
    rows: Sequence[str], shot: Shot = STRAIGHT, seed: int = 0, turns: Sequence[int] = ()
) -> tuple[Image, TileGrid]:
    """A 640 x 480 photo of rows of tiles, names separated by blanks, and their grid.

    ``turns`` are quarter turns of the tiles in reading order, around and around.
    """
    names = [row.split() for row in rows]
    count, across = len(names), len(names[0])
    flat = np.full((count * EDGE + 2 * _RIM, across * EDGE + 2 * _RIM, 3), (70, 95, 120), dtype=np.uint8)
    for number, name in enumerate(name for row in names for name in row):
        down, right = (_RIM + EDGE * at for at in divmod(number, across))
        flat[down : down + EDGE, right : right + EDGE] = tile(name, turns[number % len(turns)] if turns else 0)
    ends = np.array([(0, 0), (across, 0), (across, count), (0, count)], dtype=np.float32) * EDGE + (_RIM - 0.5)
    homography = cv2.getPerspectiveTransform(ends.astype(np.float32), np.array(shot.corners, dtype=np.float32))
    seen = cv2.warpPerspective(flat, homography, (640, 480), flags=cv2.INTER_AREA, borderValue=(70, 95, 120))
    light = _LIGHT[seen] * np.array(shot.lamp)
    light *= 1 + shot.fades * np.linspace(-1, 1, 640)[None, :, None]
    soft = cv2.GaussianBlur(255 * np.power(light.clip(0, 1), 1 / 2.2), (0, 0), shot.blur_px)
    noisy = soft + shot.noise * _grain(seed)
    return np.asarray(noisy.round().clip(0, 255), dtype=np.uint8), TileGrid(count, across, shot.corners)
