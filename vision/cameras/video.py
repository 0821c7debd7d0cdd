"""A video file as a camera: every frame in order, or paced as it was filmed with the newest frame winning."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from vision.cameras.camera import Clock, ClosingCamera, Wait
from vision.errors import CameraError, EndOfFramesError, FrameTimeoutError
from vision.frame import Frame

VIDEO_SUFFIXES = frozenset({".mp4", ".m4v", ".avi", ".mkv", ".mov", ".webm", ".mjpg", ".mjpeg", ".mpg", ".mpeg"})

_FRAMES_PER_SECOND_IF_UNKNOWN = 30.0


class VideoFile(ClosingCamera):
    """Gives a video's frames; ``time_s`` is the file's own time stamp, from its start.

    Without ``realtime`` every frame comes, in order and at once, since a file can wait. With it, frames come when
    they are due by ``clock``, and those a slow reader missed are skipped. Raises CameraError for what is no video.
    """

    def __init__(self, path: Path, *, clock: Clock, wait: Wait, realtime: bool = False) -> None:
        super().__init__(f"video {path}")
        if not path.is_file():
            raise CameraError(f"no video file {path}")
        self._capture = cv2.VideoCapture(str(path))
        if not self._capture.isOpened():
            raise CameraError(
                f"{path} cannot be opened as a video; expected one of {', '.join(sorted(VIDEO_SUFFIXES))}"
            )
        self._clock, self._wait, self._realtime = clock, wait, realtime
        rate = self._capture.get(cv2.CAP_PROP_FPS)
        self._period_s = 1 / rate if 0 < rate < 1000 else 1 / _FRAMES_PER_SECOND_IF_UNKNOWN
        self._promised = int(self._capture.get(cv2.CAP_PROP_FRAME_COUNT))
        self._sequence = 0
        self._last_time_s = -self._period_s
        self._held: Frame | None = None
        self._offset_s: float | None = None
        self._closed = False

    def read(self, timeout_s: float) -> Frame:
        """Give the next frame, or in real time the newest one due; see ``Camera.read``."""
        if self._closed:
            raise CameraError(f"{self.name} is closed")
        if not self._realtime:
            return self._next()
        newest = self._held or self._next()
        self._held = None
        if self._offset_s is None:
            self._offset_s = self._clock() - newest.time_s
        early_s = newest.time_s - (self._clock() - self._offset_s)
        if early_s > 0:
            self._wait(min(early_s, timeout_s))
            if early_s > timeout_s:
                self._held = newest
                raise FrameTimeoutError(f"{self.name}: the next frame is due in {early_s - timeout_s:.2f} s")
        return self._skip_missed(newest, self._clock() - self._offset_s)

    def _skip_missed(self, newest: Frame, now_s: float) -> Frame:
        while True:
            try:
                following = self._next()
            except EndOfFramesError:
                return newest
            if following.time_s > now_s:
                self._held = following
                return newest
            newest = following

    def _next(self) -> Frame:
        there, image = self._capture.read()
        if not there or image is None:
            short = self._promised > self._sequence
            cut = f" of the {self._promised} it promises; it seems cut off" if short else ""
            raise EndOfFramesError(f"{self.name} ends after {self._sequence} frames{cut}")
        stamp_s = self._capture.get(cv2.CAP_PROP_POS_MSEC) / 1000
        # Some containers carry no time stamps, or repeat them; the frame rate then says when.
        self._last_time_s = stamp_s if stamp_s > self._last_time_s else self._last_time_s + self._period_s
        frame = Frame(np.asarray(image, dtype=np.uint8), self._last_time_s, self._sequence, self.name)
        self._sequence += 1
        return frame

    def close(self) -> None:
        """Close the file."""
        self._closed = True
        self._capture.release()
