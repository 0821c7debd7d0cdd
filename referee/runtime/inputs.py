"""What a table is seen through: a camera and a reader of its pictures, sensors, or both.

A camera may go away while sensors go on; blank frames take its place until it is back.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from engine.api import Game
from referee.errors import ConfigError
from referee.journal import BufferedJournal
from referee.runtime.builder import compose_reader
from referee.runtime.options import WatchOptions
from referee.runtime.readers import LearningReader
from referee.sensing.occupancy import occupancy_coverage
from referee.sensing.readers import NO_CAMERA, TickSource
from referee.session.loop import FrameSource
from referee.session.ports import Reader
from referee.settings.table_layout import kept_by_text
from referee.wiring.devices import OpenedDevices
from vision.calibration import load_calibration
from vision.cameras import Camera, GrowingFolder, image_paths, open_camera
from vision.errors import CalibrationError, CameraError, EndOfFramesError, FrameError, FrameTimeoutError
from vision.frame import Frame
from vision.geometry import CameraModel
from vision.layout.table import TableLayout
from vision.readers.protocols import Appearance
from vision.readers.registry import reader_kind, table_reader
from vision.readers.table_reader import TableReader

_PICTURES_PER_SECOND = 15.0
_GROWING = "folder:"


@dataclass(frozen=True)
class OpenedInputs:
    """What gives frames, what reads them, and what forgets colours learned from a set-up that was none.

    ``stand_in`` is the (width, height) of black frames that take the camera's place while it is away, where sensors
    go on without it.
    """

    camera: FrameSource
    reader: Reader
    learning: LearningReader | None = None
    stand_in: tuple[int, int] | None = None


def open_inputs(
    options: WatchOptions,
    game: Game[Any, Any],
    layout: TableLayout | None,
    journal: BufferedJournal,
    devices: OpenedDevices,
    stack: ExitStack,
    say: Callable[[str], None],
) -> OpenedInputs:
    """Open what the options see through; what is opened is closed with ``stack``. No ``layout``: sensors alone.

    Raises the errors of what it opens, and ConfigError for options that don't go together.
    """
    settings, health = options.wire.sensor_settings, None if devices.health is None else devices.health.health
    if layout is None:
        if devices.sensors is None:
            raise ConfigError("there are no sensors to see through; set source and map below [sensors]")
        if options.debug_images is not None:
            raise ConfigError("there is no camera, so there are no pictures to keep; leave --debug-image out")
        _say_what_sensors_tell(game, say)
        alone = compose_reader(game, None, devices.sensors, settings=settings, health=health)
        return OpenedInputs(TickSource(time.monotonic, time.sleep), alone)
    learning = None if options.looks is not None else _learning_reader(options, layout, game, journal, say)
    camera = stack.enter_context(_camera(options, journal))
    sensors = devices.sensors if options.wire.has_sensors else None
    reader = compose_reader(
        game,
        learning or _enrolled_reader(options, layout),
        sensors,
        every_frame=options.stills,
        settings=settings,
        health=health,
    )
    return OpenedInputs(
        camera,
        reader,
        learning if isinstance(learning, LearningReader) else None,
        None if sensors is None else calibrated(options).size,
    )


def _say_what_sensors_tell(game: Game[Any, Any], say: Callable[[str], None]) -> None:
    """Say how much of the game switches tell; raises ConfigError where they tell nothing."""
    title = game.title
    if game.sheet_file is not None:
        raise ConfigError(
            f"{title} can't be followed by sensors: it is written on sheets, where they feel nothing; {kept_by_text()}"
        )
    told = occupancy_coverage(game, game.rules.new())
    if not told.any:
        raise ConfigError(
            f"{title} can't be followed by sensors alone: its turns leave the same squares occupied; {kept_by_text()}"
        )
    if told.alone < told.turns:
        say(f"Of {told.turns} turns at the start the switches tell {told.alone} by themselves; I ask about the others.")


def calibrated(options: WatchOptions) -> CameraModel:
    """Load the camera's calibration; raises CalibrationError, also when none was given."""
    if options.calibration is None:
        raise CalibrationError("no calibration was given; make one with `referee calibrate`, then name its file")
    return load_calibration(options.calibration)


def _camera(options: WatchOptions, journal: BufferedJournal) -> Camera:
    sources = [source for source in (options.camera, options.frames, options.video) if source is not None]
    if len(sources) != 1:
        raise ConfigError(f"{len(sources)} of camera, frames and video were given; expected exactly one")
    if options.frames is not None:
        return open_camera(f"images:{options.frames}", clock=_picture_clock())
    if options.video is not None:
        return open_camera(f"video:{options.video}")
    spec = str(options.camera)
    if spec.startswith(_GROWING):
        folder = Path(spec.removeprefix(_GROWING))
        skip = seen_before(folder, journal) if options.resume else ()
        return GrowingFolder(folder, clock=time.monotonic, wait=time.sleep, skip=skip)
    return open_camera(spec, size=options.camera_size, frames_per_second=options.camera_rate)


def seen_before(folder: Path, journal: BufferedJournal) -> frozenset[str]:
    """Give the pictures of a growing folder that a game being resumed is past: their names.

    Those older than the journal's last event were judged before it; the newest of all is looked at in any case.
    Raises CameraError when the folder cannot be listed.
    """
    events = journal.events(journal.latest_game())
    if not events or not folder.is_dir():
        return frozenset()
    last_s = datetime.fromisoformat(events[-1][1].wall_time).timestamp()
    return frozenset(path.name for path in image_paths(folder)[:-1] if path.stat().st_mtime < last_s)


def _picture_clock() -> Callable[[], float]:
    """A clock for picture files, which have no times of their own: it ticks once a picture."""
    ticks = iter(range(sys.maxsize))
    return lambda: next(ticks) / _PICTURES_PER_SECOND


def _enrolled_reader(options: WatchOptions, layout: TableLayout) -> TableReader:
    if options.looks is None:
        raise ConfigError("no looks were given; make some with `referee enrol`")
    return table_reader(calibrated(options), layout, reader_kind(layout).load(options.looks))


def _learned_path(options: WatchOptions) -> Path | None:
    return None if options.journal is None else options.journal.with_suffix(".looks.json")


def _learning_reader(
    options: WatchOptions,
    layout: TableLayout,
    game: Game[Any, Any],
    journal: BufferedJournal,
    say: Callable[[str], None],
) -> Reader:
    """Learn the colours from the set-up; a game that is under way has no set-up to learn from, so they were kept."""
    camera = calibrated(options)
    number = journal.latest_game()
    kinds = {event.kind for _, event in journal.events(number)} if number is not None else set()
    if not options.resume or "set up" not in kinds or "end" in kinds:
        return LearningReader(camera, layout, game.players, _keeper(options, reader_kind(layout).save, say))
    kept = _learned_path(options)
    if kept is None or not kept.is_file():
        raise ConfigError(
            "the game is under way, and the pieces' colours can only be learned from a set-up; give the looks that "
            "`referee enrol` made, or begin a new game"
        )
    return table_reader(camera, layout, reader_kind(layout).load(kept))


def _keeper(
    options: WatchOptions, save: Callable[[Appearance, Path], None], say: Callable[[str], None]
) -> Callable[[Appearance], None]:
    """Give what keeps the colours learned from a set-up beside the journal, so that the game can be resumed."""
    path = _learned_path(options)

    def keep(looks: Appearance) -> None:
        if path is None:
            return
        try:
            save(looks, path)
        except OSError as error:
            say(
                f"The pieces' colours could not be kept in {path} ({error.strerror}): after a restart this game needs "
                "the looks that `referee enrol` makes."
            )

    return keep


TICK_S = 0.2
"""How often a blank frame comes."""


class SteadySource:
    """Frames of a camera; black ones while it is away, which is said once, as is its return.

    ``size`` is the frames' (width, height); ``clock`` gives their time, ``wait`` waits that many seconds. Frames that
    can't be used, and the end of all frames, are raised as the camera raises them.
    """

    def __init__(
        self,
        camera: FrameSource,
        size: tuple[int, int],
        clock: Callable[[], float],
        wait: Callable[[float], object],
        say: Callable[[str], object],
    ) -> None:
        self._camera = camera
        self._black = np.zeros((size[1], size[0], 3), dtype=np.uint8)
        self._clock = clock
        self._wait = wait
        self._say = say
        self._is_away = False
        self._sequence = 0

    def read(self, timeout_s: float) -> Frame:
        """Give the camera's newest frame, or a black one."""
        try:
            frame = self._camera.read(TICK_S if self._is_away else timeout_s)
        except (EndOfFramesError, FrameError):
            raise
        except CameraError as error:
            if not self._is_away:
                self._is_away = True
                self._say(f"{error}. I go by the sensors alone until the camera is back.")
            if not isinstance(error, FrameTimeoutError):
                # A device that fails at once would keep a core busy.
                self._wait(TICK_S)
            return self._numbered(Frame(self._black, self._clock(), 0, NO_CAMERA))
        if self._is_away:
            self._is_away = False
            self._say("The camera is back.")
        return self._numbered(frame)

    def _numbered(self, frame: Frame) -> Frame:
        self._sequence = max(self._sequence + 1, frame.sequence)
        return replace(frame, sequence=self._sequence)
