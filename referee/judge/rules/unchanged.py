"""The judge's rules for a table that seems unchanged: a piece turned in place, a question, or nothing new."""

from __future__ import annotations

from dataclasses import replace

from engine.api import StateT, TurnT
from referee.judge import sentences
from referee.judge.acceptance import PendingTurn, narrow_by_sides
from referee.judge.decision import Conclusion
from referee.judge.evidence import sensors
from referee.judge.explanations import ExplanationKind
from referee.judge.faults import find_turned_pieces
from referee.judge.rules.glance import Glance, Judgement, first_judgement
from referee.judge.rules.turns import accept, name_fault
from referee.judge.settings import Trigger
from referee.judge.verdict import VerdictKind


def judge_unchanged(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT]:
    """Judge a table on which nothing seems to have happened."""
    changes = glance.belief.pending.changes
    # An object laid on the piece of a waiting turn does not undo it.
    if not changes or glance.seen.visible_changes(glance.believed, changes):
        glance = glance.with_belief(replace(glance.belief, pending=PendingTurn()))
    glance = glance.with_belief(glance.belief.with_pieces_of(glance.context, glance.seen.places, settled=False))
    rules = (
        _piece_turned,
        _piece_maybe_turned,
        _places_set_aside,
        _maybe_unsensed,
        _maybe_by_sensors,
        _differs_from_correction,
        _fault_out_of_sight,
        _put_right,
        _out_of_sight,
        _play_silently,
        _nothing_changed,
    )
    return first_judgement(rules, glance)


def _trigger_after_fault(glance: Glance[StateT, TurnT]) -> Trigger:
    """Return the trigger; a fault put back the wrong way round is named without waiting for the turn to end."""
    return glance.trigger if glance.belief.fault is None or glance.declared else Trigger.RESTED


def _piece_turned(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    turned = find_turned_pieces(glance.context, glance.states, glance.visible, glance.context.settings.turned)
    if not turned:
        return None
    return name_fault(
        replace(glance, trigger=_trigger_after_fault(glance)), turned, frozenset(), glance.decision.margin
    )


def _piece_maybe_turned(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Ask about pieces that may have been turned; if a player declares again, they were not."""
    if not _trigger_after_fault(glance).names_faults:
        return None
    turned = find_turned_pieces(glance.context, glance.states, glance.visible, glance.context.settings.side)
    if not turned:
        return None
    about = frozenset((place, glance.believed[place]) for breach in turned for place in breach.places)
    if not glance.confirms(about):
        return glance.belief.with_question(about), glance.verdicts.piece_turned(turned)
    return _accept_facings_as_seen(glance)


def _accept_facings_as_seen(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT]:
    ignoring_sides = glance.belief.states_ignoring_sides
    states, _ = narrow_by_sides(glance.context, ignoring_sides, glance.seen)
    belief = glance.belief.with_states(states, ignoring_sides)
    kind, said = VerdictKind.UNCHANGED, sentences.unchanged()
    if glance.belief.fault is not None:
        kind, said = VerdictKind.PUT_RIGHT, sentences.put_right()
    ruling = glance.with_belief(belief).verdicts.ruling(kind, said, margin=glance.decision.margin)
    return belief, replace(ruling, withdrawn=states)


def _places_set_aside(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Ask about unreadable places once somebody waits for an answer."""
    places = glance.decision.set_aside
    if not places:
        return None
    if not glance.trigger.names_faults:
        unchanged = glance.verdicts.ruling(VerdictKind.UNCHANGED, sentences.unchanged())
        return _out_of_sight(glance) or (glance.belief, unchanged)
    belief = glance.belief.doubting_sensors(glance.seen.sensed, glance.believed)
    return belief, glance.verdicts.question_about(places, glance.decision.shown)


def _may_ask(glance: Glance[StateT, TurnT]) -> bool:
    """Return whether somebody waits for an answer and no fault is open."""
    return glance.belief.fault is None and glance.trigger.names_faults


def _maybe_unsensed(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Ask about turns that sensors can't notice."""
    settings, decision = glance.context.settings, glance.decision
    if not _may_ask(glance):
        return None
    if not sensors.should_ask_about_unsensed(decision, glance.seen, settings, glance.trigger):
        return None
    return glance.belief, glance.verdicts.unsensed()


def _maybe_by_sensors(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Ask where the camera sees nothing new but several sensors report a turn."""
    seen, belief = glance.seen, glance.belief
    if not _may_ask(glance) or len(seen.disputed) < 2:
        return None
    sensed = seen.trusting_sensors().without(belief.override.ignored | belief.set_aside)
    decision = sensors.decide_for_trigger(glance.context, glance.states, sensed, glance.trigger)
    if decision.best.kind is ExplanationKind.NOTHING or decision.conclusion is Conclusion.FORBIDDEN:
        return None
    return belief, glance.verdicts.question_about(tuple(seen.disputed), decision.shown)


def _differs_from_correction(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Ask about places that a person named while they were hidden and that look different now."""
    override = glance.belief.override
    if not _may_ask(glance) or not override.places_to_ask:
        return None
    shown = frozenset((place, override.ignored_looks[place]) for place in override.places_to_ask)
    belief = replace(glance.belief, override=replace(override, asked=override.asked | override.places_to_ask))
    return belief, glance.verdicts.differs_from_correction(shown)


def _put_right(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    fault = glance.belief.fault
    if fault is None:
        return None
    places, margin = fault.verdict.places, glance.decision.margin
    ruling = glance.verdicts.ruling(VerdictKind.PUT_RIGHT, sentences.put_right(), places=places, margin=margin)
    return replace(glance.belief, fault=None), ruling


def _fault_out_of_sight(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Say that a named fault may still be there, since all of its places are hidden."""
    fault = glance.belief.fault
    if fault is None or not fault.changes or glance.seen.visible_changes(glance.believed, fault.changes):
        return None
    hidden = {place for place, _ in fault.changes} & glance.out_of_sight
    if not hidden:
        return None
    return glance.belief, glance.verdicts.out_of_sight(glance.context.in_order(hidden))


def _out_of_sight(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Say that something may have happened on hidden places, except those that somebody was asked about or settled."""
    places = tuple(place for place in glance.decision.unseen if place in glance.out_of_sight - glance.belief.set_aside)
    return (glance.belief, glance.verdicts.out_of_sight(places)) if places else None


def _play_silently(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Let a player who declares the end of the turn pass, or forgo what could still be written."""
    turns = (
        glance.context.explorer.silent_turns(glance.states[0]) if glance.declared and len(glance.states) == 1 else ()
    )
    return accept(glance, turns) if turns else None


def _nothing_changed(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT]:
    belief = glance.belief
    if _may_ask(glance):
        # The sensor changes so far have led to nothing.
        observations = replace(belief.observations, since_s=glance.seen.time_s)
        belief = replace(belief, observations=observations).doubting_sensors(glance.seen.sensed, glance.believed)
    ruling = glance.verdicts.ruling(VerdictKind.UNCHANGED, sentences.unchanged(), margin=glance.decision.margin)
    return belief, ruling
