"""Files as cameras: a list of images, a folder that grows, a video."""

import os
import re
from collections.abc import Collection, Sequence
from pathlib import Path

import cv2
import numpy as np

from common.phrases import Phrase, either, joined
from vision.errors import CameraError, EndOfFramesError, FrameError, FrameTimeoutError, NothingNewError
from vision.frame import Camera, Clock, Frame, Wait
from vision.images import IMAGE_SUFFIXES, decode_image, has_end_mark, is_complete_image, load_image, read_image


def name_order(path: Path) -> list[tuple[int, int, str]]:
    """Return a sort key that puts ``frame2`` before ``frame10``."""
    parts = re.split(r"(\d+)", path.name.lower())
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts if part]


def image_paths(folder: Path) -> list[Path]:
    """Return a folder's images in name order, without hidden files; raises CameraError when it cannot be listed."""
    try:
        with os.scandir(folder) as entries:
            files = [Path(entry.path) for entry in entries if entry.is_file()]
    except OSError as error:
        raise CameraError("cannot list the folder {folder}: {strerror}", folder, error.strerror) from error
    images = [path for path in files if path.suffix.lower() in IMAGE_SUFFIXES and not path.name.startswith(".")]
    return sorted(images, key=name_order)


class ImageFiles(Camera):
    """Returns a list of image files, each once, in the order given, then raises EndOfFramesError."""

    def __init__(self, paths: Sequence[Path], *, clock: Clock, name: str = "image files") -> None:
        super().__init__(name)
        if not paths:
            raise EndOfFramesError(
                "{name}: no image; expected at least one of {names}", name, joined(sorted(IMAGE_SUFFIXES), ", ")
            )
        self._paths = tuple(paths)
        self._clock = clock
        self._next = 0
        self._closed = False

    def _read(self, timeout_s: float) -> Frame:  # noqa: ARG002 - files need no waiting
        if self._closed:
            raise CameraError("{name} is closed", self.name)
        if self._next >= len(self._paths):
            raise EndOfFramesError("{name} has given all its {paths} pictures", self.name, len(self._paths))
        sequence, path = self._next, self._paths[self._next]
        self._next += 1
        return Frame(load_image(path), self._clock(), sequence, str(path))

    def close(self) -> None:
        """Return no more images."""
        self._closed = True


_POLL_S = 0.1
"""Seconds between two checks of a folder for new images. Longer: less work, but images are noticed later."""
_PATIENCE_S = 3.0
"""Seconds without growing after which an incomplete image is skipped. Longer: a slow copy is waited for."""


class GrowingFolder(Camera):
    """Returns a folder's images in name order as they appear, each once, as soon as they are completely written.

    An incomplete file is tried again until it is complete. After ``_PATIENCE_S`` without growing, a FrameError names
    it and it is skipped. The folder is checked every ``_POLL_S`` seconds, using ``wait``. Files named in ``skip`` are
    never returned.
    """

    def __init__(self, folder: Path, *, clock: Clock, wait: Wait, skip: Collection[str] = ()) -> None:
        super().__init__(Phrase("folder {folder}", folder))
        if not folder.is_dir():
            raise CameraError("no folder {folder}; make it, or name another", folder)
        self._folder, self._clock, self._wait = folder, clock, wait
        self._seen: set[str] = set(skip)
        self._sequence = 0
        self._pending: tuple[str, int, float] | None = None
        self._closed = False

    def _read(self, timeout_s: float) -> Frame:
        """Return the next image, waiting until one is there and complete."""
        deadline = self._clock() + timeout_s
        while True:
            if self._closed:
                raise CameraError("{name} is closed", self.name)
            fresh = [path for path in image_paths(self._folder) if path.name not in self._seen]
            frame = self._read_if_complete(fresh[0]) if fresh else None
            if frame is not None:
                return frame
            left_s = deadline - self._clock()
            if left_s <= 0:
                if fresh:
                    raise FrameTimeoutError(
                        "{name}: {name_2} is still incomplete after {timeout_s} s",
                        self.name,
                        fresh[0].name,
                        f"{timeout_s:g}",
                    )
                raise NothingNewError("{name}: no new image after {timeout_s} s", self.name, f"{timeout_s:g}")
            self._wait(min(_POLL_S, left_s))

    def _read_if_complete(self, path: Path) -> Frame | None:
        try:
            size_bytes = path.stat().st_size
            data = read_image(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            self._seen.add(path.name)
            raise CameraError("cannot read {path}: {strerror}", path, error.strerror) from error
        except FrameError:
            self._skip(path)
            raise
        now_s = self._clock()
        if self._pending is None or self._pending[:2] != (path.name, size_bytes):
            self._pending = (path.name, size_bytes, now_s)
            if not has_end_mark(data):
                # it is complete if it has not grown by the next look
                return None
        if not is_complete_image(data):
            waited_s = now_s - self._pending[2]
            if waited_s < _PATIENCE_S:
                return None
            self._skip(path)
            raise FrameError(
                "{path} is still cut off after {waited_s} s ({size} bytes); it is skipped",
                path,
                f"{waited_s:.1f}",
                len(data),
            )
        self._skip(path)
        sequence = self._sequence
        self._sequence += 1
        return Frame(decode_image(data, str(path)), now_s, sequence, str(path))

    def _skip(self, path: Path) -> None:
        self._seen.add(path.name)
        self._pending = None

    def close(self) -> None:
        """Return no more images."""
        self._closed = True


VIDEO_SUFFIXES = frozenset({".mp4", ".m4v", ".avi", ".mkv", ".mov", ".webm", ".mjpg", ".mjpeg", ".mpg", ".mpeg"})

_FRAMES_PER_SECOND_IF_UNKNOWN = 30.0
"""Rate assumed for a video file that states none."""


class VideoFile(Camera):
    """Returns a video's frames; ``time_s`` is the file's own time stamp, counted from its start.

    Without ``realtime`` every frame is returned, in order and without waiting. With it, frames are returned when they
    are due by ``clock``, and those that a slow reader missed are skipped. Raises CameraError for a file that is not a
    video.
    """

    def __init__(self, path: Path, *, clock: Clock, wait: Wait, realtime: bool = False) -> None:
        super().__init__(Phrase("video {path}", path))
        if not path.is_file():
            raise CameraError("no video file {path}", path)
        self._capture = cv2.VideoCapture(str(path))
        if not self._capture.isOpened():
            raise CameraError(
                "{path} cannot be opened as a video; expected one of {names}",
                path,
                joined(sorted(VIDEO_SUFFIXES), ", "),
            )
        self._clock, self._wait, self._realtime = clock, wait, realtime
        rate = self._capture.get(cv2.CAP_PROP_FPS)
        self._period_s = 1 / rate if 0 < rate < 1000 else 1 / _FRAMES_PER_SECOND_IF_UNKNOWN
        self._expected_frames = int(self._capture.get(cv2.CAP_PROP_FRAME_COUNT))
        self._sequence = 0
        self._last_time_s = -self._period_s
        self._held: Frame | None = None
        self._offset_s: float | None = None
        self._closed = False

    def _read(self, timeout_s: float) -> Frame:
        """Return the next frame, or in real time the newest one due."""
        if self._closed:
            raise CameraError("{name} is closed", self.name)
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
                raise FrameTimeoutError(
                    "{name}: the next frame is due in {wait_s} s", self.name, f"{early_s - timeout_s:.2f}"
                )
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
        is_read, image = self._capture.read()
        if not is_read or image is None:
            short = self._expected_frames > self._sequence
            raise EndOfFramesError(
                either(
                    short,
                    "{name} has {sequence} frames of the {expected_frames} it should have; it seems cut off",
                    "{name} has {sequence} frames",
                    name=self.name,
                    sequence=self._sequence,
                    expected_frames=self._expected_frames,
                )
            )
        stamp_s = self._capture.get(cv2.CAP_PROP_POS_MSEC) / 1000
        # Some containers have no time stamps, or repeat them; then the frame rate gives the time.
        self._last_time_s = stamp_s if stamp_s > self._last_time_s else self._last_time_s + self._period_s
        frame = Frame(np.asarray(image, dtype=np.uint8), self._last_time_s, self._sequence, self.name)
        self._sequence += 1
        return frame

    def close(self) -> None:
        """Close the file."""
        self._closed = True
        self._capture.release()
