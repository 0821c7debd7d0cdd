"""Films of a set's pictures: each is repeated with fresh sensor noise."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np

from benchmarks.parts.picture_sets import PictureFolder
from engine.registry import load
from vision.errors import EnrolmentError, NotLocatedError
from vision.frame import Frame, Image
from vision.geometry import CameraModel, Pose, project
from vision.layout.table import TableLayout
from vision.locating.location import locate
from vision.readers.protocols import LearnedLook, SurfaceView
from vision.readers.registry import reader_kind

FRAMES_PER_SECOND = 15.0
NOISE_LEVELS = 1.5
NOISE_FIELDS = 6
SAME_VIEWPOINT_PX = 1.5
THING_SHARE = 0.75
PAINTED_OVER = 1.6


@dataclass(frozen=True, eq=False)
class Shot:
    """Consecutive pictures of a piece set from the same viewpoint; ``pose`` is ``None`` if it can't be located."""

    camera: CameraModel
    pose: Pose | None
    looks: LearnedLook | None
    pictures: tuple[Image, ...]


@dataclass(frozen=True, eq=False)
class PictureSet:
    """A set's layout, and its pictures grouped into shots."""

    layout: TableLayout
    shots: tuple[Shot, ...]

    def film_frames(self, held: int) -> int:
        """Frames of a film with each picture held for ``held``; a shot of one picture gets a second one."""
        return held * sum(max(2, len(shot.pictures)) for shot in self.shots)


@dataclass(frozen=True, eq=False)
class FilmMoment:
    """One frame of a film; ``kind`` is ``first``, ``changed``, ``still`` or ``unmarked``, ``shot`` its shot's index."""

    frame: Frame
    kind: str
    shot: int


def load_set(set_dir: Path, calibration: Path) -> PictureSet:
    """Load a set's pictures.

    Without enrolment pictures, colours are learned from the first picture, which must show a game's set-up. Raises
    OSError and VisionError.
    """
    folder = PictureFolder(set_dir, calibration)
    layout, learned = folder.layout, None
    shots: list[Shot] = []
    for path in folder.pictures:
        image, camera = folder.load(path)
        pose, looks = _pose(image, camera, layout), folder.looks_of(path.name)
        if looks is None and folder.game.learn is not None:
            looks = learned = learned or _learned(image, camera, pose, layout)
        last = shots[-1] if shots else None
        if (
            last is not None
            and (last.camera, last.looks) == (camera, looks)
            and _same_viewpoint(last.pose, pose, camera, layout)
        ):
            shots[-1] = replace(last, pictures=(*last.pictures, image))
        else:
            shots.append(Shot(camera, pose, looks, (image,)))
    if not shots:
        raise EnrolmentError(f"{set_dir} holds no pictures called 000.jpg, 001.jpg, ...")
    return PictureSet(layout, tuple(shots))


def _pose(image: Image, camera: CameraModel, layout: TableLayout) -> Pose | None:
    try:
        return locate(image, camera, layout).pose
    except NotLocatedError:
        return None


def _same_viewpoint(first: Pose | None, second: Pose | None, camera: CameraModel, layout: TableLayout) -> bool:
    if first is None or second is None:
        return False
    points = [[x, y, layout.board.height_mm] for x, y in layout.markers.centres_mm.values()]
    return float(np.abs(project(camera, first, points) - project(camera, second, points)).max()) < SAME_VIEWPOINT_PX


def _learned(image: Image, camera: CameraModel, pose: Pose | None, layout: TableLayout) -> LearnedLook:
    if pose is None:
        raise EnrolmentError("the table can't be located in the first picture, so no colours can be learned from it")
    kind, game = reader_kind(layout), load(layout.game)
    view = SurfaceView(image, camera, pose, layout.board, markers=layout.markers)
    learned: LearnedLook = kind.learn(view, kind.plain(layout.board), game.table.appearance(game.rules.new()))
    return learned


class Projector:
    """Turns shots into films: every picture is held for ``held`` frames, each with its own noise."""

    def __init__(self, pictures: PictureSet, held: int, rng: np.random.Generator) -> None:
        self._set = pictures
        self._held = held
        self._rng = rng
        height, width = pictures.shots[0].pictures[0].shape[:2]
        noise = rng.normal(0, NOISE_LEVELS, (NOISE_FIELDS, height + 64, width + 64, 3))
        self._noise = np.round(noise).astype(np.int16)

    def film(self, start: int = 0) -> Iterator[FilmMoment]:
        """Show every shot once, at 15 frames a second, numbered from ``start``."""
        number = start
        for index, shot in enumerate(self._set.shots):
            pictures = shot.pictures if len(shot.pictures) > 1 else self._with_disc(shot)
            for at, picture in enumerate(pictures):
                for held in range(self._held):
                    kind = "still" if held else "changed" if at else "first"
                    frame = Frame(self._noisy(picture), number / FRAMES_PER_SECOND, number, f"shot {index}")
                    yield FilmMoment(frame, kind, index)
                    number += 1

    def unmarked(self, frames: int) -> Iterator[FilmMoment]:
        """Show the first shot's first picture with grey squares over the markers, at the same rate."""
        shot, markers = self._set.shots[0], self._set.layout.markers
        picture = shot.pictures[0].copy()
        for marker_id in markers.centres_mm:
            if shot.pose is None:
                break
            corners = project(shot.camera, shot.pose, markers.corners_mm(marker_id))
            middle = corners.mean(axis=0)
            covered = np.round(middle + PAINTED_OVER * (corners - middle)).astype(np.int32)
            cv2.fillConvexPoly(picture, covered, (120, 120, 120), cv2.LINE_AA)
        for number in range(frames):
            yield FilmMoment(Frame(self._noisy(picture), number / FRAMES_PER_SECOND, number, "shot 0"), "unmarked", 0)

    def _with_disc(self, shot: Shot) -> tuple[Image, ...]:
        """A single picture, and the same with a dark disc on a random place, ``THING_SHARE`` as wide as the place."""
        picture = shot.pictures[0]
        if shot.pose is None:
            return (picture,)
        layout = self._set.layout
        x, y = layout.centre_mm(layout.places[int(self._rng.integers(len(layout.places)))])
        angles = np.linspace(0, 2 * np.pi, 24, endpoint=False)
        radius = THING_SHARE / 2 * layout.board.cell_mm
        rim = [[x + radius * np.cos(angle), y + radius * np.sin(angle), layout.board.height_mm] for angle in angles]
        changed = picture.copy()
        outline = np.clip(project(shot.camera, shot.pose, rim), -1e4, 1e4)
        cv2.fillConvexPoly(changed, np.round(outline).astype(np.int32), (40, 45, 50), cv2.LINE_AA)
        return picture, changed

    def _noisy(self, picture: Image) -> Image:
        field = self._noise[int(self._rng.integers(len(self._noise)))]
        top, left = (int(self._rng.integers(64)) for _ in range(2))
        height, width = picture.shape[:2]
        noise = field[top : top + height, left : left + width]
        if noise.shape != picture.shape:
            noise = np.resize(noise, picture.shape)
        return np.asarray(np.clip(picture + noise, 0, 255), dtype=np.uint8)
