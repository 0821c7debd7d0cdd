"""How long each part of a picture has looked the same."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.clear_board import BoardLook, BoolImage

STILL_LOG = 0.03
STILL_LEVELS = 2.0
REST_FRAMES = 3


class Rest:
    """For each pixel of a picture of ``shape`` (rows, columns), since when it has looked the same."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self._light: npt.NDArray[np.float32] | None = None
        self._since_s = np.zeros(shape, dtype=np.float64)
        self._frames = np.zeros(shape, dtype=np.int32)
        self._now_s = 0.0

    def update(self, now: BoardLook, gain: float, time_s: float) -> None:
        """Take the next look; ``gain`` is the whole picture's own change of log brightness, which is no movement."""
        light = now.light - np.float32(gain)
        self._now_s = time_s
        if self._light is None:
            self._light = light
            self._since_s[...] = time_s
            return
        limit = np.float32(STILL_LOG) + np.float32(STILL_LEVELS) / (now.level + 4)
        moved = np.abs(light - self._light) > limit
        self._light[moved] = light[moved]
        self._since_s[moved] = time_s
        self._frames += 1
        self._frames[moved] = 0

    def at_least(self, rest_s: float) -> BoolImage:
        """Pixels that have rested so long, and for a few frames."""
        return np.asarray((self._now_s - self._since_s >= rest_s) & (self._frames >= REST_FRAMES))

    def share_at_least(self, where: BoolImage, rest_s: float) -> float:
        """The share of the marked pixels, of which there must be some, that have rested so long."""
        return float(self.at_least(rest_s)[where].mean())
