"""``referee correct`` and ``referee take-back``: a person puts the game right, whether a referee is running or not."""

from __future__ import annotations

from pathlib import Path

import click

from referee.cli.context import CommandContext
from referee.cli.group import ExampleCommand
from referee.cli.options import by_option, journal_option
from referee.cli.table.client import submit, user_name


@click.command(cls=ExampleCommand)
@click.argument("squares", nargs=-1, metavar="[SQUARE LOOK]...")
@click.option("--position", default="", metavar="TEXT", help="The whole position as text (docs/games/).")
@click.option("--to-move", default="", metavar="SIDE", help="Who plays next.  [default: as before]")
@click.option("--why", default="", metavar="TEXT", help="Why, for the journal.")
@by_option
@journal_option
@click.pass_obj
def correct_command(
    context: CommandContext,
    squares: tuple[str, ...],
    position: str,
    to_move: str,
    why: str,
    by: str | None,
    journal: Path | None,
) -> None:
    """Say what really stands on the board.

    A person outranks the camera: what you say holds until the table visibly changes, and the journal keeps who said
    it. A referee that is running takes it up at once; otherwise the next `referee watch` goes on from it.

    Examples:
      referee correct c3 "teal block, x up"
      referee correct c3=empty c4="gold star" --to-move teal --by Ann --why "the camera missed it"
      referee correct --position "gold c1:G.star? e7:T.x? removed=3,3"
    """
    from referee.commands.corrections import read_looks
    from referee.commands.values import Correct

    click.echo(
        submit(
            context,
            journal,
            lambda game: Correct(by or user_name(), read_looks(game, squares), position, to_move.lower(), why),
        )
    )


@click.command("take-back", cls=ExampleCommand)
@by_option
@journal_option
@click.pass_obj
def take_back_command(context: CommandContext, by: str | None, journal: Path | None) -> None:
    """Take the last turn back.

    It stays in the journal and no longer counts. Then put the pieces back as they were before it.

    Examples:
      referee take-back
      referee take-back --by Ann
    """
    from referee.commands.values import TakeBack

    click.echo(submit(context, journal, TakeBack(by or user_name())))
