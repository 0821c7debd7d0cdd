"""``referee turn``, ``referee roll`` and ``referee announce``: what people type, with or without a running referee."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from referee.cli.context import CommandContext
from referee.cli.group import ExampleCommand
from referee.cli.options import by_option, journal_option
from referee.cli.table.client import tell_referee, user_name

if TYPE_CHECKING:
    from referee.cli.context import CommandContext
    from referee.journal import Journal
    from referee.journal.fold import PlayedKind


def enter(
    context: CommandContext, journal: Path | None, kind: PlayedKind, text: str, by: str | None, player: str | None
) -> None:
    """Have an entry taken by the running referee, or put it into the journal when none is running; say what came of it.

    Raises CorrectionError when it is refused, with the rule that says why.
    """
    from engine.errors import EngineError
    from referee.cli.table.client import events_of_game
    from referee.commands.entries import Entry, refusal
    from referee.errors import CorrectionError
    from referee.session.idle_journal import enter_in_journal
    from referee.session.requests import asked_to_enter

    with context.open_journal(journal) as opened:
        path = opened.path
        events_of_game(opened, None)
    entry = Entry(kind, text, by or user_name(), player.strip().lower() if player else None)

    def directly(opened: Journal) -> str:
        try:
            return enter_in_journal(opened, *events_of_game(opened, None), entry)
        except EngineError as error:
            raise CorrectionError(refusal(error)) from error

    click.echo(tell_referee(context, path, asked_to_enter(entry), directly))


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
    enter(context, journal, "turn", text, by, player)


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
    enter(context, journal, "rolled", faces, by, None)


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
    enter(context, journal, "announced", kind, by, player)
