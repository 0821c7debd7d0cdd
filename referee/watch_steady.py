"""A camera that may go away while sensors go on: blank frames take its place until it is back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from referee.service_loop import FrameSource
from vision.errors import CameraError, EndOfFramesError, FrameError, FrameTimeoutError
from vision.frame import Frame

TICK_S = 0.2
"""How often a blank frame comes."""

NO_CAMERA = "no camera"


class SteadySource:
    """Frames of a camera; black ones while it is away, which is said once, as is its return.

    ``size`` is the frames' (width, height); ``clock`` gives their time, ``wait`` waits that many seconds. Frames that
    can't be used, and the end of all frames, are raised as the camera raises them.
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
        """Give the camera's newest frame, or a black one."""
        try:
            frame = self._camera.read(TICK_S if self._is_away else timeout_s)
        except (EndOfFramesError, FrameError):
            raise
        except CameraError as error:
            if not self._is_away:
                self._is_away = True
                self._say(f"{error}. I go by the sensors alone until the camera is back.")
            if not isinstance(error, FrameTimeoutError):
                # A device that fails at once would keep a core busy.
                self._wait(TICK_S)
            return self._numbered(Frame(self._black, self._clock(), 0, NO_CAMERA))
        if self._is_away:
            self._is_away = False
            self._say("The camera is back.")
        return self._numbered(frame)

    def _numbered(self, frame: Frame) -> Frame:
        self._sequence = max(self._sequence + 1, frame.sequence)
        return replace(frame, sequence=self._sequence)
