"""What the judge says of changes that no rule allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.api import Breach, StateT, TurnT
from referee.judge import sensor_evidence, sentences
from referee.judge.acceptance import resolve
from referee.judge.decision import Conclusion
from referee.judge.explanations import Changes, ExplanationKind, more_turns_explain
from referee.judge.faults import StandingFault, breaches_of
from referee.judge.rules.accepting import accept_ignoring_sides
from referee.judge.rules.look import Answer, Look, first_answer
from referee.judge.sensor_evidence import decide_as_asked
from referee.judge.verdict import Ruling


def forbidden(look: Look[StateT, TurnT]) -> Answer[StateT, TurnT]:
    """Judge a table that shows what no rule allows."""
    return first_answer((_no_end, _against_sides_only, _too_many_pieces, _more_turns, _unexplained, _fault), look)


def name_fault(
    look: Look[StateT, TurnT], breaches: Sequence[Breach], changes: Changes, margin: float
) -> Answer[StateT, TurnT]:
    """Name a fault, or show it quietly while nobody has ended a turn."""
    if not _may_name(look, changes):
        places = tuple(dict.fromkeys(place for breach in breaches for place in breach.places))
        places = places or look.bench.in_order({place for place, _ in changes})
        return look.belief, look.tell.quiet(sentences.not_a_turn_yet(places), places, changes, look.seen, margin)
    verdict = look.tell.illegal(breaches, changes, look.seen, margin)
    return replace(look.belief, fault=StandingFault(changes, verdict)), Ruling((verdict,))


def _may_name(look: Look[StateT, TurnT], changes: Changes) -> bool:
    """Faults are named when a turn has ended, and a fault that was named goes on being named."""
    fault = look.belief.fault
    return look.trigger.names_faults or (fault is not None and fault.changes == changes)


def _no_end(look: Look[StateT, TurnT]) -> Answer[StateT, TurnT] | None:
    return None if _may_name(look, look.decision.shown) else (look.belief, look.not_yet())


def _against_sides_only(look: Look[StateT, TurnT]) -> Answer[StateT, TurnT] | None:
    """Ask about a turn that only side faces speak against; accept it when a player then declares it again."""
    belief, bench = look.belief, look.bench
    if belief.states_ignoring_sides == belief.states:
        return None
    decision = decide_as_asked(bench, belief.states_ignoring_sides, look.visible, look.trigger)
    if decision.conclusion is not Conclusion.ALLOWED or decision.best.kind is not ExplanationKind.TURN:
        return None
    turns = tuple(one for one in decision.explanations if one.kind is ExplanationKind.TURN)
    resolved = resolve(bench, turns, look.seen)
    if not resolved.turns or resolved.against >= bench.settings.turned:
        return None
    changes = decision.best.changes
    if look.confirms(changes):
        return accept_ignoring_sides(replace(look, decision=decision), resolved.turns)
    return belief.asking(changes), look.tell.against_sides(resolved, decision, look.seen)


def _too_many_pieces(look: Look[StateT, TurnT]) -> Answer[StateT, TurnT] | None:
    """Ask where sensors notice more pieces than there can be."""
    shown = look.decision.shown
    if not sensor_evidence.too_many_sensed(look.believed, shown):
        return None
    places = look.bench.in_order({place for place, _ in shown})
    return look.belief, Ruling((look.tell.question_about(places, shown, look.seen),))


def _more_turns(look: Look[StateT, TurnT]) -> Answer[StateT, TurnT] | None:
    shown = look.decision.shown
    if not more_turns_explain(look.bench, look.states, shown, look.visible):
        return None
    return look.belief, look.tell.more_turns(shown, look.seen)


def _unexplained(look: Look[StateT, TurnT]) -> Answer[StateT, TurnT] | None:
    shown = look.decision.shown
    if breaches_of(look.bench, look.states, shown, look.seen):
        return None
    return look.belief, look.tell.unexplained(shown, look.seen)


def _fault(look: Look[StateT, TurnT]) -> Answer[StateT, TurnT]:
    shown = look.decision.shown
    return name_fault(look, breaches_of(look.bench, look.states, shown, look.seen), shown, look.decision.margin)
