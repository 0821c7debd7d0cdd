"""Carries out offers of a draw, wishes to take something back, and the answers to them."""

from collections.abc import Collection
from typing import Generic

from engine.api import StateT, TurnT
from engine.values import Player
from referee.commands import entries
from referee.commands.values import AgreedDraw, Announce, Answer, Asked, TakeBack
from referee.record.results import last_played_sentence
from referee.session.corrections import Corrections
from referee.session.entering import Entering
from referee.session.standing import Standing


class Offers(Generic[StateT, TurnT]):
    """Records what players offer each other; what is accepted is carried out. ``programs`` are the program's sides."""

    def __init__(
        self,
        standing: Standing[StateT, TurnT],
        entering: Entering[StateT, TurnT],
        corrections: Corrections[StateT, TurnT],
        programs: Collection[Player],
    ) -> None:
        self._standing = standing
        self._entering = entering
        self._corrections = corrections
        self._programs = programs

    def announce(self, command: Announce) -> str:
        """Enter an announcement; that of a draw only offers it."""
        offer = entries.offer_of(command)
        return self._entering.enter(command) if offer is None else self.answer(offer)

    def answer(self, command: Asked | Answer) -> str:
        """Offer or ask something, or answer what is open; raises CorrectionError if that isn't possible."""
        standing = self._standing
        game, folded, time_s = standing.game, standing.log.folded, standing.announcer.time_s
        last = "" if folded.last_played is None else last_played_sentence(game, folded)
        said = entries.answer_offer(game, standing.states, folded.offer, command, time_s, self._programs, last)
        match said:
            case AgreedDraw():
                return self._entering.enter(said)
            case TakeBack():
                return self._corrections.take_back(said)
            case _:
                return standing.announcer.record_offer(said)
