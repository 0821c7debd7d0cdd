"""What every command needs: the effective settings, and consoles for its output."""

from __future__ import annotations

import io
import re
import shlex
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from common.findings import Finding, Severity
from common.phrases import Phrase
from common.program import PROGRAM
from common.shown_text import shown
from referee.errors import ConfigError
from referee.languages import LANGUAGES, Say, sentences, system_language

if TYPE_CHECKING:
    from rich.table import Table

    from engine.api import Game
    from referee.journal.journal import Journal
    from referee.journal.reader import JournalReader
    from referee.settings.configuration import Configuration

INTERRUPTED = 130
"""The exit code of a program that a person stopped."""
PLAIN_WIDTH = 200
"""The width, in columns, of output that isn't a terminal, so that lines for programs aren't wrapped."""

_UNBROKEN_WIDTH = 10_000
_LEAD = re.compile(r" +(\d+ +)?")
"""The start of a list item."""
_BOARDS_WIDTH = 100
"""The most columns for sheets drawn side by side."""
YES, NO = frozenset({"y", "yes", "j", "ja"}), frozenset({"n", "no", "nein"})
"""Answers to a question, in any of our languages."""
YES_OR_NO = (Phrase("y/N"), Phrase("Y/n"))
"""How a question shows its answers: if Enter means no, and if it means yes."""


@dataclass
class CommandContext:
    """Set by the root command, and passed to the other commands through ``click.pass_obj``.

    ``program`` is the command that the person typed to run this program.
    """

    program: str = PROGRAM
    debug: bool = False
    config_path: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def language(self) -> str:
        """The language of the terminal: the settings', or else the system's."""
        from referee.settings.sources import written_language

        with suppress(ConfigError):
            chosen = written_language(self.config_path, self.environment, Path.cwd())
            if chosen in LANGUAGES:
                return str(chosen)
        return system_language(self.environment)

    @property
    def translate(self) -> Say:
        """Translates one of the referee's sentences into the language of the terminal."""
        return sentences(self.language)

    def spoken(self, text: str) -> str:
        """Return a text as it is shown: a phrase in the terminal's language."""
        return self.translate(text) if isinstance(text, Phrase) else text

    def with_program_name(self, text: str) -> str:
        """Replace ``./run`` in a text by the command that the person typed."""
        return text.replace("./run ", f"{self.program} ")

    def configuration(self, flags: Mapping[str, Any] | None = None) -> Configuration:
        """Load the effective settings; ``flags`` (``section.key`` to value) override the file and the environment.

        A flag with the value ``None`` wasn't given. Raises ConfigError.
        """
        from referee.settings.configuration import load

        given = {key: value for key, value in (flags or {}).items() if value is not None}
        return load(self.config_path, environment=self.environment, folder=Path.cwd(), flags=given)

    def read_journal(self, path: Path | None) -> JournalReader:
        """Open the journal at ``path``, or the one in the settings, for reading; raises JournalError."""
        from referee.journal.reader import read_journal

        return read_journal(self.journal_path(path))

    def open_journal(self, path: Path | None, *, create: bool = False) -> Journal:
        """Open the journal at ``path``, or the one in the settings, for writing; raises JournalError.

        A missing journal is created only if ``create`` is true.
        """
        from referee.journal.journal import Journal
        from referee.settings.conversions import evidence_limits

        settings = self.configuration({"journal.path": path}).settings.journal
        limits = evidence_limits(settings)
        if create:
            settings.path.parent.mkdir(parents=True, exist_ok=True)
        journal = Journal.open(settings.path, wall_clock=utc_now, limits=limits, create=create)
        if journal.remark:
            say(journal.remark, as_error=True)
        return journal

    def journal_path(self, path: Path | None) -> Path:
        """Return the path of a journal that was named, or of the one in the settings; raises ConfigError."""
        return self.configuration({"journal.path": path}).settings.journal.path

    def other_journal(self, path: Path) -> str:
        """Return a journal's path as typed in a shell; empty if a command without ``--journal`` uses it anyway."""
        # The person may type an advised command without --config.
        if self.config_path is None and path == self.configuration().settings.journal.path:
            return ""
        return shlex.quote(str(path))

    def advised_command(self, command: str, journal: Path, flag: str = "--journal ") -> str:
        """Return a command on a journal for a sentence, such as ```./run games resume 2 --journal a.sqlite```."""
        named = self.other_journal(journal)
        return f"`./run {command} {flag}{named}`" if named else f"`./run {command}`"


def context_of(running: click.Context | None) -> CommandContext:
    """Return the CommandContext of the running command."""
    return (running and running.find_object(CommandContext)) or CommandContext()


def utc_now() -> datetime:
    """Return this machine's wall-clock time."""
    return datetime.now(UTC)


def output() -> Console:
    """Return the console for a command's results; plain and unwrapped unless it is a terminal."""
    return _console(stderr=False)


def progress_output() -> Console:
    """Return the console for progress and remarks, on standard error."""
    return _console(stderr=True)


def spoken(text: str) -> str:
    """Return a text as it is shown at the terminal of the running command."""
    return context_of(click.get_current_context(silent=True)).spoken(text)


def say(sentence: str, *, as_error: bool = False) -> None:
    """Print a text, wrapped on a terminal. Continuation lines of an indented or numbered text are indented too."""
    console = progress_output() if as_error else output()
    sentence = spoken(sentence)
    if console.is_terminal:
        from referee.rendering.report import hanging

        lead = _LEAD.match(sentence)
        at = lead.end() if lead else 0
        console.print(hanging(Text(sentence[:at]), Text(sentence[at:])))
    else:
        click.echo(context_of(click.get_current_context(silent=True)).with_program_name(sentence), err=as_error)


def print_state(game: Game[Any, Any], state: Any, tell: Callable[[str], str] = str) -> None:
    """Draw a state of a game in the style common to all commands; ``tell`` puts the players' names into the words."""
    from referee.rendering.board_text import draws_ascii, state_text

    console = output()
    width = min(console.width, _BOARDS_WIDTH)
    print_drawn(console, state_text(game, state, width=width, ascii_only=draws_ascii(console), tell=tell))


def print_drawn(console: Console, drawn: Text) -> None:
    """Print a drawn board or its legend; without colours and trailing spaces unless the output is a terminal."""
    if console.is_terminal:
        console.print(drawn)
    else:
        for line in drawn.plain.split("\n"):
            click.echo(line.rstrip())


def print_legend(game: Game[Any, Any]) -> None:
    """Explain the signs on a game's board."""
    from referee.rendering.board_text import DrawnBoard, draws_ascii, legend

    console = output()
    drawn = DrawnBoard.seen(game, {})
    translate, width = context_of(click.get_current_context(silent=True)).translate, min(console.width, _BOARDS_WIDTH)
    if signs := legend(drawn, width=width, ascii_only=draws_ascii(console), say=translate).plain:
        click.echo(signs)


def confirm(question: str) -> None:
    """Ask a yes-or-no question; a no ends the program as Ctrl-C does, and says that nothing was changed."""
    if not agrees(question):
        say(Phrase("Nothing was changed."), as_error=True)
        raise click.exceptions.Exit(INTERRUPTED)


def agrees(question: str, *, default: bool = False) -> bool:
    """Ask a yes-or-no question; Enter takes the default."""
    prompt = _last_line(f"{spoken(question)} [{spoken(YES_OR_NO[default])}]:")
    while True:
        typed = click.prompt(prompt, default="", show_default=False, prompt_suffix=" ").strip().lower()
        if typed in YES or typed in NO or not typed:
            return default if not typed else typed in YES
        click.echo(spoken(Phrase("Error: invalid input")))


def ask_line(question: str, default: str) -> str:
    """Ask for a line of text; Enter takes the default."""
    prompt = _last_line(f"{spoken(question)}{f' [{default}]' if default else ''}:")
    typed: str = click.prompt(prompt, default="", show_default=False, prompt_suffix=" ")
    return typed.strip() or default


def _last_line(prompt: str) -> str:
    """Print a prompt up to its last line, wrapped at words as a terminal doesn't, and return that line."""
    console = output()
    width = console.width - 1 if console.is_terminal else _UNBROKEN_WIDTH
    *before, last = textwrap.wrap(prompt, width, break_long_words=False, break_on_hyphens=False)
    for line in before:
        click.echo(line)
    return last


def print_table(console: Console, table: Table) -> None:
    """Print a table. Unless the output is a terminal, each row is one unwrapped line without trailing spaces."""
    if console.is_terminal:
        console.print(table)
        return
    lines = io.StringIO()
    _CommandConsole(file=lines, width=_UNBROKEN_WIDTH, highlight=False).print(table)
    for line in lines.getvalue().splitlines():
        click.echo(line.rstrip(), err=console.stderr)


def print_findings(console: Console, findings: Iterable[Finding], fault_word: str) -> None:
    """Print each finding in a row with its remedy below; faults are labelled ``fault_word``."""
    from rich.table import Table

    words = {
        Severity.OK: (Phrase("ok"), "green"),
        Severity.NOTE: (Phrase("note"), "yellow"),
        Severity.FAULT: (fault_word, "bold red"),
    }
    table = Table(box=None, show_header=False, pad_edge=False)
    for finding in findings:
        word, style = words[finding.severity]
        table.add_row(Text(spoken(word), style), Text(spoken(finding.subject)), Text(spoken(finding.message)))
        if finding.remedy:
            table.add_row("", "", Text(f"→ {spoken(finding.remedy)}"))
    print_table(console, table)


def _console(*, stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    # This console removes what may not be shown itself, and draws by sequences that the stream above would remove.
    while (below := getattr(stream, "rich_proxied_file", None)) is not None:
        stream = below
    return _CommandConsole(file=stream, stderr=stderr, highlight=False, width=None if stream.isatty() else PLAIN_WIDTH)


class _CommandConsole(Console):
    """A console that shows command names as the person typed them, and of others' text only what may be shown."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        # Screens are also drawn from other threads, where no command is current.
        self._context = context_of(click.get_current_context(silent=True))

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(self._context.spoken(text), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        if isinstance(renderable, Text) and "./run " in renderable.plain:
            renderable = Text(f"{self._context.program} ").join(renderable.split("./run ", allow_blank=True))
        for text, style, control in super().render(renderable, options):
            if control:
                yield Segment(text, style, control)
            else:
                yield Segment(shown(text), style.update_link(None) if style and style.link else style)
