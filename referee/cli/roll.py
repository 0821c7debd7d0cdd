"""``referee roll``: what the dice on the table show, typed by a person."""

from __future__ import annotations

from pathlib import Path

import click

from referee.cli.context import CommandContext
from referee.cli.group import ExampleCommand
from referee.cli.options import by_option, journal_option


@click.command(cls=ExampleCommand)
@click.argument("faces", metavar="FACES")
@by_option
@journal_option
@click.pass_obj
def command(context: CommandContext, faces: str, by: str | None, journal: Path | None) -> None:
    """Say what was rolled.

    The referee never rolls by itself: it is told what the dice on the table show. FACES is written as the game's page
    in docs/games/ says.

    Examples:
      referee roll 4,1
      referee roll 4,1 --by Ann
    """
    from referee.cli.entries import enter

    enter(context, journal, "rolled", faces, by, None)
