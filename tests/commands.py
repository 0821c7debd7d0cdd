"""Running ``referee`` as it is typed."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from app.cli.root import root

Run = Callable[..., Result]


def every_command(group: click.Group = root, path: str = "") -> Iterator[tuple[str, click.Command]]:
    """Each command that the help lists, groups before what they hold, as typed after the program's name."""
    context = click.Context(group)
    for name in group.list_commands(context):
        _, command, _ = group.resolve_command(context, [name])
        assert command is not None
        yield f"{path} {name}".strip(), command
        if isinstance(command, click.Group):
            yield from every_command(command, f"{path} {name}".strip())


COMMANDS = dict(every_command())


def runner_in(folder: Path, monkeypatch: pytest.MonkeyPatch, *command: str) -> Run:
    """Give what runs ``referee`` (or a ``command`` of it) with arguments, at home and at work in ``folder``.

    Settings and language of this machine play no part.
    """
    for variable in list(os.environ):
        if variable.startswith(("REFEREE_", "XDG_", "LANG", "LC_")):
            monkeypatch.delenv(variable)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.chdir(folder)
    runner = CliRunner()

    def run(*arguments: object, **more: Any) -> Result:
        return runner.invoke(root, [*command, *map(str, arguments)], prog_name="referee", **more)

    return run
