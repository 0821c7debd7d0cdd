"""What `referee turn`, `referee roll` and `referee announce` have in common."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from referee.cli.told import tell_referee, user_name

if TYPE_CHECKING:
    from referee.cli.context import CommandContext
    from referee.journal import Journal
    from referee.journal.steps import PlayedKind


def enter(
    context: CommandContext, journal: Path | None, kind: PlayedKind, text: str, by: str | None, player: str | None
) -> None:
    """Have an entry taken by the running referee, or put it into the journal when none is running; say what came of it.

    Raises CorrectionError when it is refused, with the rule that says why.
    """
    from engine.errors import EngineError
    from referee.cli.journals import events_of_game
    from referee.correcting_journal import enter_in_journal
    from referee.entering import Entry, refusal
    from referee.errors import CorrectionError
    from referee.service_requests import asked_to_enter

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
