"""From turns that explain a table to an accepted turn, a fault or a question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

from engine.api import StateT, TurnT
from referee.judge import sensor_evidence
from referee.judge.acceptance import Leaning, Resolved, Weighing, weigh
from referee.judge.explanations import Changes, more_turns_explain
from referee.judge.rules.accepting import accept, accept_ignoring_sides, sensed_after
from referee.judge.rules.forbidden import name_fault
from referee.judge.rules.look import Answer, Look, first_answer


@dataclass(frozen=True)
class _Taking(Generic[StateT, TurnT]):
    """Turns about to be accepted, the first ``most`` of them, and which way the side faces speak."""

    look: Look[StateT, TurnT]
    resolved: Resolved[TurnT]
    weighing: Weighing
    most: int | None

    @property
    def changes(self) -> Changes:
        return self.look.decision.best.changes

    @property
    def turns(self) -> tuple[TurnT, ...]:
        return self.resolved.turns[: self.most]

    @property
    def is_confirmed(self) -> bool:
        return self.look.confirms(self.changes)


def weighed(look: Look[StateT, TurnT], resolved: Resolved[TurnT]) -> Weighing:
    """Weigh turns by the side faces seen."""
    return weigh(look.bench, look.states, resolved, look.decision.best, look.seen, look.belief.set_aside)


def take(look: Look[StateT, TurnT], resolved: Resolved[TurnT], most: int | None = None) -> Answer[StateT, TurnT]:
    """Accept turns, the first ``most`` of them, unless the side faces seen speak against any of them."""
    rules = (
        _breaks_a_rule,
        _may_have_left,
        _accepted,
        _accepted_ignoring_sides,
        _not_yet,
        _ruled_out,
        _turned_besides,
        _against_sides,
    )
    return first_answer(rules, _Taking(look, resolved, weighed(look, resolved), most))


def _breaks_a_rule(case: _Taking[StateT, TurnT]) -> Answer[StateT, TurnT] | None:
    if case.weighing.leaning is not Leaning.BREAKS_A_RULE:
        return None
    return name_fault(case.look, case.weighing.breaches, case.changes, case.resolved.against)


def _may_have_left(case: _Taking[StateT, TurnT]) -> Answer[StateT, TurnT] | None:
    """A piece left the board where a sensor may have missed it; a second declaration confirms that it did."""
    look = case.look
    if case.is_confirmed or not sensor_evidence.may_have_left(look.believed, case.changes, look.seen):
        return None
    if not look.trigger.names_faults:
        return look.belief, look.not_yet()
    return look.belief.asking(case.changes), look.tell.left_the_board(case.resolved, look.decision, look.seen)


def _accepted(case: _Taking[StateT, TurnT]) -> Answer[StateT, TurnT] | None:
    leaning = case.weighing.leaning
    if leaning is not Leaning.FOR and not (leaning is Leaning.DOUBTFUL and case.is_confirmed):
        return None
    belief, ruling = accept(case.look, case.turns)
    return belief, ruling.then(sensed_after(case.look.bench, belief, case.look.seen))


def _accepted_ignoring_sides(case: _Taking[StateT, TurnT]) -> Answer[StateT, TurnT] | None:
    if case.weighing.leaning is not Leaning.TURNED_BESIDES or not case.is_confirmed:
        return None
    return accept_ignoring_sides(case.look, case.turns)


def _not_yet(case: _Taking[StateT, TurnT]) -> Answer[StateT, TurnT] | None:
    return None if case.look.trigger.names_faults else (case.look.belief, case.look.not_yet())


def _ruled_out(case: _Taking[StateT, TurnT]) -> Answer[StateT, TurnT] | None:
    """Ask what stands where: a press does not confirm what the sides rule out."""
    look = case.look
    if case.weighing.leaning is not Leaning.RULED_OUT:
        return None
    if more_turns_explain(look.bench, look.states, case.changes, look.visible):
        return look.belief, look.tell.more_turns(case.changes, look.seen)
    return look.belief, look.tell.forbidden_by_sides(case.resolved, look.decision, look.seen)


def _turned_besides(case: _Taking[StateT, TurnT]) -> Answer[StateT, TurnT] | None:
    look = case.look
    if case.weighing.leaning is not Leaning.TURNED_BESIDES:
        return None
    return look.belief.asking(case.changes), look.tell.turned_besides(case.weighing.breaches, look.decision, look.seen)


def _against_sides(case: _Taking[StateT, TurnT]) -> Answer[StateT, TurnT]:
    look = case.look
    return look.belief.asking(case.changes), look.tell.against_sides(case.resolved, look.decision, look.seen)
