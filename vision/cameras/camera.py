"""The base of every camera."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Protocol

from common.closeable import Closeable
from vision.frame import Frame

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

    A live camera returns its newest frame; older ones are dropped, not queued.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def name(self) -> str:
        """The device, file or folder, as shown to a person."""
        return self._name

    @abstractmethod
    def read(self, timeout_s: float) -> Frame:
        """Return the newest frame that was not returned before, waiting up to ``timeout_s`` for it.

        Raises FrameTimeoutError when no frame arrived in time, FrameError for a frame that cannot be used (the next
        call returns the one after it), EndOfFramesError when there are no more frames, and CameraError when the camera
        was disconnected (the next call tries again).
        """

    @abstractmethod
    def close(self) -> None:
        """Release the device or file; further reads raise CameraError."""
