"""Sources of frames: reading a camera in a thread, blank frames while it is away, and handling Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from types import FrameType
from typing import Any, Self, TypeVar

import numpy as np

from common.closeable import Closeable
from referee.commands.queue import CommandQueue
from referee.sensing.readers import NO_CAMERA
from referee.session.loop import FrameSource
from vision.errors import CameraError, EndOfFramesError, FrameError, FrameTimeoutError, NothingNewError
from vision.frame import Frame


class CameraThread(Closeable):
    """Reads a camera in its own thread, so that commands are carried out while waiting for a frame.

    A frame is only read when it is requested, so the camera returns the same frames as without this thread. ``serve``
    carries out the commands in the calling thread; ``waiting`` calls the given function where a person may stop the
    program.
    """

    def __init__(
        self,
        camera: FrameSource,
        commands: CommandQueue,
        serve: Callable[[], object],
        waiting: Callable[[Callable[[], None]], object],
    ) -> None:
        self._camera = camera
        self._commands = commands
        self._serve = serve
        self._waiting = waiting
        self._threads = ThreadPoolExecutor(max_workers=1, thread_name_prefix="frames")

    def read(self, timeout_s: float) -> Frame:
        """Read like the camera."""
        frame = self._threads.submit(self._camera.read, timeout_s)
        frame.add_done_callback(self._wake)
        while not frame.done():
            self._waiting(self._commands.wait)
            self._serve()
        return frame.result()

    def close(self) -> None:
        """Stop reading. A read in progress ends with the camera, which is closed after this."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _wake(self, frame: Future[Frame]) -> None:
        del frame
        self._commands.wake()


TICK_S = 0.2
"""Seconds between blank frames."""


class ReconnectingSource:
    """Frames of a camera, black ones while it is away; its loss and its return are reported once.

    ``size`` is the frames' (width, height); ``clock`` gives their time; ``wait`` waits that many seconds. Unusable
    frames, a folder without a new picture, and the end of all frames raise as the camera does.
    """

    def __init__(
        self,
        camera: FrameSource,
        size: tuple[int, int],
        clock: Callable[[], float],
        wait: Callable[[float], object],
        say: Callable[[str], object],
    ) -> None:
        self._camera = camera
        self._black = np.zeros((size[1], size[0], 3), dtype=np.uint8)
        self._clock = clock
        self._wait = wait
        self._say = say
        self._is_away = False
        self._sequence = 0

    def read(self, timeout_s: float) -> Frame:
        """Return the camera's newest frame, or a black one."""
        try:
            frame = self._camera.read(TICK_S if self._is_away else timeout_s)
        except (EndOfFramesError, FrameError, NothingNewError):
            raise
        except CameraError as error:
            if not self._is_away:
                self._is_away = True
                self._say(f"{error}. Until the camera is back, I use only the sensors.")
            if not isinstance(error, FrameTimeoutError):
                # a device that fails immediately would keep a core busy
                self._wait(TICK_S)
            return self._numbered(Frame(self._black, self._clock(), 0, NO_CAMERA))
        if self._is_away:
            self._is_away = False
            self._say("The camera is back.")
        return self._numbered(frame)

    def _numbered(self, frame: Frame) -> Frame:
        self._sequence = max(self._sequence + 1, frame.sequence)
        return replace(frame, sequence=self._sequence)


Given = TypeVar("Given")
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """While this is entered, ``SIGINT`` and ``SIGTERM`` raise KeyboardInterrupt inside ``waiting`` and nowhere else.

    A signal in between is raised by the next ``waiting``, a second one immediately. Outside the main thread, where
    Python receives no signals, nothing changes.
    """

    def __init__(self) -> None:
        self._asked = 0
        self._waits = False
        self._before: dict[signal.Signals, Any] = {}

    def waiting(self, action: Callable[[], Given]) -> Given:
        """Call an interruptible function; raises KeyboardInterrupt when it is interrupted, or already was."""
        try:
            self._waits = True
            if self._asked:
                raise KeyboardInterrupt
            return action()
        finally:
            self._waits = False

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._on_signal) for number in SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self._asked += 1
        if self._waits or self._asked > 1:
            raise KeyboardInterrupt


class InterruptibleSource:
    """A camera with an interruptible ``read``."""

    def __init__(self, camera: FrameSource, interrupts: Interrupts) -> None:
        self._camera = camera
        self._interrupts = interrupts

    def read(self, timeout_s: float) -> Frame:
        """Read like the camera; raises KeyboardInterrupt when the referee is stopped."""
        return self._interrupts.waiting(lambda: self._camera.read(timeout_s))
