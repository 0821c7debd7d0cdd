"""A frame: one picture with when it was taken and its place in the sequence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Image = npt.NDArray[np.uint8]
"""Height x width x 3, blue-green-red, 8 bits a channel (or height x width for one channel)."""

FloatArray = npt.NDArray[np.float64]
FloatImage = npt.NDArray[np.float32]
"""Height x width (x channels)."""
BoolImage = npt.NDArray[np.bool_]
"""A mask, height x width."""


@dataclass(frozen=True, eq=False)
class Frame:
    """One picture from a camera.

    ``time_s`` is monotonic and only differences mean anything; ``sequence`` counts every frame the camera took,
    so a gap shows frames that were dropped because a newer one was there; ``source`` names the file or device.
    """

    image: Image
    time_s: float
    sequence: int
    source: str = ""
