"""The camera's picture with the referee's reading drawn on it, and a film of the demo.

The reading is the table's location, looks and hidden places.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from engine.values import EMPTY
from referee.judge.verdict import Verdict, VerdictKind
from vision.drawing import draw, write_text
from vision.errors import FrameError, NotLocatedError
from vision.frame import FloatArray, Frame, Image
from vision.geometry import CameraModel, Pose, project
from vision.images import write_image
from vision.layout.pieces import GridSurface, top_mm
from vision.layout.table import TableLayout
from vision.learned_cameras import LearnedCameras
from vision.locating.location import locate
from vision.reading import Reading

_READ, _DOUBTFUL, _HIDDEN = (255, 255, 255), (60, 60, 255), (200, 60, 200)
_SURE_PROBABILITY = 0.9
"""Probability below which a look is written in red."""
_TINT = 0.5
"""How much a hidden place is tinted, from 0 to 1."""


@dataclass(frozen=True)
class Overlay:
    """Draws over frames. Each is located again, so any thread may call it; a call takes some tens of milliseconds.

    ``known`` returns a known pose of the board, if any: without markers it determines its orientation. ``reading``
    returns the newest reading.
    """

    camera: CameraModel | LearnedCameras
    layout: TableLayout
    known: Callable[[], Pose | None] = lambda: None
    reading: Callable[[], Reading | None] = lambda: None

    def __call__(self, frame: Frame) -> Image | None:
        """Return the picture with markers, box, grid and readings of the board, or of each sheet that was located.

        ``None`` where nothing was located.
        """
        picture: Image | None = None
        size = (frame.image.shape[1], frame.image.shape[0])
        camera = self.camera.known_for(size) if isinstance(self.camera, LearnedCameras) else self.camera
        if camera is None:
            return None
        reading, known = self.reading(), self.known()
        for part in self.layout.parts():
            try:
                located = locate(frame.image, camera, part, previous=known)
            except (NotLocatedError, FrameError):
                continue
            finally:
                known = None
            picture = draw(frame.image if picture is None else picture, located, part, camera)
            board = part.surfaces[0]
            if reading is not None and isinstance(board, GridSurface):
                self._draw_reading(picture, camera, located.pose, board, reading)
        return picture

    def _draw_reading(
        self, picture: Image, camera: CameraModel, pose: Pose, board: GridSurface, reading: Reading
    ) -> None:
        height = top_mm(board)
        half = board.cell_mm / 2
        hidden = {place for hindrance in reading.hindrances for place in hindrance.places}
        for place in board.places:
            seen = reading.places.get(place)
            x, y = board.centre_mm(place)
            if place in hidden or (seen is not None and seen.hidden_by is not None):
                corners = [
                    [x + dx, y + dy, height] for dx, dy in ((-half, -half), (half, -half), (half, half), (-half, half))
                ]
                _tint(picture, project(camera, pose, corners))
            elif seen is not None and seen.probabilities and (best := seen.best)[0] != EMPTY:
                colour = _READ if best[1] >= _SURE_PROBABILITY else _DOUBTFUL
                write_text(
                    picture,
                    best[0].replace(" block,", "").replace(" up", ""),
                    project(camera, pose, [[x - half, y, height]])[0],
                    colour,
                )


def _tint(picture: Image, corners_px: FloatArray) -> None:
    mask = np.zeros(picture.shape[:2], np.uint8)
    cv2.fillConvexPoly(mask, np.round(np.clip(corners_px, -20000, 20000)).astype(np.int32), 1)
    tinted = picture[mask > 0] * (1 - _TINT) + np.asarray(_HIDDEN) * _TINT
    picture[mask > 0] = tinted.astype(np.uint8)


_STILL_WIDTH_PX = 1000
"""The width of a still, which pages and READMEs show without scaling."""
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
