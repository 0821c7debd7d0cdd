"""A game without a camera, in which everything is typed."""

from typing import Any

from engine.api import Clock
from engine.registry import load
from journal.journal import Journal
from journal.reader import events_of_game
from referee.clocks import TimeControl
from referee.hints.hint_settings import HintSettings
from referee.session.service import Service, without_camera


def by_text(
    journal: Journal,
    begin: str = "",
    clock: Clock = lambda: 0.0,
    hints: HintSettings | None = None,
    control: TimeControl | None = None,
) -> Service[Any, Any]:
    """Return a service that begins games of this name, or one that goes on with the journal's latest game."""
    game = load(begin) if begin else events_of_game(journal, None)[0]
    service = without_camera(game, journal, clock, hints, control=control)
    if not begin:
        service.start()
    return service
