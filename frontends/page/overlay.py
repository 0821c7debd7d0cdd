"""The camera's picture with the referee's reading drawn on it: the table's location, looks and hidden places."""

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np

from engine.values import EMPTY
from vision.drawing import draw, write_text
from vision.errors import FrameError, NotLocatedError
from vision.frame import FloatArray, Frame, Image
from vision.geometry import CameraModel, Pose, project
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
