"""``tools link`` and ``tools completion``: the command ``referee``, and its Tab completion."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from common.durable import write_durably
from common.program import VARIABLE
from referee.cli.context import CommandContext
from referee.cli.group import ExampleCommand
from referee.cli.root import COMPLETE_VARIABLE, root

NAME = "referee"
SHELLS = ("bash", "zsh", "fish")

_MADE_BY_US = "# Made by Tabletop Referee's link command."
_RUN = Path(__file__).resolve().parents[3] / "run"


@click.command(cls=ExampleCommand)
@click.option("--remove", is_flag=True, help="Remove what it put there.")
@click.option("--shell", type=click.Choice(SHELLS), help="Whose completion to add.  [default: your shell's]")
@click.pass_obj
def link_command(context: CommandContext, remove: bool, shell: str | None) -> None:
    """Install the command `referee`, with Tab completion.

    It writes a small script into ~/.local/bin and the completion for your shell. It overwrites only
    what it wrote itself.

    Examples:
      ./run tools link
      ./run tools link --remove
    """
    home = Path(context.environment.get("HOME") or "~").expanduser()
    files = _files(home, context.environment)
    if remove:
        _remove([file for file in files.values() if file.is_file() and _is_ours(file)])
        return
    if not _RUN.is_file():
        raise click.UsageError("./run was installed without its `run`, so it is a command already.")
    used = shell or Path(context.environment.get("SHELL", "")).name
    wanted = {"": f'#!/bin/sh\n{_MADE_BY_US}\n{VARIABLE}={NAME} exec {shlex.quote(str(_RUN))} "$@"\n'}
    if used in SHELLS:
        wanted[used] = completion_script(used)
    for kind in wanted:
        if files[kind].exists() and not _is_ours(files[kind]):
            raise click.UsageError(f"{files[kind]} is there already and is not this program's; move it away first.")
    for kind, text in wanted.items():
        files[kind].parent.mkdir(parents=True, exist_ok=True)
        write_durably(files[kind], text)
        click.echo(f"Written: {files[kind]}")
    files[""].chmod(0o755)
    for line in _next_steps(files, used, context.environment):
        click.echo(line)


def _files(home: Path, environment: Mapping[str, str]) -> dict[str, Path]:
    """Return the files for the command (key "") and for each shell's completion."""
    data = Path(environment.get("XDG_DATA_HOME") or home / ".local/share")
    settings = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    return {
        "": home / ".local/bin" / NAME,
        "bash": data / "bash-completion/completions" / NAME,
        "zsh": home / ".zfunc" / f"_{NAME}",
        "fish": settings / "fish/completions" / f"{NAME}.fish",
    }


def _is_ours(file: Path) -> bool:
    text = file.read_bytes()
    return _MADE_BY_US.encode() in text or COMPLETE_VARIABLE.encode() in text


def _remove(files: list[Path]) -> None:
    for file in files:
        file.unlink()
        click.echo(f"Removed: {file}")
    if not files:
        click.echo("There is nothing to remove.")


def _next_steps(files: Mapping[str, Path], used: str, environment: Mapping[str, str]) -> list[str]:
    """List the steps left to the owner."""
    folder = files[""].parent
    steps = []
    if str(folder) not in environment.get("PATH", "").split(os.pathsep):
        steps.append(f'{folder} is not on your PATH yet. Add it: export PATH="{folder}:$PATH"')
    if used == "zsh":
        steps.append(f"In ~/.zshrc, before compinit: fpath+=({shlex.quote(str(files['zsh'].parent))})")
    return [*steps, f"Open a new terminal, then: {NAME} demo"]


@click.command(cls=ExampleCommand)
@click.argument("shell", type=click.Choice(SHELLS))
def completion_command(shell: str) -> None:
    """Print the completion script of `referee` for your shell.

    Examples:
      ./run tools completion bash
    """
    click.echo(completion_script(shell))


def completion_script(shell: str) -> str:
    """Return the script that completes ``referee`` in a shell of SHELLS."""
    completion = get_completion_class(shell)
    if completion is None:
        raise click.UsageError(f"no completion for {shell}")
    return completion(root, {}, NAME, COMPLETE_VARIABLE).source()
