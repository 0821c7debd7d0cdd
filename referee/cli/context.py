"""What every command gets: the settings in force and where to print."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from common.findings import Finding, Severity
from common.program import PROGRAM

if TYPE_CHECKING:
    from rich.table import Table

    from engine.api import Game
    from referee.journal import Journal
    from referee.settings.configuration import Configuration

PLAIN_WIDTH = 200
"""Columns where the output is no terminal, so that lines a program reads are not broken."""

_UNBROKEN_WIDTH = 10_000
_LEAD = re.compile(r" +(\d+ +)?")
"""What a line of a list begins with."""
_BOARDS_WIDTH = 100
"""Columns that sheets beside each other take at most."""


@dataclass
class CommandContext:
    """Filled by the root command, read by the others through ``click.pass_obj``.

    ``program`` is what was typed to call this program.
    """

    program: str = PROGRAM
    debug: bool = False
    config_path: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)

    def as_called(self, text: str) -> str:
        """Give a text that names commands with what was typed to call this program."""
        return text.replace("./run ", f"{self.program} ")

    def configuration(self, flags: Mapping[str, Any] | None = None) -> Configuration:
        """Load the settings in force; ``flags`` (``section.key`` to value) outrank file and environment.

        Flags whose value is ``None`` were not given. Raises ConfigError.
        """
        from referee.settings.configuration import load

        given = {key: value for key, value in (flags or {}).items() if value is not None}
        return load(self.config_path, environment=self.environment, folder=Path.cwd(), flags=given)

    def open_journal(self, path: Path | None, *, read_only: bool = True, create: bool = False) -> Journal:
        """Open the journal at ``path``, or the one of the settings; raises JournalError.

        One that is not there is made only by whoever writes (not ``read_only``) and wants it ``create``d.
        """
        from referee.journal import Journal
        from referee.settings.conversions import evidence_limits

        settings = self.configuration({"journal.path": path}).settings.journal
        limits = evidence_limits(settings)
        if create:
            settings.path.parent.mkdir(parents=True, exist_ok=True)
        return Journal.open(settings.path, wall_clock=utc_now, limits=limits, read_only=read_only, create=create)


def context_of(running: click.Context | None) -> CommandContext:
    """What the command that is run got."""
    return (running and running.find_object(CommandContext)) or CommandContext()


def utc_now() -> datetime:
    """The wall clock of this machine."""
    return datetime.now(UTC)


def local_time(wall_time: str, form: str = "%Y-%m-%d %H:%M") -> str:
    """Give a journal's time in this machine's time zone, as ``strftime`` writes it; as it stands if it is none."""
    try:
        return datetime.fromisoformat(wall_time).astimezone().strftime(form)
    except ValueError:
        return wall_time


def output() -> Console:
    """The console for a command's results; plain and unwrapped when it is no terminal."""
    return _console(stderr=False)


def progress_output() -> Console:
    """The console for progress and remarks, on standard error."""
    return _console(stderr=True)


def say(sentence: str, *, as_error: bool = False) -> None:
    """Print a sentence, on a terminal broken between words; below an indented or numbered one, it goes on indented."""
    console = progress_output() if as_error else output()
    if console.is_terminal:
        from referee.rendering.report import hanging

        lead = _LEAD.match(sentence)
        at = lead.end() if lead else 0
        console.print(hanging(Text(sentence[:at]), Text(sentence[at:])))
    else:
        click.echo(context_of(click.get_current_context(silent=True)).as_called(sentence), err=as_error)


def print_state(game: Game[Any, Any], state: Any) -> None:
    """Draw a state of a game as every command does."""
    from referee.rendering.board_text import draws_ascii, state_text

    console = output()
    drawn = state_text(game, state, width=min(console.width, _BOARDS_WIDTH), ascii_only=draws_ascii(console))
    if console.is_terminal:
        console.print(drawn)
    else:
        for line in drawn.plain.split("\n"):
            click.echo(line.rstrip())


def print_legend(game: Game[Any, Any]) -> None:
    """Say what the signs on a game's board mean."""
    from referee.rendering.board_text import DrawnBoard, draws_ascii, legend

    console = output()
    drawn = DrawnBoard.seen(game, {})
    if signs := legend(drawn, width=min(console.width, _BOARDS_WIDTH), ascii_only=draws_ascii(console)).plain:
        click.echo(signs)


def print_table(console: Console, table: Table) -> None:
    """Print a table; where the output is no terminal, a row is a line of any length without blanks at its end."""
    if console.is_terminal:
        console.print(table)
        return
    lines = io.StringIO()
    _CommandConsole(file=lines, width=_UNBROKEN_WIDTH, highlight=False).print(table)
    for line in lines.getvalue().splitlines():
        console.out(line.rstrip(), highlight=False)


def print_findings(console: Console, findings: Iterable[Finding], fault_word: str) -> None:
    """Print what was found, a row each, and below it what to do; a fault is called ``fault_word``."""
    from rich.table import Table

    words = {
        Severity.OK: ("ok", "green"),
        Severity.NOTE: ("note", "yellow"),
        Severity.FAULT: (fault_word, "bold red"),
    }
    table = Table(box=None, show_header=False, pad_edge=False)
    for finding in findings:
        table.add_row(Text(*words[finding.severity]), Text(finding.subject), Text(finding.message))
        if finding.remedy:
            table.add_row("", "", Text(f"→ {finding.remedy}"))
    print_table(console, table)


def _console(*, stderr: bool) -> Console:
    is_terminal = (sys.stderr if stderr else sys.stdout).isatty()
    return _CommandConsole(stderr=stderr, highlight=False, width=None if is_terminal else PLAIN_WIDTH)


class _CommandConsole(Console):
    """A console that names commands by what was typed to call this program."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        # Screens are drawn from other threads too, which run no command.
        self._program = context_of(click.get_current_context(silent=True)).program

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        if isinstance(renderable, Text) and "./run " in renderable.plain:
            renderable = Text(f"{self._program} ").join(renderable.split("./run ", allow_blank=True))
        return super().render(renderable, options)
