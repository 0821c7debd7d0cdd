"""Watching a real table: builds the service from a person's options, and reports and publishes what it says."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import partial
from typing import Any

from rich.console import Console
from rich.text import Text

from common.phrases import Phrase, counted, either, joined
from engine.api import Game
from engine.registry import load
from hardware.buttons import Buttons
from hardware.factory import DriverSettings, driver_sources
from hardware.lights.panel import LivePanel, Panel
from hardware.lights.signals import Sound
from hardware.pin_map import ButtonRole
from referee.clocks import NO_CLOCK, FlagRule, TimeControl, recorded_control
from referee.commands.command_socket import open_command_socket
from referee.commands.entries import start_states
from referee.commands.typed_lines import KEYS, TypedLines, listen_to_lines, typed_help, unechoed_lines
from referee.commands.values import CommandQueue
from referee.errors import ConfigError
from referee.hints.opponent import Opponent
from referee.hints.process import HintProcess
from referee.journal.backups import DailyBackups
from referee.journal.fold import fold
from referee.journal.journal import BufferedJournal, Journal
from referee.judge.settings import JudgeSettings
from referee.judge.verdict import Verdict
from referee.languages import Say
from referee.mqtt.options import MqttOptions
from referee.naming import Names
from referee.rendering.live_screen import LiveScreen, PrintedGame, fits_live
from referee.rendering.overlay import Overlay
from referee.rendering.report import DebugPictures, PrintedLines, Report
from referee.runtime.builder import open_session
from referee.runtime.inputs import WatchOptions, load_camera_model, open_inputs
from referee.runtime.sources import Interrupts, ServingWait
from referee.sensing.health import health_file
from referee.session.feed import signal_subscriber, waiting_signal
from referee.session.ports import Recorder, ServiceSettings, TurnEnd
from referee.session.service import LoopPorts, carry_out_commands, run
from referee.session.table_port import NewestFrame, SnapshotHub, TablePort
from referee.settings.conversions import (
    evidence_limits,
    hint_settings,
    light_settings,
    opponent_settings,
    table_options,
    time_control,
)
from referee.settings.settings import LightSection, OpponentSection, PageOptions, TableSection
from referee.settings.table_layout import grid_of, grid_of_table, layout_for_camera, with_rules
from referee.systemd import Supervisor
from referee.wiring.devices import OpenedDevices, open_devices
from vision.frame import Frame, Image
from vision.layout.table import TableLayout
from vision.readers.learning_reader import LearningReader
from vision.reading import Reading

__all__ = ["WatchOptions", "watch"]

_STOPPED = Phrase("What was accepted is in the journal; a recording starts from its beginning again.")


def watch(options: WatchOptions, console: Console) -> int:
    """Referee until the frames end or a person stops it.

    Returns 0 when a game was refereed and is completely in the journal, 1 when none was ever set up or events could not
    be written. Every event is in the journal before it is printed. Raises the errors of what it opens: CameraError,
    CalibrationError, LayoutError, EnrolmentError, JournalError, FoldError, OptionError, UnknownGameError, and
    ConfigError for contradictory options.
    """
    chosen = options.settings
    game = load(chosen.game.name)
    settings = _service_settings(options, game)
    layout = None if options.by_sensors_alone else _layout(chosen.table, game, settings)
    lights = light_settings(chosen.lights, game.places)
    with ExitStack() as stack:
        screen = _live_screen(options, lights, game, console, stack)
        report = Report(
            screen or _printed(lights, game, console, options.say), game, stills=options.stills, say=options.say
        )
        for notice in options.notices:
            report.remark(notice)
        journal = stack.enter_context(_journal(options, report.remark))
        devices = stack.enter_context(
            open_devices(options.wiring, health_file(chosen.journal.path), report.remark, options.list_ports)
        )
        commands = stack.enter_context(CommandQueue(time.monotonic, devices.sensor_lag_s))
        interrupts = Interrupts()
        waiting = ServingWait(commands, interrupts, lambda: carry_out_commands(service, commands))
        inputs = open_inputs(options, game, layout, journal, devices, waiting, stack, report.remark)
        # The screen or what is printed shows the lights already.
        shown_by = replace(lights, drivers=tuple(one for one in lights.drivers if one != "terminal"))
        panel = stack.enter_context(_panel(shown_by, game, layout, devices, console, report.remark))
        snapshots, newest = SnapshotHub(), NewestFrame()
        service = stack.enter_context(
            open_session(
                game,
                inputs.reader,
                journal,
                settings,
                subscribers=(signal_subscriber(panel), report.receive, snapshots),
                say=report.remark,
                hints=HintProcess(on_answer=commands.wake),
                restore=devices.put_back,
                opponent=_opponent(chosen.opponent, game, commands),
                resume=options.resume,
            )
        )
        overlay = _overlay(options, layout, inputs.learning, lambda: service.reading)
        port = TablePort(
            game,
            snapshots,
            commands,
            chosen.journal.path,
            newest,
            overlay,
            settings.options,
            hints_allowed=chosen.hints.strength != "none",
            maintenance=options.maintenance and options.maintenance(lambda: list(report.lines), chosen.journal.path),
        )
        stack.enter_context(publish(port, options.page, options.mqtt, console, screen, report.remark))
        for remark in _opening_remarks(options, game, service.belief, settings.clock, journal):
            report.remark(remark)
        pictures = _debug_pictures(options, overlay)
        buttons = stack.enter_context(_buttons(chosen.lights, lights, devices, report.remark))
        if options.is_live and sys.stdin.isatty():
            describe_help = partial(_describe_help, game, settings, snapshots)
            _listen(game, screen, commands, report, describe_help, lambda: service.belief, stack)
        stack.enter_context(open_command_socket(chosen.journal.path, commands, report.remark))

        def on_verdicts(frame: Frame | None, verdicts: list[Verdict]) -> None:
            report.report_verdicts(frame)
            newest.frame = frame or newest.frame
            if pictures is not None and frame is not None and (verdicts or options.stills):
                pictures.add(frame)
            inputs.adapt(frame, service.reading, is_set_up=bool(service.belief), has_verdicts=bool(verdicts))
            if verdicts:
                devices.save_health()

        stack.enter_context(interrupts)
        supervisor = stack.enter_context(
            Supervisor.from_environment(os.environ, time.monotonic, f"Refereeing {game.title}.")
        )

        def alive() -> None:
            interrupts.check()
            supervisor.alive()

        try:
            ended = run(
                service,
                inputs.camera,
                LoopPorts(waiting.once, commands, buttons, on_verdicts, alive=alive, black=inputs.black),
            )
            report.remark(Phrase("The pictures have ended: {ended}.", ended))
        except KeyboardInterrupt:
            goes_on = either(
                options.resume,
                "The same command goes on with the game.",
                "The same command without --new goes on with the game.",
            )
            report.remark(joined((Phrase("Stopped."), goes_on if options.is_live else _STOPPED)))
        report.close()
    return 0 if service.belief and not journal.pending else 1


def _opponent(section: OpponentSection, game: Game[Any, Any], commands: CommandQueue) -> Opponent | None:
    """Return the program as an opponent, searching in its own process."""
    settings = opponent_settings(section)
    return None if settings is None else Opponent(game, settings, HintProcess(on_answer=commands.wake))


def _opening_remarks(
    options: WatchOptions, game: Game[Any, Any], belief: Sequence[Any], clock: TimeControl | None, journal: Recorder
) -> Iterator[str]:
    """Yield what to say before the first picture; ``clock`` is the one for new games."""
    if belief:
        yield _resume_message(game, belief[0], journal)
    elif options.is_live:
        yield Phrase("Waiting for the set-up.")
    if kept := kept_clock_remark(clock, journal):
        yield kept


def _resume_message(game: Game[Any, Any], state: Any, journal: Recorder) -> str:
    """Say which game is continued, how many turns were played, and what it waits for."""
    number = journal.latest_game()
    events = journal.events(number)
    played = counted(len(fold(game, events).turns), "turn")
    waits = Names.of(game, events[0][1].names)(waiting_signal(game, state).words)
    return Phrase(
        "Game {number} of {game} goes on after {played}. {waits} `./run watch --new` begins another.",
        *(number, game.title, played, waits),
    )


def kept_clock_remark(chosen: TimeControl | None, journal: Recorder) -> str:
    """Say that the latest game has another clock than the one ``chosen`` for new games; empty if it hasn't."""
    number = journal.latest_game()
    if chosen is None or number is None:
        return ""
    (_, begun), *_ = journal.events(number)
    control = recorded_control(begun.data)
    kept = NO_CLOCK if control is None else control.text
    if kept == chosen.text:
        return ""
    return Phrase("This game goes on with the clock it began with ({kept}); `./run watch --new` begins another.", kept)


def _layout(table: TableSection, game: Game[Any, Any], settings: ServiceSettings) -> TableLayout:
    """Return the measured table; for a game that is written, with a sheet for each player."""
    return with_rules(layout_for_camera(game.name, table.layout, table.markers), game, settings.options)


def _service_settings(options: WatchOptions, game: Game[Any, Any]) -> ServiceSettings:
    chosen = options.settings
    turn_end = TurnEnd(chosen.turn.end)
    if options.by_sensors_alone and turn_end is TurnEnd.TOUCH:
        raise ConfigError(
            "turn.end is touch, and sensors alone can't tell which piece of the next player was touched; end turns by "
            "the button or by rest, or use a camera as well"
        )
    return ServiceSettings(
        options=table_options(game, chosen.game.options),
        anywhere=chosen.table.anywhere,
        turn_end=turn_end,
        rest_s=chosen.turn.rest_s,
        stills=options.stills,
        judge=JudgeSettings(margin=chosen.turn.margin),
        hints=hint_settings(chosen.hints),
        clock=time_control(chosen.clock),
        flag=FlagRule(chosen.clock.flag),
        clock_waits=chosen.clock.waits,
    )


def _live_screen(
    options: WatchOptions, lights: DriverSettings, game: Game[Any, Any], console: Console, stack: ExitStack
) -> LiveScreen | None:
    """Take over the terminal, if there is one and a table is watched live."""
    if not (options.is_live and options.full_screen and fits_live(console)):
        return None
    keys = KEYS if sys.stdin.isatty() else ""
    return stack.enter_context(LiveScreen(game, console, keys=keys, rings=_ringing(lights), say=options.say))


def _printed(lights: DriverSettings, game: Game[Any, Any], console: Console, say: Say) -> PrintedGame | PrintedLines:
    """Print lines, with the board where the terminal is to show the lights."""
    return PrintedGame(game, console, _ringing(lights), say) if "terminal" in lights.drivers else PrintedLines(console)


def _ringing(lights: DriverSettings) -> frozenset[Sound]:
    """Return the sounds for which the terminal's bell rings."""
    return frozenset(Sound) - {Sound.SILENCE} if lights.bell and "terminal" in lights.drivers else frozenset()


def _describe_help(game: Game[Any, Any], settings: ServiceSettings, snapshots: SnapshotHub) -> str:
    """Describe what may be typed now."""
    shown = None if snapshots.newest is None else snapshots.newest.snapshot
    state, *_ = (shown and shown.states) or start_states(game, settings.options)
    return typed_help(game, state, has_clock=shown is not None and shown.clock is not None)


def _listen(
    game: Game[Any, Any],
    screen: LiveScreen | None,
    commands: CommandQueue,
    report: Report,
    describe_help: Callable[[], str],
    states: Callable[[], Sequence[Any]],
    stack: ExitStack,
) -> None:
    """Carry out typed commands."""
    if screen is None:
        report.remark(describe_help())
    lines = sys.stdin if screen is None else stack.enter_context(unechoed_lines(sys.stdin, screen.show_typed))
    typed = TypedLines(game, commands, report.remark, describe_help, states)

    def take(line: str) -> None:
        if screen is None or not screen.is_answered(line):
            typed.submit(line)

    listen_to_lines(lines, take)


@contextmanager
def _journal(options: WatchOptions, say: Callable[[str], None]) -> Iterator[BufferedJournal]:
    def wall_clock() -> datetime:
        return datetime.now(UTC)

    section = options.settings.journal
    opened = Journal.open(section.path, wall_clock=wall_clock, limits=evidence_limits(section))
    # A recording can be judged again; only a live game is worth copies.
    copies = section.daily_copies if options.is_live else 0
    with opened, BufferedJournal(opened, say) as journal, DailyBackups(opened.path, copies, date.today, say):
        yield journal


def _panel(
    lights: DriverSettings,
    game: Game[Any, Any],
    layout: TableLayout | None,
    devices: OpenedDevices,
    console: Console,
    say: Callable[[str], None],
) -> LivePanel:
    grid = grid_of(game.places) if layout is None else grid_of_table(layout)
    sources = driver_sources(lights, grid, console) + devices.sources
    return LivePanel(Panel(sources, time.monotonic, say, say), time.monotonic)


def _overlay(
    options: WatchOptions,
    layout: TableLayout | None,
    learning: LearningReader | None,
    reading: Callable[[], Reading | None],
) -> Callable[[Frame], Image | None]:
    """Return the function that draws over the camera's pictures."""
    if layout is None:
        return lambda _: None
    return Overlay(
        load_camera_model(options), layout, (lambda: None) if learning is None else (lambda: learning.pose), reading
    )


def _debug_pictures(options: WatchOptions, overlay: Callable[[Frame], Image | None]) -> DebugPictures | None:
    if options.debug_images is None or options.by_sensors_alone:
        return None
    options.debug_images.mkdir(parents=True, exist_ok=True)
    return DebugPictures(options.debug_images, overlay)


@contextmanager
def _buttons(
    section: LightSection, lights: DriverSettings, devices: OpenedDevices, say: Callable[[str], None]
) -> Iterator[Callable[[], list[ButtonRole]]]:
    """The function that returns the buttons pressed on the board and on pins."""
    if not lights.pins.buttons:
        yield devices.presses
        return
    settle_s = section.debounce_ms / 1000
    buttons = Buttons(lights.pins.buttons, time.monotonic, say, pull_up=section.pull_up, settle_s=settle_s)
    with closing(buttons):
        yield lambda: [*devices.presses(), *buttons.presses()]


@contextmanager
def publish(
    port: TablePort,
    page: PageOptions | None,
    mqtt: MqttOptions | None,
    console: Console,
    screen: LiveScreen | None,
    say: Callable[[str], None],
) -> Iterator[None]:
    """Serve the page and connect to the broker inside the context, as far as there are options for them.

    The page's address is shown on ``screen``, or printed on ``console``. Raises PageError and BrokerError.
    """
    with _served_page(port, page, console, screen, say) as address:
        if mqtt is None:
            yield
            return
        # The MQTT client is only loaded if there is a broker.
        from referee.mqtt.table_link import connect_to_broker

        with connect_to_broker(port, replace(mqtt, page=address), say, lambda: datetime.now(UTC)):
            yield


@contextmanager
def _served_page(
    port: TablePort,
    options: PageOptions | None,
    console: Console,
    screen: LiveScreen | None,
    say: Callable[[str], None],
) -> Iterator[str | None]:
    """Serve the page, and yield the address by which other devices can open it, if they can.

    The command queue is closed before the page, so that waiting requests are answered.
    """
    if options is None:
        yield None
        return
    # The web server is only loaded if a page is requested.
    from referee.web.server import codes_path, open_page

    with open_page(port, options, say) as page:
        say(page.words_on(console, None if port.journal is None else codes_path(port.journal)))
        if screen is not None:
            screen.show_page(page.words, page.qr() if page.codes else "")
        elif page.codes and console.is_terminal:
            console.print(Text.from_ansi(page.qr()))
        try:
            yield page.address if page.codes else None
        finally:
            port.commands.close()
