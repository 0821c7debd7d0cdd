"""A frame: one picture, the time it was taken, and its sequence number; and the array types of pictures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Image = npt.NDArray[np.uint8]
"""Height x width x 3, blue-green-red, 8 bits a channel (or height x width for one channel)."""

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]
FloatImage = npt.NDArray[np.float32]
"""Height x width (x channels)."""
BoolImage = BoolArray
"""A mask, height x width."""


def is_picture(array: npt.NDArray[np.generic]) -> bool:
    """Return whether an array is an ``Image`` with at least one pixel."""
    is_grey_or_colour = array.ndim == 2 or (array.ndim == 3 and array.shape[2] == 3)
    return is_grey_or_colour and array.dtype == np.uint8 and array.size > 0


@dataclass(frozen=True, eq=False)
class Frame:
    """One picture from a camera.

    ``time_s`` is monotonic: only differences are meaningful. ``sequence`` counts every frame the camera took, so a gap
    shows that frames were dropped. ``source`` names the file or device.
    """

    image: Image
    time_s: float
    sequence: int
    source: str = ""
