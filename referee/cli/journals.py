"""Finding a game in a journal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine import registry
from referee.errors import JournalMissingError

if TYPE_CHECKING:
    from engine.api import Game
    from referee.events import Event
    from referee.journal import Journal


def events_of_game(journal: Journal, number: int | None) -> tuple[Game[Any, Any], list[tuple[int, Event]]]:
    """Give the rules and the (number, event) pairs of one game, the last one when ``number`` is ``None``.

    Raises JournalMissingError when there is no such game and UnknownGameError for rules we do not have.
    """
    chosen = journal.latest_game() if number is None else number
    events = [] if chosen is None else journal.events(chosen)
    if not events:
        numbers = [game.number for game in journal.games()]
        held = f"it has games {numbers[0]} to {numbers[-1]}" if numbers else "it has no game yet"
        raise JournalMissingError(f"there is no game {'' if number is None else f'{number} '}in {journal.path}; {held}")
    return registry.load(str(events[0][1].data["game"])), events
