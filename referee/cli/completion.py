"""``referee completion SHELL``: completion of commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from referee.cli.group import ExampleCommand


@click.command(cls=ExampleCommand)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the completion script for your shell.

    Examples:
      referee completion bash >> ~/.bashrc
      referee completion zsh > ~/.zfunc/_referee
      referee completion fish > ~/.config/fish/completions/referee.fish
    """
    completion = get_completion_class(shell)
    if completion is None:
        raise click.UsageError(f"no completion for {shell}")
    click.echo(completion(ctx.find_root().command, {}, "referee", "_REFEREE_COMPLETE").source())
