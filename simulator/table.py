"""The virtual table: a camera and buttons for the referee, operated by two virtual players.

The referee uses it as a camera (``read``, ``close``) with buttons (``take_presses``); the players see what the table
shows (``show_mood``). The true course of the game is recorded in a ``TruthLog`` passed in by the caller.
"""

from collections.abc import Iterator

import numpy as np

from common.closeable import Closeable
from common.places import occupied
from simulator.enrolment import EnrolmentImage, SetUpImage, enrolment_images, set_up_image
from simulator.play.choreography import Moment
from simulator.play.game import AnnouncedRoll, FrameTruth, GameOptions, Press, TruthLog, VirtualGame
from simulator.rendering.hands import HandOcclusion
from simulator.rendering.renderer import Renderer
from simulator.scene.scene import Scene, Sensor, Setting, first_fitting, growing_distances, lens, looking_at
from simulator.scene.sheets import extent_mm, lying_sheets
from vision.errors import EndOfFramesError
from vision.frame import Frame
from vision.geometry import CameraModel, Pose
from vision.layout.pieces import BlockPieces
from vision.layout.table import TableLayout, default_layout

_ROOM_PX = 24.0
"""Margin of the picture around everything that must be visible: room for paper and a pen."""


def standard_setting(
    camera: CameraModel | None = None,
    game: str = "deblockle",
    layout: TableLayout | None = None,
) -> Setting:
    """Return a wooden table under one lamp, seen from the first player's side, tilted a little."""
    camera, layout = camera or lens(), layout or default_layout(game)
    return Setting(camera, _usual_pose(camera, layout), layout, sensor=Sensor(jpeg_quality=92))


def _usual_pose(camera: CameraModel, layout: TableLayout) -> Pose:
    """Return a pose over the board, or the nearest one that shows all sheets."""
    if not lying_sheets(layout):
        return looking_at()
    extent = extent_mm(layout)
    x, y, z = (float(middle) for middle in (extent.min(axis=0) + extent.max(axis=0)) / 2)
    distances = growing_distances(300.0, 1.03, 100)
    poses = (looking_at(one, tilt_deg=8.0, target_mm=(x, y, z)) for one in distances)
    return first_fitting(camera, extent, _ROOM_PX, poses)


class PlayedTable:
    """Base of all virtual tables: a game being played, its clock, its buttons and a camera model.

    Frame ``k`` is taken at ``k / fps`` seconds. Raises ValueError for an ``fps`` of 0 or less.
    """

    def __init__(self, seed: int, played: VirtualGame, setting: Setting, fps: float) -> None:
        if not fps > 0:
            raise ValueError(f"{fps} frames a second asked for; expected more than 0")
        self.seed = seed
        self.fps = fps
        self._played = played
        self._setting = setting
        self._sequence = 0
        self._presses_taken = 0
        self._rolls_taken = 0

    @property
    def name(self) -> str:
        """Name of the camera."""
        return f"virtual table {self.seed}"

    @property
    def time_s(self) -> float:
        """The table's own time."""
        return self._sequence / self.fps

    @property
    def setting(self) -> Setting:
        """The table's initial setting, from which an owner knows the layout and the camera."""
        return self._setting

    def calibration(self) -> CameraModel:
        """Return the camera's exact model."""
        return self._setting.camera

    @property
    def presses(self) -> tuple[Press, ...]:
        """Every press so far."""
        return tuple(press for press in self._played.presses if press.time_s <= self.time_s)

    def take_presses(self) -> tuple[Press, ...]:
        """Return the presses so far that were not taken yet."""
        due = self.presses
        new = due[self._presses_taken :]
        self._presses_taken = len(due)
        return new

    def take_rolls(self) -> tuple[AnnouncedRoll, ...]:
        """Return the rolls that players entered so far and that were not taken yet."""
        due = [roll for roll in self._played.rolls if roll.time_s <= self.time_s]
        new = due[self._rolls_taken :]
        self._rolls_taken = len(due)
        return tuple(new)

    def show_mood(self, mood: str, words: str = "") -> None:  # noqa: ARG002 - people read the words; these players don't
        """Show the players the mood of the status light and the sentence with it."""
        self._played.notice_mood(self.time_s, mood)


class VirtualTable(PlayedTable, Closeable):
    """One game on a virtual table, from one seed.

    The same arguments, and the same moods shown between the same frames, give the same frames byte for byte. The frames
    end shortly after the last turn or the end of the game.
    """

    def __init__(
        self,
        seed: int,
        options: GameOptions | None = None,
        *,
        setting: Setting | None = None,
        fps: float = 15.0,
        truth: TruthLog | None = None,
    ) -> None:
        setting, options = setting or standard_setting(), options or GameOptions()
        super().__init__(seed, VirtualGame(seed, setting.layout, options, truth), setting, fps)
        self._slack = options.habits.slack
        self._renderer = Renderer(seed)
        self._truth = truth
        self._occlusion = None if truth is None else HandOcclusion(setting)
        self._closed = False

    def read(self, timeout_s: float = 0.0) -> Frame:  # noqa: ARG002 - the virtual table never keeps anyone waiting
        """Take the next frame; raises EndOfFramesError when the game is over or the camera was closed."""
        time_s = self.time_s
        moment = None if self._closed else self._played.moment(time_s)
        if moment is None:
            raise EndOfFramesError(f"{self.name} has given all its {self._sequence} frames")
        image = self._renderer.render(Scene(self._setting, moment.pieces, moment.hands), self._sequence)
        frame = Frame(image, time_s, self._sequence, self.name)
        self._note_frame(frame, moment)
        self._sequence += 1
        return frame

    def enrolment_pictures(self) -> tuple[EnrolmentImage | SetUpImage, ...]:
        """Render the pictures for enrolment: every top of every block colour, or a set-up of other pieces."""
        if isinstance(self._setting.layout.board.pieces, BlockPieces):
            return enrolment_images(self._setting, self.seed, self._slack)
        standing = self._played.set_up_again(np.random.default_rng([self.seed, 21]))
        return (set_up_image(self._setting, standing, self.seed),)

    def frames(self) -> Iterator[Frame]:
        """Yield every frame until the end."""
        while True:
            try:
                yield self.read()
            except EndOfFramesError:
                return

    def close(self) -> None:
        """Close the camera; every read after it raises EndOfFramesError."""
        self._closed = True

    def _note_frame(self, frame: Frame, moment: Moment) -> None:
        if self._truth is None or self._occlusion is None:
            return
        looks = self._played.looks(moment)
        covered = self._occlusion.covered(moment.hands, occupied(looks))
        self._truth.frames.append(FrameTruth(frame.sequence, frame.time_s, looks, bool(moment.hands), covered))
