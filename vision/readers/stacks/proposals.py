"""Choosing the candidate tips that the network evaluates: those at one spot show it the same sides."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from vision.frame import FloatArray
from vision.layout.pieces import PyramidPieces
from vision.readers.stacks.crops import StackCrops
from vision.readers.stacks.search import Top, combinations

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


_REACH_SHARE, _STEPS, _PIECES = 0.12, 4, (2, 6)
"""Where a missed tip is looked for: this far from the large one's centre, as a share of its base, in so many steps, at
the heights of a medium top on so many pieces. The network recognises tips up to about half of these steps away.
"""


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
    angles_rad = np.array([top.angle_rad for _, top in candidates])
    return tips, angles_in_crops(crops, [place for place, _ in candidates], angles_rad)


def angles_in_crops(crops: StackCrops, places: Sequence[str], angles_rad: FloatArray) -> FloatArray:
    """Return the angles (n,) of pyramids relative to the crops of their places, at most 45 degrees."""
    turned = angles_rad - np.array([crops.bearing(place) for place in places])
    return np.asarray(turned - np.round(turned / (np.pi / 2)) * np.pi / 2)


def likeliest_tips(
    centres_mm: FloatArray, pieces: PyramidPieces, log_odds: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    """Return for each stack the point (3,) that is most likely its tip, given the centres of the bases (n, 3) in mm.

    ``log_odds`` returns those of points (n, m, 3) being tips, (n, m).
    """
    steps = pieces.sizes["L"].base_mm * np.linspace(-_REACH_SHARE, _REACH_SHARE, _STEPS)
    halves = np.array([-0.5, 0.0, 0.5]) * (steps[1] - steps[0])
    heights = np.array([pieces.tip_mm("M", number) for number in _PIECES])
    best = centres_mm
    for offsets in (combinations(steps, steps, heights), combinations(halves, halves, np.zeros(1))):
        tried = best[:, None] + offsets
        best = tried[np.arange(len(best)), log_odds(tried).argmax(axis=1)]
    return best
