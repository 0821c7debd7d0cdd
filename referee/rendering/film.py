"""A film of the demo, or a still from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import cv2
import numpy as np

from referee.judge.verdict import Verdict, VerdictKind
from vision.errors import FrameError
from vision.frame import Image
from vision.images import write_image

_STILL_WIDTH_PX = 1000
CODECS = {".mp4": "mp4v", ".avi": "MJPG", ".mkv": "MJPG"}


class Film:
    """Writes pictures of one size to a video file; the suffix chooses the codec.

    Raises FrameError for an unknown suffix, and when the file can't be written.
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


class Pictures:
    """The film and the still of one demo, if requested; pictures are only drawn when needed.

    The still is the picture in which the first violation is explained. Raises FrameError when one can't be written.
    """

    def __init__(self, video: Path | None, still: Path | None, frames_per_second: float) -> None:
        self._film = None if video is None else Film(video, frames_per_second)
        self._still = still

    def add(self, draw: Callable[[], Image], verdicts: Sequence[Verdict]) -> None:
        """Process the next moment and its verdicts."""
        still = self._still if any(verdict.kind is VerdictKind.ILLEGAL for verdict in verdicts) else None
        if self._film is None and still is None:
            return
        picture = draw()
        if still is not None:
            _write_still(still, picture)
            self._still = None
        if self._film is not None:
            self._film.add(picture)

    def close(self) -> None:
        """Finish the film."""
        if self._film is not None:
            self._film.close()


def _write_still(path: Path, picture: Image) -> None:
    """Write a picture reduced, and smoothed slightly, since noise makes large files."""
    size = (_STILL_WIDTH_PX, round(picture.shape[0] * _STILL_WIDTH_PX / picture.shape[1]))
    small = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    calm = cv2.bilateralFilter(small, 5, 12, 3)
    write_image(path, np.asarray(calm, dtype=np.uint8), [cv2.IMWRITE_PNG_COMPRESSION, 9])
