"""A live screen: the board as the referee believes it to be, its lights, and each verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from engine.api import Appearance
from hardware.grid import PlaceGrid
from hardware.lights.signals import Signal
from hardware.lights.terminal import status_line
from referee.judge.verdict import Verdict
from referee.rendering.board_picture import board_text
from referee.session.feed import Snapshot

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
