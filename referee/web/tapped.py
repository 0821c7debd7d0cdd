"""The document for a turn that is being tapped on the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from common.phrases import capitalized
from engine.api import Game
from engine.tapping import Tapped, tapped
from referee.session.feed import Snapshot
from referee.web.documents import Document, Say


class ChoiceDocument(Document):
    """A tap that doesn't name a place, such as the symbol that came up, and its label."""

    tap: str
    words: str


class TappedTurnDocument(Document):
    """A complete turn: its notation, its player, and its description."""

    text: str
    player: str
    words: str


class TappedDocument(Document):
    """A partly tapped turn: what may be tapped next, and the turn if it is already complete.

    ``taps`` are the taps so far. A choice with only one option is made automatically and appended to them.
    """

    event_number: int
    taps: tuple[str, ...]
    squares: tuple[str, ...]
    choices: tuple[ChoiceDocument, ...]
    turn: TappedTurnDocument | None


def tapped_document(game: Game[Any, Any], snapshot: Snapshot, taps: Sequence[str], say: Say = str) -> TappedDocument:
    """Say what may follow these taps; raises IllegalTurnError if no legal turn begins with them."""
    found: Tapped[Any] = Tapped()
    if snapshot.states and snapshot.outcome is None and (game.tapping is not None or taps):
        found = tapped(game, snapshot.states[0], taps)
    turn = found.turn
    return TappedDocument(
        event_number=snapshot.event_number,
        taps=found.taps,
        squares=found.squares,
        choices=tuple(ChoiceDocument(tap=tap, words=capitalized(say(words))) for tap, words in found.choices.items()),
        turn=None
        if turn is None
        else TappedTurnDocument(
            text=game.notation.format_turn(turn), player=turn.player, words=say(game.notation.describe(turn))
        ),
    )
