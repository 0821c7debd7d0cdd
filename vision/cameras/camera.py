"""The interface of every camera."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

from vision.frame import Frame

Clock = Callable[[], float]
"""Gives monotonic seconds, like ``time.monotonic``."""

Wait = Callable[[float], object]
"""Waits that many seconds, like ``time.sleep``."""


class Camera(Protocol):
    """A source of frames, newest first: nothing queues up behind a slow reader of a live camera."""

    @property
    def name(self) -> str:
        """The device, file or folder, as a person would name it."""
        ...

    def read(self, timeout_s: float) -> Frame:
        """Give the newest frame not given yet, waiting up to ``timeout_s`` for it.

        Raises FrameTimeoutError when none came in time, FrameError for one that cannot be used (the next call goes
        on behind it), EndOfFramesError when there will be no more, and CameraError when the camera went away (the
        next call tries again).
        """
        ...

    def close(self) -> None:
        """Let go of the device or file; further reads raise CameraError."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class ClosingCamera(ABC):
    """The part cameras share: a name, and closing at the end of a ``with`` block."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def name(self) -> str:
        """The device, file or folder, as a person would name it."""
        return self._name

    @abstractmethod
    def close(self) -> None:
        """Let go of the device or file."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
