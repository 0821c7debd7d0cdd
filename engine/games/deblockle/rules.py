"""Deblockle's rules; see docs/games/deblockle.md for the rulings and the options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.api import Certainty, OptionValue
from engine.errors import AmbiguousError, IllegalTurnError
from engine.games.deblockle import turns as playing
from engine.games.deblockle.explain import explain_change
from engine.games.deblockle.fast_rules import fast_rules_of, known_position
from engine.games.deblockle.notation import format_turn
from engine.games.deblockle.play import board
from engine.games.deblockle.play.announcements import announced, announcements
from engine.games.deblockle.play.catalogue import RULES
from engine.games.deblockle.play.options import options_from
from engine.games.deblockle.state import DeblockleState, DeblockleTurn, change_by
from engine.games.deblockle.table import new_state
from engine.games.deblockle.table.showing import turns_showing
from engine.support.rules import OneAtATime


class DeblockleRules(OneAtATime[DeblockleState, DeblockleTurn]):
    """Which turns and announcements are legal and what comes of them.

    ``new()`` stands every block as the net is written: star up, slider north for the printed one. Nets are known there,
    so it is an ordinary game of full knowledge; a start that is set up knows the tops it is shown and no more.
    """

    catalogue = RULES
    announcements = staticmethod(announcements)
    announce = staticmethod(announced)
    certainty = staticmethod(playing.certainty_of)
    turns_showing = staticmethod(turns_showing)
    outcome = staticmethod(playing.outcome_of)

    def new(self, options: Mapping[str, OptionValue] | None = None) -> DeblockleState:
        """Give the starting state, every net known; raises OptionError for a bad option."""
        return new_state(options_from(options))

    def legal_turns(self, state: DeblockleState) -> Sequence[DeblockleTurn]:
        """List every turn that is certain or not known yet, by start square, roll, then end.

        While it isn't known whether the player to move is Deblockle'd, the opponent's turns follow as not known yet.
        """
        return playing.legal_turns(state)

    def count_results(self, state: DeblockleState) -> int:
        """Give the number of perft turns, without listing them where every face is known."""
        position = known_position(state)
        return len(playing.legal_turns(state)) if position is None else fast_rules_of(state.settings).count(position)

    def apply(self, state: DeblockleState, turn: DeblockleTurn) -> DeblockleState:
        """Give the state after the turn, narrowed to what made it legal; raises IllegalTurnError with breaches.

        A turn of the player who was not to move says that the other was blocked, and narrows their blocks to that.
        """
        if playing.certainty_of(state, turn) is Certainty.IMPOSSIBLE:
            raise IllegalTurnError(f"{format_turn(turn)} is not legal here", explain_change(state, change_by(turn)))
        return playing.played(state, turn)

    def combine(self, turns: Sequence[DeblockleTurn]) -> DeblockleTurn:
        """Give one turn that stands for all of ``turns``: same block, same symbol, same end, several rolls.

        Raises AmbiguousError when they leave different appearances, or when there are none.
        """
        if not turns:
            raise AmbiguousError("no turns were given to combine; expected at least one")
        first = turns[0]
        if any((t.player, t.start, t.top, t.end) != (first.player, first.start, first.top, first.end) for t in turns):
            listed = ", ".join(format_turn(turn) for turn in turns)
            raise AmbiguousError(f"{listed} don't leave the same appearance; ask which was played")
        rolled = {place for turn in turns for place in turn.rolled_to}
        return DeblockleTurn(
            first.player, first.start, tuple(sorted(rolled, key=board.SQUARE_OF.__getitem__)), first.top, first.end
        )
