"""``referee take-back``: the last turn no longer counts, whether a referee is running or not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from referee.cli.context import CommandContext
from referee.cli.group import ExampleCommand
from referee.cli.options import by_option, journal_option

if TYPE_CHECKING:
    from referee.journal import Journal


@click.command("take-back", cls=ExampleCommand)
@by_option
@journal_option
@click.pass_obj
def command(context: CommandContext, by: str | None, journal: Path | None) -> None:
    """Take the last turn back.

    It stays in the journal and no longer counts. Then put the pieces back as they were before it.

    Examples:
      referee take-back
      referee take-back --by Ann
    """
    from referee.cli.journals import events_of_game
    from referee.cli.told import tell_referee, user_name
    from referee.correcting_journal import take_back_in_journal
    from referee.service_requests import asked_to_take_back

    with context.open_journal(journal) as opened:
        path = opened.path
        events_of_game(opened, None)
    name = by or user_name()

    def directly(opened: Journal) -> str:
        return take_back_in_journal(opened, *events_of_game(opened, None), name)

    click.echo(tell_referee(context, path, asked_to_take_back(name), directly))
