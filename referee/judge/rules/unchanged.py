"""The judge's rules for a table that seems unchanged: a piece turned in place, a question, or nothing new."""

from __future__ import annotations

from dataclasses import replace

from engine.api import StateT, TurnT
from engine.showing import silent_turns
from referee.judge import sentences
from referee.judge.acceptance import PendingTurn, narrow_by_sides
from referee.judge.decision import Conclusion
from referee.judge.evidence import sensors
from referee.judge.evidence.sensors import decide_for_trigger
from referee.judge.explanations import ExplanationKind
from referee.judge.faults import find_turned_pieces
from referee.judge.rules.look import Judgement, Look, first_judgement
from referee.judge.rules.turns import accept, name_fault
from referee.judge.settings import Trigger
from referee.judge.verdict import VerdictKind


def judge_unchanged(look: Look[StateT, TurnT]) -> Judgement[StateT, TurnT]:
    """Judge a table on which nothing seems to have happened."""
    changes = look.belief.pending.changes
    # An object laid on the piece of a waiting turn does not undo it.
    if not changes or look.seen.visible_changes(look.believed, changes):
        look = look.with_belief(replace(look.belief, pending=PendingTurn()))
    look = look.with_belief(look.belief.with_pieces_of(look.context, look.seen.places, settled=False))
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
        _forgo_writing,
        _nothing_changed,
    )
    return first_judgement(rules, look)


def _trigger_after_fault(look: Look[StateT, TurnT]) -> Trigger:
    """Return the trigger; a fault put back the wrong way round is named without waiting for the turn to end."""
    return look.trigger if look.belief.fault is None or look.declared else Trigger.RESTED


def _piece_turned(look: Look[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    turned = find_turned_pieces(look.context, look.states, look.visible, look.context.settings.turned)
    if not turned:
        return None
    return name_fault(replace(look, trigger=_trigger_after_fault(look)), turned, frozenset(), look.decision.margin)


def _piece_maybe_turned(look: Look[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Ask about pieces that may have been turned; if a player declares again, they were not."""
    if not _trigger_after_fault(look).names_faults:
        return None
    turned = find_turned_pieces(look.context, look.states, look.visible, look.context.settings.side)
    if not turned:
        return None
    about = frozenset((place, look.believed[place]) for breach in turned for place in breach.places)
    if not look.confirms(about):
        return look.belief.with_question(about), look.verdicts.piece_turned(turned, look.decision, look.seen)
    return _accept_facings_as_seen(look)


def _accept_facings_as_seen(look: Look[StateT, TurnT]) -> Judgement[StateT, TurnT]:
    ignoring_sides = look.belief.states_ignoring_sides
    states, _ = narrow_by_sides(look.context, ignoring_sides, look.seen)
    belief = look.belief.with_states(states, ignoring_sides)
    kind, said = VerdictKind.UNCHANGED, sentences.unchanged()
    if look.belief.fault is not None:
        kind, said = VerdictKind.PUT_RIGHT, sentences.put_right()
    ruling = look.with_belief(belief).verdicts.ruling(kind, said, look.seen, margin=look.decision.margin)
    return belief, replace(ruling, withdrawn=tuple(look.game.notation.format_state(state) for state in states))


def _places_set_aside(look: Look[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Ask about unreadable places once somebody waits for an answer."""
    places = look.decision.set_aside
    if not places:
        return None
    if not look.trigger.names_faults:
        return _out_of_sight(look) or (
            look.belief,
            look.verdicts.ruling(VerdictKind.UNCHANGED, sentences.unchanged(), look.seen),
        )
    belief = look.belief.doubting_sensors(look.seen.sensed, look.believed)
    return belief, look.verdicts.question_about(places, look.decision.shown, look.seen)


def _may_ask(look: Look[StateT, TurnT]) -> bool:
    """Return whether somebody waits for an answer and no fault is open."""
    return look.belief.fault is None and look.trigger.names_faults


def _maybe_unsensed(look: Look[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Ask about turns that sensors can't notice."""
    settings, decision = look.context.settings, look.decision
    if not _may_ask(look):
        return None
    if not sensors.should_ask_about_unsensed(decision, look.seen, settings, look.trigger):
        return None
    return look.belief, look.verdicts.unsensed(decision, look.seen)


def _maybe_by_sensors(look: Look[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Ask where the camera sees nothing new but several sensors report a turn."""
    seen, belief = look.seen, look.belief
    if not _may_ask(look) or len(seen.disputed) < 2:
        return None
    sensed = seen.trusting_sensors().without(belief.override.ignored | belief.set_aside)
    decision = decide_for_trigger(look.context, look.states, sensed, look.trigger)
    if decision.best.kind is ExplanationKind.NOTHING or decision.conclusion is Conclusion.FORBIDDEN:
        return None
    return belief, look.verdicts.question_about(tuple(seen.disputed), decision.shown, seen)


def _differs_from_correction(look: Look[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Ask about places that a person named while they were hidden and that look different now."""
    override = look.belief.override
    if not _may_ask(look) or not override.places_to_ask:
        return None
    shown = frozenset((place, override.ignored_looks[place]) for place in override.places_to_ask)
    belief = replace(look.belief, override=replace(override, asked=override.asked | override.places_to_ask))
    return belief, look.verdicts.differs_from_correction(shown, look.seen)


def _put_right(look: Look[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    fault = look.belief.fault
    if fault is None:
        return None
    places, margin = fault.verdict.places, look.decision.margin
    ruling = look.verdicts.ruling(VerdictKind.PUT_RIGHT, sentences.put_right(), look.seen, places=places, margin=margin)
    return replace(look.belief, fault=None), ruling


def _fault_out_of_sight(look: Look[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Say that a named fault may still be there, since all of its places are hidden."""
    fault = look.belief.fault
    if fault is None or not fault.changes or look.seen.visible_changes(look.believed, fault.changes):
        return None
    hidden = {place for place, _ in fault.changes} & look.out_of_sight
    return (
        (look.belief, look.verdicts.out_of_sight(look.context.in_order(hidden), look.decision.shown, look.seen))
        if hidden
        else None
    )


def _out_of_sight(look: Look[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Say that something may have happened on hidden places, except those that somebody was asked about or settled."""
    places = tuple(place for place in look.decision.unseen if place in look.out_of_sight - look.belief.set_aside)
    return (look.belief, look.verdicts.out_of_sight(places, look.decision.shown, look.seen)) if places else None


def _forgo_writing(look: Look[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Let a player who declares the end of the turn forgo what could still be written."""
    turns = silent_turns(look.game, look.states[0]) if look.declared and len(look.states) == 1 else ()
    return accept(look, turns) if turns else None


def _nothing_changed(look: Look[StateT, TurnT]) -> Judgement[StateT, TurnT]:
    belief = look.belief
    if _may_ask(look):
        # The sensor changes so far have led to nothing.
        observations = replace(belief.observations, since_s=look.seen.time_s)
        belief = replace(belief, observations=observations).doubting_sensors(look.seen.sensed, look.believed)
    ruling = look.verdicts.ruling(VerdictKind.UNCHANGED, sentences.unchanged(), look.seen, margin=look.decision.margin)
    return belief, ruling
