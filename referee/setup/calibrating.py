"""The set-up step that calibrates the camera from pictures of a printed board.

The pictures are taken either in one series or one by one. Taken one by one, each is saved in a folder, and the page
draws a pose that is still missing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np

from common.durable import write_durably
from common.findings import Finding
from common.phrases import Phrase
from common.whole_files import read_text
from referee.errors import ConfigError
from referee.setup.table_setup import PICTURES_FOLDER, AnswerForm, Field, Inspection, SetupStep, StepResult, TableSetup
from vision import calibration
from vision.cameras import image_paths
from vision.frame import FloatArray, Frame, Image
from vision.geometry import CameraModel, Pose, project
from vision.images import load_image, write_image
from vision.opencv import as_colour, planar_poses, undistort_points

CHARUCO = "charuco:7x5:30:22:DICT_5X5_100"
"""The calibration board to print; it fits on A4 and letter."""
BOARD = calibration.parse_board(CHARUCO)
CALIBRATION_PICTURES = 15
BETWEEN_PICTURES_S = 2.0
"""Pictures taken for a calibration, and the seconds between them, in which the board is held differently."""

_CAMERA_FILE = "camera.txt"
"""Names the camera that took the pictures of a folder."""

_MOST_PICTURES = 25
_FEWEST_PICTURES = 8
"""Pictures kept on the page, and the fewest to calibrate by."""
_STILL_SHARE = 0.004
"""The most the board may move between two pictures and count as still, as a share of the picture's width."""
_LIKE_SHARE = 0.06
"""The mean movement of the board from which a picture counts as new, as a share of the picture's width."""
_NEAR_EDGE = 0.28
"""How near the board must come to a corner of the picture to count as in it, as a share of width and height."""
_TILT_DEG = 15.0
"""The tilt from which a board counts as held askew."""
_USUAL_FOCAL = 0.85
"""The assumed focal length of an uncalibrated camera, in picture widths."""

_PLACES = {
    (-1, -1): Phrase("in the upper left corner of the picture"),
    (1, -1): Phrase("in the upper right corner of the picture"),
    (1, 1): Phrase("in the lower right corner of the picture"),
    (-1, 1): Phrase("in the lower left corner of the picture"),
}
_MIDDLE = Phrase("in the middle of the picture")
_TILTS = {
    (-1, 0): Phrase("with its left edge nearer to the camera"),
    (1, 0): Phrase("with its right edge nearer to the camera"),
    (0, -1): Phrase("with its upper edge nearer to the camera"),
    (0, 1): Phrase("with its lower edge nearer to the camera"),
}
_FLAT = Phrase("facing the camera")
_FOUND_COLOUR, _WANTED_COLOUR = (80, 220, 80), (0, 200, 255)
Direction = tuple[int, int]


@dataclass
class PoseGuide:
    """Tracks which board poses a set of pictures covers.

    ``size`` is the pictures' (width, height) in pixels, (0, 0) while it is unknown.
    """

    size: tuple[int, int]
    kept: list[calibration.BoardCorners] = field(default_factory=list)

    def learn_size(self, image: Image) -> None:
        """Take the size from this picture if it is unknown, because the camera's step was skipped."""
        if 0 in self.size:
            self.size = (image.shape[1], image.shape[0])

    @property
    def missing_places(self) -> list[Direction]:
        """The corners of the picture in which the board hasn't been seen yet."""
        return [place for place in _PLACES if not any(self._is_in(place, each) for each in self.kept)]

    @property
    def missing_tilts(self) -> list[Direction]:
        """The directions in which the board hasn't been tilted yet."""
        return [tilt for tilt in _TILTS if not any(self._tilts(each) == tilt for each in self.kept)]

    @property
    def is_enough(self) -> bool:
        """Whether the pictures suffice to calibrate the camera."""
        return self.lacking <= 0

    @property
    def lacking(self) -> int:
        """The fewest further pictures that suffice: each shows one place and one tilt."""
        return max(_FEWEST_PICTURES - len(self.kept), len(self.missing_places), len(self.missing_tilts))

    def is_new(self, seen: calibration.BoardCorners) -> bool:
        """Return whether a picture shows the board in a new pose."""
        if not seen.is_enough:
            return False
        return all(self._apart(seen, other) > _LIKE_SHARE * self.size[0] for other in self.kept)

    def is_still(self, seen: calibration.BoardCorners, before: calibration.BoardCorners | None) -> bool:
        """Return whether the board stayed still between two pictures."""
        return before is not None and self._apart(seen, before) <= _STILL_SHARE * self.size[0]

    def words(self) -> Phrase:
        """Say how to hold the board for the next picture."""
        place = next((_PLACES[place] for place in self.missing_places), _MIDDLE)
        tilt = next((_TILTS[tilt] for tilt in self.missing_tilts), _FLAT)
        return Phrase("Hold the board {place}, {tilt}.", place=place, tilt=tilt)

    def outline_px(self) -> FloatArray:
        """Return the board's outline in the pose it should have next, shape (4, 2), in pixels."""
        place = next(iter(self.missing_places), (0, 0))
        tilt = next(iter(self.missing_tilts), (0, 0))
        width, height = BOARD.columns * BOARD.square_mm, BOARD.rows * BOARD.square_mm
        turn = np.radians(1.6 * _TILT_DEG) * np.array([-tilt[1], tilt[0], 0.0])
        camera = self._camera
        distance = width * _USUAL_FOCAL / (0.45 if place == (0, 0) else 0.36)
        reach = distance / (2 * _USUAL_FOCAL)
        centre = np.array([place[0] * reach * 0.55, place[1] * reach * 0.5 * self.size[1] / self.size[0], distance])
        corners = np.array([[x * width / 2, y * height / 2, 0.0] for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))])
        return project(camera, Pose.from_vectors(turn, centre), corners)

    @property
    def _camera(self) -> CameraModel:
        width, height = self.size
        focal = _USUAL_FOCAL * width
        matrix = np.array([[focal, 0.0, width / 2], [0.0, focal, height / 2], [0.0, 0.0, 1.0]])
        return CameraModel(matrix, np.zeros(5), self.size)

    def _is_in(self, place: Direction, seen: calibration.BoardCorners) -> bool:
        shares = seen.corners_px / np.asarray(self.size)
        towards = np.where(np.asarray(place) < 0, shares, 1 - shares)
        return bool((towards < _NEAR_EDGE).all(axis=1).any())

    def _tilts(self, seen: calibration.BoardCorners) -> Direction | None:
        camera = self._camera
        rays = undistort_points(seen.corners_px, camera.matrix, camera.distortion)
        poses = planar_poses(BOARD.corners_mm(seen.ids)[:, :2], rays)
        if not poses:
            return None
        rotation = Pose.from_vectors(*poses[0]).rotation
        # The board's normal, pointing away from the camera, leans towards the side that is nearer.
        normal = rotation[:, 2] * np.sign(rotation[2, 2])
        if np.degrees(np.arccos(np.clip(normal[2], -1, 1))) < _TILT_DEG:
            return None
        across, down = float(normal[0]), float(normal[1])
        if abs(across) >= abs(down):
            return (1, 0) if across > 0 else (-1, 0)
        return (0, 1) if down > 0 else (0, -1)

    @staticmethod
    def _apart(first: calibration.BoardCorners, second: calibration.BoardCorners) -> float:
        """Return the mean distance between the corners seen in both, in pixels; infinite if there are none."""
        shared = sorted(set(first.ids) & set(second.ids))
        if not shared:
            return float("inf")
        one, other = (each.corners_px[[each.ids.index(number) for number in shared]] for each in (first, second))
        return float(np.linalg.norm(one - other, axis=1).mean())


@dataclass
class BoardPictures:
    """The folder of board pictures that one camera took one by one.

    ``source`` is the camera; ``newest`` is the highest number of a picture's file.
    """

    folder: Path
    source: str
    guide: PoseGuide
    before: calibration.BoardCorners | None = None
    newest: int = 0

    @classmethod
    def of(cls, table: TableSetup) -> BoardPictures:
        """Load a table's pictures, also after a restart.

        Raises VisionError if one can't be read, and ConfigError if another camera took them.
        """
        known, size = table.pictures, table.picture_px
        if (
            isinstance(known, BoardPictures)
            and known.source == table.source
            and (0 in size or known.guide.size == size)
        ):
            return known
        found = cls(table.folder / PICTURES_FOLDER, table.source, PoseGuide(size))
        found.folder.mkdir(exist_ok=True)
        taken_by = found.folder / _CAMERA_FILE
        if taken_by.is_file() and (other := read_text(taken_by)) != table.source:
            raise ConfigError(
                Phrase("camera {camera} took these pictures; discard them to calibrate another one", camera=other)
            )
        for path in image_paths(found.folder):
            image = load_image(path)
            if path.stem.isdecimal():
                # The numbers may have gaps, where the owner has deleted pictures.
                found.newest = max(found.newest, int(path.stem))
            found.guide.learn_size(image)
            check_size(image, found.guide.size)
            found.guide.kept.append(calibration.find_board(image, BOARD))
        table.pictures = found
        return found

    def take(self, frame: Frame, *, by_itself: bool) -> Finding:
        """Save a picture that shows the board in a new pose; with ``by_itself``, only if the board is still."""
        self.guide.learn_size(frame.image)
        check_size(frame.image, self.guide.size)
        seen = calibration.find_board(frame.image, BOARD)
        before, self.before = self.before, seen
        if not seen.is_enough:
            if (mismatch := calibration.board_mismatch(frame.image, BOARD)) is not None:
                return Finding.fault(_PICTURE, mismatch)
            message = Phrase("only {count} corners of the board are seen", count=len(seen.ids))
            return Finding.note(_PICTURE, message, Phrase("bring it nearer, and keep your fingers off its squares"))
        if len(self.guide.kept) >= _MOST_PICTURES:
            return Finding.note(_PICTURE, Phrase("there are enough pictures"), Phrase("calibrate with these"))
        if not self.guide.is_new(seen):
            return Finding.note(_PICTURE, Phrase("this pose is there already"), self.guide.words())
        if by_itself and not self.guide.is_still(seen, before):
            return Finding.note(_PICTURE, Phrase("the board is moving"), Phrase("hold it still for a moment"))
        self.newest += 1
        write_durably(self.folder / _CAMERA_FILE, self.source)
        write_image(self.folder / f"{self.newest}.png", frame.image)
        self.guide.kept.append(seen)
        return Finding.ok(_PICTURE, Phrase("picture {number} is kept", number=len(self.guide.kept)))

    @staticmethod
    def discard(table: TableSetup) -> None:
        """Delete a table's pictures, also damaged ones, and forget their camera and size.

        Raises OSError if one can't be deleted.
        """
        folder = table.folder / PICTURES_FOLDER
        for path in image_paths(folder) if folder.is_dir() else ():
            path.unlink()
        (folder / _CAMERA_FILE).unlink(missing_ok=True)
        table.pictures = None

    def inspect(self, frame: Frame) -> Inspection:
        """Draw the detected board and a missing pose, and say how many pictures there are."""
        self.guide.learn_size(frame.image)
        seen = calibration.find_board(frame.image, BOARD)
        picture: Image = np.array(as_colour(frame.image), dtype=np.uint8)
        for x, y in seen.corners_px:
            cv2.circle(picture, (round(float(x)), round(float(y))), 4, _FOUND_COLOUR, -1, cv2.LINE_AA)
        guide = self.guide
        taken = Phrase("{count} kept", count=len(guide.kept))
        if guide.is_enough:
            enough = Phrase("the board was held in every way that is needed")
            return Inspection((Finding.ok(_PICTURES, taken), Finding.ok(_POSE, enough)), picture, share=1.0)
        cv2.polylines(picture, [np.round(guide.outline_px()).astype(np.int32)], True, _WANTED_COLOUR, 3, cv2.LINE_AA)
        lacking = Phrase("at least {count} more pictures are needed", count=guide.lacking)
        findings = (Finding.ok(_PICTURES, taken), Finding.note(_POSE, lacking, guide.words()))
        return Inspection(findings, picture, share=len(guide.kept) / (len(guide.kept) + guide.lacking))


_PICTURE, _PICTURES, _POSE = Phrase("picture"), Phrase("pictures"), Phrase("pose")


def check_size(image: Image, size: tuple[int, int]) -> None:
    """Raise ConfigError for a picture that isn't of the camera's ``size`` (width, height)."""
    got = (image.shape[1], image.shape[0])
    if got != size:
        raise ConfigError(
            Phrase(
                "the picture has {width} x {height} pixels, the camera gives {camera_width} x {camera_height}; "
                "calibrate with pictures of the camera that will watch the table",
                width=got[0],
                height=got[1],
                camera_width=size[0],
                camera_height=size[1],
            )
        )


_INSTRUCTIONS = (
    Phrase("Hold the calibration board in front of the camera, in as many poses as you can."),
    Phrase("Tilt it to every side, near and far, and bring it into each corner of the picture."),
)


def _check_calibration(table: TableSetup, answer: str) -> StepResult:
    given = table.file(answer) if answer else None
    if given is not None and given.is_file():
        return _use_calibration(table, given, answer)
    images: list[Image]
    if given is not None:
        images = [load_image(path) for path in image_paths(given)]
        if images and all(table.picture_px):
            check_size(images[0], table.picture_px)
    else:
        images = [frame.image for frame in table.look(table.source, CALIBRATION_PICTURES, BETWEEN_PICTURES_S)]
    found = calibration.calibrate(images, CHARUCO, name="camera", tell=table.tell)
    if not found.good:
        remedy = Phrase("take more pictures, or take them again")
        faults = tuple(Finding.fault(_CALIBRATION, reason, remedy) for reason in found.reasons)
        return StepResult((_numbers(found), *faults))
    calibration.save_calibration(table.folder / "camera.json", found, made_on=table.today)
    message = Phrase(
        "good: {error} px off on average; written to camera.json", error=f"{found.camera.reprojection_error_px:.2f}"
    )
    return StepResult((Finding.ok(_CALIBRATION, message), _numbers(found)), {"camera.calibration": "camera.json"})


_CALIBRATION = Phrase("calibration")


def _use_calibration(table: TableSetup, path: Path, answer: str) -> StepResult:
    camera = calibration.load_calibration(path)
    if all(table.picture_px) and camera.size != table.picture_px:
        of_file, of_camera = (f"{width} x {height}" for width, height in (camera.size, table.picture_px))
        wrong = Phrase(
            "{file} is for {calibrated} pixels, the camera gives {camera}",
            file=path.name,
            calibrated=of_file,
            camera=of_camera,
        )
        return StepResult((Finding.fault(_CALIBRATION, wrong, Phrase("calibrate at the size you play with")),))
    message = Phrase("{file} is used", file=path.name)
    return StepResult((Finding.ok(_CALIBRATION, message),), {"camera.calibration": answer})


def _numbers(found: calibration.Calibration) -> Finding:
    used = [view for view in found.views if view.used]
    message = Phrase(
        "{used} of {all} pictures used, corners in {share} % of the picture, tilted by up to {tilt}°",
        used=len(used),
        all=len(found.views),
        share=f"{100 * found.coverage:.0f}",
        tilt=f"{max((view.tilt_deg or 0.0 for view in used), default=0.0):.0f}",
    )
    return Finding.ok(_PICTURES, message)


def _forms(table: TableSetup) -> tuple[AnswerForm, ...]:
    is_enough = BoardPictures.of(table).guide.is_enough
    kept = Field(Phrase("The calibration's file"), value="camera.json")
    return (
        AnswerForm(Phrase("Calibrate with these pictures"), answer=PICTURES_FOLDER, is_rare=not is_enough),
        AnswerForm(Phrase("Use a calibration that I have"), (kept,), is_rare=True),
    )


def _watch(table: TableSetup, frame: Frame) -> Inspection:
    return BoardPictures.of(table).inspect(frame)


def _collect(table: TableSetup, frame: Frame, by_itself: bool) -> Finding:
    return BoardPictures.of(table).take(frame, by_itself=by_itself)


CALIBRATION_STEP = SetupStep(
    "calibration",
    Phrase("Calibration"),
    lambda _: _INSTRUCTIONS,
    Phrase("Enter takes {number} pictures; or a folder of them, or a calibration", CALIBRATION_PICTURES),
    _check_calibration,
    forms=_forms,
    watch=_watch,
    collect=_collect,
    takes_photo=True,
    needs=("camera",),
    asks=Phrase("Hold the calibration board as drawn"),
    told=lambda _: (),
)
