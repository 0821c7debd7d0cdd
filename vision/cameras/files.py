"""Image files as a camera: a list of them, or a folder that grows."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path

from vision.cameras.camera import Clock, ClosingCamera, Wait
from vision.errors import CameraError, EndOfFramesError, FrameError, FrameTimeoutError, NothingNewError
from vision.frame import Frame
from vision.frames import IMAGE_SUFFIXES, decode_image, load_image, looks_whole


def name_order(path: Path) -> list[tuple[int, int, str]]:
    """Sort key that puts ``frame2`` before ``frame10``."""
    parts = re.split(r"(\d+)", path.name.lower())
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts if part]


def image_paths(folder: Path) -> list[Path]:
    """The images in a folder, in name order, hidden files left out; raises CameraError when it cannot be listed."""
    try:
        entries = list(folder.iterdir())
    except OSError as error:
        raise CameraError(f"cannot list the folder {folder}: {error.strerror}") from error
    images = [path for path in entries if path.suffix.lower() in IMAGE_SUFFIXES and not path.name.startswith(".")]
    return sorted(images, key=name_order)


class ImageFiles(ClosingCamera):
    """Gives a list of image files, each once, in the order given, then EndOfFramesError."""

    def __init__(self, paths: Sequence[Path], *, clock: Clock, name: str = "image files") -> None:
        super().__init__(name)
        if not paths:
            raise EndOfFramesError(f"{name}: no image; expected at least one of {', '.join(sorted(IMAGE_SUFFIXES))}")
        self._paths = tuple(paths)
        self._clock = clock
        self._next = 0
        self._closed = False

    def read(self, timeout_s: float) -> Frame:  # noqa: ARG002 - files never keep anyone waiting
        """Give the next image; see ``Camera.read``."""
        if self._closed:
            raise CameraError(f"{self.name} is closed")
        if self._next >= len(self._paths):
            raise EndOfFramesError(f"{self.name}: all {len(self._paths)} images have been given")
        sequence, path = self._next, self._paths[self._next]
        self._next += 1
        return Frame(load_image(path), self._clock(), sequence, str(path))

    def close(self) -> None:
        """Give no more images."""
        self._closed = True


class GrowingFolder(ClosingCamera):
    """Gives a folder's images in name order as they appear, each once, and only when completely written.

    A file that is cut off is tried again until it is whole; after ``patience_s`` without growing it is named in a
    FrameError and passed over. The folder is looked at every ``poll_s``, through the ``wait`` passed in. Files named
    in ``skip`` are never given.
    """

    def __init__(
        self,
        folder: Path,
        *,
        clock: Clock,
        wait: Wait,
        poll_s: float = 0.1,
        patience_s: float = 3.0,
        skip: Collection[str] = (),
    ) -> None:
        super().__init__(f"folder {folder}")
        if not folder.is_dir():
            raise CameraError(f"no folder {folder}; make it, or name another")
        self._folder, self._clock, self._wait = folder, clock, wait
        self._poll_s, self._patience_s = poll_s, patience_s
        self._given: set[str] = set(skip)
        self._sequence = 0
        self._pending: tuple[str, int, float] | None = None
        self._closed = False

    def read(self, timeout_s: float) -> Frame:
        """Give the next image, waiting for one to appear and be whole; see ``Camera.read``."""
        deadline = self._clock() + timeout_s
        while True:
            if self._closed:
                raise CameraError(f"{self.name} is closed")
            fresh = [path for path in image_paths(self._folder) if path.name not in self._given]
            frame = self._try(fresh[0]) if fresh else None
            if frame is not None:
                return frame
            left_s = deadline - self._clock()
            if left_s <= 0:
                if fresh:
                    raise FrameTimeoutError(f"{self.name}: {fresh[0].name} is not whole yet after {timeout_s:g} s")
                raise NothingNewError(f"{self.name}: no new image after {timeout_s:g} s")
            self._wait(min(self._poll_s, left_s))

    def _try(self, path: Path) -> Frame | None:
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            self._given.add(path.name)
            raise CameraError(f"cannot read {path}: {error.strerror}") from error
        now_s = self._clock()
        if self._pending is None or self._pending[:2] != (path.name, len(data)):
            self._pending = (path.name, len(data), now_s)
        if not looks_whole(data):
            waited_s = now_s - self._pending[2]
            if waited_s < self._patience_s:
                return None
            self._pass(path)
            raise FrameError(f"{path} is still cut off after {waited_s:.1f} s ({len(data)} bytes); it is passed over")
        self._pass(path)
        sequence = self._sequence
        self._sequence += 1
        return Frame(decode_image(data, str(path)), now_s, sequence, str(path))

    def _pass(self, path: Path) -> None:
        self._given.add(path.name)
        self._pending = None

    def close(self) -> None:
        """Give no more images."""
        self._closed = True
