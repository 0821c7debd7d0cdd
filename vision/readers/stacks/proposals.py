"""Choosing the candidate tips that the network evaluates: those at one spot show it the same sides."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from vision.frame import FloatArray
from vision.readers.stacks.crops import StackCrops
from vision.readers.stacks.search import Top

SAME_PX = 3.0
"""Distance in a place's crop, 1.3 mm, below which two tips are at one spot ..."""
SAME_PIECES = 2
"""... if they also differ by at most this many pieces in height. The network's training data has such errors too."""

Candidate = tuple[str, Top]
"""A place and its possible top."""


MOST_SPOTS = 6
"""Maximum number of spots per place that the network evaluates, in order of likelihood. More change nothing on the
ray-traced pictures; with 4, stacks in bad light are read worse.
"""
MOST_SPOTS_THOROUGH = 12
"""The same after a thorough search."""


def group_by_spot(
    crops: StackCrops, candidates: Sequence[Candidate], most: int = MOST_SPOTS
) -> tuple[npt.NDArray[np.int64], list[int]]:
    """Return the number of each candidate's spot, (n,), and for each spot its first candidate.

    The first ``most`` spots of each place are kept; candidates at others get -1.
    """
    spots = np.full(len(candidates), -1, dtype=np.int64)
    first: list[int] = []
    of_place: dict[str, list[int]] = {}
    for number, (place, _) in enumerate(candidates):
        of_place.setdefault(place, []).append(number)
    for place, own in of_place.items():
        tops = [candidates[number][1] for number in own]
        numbers, left = np.array(own), np.ones(len(own), dtype=bool)
        pixels = crops.pixels(place, np.array([(top.x_mm, top.y_mm, top.tip_mm) for top in tops]))
        pieces = np.array([top.pieces for top in tops])
        columns, rows = pixels.T
        apart = (columns[:, None] - columns) ** 2 + (rows[:, None] - rows) ** 2
        same = (apart < SAME_PX**2) & (np.abs(pieces[:, None] - pieces) <= SAME_PIECES)
        for _ in range(most):
            if not left.any():
                break
            index = int(left.argmax())
            these = same[index] & left
            spots[numbers[these]] = len(first)
            first.append(own[index])
            left &= ~these
    return spots, first


def tips_and_angles(crops: StackCrops, candidates: Sequence[Candidate]) -> tuple[FloatArray, FloatArray]:
    """Return the centres of the tips in mm, (n, 3), and their angles in their crops, (n,), at most 45 degrees."""
    tips = np.array([(top.x_mm, top.y_mm, top.tip_mm) for _, top in candidates])
    angles_rad = np.array([top.angle_rad - crops.bearing(place) for place, top in candidates])
    return tips, angles_rad - np.round(angles_rad / (np.pi / 2)) * np.pi / 2
