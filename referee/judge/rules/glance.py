"""The input and output of the judge's rules: a glance at a resting table, and an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from engine.api import Game, StateT, TurnT
from engine.values import Appearance, Place
from referee.judge.belief import Belief
from referee.judge.decision import Decision
from referee.judge.evidence.sensors import decide_for_trigger
from referee.judge.explanations import Changes
from referee.judge.explorer import JudgeContext
from referee.judge.pooled_reading import PooledReading
from referee.judge.settings import Trigger
from referee.judge.verdict import Ruling
from referee.judge.verdict_factory import VerdictFactory

Judgement = tuple[Belief[StateT, TurnT], Ruling]
"""The belief after a glance, and the ruling on it."""

CaseT = TypeVar("CaseT")


@dataclass(frozen=True)
class Glance(Generic[StateT, TurnT]):
    """A resting table compared with the belief, and what best explains it.

    ``seen`` is what the table shows; ``visible`` is the same without the places set aside.
    """

    context: JudgeContext[StateT, TurnT]
    belief: Belief[StateT, TurnT]
    trigger: Trigger
    seen: PooledReading
    visible: PooledReading
    decision: Decision[StateT, TurnT]

    @classmethod
    def at(
        cls, context: JudgeContext[StateT, TurnT], belief: Belief[StateT, TurnT], seen: PooledReading, trigger: Trigger
    ) -> Glance[StateT, TurnT]:
        """Glance at a table with this belief."""
        visible = seen.without(belief.set_aside)
        return cls(
            context, belief, trigger, seen, visible, decide_for_trigger(context, belief.states, visible, trigger)
        )

    @property
    def game(self) -> Game[StateT, TurnT]:
        """The game."""
        return self.context.game

    @property
    def states(self) -> tuple[StateT, ...]:
        """The states that may be the case."""
        return self.belief.states

    @property
    def believed(self) -> Appearance:
        """What the table should show."""
        return self.game.table.appearance(self.belief.states[0])

    @property
    def out_of_sight(self) -> frozenset[Place]:
        """The hidden places, except those that a person settled or that camera and sensor dispute."""
        override = self.belief.override
        return self.visible.hidden - override.places - override.ignored - self.visible.disputed.keys()

    @property
    def verdicts(self) -> VerdictFactory[StateT, TurnT]:
        """Makes verdicts on this glance."""
        return VerdictFactory(self.game, self.belief.states, self.seen, self.decision)

    @property
    def declared(self) -> bool:
        """Whether a player said that the turn is over."""
        return self.trigger is Trigger.DECLARED

    def confirms(self, changes: Changes) -> bool:
        """Return whether a player who was asked about these changes declares again that the turn is over."""
        return self.declared and self.belief.conversation.asked_about == changes

    def with_belief(self, belief: Belief[StateT, TurnT]) -> Glance[StateT, TurnT]:
        """Return the same glance with another belief; the decision stays."""
        return replace(self, belief=belief)


def first_judgement(
    rules: Iterable[Callable[[CaseT], Judgement[StateT, TurnT] | None]], case: CaseT
) -> Judgement[StateT, TurnT]:
    """Return the answer of the first rule that has one; the last rule always has."""
    return next(answer for answer in (rule(case) for rule in rules) if answer is not None)
