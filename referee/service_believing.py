"""A reader with sensors hears what was accepted, so that it finds those that are wrong."""

from __future__ import annotations

from typing import Any

from engine.api import Game
from referee.judge import Judge, Ruling
from referee.service_protocols import Believer
from referee.verdict import VerdictKind


def tell_reader(reader: object, game: Game[Any, Any], judge: Judge[Any, Any], ruling: Ruling) -> None:
    """Tell a reader that listens of a table that is as believed; others, and other rulings, are passed over."""
    if not (isinstance(reader, Believer) and judge.belief and ruling.verdicts):
        return
    kind = ruling.verdicts[-1].kind
    appearance = dict(game.appearance(judge.belief[0]))
    if kind in {VerdictKind.UNCHANGED, VerdictKind.PUT_RIGHT}:
        # Where a person's word holds against the table, the pieces may still follow.
        against = judge.against_camera
        reader.believed({place: look for place, look in appearance.items() if place not in against})
    elif kind in {VerdictKind.SET_UP, VerdictKind.ACCEPTED}:
        reader.believed(appearance)
