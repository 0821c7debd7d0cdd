"""What commands share: the effective settings, consoles for their output, options, and parsers for their values."""

from __future__ import annotations

import io
import math
import os
import re
import shlex
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from errno import ENOENT
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from common.findings import Finding, Severity
from common.phrases import Phrase, listed
from common.program import PROGRAM
from common.shown_text import shown
from referee.errors import ConfigError

if TYPE_CHECKING:
    from rich.table import Table

    from app.settings.configuration import Configuration
    from engine.api import Game
    from engine.values import OptionValue, Player
    from frontends.languages import Say
    from frontends.page.settings import PageOptions, PageSection
    from journal.journal import Journal
    from journal.reader import JournalReader


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
        from app.settings.sources import written_language
        from frontends.languages import LANGUAGES, system_language

        with suppress(ConfigError):
            chosen = written_language(self.config_path, self.environment, Path.cwd())
            if chosen in LANGUAGES:
                return str(chosen)
        return system_language(self.environment)

    @property
    def translate(self) -> Say:
        """Translates one of the referee's sentences into the language of the terminal."""
        # Here, because help needs no language.
        from frontends.languages import sentences

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
        from app.settings.configuration import load

        given = {key: value for key, value in (flags or {}).items() if value is not None}
        return load(self.config_path, environment=self.environment, folder=Path.cwd(), flags=given)

    def read_journal(self, path: Path | None) -> JournalReader:
        """Open the journal at ``path``, or the one in the settings, for reading; raises JournalError."""
        from journal.reader import read_journal

        return read_journal(self.journal_path(path))

    def open_journal(self, path: Path | None, *, create: bool = False) -> Journal:
        """Open the journal at ``path``, or the one in the settings, for writing; raises JournalError.

        A missing journal is created only if ``create`` is true.
        """
        from app.settings.conversions import evidence_limits
        from journal.journal import Journal

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


def context_of(running: click.Context | None = None) -> CommandContext:
    """Return the CommandContext of the running command."""
    running = running or click.get_current_context(silent=True)
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
    return context_of().spoken(text)


def say(sentence: str, *, as_error: bool = False) -> None:
    """Print a text, wrapped on a terminal. Continuation lines of an indented or numbered text are indented too."""
    console = progress_output() if as_error else output()
    sentence = spoken(sentence)
    if console.is_terminal:
        from frontends.terminal.report import hanging

        lead = _LEAD.match(sentence)
        at = lead.end() if lead else 0
        console.print(hanging(Text(sentence[:at]), Text(sentence[at:])))
    else:
        click.echo(context_of().with_program_name(sentence), err=as_error)


def print_state(game: Game[Any, Any], state: Any, tell: Callable[[str], str] = str) -> None:
    """Draw a state of a game in the style common to all commands; ``tell`` puts the players' names into the words."""
    from frontends.board_text import draws_ascii, state_text

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
    from frontends.board_text import DrawnBoard, draws_ascii, legend

    console = output()
    drawn = DrawnBoard.seen(game, {})
    translate, width = context_of().translate, min(console.width, _BOARDS_WIDTH)
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
    _edit_lines()
    while True:
        typed = click.prompt(prompt, default="", show_default=False, prompt_suffix=" ").strip().lower()
        if typed in YES or typed in NO or not typed:
            return default if not typed else typed in YES
        click.echo(spoken(Phrase("Error: invalid input")))


def ask(question: str) -> str:
    """Ask for a line of text as it is typed; raises EOFError at the end of the input."""
    _edit_lines()
    return input(spoken(question))


def _edit_lines() -> None:
    """Let prompts at a terminal be written to standard output, with line editing."""
    if sys.stdin.isatty():
        # Without it, Python has C write them to descriptor 2, past Python's own standard error.
        import readline  # noqa: F401


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
    table, said = Table(box=None, show_header=False, pad_edge=False), context_of().translate
    for finding in findings:
        word, style = words[finding.severity]
        table.add_row(Text(said(word), style), Text(said(finding.subject)), Text(said(finding.message)))
        if finding.remedy:
            table.add_row("", "", Text(f"→ {said(finding.remedy)}"))
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
        self._context = context_of()

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


Command = TypeVar("Command", bound=Callable[..., Any])


class WholeNumber(click.IntRange):
    """An integer within limits, called a whole number in messages."""

    name = "whole number"


class Number(click.FloatRange):
    """A number within limits, called a number in messages."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Convert a text; ``nan`` fails, which click lets through because it is neither too small nor too large."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is not a number", param, ctx)
        return number


class GameName(click.types.StringParamType):
    """A game's name. The help, and the error for a missing name, list the games."""

    name = "game"

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """List the games."""
        del param, ctx
        return self.listed()

    @staticmethod
    def listed() -> str:
        """List the games in a sentence."""
        from engine import registry

        return f"The games are {listed(registry.games())}."


GAME = GameName()
"""The type of a command's argument GAME."""

READABLE_FILE = click.Path(path_type=Path, dir_okay=False, exists=True)
"""A file that must exist."""


class _LayoutFile(click.Path):
    """A layout file that must exist, or ``kit``."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; raises BadParameter."""
        return Path(_KIT) if value == _KIT else super().convert(value, param, ctx)


_KIT = "kit"
"""The name of ``vision.layout.kit``, repeated here so that ``referee --help`` doesn't load it."""
LAYOUT_FILE = _LayoutFile(path_type=Path, dir_okay=False, exists=True)
"""A layout file, or ``kit`` for the game's paper kit."""

JOURNAL_FILE = click.Path(path_type=Path, dir_okay=False)
"""A journal to write, which may not exist yet. Its events are added to, so nothing is asked."""

PAPERS = ("a4", "letter")
"""The papers of ``frontends.printing.pages``, repeated here so that ``referee --help`` doesn't load OpenCV."""

STRENGTH = click.Choice(["gentle", "fair", "strong"])
"""How well the program plays, and how far its hints look ahead."""


OUTPUT_FILE = click.Path(path_type=Path, dir_okay=False)
"""A result to write. Its command also takes ``--force``, and without it asks before it overwrites a file."""

OUTPUT_FOLDER = click.Path(path_type=Path, file_okay=False)
"""A folder for results, in the same way: the command asks if there are files in it."""

SQLITE_BEGINS_WITH = b"SQLite format 3\0"


def check_output(path: Path, *, force: bool) -> None:
    """Ask whether existing files may be overwritten, unless ``force``; raises UsageError if nobody can be asked.

    ``path`` is a file, or a folder for files. Raises UsageError for a journal, which nothing may overwrite, and
    FileNotFoundError if the folder for it is missing.
    """
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(ENOENT, os.strerror(ENOENT), str(path))
    if path.is_dir():
        there = f"{path} has files in it"
        is_free = not any(path.iterdir())
    else:
        there = f"{path} is there already"
        is_free = not path.is_file()
        if not is_free and _is_journal(path):
            raise click.UsageError(f"{path} is a journal; give another name.")
    if is_free or force:
        return
    if not sys.stdin.isatty():
        raise click.UsageError(f"{there}; give another name, or --force to write over it.")
    confirm(f"{there}. Write over it?")


def _is_journal(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(len(SQLITE_BEGINS_WITH)) == SQLITE_BEGINS_WITH


def refuse_overwriting(outputs: Iterable[Path | None], inputs: Iterable[Path]) -> None:
    """Raise BadParameter if a file to write is one of those to read."""
    read = list(inputs)
    for output in outputs:
        if output is not None and output.is_file() and any(each.exists() and output.samefile(each) for each in read):
            raise click.BadParameter(f"{output} is a file to read; choose another name for the one to write")


class SettingOption(click.Option):
    """An option that overrides a ``setting``, named as ``section.key``."""

    def __init__(self, *args: Any, setting: str, **kwargs: Any) -> None:
        """Take what ``click.Option`` takes, and the setting."""
        super().__init__(*args, **kwargs)
        self.setting = setting


setting_option = partial(click.option, cls=SettingOption)


def camera_without_password(context: click.Context, parameter: click.Parameter, spec: str | None) -> str | None:
    """Take a camera from the command line; raises BadParameter for an address with a password."""
    from app.settings.sources import password_trouble

    if spec is not None and (trouble := password_trouble(spec)):
        raise click.BadParameter(spoken(trouble), context, parameter)
    return spec


def given_settings(context: click.Context) -> dict[str, Any]:
    """Return the values of the running command's options that override settings; ``None`` for those not given."""
    options = (option for option in context.command.params if isinstance(option, SettingOption))
    return {option.setting: context.params.get(option.name or "") for option in options}


journal_option = setting_option(
    "--journal", setting="journal.path", type=JOURNAL_FILE, help="The journal's file.  [default: as in the settings]"
)
by_option = click.option("--by", metavar="NAME", help="Who says so.  [default: your login name]")
clock_option = setting_option(
    "--clock",
    setting="clock.time",
    metavar="TIME",
    help='A clock for a new game: "fischer 5+3", "delay 5+3", "game 10" or "none".',
)
game_number_option = click.option(
    "--game", "game_number", type=WholeNumber(min=1), help="Which game of the journal.  [default: the last]"
)
rule_option = click.option(
    "--option", "options", multiple=True, metavar="NAME=VALUE", help="A rule option; may be given several times."
)
which_game_option = click.option(
    "--game", "game_name", type=GAME, help="Whose squares they are.  [default: as in the settings]"
)
paper_option = click.option(
    "--paper", type=click.Choice(PAPERS), default="a4", show_default=True, help="The paper to print on."
)
_CALIBRATION_HELP = "What `./run hardware calibrate` wrote for this camera."
_LAYOUT_HELP = "The measured table, or kit for the paper kit.  [default: the layout that comes with the game]"
calibration_option = click.option("--calibration", type=READABLE_FILE, help=_CALIBRATION_HELP)
layout_option = click.option("--layout", type=LAYOUT_FILE, help=_LAYOUT_HELP)
markers_option = setting_option(
    "--markers",
    setting="table.markers",
    type=click.Choice(["layout", "none"]),
    help="How to find the table: by the layout's markers, or with none by the board's own lines.",
)


def page_options(command: Command) -> Command:
    """Add ``--page``, ``--no-page``, ``--page-port N`` and ``--page-address ADDRESS``; the last two imply it."""
    shown = click.option(
        "--page/--no-page", default=None, help="Show the table on a page for browsers, on this machine."
    )
    address = click.option(
        "--page-address", metavar="ADDRESS", help="Open the page to your network: 0.0.0.0 is for all networks."
    )
    return shown(page_port_option(address(command)))


page_port_option = click.option(
    "--page-port", type=WholeNumber(1, 65535), help="The page's port.  [default: 8000 or the next]"
)


def chosen_page(
    page: bool | None,
    port: int | None,
    address: str | None,
    settings: PageSection | None = None,
    *,
    opens_itself: bool = False,
) -> PageOptions | None:
    """Return the page's options from these flags, completed by the settings; ``None`` if no page is wanted.

    With ``opens_itself``, the settings alone may open the page. Raises BadParameter for an invalid address.
    """
    from app.settings.conversions import is_address
    from common.user import user_name
    from frontends.page.settings import PageOptions, PageSection

    house = settings or PageSection()
    is_asked = page or port is not None or address is not None
    if page is False or not (is_asked or (opens_itself and house.open)):
        return None
    if address is not None and not is_address(address):
        raise click.BadParameter(
            f"{address!r} is not an address of this machine; give 0.0.0.0 for all its networks",
            param_hint="--page-address",
        )
    given = {"address": address or house.address, "port": port if port is not None else house.port}
    return PageOptions(**{**dict(house), **given}, owner=user_name())


def opponent_options(command: Command) -> Command:
    """Add ``--opponent SIDE`` and ``--opponent-strength``."""
    strength = setting_option(
        "--opponent-strength",
        setting="opponent.strength",
        type=STRENGTH,
        help="How well the program plays.",
    )
    return setting_option(
        "--opponent",
        setting="opponent.player",
        metavar="SIDE",
        help="The program plays this side: it says its turns, and you play them.",
    )(strength(command))


def input_options(command: Command) -> Command:
    """Add ``--calibration``, ``--layout``, ``--markers`` and ``--looks``."""
    command = markers_option(command)
    for name, setting, kind, what in (
        ("--looks", "table.looks", READABLE_FILE, "What `./run pieces enrol` learned of the pieces."),
        ("--layout", "table.layout", LAYOUT_FILE, _LAYOUT_HELP),
        ("--calibration", "camera.calibration", READABLE_FILE, _CALIBRATION_HELP),
    ):
        command = setting_option(name, setting=setting, type=kind, help=what)(command)
    return command


Corners = tuple[tuple[float, float], ...]


def _read_grid(_context: click.Context, _option: click.Parameter, text: str | None) -> tuple[int, int] | None:
    """Parse rows and columns, such as ``4x6``; raises click's BadParameter."""
    if text is None:
        return None
    match = re.fullmatch(r"\s*(\d{1,4})\s*[xX×]\s*(\d{1,4})\s*", text, re.ASCII)
    if match is None:
        raise click.BadParameter(f"{text!r} is not a grid; expected rows x columns, such as 4x6")
    return int(match[1]), int(match[2])


def _read_corners(_context: click.Context, _option: click.Parameter, text: str | None) -> Corners | None:
    """Parse points in pixels, such as ``90,80 550,85 560,400 80,395``; raises click's BadParameter."""
    if text is None:
        return None
    number = r"(-?\d{1,6}(?:\.\d*)?)"
    points = []
    for word in text.split():
        match = re.fullmatch(f"{number},{number}", word, re.ASCII)
        if match is None:
            raise click.BadParameter(
                f'{word!r} is not a corner; expected x,y in pixels, such as "90,80 550,85 560,400 80,395"'
            )
        points.append((float(match[1]), float(match[2])))
    return tuple(points)


def grid_options(*, required: bool) -> Callable[[Command], Command]:
    """Return a decorator that adds ``--grid`` and ``--corners``, a grid of tiles in a photo."""

    def add(command: Command) -> Command:
        command = click.option(
            "--corners",
            callback=_read_corners,
            metavar='"X,Y X,Y X,Y X,Y"',
            required=required,
            help="The grid's outer corners in the photo, in pixels: top left, top right, bottom right, bottom left.",
        )(command)
        return click.option(
            "--grid",
            callback=_read_grid,
            metavar="RxC",
            required=required,
            help="Rows and columns of the grid, such as 4x6.",
        )(command)

    return add


def read_pairs(options: Sequence[str], example: str = "side_by_side=false") -> dict[str, str]:
    """Parse texts such as ``example``; raises click's BadParameter for an invalid text or a repeated name."""
    pairs: dict[str, str] = {}
    for text in options:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise click.BadParameter(f"{text!r} is not of the form name=value, such as {example}")
        if name.strip() in pairs:
            raise click.BadParameter(f"{name.strip()} is given twice")
        pairs[name.strip()] = value.strip()
    return pairs


def read_sides(game: Game[Any, Any], texts: Sequence[str], example: str = "gold=Ann") -> dict[Player, str]:
    """Parse texts such as ``example``, with the game's sides in any case; raises click's BadParameter."""
    sides: dict[Player, str] = {}
    for name, text in read_pairs(texts, example).items():
        side = name.lower()
        if side not in game.players:
            raise click.BadParameter(f"{game.name} has no player {name!r}; it has {', '.join(game.players)}")
        if side in sides:
            raise click.BadParameter(f"{side} is given twice")
        if not text:
            raise click.BadParameter(f"nothing is given for {side}; expected something such as {example}")
        sides[side] = text
    return sides


def read_names(game: Game[Any, Any], texts: Sequence[str]) -> dict[Player, str]:
    """Parse the names of players by side, such as ``gold=Ann``; raises click's BadParameter."""
    from referee.naming import is_program

    names = read_sides(game, texts)
    for side, name in names.items():
        if is_program(name):
            raise click.BadParameter(f"{name} is what the program is called; give {side} another name")
    return names


def parse_options(game: Game[Any, Any], options: Sequence[str]) -> dict[str, OptionValue]:
    """Parse ``name=value`` texts as a game's options and return only those given; raises OptionError."""
    from app.settings.conversions import with_sheet_file
    from engine.options import read_options

    given = with_sheet_file(game, read_pairs(options))
    values = read_options(game.options, given)
    return {name: values[name] for name in given}
