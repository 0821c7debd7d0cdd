"""How commands end: exit codes, and errors as one line instead of a traceback."""

from __future__ import annotations

import importlib
import inspect
import signal
import sys
import traceback
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any

import click

from common.phrases import did_you_mean
from common.program import PROGRAM
from engine.errors import EngineError
from firmware_bridge.errors import BridgeError
from hardware.errors import HardwareError
from referee.cli.context import CommandContext, context_of, say
from referee.cli.options import GameName
from referee.errors import (
    ConfigError,
    CorrectionError,
    EventError,
    FoldError,
    HallStoreError,
    JournalError,
    PlayError,
    PrintError,
    TournamentError,
    UnreachableError,
)
from vision.errors import VisionError

OK = 0
CHECK_FAILED = 1
USAGE = 2
OUR_FAULT = 70
INTERRUPTED = 130

EXIT_CODES: tuple[tuple[type[Exception], int], ...] = (
    (ConfigError, 3),
    (EngineError, 4),
    (EventError, 4),
    (FoldError, 4),
    (PrintError, 4),
    (PlayError, 4),
    (TournamentError, 4),
    (CorrectionError, 4),
    (VisionError, 5),
    (JournalError, 6),
    (HallStoreError, 6),
    (UnreachableError, 6),
    (HardwareError, 7),
    (BridgeError, 7),
    (OSError, 8),
)
"""The exit code of each family of errors, the first that fits; docs/command-line.md lists them."""

EXPECTED_ERRORS = tuple(family for family, _ in EXIT_CODES)


def exit_code_of(error: Exception) -> int:
    """Give the exit code for an error of EXPECTED_ERRORS."""
    return next(code for family, code in EXIT_CODES if isinstance(error, family))


def describe_error(error: BaseException) -> str:
    """Say an error for a person: the message, or for the system's own errors the file and what happened."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename is not None else error.strerror
    return str(error) or type(error).__name__


def as_help(text: str | None) -> str | None:
    """Make a docstring a help text whose examples keep their lines."""
    # A backspace alone on a line is click's mark for a paragraph that is not to be wrapped.
    return None if text is None else inspect.cleandoc(text).replace("Examples:\n", "\b\nExamples:\n")


class _HelpFormatter(click.HelpFormatter):
    """Names commands by what was typed to call this program."""

    def __init__(self, context: CommandContext, **options: Any) -> None:
        super().__init__(**options)
        self._as_called = context.as_called

    def write_text(self, text: str) -> None:
        super().write_text(self._as_called(text))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        super().write_dl([(term, self._as_called(said)) for term, said in rows], col_max, col_spacing)


class _HelpContext(click.Context):
    def make_formatter(self) -> click.HelpFormatter:
        return _HelpFormatter(context_of(self), width=self.terminal_width, max_width=self.max_content_width)


class ExampleCommand(click.Command):
    """A command whose help ends with examples, one a line."""

    context_class = _HelpContext

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take what ``click.Command`` takes."""
        super().__init__(*args, **kwargs)
        self.help = as_help(self.help)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Name the games last, where the command takes one."""
        super().format_epilog(ctx, formatter)
        if any(isinstance(parameter.type, GameName) for parameter in self.params):
            formatter.write_paragraph()
            formatter.write_text(GameName.listed())


class ExampleGroup(ExampleCommand, click.Group):
    """A command with subcommands whose help ends with examples, one a line."""


def load_command(target: str) -> click.Command:
    """Import a command, given as ``module:attribute``; a Ctrl-C meanwhile is answered afterwards.

    Within an import Python may report it as an error of a class or of a weak reference.
    """
    module, _, attribute = target.partition(":")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        command: click.Command = getattr(importlib.import_module(module), attribute)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return command


class LazyGroup(ExampleGroup):
    """A group that imports a command's module when it is asked for."""

    def __init__(
        self, *args: Any, targets: Mapping[str, str], aliases: Mapping[str, str] | None = None, **kwargs: Any
    ) -> None:
        """Take ``targets``: for each command where it is, as ``module:attribute``; ``aliases`` are not listed."""
        super().__init__(*args, **kwargs)
        self.targets = targets
        self.aliases = aliases or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the commands in the order of the help."""
        return [*self.targets, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and give one command, ``None`` when there is none of that name."""
        target = self.targets.get(cmd_name)
        return super().get_command(ctx, cmd_name) if target is None else load_command(target)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that was typed; of one that is none, say which is meant perhaps."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = did_you_mean(args[0], [*self.list_commands(ctx), *self.aliases], quoted=True)
            raise click.UsageError(f"{error.message.rstrip('.')}{near}.", ctx) from error


class Root(LazyGroup):
    """The program itself: commands for every day, groups for the rest, and the documented exit codes.

    A command of a group can be called without naming its group, too.
    """

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Give a command, a group or a command of one, ``None`` when there is none of that name."""
        found = super().get_command(ctx, cmd_name)
        if found is not None:
            return found
        return load_command(self.aliases[cmd_name]) if cmd_name in self.aliases else None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands for every day and the groups; the options are told in the epilog."""
        for title, names in (("Every day", self.targets), ("More", self.commands)):
            commands = [(name, self.get_command(ctx, name)) for name in names]
            with formatter.section(title):
                formatter.write_dl([(name, command.get_short_help_str(70)) for name, command in commands if command])

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run; in standalone mode exit with the command's code and print errors as ``referee: error:`` lines."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        context = extra.pop("obj", None) or CommandContext(program=prog_name or PROGRAM)
        try:
            code = super().main(args, prog_name, complete_var, standalone_mode=False, obj=context, **extra)
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message(), err=True)
            sys.exit(USAGE)
        except click.UsageError as error:
            command = error.ctx.command_path if error.ctx else PROGRAM
            message = error.format_message()
            _complain(context, f"{message}{'' if message.endswith(('.', '?', '!')) else '.'} Try '{command} --help'.")
            sys.exit(USAGE)
        except click.ClickException as error:
            _complain(context, error.format_message())
            sys.exit(error.exit_code)
        except (click.Abort, KeyboardInterrupt):
            click.echo("referee: stopped", err=True)
            sys.exit(INTERRUPTED)
        except EXPECTED_ERRORS as error:
            if context.debug:
                traceback.print_exc()
            _complain(context, describe_error(error))
            sys.exit(exit_code_of(error))
        sys.exit(code if isinstance(code, int) else OK)


def report_fault(
    context: CommandContext, kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Say an error nobody expected in one line and exit with OUR_FAULT; with ``--debug`` show its traceback.

    To be used as ``sys.excepthook``.
    """
    if isinstance(error.__cause__, KeyboardInterrupt):
        # Python 3.11 turns a Ctrl-C that comes while a class is made into a RuntimeError.
        click.echo("referee: stopped", err=True)
        sys.exit(INTERRUPTED)
    if context.debug:
        sys.__excepthook__(kind, error, trace)
    else:
        what = " ".join(f"{kind.__name__}: {error}".split())
        _complain(context, f"this is a fault of the referee itself, please report it with what --debug shows ({what})")
    sys.exit(OUR_FAULT)


def _complain(context: CommandContext, message: str) -> None:
    for line in context.as_called(message).splitlines():
        say(f"referee: error: {line}", as_error=True)
