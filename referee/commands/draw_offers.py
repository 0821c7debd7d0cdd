"""A draw that one player offers and the other accepts or refuses: who may, and what the journal keeps of it. Pure.

Who is offered a draw accepts it by saying "draw" as well. An offer stands until the other player answers or plays a
turn, or until the position is changed by a correction or a take-back. What the offering player still plays leaves it
open.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from common.phrases import capitalized
from engine.api import Game
from engine.support.players import DRAW, EVERYONE, check_player, opponent
from engine.values import Announcement, Player
from referee.commands.values import Announce, AnswerDraw, OfferDraw
from referee.errors import CorrectionError
from referee.journal.events import STATE_CHANGING, Event, EventKind

MADE, REFUSED = "made", "refused"
_ENDING = STATE_CHANGING - {EventKind.SET_UP, EventKind.ROLLED} | {EventKind.END}
"""The events that end an offer; a turn does unless the offering player played it."""


def may_draw(game: Game[Any, Any], belief: Sequence[Any]) -> bool:
    """Whether the players may agree on a draw now."""
    return bool(belief) and Announcement(DRAW) in game.rules.announcements(belief[0])


def offer_of(command: Announce) -> OfferDraw | None:
    """Give the offer that an announcement of a draw is, ``None`` for another one, and for a draw that is agreed."""
    is_draw = command.text.strip().lower() in (DRAW, f"{EVERYONE}:{DRAW}")
    return OfferDraw(command.by, command.player) if is_draw and not command.is_agreed else None


def settled(
    game: Game[Any, Any],
    belief: Sequence[Any],
    open_offer: Player | None,
    command: OfferDraw | AnswerDraw,
    time_s: float | None,
    programs: Collection[Player] = (),
) -> Event | Announce:
    """Give the event of an offer or a refusal, or the announcement of the draw that is accepted.

    ``open_offer`` is who has offered; ``programs`` are the sides that a program plays. Raises CorrectionError where
    nothing can be offered or answered, UnreadableError for a player that the game has not.
    """
    if isinstance(command, OfferDraw):
        if open_offer is not None and _offering(game, belief, command) == opponent(game.players, open_offer):
            return Announce(f"{EVERYONE}:{DRAW}", command.by, is_agreed=True)
        return _offered(game, belief, open_offer, command, time_s, programs)
    if open_offer is None:
        raise CorrectionError("no draw is on offer")
    if command.accepts:
        return Announce(f"{EVERYONE}:{DRAW}", command.by, is_agreed=True)
    sentence = f"{capitalized(opponent(game.players, open_offer))} refuses the draw."
    return _event(open_offer, REFUSED, command.by, sentence, time_s)


def _offered(
    game: Game[Any, Any],
    belief: Sequence[Any],
    open_offer: Player | None,
    command: OfferDraw,
    time_s: float | None,
    programs: Collection[Player],
) -> Event:
    check_player(game.players, command.player)
    if not may_draw(game, belief):
        raise CorrectionError("a draw can't be offered now")
    if open_offer is not None:
        other = capitalized(opponent(game.players, open_offer))
        raise CorrectionError(f"{capitalized(open_offer)} has offered a draw already; {other} accepts or refuses")
    player = _offering(game, belief, command)
    if player is None:
        raise CorrectionError(f"say who offers the draw: {' or '.join(game.players[:2])}")
    if opponent(game.players, player) in programs:
        raise CorrectionError("the program accepts no draw; play on, or resign")
    return _event(player, MADE, command.by, f"{capitalized(player)} offers a draw.", time_s)


def _offering(game: Game[Any, Any], belief: Sequence[Any], command: OfferDraw) -> Player | None:
    """Give who offers a draw: who was named, or else the only one to move."""
    movers = {player for state in belief for player in game.rules.players_to_move(state)}
    return command.player or (movers.pop() if len(movers) == 1 else None)


def offer_after(before: Player | None, event: Event) -> Player | None:
    """Give who has an offer open after an event."""
    if event.kind == EventKind.OFFER:
        return str(event.data["player"]) if event.data["change"] == MADE else None
    if event.kind == EventKind.TURN and event.data.get("player") == before:
        return before
    return None if event.kind in _ENDING else before


def offer_in(events: Sequence[tuple[int, Event]]) -> Player | None:
    """Give who has an offer open after a game's (number, event) pairs."""
    offer = None
    for _, event in events:
        offer = offer_after(offer, event)
    return offer


def _event(player: Player, change: str, by: str, sentence: str, time_s: float | None) -> Event:
    return Event(EventKind.OFFER, {"player": player, "change": change, "by": by, "sentence": sentence}, time_s)
