"""Choosing the tip of each stack among the spots that the finder proposes, by the sides below each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vision.frame import FloatArray, Image
from vision.geometry import unit_circle
from vision.layout.pieces import PYRAMID_SIZES
from vision.readers.stacks.crops import StackCrops
from vision.readers.stacks.faces import ACROSS, DOWN_MM, SIDES, flatten_sides
from vision.readers.stacks.finder import Found
from vision.readers.stacks.network import KINDS, NO_TIP, StackNetwork, tip_log_odds

SPOT_WEIGHT = 1.0
"""Weight of the finder's log-probability of a spot in the choice of the tip. Higher: the sides count less. Set by hand
on rendered pictures not used for training, like the next.
"""
SIDES_WEIGHT = 1.3
"""Weight of the stack's flattened sides, in the choice of the tip and of the look. Higher: more certain, but wrong more
often.
"""
FIRST_SPOTS, SURE_TIP = 1, 3.0
"""Number of a place's spots that are evaluated first; the others are skipped if one of these is a tip with such
log-odds.
"""
SURE_SIZE = 0.9
"""Probability of a size by the likeliest spot, below which, or without a sure tip, the points around it are evaluated
too: averaged over them, sizes are more often right. Higher: slower.
"""
AROUND, AROUND_PX, AROUND_COST = 8, 4.0, 0.5
"""Number of these points, their distance from the spot in a crop, 1.7 mm, and what it costs as log-likelihood that the
finder did not propose them.
"""
_NEVER = -30.0
"""Log-probability of a kind of top, and log-odds of a tip, at a spot that is skipped."""


@dataclass(frozen=True, eq=False)
class Tips:
    """The likeliest tips of n stacks: their pixels (n, 2), their flattened sides (n, SIDES, rows, columns, 3), the
    log-odds of the surest spot being a tip (n,), and the log-probabilities of the kinds of tops by the sides below all
    spots, (n, KINDS + 1).
    """

    tips_px: FloatArray
    sides: Image
    log_odds: FloatArray
    kinds: FloatArray


@dataclass(frozen=True, eq=False)
class _Spots:
    """Spots (n, m): pixels, log-probabilities by the finder, sides, and what these say: the log-probabilities of kinds,
    and the log-odds of being a tip.
    """

    tips_px: FloatArray
    logs: FloatArray
    sides: Image
    kinds: FloatArray
    log_odds: FloatArray

    def with_more(self, other: _Spots) -> _Spots:
        """Return these and other spots of the same stacks."""
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return _Spots(*(np.concatenate(pair, axis=1) for pair in pairs))

    def shares(self) -> FloatArray:
        """Return the log-probability of each spot being the tip if one of them is, (n, m)."""
        shares = SPOT_WEIGHT * self.logs + SIDES_WEIGHT * self.log_odds
        return np.asarray(shares - np.logaddexp.reduce(shares, axis=1, keepdims=True), dtype=np.float64)


class TipChooser:
    """Chooses the tips of stacks in pictures from one pose; ``usual_tip_mm`` is assumed where a height hardly shows."""

    def __init__(self, crops: StackCrops, network: StackNetwork, usual_tip_mm: float) -> None:
        self._crops = crops
        self._network = network
        self._usual_tip_mm = usual_tip_mm

    def choose(self, pictures: Image, places: Sequence[str], found: Found) -> Tips:
        """Choose the tips of places, given their crops (n, rows, columns, 3) and what the finder found in these."""
        each = np.arange(len(places))
        first, others = found.tips_px[:, :FIRST_SPOTS], found.tips_px[:, FIRST_SPOTS:]
        spots = self._evaluate(pictures, places, found, each, first, found.logs[:, :FIRST_SPOTS])
        unsure = np.flatnonzero(spots.log_odds.max(axis=1) < SURE_TIP)
        if len(unsure):
            spots = spots.with_more(
                self._evaluate(pictures, places, found, unsure, others, found.logs[:, FIRST_SPOTS:])
            )
        best = spots.shares().argmax(axis=1)
        unsure = np.flatnonzero(
            (spots.log_odds.max(axis=1) < SURE_TIP) | (_surest_size(spots.kinds[each, best]) < SURE_SIZE)
        )
        if len(unsure):
            logs = np.repeat(spots.logs[each, best][:, None] - AROUND_COST, AROUND, axis=1)
            around = spots.tips_px[each, best][:, None] + AROUND_PX * unit_circle(AROUND)
            spots = spots.with_more(self._evaluate(pictures, places, found, unsure, around, logs))
        shares = spots.shares()
        best = shares.argmax(axis=1)
        sides, views = spots.sides[each, best], self._crops.views(places)
        averaged = self._network.with_mirror_images(spots.kinds[each, best], sides, views, found.angles_rad)
        spots.kinds[each, best], spots.log_odds[each, best] = averaged, tip_log_odds(averaged)
        kinds = np.logaddexp.reduce(shares[:, :, None] + spots.kinds, axis=1)
        return Tips(spots.tips_px[each, best], sides, spots.log_odds.max(axis=1), kinds)

    def _evaluate(
        self,
        pictures: Image,
        places: Sequence[str],
        found: Found,
        chosen: npt.NDArray[np.int64],
        tips_px: FloatArray,
        logs: FloatArray,
    ) -> _Spots:
        """Evaluate spots (n, m, 2) of the chosen places; those of the others are no tips."""
        count, spots = tips_px.shape[:2]
        sides: Image = np.zeros((count, spots, SIDES, len(DOWN_MM), len(ACROSS), 3), dtype=np.uint8)
        kinds = np.full((count, spots, KINDS + 1), _NEVER)
        kinds[..., NO_TIP] = 0.0
        log_odds = np.full((count, spots), _NEVER)
        place, spot = np.repeat(chosen, spots), np.tile(np.arange(spots), len(chosen))
        names, angles_rad = [places[number] for number in place.tolist()], found.angles_rad[place]
        tips_mm = self._crops.near_axes(places, tips_px, found.feet_mm, self._usual_tip_mm)[place, spot]
        own = flatten_sides(self._crops, pictures[place], names, tips_mm, angles_rad)
        seen = self._network.log_probabilities(own, self._crops.views(names), angles_rad)
        kinds[place, spot], log_odds[place, spot], sides[place, spot] = seen, tip_log_odds(seen), own
        return _Spots(tips_px, logs, sides, kinds, log_odds)


def _surest_size(kinds: FloatArray) -> FloatArray:
    """Return the probability of each tip's likeliest size, (n,), from the log-probabilities of kinds (n, KINDS + 1)."""
    sizes = np.logaddexp.reduce(kinds[:, :KINDS].reshape(len(kinds), len(PYRAMID_SIZES), -1), axis=2)
    return np.asarray(np.exp(sizes.max(axis=1) - np.logaddexp.reduce(sizes, axis=1)))
