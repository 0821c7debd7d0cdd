"""How commands end: exit codes, and errors as one line instead of a traceback."""

from __future__ import annotations

import importlib
import inspect
import sys
import traceback
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

import click

from engine.errors import EngineError
from firmware_bridge.errors import BridgeError
from hardware.errors import HardwareError
from referee.cli.context import CommandContext
from referee.errors import (
    ConfigError,
    CorrectionError,
    EventError,
    FoldError,
    JournalError,
    PlayError,
    PrintError,
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
    (CorrectionError, 4),
    (VisionError, 5),
    (JournalError, 6),
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


def keep_examples(text: str | None) -> str | None:
    """Give a help text in which click leaves the lines of the examples as they are."""
    # A backspace alone on a line is click's mark for a paragraph that is not to be wrapped.
    return None if text is None else inspect.cleandoc(text).replace("Examples:\n", "\b\nExamples:\n")


class ExampleCommand(click.Command):
    """A command whose help ends with examples, one a line."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take what ``click.Command`` takes."""
        super().__init__(*args, **kwargs)
        self.help = keep_examples(self.help)


class ExampleGroup(click.Group):
    """A command with subcommands whose help ends with examples, one a line."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take what ``click.Group`` takes."""
        super().__init__(*args, **kwargs)
        self.help = keep_examples(self.help)


class Root(click.Group):
    """A group that imports a command's module when it is asked for, and ends with the documented codes."""

    def __init__(self, *args: Any, targets: Mapping[str, str], **kwargs: Any) -> None:
        """Take ``targets``: for each command where it is, as ``module:attribute``."""
        super().__init__(*args, **kwargs)
        self.help = keep_examples(self.help)
        self._targets = targets

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """List the commands in the order of the help."""
        return list(self._targets)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Import and give one command, ``None`` when there is none of that name."""
        target = self._targets.get(cmd_name)
        if target is None:
            return None
        module, _, attribute = target.partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

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
        context = extra.pop("obj", None) or CommandContext()
        try:
            code = super().main(args, prog_name, complete_var, standalone_mode=False, obj=context, **extra)
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message(), err=True)
            sys.exit(USAGE)
        except click.UsageError as error:
            command = error.ctx.command_path if error.ctx else "referee"
            message = error.format_message()
            _complain(f"{message}{'' if message.endswith(('.', '?', '!')) else '.'} Try '{command} --help'.")
            sys.exit(USAGE)
        except click.ClickException as error:
            _complain(error.format_message())
            sys.exit(error.exit_code)
        except (click.Abort, KeyboardInterrupt):
            click.echo("referee: stopped", err=True)
            sys.exit(INTERRUPTED)
        except EXPECTED_ERRORS as error:
            if context.debug:
                traceback.print_exc()
            _complain(describe_error(error))
            sys.exit(exit_code_of(error))
        sys.exit(code if isinstance(code, int) else OK)


def report_fault(
    context: CommandContext, kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Say an error nobody expected in one line and exit with OUR_FAULT; with ``--debug`` show its traceback.

    To be used as ``sys.excepthook``.
    """
    if context.debug:
        sys.__excepthook__(kind, error, trace)
    else:
        what = " ".join(f"{kind.__name__}: {error}".split())
        _complain(f"this is a fault of the referee itself, please report it with what --debug shows ({what})")
    sys.exit(OUR_FAULT)


def _complain(message: str) -> None:
    for line in message.splitlines():
        click.echo(f"referee: error: {line}", err=True)
