"""Options of games at the terminal, and the records they leave."""

from pathlib import Path
from typing import Any

from journal.reader import events_of_game, read_journal
from referee.record.results import make_record

ONE_EACH = ("--option", "blocks_gold=1", "--option", "blocks_teal=1")


def kept(folder: Path, number: int | None = None) -> Any:
    """The record of the last game, or of the one with this number, played at home in ``folder``."""
    with read_journal(folder / ".local/share/tabletop-referee/play.sqlite") as journal:
        return make_record(*events_of_game(journal, number))
