"""Decides for a trigger, and says what sensors add: places that they alone know, or where they contradict the camera.

Pure.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from engine.api import StateT, TurnT
from engine.values import EMPTY, Appearance, Place
from referee.judge.decision import Conclusion, Decision, decide
from referee.judge.explanations import ExplanationKind, find_stopovers
from referee.judge.explorer import Case, Changes, changes_between
from referee.judge.pooled_reading import PIECE, PooledReading
from referee.judge.settings import JudgeSettings, Trigger


def decide_for_trigger(case: Case[StateT, TurnT], trigger: Trigger) -> Decision[StateT, TurnT]:
    """Choose the best explanation; one declared over, or sensed beyond its half-done forms, is a whole turn."""
    decision = decide(case)
    if trigger is Trigger.DECLARED or (trigger is Trigger.RESTED and _touched_beyond_parts(decision, case.seen)):
        decision = rule_out_parts(case.base, decision, case.seen)
    return set_aside_disputes(case.base, decision, case.seen)


def rule_out_parts(
    believed: Appearance, decision: Decision[StateT, TurnT], seen: PooledReading
) -> Decision[StateT, TurnT]:
    """Return the decision without half-done turns, since the turn is known to be over.

    It is certain where only one result of a whole turn is left among those that sensors can't tell apart, and all its
    changes are visible: a ball that left its piece need not have gone to the piece that is hidden. Sensors alone never
    notice some changes, such as a disc turned over, so there the others suffice.
    """
    if decision.conclusion is not Conclusion.UNDECIDED or not decision.is_alike_to_sensors:
        return decision
    every = (*decision.explanations, *decision.rivals)
    whole = tuple(one for one in every if one.kind is not ExplanationKind.PART)
    if {one.kind for one in whole} != {ExplanationKind.TURN} or len({one.changes for one in whole}) > 1:
        return decision
    changes = whole[0].changes
    is_sensed_alone = all(seen.only_sensed(place) for place, _ in changes)
    if not is_sensed_alone and seen.noticeable_changes(believed, changes) != changes:
        return decision
    return replace(
        decision, conclusion=Conclusion.ALLOWED, explanations=whole, places=(), rivals=(), is_alike_to_sensors=False
    )


def _touched_beyond_parts(decision: Decision[StateT, TurnT], seen: PooledReading) -> bool:
    """Return whether sensors alone report touches where whole turns go on after every half-done one."""
    every = (*decision.explanations, *decision.rivals)
    if not all(seen.only_sensed(place) for one in every for place, _ in one.changes):
        return False
    played_on = {place for one in every for turn in one.first for place in turn.places}
    touched = {change.place for change in seen.changes} & played_on
    return all(touched - set(one.touched) for one in every if one.kind is ExplanationKind.PART)


def set_aside_disputes(
    believed: Appearance, decision: Decision[StateT, TurnT], seen: PooledReading
) -> Decision[StateT, TurnT]:
    """Set aside places where camera and sensor disagree and the camera doesn't confirm an allowed decision."""
    if decision.conclusion is not Conclusion.ALLOWED:
        return decision
    after = {**believed, **dict(decision.best.changes)}
    doubtful: list[Place] = [
        place
        for place, dispute in seen.disputed.items()
        if place in seen.hidden and not dispute.camera.agrees(after.get(place, EMPTY))
    ]
    return replace(decision, set_aside=tuple(dict.fromkeys((*decision.set_aside, *doubtful))))


def undone_turns_shown(
    case: Case[StateT, TurnT], undone: Collection[Changes], decision: Decision[StateT, TurnT]
) -> frozenset[Changes]:
    """Return what the table, or each sheet, shows of the undone changes, as far as they can be observed."""
    if decision.conclusion is Conclusion.UNDECIDED and not decision.is_alike_to_sensors:
        return frozenset()
    observed = case.seen.observable_changes(case.base, decision.changes)
    return case.context.by_sheet(observed) & {case.seen.observable_changes(case.base, changes) for changes in undone}


def may_have_left(believed: Appearance, changes: Changes, seen: PooledReading) -> bool:
    """Return whether a piece seems to have left the board, though a sensor may only have missed it."""
    return _gained(believed, changes) < 0 and any(one.sensed_only and one.best == EMPTY for one in seen.places.values())


def touched_elsewhere(changes: Changes, turns: Sequence[TurnT], seen: PooledReading) -> bool:
    """Return whether sensors alone know some turns, and report touches, but none on these turns' places."""
    touched = {change.place for change in seen.changes}
    known_by_them = all(seen.only_sensed(place) for place, _ in changes)
    return bool(touched) and known_by_them and all(touched.isdisjoint(turn.places) for turn in turns)


def too_many_sensed(believed: Appearance, changes: Changes) -> bool:
    """Return whether sensors report more new pieces than are missing elsewhere, so that some must be wrong."""
    return _gained(believed, changes) > 0 and any(look == PIECE for _, look in changes)


def _gained(believed: Appearance, changes: Changes) -> int:
    """Return how many more places were taken than emptied."""
    taken = sum(look != EMPTY and believed.get(place, EMPTY) == EMPTY for place, look in changes)
    return taken - sum(look == EMPTY for _, look in changes)


def only_sensed(changes: Changes, seen: PooledReading) -> bool:
    """Return whether sensors alone know any of the places that changed."""
    return any(seen.only_sensed(place) for place, _ in changes)


def last_sensor_change_s(before: Appearance, after: Appearance, seen: PooledReading, otherwise_s: float) -> float:
    """Return the time of the last sensor change on the places of accepted turns, ``otherwise_s`` if none."""
    places = {place for place, _ in changes_between(before, after)}
    return max((change.time_s for change in seen.changes if change.place in places), default=otherwise_s)


def should_ask_about_unsensed(
    decision: Decision[StateT, TurnT], seen: PooledReading, settings: JudgeSettings, trigger: Trigger
) -> bool:
    """Return whether to ask about turns that sensors can't notice.

    They are asked about when a player says that a turn is over, and when a piece was put down where one passes.
    """
    if trigger is Trigger.DECLARED:
        return bool(decision.unsensed)
    passed = find_stopovers(seen.changes, settings.stopover_s)
    turns = [turn for one in decision.unsensed for turn in one.first]
    return bool(passed) and any(passed <= set(turn.places) for turn in turns)
