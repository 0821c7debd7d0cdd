"""The camera during a set-up: opened at the first use, and kept open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from threading import Lock

from referee.settings.sections import CameraSection
from vision.cameras import Camera, is_live, open_camera
from vision.errors import EndOfFramesError, NothingNewError
from vision.frame import Frame

_READ_TIMEOUT_S = 10.0
_GROWING = "folder:"

Counted = Callable[[], AbstractContextManager[Callable[[int, int], object]]]
"""A context for taking several pictures. It yields a function that gets the number taken and the total."""


class SharedCamera:
    """Takes pictures for any thread, one call at a time.

    Size and rate of the pictures are those of the ``settings``, if the camera can deliver them. ``patience_s`` is the
    longest wait for one picture.
    """

    def __init__(
        self,
        settings: CameraSection | None = None,
        *,
        counted: Counted = lambda: nullcontext(lambda *_: None),
        patience_s: float = _READ_TIMEOUT_S,
    ) -> None:
        self._settings = settings or CameraSection()
        self._stack = ExitStack()
        self._counted = counted
        self._patience_s = patience_s
        self._camera: Camera | None = None
        self._source = ""
        self._last: Frame | None = None
        self._lock = Lock()

    def look(self, source: str, count: int, apart_s: float) -> Sequence[Frame]:
        """Take ``count`` pictures, ``apart_s`` seconds of the camera's own time apart; raises CameraError.

        A single picture from a folder of files is the newest one again if there is no new file.
        """
        with self._lock:
            camera = self._open_source(source)
            if count == 1:
                self._last = self._newest_frame(camera)
                return [self._last]
            frames: list[Frame] = []
            with self._counted() as tell:
                while len(frames) < count:
                    frame = camera.read(_READ_TIMEOUT_S)
                    if not frames or not is_live(source) or frame.time_s - frames[-1].time_s >= apart_s:
                        frames.append(frame)
                        tell(len(frames), count)
            self._last = frames[-1]
            return frames

    def opened(self, *_: object, **__: object) -> AbstractContextManager[Camera]:
        """Return the open camera in a context that doesn't close it."""
        assert self._camera is not None
        return nullcontext(self._camera)

    def close(self) -> None:
        """Close the camera."""
        with self._lock:
            self._stack.close()
            self._camera = None

    def _open_source(self, source: str) -> Camera:
        if self._camera is None or source != self._source:
            # A device can't be opened twice, so close the previous camera first.
            self._stack.close()
            self._camera = self._last = None
            asked = self._settings
            opened = open_camera(source, size=asked.size_px, frames_per_second=asked.frames_per_second)
            self._camera, self._source = self._stack.enter_context(opened), source
        return self._camera

    def _newest_frame(self, camera: Camera) -> Frame:
        if self._last is None or not self._source.startswith(_GROWING):
            try:
                newest = camera.read(self._patience_s)
            except (NothingNewError, EndOfFramesError):
                if self._last is None:
                    raise
                return self._last
        else:
            newest = self._last
        while self._source.startswith(_GROWING):
            try:
                newest = camera.read(0.0)
            except NothingNewError:
                break
        return newest
