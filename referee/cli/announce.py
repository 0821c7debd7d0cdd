"""``referee announce``: what players say rather than play, such as resigning."""

from __future__ import annotations

from pathlib import Path

import click

from referee.cli.context import CommandContext
from referee.cli.group import ExampleCommand
from referee.cli.options import by_option, journal_option


@click.command(cls=ExampleCommand)
@click.argument("kind", metavar="KIND")
@click.option("--player", metavar="SIDE", help="Who says so.  [default: whose turn it is]")
@by_option
@journal_option
@click.pass_obj
def command(context: CommandContext, kind: str, player: str | None, by: str | None, journal: Path | None) -> None:
    """Announce something: a resignation, an agreed draw, a claim.

    What there is depends on the game (docs/games/). A claim that the rules don't bear out is refused with the reason.

    Examples:
      referee announce resign --player gold
      referee announce draw
    """
    from referee.cli.entries import enter

    enter(context, journal, "announced", kind, by, player)
