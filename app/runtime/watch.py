"""Watching a real table: builds the service from a person's options, and reports and publishes what it says."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from app.runtime.builder import open_session
from app.runtime.command_socket import open_command_socket
from app.runtime.inputs import OpenedInputs, WatchOptions, open_inputs, say_what_sensors_tell
from app.runtime.sources import Interrupts, ServingWait
from app.sensing.health import health_file
from app.settings.conversions import (
    evidence_limits,
    light_settings,
    opponent_settings,
    table_options,
    time_control,
)
from app.settings.settings import LightSection, OpponentSection, TableSection
from app.settings.table_layout import grid_of, grid_of_table, is_kit, layout_for_camera, with_rules
from app.systemd import Supervisor
from app.wiring.devices import OpenedDevices, open_devices
from common.phrases import Phrase, counted, either, joined
from engine.api import Game
from engine.registry import load
from engine.values import OptionValue
from frontends.hint_process import HintProcess
from frontends.languages import Say
from frontends.mqtt.options import MqttOptions
from frontends.page.overlay import Overlay
from frontends.page.settings import PageOptions
from frontends.table_port import NewestFrame, PhonePort, SnapshotHub, TablePort
from frontends.terminal.keyboard import Keyboard
from frontends.terminal.live_screen import LiveScreen, PrintedGame, fits_live
from frontends.terminal.report import DebugPictures, PrintedLines, Remarks, Report
from hardware.buttons import Buttons
from hardware.factory import DriverSettings, driver_sources
from hardware.lights.panel import LivePanel, Panel
from hardware.lights.signals import Sound
from hardware.pin_map import ButtonRole
from journal.backups import DailyBackups
from journal.journal import BufferedJournal, Journal
from referee.clocks import NO_CLOCK, FlagRule, TimeControl, recorded_control
from referee.commands.entries import is_asked, start_states
from referee.commands.typed_lines import KEYS, TypedLines, typed_help
from referee.commands.values import CommandQueue
from referee.errors import ConfigError, CorrectionError
from referee.hints.opponent import Opponent
from referee.judge.settings import JudgeSettings
from referee.judge.verdict import Verdict
from referee.naming import Names
from referee.record.fold import fold
from referee.session.feed import signal_subscriber, waiting_signal
from referee.session.log import open_game
from referee.session.loop import LoopPorts, carry_out_commands, run
from referee.session.ports import GameChangedError, Recorder, ServiceSettings, SettingsForGame, TurnEnd
from referee.session.service import Service
from vision.cameras.phone import PhoneCamera
from vision.errors import LayoutError
from vision.frame import Frame, Image
from vision.layout.table import TableLayout
from vision.reading import Reading

if TYPE_CHECKING:
    from frontends.page.server import Entrance

__all__ = ["WatchOptions", "watch"]

_STOPPED = Phrase("What was accepted is in the journal; a recording starts from its beginning again.")


def watch(options: WatchOptions, console: Console) -> int:
    """Referee until the frames end or a person stops it.

    Returns 0 when a game was refereed and is completely in the journal, 1 when none was ever set up or events could not
    be written. Every event is in the journal before it is printed. Raises the errors of what it opens: CameraError,
    CalibrationError, LayoutError, EnrolmentError, JournalError, FoldError, OptionError, UnknownGameError, and
    ConfigError for contradictory options.
    """
    remarks = Remarks(lambda _: None)
    with ExitStack() as stack:
        # The first game's report isn't there yet, and only the journal says which game that is.
        opening: list[str] = []
        remarks.report = opening.append
        journal = stack.enter_context(_journal(options, remarks.say))
        lasting = _Lasting(stack, journal, remarks, Keyboard(stack), entrance_of(options.page, stack))
        resume = options.resume
        while True:
            try:
                chosen = _with_open_game(options, journal) if resume else options
                return _referee(chosen, console, lasting, opening, resume=resume)
            except GameChangedError:
                resume, opening = True, []


@dataclass(frozen=True)
class _Lasting:
    """What lasts from one kind of game to the next."""

    stack: ExitStack
    journal: BufferedJournal
    remarks: Remarks
    keyboard: Keyboard
    entrance: "Entrance | None"


def _with_open_game(options: WatchOptions, journal: Recorder) -> WatchOptions:
    """Return the options for the game of the journal that must go on, of whatever kind; its rules lay out the table."""
    if options.for_game is None or (goes_on := open_game(journal)) is None:
        return options
    name, rules = goes_on
    asked = {option.name for option in load(name).options if is_asked(option)}
    return options.for_game(name, {rule: value for rule, value in rules.items() if rule not in asked})


def _settings_for(options: WatchOptions) -> SettingsForGame | None:
    """Return the function that tells how other games would be refereed, ``None`` if there are none at this table."""
    for_game = options.for_game
    if for_game is None:
        return None

    def settings_of(game: Game[Any, Any], rules: Mapping[str, OptionValue]) -> ServiceSettings:
        try:
            other = for_game(game.name, rules)
            settings = _service_settings(other, game)
            if other.by_sensors_alone:
                say_what_sensors_tell(game, lambda _: None)
                return settings
            own = other.settings.table.layout
            if own is not None and not (own.is_file() or is_kit(own)):
                raise CorrectionError(
                    "the table was only measured for {known}; "
                    "to play {title}, stop the referee and type `./run start {name}`",
                    *(load(options.settings.game.name).title, game.title, game.name),
                )
            _layout(other.settings.table, game, settings)
        except ConfigError as error:
            raise CorrectionError("the switches under this board can't follow {title}", game.title) from error
        except LayoutError as error:
            raise CorrectionError("the camera can't see a table of {title} yet", game.title) from error
        return settings

    return settings_of


def _referee(
    options: WatchOptions, console: Console, lasting: _Lasting, opening: Sequence[str], *, resume: bool
) -> int:
    """Referee games of one kind, as ``watch`` does; raises GameChangedError when one of another kind was begun."""
    chosen, journal = options.settings, lasting.journal
    game = load(chosen.game.name)
    settings, settings_for = _service_settings(options, game), _settings_for(options)
    layout = None if options.by_sensors_alone else _layout(chosen.table, game, settings)
    lights = light_settings(chosen.lights, game.places)
    with ExitStack() as stack:
        screen = _live_screen(options, lights, game, console, stack)
        report = Report(
            screen or _printed(lights, game, console, options.say), game, stills=options.stills, say=options.say
        )
        for notice in (*options.notices, *opening):
            report.remark(notice)
        lasting.remarks.report = report.remark
        devices = stack.enter_context(
            open_devices(options.wiring, health_file(chosen.journal.path), report.remark, options.list_ports)
        )
        commands = stack.enter_context(CommandQueue(time.monotonic, devices.sensor_lag_s))
        interrupts = Interrupts()
        waiting = ServingWait(commands, interrupts, lambda: _serve(supervisor, service, commands))
        phone = PhonePort(PhoneCamera(time.monotonic, waiting)) if options.films_by_phone else None
        inputs = open_inputs(options, game, layout, journal, devices, waiting, stack, report.remark, phone)
        panel = stack.enter_context(_panel(lights, game, layout, devices, console, report.remark))
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
                settings_for=settings_for,
                resume=resume,
            )
        )
        overlay = _overlay(inputs, layout, lambda: service.reading)
        port = TablePort(
            game,
            snapshots,
            commands,
            chosen.journal.path,
            newest,
            overlay,
            settings.options,
            hints_allowed=chosen.hints.strength != "none",
            control=settings.clock,
            maintenance=options.maintenance and options.maintenance(lambda: list(report.lines), chosen.journal.path),
            settings_for=settings_for,
            phone=phone,
        )
        stack.enter_context(publish(port, lasting.entrance, options.mqtt, console, screen, report.remark))
        for remark in _opening_remarks(options, game, service.belief, settings.clock, journal):
            report.remark(remark)
        pictures = _debug_pictures(options, overlay)
        buttons = stack.enter_context(_buttons(chosen.lights, lights, devices, report.remark))
        if options.is_live and sys.stdin.isatty():
            describe_help = partial(_describe_help, game, settings, snapshots)
            _listen(game, screen, commands, report, describe_help, lambda: service.belief, lasting.keyboard)
        stack.enter_context(open_command_socket(chosen.journal.path, commands, report.remark))

        def on_verdicts(frame: Frame | None, verdicts: list[Verdict]) -> None:
            report.report_verdicts(frame)
            newest.frame = frame or newest.frame
            if phone is not None and frame is not None:
                phone.look(frame, inputs.seen, service.reading, verdicts)
            if pictures is not None and frame is not None and (verdicts or options.stills):
                pictures.add(frame)
            inputs.adapt(frame, service.reading, is_set_up=bool(service.belief), has_verdicts=bool(verdicts))
            if verdicts:
                devices.save_health()

        stack.enter_context(interrupts)
        supervisor = lasting.stack.enter_context(
            Supervisor.from_environment(os.environ, time.monotonic, f"Refereeing {game.title}.")
        )

        try:
            ended = run(
                service,
                inputs.camera,
                LoopPorts(
                    waiting.once,
                    commands,
                    buttons,
                    on_verdicts,
                    alive=_each(interrupts.check, supervisor.alive),
                    black=inputs.black,
                ),
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


def _serve(supervisor: Supervisor, service: Service[Any, Any], commands: CommandQueue) -> None:
    """Do what must not wait for a picture: report to the service manager, and carry out commands."""
    supervisor.alive()
    carry_out_commands(service, commands)


def _each(*actions: Callable[[], object]) -> Callable[[], None]:
    """Return a function that does each of these."""

    def act() -> None:
        for action in actions:
            action()

    return act


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
        hints=chosen.hints,
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
    keyboard: Keyboard,
) -> None:
    """Carry out typed commands."""
    if screen is None:
        report.remark(describe_help())
    typed = TypedLines(game, commands, report.remark, describe_help, states)

    def take(line: str) -> None:
        if screen is None or not screen.is_answered(line):
            typed.submit(line)

    keyboard.listen(sys.stdin, take, None if screen is None else screen.show_typed)


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
    # The screen or what is printed shows the lights already.
    shown_by = replace(lights, drivers=tuple(one for one in lights.drivers if one != "terminal"))
    sources = driver_sources(shown_by, grid, console) + devices.sources
    return LivePanel(Panel(sources, time.monotonic, say, say), time.monotonic)


def _overlay(
    inputs: OpenedInputs, layout: TableLayout | None, reading: Callable[[], Reading | None]
) -> Callable[[Frame], Image | None]:
    """Return the function that draws over the camera's pictures."""
    if layout is None or inputs.cameras is None:
        return lambda _: None
    learning = inputs.learning
    return Overlay(inputs.cameras, layout, (lambda: None) if learning is None else (lambda: learning.pose), reading)


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


def entrance_of(options: PageOptions | None, stack: ExitStack) -> "Entrance | None":
    """Open the page's entrance until ``stack`` closes, if there is a page; raises PageError."""
    if options is None:
        return None
    # The web server is only loaded if a page is requested.
    from frontends.page.server import open_entrance

    return stack.enter_context(open_entrance(options))


@contextmanager
def publish(
    port: TablePort,
    entrance: "Entrance | None",
    mqtt: MqttOptions | None,
    console: Console,
    screen: LiveScreen | None,
    say: Callable[[str], None],
) -> Iterator[None]:
    """Serve the page at its ``entrance`` and connect to the broker inside the context, as far as there are such.

    The page's address is shown on ``screen``, or printed on ``console``. Raises PageError and BrokerError.
    """
    with _served_page(port, entrance, console, screen, say) as address:
        if mqtt is None:
            yield
            return
        # The MQTT client is only loaded if there is a broker.
        from frontends.mqtt.table_link import connect_to_broker

        with connect_to_broker(port, replace(mqtt, page=address), say, lambda: datetime.now(UTC)):
            yield


@contextmanager
def _served_page(
    port: TablePort,
    entrance: "Entrance | None",
    console: Console,
    screen: LiveScreen | None,
    say: Callable[[str], None],
) -> Iterator[str | None]:
    """Serve the page, and yield the address by which other devices can open it, if they can.

    The command queue is closed before the page, so that waiting requests are answered.
    """
    if entrance is None:
        yield None
        return
    # The web server is only loaded if a page is requested.
    from frontends.page.server import codes_path, open_page

    with open_page(port, entrance.options, say, entrance=entrance) as page:
        say(page.words_on(console, None if port.journal is None else codes_path(port.journal)))
        if screen is not None:
            screen.show_page(page.words, page.qr() if page.codes else "")
        elif page.codes and console.is_terminal:
            console.print(Text.from_ansi(page.qr()))
        try:
            yield page.address if page.codes else None
        finally:
            port.commands.close()
