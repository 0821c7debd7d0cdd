"""Opening the inputs of a watched table: camera, sensors or both, by the options a person chose."""

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from serial.tools import list_ports

from app.runtime.builder import attention, compose_reader
from app.runtime.exposure import ExposureHold
from app.runtime.sources import ServingWait
from app.sensing.health import occupancy_coverage
from app.sensing.readers import NO_CAMERA, TickSource
from app.settings.conversions import table_options
from app.settings.kept_cameras import table_cameras
from app.settings.settings import Settings
from app.settings.table_layout import is_kit, saved_by
from app.wiring.devices import ListPorts, OpenedDevices
from app.wiring.plan import Inputs, WiringPlan
from common.durable import make_private
from common.phrases import Phrase, listed
from engine.api import Game
from engine.values import OptionValue
from frontends.languages import Say
from frontends.mqtt.options import MqttOptions
from frontends.page.settings import PageOptions
from frontends.table_port import MaintenanceBuilder, PhonePort
from journal.journal import BufferedJournal
from referee.errors import ConfigError
from referee.judge.starts import usual_appearance
from referee.record.fold import fold
from referee.session.loop import BlackFrames, FrameSource
from referee.session.ports import Reader
from vision.cameras import Camera, GrowingFolder, LiveCamera, PhoneCamera, image_paths, open_camera
from vision.cameras.phone import SPEC
from vision.errors import EnrolmentError
from vision.frame import Frame
from vision.layout.kit import kit_of
from vision.layout.table import TableLayout
from vision.learned_cameras import LearnedCameras
from vision.readers.learning_reader import LearningReader
from vision.readers.protocols import LearnedLook
from vision.readers.registry import missing_traits, printed_appearance, reader_kind, table_reader
from vision.readers.table_reader import TableReader
from vision.reading import HindranceKind, Reading


@dataclass(frozen=True)
class WatchOptions:
    """The settings of a table, and the options of this run.

    ``frames`` (a folder of pictures in name order) or ``video`` is watched instead of the settings' camera.
    ``stills``: every frame is a table at rest at the end of a turn; otherwise pictures count as taken 15 a second.
    ``wiring`` is what is connected. ``resume`` continues the journal's latest game. ``debug_images`` is a folder for
    pictures of what was located. ``list_ports`` lists the serial ports. With ``full_screen``, a live table takes the
    whole terminal; ``notices`` are reported first. ``page`` and ``mqtt`` are the options of the page and the broker;
    ``maintenance`` builds the functions that the page offers to the owner. ``say`` translates what the terminal shows.
    ``for_game`` returns the options for a game, by name, with these options of its rules, and raises ConfigError;
    without it, as for a recording, there is no other game.
    """

    settings: Settings
    frames: Path | None = None
    video: Path | None = None
    stills: bool = False
    wiring: WiringPlan = field(default_factory=WiringPlan)
    resume: bool = True
    debug_images: Path | None = None
    full_screen: bool = True
    notices: tuple[str, ...] = ()
    page: PageOptions | None = None
    mqtt: MqttOptions | None = None
    maintenance: MaintenanceBuilder | None = None
    list_ports: ListPorts = list_ports.comports
    say: Say = str
    for_game: "Callable[[str, Mapping[str, OptionValue]], WatchOptions] | None" = None

    @property
    def by_sensors_alone(self) -> bool:
        """Whether there is no camera."""
        return self.wiring.inputs is Inputs.SENSORS

    @property
    def source(self) -> str:
        """What is watched: the settings' camera, or a recording."""
        return str(self.frames or self.video or self.settings.camera.source)

    @property
    def films_by_phone(self) -> bool:
        """Whether the camera is a phone that opens the page."""
        return self.is_live and self.page is not None and self.settings.camera.source.strip() == SPEC

    @property
    def is_live(self) -> bool:
        """Whether a table is watched live, not a recording."""
        return self.frames is None and self.video is None


_PICTURES_PER_SECOND = 15.0
"""Rate at which the pictures of a film count as taken: a usual camera's."""
_STILLS_APART_S = 10.0
"""How far apart stills count as taken, in seconds: the table may have moved between them, and rests in each."""
_GROWING = "folder:"


@dataclass(frozen=True)
class OpenedInputs:
    """The source of frames, their reader, and the reader of pictures in it, if there is a camera.

    ``black`` makes the frames that are used while the camera is away, if sensors continue without it. ``exposure``
    locks a live camera's exposure. ``cameras`` gives the camera model of a picture.
    """

    camera: FrameSource
    reader: Reader
    seen: TableReader | None = None
    black: BlackFrames | None = None
    exposure: ExposureHold | None = None
    cameras: LearnedCameras | None = None

    @property
    def learning(self) -> LearningReader | None:
        """The reader of pictures if it learns the colours from the set-up."""
        return self.seen if isinstance(self.seen, LearningReader) else None

    def adapt(self, frame: Frame | None, reading: Reading | None, *, is_set_up: bool, has_verdicts: bool) -> None:
        """Let the camera and the reader adapt to what a frame showed."""
        if self.exposure is not None and frame is not None and frame.source != NO_CAMERA:
            # Places that only sensors know tell nothing about the picture.
            is_seen = reading is not None and any(one.hidden_by is None for one in reading.places.values())
            self.exposure.update(frame, is_located=is_seen)
        if isinstance(self.camera, LiveCamera) and reading is not None and reading.hindered_by(HindranceKind.FROZEN):
            self.camera.reopen()
        if self.learning is not None and has_verdicts and not is_set_up:
            self.learning.forget()


def open_inputs(
    options: WatchOptions,
    game: Game[Any, Any],
    layout: TableLayout | None,
    journal: BufferedJournal,
    devices: OpenedDevices,
    waiting: ServingWait,
    stack: ExitStack,
    say: Callable[[str], None],
    phone: PhonePort | None = None,
) -> OpenedInputs:
    """Open the camera and sensors of the options, to be closed with ``stack``. Without a ``layout``, sensors only.
    Frames are waited for with ``waiting``; a page puts those of a ``phone`` in.

    Raises the errors of what it opens, and ConfigError for contradictory options.
    """
    health = None if devices.health is None else devices.health.health
    if layout is None:
        if devices.sensors is None:
            raise ConfigError("no sensors are set to use without a camera; set source and map under [sensors]")
        if options.debug_images is not None:
            raise ConfigError("there is no camera, so there are no pictures to keep; leave --debug-image out")
        say_what_sensors_tell(game, say)
        alone = compose_reader(game, None, devices.sensors, health)
        return OpenedInputs(TickSource(time.monotonic, waiting.seconds), alone)
    cameras = table_cameras(options.settings, layout, options.source, say)
    seen = _picture_reader(options, cameras, layout, game, journal, say)
    seen.pause = waiting.work_on
    camera = stack.enter_context(_camera(options, journal, waiting, None if phone is None else phone.camera))
    sensors = devices.sensors if options.wiring.has_sensors else None
    return OpenedInputs(
        camera,
        compose_reader(game, seen, sensors, health),
        seen,
        None if sensors is None else BlackFrames(lambda: _black_frame(cameras.newest.size), say),
        ExposureHold(camera, say) if options.settings.camera.hold and isinstance(camera, LiveCamera) else None,
        cameras,
    )


def _black_frame(size: tuple[int, int]) -> Frame:
    """Return a black frame of a size (width, height), taken now."""
    return Frame(np.zeros((size[1], size[0], 3), dtype=np.uint8), time.monotonic(), 0, NO_CAMERA)


def say_what_sensors_tell(game: Game[Any, Any], say: Callable[[str], None]) -> None:
    """Say how much of the game the switches can distinguish; raises ConfigError if nothing."""
    title = game.title
    if game.has_sheets:
        raise ConfigError(
            "{title} can't be followed by sensors: it is written on sheets, which they can't sense; {saved_by}",
            *(title, saved_by()),
        )
    coverage = occupancy_coverage(game, game.rules.new())
    if not coverage.any:
        raise ConfigError(
            "{title} can't be followed by sensors alone: its turns leave the same squares occupied; {saved_by}",
            *(title, saved_by()),
        )
    if coverage.alone < coverage.turns:
        say(
            Phrase(
                "The switches alone identify {alone} of the {turns} turns possible at the start; I ask about the "
                "others.",
                *(coverage.alone, coverage.turns),
            )
        )


def _camera(options: WatchOptions, journal: BufferedJournal, waiting: ServingWait, phone: PhoneCamera | None) -> Camera:
    camera = _open_source(options, journal, waiting, phone)
    camera.is_mirrored = options.settings.camera.mirrored
    return camera


def _open_source(
    options: WatchOptions, journal: BufferedJournal, waiting: ServingWait, phone: PhoneCamera | None
) -> Camera:
    if options.frames is not None:
        # Picture files have no times of their own, so the clock ticks once per picture.
        ticks = count(step=_STILLS_APART_S if options.stills else 1 / _PICTURES_PER_SECOND)
        return open_camera(f"images:{options.frames}", clock=lambda: next(ticks))
    if options.video is not None:
        return open_camera(f"video:{options.video}")
    asked = options.settings.camera
    spec = asked.source
    if spec.startswith(_GROWING):
        folder = Path(spec.removeprefix(_GROWING))
        skip = processed_pictures(folder, journal) if options.resume else ()
        return GrowingFolder(folder, clock=time.monotonic, wait=waiting.seconds, skip=skip)
    return open_camera(spec, wait=waiting.seconds, waiting=waiting, phone=phone, **asked.requested)


def processed_pictures(folder: Path, journal: BufferedJournal) -> frozenset[str]:
    """Return the names of the pictures in a growing folder that a resumed game has already processed.

    Pictures older than the journal's last event were judged before it; the newest is read in any case. Raises
    CameraError when the folder cannot be listed.
    """
    events = journal.events(journal.latest_game())
    if not events or not folder.is_dir():
        return frozenset()
    last_s = datetime.fromisoformat(events[-1][1].wall_time).timestamp()
    return frozenset(path.name for path in image_paths(folder)[:-1] if path.stat().st_mtime < last_s)


def _loaded_looks(path: Path, layout: TableLayout, game: Game[Any, Any]) -> LearnedLook:
    """Load looks; raises EnrolmentError, also for looks of other pieces, and for looks that lack pieces of the game."""
    looks: LearnedLook = reader_kind(layout).load(path)
    lacking = missing_traits(looks, game.looks)
    if lacking:
        raise EnrolmentError(
            f"the looks {path} do not show what {listed(lacking)} pieces look like; give `./run pieces enrol` a "
            "picture of them too"
        )
    return looks


def _learned_path(options: WatchOptions, game: Game[Any, Any]) -> Path:
    """Return the file for learned colours. Each game has its own, because another game's pieces differ."""
    journal = options.settings.journal.path
    return journal.with_name(f"{journal.name}.{game.name}.looks.json")


def _picture_reader(
    options: WatchOptions,
    cameras: LearnedCameras,
    layout: TableLayout,
    game: Game[Any, Any],
    journal: BufferedJournal,
    say: Callable[[str], None],
) -> TableReader:
    """Return the reader of pictures. It learns the colours from the set-up unless there are looks for the pieces.

    For a board without markers it also learns the orientation. A game in progress has no set-up to learn colours from,
    so they were saved.
    """
    looks = options.settings.table.looks
    attended = attention(game, stills=options.stills)
    if looks is not None and layout.markers.centres_mm:
        return table_reader(cameras, layout, _loaded_looks(looks, layout, game), attention=attended)
    if game.has_sheets:
        # Handwriting is read without being taught.
        return table_reader(cameras, layout, None, attention=attended)
    states = _states_under_way(options, game, journal)
    path = looks or (_learned_path(options, game) if states else None)
    printed = None
    if looks is None and is_kit(options.settings.table.layout) and (states or options.settings.table.anywhere):
        printed = printed_appearance(kit_of(game.name))
    if printed is not None and layout.markers.centres_mm and (path is None or not path.is_file()):
        # learned colours are better than those that were meant to be printed
        return table_reader(cameras, layout, printed, attention=attended)
    if states and (path is None or not path.is_file()):
        raise ConfigError(
            "the game is under way, and the pieces' colours can only be learned from a set-up; give the looks that "
            "`./run pieces enrol` made, or begin a new game"
        )
    known = None if path is None else _loaded_looks(path, layout, game)
    if known is not None and layout.markers.centres_mm:
        return table_reader(cameras, layout, known, attention=attended)
    keep = _looks_saver(options, game, reader_kind(layout).save, say) if known is None else None
    start = usual_appearance(game, table_options(game, options.settings.game.options))
    usual = {} if options.settings.table.anywhere else start
    expected = game.table.appearance(states[0]) if states else usual
    return LearningReader(cameras, layout, start, keep, known=known, expected=expected, attention=attended)


def _states_under_way(options: WatchOptions, game: Game[Any, Any], journal: BufferedJournal) -> tuple[Any, ...]:
    """Return the possible states of the game that is resumed; none if a game begins or waits for its set-up."""
    number = journal.latest_game() if options.resume else None
    events = [] if number is None else journal.events(number)
    if not events or events[0][1].data["game"] != game.name:
        return ()
    folded = fold(game, events)
    return folded.states if folded.outcome is None else ()


def _looks_saver(
    options: WatchOptions, game: Game[Any, Any], save: Callable[[LearnedLook, Path], None], say: Callable[[str], None]
) -> Callable[[LearnedLook], None]:
    """Return the function that saves learned colours beside the journal, so that the game can be resumed."""
    path = _learned_path(options, game)

    def keep(looks: LearnedLook) -> None:
        try:
            save(looks, path)
            make_private(path)
        except OSError as error:
            say(
                Phrase(
                    "The pieces' colours could not be kept in {path} ({strerror}): after a restart this game needs the "
                    "looks that `./run pieces enrol` makes.",
                    *(path, error.strerror),
                )
            )

    return keep
