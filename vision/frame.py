"""Frames, the base of the cameras that take them, and the array types of pictures."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from common.closeable import Closeable

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
    shows that frames were dropped. ``source`` names the file or device. ``is_still``: somebody took it of a table at
    rest, perhaps from elsewhere than the frames before. ``focal_share`` is the focal length that the picture itself
    tells, as a share of its diagonal.
    """

    image: Image
    time_s: float
    sequence: int
    source: str = ""
    is_still: bool = False
    focal_share: float | None = None


Clock = Callable[[], float]
"""Returns monotonic seconds, like ``time.monotonic``."""

Wait = Callable[[float], object]
"""Waits for a number of seconds, like ``time.sleep``."""


class Waiting(Protocol):
    """How a thread waits for a camera, and what else it does meanwhile."""

    def until(self, ready: Callable[[], bool], timeout_s: float) -> object:
        """Wait until ``ready`` is true, for ``timeout_s`` at most; it is asked again after each ``wake``."""

    def wake(self) -> object:
        """Have ``ready`` asked again; any thread may call this."""


class Camera(Closeable):
    """A source of frames, closed at the end of a ``with`` block.

    A live camera returns its newest frame; older ones are dropped, not queued. ``is_mirrored``: its pictures are
    mirrored, so ``read`` turns them round.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self.is_mirrored = False

    @property
    def name(self) -> str:
        """The device, file or folder, as shown to a person."""
        return self._name

    def read(self, timeout_s: float) -> Frame:
        """Return the newest frame that was not returned before, waiting up to ``timeout_s`` for it.

        Raises FrameTimeoutError when no frame arrived in time, FrameError for a frame that cannot be used (the next
        call returns the one after it), EndOfFramesError when there are no more frames, and CameraError when the camera
        was disconnected (the next call tries again).
        """
        frame = self._read(timeout_s)
        return replace(frame, image=np.ascontiguousarray(frame.image[:, ::-1])) if self.is_mirrored else frame

    @abstractmethod
    def _read(self, timeout_s: float) -> Frame:
        """Do what ``read`` does, with the picture as the device or file gives it."""

    @abstractmethod
    def close(self) -> None:
        """Release the device or file; further reads raise CameraError."""
