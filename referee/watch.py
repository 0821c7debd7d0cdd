"""Watching a real table: the service built from what a person chose, its verdicts in readable lines."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from engine.api import Game, OptionValue
from engine.options import read_options
from engine.registry import load
from hardware.debounce import PressKind
from hardware.factory import ButtonSettings, LightSettings, driver_sources, make_buttons
from hardware.live_panel import LivePanel
from hardware.panel import Panel
from hardware.terminal import Grid
from referee.errors import ConfigError
from referee.hint_process import HintProcess
from referee.hinting import HintSettings
from referee.interrupts import InterruptibleSource, Interrupts
from referee.journal import BufferedJournal, EvidenceLimits, Journal
from referee.judge import JudgeSettings
from referee.layouts import layout_for
from referee.requests import door_or_none
from referee.service import Reader, Service
from referee.service_attention import AttentiveReader
from referee.service_loop import Surroundings, run
from referee.service_reader import LearningReader
from referee.service_settings import ServiceSettings
from referee.watch_keys import Keys
from referee.watch_report import DebugPictures, Report
from vision.calibration_files import load_calibration
from vision.cameras import Camera, GrowingFolder, image_paths, open_camera
from vision.errors import CalibrationError
from vision.layout import TableLayout
from vision.looks import PieceLooks, load_looks, save_looks
from vision.reader import TableReader

_PICTURES_PER_SECOND = 15.0
_GROWING = "folder:"
_STOPPED = "What was accepted is in the journal; a recording starts from its beginning again."


@dataclass(frozen=True)
class WatchOptions:
    """What is watched and how.

    One of ``camera`` (as ``vision.cameras.open_camera`` reads it), ``frames`` (a folder of pictures in name order)
    and ``video``. ``stills``: every frame is a table at rest at the end of a turn; otherwise pictures count as
    taken 15 a second. ``calibration`` is needed; without ``layout`` the game's own is used, without ``looks`` the
    pieces' colours are learned from the set-up. Without ``journal`` nothing is kept. ``options`` are the game's, as
    text, and ``starts=either``. ``debug_images`` is a folder for pictures of what was located. ``camera_size``
    (width, height) in pixels and ``camera_rate`` in frames a second are asked of a camera.
    """

    camera: str | None = None
    frames: Path | None = None
    video: Path | None = None
    stills: bool = False
    calibration: Path | None = None
    layout: Path | None = None
    looks: Path | None = None
    game: str = "deblockle"
    options: Mapping[str, str] = field(default_factory=dict)
    journal: Path | None = None
    resume: bool = True
    debug_images: Path | None = None
    anywhere: bool = False
    turn_end: str = "rest"
    rest_s: float = 3.0
    margin: float = JudgeSettings.margin
    camera_size: tuple[int, int] | None = None
    camera_rate: float | None = None
    evidence: EvidenceLimits = field(default_factory=EvidenceLimits)
    lights: LightSettings = field(default_factory=lambda: LightSettings(drivers=()))
    buttons: ButtonSettings = field(default_factory=ButtonSettings)
    hints: HintSettings = field(default_factory=HintSettings)


def watch(options: WatchOptions, console: Console) -> int:
    """Referee until the frames end or a person stops it; 0 when a game was refereed, 1 when none was ever set up.

    Every event is in the journal before it is printed. Raises the errors of what it opens: CameraError,
    CalibrationError, LayoutError, EnrolmentError, JournalError, FoldError, OptionError, UnknownGameError, and
    ConfigError for options that don't go together.
    """
    game = load(options.game)
    layout = layout_for(game.name, options.layout)
    settings = _service_settings(options, game)
    with ExitStack() as stack:
        journal = stack.enter_context(_journal(options, console))
        report = Report(console, stills=options.stills)
        keep = _keeper(options, report.remark)
        learning = None if options.looks is not None else _learning_reader(options, layout, game, journal, keep)
        reader: Reader = learning or _enrolled_reader(options, layout)
        camera = stack.enter_context(_camera(options, journal))
        panel = _panel(options, layout, console, report.remark)
        stack.enter_context(panel)
        eyes = reader if options.stills else AttentiveReader(reader)
        service: Service[Any, Any] = Service(game, eyes, journal, panel, settings, report.remark, HintProcess())
        stack.callback(service.close)
        service.start(resume=options.resume)
        if service.belief:
            report.remark("The game goes on where the journal ends.")
        pictures = _debug_pictures(options, layout)
        roles = stack.enter_context(_presses(options, report.remark))
        # A journal in memory is nobody else's to ask for.
        requests = (lambda: ()) if options.journal is None else door_or_none(options.journal, stack, report.remark)

        def hear(frame: Any, verdicts: Any) -> None:
            report.tell(frame, verdicts)
            if pictures is not None and frame is not None and (verdicts or options.stills):
                pictures.add(frame)
            if isinstance(learning, LearningReader) and verdicts and not service.belief:
                learning.forget()

        interrupts = stack.enter_context(Interrupts())
        around = Surroundings(
            lambda seconds: interrupts.waiting(lambda: time.sleep(seconds)),
            presses=roles,
            requests=requests,
            on_verdicts=hear,
        )
        try:
            ended = run(service, InterruptibleSource(camera, interrupts), around)
            report.remark(f"The pictures are over: {ended}.")
        except KeyboardInterrupt:
            report.remark("Stopped. " + ("The same command goes on with the game." if options.camera else _STOPPED))
        report.close(game, service.belief)
        return 0 if service.belief else 1


def _service_settings(options: WatchOptions, game: Game[Any, Any]) -> ServiceSettings:
    given: dict[str, OptionValue] = dict(options.options)
    either = {"starts": given.pop("starts")} if given.get("starts") == "either" else {}
    values = read_options(game.options, given)
    if options.turn_end not in {"button", "touch", "rest"}:
        raise ConfigError(f"turn_end is {options.turn_end!r}; expected button, touch or rest")
    return ServiceSettings(
        options={**{name: values[name] for name in given}, **either},
        anywhere=options.anywhere,
        turn_end="button" if options.turn_end == "button" else "touch" if options.turn_end == "touch" else "rest",
        rest_s=options.rest_s,
        stills=options.stills,
        judge=JudgeSettings(margin=options.margin),
        hints=options.hints,
    )


@contextmanager
def _journal(options: WatchOptions, console: Console) -> Iterator[BufferedJournal]:
    def say(sentence: str) -> None:
        console.print(sentence, style="bold", markup=False, highlight=False)

    def wall_clock() -> datetime:
        return datetime.now(UTC)

    opened = (
        Journal.in_memory(wall_clock=wall_clock, limits=options.evidence)
        if options.journal is None
        else Journal.open(options.journal, wall_clock=wall_clock, limits=options.evidence)
    )
    with opened, BufferedJournal(opened, say) as journal:
        yield journal


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
    return TableReader(_calibrated(options), layout, load_looks(options.looks))


def _calibrated(options: WatchOptions) -> Any:
    if options.calibration is None:
        raise CalibrationError("no calibration was given; make one with `referee calibrate`, then name its file")
    return load_calibration(options.calibration)


def _learned_path(options: WatchOptions) -> Path | None:
    return None if options.journal is None else options.journal.with_suffix(".looks.json")


def _learning_reader(
    options: WatchOptions,
    layout: TableLayout,
    game: Game[Any, Any],
    journal: BufferedJournal,
    keep: Callable[[PieceLooks], None],
) -> Reader:
    """Learn the colours from the set-up; a game that is under way has no set-up to learn from, so they were kept."""
    camera = _calibrated(options)
    number = journal.latest_game()
    kinds = {event.kind for _, event in journal.events(number)} if number is not None else set()
    if not options.resume or "set up" not in kinds or "end" in kinds:
        return LearningReader(camera, layout, game.players, keep)
    kept = _learned_path(options)
    if kept is None or not kept.is_file():
        raise ConfigError(
            "the game is under way, and the pieces' colours can only be learned from a set-up; give the looks that "
            "`referee enrol` made, or begin a new game"
        )
    return TableReader(camera, layout, load_looks(kept))


def _keeper(options: WatchOptions, say: Callable[[str], None]) -> Callable[[PieceLooks], None]:
    """Give what keeps the colours learned from a set-up beside the journal, so that the game can be resumed."""
    path = _learned_path(options)

    def keep(looks: PieceLooks) -> None:
        if path is None:
            return
        try:
            save_looks(looks, path)
        except OSError as error:
            say(
                f"The pieces' colours could not be kept in {path} ({error.strerror}): after a restart this game needs "
                "the looks that `referee enrol` makes."
            )

    return keep


def _panel(options: WatchOptions, layout: TableLayout, console: Console, say: Callable[[str], None]) -> LivePanel:
    grid = Grid.of_squares(layout.columns, layout.rows)
    sources = driver_sources(options.lights, grid, console)
    return LivePanel(Panel(sources, time.monotonic, say, say), time.monotonic)


def _debug_pictures(options: WatchOptions, layout: TableLayout) -> DebugPictures | None:
    if options.debug_images is None:
        return None
    options.debug_images.mkdir(parents=True, exist_ok=True)
    return DebugPictures(options.debug_images, _calibrated(options), layout)


@contextmanager
def _presses(options: WatchOptions, say: Callable[[str], None]) -> Iterator[Callable[[], list[str]]]:
    """Give what tells the buttons pressed: those on pins, and the keyboard's when a person sits at it."""
    with ExitStack() as stack:
        askers: list[Callable[[], list[str]]] = []
        if options.lights.pins.buttons:
            buttons = make_buttons(options.lights.pins, options.buttons, time.monotonic, say)
            stack.callback(buttons.close)
            askers.append(lambda: [event.role for event in buttons.poll() if event.kind is PressKind.PRESSED])
        if options.camera is not None and sys.stdin.isatty():
            keys = Keys(sys.stdin)
            say(Keys.HELP)
            askers.append(keys.poll)
        yield lambda: [role for asker in askers for role in asker()]
