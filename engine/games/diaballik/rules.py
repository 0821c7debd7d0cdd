"""Diaballik's rules; see docs/games/diaballik.md for the rulings and the options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.api import Announcement, Certainty, OptionValue
from engine.errors import AmbiguousError
from engine.games.diaballik import announcements
from engine.games.diaballik import turns as playing
from engine.games.diaballik.notation import format_turn, result_of
from engine.games.diaballik.play.catalogue import RULES
from engine.games.diaballik.play.options import options_from
from engine.games.diaballik.state import DiaballikState, DiaballikTurn
from engine.games.diaballik.table import new_state
from engine.games.diaballik.table.showing import turns_showing
from engine.games.diaballik.turns import LegalTurns, packed_results
from engine.games.diaballik.violations import breaches_of_actions
from engine.support.breaches import not_legal
from engine.support.rules import OneAtATime


class DiaballikRules(OneAtATime[DiaballikState, DiaballikTurn]):
    """Which turns and announcements are legal and what comes of them."""

    catalogue = RULES
    turns_showing = staticmethod(turns_showing)
    outcome = staticmethod(playing.outcome_of)

    def new(self, options: Mapping[str, OptionValue] | None = None) -> DiaballikState:
        """Give the starting state; raises OptionError for a bad option."""
        return new_state(options_from(options))

    def legal_turns(self, state: DiaballikState) -> Sequence[DiaballikTurn]:
        """List one turn for each distinct result, then those after which anti-play is announced; lazily.

        Sorted by where the ball ends, then by the pieces' squares.
        """
        return LegalTurns(state, claims=True)

    def perft_turns(self, state: DiaballikState) -> Sequence[DiaballikTurn]:
        """List one turn for each distinct result, the null turn included where it is allowed; nothing announced."""
        return LegalTurns(state, claims=False)

    def count_results(self, state: DiaballikState) -> int:
        """Give the number of perft turns."""
        return 0 if state.to_move is None else len(packed_results(playing.begun(state, state.to_move)))

    def announcements(self, state: DiaballikState) -> Sequence[Announcement]:
        """List what may be announced now: anti-play, a repetition, an agreed draw, resignations."""
        return announcements.announcements(state, playing.claimants(state))

    def announce(self, state: DiaballikState, announcement: Announcement) -> DiaballikState:
        """Give the state after an announcement; raises IllegalTurnError, with breaches where a rule says no."""
        return announcements.announced(state, announcement, playing.claimants(state))

    def certainty(self, state: DiaballikState, turn: DiaballikTurn) -> Certainty:
        """Say whether the turn is legal: nothing is hidden, so it is certain or impossible."""
        return Certainty.IMPOSSIBLE if breaches_of_actions(state, turn) else Certainty.CERTAIN

    def apply(self, state: DiaballikState, turn: DiaballikTurn) -> DiaballikState:
        """Give the state after the turn, its actions in any legal order; raises IllegalTurnError with breaches."""
        breaches = breaches_of_actions(state, turn)
        if breaches:
            raise not_legal(format_turn(turn), breaches)
        return playing.followed(state, turn.player, result_of(state, turn), claims=turn.claims)

    def combine(self, turns: Sequence[DiaballikTurn]) -> DiaballikTurn:
        """Give the one turn that was played: announcing is heard, not seen, so one without a claim comes first.

        Raises AmbiguousError when different turns are left, or when there are none.
        """
        left = list(dict.fromkeys(turns))
        quiet = [turn for turn in left if not turn.claims]
        if len(quiet) == 1 and all(turn.actions == quiet[0].actions for turn in left):
            return quiet[0]
        if len(left) == 1:
            return left[0]
        listed = ", ".join(format_turn(turn) for turn in left) or "no turn"
        raise AmbiguousError(f"{listed}: expected turns that leave the same appearance; ask which was played")
