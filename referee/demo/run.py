"""Runs the demo: the real service on the virtual table.

Only frames, presses of the button and, where no camera can tell what was played, an onlooker's words go into the
service, and only signals come back to the virtual players. What really happened is opened after the game, for the
closing line.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from engine.api import EMPTY, Game, OptionValue
from engine.records import record
from engine.registry import load
from hardware.grid import PlaceGrid
from hardware.lights.panel import DriverSource, Panel
from hardware.lights.signals import Signal
from hardware.pin_map import ButtonRole
from referee.commands.command_socket import open_command_socket
from referee.commands.keyboard import listen_to_keys
from referee.commands.queue import CommandQueue
from referee.commands.values import Command, Correct, EnterRoll, EnterTurn, Press, Reply, Respond
from referee.demo.controller import DemoController, demo_controller
from referee.demo.score import Score, score_of
from referee.hints.advice import HintSettings
from referee.hints.process import HintProcess
from referee.journal import BufferedJournal, Journal
from referee.journal.exports import record_of
from referee.judge.verdict import Verdict, VerdictKind
from referee.rendering.board_picture import beside_camera
from referee.rendering.film import Pictures
from referee.rendering.report import Pace, Screen
from referee.runtime.builder import compose_reader, open_session
from referee.runtime.sources import InterruptibleSource, Interrupts
from referee.session.feed import shown_on
from referee.session.loop import LoopPorts, run
from referee.session.ports import Reader
from referee.session.settings import ServiceSettings, TurnEnd
from referee.session.signals import looking_signal
from referee.settings.table_layout import grid_of_table, with_rules
from referee.wiring.plan import Inputs
from simulator.microcontroller.faults import WireFaults
from simulator.play.game import GameOptions
from simulator.play.ground_truth import TruthLog
from simulator.play.players import HANDLERS, Habits
from simulator.scene.scene import Setting
from simulator.table import VirtualTable, standard_setting
from vision.frame import Frame
from vision.layout.pieces import Ink
from vision.layout.table import default_layout
from vision.locating.location import locate
from vision.readers.protocols import Appearance, EnrolmentPicture
from vision.readers.registry import is_readable, reader_kind, table_reader
from vision.readers.table_reader import TableReader

LinkFaults = WireFaults
"""What goes wrong on the microcontroller's wire."""

FRAMES_PER_SECOND = 15.0
GAMES = tuple(game for game in HANDLERS if is_readable(default_layout(game)))
"""What is played on the virtual table, and a camera can see."""
_WRITERS = 2
"""How many write in the demo of a game that is written."""
_VIRTUAL_DAY = datetime(2025, 1, 1, 12, tzinfo=UTC)


@dataclass(frozen=True)
class DemoOptions:
    """What is played and how it is shown.

    ``fast`` does not wait for real time; ``video`` films it; ``still`` keeps one picture of the film, in which the
    first fault is being explained; without ``journal`` it is kept in a new temporary
    folder; ``lights`` is ``terminal``, ``none`` for the verdicts alone, or ``pico`` for a virtual microcontroller's on
    a real pseudo-terminal; ``inputs`` are the ``camera``, ``sensors`` under the squares, or ``both``; ``link_faults``
    strike the wire to the microcontroller. ``keys`` are lines that a person types, of which ``h`` asks for a hint,
    ``None`` when nobody sits there.
    """

    game: str = "deblockle"
    seed: int = 7
    turns: int = 12
    fast: bool = False
    video: Path | None = None
    still: Path | None = None
    journal: Path | None = None
    lights: str = "terminal"
    inputs: Inputs = Inputs.CAMERA
    link_faults: LinkFaults | None = None
    hints: HintSettings = field(default_factory=HintSettings)
    keys: Iterable[str] | None = None

    @property
    def needs_board(self) -> bool:
        """Whether there is a microcontroller on the table."""
        return self.lights == "pico" or self.inputs != Inputs.CAMERA


@dataclass
class _SignalTap:
    """A driver that lets the virtual players see what the table shows, and remembers it for the screen."""

    table: VirtualTable
    name: str = "players"
    signal: Signal | None = None

    def show(self, signal: Signal, time_s: float) -> None:  # noqa: ARG002 - the table has its own clock
        self.signal = signal
        self.hear(signal.mood.value)

    def hear(self, mood: str) -> None:
        self.table.hear(mood)

    def close(self) -> None:
        """Nothing to let go of."""


def run_demo(options: DemoOptions, console: Console) -> int:
    """Play and referee one game; 0 when every verdict agreed with what was played, 1 otherwise.

    The same seed and turns give the same game, verdicts and journal events. Raises JournalError when the journal
    can't be written, FrameError when the film can't.
    """
    game: Game[Any, Any] = load(options.game)
    truth = TruthLog()
    table = _table(options, game, truth)
    path = options.journal or Path(tempfile.mkdtemp(prefix="referee-demo-")) / "journal.sqlite"
    console.print(f"A game of {game.title} on the virtual table, seed {options.seed}, {options.turns} turns.")
    now, remarks = _VirtualClock(), _Remarks(console.print)
    grid = grid_of_table(table.setting.layout)
    with Journal.open(path, wall_clock=now.wall_clock) as opened, ExitStack() as stack:
        journal = BufferedJournal(opened, console.print)
        stage = _staged(options, _Table(game, table, truth, grid), console, remarks, stack)
        panel = stack.enter_context(Panel(stage.sources, now.read, console.print, console.print))
        commands = stack.enter_context(CommandQueue(now.read))
        screen = Screen(grid, stage.seen, console, lights=options.lights != "none")
        remarks.hear = screen.remark
        pictures = Pictures(options.video, options.still, FRAMES_PER_SECOND)
        stack.enter_context(open_command_socket(path, commands, console.print))
        service = stack.enter_context(
            open_session(
                game,
                stage.reader,
                journal,
                ServiceSettings(options=_rules(game), turn_end=TurnEnd.BUTTON, rest_s=1.5, hints=options.hints),
                subscribers=(shown_on(panel), screen.hear),
                say=remarks.say,
                hints=HintProcess(),
                resume=False,
                seed=options.seed,
            )
        )
        pace = Pace(None if options.fast else time.sleep, time.monotonic)
        onlooker = Onlooker(commands.submit, truth, remarks.say, tells_set_up=options.inputs == Inputs.SENSORS)
        if options.keys is not None:
            listen_to_keys(options.keys, partial(_ask_hint, commands))

        def show(frame: Frame | None, verdicts: list[Verdict]) -> None:
            screen.show(verdicts, now.time_s)
            # Of stacks, which only games with dice have, tops alone don't tell every turn.
            if onlooker.tells_set_up or game.dice is not None:
                onlooker.hear(verdicts)
            if frame is not None:
                signal = stage.seen() or looking_signal()
                pictures.add(lambda: beside_camera(frame.image, screen.appearance, grid, signal), verdicts)
                pace.keep(frame.time_s)

        ports = LoopPorts(time.sleep, commands, partial(_presses, table, stage.board, commands), show)
        stopped = False
        try:
            with Interrupts() as interrupts, screen:
                frames = _ClockedCamera(table, now, lambda: _set_switches(stage.board, truth, panel))
                run(service, InterruptibleSource(frames, interrupts), ports)
        except KeyboardInterrupt:
            stopped = True
        finally:
            pictures.close()
        events = journal.events(service.game_number)
        if service.belief:
            console.print(Text(f"\n{record.write(record_of(game, events))}"), soft_wrap=True)
        wire = stage.closing_words
    _say_where(options, path, console)
    if stopped:
        console.print("Stopped before the end; what was accepted until then is in the journal.", soft_wrap=True)
        return 0
    score = score_of(game, truth, screen.verdicts, events, may_ask=options.inputs == Inputs.SENSORS)
    _close(score, wire, console)
    return 0 if score.agreed and stage.wire_agreed else 1


def _rules(game: Game[Any, Any]) -> dict[str, OptionValue]:
    """The options the demo is played by."""
    return {} if game.printed_sheet is None else {"players": _WRITERS}


def _table(options: DemoOptions, game: Game[Any, Any], truth: TruthLog) -> VirtualTable:
    return VirtualTable(
        options.seed,
        GameOptions(game.name, _rules(game), turns=options.turns, habits=_habits(options)),
        setting=_uncompressed(game),
        fps=FRAMES_PER_SECOND,
        truth=truth,
    )


def _habits(options: DemoOptions) -> Habits:
    """What the players do; where there is no camera, only violations that can be felt."""
    return Habits(by_occupancy=options.inputs == Inputs.SENSORS)


@dataclass(frozen=True)
class _Table:
    """What the demo is played on."""

    game: Game[Any, Any]
    table: VirtualTable
    truth: TruthLog
    grid: PlaceGrid


@dataclass(frozen=True)
class _Stage:
    """What the service is given: a reader, lights, and a board where there is one; ``seen`` is what the lights show."""

    reader: Reader
    sources: Sequence[DriverSource]
    seen: Callable[[], Signal | None]
    board: DemoController | None = None

    @property
    def wire_agreed(self) -> bool:
        """Whether a board's lights showed nothing but what was meant."""
        return self.board is None or self.board.report.wrong == 0

    @property
    def closing_words(self) -> tuple[str, ...]:
        """What went over the wire, where there is one."""
        return () if self.board is None else self.board.closing_words()


def _staged(options: DemoOptions, on: _Table, console: Console, remarks: _Remarks, stack: ExitStack) -> _Stage:
    tap = _SignalTap(on.table)
    players = [DriverSource("players", lambda: tap)]
    board: DemoController | None = None
    if options.needs_board:
        console.print("Plugging in a virtual microcontroller …")
        lit = options.lights == "pico"
        board = stack.enter_context(
            demo_controller(on.grid, options.link_faults, options.seed, lights=lit, say=remarks.say)
        )
    reader = _reader(options, on, board, console)
    if board is not None and options.lights == "pico":
        return _Stage(reader, board.driver_sources(tap.hear), board.seen, board)
    return _Stage(reader, players, lambda: tap.signal, board)


def _reader(options: DemoOptions, on: _Table, board: DemoController | None, console: Console) -> Reader:
    if options.inputs == Inputs.SENSORS:
        return compose_reader(on.game, None, board)
    if on.game.printed_sheet is None:
        console.print("Learning the pieces from pictures …")
    return compose_reader(on.game, enrolled_reader(on.table), board if options.inputs == Inputs.BOTH else None)


def _set_switches(board: DemoController | None, truth: TruthLog, panel: Panel) -> None:
    """Let the switches feel what stands on the table in the frame just taken, and the lights move on."""
    if board is not None:
        board.put({place: look != EMPTY for place, look in truth.frames[-1].looks.items()})
    panel.tick()


def _ask_hint(commands: CommandQueue, press: Press) -> None:
    """A person who looks on may ask for a hint, and no more."""
    if press.role is ButtonRole.HINT:
        commands.submit(press)


def _presses(table: VirtualTable, board: DemoController | None, commands: CommandQueue) -> list[ButtonRole]:
    """The virtual players read their rolls out and end their turns, by the board's button where there is one."""
    for roll in table.take_rolls():
        commands.submit(EnterRoll(",".join(roll.faces), "player"))
    pressed = [ButtonRole(press.button) for press in table.take_presses()]
    return pressed if board is None else [role for button in pressed for role in board.press(button)]


def _uncompressed(game: Game[Any, Any]) -> Setting:
    """The usual table under a camera whose pictures don't travel over a cable, so that none is packed and unpacked."""
    setting = standard_setting(layout=with_rules(default_layout(game.name), game, _rules(game)))
    return replace(setting, sensor=replace(setting.sensor, jpeg_quality=None))


def enrolled_reader(table: VirtualTable) -> TableReader:
    """Make a reader as an owner would: calibrated camera, measured layout, looks from pictures of known pieces."""
    return table_reader(table.calibration(), table.setting.layout, enrolled_appearance(table))


def enrolled_appearance(table: VirtualTable) -> Appearance:
    """Learn what the pieces look like from pictures of known positions; of ink there is nothing to learn."""
    camera, layout = table.calibration(), table.setting.layout
    if isinstance(layout.board.pieces, Ink):
        plain: Appearance = reader_kind(layout).plain(layout.board)
        return plain
    pictures = [
        EnrolmentPicture(
            picture.image,
            camera,
            locate(picture.image, camera, layout).pose,
            picture.position,
            picture.name,
            layout.markers,
        )
        for picture in table.teaching_images()
    ]
    appearance: Appearance = reader_kind(layout).enrol(pictures, layout.board)
    return appearance


@dataclass
class _VirtualClock:
    """The virtual clock: the time of the newest frame."""

    time_s: float = 0.0

    def read(self) -> float:
        return self.time_s

    def wall_clock(self) -> datetime:
        return _VIRTUAL_DAY + timedelta(seconds=round(self.time_s, 3))


@dataclass
class _ClockedCamera:
    """The virtual camera, with the clock set by its frames."""

    table: VirtualTable
    now: _VirtualClock
    taken: Callable[[], None]

    def read(self, timeout_s: float) -> Frame:
        frame = self.table.read(timeout_s)
        self.now.time_s = frame.time_s
        self.taken()
        return frame


@dataclass
class _Remarks:
    hear: Callable[[str], object]

    def say(self, sentence: str) -> None:
        self.hear(sentence)


def _say_where(options: DemoOptions, journal: Path, console: Console) -> None:
    if options.video is not None:
        console.print(f"The film is in {options.video}", soft_wrap=True)
    if options.still is not None:
        there = options.still.is_file()
        console.print(f"The picture is in {options.still}" if there else "No fault was made, so there is no picture.")
    console.print(f"The journal is in {journal}", soft_wrap=True)


def _close(score: Score, wire: Sequence[str], console: Console) -> None:
    console.print(score.sentence, highlight=False, soft_wrap=True)
    for line in (*(f"  {difference}" for difference in score.differences), *wire):
        console.print(line, highlight=False, soft_wrap=True)


_NAME = "onlooker"


@dataclass
class Onlooker:
    """Answers what can't be told from what is sensed, as a person does with ``table correct`` and ``turn``.

    ``truth`` is what a person at the table sees; ``say`` gets what became of an answer that was refused.
    ``tells_set_up``: the referee feels where pieces stand and can't tell how they lie.
    """

    submit: Callable[[Command, Respond], object]
    truth: TruthLog
    say: Callable[[str], object]
    tells_set_up: bool = True
    _told: int = 0

    def hear(self, verdicts: Sequence[Verdict]) -> None:
        """Answer what was asked in these verdicts."""
        for verdict in verdicts:
            if verdict.kind is VerdictKind.SET_UP and self.tells_set_up:
                self._ask(Correct(by=_NAME, position=self.truth.start, why="this is how they lie"))
            elif verdict.kind is VerdictKind.ACCEPTED:
                # Who does without what they may still write changes no place.
                self._told += len(verdict.turns) if verdict.places else 0
            elif verdict.kind is VerdictKind.AMBIGUOUS and len(self.truth.played) > self._told:
                played = self.truth.played[self._told]
                self._ask(EnterTurn(played.turn, _NAME, played.player))

    def _ask(self, command: Command) -> None:
        def hear(reply: Reply | None) -> None:
            if reply is None:
                return
            if reply.refused:
                self.say(f"The onlooker's word is refused: {reply.words}")
            else:
                # What a person says is remarked by the service itself.
                self._told += isinstance(command, EnterTurn)

        self.submit(command, hear)
