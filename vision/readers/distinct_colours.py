"""Refusing learned colours that a camera could not tell apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations

from vision.errors import EnrolmentError
from vision.frame import FloatArray


def check_distinct(colours: Mapping[str, FloatArray], size: Callable[[FloatArray], float], least: float) -> None:
    """Raise EnrolmentError naming two colours, (3,) each, whose difference has a ``size`` below ``least``."""
    for first, second in combinations(colours, 2):
        apart = size(colours[first] - colours[second])
        if apart < least:
            raise EnrolmentError(
                f"{first} and {second} look nearly the same to the camera (they differ by {apart:.2f}; {least} is "
                "needed): check what stands where, improve the light, or use pieces whose colours differ more"
            )
