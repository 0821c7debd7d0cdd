"""``referee export``: a game of the journal as a game record."""

from __future__ import annotations

from pathlib import Path

import click

from referee.cli.context import CommandContext
from referee.cli.group import ExampleCommand
from referee.cli.options import WRITABLE_FILE, game_number_option, journal_option


@click.command(cls=ExampleCommand)
@journal_option
@game_number_option
@click.option("--out", type=WRITABLE_FILE, help="The file to write. Default: standard output.")
@click.pass_obj
def command(context: CommandContext, journal: Path | None, game_number: int | None, out: Path | None) -> None:
    """Write a game of the journal as a game record.

    Header tags come first, then one turn a line.

    Examples:
      referee export
      referee export --game 3 --out game3.txt
      referee export --journal demo.sqlite | referee replay -
    """
    from engine.record import write
    from referee.cli.journals import events_of_game
    from referee.journal.record import record_of

    with context.open_journal(journal) as opened:
        game, events = events_of_game(opened, game_number)
    text = write(record_of(game, events))
    if out is None:
        click.echo(text, nl=False)
    else:
        out.write_text(text, encoding="utf-8")
        click.echo(f"{len(text.splitlines())} lines in {out}")
