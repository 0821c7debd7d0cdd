"""Command groups, exit codes, and errors shown as one line instead of a traceback."""

import importlib
import inspect
import signal
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import click
from click.core import augment_usage_errors

from app.cli import context as cli
from common.phrases import Phrase, did_you_mean
from common.program import PROGRAM
from engine.errors import EngineError
from firmware_bridge.errors import BridgeError
from hardware.errors import HardwareError
from referee import errors
from vision.errors import VisionError

OK = 0
CHECK_FAILED = 1
USAGE = 2
OUR_FAULT = 70

EXIT_CODES: tuple[tuple[type[Exception], int], ...] = (
    (errors.ConfigError, 3),
    (EngineError, 4),
    (errors.EventError, 4),
    (errors.FoldError, 4),
    (errors.PrintError, 4),
    (errors.CorrectionError, 4),
    (VisionError, 5),
    (errors.JournalError, 6),
    (errors.HallStoreError, 6),
    (errors.UnreachableError, 6),
    (HardwareError, 7),
    (BridgeError, 7),
    (OSError, 8),
)
"""The exit code of each family of errors; the first match counts. docs/command-line.md lists them."""

EXPECTED_ERRORS = tuple(family for family, _ in EXIT_CODES)


def exit_code_of(error: Exception) -> int:
    """Return the exit code for an error of EXPECTED_ERRORS."""
    return next(code for family, code in EXIT_CODES if isinstance(error, family))


def describe_error(error: BaseException) -> str:
    """Describe an error to a person: its message, or for an OSError the file and what happened."""
    if isinstance(error, FileNotFoundError) and error.filename and not Path(error.filename).parent.exists():
        file = Path(error.filename)
        return Phrase("there is no folder {parent} for {name}; make it first", file.parent, file.name)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename is not None else error.strerror
    return str(error) or type(error).__name__


_UNBROKEN = "\N{NON-BREAKING HYPHEN}"


class _HelpFormatter(click.HelpFormatter):
    """Shows command names as the person typed them, and never breaks a line at a hyphen: a name is to be copied."""

    def __init__(self, context: cli.CommandContext, **options: Any) -> None:
        super().__init__(**options)
        self._with_program_name = context.with_program_name

    def _to_wrap(self, text: str) -> str:
        return self._with_program_name(text).replace("-", _UNBROKEN)

    def write(self, string: str) -> None:
        super().write(string.replace(_UNBROKEN, "-"))

    def write_text(self, text: str) -> None:
        super().write_text(self._to_wrap(text))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        super().write_dl([(term, self._to_wrap(said)) for term, said in rows], col_max, col_spacing)


class _HelpContext(click.Context):
    def make_formatter(self) -> click.HelpFormatter:
        return _HelpFormatter(cli.context_of(self), width=self.terminal_width, max_width=self.max_content_width)


class ExampleCommand(click.Command):
    """A command whose help ends with examples, one per line."""

    context_class = _HelpContext

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take what ``click.Command`` takes."""
        super().__init__(*args, **kwargs)
        self._has_output = any(each.type in (cli.OUTPUT_FILE, cli.OUTPUT_FOLDER) for each in self.params)
        if self._has_output:
            self.params.append(click.Option(["--force"], is_flag=True, help="Write over files without asking."))
        if self.help is not None:
            # A line with only a backspace tells click not to wrap the following paragraph.
            self.help = inspect.cleandoc(self.help).replace("Examples:\n", "\b\nExamples:\n")

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, and ask before a file is overwritten.

        Raises UsageError for one too many, or if a file to write is one of those to read or may not be overwritten.
        """
        # Otherwise click refuses too many arguments itself, without saying what was expected.
        may_have_more, ctx.allow_extra_args = ctx.allow_extra_args, True
        rest = super().parse_args(ctx, args)
        if not ctx.resilient_parsing:
            if rest and not may_have_more:
                ctx.fail(self._too_much(ctx, rest))
            with augment_usage_errors(ctx):
                cli.refuse_overwriting(
                    self._files(ctx, cli.OUTPUT_FILE, cli.JOURNAL_FILE),
                    self._files(ctx, cli.READABLE_FILE, cli.LAYOUT_FILE),
                )
                if self._has_output:
                    force = ctx.params.pop("force")
                    for path in self._files(ctx, cli.OUTPUT_FILE, cli.OUTPUT_FOLDER):
                        cli.check_output(path, force=force)
        return rest

    def _too_much(self, ctx: click.Context, rest: Sequence[str]) -> str:
        """Say what was expected instead of the arguments that are too many."""
        from engine import registry

        takes_game = any(isinstance(each, cli.SettingOption) and each.setting == "game.name" for each in self.params)
        as_game = f", with the game as --game {rest[0]}" if takes_game and rest[0] in registry.games() else ""
        expected = " ".join([ctx.command_path, *self.collect_usage_pieces(ctx)])
        return f"{' '.join(rest)!r} is too much; expected `{expected}`{as_game}."

    def _files(self, ctx: click.Context, *kinds: click.Path) -> Iterator[Path]:
        for parameter in (each for each in self.params if each.type in kinds):
            given = ctx.params.get(parameter.name or "") or ()
            yield from given if isinstance(given, tuple) else (given,)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the games at the end, if the command takes one."""
        super().format_epilog(ctx, formatter)
        if any(isinstance(parameter.type, cli.GameName) for parameter in self.params):
            formatter.write_paragraph()
            formatter.write_text(cli.GameName.listed())


class ExampleGroup(ExampleCommand, click.Group):
    """A command with subcommands whose help ends with examples, one per line."""


class LazyCommand(click.Command):
    """Stands for a command in lists and completions until ``load`` imports its module."""

    def __init__(self, name: str, module: str, short_help: str) -> None:
        """Name the module that has the command, as ``NAME_command``; one with a dot before it is in ``app.cli``."""
        super().__init__(name, short_help=short_help)
        self._target = module, f"{name.replace('-', '_')}_command"

    def load(self) -> click.Command:
        """Import and return the command. A Ctrl-C during the import takes effect afterwards.

        Inside an import, Python might report it as an error of a class or of a weak reference.
        """
        module, attribute = self._target
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            command: click.Command = getattr(importlib.import_module(module, "app.cli"), attribute)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return command


class LazyGroup(ExampleGroup):
    """A group that imports a ``LazyCommand``'s module when the command is used. The help doesn't list ``aliases``."""

    def __init__(self, *args: Any, aliases: Mapping[str, click.Command] | None = None, **kwargs: Any) -> None:
        """Take what ``click.Group`` takes, and the aliases."""
        super().__init__(*args, **kwargs)
        self.aliases = aliases or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the commands in the order of the help: first the lazy ones, as they were given."""
        lazy = [name for name, command in self.commands.items() if isinstance(command, LazyCommand)]
        return [*lazy, *(name for name in super().list_commands(ctx) if name not in lazy)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, perhaps not loaded yet; ``None`` if there is none of that name."""
        return super().get_command(ctx, cmd_name) or self.aliases.get(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find and load the command that was typed; for an unknown one, suggest a similar name."""
        try:
            name, command, rest = super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = did_you_mean(args[0], [*self.list_commands(ctx), *self.aliases], quoted=True)
            raise click.UsageError(f"{error.message.rstrip('.')}{near}.", ctx) from error
        return name, command.load() if isinstance(command, LazyCommand) else command, rest


class Root(LazyGroup):
    """The program itself: everyday commands, groups for the rest, and the documented exit codes.

    A group's command can also be called without naming the group.
    """

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the everyday commands and the groups; the epilog describes the options."""
        del ctx
        for title, is_lazy in (("Every day", True), ("More", False)):
            commands = [one for one in self.commands.items() if isinstance(one[1], LazyCommand) is is_lazy]
            with formatter.section(title):
                formatter.write_dl([(name, command.get_short_help_str(70)) for name, command in commands])

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command. In standalone mode, print errors as ``referee: error:`` lines and exit with its code."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        context = extra.pop("obj", None) or cli.CommandContext(program=prog_name or PROGRAM)
        try:
            code = super().main(args, prog_name, complete_var, standalone_mode=False, obj=context, **extra)
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message(), err=True)
            sys.exit(USAGE)
        except click.UsageError as error:
            command = error.ctx.command_path if error.ctx else PROGRAM
            message = " ".join(error.format_message().split())
            if isinstance(error, click.NoSuchOption) and any(error.option_name in each.opts for each in self.params):
                message = f"{error.option_name} comes before the command."
            _complain(context, f"{message}{'' if message.endswith(('.', '?', '!')) else '.'} Try '{command} --help'.")
            sys.exit(USAGE)
        except click.ClickException as error:
            _complain(context, error.format_message())
            sys.exit(error.exit_code)
        except (click.Abort, KeyboardInterrupt):
            click.echo("referee: stopped", err=True)
            sys.exit(cli.INTERRUPTED)
        except EXPECTED_ERRORS as error:
            if context.debug:
                traceback.print_exc()
            _complain(context, describe_error(error))
            sys.exit(exit_code_of(error))
        sys.exit(code if isinstance(code, int) else OK)


def report_fault(
    context: cli.CommandContext, kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Report an unexpected error in one line and exit with OUR_FAULT; with ``--debug``, show its traceback.

    For use as ``sys.excepthook``.
    """
    if isinstance(error, KeyboardInterrupt) or isinstance(error.__cause__, KeyboardInterrupt):
        # Python 3.11 turns a Ctrl-C during the creation of a class into a RuntimeError.
        click.echo("referee: stopped", err=True)
        sys.exit(cli.INTERRUPTED)
    if context.debug:
        sys.__excepthook__(kind, error, trace)
    else:
        what = " ".join(f"{kind.__name__}: {error}".split())
        _complain(context, f"this is a bug in the referee; please report it with the output of --debug ({what})")
    sys.exit(OUR_FAULT)


def _complain(context: cli.CommandContext, message: str) -> None:
    for line in context.with_program_name(context.translate(message)).splitlines():
        cli.say(f"referee: error: {line}", as_error=True)
