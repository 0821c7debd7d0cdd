"""A small picture of a place, for telling later whether anybody touched the piece there.

A piece that was lifted and put back never stands exactly as before, and this difference is easier to see than what the
piece is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vision.frame import FloatArray, FloatImage, Image

SHRINK = 2
"""Pixels of a crop, along each axis, that make one of the picture kept. Larger: less noise, and smaller moves go
unnoticed.
"""
SMOOTHING_PX = 0.7
"""Standard deviation, in kept pixels, of the smoothing against noise."""
SHADING_PX = 4.0
"""The same of the shading that is taken away, since shadows and lamps change. Larger: more of their edges is left."""
DARKEST = 12.0
"""Grey levels added to each pixel before its logarithm is taken. Larger: noise in dark parts counts less."""
HALF_WINDOW_PX = 5.5
"""Half the side of the square around the tip that is compared, in kept pixels. These five were chosen from a few
candidates as those that best separate changed from unchanged stacks in 15 virtual games.
"""
REACH_PX = 1
"""Distance, in kept pixels, by which the whole picture may have moved, since a pose is found a little differently each
time."""
USUAL_DIFFERENCE = 0.002
"""Share by which two pictures of an untouched stack usually differ: the median of virtual games."""
_FAINT = 1e-3
"""Mean squared contrast below which a window is taken to be blank, so that noise alone makes no difference."""


@dataclass(frozen=True, eq=False)
class PlacePicture:
    """A small picture of a place without light and colour.

    ``levels`` (rows, columns) are differences of the logarithm of the grey level from its surroundings; ``tip_px`` is
    the column and row of the piece's most distinctive point, and ``half_px`` half the side of the square around it that
    is compared.
    """

    levels: FloatImage
    tip_px: tuple[float, float]
    half_px: float = HALF_WINDOW_PX

    @classmethod
    def of(cls, crop: Image, tip_px: FloatArray) -> PlacePicture:
        """Keep a crop (rows, columns, 3) and the column and row (2,) of the piece's tip in it."""
        # Here, because commands that only follow a journal know this class too and start faster without OpenCV.
        import cv2

        grey = cv2.cvtColor(crop, cv2.COLOR_BGR2GRAY).astype(np.float32)
        small = cv2.resize(grey, None, fx=1 / SHRINK, fy=1 / SHRINK, interpolation=cv2.INTER_AREA)
        logs = np.log(cv2.GaussianBlur(small, (0, 0), SMOOTHING_PX) + np.float32(DARKEST))
        levels = np.asarray(logs - cv2.GaussianBlur(logs, (0, 0), SHADING_PX), dtype=np.float32)
        column, row = ((tip_px + 0.5) / SHRINK - 0.5).tolist()
        return cls(levels, (column, row))

    def difference(self, later: PlacePicture) -> float:
        """Return how much a later picture of the same place differs around this one's tip, in usual differences.

        It is the squared difference as a share of both pictures' squared contrast, where they match best, divided by
        the usual share: 0 if they are the same, about 1 if nobody touched it, and hundreds if nothing is alike.
        Infinite if the tip lies outside the picture.
        """
        (left, right), (top, bottom) = (
            (max(REACH_PX, round(at - self.half_px)), min(size - REACH_PX, round(at + self.half_px) + 1))
            for at, size in zip(self.tip_px, self.levels.shape[::-1], strict=True)
        )
        if left >= right or top >= bottom or self.levels.shape != later.levels.shape:
            return float("inf")
        before = self.levels[top:bottom, left:right]
        steps = range(-REACH_PX, REACH_PX + 1)
        moved = np.array(
            [later.levels[top + down : bottom + down, left + by : right + by] for down in steps for by in steps]
        )
        squares = ((moved - before) ** 2).mean(axis=(1, 2))
        contrast = (moved**2).mean(axis=(1, 2)) + (before**2).mean()
        return float((squares / (contrast + _FAINT)).min()) / USUAL_DIFFERENCE
