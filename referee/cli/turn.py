"""``referee turn``: a turn that a person types, whether a referee is running or not."""

from __future__ import annotations

from pathlib import Path

import click

from referee.cli.context import CommandContext
from referee.cli.group import ExampleCommand
from referee.cli.options import by_option, journal_option


@click.command(cls=ExampleCommand)
@click.argument("text", metavar="TEXT")
@click.option("--player", metavar="SIDE", help="Whose turn it is, where several may play.")
@by_option
@journal_option
@click.pass_obj
def command(context: CommandContext, text: str, player: str | None, by: str | None, journal: Path | None) -> None:
    """Play a turn by text.

    Any game can be kept so, without a camera: `referee new GAME`, then turns (and rolls, where there are dice). With
    a camera the turn counts at once, and the pieces have to follow. A turn the rules forbid is refused with the reason.

    Examples:
      referee turn c1-c2=hoops
      referee turn keep --player p2
    """
    from referee.cli.entries import enter

    enter(context, journal, "turn", text, by, player)
