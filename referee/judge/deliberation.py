"""The judge's reasoning, bound to one game, its explorer and its settings.

It keeps nothing of what is believed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

from engine.api import Breach, Game, Place, StateT, TurnT
from referee.judge import faults, sensor_evidence
from referee.judge.acceptance import Advance, Resolved, Weighing, advance, end_the_game, resolve, resolve_first, weigh
from referee.judge.belief import Explorer, applied
from referee.judge.decision import Decision, decide
from referee.judge.explanations import Changes, Explanation, more_turns_explain
from referee.judge.pending_turn import PendingTurn, was_touched
from referee.judge.pooled_reading import PooledReading
from referee.judge.settings import JudgeSettings, Trigger


@dataclass(frozen=True)
class Deliberation(Generic[StateT, TurnT]):
    """The judge's reasoning, with the game and the settings it always needs."""

    game: Game[StateT, TurnT]
    explorer: Explorer[StateT, TurnT]
    settings: JudgeSettings

    def decide(self, states: Sequence[StateT], visible: PooledReading, occasion: Trigger) -> Decision[StateT, TurnT]:
        """Choose what best explains a table, with what a player's word that the turn is over adds."""
        decision = decide(self.game, self.explorer, states, visible, self.settings)
        if occasion is Trigger.DECLARED:
            decision = sensor_evidence.whole_turn(decision)
        return sensor_evidence.with_disputes(self.game.appearance(states[0]), decision, visible)

    def was_touched(
        self,
        belief: Sequence[StateT],
        waiting: PendingTurn[TurnT],
        decision: Decision[StateT, TurnT],
        visible: PooledReading,
        occasion: Trigger,
    ) -> bool:
        """Say whether a turn that waits has been followed by the next player's touch."""
        return was_touched(self.game, self.explorer, belief, waiting, decision, visible, self.settings, occasion)

    def resolve(self, explanations: Sequence[Explanation[StateT, TurnT]], seen: PooledReading) -> Resolved[TurnT]:
        """Make one turn, or two in a row, of explanations that leave the same appearance."""
        return resolve(self.game, self.explorer, explanations, seen, self.settings)

    def resolve_first(self, explanations: Sequence[Explanation[StateT, TurnT]], seen: PooledReading) -> Resolved[TurnT]:
        """Make one turn of explanations by a turn and part of the next."""
        return resolve_first(self.game, explanations, seen)

    def advance(self, states: Sequence[StateT], turns: Sequence[TurnT], seen: PooledReading | None) -> Advance[StateT]:
        """Apply accepted turns, and narrow what they leave by the side faces seen."""
        return advance(self.game, self.explorer, states, turns, seen, self.settings)

    def end_the_game(self, states: Sequence[StateT], turns: Sequence[TurnT]) -> bool:
        """Say whether turns end the game from all of these states."""
        return end_the_game(self.game, states, turns)

    def same_piece_goes_on(self, belief: Sequence[StateT], explanations: Sequence[Explanation[StateT, TurnT]]) -> bool:
        """Say whether the same player is to play again after these first turns, and has begun with the same piece."""
        after = [state for one in explanations for turn in one.first for state in applied(self.game, belief, turn)]
        again = bool(after) and all(state.to_move == belief[0].to_move for state in after)
        return again and any({*turn.places} & {*one.touched} for one in explanations for turn in one.first)

    def weigh(
        self,
        belief: Sequence[StateT],
        resolved: Resolved[TurnT],
        decision: Decision[StateT, TurnT],
        seen: PooledReading,
        set_aside: frozenset[Place],
    ) -> Weighing:
        """Weigh turns that explain a table by the side faces seen."""
        return weigh(self.game, belief, resolved, decision.best, seen, set_aside, self.settings)

    def more_turns_explain(self, belief: Sequence[StateT], changes: Changes, visible: PooledReading) -> bool:
        """Say whether more turns than are followed leave what is seen."""
        return more_turns_explain(self.game, self.explorer, belief, changes, visible, self.settings)

    def breaches_of(self, belief: Sequence[StateT], changes: Changes, seen: PooledReading) -> tuple[Breach, ...]:
        """Give the breaches of a change."""
        return faults.breaches_of(self.game, belief, changes, seen, self.settings)

    def turned_in_place(
        self, belief: Sequence[StateT], visible: PooledReading, least_against: float
    ) -> tuple[Breach, ...]:
        """Give the breaches of pieces that were turned where they stand."""
        return faults.turned_in_place(self.game, belief, visible, self.settings, least_against)
