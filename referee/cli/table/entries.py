"""``referee turn``, ``referee roll`` and ``referee announce``: what people type, with or without a running referee."""

from __future__ import annotations

from pathlib import Path

import click

from referee.cli.context import CommandContext
from referee.cli.group import ExampleCommand
from referee.cli.options import by_option, journal_option
from referee.cli.table.client import submit, user_name


def _side(player: str | None) -> str | None:
    return player.strip().lower() if player else None


@click.command(cls=ExampleCommand)
@click.argument("text", metavar="TEXT")
@click.option("--player", metavar="SIDE", help="Whose turn it is, where several may play.")
@by_option
@journal_option
@click.pass_obj
def turn_command(context: CommandContext, text: str, player: str | None, by: str | None, journal: Path | None) -> None:
    """Play a turn by text.

    Any game can be kept so, without a camera: `referee new GAME`, then turns (and rolls, where there are dice). With
    a camera the turn counts at once, and the pieces have to follow. A turn the rules forbid is refused with the reason.

    Examples:
      referee turn c1-c2=hoops
      referee turn keep --player p2
    """
    from referee.commands.values import EnterTurn

    click.echo(submit(context, journal, EnterTurn(text, by or user_name(), _side(player))))


@click.command(cls=ExampleCommand)
@click.argument("faces", metavar="FACES")
@by_option
@journal_option
@click.pass_obj
def roll_command(context: CommandContext, faces: str, by: str | None, journal: Path | None) -> None:
    """Say what was rolled.

    The referee never rolls by itself: it is told what the dice on the table show. FACES is written as the game's page
    in docs/games/ says.

    Examples:
      referee roll 4,1
      referee roll 4,1 --by Ann
    """
    from referee.commands.values import EnterRoll

    click.echo(submit(context, journal, EnterRoll(faces, by or user_name())))


@click.command(cls=ExampleCommand)
@click.argument("kind", metavar="KIND")
@click.option("--player", metavar="SIDE", help="Who says so.  [default: whose turn it is]")
@by_option
@journal_option
@click.pass_obj
def announce_command(
    context: CommandContext, kind: str, player: str | None, by: str | None, journal: Path | None
) -> None:
    """Announce something: a resignation, an agreed draw, a claim.

    What there is depends on the game (docs/games/). A claim that the rules don't bear out is refused with the reason.

    Examples:
      referee announce resign --player gold
      referee announce draw
    """
    from referee.commands.values import Announce

    click.echo(submit(context, journal, Announce(kind, by or user_name(), _side(player))))
