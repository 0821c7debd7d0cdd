"""Draw offers: who may offer, accept or refuse a draw, and the events that the journal records. Pure functions.

The other player can also accept by saying "draw". An offer stands until the other player answers or plays a turn,
until a take-back withdraws it, or until a person's correction or a take-back changes the position. A turn by the
offering player leaves it open.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from common.phrases import Phrase, capitalized, joined
from engine.api import Game
from engine.support.players import DRAW, EVERYONE, check_player, opponent
from engine.values import Announcement, Player
from referee.commands.entries import MISREAD
from referee.commands.values import AgreedDraw, Announce, AnswerDraw, OfferDraw
from referee.errors import CorrectionError
from referee.journal.events import STATE_CHANGING, Event, EventKind

MADE, REFUSED, WITHDRAWN = "made", "refused", "withdrawn"
_ENDING = STATE_CHANGING - {EventKind.SET_UP, EventKind.ROLLED} | {EventKind.END}
"""The events that end an offer, except turns by the offering player."""
_TAKEN_BACK = frozenset({EventKind.OFFER, EventKind.TURN, EventKind.ROLLED, EventKind.ANNOUNCED})
"""The events that a take-back cancels."""


def is_draw_possible(game: Game[Any, Any], belief: Sequence[Any]) -> bool:
    """Whether the players may agree on a draw now."""
    return bool(belief) and Announcement(DRAW) in game.rules.announcements(belief[0])


def offer_of(command: Announce) -> OfferDraw | None:
    """Convert the announcement of a draw to an offer; ``None`` for other announcements."""
    said = ":".join(part.strip() for part in command.text.lower().split(":"))
    is_draw = said in (DRAW, f"{EVERYONE}:{DRAW}")
    return OfferDraw(command.by, command.player) if is_draw else None


def resolve_draw(
    game: Game[Any, Any],
    belief: Sequence[Any],
    open_offer: Player | None,
    command: OfferDraw | AnswerDraw,
    time_s: float | None,
    programs: Collection[Player] = (),
) -> Event | AgreedDraw:
    """Return the event for an offer or a refusal, or the command that agrees to an accepted draw.

    ``open_offer`` is the player with an open offer; ``programs`` are the sides that a program plays. Raises
    CorrectionError if a draw can't be offered or answered now, and UnreadableError for an unknown player.
    """
    if isinstance(command, OfferDraw):
        if open_offer is None or _offering_player(game, belief, command) != opponent(game.players, open_offer):
            return _offer_event(game, belief, open_offer, command, time_s, programs)
    elif open_offer is None:
        raise CorrectionError("no draw is on offer")
    elif not command.accepts:
        sentence = Phrase("{opponent} refuses the draw.", capitalized(opponent(game.players, open_offer)))
        return _event(open_offer, REFUSED, command.by, sentence, time_s)
    return AgreedDraw(command.by)


def withdrawal(events: Sequence[tuple[int, Event]], by: str, time_s: float | None) -> Event | None:
    """Return the event by which a take-back withdraws the open offer, ``None`` if something was played after it."""
    player = open_offer_in(events)
    newest = next((event.kind for _, event in reversed(events) if event.kind in _TAKEN_BACK), None)
    if player is None or newest != EventKind.OFFER:
        return None
    return _event(player, WITHDRAWN, by, Phrase("{player} withdraws the draw offer.", capitalized(player)), time_s)


def with_lapse(sentence: str, before: Player | None, after: Player | None) -> str:
    """Add to a sentence that an open offer has ended without an answer, given who had one before and after."""
    if before is None or after is not None:
        return sentence
    lapsed = Phrase("{before}'s draw offer no longer counts.", capitalized(before))
    return " ".join(filter(None, (sentence, lapsed)))


def _offer_event(
    game: Game[Any, Any],
    belief: Sequence[Any],
    open_offer: Player | None,
    command: OfferDraw,
    time_s: float | None,
    programs: Collection[Player],
) -> Event:
    check_player(game.players, command.player)
    if not is_draw_possible(game, belief):
        raise CorrectionError("a draw can be offered only during a game whose rules allow one")
    if open_offer is not None:
        other = capitalized(opponent(game.players, open_offer))
        raise CorrectionError(
            "{open_offer} has offered a draw already; {other} accepts or refuses", capitalized(open_offer), other
        )
    player = _offering_player(game, belief, command)
    if player is None:
        raise CorrectionError("say who offers the draw: {names}", joined(game.players[:2], " or "))
    if not {player, opponent(game.players, player)}.isdisjoint(programs):
        raise CorrectionError("the program accepts no draw; play on, or resign")
    return _event(player, MADE, command.by, Phrase("{player} offers a draw.", capitalized(player)), time_s)


def _offering_player(game: Game[Any, Any], belief: Sequence[Any], command: OfferDraw) -> Player | None:
    """Return the player who offers a draw: the one named, or else the only one to move."""
    movers = {player for state in belief for player in game.rules.players_to_move(state)}
    return command.player or (movers.pop() if len(movers) == 1 else None)


def offer_after(before: Player | None, event: Event) -> Player | None:
    """Return the player with an open offer after an event."""
    if event.kind == EventKind.OFFER:
        return str(event.data["player"]) if event.data["change"] == MADE else None
    if event.kind == EventKind.TURN and event.data.get("player") == before:
        return before
    if event.kind == EventKind.CORRECTION and event.data.get("why") == MISREAD:
        return before
    return None if event.kind in _ENDING else before


def open_offer_in(events: Sequence[tuple[int, Event]]) -> Player | None:
    """Return the player with an open offer after a game's (number, event) pairs."""
    offer = None
    for _, event in events:
        offer = offer_after(offer, event)
    return offer


def _event(player: Player, change: str, by: str, sentence: str, time_s: float | None) -> Event:
    return Event(EventKind.OFFER, {"player": player, "change": change, "by": by, "sentence": sentence}, time_s)
