"""Draw offers: who may offer, accept or refuse a draw, and the events that the journal records. Pure functions.

The other player can also accept by saying "draw".
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from common.phrases import Phrase, capitalized, joined
from engine.api import Game
from engine.support.players import DRAW, EVERYONE, check_player, opponent
from engine.values import Announcement, Player
from referee.commands.values import AgreedDraw, Announce, AnswerDraw, OfferDraw
from referee.errors import CorrectionError
from referee.journal.events import OFFER_MADE, Event, EventKind
from referee.journal.fold import DrawOffer

REFUSED, WITHDRAWN = "refused", "withdrawn"


def is_draw_possible(game: Game[Any, Any], belief: Sequence[Any]) -> bool:
    """Whether the players may agree on a draw now."""
    return bool(belief) and Announcement(DRAW) in game.rules.announcements(belief[0])


def offer_of(command: Announce) -> OfferDraw | None:
    """Convert the announcement of a draw to an offer; ``None`` for other announcements."""
    said = ":".join(part.strip() for part in command.text.lower().split(":"))
    is_draw = said in (DRAW, f"{EVERYONE}:{DRAW}")
    return OfferDraw(command.by, command.player) if is_draw else None


def answer_draw_offer(
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


def withdrawal(offer: DrawOffer | None, by: str, time_s: float | None) -> Event | None:
    """Return the event by which a take-back withdraws the open offer, ``None`` if something was played after it."""
    if offer is None or not offer.is_newest:
        return None
    return _event(
        offer.player, WITHDRAWN, by, Phrase("{player} withdraws the draw offer.", capitalized(offer.player)), time_s
    )


def with_lapse(sentence: str, before: Player | None, after: Player | None) -> str:
    """Add to a sentence that an open offer has ended without an answer, given who had one before and after."""
    if before is None or after is not None:
        return sentence
    lapsed = Phrase("{before}'s draw offer no longer counts.", capitalized(before))
    return joined(filter(None, (sentence, lapsed)))


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
    return _event(player, OFFER_MADE, command.by, Phrase("{player} offers a draw.", capitalized(player)), time_s)


def _offering_player(game: Game[Any, Any], belief: Sequence[Any], command: OfferDraw) -> Player | None:
    """Return the player who offers a draw: the one named, or else the only one to move."""
    movers = {player for state in belief for player in game.rules.players_to_move(state)}
    return command.player or (movers.pop() if len(movers) == 1 else None)


def _event(player: Player, change: str, by: str, sentence: str, time_s: float | None) -> Event:
    return Event(EventKind.OFFER, {"player": player, "change": change, "by": by, "sentence": sentence}, time_s)
