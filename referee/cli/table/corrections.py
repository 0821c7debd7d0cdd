"""``referee correct`` and ``referee take-back``: a person puts the game right, whether a referee is running or not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from referee.cli.context import CommandContext
from referee.cli.group import ExampleCommand
from referee.cli.options import by_option, journal_option

if TYPE_CHECKING:
    from referee.journal import Journal


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
    from engine import registry
    from referee.cli.table.client import events_of_game, tell_referee, user_name
    from referee.commands.corrections import Correction, read_looks
    from referee.session.idle_journal import correct_journal
    from referee.session.requests import asked_to_correct

    with context.open_journal(journal) as opened:
        path = opened.path
        game, _ = events_of_game(opened, None)
    game = registry.load(game.name)
    correction = Correction(by or user_name(), read_looks(game, squares), position, to_move.lower(), why)

    def directly(opened: Journal) -> str:
        return correct_journal(opened, *events_of_game(opened, None), correction)

    click.echo(tell_referee(context, path, asked_to_correct(correction), directly))


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
    from referee.cli.table.client import events_of_game, tell_referee, user_name
    from referee.session.idle_journal import take_back_in_journal
    from referee.session.requests import asked_to_take_back

    with context.open_journal(journal) as opened:
        path = opened.path
        events_of_game(opened, None)
    name = by or user_name()

    def directly(opened: Journal) -> str:
        return take_back_in_journal(opened, *events_of_game(opened, None), name)

    click.echo(tell_referee(context, path, asked_to_take_back(name), directly))
