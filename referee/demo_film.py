"""Writing a film of the demo."""

from __future__ import annotations

from pathlib import Path

import cv2

from vision.errors import FrameError
from vision.frame import Image

CODECS = {".mp4": "mp4v", ".avi": "MJPG", ".mkv": "MJPG"}


class Film:
    """Writes pictures of one size to a video file; the suffix chooses the codec.

    Raises FrameError for a suffix it does not know, and when the file can't be written.
    """

    def __init__(self, path: Path, frames_per_second: float) -> None:
        suffix = path.suffix.lower()
        if suffix not in CODECS:
            raise FrameError(f"a film can't be called {path.name}; expected a name that ends in {', '.join(CODECS)}")
        self._path = path
        self._codec = cv2.VideoWriter.fourcc(*CODECS[suffix])
        self._rate = frames_per_second
        self._writer: cv2.VideoWriter | None = None

    def add(self, picture: Image) -> None:
        """Write one more picture."""
        if self._writer is None:
            size = (picture.shape[1], picture.shape[0])
            self._writer = cv2.VideoWriter(str(self._path), self._codec, self._rate, size)
            if not self._writer.isOpened():
                raise FrameError(f"the film {self._path} can't be written: is the folder there, and writable?")
        self._writer.write(picture)

    def close(self) -> None:
        """Finish the file."""
        if self._writer is not None:
            self._writer.release()
