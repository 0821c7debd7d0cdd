"""The demo: the real service on the virtual table.

Only frames and presses of the button go into the service, and only signals come back to the virtual players. What
really happened is opened after the game, for the closing line.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from engine import record
from engine.api import Game
from engine.registry import load
from hardware.panel import DriverSource, Panel
from hardware.signals import Signal
from hardware.terminal import Grid, status_line
from referee.board_view import beside, board_text
from referee.demo_film import Pictures
from referee.demo_score import Score, score_of
from referee.hint_process import HintProcess
from referee.hinting import HintSettings
from referee.interrupts import InterruptibleSource, Interrupts
from referee.journal import BufferedJournal, Journal
from referee.journal.record import record_of
from referee.requests import door_or_none
from referee.service import Service
from referee.service_attention import AttentiveReader
from referee.service_loop import Surroundings, run
from referee.service_settings import ServiceSettings
from referee.signalling import looking_signal
from referee.verdict import Verdict
from referee.watch_keys import Keys
from simulator.scene import Setting
from simulator.table import VirtualTable, standard_setting
from simulator.truth import TruthLog
from vision.enrolment import EnrolmentPicture, enrol
from vision.frame import Frame
from vision.locating import locate
from vision.reader import TableReader

FRAMES_PER_SECOND = 15.0
_VIRTUAL_DAY = datetime(2025, 1, 1, 12, tzinfo=UTC)
_KEPT_LINES = 6


@dataclass(frozen=True)
class DemoOptions:
    """What is played and how it is shown.

    ``fast`` does not wait for real time; ``video`` films it; ``still`` keeps one picture of the film, in which the
    first fault is being explained; without ``journal`` it is kept in a new temporary
    folder; ``lights`` is ``terminal``, or ``none`` for the verdicts alone; ``keys`` are lines that a person types, of
    which ``h`` asks for a hint, ``None`` when nobody sits there.
    """

    seed: int = 7
    turns: int = 12
    fast: bool = False
    video: Path | None = None
    still: Path | None = None
    journal: Path | None = None
    lights: str = "terminal"
    hints: HintSettings = field(default_factory=HintSettings)
    keys: Iterable[str] | None = None


@dataclass
class _Ears:
    """A driver that lets the virtual players see what the table shows, and remembers it for the screen."""

    table: VirtualTable
    name: str = "players"
    signal: Signal | None = None

    def show(self, signal: Signal, time_s: float) -> None:  # noqa: ARG002 - the table has its own clock
        self.signal = signal
        self.table.hear(signal.mood.value, signal.words)

    def close(self) -> None:
        """Nothing to let go of."""


def run_demo(options: DemoOptions, console: Console) -> int:
    """Play and referee one game; 0 when every verdict agreed with what was played, 1 otherwise.

    The same seed and turns give the same game, verdicts and journal events. Raises JournalError when the journal
    can't be written, FrameError when the film can't.
    """
    game: Game[Any, Any] = load("deblockle")
    truth = TruthLog()
    table = VirtualTable(
        options.seed, game.name, setting=_uncompressed(), turns=options.turns, fps=FRAMES_PER_SECOND, truth=truth
    )
    path = options.journal or Path(tempfile.mkdtemp(prefix="referee-demo-")) / "journal.sqlite"
    console.print(f"A game of {game.title} on the virtual table, seed {options.seed}, {options.turns} turns.")
    console.print("Learning the pieces from two pictures …")
    reader = AttentiveReader(enrolled_reader(table))
    ears = _Ears(table)
    now = _Now()
    with Journal.open(path, wall_clock=now.wall_clock) as opened, ExitStack() as stack:
        journal = BufferedJournal(opened, console.print)
        panel = Panel([DriverSource("players", lambda: ears)], now.read, console.print)
        settings = ServiceSettings(turn_end="button", rest_s=1.5, hints=options.hints)
        remarks = _Remarks(console.print)
        service: Service[Any, Any] = Service(game, reader, journal, panel, settings, remarks.say, HintProcess())
        stack.callback(service.close)
        requests = door_or_none(path, stack, console.print)
        grid = Grid.of_squares(table.setting.layout.columns, table.setting.layout.rows)
        screen = _Screen(service, game, grid, ears, console, lights=options.lights != "none")
        pictures = Pictures(options.video, options.still, FRAMES_PER_SECOND)
        remarks.hear = screen.remark
        pace = _Pace(None if options.fast else time.sleep, time.monotonic)

        def show(frame: Frame | None, verdicts: list[Verdict]) -> None:
            screen.show(verdicts, now.time_s)
            if frame is not None:
                signal = ears.signal or looking_signal()
                pictures.add(lambda: beside(frame.image, screen.appearance(), grid, signal), verdicts)
                pace.keep(frame.time_s)

        interrupts = Interrupts()
        around = Surroundings(
            time.sleep,
            presses=partial(_presses, table, None if options.keys is None else Keys(options.keys)),
            requests=requests,
            on_verdicts=show,
        )
        stopped = False
        try:
            service.start(resume=False, seed=options.seed)
            with interrupts, screen:
                run(service, InterruptibleSource(_Ticking(table, now), interrupts), around)
        except KeyboardInterrupt:
            stopped = True
        finally:
            pictures.close()
        events = journal.events(service.game_number)
        console.print()
        if service.belief:
            console.print(Text(record.write(record_of(game, events))), soft_wrap=True)
    _say_where(options, path, console)
    if stopped:
        console.print("Stopped before the end; what was accepted until then is in the journal.", soft_wrap=True)
        return 0
    score = score_of(game, truth, screen.verdicts, events)
    _close(score, console)
    return 0 if score.agreed else 1


def _presses(table: VirtualTable, keys: Keys | None) -> list[str]:
    """The virtual players end their turns; a person who looks on may ask for a hint, and no more."""
    asked = [] if keys is None else [role for role in keys.poll() if role == "hint"]
    return [press.button for press in table.take_presses()] + asked


def _uncompressed() -> Setting:
    """The usual table under a camera whose pictures don't travel over a cable, so that none is packed and unpacked."""
    setting = standard_setting()
    return replace(setting, sensor=replace(setting.sensor, jpeg_quality=None))


def enrolled_reader(table: VirtualTable) -> TableReader:
    """Make a reader as an owner would: calibrated camera, measured layout, looks from pictures of known pieces."""
    camera, layout = table.calibration(), table.setting.layout
    pictures = [
        EnrolmentPicture(
            picture.image,
            camera,
            locate(picture.image, camera, layout).pose,
            {block.cell: (block.colour, block.top) for block in picture.blocks},
            f"the picture of {picture.colour}",
        )
        for picture in table.enrolment_images()
    ]
    return TableReader(camera, layout, enrol(pictures, layout))


@dataclass
class _Now:
    """The virtual clock: the time of the newest frame."""

    time_s: float = 0.0

    def read(self) -> float:
        return self.time_s

    def wall_clock(self) -> datetime:
        return _VIRTUAL_DAY + timedelta(seconds=round(self.time_s, 3))


@dataclass
class _Ticking:
    """The virtual camera, with the clock set by its frames."""

    table: VirtualTable
    now: _Now

    def read(self, timeout_s: float) -> Frame:
        frame = self.table.read(timeout_s)
        self.now.time_s = frame.time_s
        return frame


@dataclass
class _Pace:
    """Keeps virtual time from running ahead of real time; without ``wait`` it runs as it can."""

    wait: Callable[[float], object] | None
    clock: Callable[[], float]
    began_s: float | None = None

    def keep(self, time_s: float) -> None:
        if self.wait is None:
            return
        if self.began_s is None:
            self.began_s = self.clock() - time_s
        ahead_s = time_s - (self.clock() - self.began_s)
        if ahead_s > 0:
            self.wait(ahead_s)


@dataclass
class _Remarks:
    hear: Callable[[str], object]

    def say(self, sentence: str) -> None:
        self.hear(sentence)


@dataclass
class _Screen:
    """What a person sees: a live board in a terminal, plain lines otherwise."""

    service: Service[Any, Any]
    game: Game[Any, Any]
    grid: Grid
    ears: _Ears
    console: Console
    lights: bool
    verdicts: list[Verdict] = field(default_factory=list)
    _lines: list[str] = field(default_factory=list)
    _live: Live | None = None

    def __enter__(self) -> _Screen:
        if self.console.is_terminal and self.lights:
            self._live = Live(console=self.console, auto_refresh=False, transient=True)
            self._live.start()
        return self

    def __exit__(self, *_exc_info: object) -> None:
        if self._live is not None:
            self._live.stop()
            self.console.print(self._board())

    def appearance(self) -> dict[str, str]:
        belief = self.service.belief
        return dict(self.game.appearance(belief[0])) if belief else {}

    def remark(self, sentence: str) -> None:
        self._line(f"        {sentence}")

    def show(self, verdicts: list[Verdict], time_s: float) -> None:
        for verdict in verdicts:
            self.verdicts.append(verdict)
            self._line(f"{time_s:6.1f} s  {verdict.kind.value:<12}  {verdict.sentence}")
        if self._live is not None:
            self._live.update(Group(self._board(), "\n".join(self._lines[-_KEPT_LINES:])), refresh=True)

    def _line(self, line: str) -> None:
        self._lines.append(line)
        if self._live is not None:
            # Above the live board, so that nothing said is ever lost from the scrollback.
            self._live.console.print(line, highlight=False, markup=False)
            self._lines.clear()
        else:
            self.console.print(line, highlight=False, markup=False, soft_wrap=True)

    def _board(self) -> Group:
        signal = self.ears.signal
        ascii_only = not (self.console.encoding or "").lower().startswith("utf")
        board = board_text(self.appearance(), self.grid, signal.lights if signal else (), ascii_only=ascii_only)
        return Group(board, status_line(signal) if signal else Text())


def _say_where(options: DemoOptions, journal: Path, console: Console) -> None:
    if options.video is not None:
        console.print(f"The film is in {options.video}", soft_wrap=True)
    if options.still is not None:
        there = options.still.is_file()
        console.print(f"The picture is in {options.still}" if there else "No fault was made, so there is no picture.")
    console.print(f"The journal is in {journal}", soft_wrap=True)


def _close(score: Score, console: Console) -> None:
    console.print(score.sentence, highlight=False, soft_wrap=True)
    for line in score.differences:
        console.print(f"  {line}", highlight=False, soft_wrap=True)
