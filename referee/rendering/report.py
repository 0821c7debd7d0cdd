"""What a person reads while a table is watched: lines, a live board, and pictures for finding out what went wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from common.phrases import counted
from engine.api import Appearance, Outcome
from hardware.grid import PlaceGrid
from hardware.lights.signals import Signal
from hardware.lights.terminal import status_line
from referee.judge.verdict import Verdict, VerdictKind
from referee.rendering.board_picture import board_text
from referee.session.feed import Snapshot
from vision.drawing import draw
from vision.errors import FrameError, NotLocatedError
from vision.frame import Frame
from vision.geometry import CameraModel, Pose
from vision.images import write_image
from vision.layout.table import TableLayout
from vision.locating.location import locate

_STYLES: Mapping[VerdictKind, str] = MappingProxyType(
    {
        VerdictKind.SET_UP: "bold",
        VerdictKind.ACCEPTED: "green",
        VerdictKind.UNCHANGED: "dim",
        VerdictKind.NOT_FINISHED: "yellow",
        VerdictKind.ILLEGAL: "bold red",
        VerdictKind.PUT_RIGHT: "cyan",
        VerdictKind.AMBIGUOUS: "magenta",
        VerdictKind.CANNOT_SEE: "yellow",
    }
)


class Report:
    """Prints a line a verdict: the file or the time, the verdict, the sentence and the squares it turns on.

    It subscribes to the session's snapshots by ``hear``, and prints what they said after each frame.
    """

    def __init__(self, console: Console, *, stills: bool) -> None:
        self._console = console
        self._stills = stills
        self._snapshot: Snapshot | None = None
        self._unsaid: list[tuple[Verdict, str]] = []
        self._began_s: float | None = None
        self._turns = 0
        self._faults = 0

    def hear(self, snapshot: Snapshot) -> None:
        """Take what holds now; a verdict that is new waits to be printed."""
        before, self._snapshot = self._snapshot, snapshot
        if snapshot.verdict is not None and (before is None or snapshot.verdict is not before.verdict):
            self._unsaid.append((snapshot.verdict, snapshot.words))

    def tell(self, frame: Frame | None) -> None:
        """Print the verdicts since the last time; ``frame`` is ``None`` for one that could not be used and the end."""
        if frame is not None and self._began_s is None:
            self._began_s = frame.time_s
        told, self._unsaid = self._unsaid, []
        for verdict, said in told:
            self._turns += len(verdict.turns)
            self._faults += verdict.kind is VerdictKind.ILLEGAL
            line = Text.assemble(
                (f"{self._when(frame, verdict):<10} ", "dim"),
                (f"{verdict.kind.value:<13}", _STYLES[verdict.kind]),
                said,
            )
            unnamed = any(place not in said for place in verdict.places)
            if unnamed and verdict.kind is not VerdictKind.SET_UP:
                line.append(f"  [{' '.join(verdict.places)}]", style="dim")
            self._console.print(line, soft_wrap=True, highlight=False)

    def remark(self, sentence: str) -> None:
        """Print a remark that is no verdict."""
        self._console.print(Text(f"{'':<10} {sentence}", style="italic"), soft_wrap=True, highlight=False)

    def close(self) -> None:
        """Print how it ended."""
        if self._snapshot is None or not self._snapshot.states:
            self._console.print("No game was set up.")
            return
        outcome = self._snapshot.outcome
        ending = "the game goes on" if outcome is None else f"{_winner(outcome)} won: {outcome.reason}"
        tally = f"{counted(self._turns, 'turn')} accepted, {counted(self._faults, 'fault')} named"
        self._console.print(f"{tally}; {ending}.", highlight=False, soft_wrap=True)

    def _when(self, frame: Frame | None, verdict: Verdict) -> str:
        if self._stills and frame is not None:
            return Path(frame.source).name
        seconds = max(0.0, verdict.time_s - (self._began_s or 0.0))
        return f"{int(seconds // 60):3d}:{seconds % 60:04.1f}"


class DebugPictures:
    """Writes what was located into a folder, one picture a frame it is given.

    ``known`` gives a pose that was found before, if any: without markers it tells which of the board's sides is which.
    """

    def __init__(
        self,
        folder: Path,
        camera: CameraModel,
        layout: TableLayout,
        known: Callable[[], Pose | None] = lambda: None,
    ) -> None:
        self._folder = folder
        self._camera = camera
        self._layout = layout
        self._known = known

    def add(self, frame: Frame) -> None:
        """Write one frame with its markers, box and grid; as it is when the table was not located."""
        try:
            located = locate(frame.image, self._camera, self._layout, previous=self._known())
            picture = draw(frame.image, located, self._layout, self._camera)
        except (NotLocatedError, FrameError):
            picture = frame.image
        path = self._folder / f"{frame.sequence:06d}.jpg"
        write_image(path, picture)


def _winner(outcome: Outcome) -> str:
    return outcome.winner or " and ".join(outcome.shared_by) or "nobody"


_KEPT_LINES = 6


@dataclass
class Pace:
    """Keeps virtual time from running ahead of real time; without ``wait`` it runs as it can."""

    wait: Callable[[float], object] | None
    clock: Callable[[], float]
    began_s: float | None = None

    def keep(self, time_s: float) -> None:
        """Wait until real time has come as far."""
        if self.wait is None:
            return
        if self.began_s is None:
            self.began_s = self.clock() - time_s
        ahead_s = time_s - (self.clock() - self.began_s)
        if ahead_s > 0:
            self.wait(ahead_s)


@dataclass
class Screen:
    """What a person sees: a live board in a terminal, plain lines otherwise."""

    grid: PlaceGrid
    seen: Callable[[], Signal | None]
    console: Console
    lights: bool
    verdicts: list[Verdict] = field(default_factory=list)
    _lines: list[str] = field(default_factory=list)
    _live: Live | None = None
    _snapshot: Snapshot | None = None

    def __enter__(self) -> Screen:
        if self.console.is_terminal and self.lights:
            self._live = Live(console=self.console, auto_refresh=False, transient=True)
            self._live.start()
        return self

    def __exit__(self, *_exc_info: object) -> None:
        if self._live is not None:
            self._live.stop()
            self.console.print(self._board())

    @property
    def appearance(self) -> Appearance:
        """What stands where, as far as the referee knows."""
        return {} if self._snapshot is None else self._snapshot.appearance

    def hear(self, snapshot: Snapshot) -> None:
        """Take what holds now; it is drawn after the frame."""
        self._snapshot = snapshot

    def remark(self, sentence: str) -> None:
        """Show a remark that is no verdict."""
        self._line(f"        {sentence}")

    def show(self, verdicts: list[Verdict], time_s: float) -> None:
        """Show what is new."""
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
        signal = self.seen()
        ascii_only = not (self.console.encoding or "").lower().startswith("utf")
        board = board_text(self.appearance, self.grid, signal.lights if signal else (), ascii_only=ascii_only)
        return Group(board, status_line(signal) if signal else Text())
