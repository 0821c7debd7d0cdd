"""Objects that look like a hand but lie still, such as a cup on a sheet's margin.

No hand stays still for ``still_s``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from vision.frame import BoolImage
from vision.reading import HindranceKind
from vision.surface.occlusion import Occlusion


@dataclass(frozen=True)
class StillnessSettings:
    """When something that looks like a hand is an object. Both were set by hand."""

    still_s: float = 30.0
    """How long it must not have moved, in seconds. Longer: the referee waits longer for a cup to go. Shorter: a hand
    that is held still counts as an object; what it hides stays hidden.
    """
    least_overlap: float = 0.9
    """Minimum share of its pixels, then and now, that are the same. Higher: noise moves it."""


_SETTINGS = StillnessSettings()


class StillThings:
    """Follows the hands over one surface, reading by reading."""

    def __init__(self, edge_px: int) -> None:
        """Prepare; an object hides ``edge_px`` more pixels around it than a hand does."""
        self._edge = np.ones((2 * edge_px + 1, 2 * edge_px + 1), dtype=np.uint8)
        self._hands: list[tuple[BoolImage, float]] = []
        self._judged_s = -math.inf

    @property
    def due_s(self) -> float:
        """When the next hand becomes an object if it stays where it is; infinite if none will."""
        due = (since_s + _SETTINGS.still_s for _, since_s in self._hands)
        return min((one for one in due if one > self._judged_s), default=math.inf)

    def judged(self, occlusions: Sequence[Occlusion], time_s: float) -> tuple[Occlusion, ...]:
        """Return the occlusions, with hands that have not moved for long as objects."""
        before, self._hands, self._judged_s = self._hands, [], time_s
        return tuple(self._judged(one, before, time_s) if one.kind is HindranceKind.HAND else one for one in occlusions)

    def _judged(self, hand: Occlusion, before: Sequence[tuple[BoolImage, float]], time_s: float) -> Occlusion:
        known = next((one for one in before if self._is_same(one[0], hand.pixels)), (hand.pixels, time_s))
        self._hands.append(known)
        if time_s < known[1] + _SETTINGS.still_s:
            return hand
        hidden = cv2.dilate(hand.pixels.astype(np.uint8), self._edge) > 0
        return replace(hand, kind=HindranceKind.OBJECT, pixels=np.asarray(hidden))

    def _is_same(self, before: BoolImage, now: BoolImage) -> bool:
        both = int(np.count_nonzero(before & now))
        return both > _SETTINGS.least_overlap * int(np.count_nonzero(before | now))
